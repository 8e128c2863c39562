//! SPIR-V reflection, just enough to compare memory layouts and bindings: names, offsets and sizes.

use std::collections::BTreeSet;

use rspirv::dr::{Instruction, Module, Operand, load_words};
use rspirv::spirv::{Decoration, ExecutionMode, Op, StorageClass, Word};
use throng::vulkan::spirv::Spirv;

#[derive(Debug, PartialEq, Eq)]
pub struct MemoryStruct {
    pub name: String,
    /// The names and offsets in bytes, in order.
    pub members: Vec<(String, u32)>,
    /// The end of the last member, in bytes.
    pub size: u32,
}

pub struct Reflection {
    pub module: Module,
}

impl Reflection {
    pub fn new(shader: &Spirv) -> Self {
        let module = load_words(shader.words);
        Self { module: module.unwrap_or_else(|error| panic!("{}: {error}", shader.file_name)) }
    }

    /// Returns the `LocalSize` of the entry point, or `None` unless it is a compute shader.
    pub fn local_size(&self) -> Option<[u32; 3]> {
        let is_size = |mode: &&Instruction| mode.operands[1] == Operand::ExecutionMode(ExecutionMode::LocalSize);
        let size = self.module.execution_modes.iter().find(is_size)?;
        Some([2, 3, 4].map(|k| literal(size, k)))
    }

    pub fn specialization_constants(&self) -> Vec<(u32, String)> {
        let ids = self.module.types_global_values.iter().filter_map(|instruction| instruction.result_id);
        let with_id = ids.filter_map(|id| Some((self.decoration(&of(id), Decoration::SpecId)?, id)));
        with_id.map(|(number, id)| (number, self.name(&of(id)))).collect()
    }

    /// Returns all structs whose members have offsets, apart from storage buffers that wrap an array. With each comes the stride
    /// of an array of this struct, if the module has one.
    pub fn memory_structs(&self) -> Vec<(MemoryStruct, Option<u32>)> {
        let wraps_array =
            |kind: &Instruction| kind.operands.len() == 1 && self.opcode(id(kind, 0)) == Op::TypeRuntimeArray;
        let with_stride = |kind: &Instruction| {
            let mut arrays = self.all(Op::TypeRuntimeArray).filter(|array| Some(id(array, 0)) == kind.result_id);
            let stride = arrays.find_map(|array| self.decoration(&of(array.result_id?), Decoration::ArrayStride));
            Some((self.memory_struct(kind.result_id?)?, stride))
        };
        self.all(Op::TypeStruct).filter(|kind| !wraps_array(kind)).filter_map(with_stride).collect()
    }

    pub fn push_constants(&self) -> String {
        self.variables(StorageClass::PushConstant).map(|(_, pointee)| self.name(&of(pointee))).collect()
    }

    /// Returns all descriptors that the module declares: set, binding, kind, and the name of the block or, for a texture, of
    /// the variable, as in `0.1 buffer Poses`.
    pub fn resources(&self) -> Vec<String> {
        let resource = |kind: &str, (variable, pointee): (Word, Word)| {
            let is_texture = self.opcode(pointee) == Op::TypeSampledImage;
            assert_eq!(is_texture, kind == "texture");
            let place = [Decoration::DescriptorSet, Decoration::Binding];
            let [set, binding] = place.map(|kind| self.decoration(&of(variable), kind).expect("a set and a binding"));
            let name = self.name(&of(if is_texture { variable } else { pointee }));
            format!("{set}.{binding} {kind} {name}")
        };
        let uniforms = self.variables(StorageClass::Uniform).map(|variable| resource("uniform", variable));
        let buffers = self.variables(StorageClass::StorageBuffer).map(|variable| resource("buffer", variable));
        let textures = self.variables(StorageClass::UniformConstant).map(|variable| resource("texture", variable));
        uniforms.chain(buffers).chain(textures).collect()
    }

    /// Returns the location and the number of components of each input. Each element of an array has a location.
    pub fn inputs(&self) -> BTreeSet<(u32, u32)> {
        let inputs = self.variables(StorageClass::Input).flat_map(|(variable, kind)| {
            let kind = self.definition(kind);
            let is_array = kind.class.opcode == Op::TypeArray;
            let count = if is_array { self.array_length(kind) } else { 1 };
            let element = if is_array { self.definition(id(kind, 0)) } else { kind };
            let components = if element.class.opcode == Op::TypeVector { literal(element, 1) } else { 1 };
            let location = self.decoration(&of(variable), Decoration::Location);
            location.into_iter().flat_map(move |first| (first..first + count).map(move |at| (at, components)))
        });
        inputs.collect()
    }

    /// Returns the names of the inputs and outputs that are arrays whose length is a specialization constant.
    pub fn specialized_varyings(&self) -> Vec<String> {
        let varyings = [StorageClass::Input, StorageClass::Output].into_iter().flat_map(|class| self.variables(class));
        let arrays = varyings.filter(|&(_, kind)| self.opcode(kind) == Op::TypeArray);
        let specialized = arrays.filter(|&(_, kind)| self.opcode(id(self.definition(kind), 1)) != Op::Constant);
        specialized.map(|(variable, _)| self.name(&of(variable))).collect()
    }

    /// Returns the variables of a storage class, with the type that they point to.
    fn variables(&self, class: StorageClass) -> impl Iterator<Item = (Word, Word)> {
        let of_class = self.all(Op::Variable).filter(move |variable| variable.operands[0] == class.into());
        of_class.filter_map(|variable| Some((variable.result_id?, id(self.definition(variable.result_type?), 1))))
    }

    fn memory_struct(&self, id: Word) -> Option<MemoryStruct> {
        let mut memory = MemoryStruct { name: self.name(&of(id)), members: Vec::new(), size: 0 };
        for (k, kind) in (0..).zip(&self.definition(id).operands) {
            let member = [Operand::IdRef(id), Operand::LiteralBit32(k)];
            let offset = self.decoration(&member, Decoration::Offset)?;
            memory.members.push((self.name(&member), offset));
            memory.size = memory.size.max(offset + self.size(kind.unwrap_id_ref(), &member));
        }
        Some(memory)
    }

    /// Returns the size of a type in memory. The stride of a matrix is a decoration of the member that has the type.
    fn size(&self, type_id: Word, member: &[Operand]) -> u32 {
        let kind = self.definition(type_id);
        let stride = |target, decoration| self.decoration(target, decoration).expect("a stride");
        match kind.class.opcode {
            Op::TypeInt | Op::TypeFloat => literal(kind, 0) / 8,
            Op::TypeVector => self.size(id(kind, 0), member) * literal(kind, 1),
            Op::TypeMatrix => {
                let column_major = [member, &[Decoration::ColMajor.into()]].concat();
                let mut annotations = self.module.annotations.iter();
                assert!(annotations.any(|annotation| annotation.operands == column_major), "row-major matrix");
                stride(member, Decoration::MatrixStride) * literal(kind, 1)
            }
            Op::TypeArray => stride(&of(type_id), Decoration::ArrayStride) * self.array_length(kind),
            Op::TypeRuntimeArray => 0,
            Op::TypeStruct => self.memory_struct(type_id).expect("a struct with offsets").size,
            other => panic!("no size is known for {other:?}"),
        }
    }

    fn array_length(&self, array: &Instruction) -> u32 {
        literal(self.definition(id(array, 1)), 0)
    }

    fn all(&self, opcode: Op) -> impl Iterator<Item = &Instruction> {
        self.module.types_global_values.iter().filter(move |instruction| instruction.class.opcode == opcode)
    }

    fn definition(&self, id: Word) -> &Instruction {
        let mut all = self.module.types_global_values.iter();
        all.find(|instruction| instruction.result_id == Some(id)).expect("a type or a constant")
    }

    fn opcode(&self, id: Word) -> Op {
        self.definition(id).class.opcode
    }

    fn name(&self, target: &[Operand]) -> String {
        last_operand(&self.module.debug_names, target).expect("a name").unwrap_literal_string().to_owned()
    }

    fn decoration(&self, target: &[Operand], kind: Decoration) -> Option<u32> {
        last_operand(&self.module.annotations, &[target, &[kind.into()]].concat()).map(Operand::unwrap_literal_bit32)
    }
}

/// Returns the target of names and decorations of an id. The number of a member may follow.
fn of(id: Word) -> [Operand; 1] {
    [Operand::IdRef(id)]
}

/// Returns the last operand of the instruction that begins with the other ones.
fn last_operand<'i>(instructions: &'i [Instruction], others: &[Operand]) -> Option<&'i Operand> {
    let mut operands = instructions.iter().filter_map(|instruction| instruction.operands.split_last());
    operands.find(|(_, start)| *start == others).map(|(last, _)| last)
}

fn id(instruction: &Instruction, k: usize) -> Word {
    instruction.operands[k].unwrap_id_ref()
}

fn literal(instruction: &Instruction, k: usize) -> u32 {
    instruction.operands[k].unwrap_literal_bit32()
}

//! SPIR-V reflection, just enough to compare memory layouts and bindings: names, offsets and sizes.

use rspirv::dr::{Instruction, Module, Operand, load_words};
use rspirv::spirv::{Decoration, ExecutionMode, Op, StorageClass, Word};

/// A struct with offsets, which means that it is stored in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryStruct {
    pub name: String,
    /// The names and offsets in bytes, in order.
    pub members: Vec<(String, u32)>,
    /// The end of the last member, in bytes.
    pub end: u32,
    /// The stride of an array of this struct, if the module has one.
    pub stride: Option<u32>,
}

/// The set and the binding of a resource variable, its kind, and the name of its block or, for a texture, of the variable.
pub type Resource = (u32, u32, Kind, String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    UniformBuffer,
    StorageBuffer,
    CombinedImageSampler,
}

pub struct Reflection {
    module: Module,
}

impl Reflection {
    pub fn new(words: &[u32]) -> Self {
        Self { module: load_words(words).expect("valid SPIR-V") }
    }

    /// Returns the `LocalSize` of the entry point, or `None` unless it is a compute shader.
    pub fn local_size(&self) -> Option<[u32; 3]> {
        let is_size = |mode: &&Instruction| mode.operands[1] == Operand::ExecutionMode(ExecutionMode::LocalSize);
        let size = self.module.execution_modes.iter().find(is_size)?;
        Some([2, 3, 4].map(|k| literal(size, k)))
    }

    /// Returns the id and the name of each specialization constant.
    pub fn specialization_constants(&self) -> Vec<(u32, String)> {
        let constant = |instruction: &Instruction| match instruction.operands[..] {
            [Operand::IdRef(constant), Operand::Decoration(Decoration::SpecId), Operand::LiteralBit32(id)] => {
                Some((id, self.name(&[Operand::IdRef(constant)])))
            }
            _ => None,
        };
        self.module.annotations.iter().filter_map(constant).collect()
    }

    /// Returns all structs whose members have offsets, apart from storage buffers that wrap an array.
    pub fn memory_structs(&self) -> Vec<MemoryStruct> {
        let is_array = |id: Word| self.definition(id).class.opcode == Op::TypeRuntimeArray;
        let of_type = |kind: &Instruction| match (kind.class.opcode, &kind.operands[..]) {
            (Op::TypeStruct, [Operand::IdRef(only)]) if is_array(*only) => None,
            (Op::TypeStruct, _) => self.memory_struct(kind.result_id?),
            _ => None,
        };
        self.module.types_global_values.iter().filter_map(of_type).collect()
    }

    /// Returns the block of push constants.
    pub fn push_constants(&self) -> Option<MemoryStruct> {
        self.variables(StorageClass::PushConstant).find_map(|(_, pointee)| self.memory_struct(pointee))
    }

    /// Returns all descriptors that the module declares.
    pub fn resources(&self) -> Vec<Resource> {
        let resource = |kind: Kind, (variable, pointee): (Word, Word)| {
            let is_texture = kind == Kind::CombinedImageSampler;
            assert_eq!(self.definition(pointee).class.opcode == Op::TypeSampledImage, is_texture);
            let decoration = |kind| self.decoration(variable, kind).expect("a set and a binding");
            let name = self.name(&[Operand::IdRef(if is_texture { variable } else { pointee })]);
            (decoration(Decoration::DescriptorSet), decoration(Decoration::Binding), kind, name)
        };
        let classes = [
            (StorageClass::Uniform, Kind::UniformBuffer),
            (StorageClass::StorageBuffer, Kind::StorageBuffer),
            (StorageClass::UniformConstant, Kind::CombinedImageSampler),
        ];
        let of_class = |(class, kind)| self.variables(class).map(move |variable| resource(kind, variable));
        classes.into_iter().flat_map(of_class).collect()
    }

    /// Returns the location and the number of components of each input of the stage. An array has a location for each
    /// element.
    pub fn inputs(&self) -> Vec<(u32, u32)> {
        self.variables(StorageClass::Input)
            .filter_map(|(variable, kind)| Some((self.decoration(variable, Decoration::Location)?, kind)))
            .flat_map(|(location, kind)| {
                let kind = self.definition(kind);
                let (count, element) = match kind.class.opcode {
                    Op::TypeArray => (self.array_length(kind), self.definition(id(kind, 0))),
                    _ => (1, kind),
                };
                let components = if element.class.opcode == Op::TypeVector { literal(element, 1) } else { 1 };
                (0..count).map(move |k| (location + k, components))
            })
            .collect()
    }

    /// Returns the names of the inputs and outputs that are arrays whose length is a specialization constant.
    pub fn specialized_varyings(&self) -> Vec<String> {
        let varyings = [StorageClass::Input, StorageClass::Output].into_iter().flat_map(|class| self.variables(class));
        let is_specialized = |&(_, kind): &(Word, Word)| {
            let kind = self.definition(kind);
            kind.class.opcode == Op::TypeArray && self.definition(id(kind, 1)).class.opcode != Op::Constant
        };
        varyings.filter(is_specialized).map(|(variable, _)| self.name(&[Operand::IdRef(variable)])).collect()
    }

    /// Returns the variables of a storage class, with the type that they point to.
    fn variables(&self, class: StorageClass) -> impl Iterator<Item = (Word, Word)> {
        self.module.types_global_values.iter().filter_map(move |instruction| {
            let matches = instruction.class.opcode == Op::Variable
                && instruction.operands.first() == Some(&Operand::StorageClass(class));
            let pointer = self.definition(instruction.result_type.filter(|_| matches)?);
            Some((instruction.result_id?, id(pointer, 1)))
        })
    }

    fn memory_struct(&self, id: Word) -> Option<MemoryStruct> {
        let types: Vec<Word> = self.definition(id).operands.iter().map(Operand::unwrap_id_ref).collect();
        let mut members = Vec::new();
        let mut end = 0;
        for (member, &kind) in (0..).zip(&types) {
            let offset = self.member_decoration((id, member), Decoration::Offset)?;
            members.push((self.name(&[Operand::IdRef(id), Operand::LiteralBit32(member)]), offset));
            end = end.max(offset + self.size(kind, Some((id, member))));
        }
        let name = self.name(&[Operand::IdRef(id)]);
        Some(MemoryStruct { name, members, end, stride: self.stride_of(id) })
    }

    fn stride_of(&self, element: Word) -> Option<u32> {
        let types = self.module.types_global_values.iter();
        types
            .filter(|kind| kind.class.opcode == Op::TypeRuntimeArray && id(kind, 0) == element)
            .find_map(|array| self.decoration(array.result_id?, Decoration::ArrayStride))
    }

    /// Returns the size of a type in memory. `member` is the struct and the number of the member that has the type: the
    /// stride of a matrix depends on it.
    fn size(&self, type_id: Word, member: Option<(Word, u32)>) -> u32 {
        let kind = self.definition(type_id);
        match kind.class.opcode {
            Op::TypeInt | Op::TypeFloat => literal(kind, 0) / 8,
            Op::TypeVector => self.size(id(kind, 0), None) * literal(kind, 1),
            Op::TypeMatrix => {
                let (owner, k) = member.expect("matrices are members");
                let column_major = [Operand::IdRef(owner), Operand::LiteralBit32(k), Decoration::ColMajor.into()];
                let mut annotations = self.module.annotations.iter();
                assert!(annotations.any(|annotation| annotation.operands == column_major), "row-major matrix");
                self.member_decoration((owner, k), Decoration::MatrixStride).expect("a stride") * literal(kind, 1)
            }
            Op::TypeArray => {
                self.decoration(type_id, Decoration::ArrayStride).expect("a stride") * self.array_length(kind)
            }
            Op::TypeRuntimeArray => 0,
            Op::TypeStruct => self.memory_struct(type_id).expect("a struct with offsets").end,
            other => panic!("no size is known for {other:?}"),
        }
    }

    fn array_length(&self, array: &Instruction) -> u32 {
        literal(self.definition(id(array, 1)), 0)
    }

    /// Returns the instruction that defines a type or a constant.
    fn definition(&self, id: Word) -> &Instruction {
        let mut all = self.module.types_global_values.iter();
        all.find(|instruction| instruction.result_id == Some(id)).expect("a type or a constant")
    }

    /// Returns the name of an id or, if a number follows, of its member.
    fn name(&self, of: &[Operand]) -> String {
        last_operand(&self.module.debug_names, of).expect("a name").unwrap_literal_string().to_owned()
    }

    fn decoration(&self, id: Word, kind: Decoration) -> Option<u32> {
        let operands = [Operand::IdRef(id), kind.into()];
        last_operand(&self.module.annotations, &operands).map(Operand::unwrap_literal_bit32)
    }

    fn member_decoration(&self, (id, member): (Word, u32), kind: Decoration) -> Option<u32> {
        let operands = [Operand::IdRef(id), Operand::LiteralBit32(member), kind.into()];
        last_operand(&self.module.annotations, &operands).map(Operand::unwrap_literal_bit32)
    }
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

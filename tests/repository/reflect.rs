//! SPIR-V reflection, just enough to compare memory layouts and bindings: names, offsets and sizes.

use std::collections::HashMap;

use rspirv::binary::Parser;
use rspirv::dr::{Instruction, Loader, Module, Operand};
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
    /// Whether its only member is an array without a length, as in a storage buffer.
    pub wraps_array: bool,
}

/// A resource variable: set, binding, kind, and the name of its block or, for a texture, of the variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    pub set: u32,
    pub binding: u32,
    pub kind: Kind,
    pub name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    UniformBuffer,
    StorageBuffer,
    CombinedImageSampler,
}

pub struct Reflection {
    module: Module,
    types: HashMap<Word, Instruction>,
    names: HashMap<Word, String>,
    member_names: HashMap<(Word, u32), String>,
    decorations: HashMap<(Word, Decoration), u32>,
    member_decorations: HashMap<(Word, u32, Decoration), u32>,
}

impl Reflection {
    pub fn new(words: &[u32]) -> Self {
        let mut loader = Loader::new();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Parser::new(&bytes, &mut loader).parse().expect("valid SPIR-V");
        let module = loader.module();
        let mut reflection = Self {
            types: module.types_global_values.iter().filter_map(|i| Some((i.result_id?, i.clone()))).collect(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
            module,
        };
        reflection.collect_names();
        reflection.collect_decorations();
        reflection
    }

    fn collect_names(&mut self) {
        for instruction in &self.module.debug_names {
            match (instruction.class.opcode, &instruction.operands[..]) {
                (Op::Name, [Operand::IdRef(id), Operand::LiteralString(name)]) => {
                    self.names.insert(*id, name.clone());
                }
                (Op::MemberName, [Operand::IdRef(id), Operand::LiteralBit32(k), Operand::LiteralString(name)]) => {
                    self.member_names.insert((*id, *k), name.clone());
                }
                _ => {}
            }
        }
    }

    fn collect_decorations(&mut self) {
        let literal = |operands: &[Operand]| match operands {
            [Operand::LiteralBit32(value), ..] => *value,
            _ => 0,
        };
        for instruction in &self.module.annotations {
            match (instruction.class.opcode, &instruction.operands[..]) {
                (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(kind), rest @ ..]) => {
                    self.decorations.insert((*id, *kind), literal(rest));
                }
                (
                    Op::MemberDecorate,
                    [Operand::IdRef(id), Operand::LiteralBit32(k), Operand::Decoration(kind), rest @ ..],
                ) => {
                    self.member_decorations.insert((*id, *k, *kind), literal(rest));
                }
                _ => {}
            }
        }
    }

    /// Returns the `LocalSize` of the entry point, or `None` unless it is a compute shader.
    pub fn local_size(&self) -> Option<[u32; 3]> {
        self.module.execution_modes.iter().find_map(|mode| match &mode.operands[..] {
            [
                _,
                Operand::ExecutionMode(ExecutionMode::LocalSize),
                Operand::LiteralBit32(x),
                Operand::LiteralBit32(y),
                Operand::LiteralBit32(z),
            ] => Some([*x, *y, *z]),
            _ => None,
        })
    }

    /// Returns the id and the name of each specialization constant.
    pub fn specialization_constants(&self) -> Vec<(u32, String)> {
        let ids = self.decorations.iter().filter(|((_, decoration), _)| *decoration == Decoration::SpecId);
        ids.map(|(&(constant, _), &id)| (id, self.names[&constant].clone())).collect()
    }

    /// Returns all structs whose members have offsets.
    pub fn memory_structs(&self) -> Vec<MemoryStruct> {
        let is_struct = |(_, kind): &(&Word, &Instruction)| kind.class.opcode == Op::TypeStruct;
        let mut ids: Vec<Word> = self.types.iter().filter(is_struct).map(|(&id, _)| id).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| self.memory_struct(id)).collect()
    }

    /// Returns the block of push constants.
    pub fn push_constants(&self) -> Option<MemoryStruct> {
        self.variables(StorageClass::PushConstant).find_map(|(_, pointee)| self.memory_struct(pointee))
    }

    /// Returns all descriptors that the module declares.
    pub fn resources(&self) -> Vec<Resource> {
        let mut resources: Vec<Resource> =
            [StorageClass::Uniform, StorageClass::StorageBuffer, StorageClass::UniformConstant]
                .into_iter()
                .flat_map(|class| self.variables(class).map(move |variable| (class, variable)))
                .map(|(class, (variable, pointee))| {
                    let decoration = |kind| self.decorations.get(&(variable, kind)).copied().expect("a decoration");
                    let (kind, named) = match class {
                        StorageClass::Uniform => (Kind::UniformBuffer, pointee),
                        StorageClass::StorageBuffer => (Kind::StorageBuffer, pointee),
                        _ => {
                            assert_eq!(self.types[&pointee].class.opcode, Op::TypeSampledImage);
                            (Kind::CombinedImageSampler, variable)
                        }
                    };
                    Resource {
                        set: decoration(Decoration::DescriptorSet),
                        binding: decoration(Decoration::Binding),
                        kind,
                        name: self.names[&named].clone(),
                    }
                })
                .collect();
        resources.sort();
        resources
    }

    /// Returns the location and the number of components of each input of the stage. An array has a location for each
    /// element.
    pub fn inputs(&self) -> Vec<(u32, u32)> {
        self.variables(StorageClass::Input)
            .filter_map(|(variable, kind)| Some((*self.decorations.get(&(variable, Decoration::Location))?, kind)))
            .flat_map(|(location, kind)| {
                let kind = &self.types[&kind];
                let (count, element) = match kind.class.opcode {
                    Op::TypeArray => (literal(&self.types[&id(kind, 1)], 0), &self.types[&id(kind, 0)]),
                    _ => (1, kind),
                };
                let components = if element.class.opcode == Op::TypeVector { literal(element, 1) } else { 1 };
                (0..count).map(move |k| (location + k, components))
            })
            .collect()
    }

    /// Returns the variables of a storage class, with the type that they point to.
    fn variables(&self, class: StorageClass) -> impl Iterator<Item = (Word, Word)> {
        self.module.types_global_values.iter().filter_map(move |instruction| {
            let matches = instruction.class.opcode == Op::Variable
                && instruction.operands.first() == Some(&Operand::StorageClass(class));
            let pointer = &self.types[&instruction.result_type.filter(|_| matches)?];
            Some((instruction.result_id?, id(pointer, 1)))
        })
    }

    fn memory_struct(&self, id: Word) -> Option<MemoryStruct> {
        let members = &self.types[&id].operands;
        let offset = |k: u32| self.member_decorations.get(&(id, k, Decoration::Offset)).copied();
        let mut list = Vec::new();
        let mut end = 0;
        for (k, member) in (0u32..).zip(members) {
            let offset = offset(k)?;
            list.push((self.member_names[&(id, k)].clone(), offset));
            end = end.max(offset + self.size(word(member), Some((id, k))));
        }
        let wraps_array = matches!(&members[..], [one] if self.types[&word(one)].class.opcode == Op::TypeRuntimeArray);
        Some(MemoryStruct {
            name: self.names[&id].clone(),
            members: list,
            end,
            stride: self.stride_of(id),
            wraps_array,
        })
    }

    fn stride_of(&self, element: Word) -> Option<u32> {
        self.types
            .iter()
            .filter(|(_, kind)| kind.class.opcode == Op::TypeRuntimeArray && id(kind, 0) == element)
            .find_map(|(&array, _)| self.decorations.get(&(array, Decoration::ArrayStride)).copied())
    }

    /// Returns the size of a type in memory. `member` is the member that has the type: the stride of a matrix depends
    /// on it.
    fn size(&self, type_id: Word, member: Option<(Word, u32)>) -> u32 {
        let kind = &self.types[&type_id];
        match kind.class.opcode {
            Op::TypeInt | Op::TypeFloat => literal(kind, 0) / 8,
            Op::TypeVector => self.size(id(kind, 0), None) * literal(kind, 1),
            Op::TypeMatrix => {
                let (owner, k) = member.expect("matrices are members");
                assert!(self.member_decorations.contains_key(&(owner, k, Decoration::ColMajor)), "row-major matrix");
                self.member_decorations[&(owner, k, Decoration::MatrixStride)] * literal(kind, 1)
            }
            Op::TypeArray => {
                self.decorations[&(type_id, Decoration::ArrayStride)] * literal(&self.types[&id(kind, 1)], 0)
            }
            Op::TypeRuntimeArray => 0,
            Op::TypeStruct => self.memory_struct(type_id).expect("a struct with offsets").end,
            other => panic!("no size is known for {other:?}"),
        }
    }
}

fn word(operand: &Operand) -> Word {
    match operand {
        Operand::IdRef(id) => *id,
        other => panic!("expected an id, found {other:?}"),
    }
}

fn id(instruction: &Instruction, k: usize) -> Word {
    word(&instruction.operands[k])
}

fn literal(instruction: &Instruction, k: usize) -> u32 {
    match &instruction.operands[k] {
        Operand::LiteralBit32(value) => *value,
        other => panic!("expected a number, found {other:?}"),
    }
}

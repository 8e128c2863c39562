//! Finds branches in SPIR-V whose condition depends on uniforms or push constants (and constants) alone.
//!
//! Mesa's lavapipe copies a large shader and compiles a new variant whenever the uniforms behind such a branch are bound,
//! and it keeps all copies. Selects and specialization constants do not have this cost.
//!
//! The class of a value is the highest class of all values that it is computed from, and that of a variable the highest
//! of all values that are stored in it. The analysis ignores which branch a value came through. So it may report a
//! condition that in fact differs between invocations, but it misses none. The compiler inlines all calls.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Module, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

/// The inputs that a value depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Class {
    /// Constants, including specialization constants.
    #[default]
    Constant,
    /// Uniforms, push constants and constants.
    Uniform,
    /// Any value that may differ between invocations or that no driver inlines: inputs, textures, storage buffers.
    Varying,
}

/// Returns the branches of `module` that depend on uniforms alone, each as `file:line`.
pub fn uniform_branches(module: &Module) -> Vec<String> {
    let mut classes = Classes::default();
    while module.all_inst_iter().filter(|instruction| classes.visit(instruction)).count() > 0 {}
    let mut line = "?".to_owned();
    let mut found = Vec::new();
    for instruction in module.all_inst_iter() {
        match (instruction.class.opcode, &instruction.operands[..]) {
            (Op::Line, [Operand::IdRef(file), Operand::LiteralBit32(number), ..]) => {
                line = format!("{}:{number}", string(module, *file));
            }
            (Op::BranchConditional | Op::Switch, [Operand::IdRef(condition), ..])
                if classes.of(*condition) == Class::Uniform =>
            {
                found.push(line.clone());
            }
            _ => {}
        }
    }
    found
}

fn string(module: &Module, id: Word) -> &str {
    let mut strings = module.debug_string_source.iter();
    let string = strings.find(|instruction| instruction.result_id == Some(id)).expect("a string");
    string.operands[0].unwrap_literal_string()
}

/// The class of each id. A pointer has the class of the values that it points to.
#[derive(Default)]
struct Classes {
    by_id: HashMap<Word, Class>,
    /// The variable that each pointer points into.
    variable_of: HashMap<Word, Word>,
}

impl Classes {
    fn of(&self, id: Word) -> Class {
        self.by_id.get(&id).copied().unwrap_or_default()
    }

    /// Raises the class of an id. Returns true if it was lower.
    fn raise(&mut self, id: Word, class: Class) -> bool {
        let old = self.by_id.entry(id).or_default();
        let raised = class > *old;
        *old = class.max(*old);
        raised
    }

    /// Applies one instruction. Returns true if a class has changed.
    fn visit(&mut self, instruction: &Instruction) -> bool {
        let ids = instruction.operands.iter().filter_map(Operand::id_ref_any);
        let operands = ids.clone().map(|id| self.of(id)).max().unwrap_or_default();
        match instruction.class.opcode {
            Op::FunctionCall | Op::FunctionParameter => panic!("{instruction:?}: calls are not analysed"),
            Op::Store | Op::CopyMemory => {
                let target = ids.clone().next().expect("a pointer");
                self.raise(self.variable_of.get(&target).copied().unwrap_or(target), operands)
            }
            opcode => {
                let Some(result) = instruction.result_id else { return false };
                let mut class = operands;
                if opcode == Op::Variable {
                    class = class.max(class_of_storage(&instruction.operands));
                } else if matches!(opcode, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject) {
                    let base = ids.clone().next().expect("a pointer");
                    self.variable_of.insert(result, self.variable_of.get(&base).copied().unwrap_or(base));
                }
                self.raise(result, class)
            }
        }
    }
}

fn class_of_storage(operands: &[Operand]) -> Class {
    match operands.first() {
        Some(Operand::StorageClass(StorageClass::Uniform | StorageClass::PushConstant)) => Class::Uniform,
        Some(Operand::StorageClass(StorageClass::Function | StorageClass::Private | StorageClass::Output)) => {
            Class::Constant
        }
        _ => Class::Varying,
    }
}

//! Finds branches in SPIR-V whose condition depends on uniforms or push constants (and constants) alone.
//!
//! Mesa's lavapipe copies a large shader and compiles a new variant whenever the uniforms behind such a branch are bound,
//! and it keeps all copies. Selects and specialization constants do not have this cost.
//!
//! The class of a value is the highest class of all values that it is computed from, and that of a variable the highest
//! of all values that are stored in it. The analysis ignores which branch a value came through. So it may report a
//! condition that in fact differs between invocations, but it misses none. The compiler inlines all calls.

use std::collections::HashMap;

use rspirv::dr::{Module, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

/// The inputs that a value depends on. A pointer has the class of the values that it points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Class {
    #[default]
    Constant,
    Uniform,
    /// Any value that may differ between invocations or that no driver inlines: inputs, textures, storage buffers.
    Varying,
}

/// Returns the branches of `module` that depend on uniforms alone, each as `file:line`.
pub fn uniform_branches(module: &Module) -> Vec<String> {
    let mut classes = HashMap::new();
    while raise_classes(module, &mut classes) {}
    let (mut found, mut line) = (Vec::new(), "?".to_owned());
    for instruction in module.all_inst_iter() {
        let operands = &instruction.operands;
        match instruction.class.opcode {
            Op::Line => {
                let mut strings = module.debug_string_source.iter();
                let file = strings.find(|string| string.result_id == operands[0].id_ref_any()).expect("a string");
                line = format!("{}:{}", file.operands[0].unwrap_literal_string(), operands[1].unwrap_literal_bit32());
            }
            Op::BranchConditional | Op::Switch => {
                let is_uniform = classes.get(&operands[0].unwrap_id_ref()) == Some(&Class::Uniform);
                found.extend(is_uniform.then(|| line.clone()));
            }
            _ => {}
        }
    }
    found
}

/// Applies each instruction once. Returns whether a class has changed.
fn raise_classes(module: &Module, classes: &mut HashMap<Word, Class>) -> bool {
    let mut has_changed = false;
    // The variable that each pointer points into.
    let mut variables = HashMap::new();
    for instruction in module.all_inst_iter() {
        let ids: Vec<Word> = instruction.operands.iter().filter_map(Operand::id_ref_any).collect();
        let mut class = ids.iter().filter_map(|id| classes.get(id).copied()).max().unwrap_or_default();
        let variable = ids.first().map(|id| *variables.get(id).unwrap_or(id));
        let mut target = instruction.result_id;
        match instruction.class.opcode {
            Op::FunctionCall | Op::FunctionParameter => panic!("{instruction:?}: calls are not analysed"),
            Op::Store | Op::CopyMemory => target = variable,
            Op::Variable => {
                class = class.max(match instruction.operands[0].unwrap_storage_class() {
                    StorageClass::Uniform | StorageClass::PushConstant => Class::Uniform,
                    StorageClass::Function | StorageClass::Private | StorageClass::Output => Class::Constant,
                    _ => Class::Varying,
                });
            }
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => variables.extend(target.zip(variable)),
            _ => {}
        }
        let Some(target) = target else { continue };
        let old = classes.entry(target).or_default();
        has_changed |= class > *old;
        *old = class.max(*old);
    }
    has_changed
}

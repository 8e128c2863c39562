//! Target `accessor`: a small model with one odd accessor, in one of the roles that accessors have. It has any type,
//! offset, stride and sparse part, and its views end near the boundary.
//!
//! The bytes choose the case, so that nearly every input reaches the accessor reader. If the model is imported, its
//! numbers are compared with a second decoder (`decode`, `layout`) that works in 128-bit arithmetic and one byte at a
//! time. If that decoder leaves the bounds, the model, or the part of it, must have been refused. A valid case must not.

mod case;
mod decode;
mod expect;
mod gltf;
mod layout;

use arbitrary::Unstructured;
use throng::model::Model;
use throng::model::import::load_glb;

use super::invariants::check_invariants;
use case::Case;

/// The result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes do not suffice for a case.
    TooShort,
    /// The model, or the part with the accessor, was refused.
    Refused,
    /// The model was imported, and its numbers are right.
    Imported,
}

/// Builds the model, imports it and compares it.
///
/// # Panics
/// Panics if the importer and the second decoder disagree.
pub fn run(data: &[u8]) -> Outcome {
    let Ok(case) = Case::take(&mut Unstructured::new(data)) else { return Outcome::TooShort };
    let expected = case.decode();
    let valid = expected.as_ref().is_some_and(|elements| case.is_valid() && expect::is_valid(&case, elements));
    // What is broken costs its part, with a warning.
    let is_part_lost = |model: &Model| {
        let tells = |warning: &String| warning.contains("left out") || warning.contains("missing ones are 0");
        model.warnings.iter().any(tells)
    };
    match load_glb("fuzz.glb", &case.glb()) {
        Ok(model) if !valid && is_part_lost(&model) => {
            check_invariants(&model);
            Outcome::Refused
        }
        Ok(model) => {
            check_invariants(&model);
            let Some(elements) = expected else { panic!("read beyond the bytes that are there: {case:?}") };
            expect::check(&case, &elements, &model);
            Outcome::Imported
        }
        Err(error) => {
            assert!(!valid, "refused although valid: {error}: {case:?}");
            Outcome::Refused
        }
    }
}

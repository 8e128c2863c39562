//! Target `accessor`: a small model around one accessor with odd types, offsets, strides, sparse parts and views that
//! end near the boundary, in one of the roles that accessors have.
//!
//! The bytes choose, so that nearly every input reaches the accessor reader. Where the model is imported, the numbers
//! in it are held against a second decoder (`decode`, `layout`) that works in 128-bit arithmetic and one byte at a time; where
//! that decoder leaves the bytes that are there, the model must have been refused; and what is sound by the
//! specification must not be.

mod case;
mod decode;
mod expect;
mod gltf;
mod layout;

use arbitrary::Unstructured;
use throng::model::import::load_glb;

use super::invariants::check_invariants;
use case::Case;

/// What became of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The bytes do not suffice for a case.
    TooShort,
    /// Refused.
    Refused,
    /// Imported, and the numbers are right.
    Imported,
}

/// Builds the model, imports it and compares.
///
/// # Panics
/// If the importer and the second decoder disagree.
pub fn run(data: &[u8]) -> Outcome {
    let Ok(case) = Case::take(&mut Unstructured::new(data)) else { return Outcome::TooShort };
    let expected = case.decode();
    match load_glb("fuzz.glb", &case.glb()) {
        Ok(model) => {
            check_invariants(&model);
            let Some(elements) = expected else { panic!("read beyond the bytes that are there: {case:?}") };
            expect::check(&case, &elements, &model);
            Outcome::Imported
        }
        Err(error) => {
            let sound = expected.is_some_and(|elements| case.is_sound() && expect::is_sound(&case, &elements));
            assert!(!sound, "refused although sound: {error}: {case:?}");
            Outcome::Refused
        }
    }
}

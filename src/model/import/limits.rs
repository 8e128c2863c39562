//! What one model may cost.
//!
//! A few bytes of JSON can ask for a lot: ten thousand primitives that all name the same long accessor, or an accessor
//! of a billion zeros without any data. Every list whose length is not bounded by the bytes of the file is therefore
//! paid from a budget before it is read. The figures are far above any character and far below what hurts.

use super::error::{Fault, Result};

/// Bytes of the model file and of all files beside it, together.
pub(super) const MAX_FILE_BYTES: u64 = 2 << 30;
/// Bytes of JSON: parsed, the shortest things in it take some twenty times their bytes.
pub(super) const MAX_JSON_BYTES: usize = 256 << 20;
/// Elements of one of the lists at the top of the JSON, for the same reason (`{},` becomes hundreds of bytes).
pub(super) const MAX_LIST_ELEMENTS: usize = 1 << 20;
/// Morph targets of one mesh. The skinning shader walks those that move a vertex in one loop, and the loops of some
/// drivers end at 65,535.
pub(super) const MAX_MORPH_TARGETS: usize = 4096;
/// Elements of an accessor without a buffer view: all zeros, so nothing in the file bounds them.
pub(super) const MAX_ELEMENTS_WITHOUT_DATA: u64 = 1 << 20;
/// Texels of one side of an image.
pub(super) const MAX_IMAGE_SIDE: u32 = 16_384;
/// Texels of all images of a model.
pub(super) const MAX_TEXELS: u64 = 64 << 20;
/// Bytes that decoding one image may use beside its texels.
pub(super) const MAX_IMAGE_DECODER_BYTES: u64 = 512 << 20;

/// What is left of one kind of thing.
#[derive(Debug)]
pub(super) struct Budget {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Budget {
    const fn new(what: &'static str, limit: u64) -> Self {
        Self { what, limit, left: limit }
    }

    /// Vertices as the file has them, once for each node that shows them.
    pub const fn vertices() -> Self {
        Self::new("vertices", 8 << 20)
    }

    /// Triangle-list indices.
    pub const fn indices() -> Self {
        Self::new("indices", 48 << 20)
    }

    /// Joint and weight pairs, zero weights included.
    pub const fn influences() -> Self {
        Self::new("joint weights", 64 << 20)
    }

    /// Deltas of morph targets, zero ones included.
    pub const fn morph_deltas() -> Self {
        Self::new("morph target elements", 16 << 20)
    }

    /// Morph weights of all nodes: each instance streams them all, in every frame.
    pub const fn morph_weights() -> Self {
        Self::new("morph weights", 1 << 18)
    }

    /// Keyed numbers of all clips, times included.
    pub const fn key_values() -> Self {
        Self::new("keyframe numbers", 64 << 20)
    }

    /// Pays for `count` things that the JSON path `at` asks for.
    pub fn take(&mut self, count: u64, at: &str) -> Result<()> {
        match self.left.checked_sub(count) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Fault::unsupported(
                at,
                format_args!("{count} more {}: a model may have {} in all", self.what, self.limit),
            )),
        }
    }
}

//! What one model may cost.
//!
//! A few bytes of JSON can ask for a lot: ten thousand primitives that all name the same long accessor, an accessor of
//! a billion zeros without any data, an image that unpacks to gigabytes. Everything whose size is not bounded by the
//! bytes of the file is therefore paid from a budget before it is read, and the budgets grow with the bytes that the
//! model's files really have: what costs gigabytes to show has to be a large download first.
//!
//! **The rule that the figures keep:** a model whose files have one MiB together takes less than one GiB. The program is
//! held to it, in an address space of that size, by files that spend one budget each (`tests/untrusted/`); the worst
//! takes 400 MiB, so that two at once fit as well. What one thing costs at its worst, in bytes, from the decoded file
//! to the output of `throng pose`: a vertex 200 (its arrays, the welder's key, the skinned copy), a joint weight 40, an
//! element of a morph target 110, an index 8, a keyed number 8, a texel 4 and while it is decoded 12 (16-bit PNG,
//! progressive JPEG), a shown primitive 200, a value of the JSON 350 (the smallest objects), an element of a list of the
//! JSON 800 (materials).
//!
//! The figures are far above any character: the floor alone fits five hundred figures of a thousand vertices.

use super::error::{Fault, Result};

/// Bytes of the model file and of all files beside it, together.
pub(super) const MAX_FILE_BYTES: u64 = 2 << 30;
/// Bytes of JSON: base64 of embedded buffers is most of it where it is large.
pub(super) const MAX_JSON_BYTES: u64 = 256 << 20;
/// Values in the JSON: numbers, strings, objects, lists.
pub(super) const MAX_JSON_VALUES: usize = 4 << 20;
/// Elements of one of the lists at the top of the JSON (`{},` becomes hundreds of bytes in each list).
pub(super) const MAX_LIST_ELEMENTS: usize = 1 << 18;
/// Morph targets of one mesh. The skinning shader walks those that move a vertex in one loop, and the loops of some
/// drivers end at 65,535.
pub(super) const MAX_MORPH_TARGETS: usize = 4096;
/// Elements of an accessor without a buffer view: all zeros, so nothing in the file bounds them.
pub(super) const MAX_ELEMENTS_WITHOUT_DATA: u64 = 1 << 20;
/// Texels of one side of an image.
pub(super) const MAX_IMAGE_SIDE: u32 = 16_384;
/// Bytes that one image may have as its decoder delivers it: 16-bit channels take eight per texel.
pub(super) const MAX_DECODED_IMAGE_BYTES: u64 = 512 << 20;

/// Bytes that a decoder may take beside the image itself: a colour profile, say, which is compressed in its turn.
pub(super) const MAX_IMAGE_SIDE_BYTES: u64 = 32 << 20;

/// Files up to this size have the floor of every figure below.
const SMALL_FILE_BYTES: u64 = 1 << 20;

/// A figure that grows with the bytes of the model's files.
#[derive(Debug, Clone, Copy)]
struct Scale {
    floor: u64,
    /// For each KiB beyond [`SMALL_FILE_BYTES`].
    per_kib: u64,
    most: u64,
}

impl Scale {
    const fn at(self, file_bytes: u64) -> u64 {
        let kib = file_bytes.saturating_sub(SMALL_FILE_BYTES) / 1024;
        let limit = self.floor.saturating_add(kib.saturating_mul(self.per_kib));
        if limit < self.most { limit } else { self.most }
    }
}

/// Vertices as the file has them, once for each node that shows them. Quantised ones take eight bytes and more.
const VERTICES: Scale = Scale { floor: 1 << 19, per_kib: 1 << 10, most: 8 << 20 };
/// Triangle-list indices.
const INDICES: Scale = Scale { floor: 6 << 20, per_kib: 6 << 10, most: 48 << 20 };
/// Joint and weight pairs, zero weights included.
const INFLUENCES: Scale = Scale { floor: 4 << 20, per_kib: 8 << 10, most: 64 << 20 };
/// Elements of morph targets, zero ones included, once for each node that shows them.
const MORPH_DELTAS: Scale = Scale { floor: 1 << 20, per_kib: 2 << 10, most: 16 << 20 };
/// Bytes that compressed buffer views and meshes become: real ones shrink to a tenth, and a run of equal values to nothing.
const DECODED_BYTES: Scale = Scale { floor: 64 << 20, per_kib: 64 << 10, most: 1 << 30 };
/// Morph weights of all nodes.
const MORPH_WEIGHTS: Scale = Scale { floor: 1 << 16, per_kib: 64, most: 1 << 18 };
/// Keyed numbers of all clips, times included.
const KEY_VALUES: Scale = Scale { floor: 8 << 20, per_kib: 8 << 10, most: 64 << 20 };
/// Primitives, once for each node that shows them: each costs time even where it has nothing to draw.
const PRIMITIVES: Scale = Scale { floor: 64 << 10, per_kib: 64, most: 1 << 20 };
/// Entries of sparse accessors, which are proven anew for everyone who reads one: time, not memory.
const SPARSE_ENTRIES: Scale = Scale { floor: 16 << 20, per_kib: 16 << 10, most: 256 << 20 };
/// Texels of all images. The floor fits two images of 4096 x 4096 that compress to next to nothing; beyond it 32 for
/// each byte, where photographs have about five and flat colours a hundred.
const TEXELS: Scale = Scale { floor: 32 << 20, per_kib: 32 << 10, most: 256 << 20 };

/// Encoded bytes of all images: many images may share the same bytes, and each is decoded for itself. Time alone.
const ENCODED_IMAGES: Scale = Scale { floor: 8 << 20, per_kib: 2 << 10, most: MAX_FILE_BYTES * 2 };

/// Encoded bytes that all images of a model may have together, given the bytes read for it so far.
pub(super) const fn encoded_image_bytes(file_bytes: u64) -> u64 {
    ENCODED_IMAGES.at(file_bytes)
}

/// Texels that all images of a model may have together, given the bytes read for it so far.
pub(super) const fn texels(file_bytes: u64) -> u64 {
    TEXELS.at(file_bytes)
}

/// What is left of one kind of thing.
#[derive(Debug)]
pub(super) struct Budget {
    what: &'static str,
    limit: u64,
    left: u64,
}

impl Budget {
    const fn new(what: &'static str, scale: Scale, file_bytes: u64) -> Self {
        let limit = scale.at(file_bytes);
        Self { what, limit, left: limit }
    }

    /// Vertices as the file has them, once for each node that shows them.
    pub const fn vertices(file_bytes: u64) -> Self {
        Self::new("vertices", VERTICES, file_bytes)
    }

    /// Triangle-list indices.
    pub const fn indices(file_bytes: u64) -> Self {
        Self::new("indices", INDICES, file_bytes)
    }

    /// Joint and weight pairs, zero weights included.
    pub const fn influences(file_bytes: u64) -> Self {
        Self::new("joint weights", INFLUENCES, file_bytes)
    }

    /// Bytes that compressed buffer views and meshes become.
    pub const fn decoded_bytes(file_bytes: u64) -> Self {
        Self::new("bytes of decompressed data", DECODED_BYTES, file_bytes)
    }

    /// Elements of morph targets, zero ones included.
    pub const fn morph_deltas(file_bytes: u64) -> Self {
        Self::new("morph target elements", MORPH_DELTAS, file_bytes)
    }

    /// Morph weights of all nodes: each instance streams them all, in every frame.
    pub const fn morph_weights(file_bytes: u64) -> Self {
        Self::new("morph weights", MORPH_WEIGHTS, file_bytes)
    }

    /// Keyed numbers of all clips, times included.
    pub const fn key_values(file_bytes: u64) -> Self {
        Self::new("keyframe numbers", KEY_VALUES, file_bytes)
    }

    /// Primitives, once for each node that shows them.
    pub const fn primitives(file_bytes: u64) -> Self {
        Self::new("shown primitives", PRIMITIVES, file_bytes)
    }

    /// Entries of sparse accessors, once for each reader.
    pub const fn sparse_entries(file_bytes: u64) -> Self {
        Self::new("sparse entries", SPARSE_ENTRIES, file_bytes)
    }

    /// How many more can be paid for.
    pub const fn left(&self) -> u64 {
        self.left
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
                format_args!("{count} more {}: a model with files of this size may have {}", self.what, self.limit),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_may_cost_grows_with_its_files() {
        const MIB: u64 = 1 << 20;
        assert_eq!((texels(0), texels(MIB)), (32 * MIB, 32 * MIB));
        // Five photographs of 4096 x 4096 in half a MiB each.
        assert!(texels(5 * MIB / 2 + MIB / 2) >= 5 * 4096 * 4096);
        assert_eq!(texels(u64::MAX), 256 * MIB);
        assert_eq!(Budget::vertices(3 * MIB).limit, 5 * MIB / 2);
        let mut budget = Budget::primitives(0);
        assert!(budget.take(65_536, "meshes[0]").is_ok());
        let Err(Fault::Unsupported { at, problem }) = budget.take(1, "meshes[1]") else { panic!("nothing is left") };
        assert_eq!(at, "meshes[1]");
        assert_eq!(problem, "1 more shown primitives: a model with files of this size may have 65536");
    }
}

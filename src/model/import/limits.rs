//! The limits of one model: from the bytes of its files to the number of things that it may contain.
//!
//! A few bytes of JSON can ask for a lot: ten thousand primitives that share one long accessor, an accessor of a
//! billion zeros without data, an image that decodes to gigabytes. So import charges everything whose size the bytes of the
//! file do not bound, before reading it. The limits grow with the number of bytes that the model's files really have: only a
//! large download can cost gigabytes.
//!
//! The [`Budget`] counts the things of each kind ([`Counted`]), which bounds time as well as memory. It also adds up the bytes
//! of all kinds, which bounds any mix of them. The price of a thing is the most memory that it takes at any time, from reading
//! the file to printing the output of `throng pose`; each kind has its price. Temporary memory is checked but not deducted.
//!
//! **The rule behind the figures:** a model whose files have one MiB together takes less than one GiB. The tests in
//! `tests/program/untrusted/` run the program in an address space of that size, with files that exhaust one budget or
//! many. The part of that GiB outside the budget is for the program itself and the bytes of the file.
//!
//! The limits are far above any character: even the smallest fit five hundred characters of a thousand vertices.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::error::{Fault, Result};

/// The largest size of the model file and of all files that it refers to, together, in bytes.
pub(super) const MAX_FILE_BYTES: u64 = 2 << 30;
/// The largest size of the JSON text, in bytes. Large JSON consists mostly of buffers in base64.
pub(super) const MAX_JSON_BYTES: u64 = 256 << 20;
/// The largest number of JSON values: numbers, strings, objects, lists.
pub(super) const MAX_JSON_VALUES: usize = 4 << 20;
/// The largest length of a top-level list in the JSON, where each `{},` becomes hundreds of bytes.
pub(super) const MAX_LIST_ELEMENTS: usize = 1 << 18;
/// The largest number of morph targets of a mesh. The skinning shader loops over the targets that move a vertex, and
/// some drivers end a loop after 65,535 iterations.
pub(super) const MAX_MORPH_TARGETS: usize = 4096;
/// The largest number of elements of an accessor without a buffer view. They are all zero and take no bytes of the file.
pub(super) const MAX_ELEMENTS_WITHOUT_DATA: u64 = 1 << 20;
/// The largest size of a decoded image, in bytes. With 16-bit channels, a texel takes eight.
pub(super) const MAX_DECODED_IMAGE_BYTES: u64 = 512 << 20;

/// The size of files up to which every [`Scale`] stays at its floor.
const SMALL_FILE_BYTES: u64 = 1 << 20;

/// A limit that grows with the size of the model's files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    floor: u64,
    /// The increase for each KiB beyond [`SMALL_FILE_BYTES`].
    per_kib: u64,
    most: u64,
}

/// A kind of thing that the [`Budget`] counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    what: &'static str,
    count: Scale,
    /// The most memory that one of them takes.
    bytes: u64,
}

impl Scale {
    /// Returns the limit of a model, given the bytes read for it so far.
    pub const fn at(self, file_bytes: u64) -> u64 {
        let kib = file_bytes.saturating_sub(SMALL_FILE_BYTES) / 1024;
        let limit = self.floor.saturating_add(kib.saturating_mul(self.per_kib));
        if limit < self.most { limit } else { self.most }
    }
}

/// The limit of the bytes of all kinds. It grows quickly, so that only extreme files reach it.
const TOTAL: Scale = Scale { floor: 900 << 20, per_kib: 1 << 20, most: u64::MAX };

impl Counted {
    const fn new(what: &'static str, [floor, per_kib, most]: [u64; 3], bytes: u64) -> Self {
        Self { what, count: Scale { floor, per_kib, most }, bytes }
    }

    /// Vertices of the file, once for each node that shows them. In the file, quantised ones take eight bytes or more.
    /// In memory there are their attributes, the welded vertices with the welder's table, and skinned copies.
    pub const VERTICES: Self = Self::new("vertices", [1 << 19, 1 << 10, 8 << 20], 200);
    /// Indices of triangle lists. Most of the memory goes to ordering the triangles.
    pub const INDICES: Self = Self::new("indices", [6 << 20, 6 << 10, 48 << 20], 24);
    /// Pairs of a joint and a weight, including zero weights.
    pub const INFLUENCES: Self = Self::new("joint weights", [4 << 20, 8 << 10, 64 << 20], 40);
    /// Corners of triangles that get tangents. The memory goes to the tables of the algorithm.
    pub const TANGENT_CORNERS: Self = Self::new("tangents", [6 << 20, 6 << 10, 48 << 20], 100);
    /// Elements of morph targets, including zeros, once for each node that shows them.
    pub const MORPH_DELTAS: Self = Self::new("morph target elements", [1 << 20, 2 << 10, 16 << 20], 110);
    /// Decoded bytes of compressed buffer views and meshes. Real data shrinks to a tenth, equal values to almost nothing.
    pub const DECODED_BYTES: Self = Self::new("bytes of decompressed data", [64 << 20, 64 << 10, 1 << 30], 1);
    /// Morph weights of all nodes. Each instance streams all of them in every frame.
    pub const MORPH_WEIGHTS: Self = Self::new("morph weights", [1 << 16, 64, 1 << 18], 64);
    /// Numbers of the keyframes of all clips, including times.
    pub const KEY_VALUES: Self = Self::new("keyframe numbers", [8 << 20, 8 << 10, 64 << 20], 8);
    /// Primitives, once for each node that shows them. Each costs time, even if it has nothing to draw.
    pub const PRIMITIVES: Self = Self::new("shown primitives", [64 << 10, 64, 1 << 20], 200);
    /// Entries of sparse accessors, once for each reader, because each reader checks them again. They cost time only.
    pub const SPARSE_ENTRIES: Self = Self::new("sparse entries", [16 << 20, 16 << 10, 256 << 20], 0);
}

/// The most memory of a JSON value, as counted by its separators. An empty object in a list counts twice, for up to 800 bytes.
const JSON_VALUE_BYTES: u64 = 400;

/// The largest number of texels of all images. The floor fits two images of 4096 x 4096 that compress to almost
/// nothing. Beyond it there are 32 for each byte, where photographs have about five and flat colours a hundred.
pub(super) const TEXELS: Scale = Scale { floor: 32 << 20, per_kib: 32 << 10, most: 256 << 20 };

/// The largest number of encoded bytes of all images. It bounds time: images may share bytes, and each is decoded.
pub(super) const ENCODED_IMAGE_BYTES: Scale = Scale { floor: 8 << 20, per_kib: 2 << 10, most: MAX_FILE_BYTES * 2 };

const TEXEL_BYTES: u64 = 4;
/// The bytes of a texel while it is decoded, from a 16-bit PNG or a progressive JPEG at worst.
const DECODING_TEXEL_BYTES: u64 = 12;

/// What a model has taken so far. All readers of a document share it, and its limits grow as more files are read.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// The number of things of each kind, by its name.
    counts: RefCell<BTreeMap<&'static str, u64>>,
    bytes: Cell<u64>,
}

impl Budget {
    /// Charges `count` things of a kind, and their bytes. `at` is the JSON path that asks for them.
    pub fn take(&self, kind: Counted, count: u64, file_bytes: u64, at: &str) -> Result<()> {
        let (what, limit) = (kind.what, kind.count.at(file_bytes));
        let mut counts = self.counts.borrow_mut();
        let taken = counts.entry(what).or_default();
        if count > limit.saturating_sub(*taken) {
            let problem = format!("{count} more {what}: a model with files of this size may have {limit}");
            return Err(Fault::unsupported(at, problem));
        }
        let bytes = count.saturating_mul(kind.bytes);
        self.take_bytes(bytes, bytes, file_bytes)
            .map_err(|why| Fault::unsupported(at, format_args!("{count} more {what}, {why}")))?;
        *taken += count;
        Ok(())
    }

    /// Checks that `peak` bytes fit and deducts those that are kept, or returns the reason why they are too many.
    fn take_bytes(&self, peak: u64, kept: u64, file_bytes: u64) -> Result<(), String> {
        let (spent, limit) = (self.bytes.get(), TOTAL.at(file_bytes));
        if peak > limit.saturating_sub(spent) {
            let [asked, spent, limit] = [peak, spent, limit].map(|bytes| bytes.div_ceil(1 << 20));
            return Err(format!(
                "about {asked} MiB in addition to {spent} MiB: a model with files of this size may take {limit} MiB"
            ));
        }
        self.bytes.set(spent + kept);
        Ok(())
    }

    /// Charges the memory of JSON with `value_count` values.
    pub fn take_json(&self, value_count: usize, file_bytes: u64) -> Result<()> {
        let bytes = (value_count as u64).saturating_mul(JSON_VALUE_BYTES);
        self.take_bytes(bytes, bytes, file_bytes)
            .map_err(|why| Fault::NotGltf(format!("{value_count} values in the JSON, {why}")))
    }

    /// Charges the memory of an image of `encoded_bytes` that is about to be decoded, or returns the reason why it is too
    /// large. The model keeps the encoded bytes, and the texels until they are uploaded.
    pub fn take_image(&self, texels: u64, encoded_bytes: u64, file_bytes: u64) -> Result<(), String> {
        let with_texels_of = |bytes: u64| texels.saturating_mul(bytes).saturating_add(encoded_bytes);
        self.take_bytes(with_texels_of(DECODING_TEXEL_BYTES), with_texels_of(TEXEL_BYTES), file_bytes)
    }

    /// Returns how many texels may be decoded at once: in half of the memory that is left, beside other work.
    pub fn texels_at_once(&self, file_bytes: u64) -> u64 {
        let left = TOTAL.at(file_bytes).saturating_sub(self.bytes.get());
        TEXELS.at(file_bytes).min(left / 2 / DECODING_TEXEL_BYTES)
    }
}

//! The limits of one model: from the bytes of its files to the number of things that it may contain.
//!
//! A few bytes of JSON can ask for a lot: ten thousand primitives that share one long accessor, an accessor of a
//! billion zeros without data, an image that decodes to gigabytes. So import charges
//! everything whose size the bytes of the file do not bound, before reading it. The limits grow with the number of
//! bytes that the model's files really have: only a large download can cost gigabytes.
//!
//! Each charge goes to two budgets. A [`Budget`] counts things of one [`Counted`], which bounds time as well as memory.
//! The [`TotalBudget`] adds up the bytes of all kinds, which bounds any mix of them. The
//! price of a thing is the most memory that it takes at any time, from reading the file to printing the output of
//! `throng pose`; each kind has its price. Temporary memory is checked against the total but not deducted.
//!
//! **The rule behind the figures:** a model whose files have one MiB together takes less than one GiB. The tests in
//! `tests/program/untrusted/` run the program in an address space of that size, with files that exhaust one budget or
//! many. The part of that GiB outside the total budget is for the program itself and the bytes of the file.
//!
//! The limits are far above any character: even the smallest fit five hundred characters of a thousand vertices.

use std::cell::Cell;
use std::rc::Rc;

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
/// The largest number of elements of an accessor without a buffer view. They are all zero and take no bytes of the
/// file.
pub(super) const MAX_ELEMENTS_WITHOUT_DATA: u64 = 1 << 20;
/// The largest size of a decoded image, in bytes. With 16-bit channels, a texel takes eight.
pub(super) const MAX_DECODED_IMAGE_BYTES: u64 = 512 << 20;

/// The size of files up to which every [`Scale`] stays at its floor.
const SMALL_FILE_BYTES: u64 = 1 << 20;

/// A limit that grows with the size of the model's files.
#[derive(Debug, Clone, Copy)]
struct Scale {
    floor: u64,
    /// The increase for each KiB beyond [`SMALL_FILE_BYTES`].
    per_kib: u64,
    most: u64,
}

/// A kind of thing that a [`Budget`] counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    /// The name of the things in messages.
    what: &'static str,
    count: Scale,
    /// The most memory that one of them takes.
    bytes: u64,
}

impl Scale {
    const fn at(self, file_bytes: u64) -> u64 {
        let kib = file_bytes.saturating_sub(SMALL_FILE_BYTES) / 1024;
        let limit = self.floor.saturating_add(kib.saturating_mul(self.per_kib));
        if limit < self.most { limit } else { self.most }
    }
}

/// The limit of the [`TotalBudget`], in bytes. It grows quickly, so that only extreme files reach it.
const TOTAL: Scale = Scale { floor: 900 << 20, per_kib: 1 << 20, most: u64::MAX };

impl Counted {
    /// Vertices of the file, once for each node that shows them. In the file, quantised ones take eight bytes or more.
    /// In memory there are their attributes, the welded vertices with the welder's table, and skinned copies.
    pub const VERTICES: Self =
        Self { what: "vertices", count: Scale { floor: 1 << 19, per_kib: 1 << 10, most: 8 << 20 }, bytes: 200 };
    /// Indices of triangle lists. Most of the memory goes to ordering the triangles.
    pub const INDICES: Self =
        Self { what: "indices", count: Scale { floor: 6 << 20, per_kib: 6 << 10, most: 48 << 20 }, bytes: 24 };
    /// Pairs of a joint and a weight, including zero weights.
    pub const INFLUENCES: Self =
        Self { what: "joint weights", count: Scale { floor: 4 << 20, per_kib: 8 << 10, most: 64 << 20 }, bytes: 40 };
    /// Corners of triangles that get tangents. The memory goes to the tables of the algorithm.
    pub const TANGENT_CORNERS: Self =
        Self { what: "tangents", count: Scale { floor: 6 << 20, per_kib: 6 << 10, most: 48 << 20 }, bytes: 100 };
    /// Elements of morph targets, including zeros, once for each node that shows them.
    pub const MORPH_DELTAS: Self = Self {
        what: "morph target elements",
        count: Scale { floor: 1 << 20, per_kib: 2 << 10, most: 16 << 20 },
        bytes: 110,
    };
    /// Decoded bytes of compressed buffer views and meshes. Real data shrinks to a tenth, equal values to almost
    /// nothing.
    pub const DECODED_BYTES: Self = Self {
        what: "bytes of decompressed data",
        count: Scale { floor: 64 << 20, per_kib: 64 << 10, most: 1 << 30 },
        bytes: 1,
    };
    /// Morph weights of all nodes. Each instance streams all of them in every frame.
    pub const MORPH_WEIGHTS: Self =
        Self { what: "morph weights", count: Scale { floor: 1 << 16, per_kib: 64, most: 1 << 18 }, bytes: 64 };
    /// Numbers of the keyframes of all clips, including times.
    pub const KEY_VALUES: Self =
        Self { what: "keyframe numbers", count: Scale { floor: 8 << 20, per_kib: 8 << 10, most: 64 << 20 }, bytes: 8 };
    /// Primitives, once for each node that shows them. Each costs time, even if it has nothing to draw.
    pub const PRIMITIVES: Self =
        Self { what: "shown primitives", count: Scale { floor: 64 << 10, per_kib: 64, most: 1 << 20 }, bytes: 200 };
    /// Entries of sparse accessors, once for each reader, because each reader checks them again. They cost time only.
    pub const SPARSE_ENTRIES: Self =
        Self { what: "sparse entries", count: Scale { floor: 16 << 20, per_kib: 16 << 10, most: 256 << 20 }, bytes: 0 };
}

/// The most memory that a JSON value takes, as counted by its separators. An empty object in a list counts twice, and
/// becomes up to 800 bytes.
const JSON_VALUE_BYTES: u64 = 400;

/// The largest number of texels of all images. The floor fits two images of 4096 x 4096 that compress to almost
/// nothing. Beyond it there are 32 for each byte, where photographs have about five and flat colours a hundred.
const TEXELS: Scale = Scale { floor: 32 << 20, per_kib: 32 << 10, most: 256 << 20 };

/// The largest number of encoded bytes of all images. It bounds time: images may share bytes, and each is decoded.
const ENCODED_IMAGES: Scale = Scale { floor: 8 << 20, per_kib: 2 << 10, most: MAX_FILE_BYTES * 2 };

/// Returns the number of encoded bytes that all images of a model may have, given the bytes read for it so far.
pub(super) const fn max_encoded_image_bytes(file_bytes: u64) -> u64 {
    ENCODED_IMAGES.at(file_bytes)
}

/// Returns the number of texels that all images of a model may have, given the bytes read for it so far.
pub(super) const fn max_texels(file_bytes: u64) -> u64 {
    TEXELS.at(file_bytes)
}

const TEXEL_BYTES: u64 = 4;
/// The bytes of a texel while it is decoded, from a 16-bit PNG or a progressive JPEG at worst.
const DECODING_TEXEL_BYTES: u64 = 12;

/// The bytes that a model may take for things of all kinds. All readers of a document share one.
#[derive(Debug, Clone)]
pub(super) struct TotalBudget {
    file_bytes: u64,
    /// Shared by all clones.
    spent: Rc<Cell<u64>>,
}

impl TotalBudget {
    /// Makes the budget of a model with `file_bytes` bytes read so far.
    pub fn new(file_bytes: u64) -> Self {
        Self { file_bytes, spent: Rc::default() }
    }

    /// Returns the same budget with the limit for a larger number of bytes read.
    pub fn grown_to(&self, file_bytes: u64) -> Self {
        Self { file_bytes, spent: Rc::clone(&self.spent) }
    }

    fn limit(&self) -> u64 {
        TOTAL.at(self.file_bytes)
    }

    fn left(&self) -> u64 {
        self.limit().saturating_sub(self.spent.get())
    }

    /// Deducts `bytes`, or returns the reason why they are too many.
    fn take(&self, bytes: u64) -> std::result::Result<(), String> {
        self.check(bytes)?;
        self.spent.set(self.spent.get().saturating_add(bytes));
        Ok(())
    }

    /// Checks that `bytes` of temporary memory fit; returns the reason if they do not.
    fn check(&self, bytes: u64) -> std::result::Result<(), String> {
        if bytes <= self.left() {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let [asked, spent, limit] = [bytes, self.spent.get(), self.limit()].map(mib);
        Err(format!(
            "about {asked} MiB in addition to {spent} MiB: a model with files of this size may take {limit} MiB"
        ))
    }

    /// Deducts the memory of JSON with `value_count` values.
    pub fn take_json(&self, value_count: usize) -> Result<()> {
        let bytes = (value_count as u64).saturating_mul(JSON_VALUE_BYTES);
        self.take(bytes).map_err(|why| Fault::NotGltf { problem: format!("{value_count} values in the JSON, {why}") })
    }

    /// Deducts the memory of an image of `encoded_bytes` that is about to be decoded, or returns the reason why it is too
    /// large. The model keeps the encoded bytes, and the texels until they are uploaded.
    pub fn take_image(&self, texels: u64, encoded_bytes: u64) -> std::result::Result<(), String> {
        self.check(texels.saturating_mul(DECODING_TEXEL_BYTES).saturating_add(encoded_bytes))?;
        self.take(texels.saturating_mul(TEXEL_BYTES).saturating_add(encoded_bytes))
    }
}

/// A limited number of things of one kind.
#[derive(Debug)]
pub(super) struct Budget {
    kind: Counted,
    limit: u64,
    left: u64,
    total: TotalBudget,
}

impl Budget {
    pub fn new(kind: Counted, total: &TotalBudget) -> Self {
        let limit = kind.count.at(total.file_bytes);
        Self { kind, limit, left: limit, total: total.clone() }
    }

    /// Charges `count` things to this budget and to the total. `at` is the JSON path that asks for them.
    pub fn take(&mut self, count: u64, at: &str) -> Result<()> {
        let what = self.kind.what;
        let Some(left) = self.left.checked_sub(count) else {
            let problem = format!("{count} more {what}: a model with files of this size may have {}", self.limit);
            return Err(Fault::unsupported(at, problem));
        };
        let taken = self.total.take(count.saturating_mul(self.kind.bytes));
        taken.map_err(|why| Fault::unsupported(at, format_args!("{count} more {what}, {why}")))?;
        self.left = left;
        Ok(())
    }
}

//! What one model may cost.
//!
//! A few bytes of JSON can ask for a lot: ten thousand primitives that all name the same long accessor, an accessor of
//! a billion zeros without any data, a mesh at a million places, an image that unpacks to gigabytes. Everything whose
//! size is not bounded by the bytes of the file is therefore paid for before it is read, and what may be spent grows with
//! the bytes that the model's files really have: what costs gigabytes to show has to be a large download first.
//!
//! It is paid twice. Each kind of thing has a [`Budget`] of its own, in pieces, which bounds time as well as memory. And
//! all of them pay into one [`Purse`], in bytes, which bounds them together: no mix of kinds can cost more than the purse
//! holds. What a piece costs there is what it takes at its worst, from the decoded file to the output of `throng pose`;
//! the figures stand beside the budgets. What is needed for a while only is asked of the purse and not taken from it.
//!
//! **The rule that the figures keep:** a model whose files have one MiB together takes less than one GiB. The program is
//! held to it, in an address space of that size, by files that spend one budget each and by files that spend many
//! (`tests/untrusted/`). What the purse does not hold of that GiB is the program itself and the bytes of the file, in its
//! several forms.
//!
//! The figures are far above any character: the floor alone fits five hundred figures of a thousand vertices.

use std::cell::Cell;
use std::rc::Rc;

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

/// Things that are counted, and what one of them takes.
#[derive(Debug, Clone, Copy)]
struct Kind {
    /// For messages.
    what: &'static str,
    count: Scale,
    /// Of one, at its worst.
    bytes: u64,
}

impl Scale {
    const fn at(self, file_bytes: u64) -> u64 {
        let kib = file_bytes.saturating_sub(SMALL_FILE_BYTES) / 1024;
        let limit = self.floor.saturating_add(kib.saturating_mul(self.per_kib));
        if limit < self.most { limit } else { self.most }
    }
}

/// All that is paid for, in bytes. Beyond small files it grows so fast that only what is out of all proportion meets it.
const PURSE: Scale = Scale { floor: 900 << 20, per_kib: 1 << 20, most: u64::MAX };

/// Vertices as the file has them, once for each node that shows them. Quantised ones take eight bytes and more. They are
/// there as attributes, as welded vertices with the welder's table, and as skinned copies.
const VERTICES: Kind =
    Kind { what: "vertices", count: Scale { floor: 1 << 19, per_kib: 1 << 10, most: 8 << 20 }, bytes: 200 };
/// Triangle-list indices. Putting them in order takes most of it.
const INDICES: Kind =
    Kind { what: "indices", count: Scale { floor: 6 << 20, per_kib: 6 << 10, most: 48 << 20 }, bytes: 24 };
/// Joint and weight pairs, zero weights included.
const INFLUENCES: Kind =
    Kind { what: "joint weights", count: Scale { floor: 4 << 20, per_kib: 8 << 10, most: 64 << 20 }, bytes: 40 };
/// Corners of triangles that get tangents: the algorithm's own tables.
const TANGENT_CORNERS: Kind =
    Kind { what: "tangents", count: Scale { floor: 6 << 20, per_kib: 6 << 10, most: 48 << 20 }, bytes: 100 };
/// Elements of morph targets, zero ones included, once for each node that shows them.
const MORPH_DELTAS: Kind = Kind {
    what: "morph target elements",
    count: Scale { floor: 1 << 20, per_kib: 2 << 10, most: 16 << 20 },
    bytes: 110,
};
/// Bytes that compressed buffer views and meshes become: real ones shrink to a tenth, and a run of equal values to nothing.
const DECODED_BYTES: Kind = Kind {
    what: "bytes of decompressed data",
    count: Scale { floor: 64 << 20, per_kib: 64 << 10, most: 1 << 30 },
    bytes: 1,
};
/// Morph weights of all nodes.
const MORPH_WEIGHTS: Kind =
    Kind { what: "morph weights", count: Scale { floor: 1 << 16, per_kib: 64, most: 1 << 18 }, bytes: 64 };
/// Keyed numbers of all clips, times included.
const KEY_VALUES: Kind =
    Kind { what: "keyframe numbers", count: Scale { floor: 8 << 20, per_kib: 8 << 10, most: 64 << 20 }, bytes: 8 };
/// Primitives, once for each node that shows them: each costs time even where it has nothing to draw.
const PRIMITIVES: Kind =
    Kind { what: "shown primitives", count: Scale { floor: 64 << 10, per_kib: 64, most: 1 << 20 }, bytes: 200 };
/// Placements of meshes, drawn or not: time, since they are given back before the next node is read.
const PLACEMENTS: Kind =
    Kind { what: "placements", count: Scale { floor: 2 << 20, per_kib: 2 << 10, most: 64 << 20 }, bytes: 0 };
/// Entries of sparse accessors, which are proven anew for everyone who reads one: time, not memory.
const SPARSE_ENTRIES: Kind =
    Kind { what: "sparse entries", count: Scale { floor: 16 << 20, per_kib: 16 << 10, most: 256 << 20 }, bytes: 0 };
/// What separates values in the JSON; beyond [`MAX_JSON_VALUES`] it is refused before it is parsed. An empty object in a
/// list counts twice, and becomes up to 800 bytes.
const JSON_VALUE_BYTES: u64 = 400;

/// Vertices of a model after welding that placements may make it have. The floor is what every driver can bind as one
/// buffer (`maxStorageBufferRange` is at least 128 MiB), less some for the nodes that are still to come.
const VERTICES_WITH_COPIES: Scale = Scale { floor: (4 << 20) - (32 << 10), per_kib: 4 << 10, most: 16 << 20 };
/// Indices likewise: they are counted in 32 bits.
const MAX_INDICES_WITH_COPIES: u64 = 1 << 30;
/// What placements leave of the purse for the nodes and clips that are still to come, as a divisor of the whole.
const PURSE_LEFT_BY_PLACEMENTS: u64 = 8;
/// What placements take while they are read, before it is known how many are drawn.
const PLACEMENT_READ_BYTES: u64 = 192;

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

/// Bytes of a texel, and while it is decoded: 16-bit PNGs, progressive JPEGs.
const TEXEL_BYTES: u64 = 4;
const DECODING_TEXEL_BYTES: u64 = 12;

/// What one copy of a mesh takes at another place, in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CopyCost {
    /// After welding.
    pub vertices: u64,
    /// As the file has them.
    pub file_vertices: u64,
    pub indices: u64,
    pub morph_deltas: u64,
    pub primitives: u64,
}

impl CopyCost {
    /// What the copy takes beside its primitives and morph deltas, which pay for themselves.
    fn bytes(&self) -> u64 {
        /// The arrays and some room to grow, the skinned copy and what it is made of.
        const VERTEX: u64 = 136;
        /// The way back from the file's vertex.
        const FILE_VERTEX: u64 = 4;
        /// Nothing is put in order anew.
        const INDEX: u64 = 5;
        /// The palette's entry, twice, and its joint matrix.
        const PLACEMENT: u64 = 200;
        VERTEX * self.vertices + FILE_VERTEX * self.file_vertices + INDEX * self.indices + PLACEMENT
    }
}

/// All the bytes that a model may take, whatever they are spent on; one for all readers of a document.
#[derive(Debug, Clone)]
pub(super) struct Purse {
    file_bytes: u64,
    /// Shared: what one spends is missing for all.
    spent: Rc<Cell<u64>>,
}

impl Purse {
    /// For a model of whose files so many bytes have been read so far.
    pub fn new(file_bytes: u64) -> Self {
        Self { file_bytes, spent: Rc::default() }
    }

    /// The same purse, once more has been read.
    pub fn grown_to(&self, file_bytes: u64) -> Self {
        Self { file_bytes, spent: Rc::clone(&self.spent) }
    }

    fn limit(&self) -> u64 {
        PURSE.at(self.file_bytes)
    }

    fn left(&self) -> u64 {
        self.limit().saturating_sub(self.spent.get())
    }

    /// Pays for what takes so many bytes; else says why not.
    fn take(&self, bytes: u64) -> std::result::Result<(), String> {
        self.lend(bytes)?;
        self.spent.set(self.spent.get().saturating_add(bytes));
        Ok(())
    }

    /// Makes sure that there is room for what is soon given back.
    fn lend(&self, bytes: u64) -> std::result::Result<(), String> {
        if bytes <= self.left() {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let [asked, spent, limit] = [bytes, self.spent.get(), self.limit()].map(mib);
        Err(format!("about {asked} MiB beside {spent} MiB: a model with files of this size may take {limit} MiB"))
    }

    /// Pays for the JSON, which has so many values.
    pub fn take_json(&self, value_count: usize) -> Result<()> {
        let bytes = (value_count as u64).saturating_mul(JSON_VALUE_BYTES);
        self.take(bytes).map_err(|why| Fault::NotGltf { problem: format!("{value_count} values in the JSON, {why}") })
    }

    /// Pays for an image before it is decoded; else says why not.
    pub fn take_texels(&self, count: u64) -> std::result::Result<(), String> {
        self.lend(count.saturating_mul(DECODING_TEXEL_BYTES))?;
        self.take(count.saturating_mul(TEXEL_BYTES))
    }

    /// Makes sure that so many placements can be read.
    pub fn lend_placements(&self, count: usize, at: &str) -> Result<()> {
        let asked = self.lend((count as u64).saturating_mul(PLACEMENT_READ_BYTES));
        asked.map_err(|why| Fault::unsupported(at, format_args!("{count} placements, {why}")))
    }

    /// How many copies of a mesh can be paid for, in a model that has so many vertices and indices.
    pub fn affordable_copies(&self, cost: &CopyCost, vertex_count: usize, index_count: usize) -> u64 {
        let own = PRIMITIVES.bytes * cost.primitives + MORPH_DELTAS.bytes * cost.morph_deltas;
        let left = self.left().saturating_sub(self.limit() / PURSE_LEFT_BY_PLACEMENTS);
        let room = |limit: u64, there: usize| limit.saturating_sub(there as u64);
        let vertices = room(VERTICES_WITH_COPIES.at(self.file_bytes), vertex_count) / cost.vertices.max(1);
        let indices = room(MAX_INDICES_WITH_COPIES, index_count) / cost.indices.max(1);
        (left / cost.bytes().saturating_add(own)).min(vertices).min(indices)
    }

    /// Pays for copies of a mesh.
    pub fn take_copies(&self, cost: &CopyCost, count: u64, at: &str) -> Result<()> {
        let taken = self.take(cost.bytes().saturating_mul(count));
        taken.map_err(|why| Fault::unsupported(at, format_args!("{count} more placements, {why}")))
    }
}

/// What is left of one kind of thing.
#[derive(Debug)]
pub(super) struct Budget {
    kind: Kind,
    limit: u64,
    left: u64,
    purse: Purse,
}

impl Budget {
    fn new(kind: Kind, purse: Purse) -> Self {
        let limit = kind.count.at(purse.file_bytes);
        Self { kind, limit, left: limit, purse }
    }

    /// Vertices as the file has them, once for each node that shows them.
    pub fn vertices(purse: Purse) -> Self {
        Self::new(VERTICES, purse)
    }

    /// Triangle-list indices.
    pub fn indices(purse: Purse) -> Self {
        Self::new(INDICES, purse)
    }

    /// Joint and weight pairs, zero weights included.
    pub fn influences(purse: Purse) -> Self {
        Self::new(INFLUENCES, purse)
    }

    /// Corners of triangles that get tangents.
    pub fn tangent_corners(purse: Purse) -> Self {
        Self::new(TANGENT_CORNERS, purse)
    }

    /// Bytes that compressed buffer views and meshes become.
    pub fn decoded_bytes(purse: Purse) -> Self {
        Self::new(DECODED_BYTES, purse)
    }

    /// Elements of morph targets, zero ones included.
    pub fn morph_deltas(purse: Purse) -> Self {
        Self::new(MORPH_DELTAS, purse)
    }

    /// Morph weights of all nodes: each instance streams them all, in every frame.
    pub fn morph_weights(purse: Purse) -> Self {
        Self::new(MORPH_WEIGHTS, purse)
    }

    /// Keyed numbers of all clips, times included.
    pub fn key_values(purse: Purse) -> Self {
        Self::new(KEY_VALUES, purse)
    }

    /// Primitives, once for each node that shows them.
    pub fn primitives(purse: Purse) -> Self {
        Self::new(PRIMITIVES, purse)
    }

    /// Placements of meshes, drawn or not.
    pub fn placements(purse: Purse) -> Self {
        Self::new(PLACEMENTS, purse)
    }

    /// Entries of sparse accessors, once for each reader.
    pub fn sparse_entries(purse: Purse) -> Self {
        Self::new(SPARSE_ENTRIES, purse)
    }

    /// How many more can be paid for, as far as this budget goes.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Pays for `count` things that the JSON path `at` asks for.
    pub fn take(&mut self, count: u64, at: &str) -> Result<()> {
        let what = self.kind.what;
        let Some(left) = self.left.checked_sub(count) else {
            let problem = format!("{count} more {what}: a model with files of this size may have {}", self.limit);
            return Err(Fault::unsupported(at, problem));
        };
        let taken = self.purse.take(count.saturating_mul(self.kind.bytes));
        taken.map_err(|why| Fault::unsupported(at, format_args!("{count} more {what}, {why}")))?;
        self.left = left;
        Ok(())
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
        assert_eq!(Budget::vertices(Purse::new(3 * MIB)).limit, 5 * MIB / 2);
        let mut budget = Budget::primitives(Purse::new(0));
        assert!(budget.take(65_536, "meshes[0]").is_ok());
        let Err(Fault::Unsupported { at, problem }) = budget.take(1, "meshes[1]") else { panic!("nothing is left") };
        assert_eq!(at, "meshes[1]");
        assert_eq!(problem, "1 more shown primitives: a model with files of this size may have 65536");
    }
    #[test]
    fn all_kinds_pay_into_one_purse() {
        let purse = Purse::new(0);
        let (mut vertices, mut influences) = (Budget::vertices(purse.clone()), Budget::influences(purse.clone()));
        vertices.take(1 << 19, "a").unwrap();
        influences.take(4 << 20, "b").unwrap();
        // 100 MiB for the vertices, 160 for their influences.
        assert_eq!(purse.left(), 640 << 20);
        assert!(purse.lend(640 << 20).is_ok() && purse.lend((640 << 20) + 1).is_err());
        purse.take_texels(32 << 20).unwrap();
        assert_eq!(purse.left(), 512 << 20);
        let mut corners = Budget::tangent_corners(purse.clone());
        let Err(Fault::Unsupported { at, problem }) = corners.take(6 << 20, "e") else { panic!("too much") };
        assert_eq!(at, "e");
        let said = "6291456 more tangents, about 600 MiB beside 388 MiB";
        assert_eq!(problem, format!("{said}: a model with files of this size may take 900 MiB"));
        assert_eq!((corners.left(), purse.left()), (6 << 20, 512 << 20), "what is refused costs nothing");
        // Once the file has another MiB.
        assert!(Budget::tangent_corners(purse.grown_to(2 << 20)).take(6 << 20, "e").is_ok());
    }

    #[test]
    fn copies_are_as_many_as_every_kind_allows() {
        let purse = Purse::new(0);
        let teapot = CopyCost { vertices: 2180, file_vertices: 2204, indices: 12_096, morph_deltas: 0, primitives: 1 };
        assert!(purse.affordable_copies(&teapot, 0, 0) > 1899);
        // Vertices are what ends it for a mesh of few indices, the purse for one with many.
        let points = CopyCost { vertices: 1000, ..CopyCost::default() };
        assert_eq!(purse.affordable_copies(&points, 161_536, 0), 4000);
        let dense = CopyCost { vertices: 4, indices: 1 << 20, ..CopyCost::default() };
        assert_eq!(purse.affordable_copies(&dense, 0, 0), 157);
        purse.take_copies(&dense, 157, "nodes[0]").unwrap();
        assert_eq!(purse.affordable_copies(&dense, 0, 0), 0);
    }
}

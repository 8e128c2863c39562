//! Sampling, hierarchy and palette for eight instances at once: the fast path of crowds.
//!
//! In: a compiled clip and a time for each instance. Out: the joint matrices of the instances, one instance after the
//! other. [`Crowd::evaluate`](crate::crowd::Crowd::evaluate) passes up to 16 poses of one model and clip.
//!
//! A crowd plays few clips with many instances. So eight instances of one model and one clip are evaluated together, one in
//! each lane of a vector. A chain of joints cannot be evaluated in parallel for one instance, but eight chains can be evaluated
//! next to each other. The eight instances may be at different times of the clip. A *row* is the time between two neighbouring
//! keys of the clip, a *cell* is the curve of one track in a row, and a *step* poses one node or writes one joint matrix.
//!
//! ```text
//! LaneClip::compile   clip × skeleton ─▶ rows of cells, list of steps         once for each clip that is played
//! evaluate            times ─▶ row and t ─▶ steps in eight lanes ─▶ transpose ─▶ JointMatrix of each instance, in order
//! ```
//!
//! Instances that blend two clips have their own steps ([`LaneBlend`]): each moving node is sampled in both
//! clips and blended, and everything else is done once. Nodes and properties that stand still in both clips, at different
//! places, depend on the weight alone. They are blended once a frame ([`LaneBlend::set_weight`]).
//!
//! The lower limit is the output, 48 bytes for each joint. All other memory traffic is kept small: a joint reads one
//! cell of 32 bytes (two for splines) for each animated property, and intermediate matrices stay in the L1 cache.
//!
//! [`compile`] makes the steps ([`program`]), and [`rows`] the cells. The [`kernel`] is generic over the vectors of [`simd`],
//! which use AVX2 if the processor has it, and the target's baseline otherwise. All processors give the same bits. They agree
//! with the plain functions to 1e-5 of the largest number. The result of an instance does not depend on its lane or its group.
//!
//! Clips that do not fit (numbers whose squares may exceed the range of `f32`, or tracks whose merged key times would
//! make a huge table) are left to [`evaluate_blend`](super::evaluate_blend). So are morph weights.
//!
//! # Cached and write-combined memory
//!
//! The kernel writes to eight addresses in turn, one for each instance. In cached memory this is the fastest way, given
//! a prefetch for each ([`simd`]). Write-combined memory, which discrete GPUs map, has only a few line buffers that
//! gather stores, and eight addresses flush them half full. So for [`MemoryKind::WriteCombined`] the kernel writes to a
//! block that stays in the L1 cache, and the block is then copied in ascending order.
//! In cached memory, blocks take 1.3 to 1.4 times as long as direct stores.

mod compile;
mod kernel;
mod program;
mod rows;
mod simd;

use std::mem::MaybeUninit;

use wide::f32x8;

pub use compile::{LaneBlend, LaneClip};
pub use program::Program;

use kernel::{LaneGroup, Located, Matrix, Streams, evaluate_group};
use program::Step;
use simd::{Array, LANES};

use super::MemoryKind;
use crate::shader_types::JointMatrix;

/// The number of instances that are evaluated together. Evaluating fewer takes as long.
pub const GROUP_INSTANCES: usize = LANES;

/// A clip, with the times of its instances.
#[derive(Debug, Clone, Copy)]
pub struct LaneSource<'a> {
    /// The clip, compiled alone.
    pub clip: &'a LaneClip,
    /// The time of each instance, which is clamped to the clip's keys.
    pub times_seconds: &'a [f64],
}

impl LaneSource<'_> {
    /// Locates up to eight instances, beginning with `first`. Lanes without an instance repeat the last instance.
    fn locate(&self, first: usize) -> Located {
        let Self { clip: LaneClip { rows, .. }, times_seconds } = *self;
        let times_seconds = &times_seconds[first..];
        let last = times_seconds.last().copied().unwrap_or(0.0);
        let mut located = Located { rows: [rows.cells.as_ptr(); LANES], t: Array([0.0; LANES]) };
        for lane in 0..LANES {
            let (row, t) = rows.locate(times_seconds.get(lane).copied().unwrap_or(last));
            (located.rows[lane], located.t.0[lane]) = (rows.cells[row * rows.columns..].as_ptr(), t);
        }
        located
    }
}

/// The instruction set that the kernel uses: x86-64 with AVX2, or the baseline of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processor {
    /// Only [`Processor::detect`] sets it.
    has_avx2: bool,
}

impl Processor {
    pub const PORTABLE: Self = Self { has_avx2: false };

    /// Returns the fastest instruction set of this processor.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Self { has_avx2: true };
        }
        Self::PORTABLE
    }
}

/// The intermediate matrices of eight instances. The next call overwrites them.
#[derive(Debug, Clone, Default)]
pub struct LaneScratch {
    temporaries: Vec<Matrix<Array>>,
}

impl LaneScratch {
    /// Grows if `program` needs more temporaries than any one before it.
    pub fn fit(&mut self, program: &Program) {
        if self.temporaries.len() < program.temporary_count {
            self.temporaries.resize(program.temporary_count, [[Array([0.0; LANES]); 4]; 3]);
        }
    }
}

/// The largest number of joints of a block: 18 KiB for eight instances, and whole 64-byte lines for each of them.
const BLOCK_JOINTS: usize = 48;

/// Writes the joint matrices of instances of one model and clip, one instance after the other, or of instances that blend the
/// clip with a second one. The blend was compiled from both clips, in the same order, and has their weight. Times are clamped to
/// the keys and do not wrap around. Allocates only if `scratch` has to grow.
///
/// # Panics
/// If the sources are not those of the blend or differ in their numbers of times, or if the length of `out` is not the number of
/// times, multiplied by at most the number of joint matrices of a pose. Of fewer, the first ones are written.
pub fn evaluate(
    processor: Processor,
    first: LaneSource<'_>,
    second: Option<(&LaneBlend, LaneSource<'_>)>,
    scratch: &mut LaneScratch,
    memory: MemoryKind,
    out: &mut [MaybeUninit<JointMatrix>],
) {
    if let Some((blend, second)) = second {
        // The kernel reads these columns without checking them.
        assert_eq!([first, second].map(|source| source.clip.rows.columns), blend.columns, "the clips of the blend");
        assert_eq!(first.times_seconds.len(), second.times_seconds.len(), "a time of each instance in both clips");
    }
    let program = second.map_or(&first.clip.program, |(blend, _)| &blend.program);
    let count = first.times_seconds.len();
    let joint_count = out.len() / count.max(1);
    assert!(out.len() == count * joint_count && joint_count <= program.ends.len(), "room for {count} instances");
    if joint_count == 0 {
        return;
    }
    scratch.fit(program);
    let groups = out.chunks_mut(GROUP_INSTANCES * joint_count);
    for (first_instance, out) in (0..count).step_by(GROUP_INSTANCES).zip(groups) {
        let mut group = LaneGroup {
            first: first.locate(first_instance),
            second: second.map(|(blend, second)| (second.locate(first_instance), blend.weight)),
            temporaries: &mut scratch.temporaries,
        };
        match memory {
            MemoryKind::Cached => evaluate_in_place(processor, (program, joint_count), &mut group, out),
            MemoryKind::WriteCombined => evaluate_in_blocks(processor, (program, joint_count), &mut group, out),
        }
    }
}

/// Stores the joint matrices of up to eight instances straight to `out`.
fn evaluate_in_place(
    processor: Processor,
    (program, joint_count): (&Program, usize),
    group: &mut LaneGroup<'_>,
    out: &mut [MaybeUninit<JointMatrix>],
) {
    // Lanes without an instance write all of their matrices to this element, which is never read.
    let mut unused = MaybeUninit::uninit();
    let mut streams = Streams { out: [&raw mut unused; LANES], strides: [0; LANES] };
    for (lane, instance) in out.chunks_exact_mut(joint_count).enumerate() {
        (streams.out[lane], streams.strides[lane]) = (instance.as_mut_ptr(), 1);
    }
    // SAFETY: `locate` returns rows of the clip; each lane has room for all matrices, or for one with stride 0.
    unsafe { run(processor, program.steps_of(0..joint_count), group, streams) };
}

/// Evaluates the joint matrices of up to eight instances block by block, and copies each block to `out`.
fn evaluate_in_blocks(
    processor: Processor,
    (program, joint_count): (&Program, usize),
    group: &mut LaneGroup<'_>,
    out: &mut [MaybeUninit<JointMatrix>],
) {
    let mut block = [const { MaybeUninit::uninit() }; LANES * BLOCK_JOINTS];
    for first in (0..joint_count).step_by(BLOCK_JOINTS) {
        let count = BLOCK_JOINTS.min(joint_count - first);
        let steps = program.steps_of(first..first + count);
        let start = block.as_mut_ptr();
        let streams =
            Streams { out: std::array::from_fn(|lane| start.wrapping_add(lane * BLOCK_JOINTS)), strides: [1; LANES] };
        // SAFETY: rows as above. Each lane has room for `BLOCK_JOINTS` matrices, and `steps` write no more.
        unsafe { run(processor, steps, group, streams) };
        for (instance, evaluated) in out.chunks_exact_mut(joint_count).zip(block.chunks_exact(BLOCK_JOINTS)) {
            instance[first..first + count].copy_from_slice(&evaluated[..count]);
        }
    }
}

/// # Safety
/// The same as for [`evaluate_group`].
unsafe fn run(processor: Processor, steps: &[Step], group: &mut LaneGroup<'_>, streams: Streams) {
    match (processor.has_avx2, group.second.is_some()) {
        // SAFETY: the processor has AVX2; the rest is the caller's promise.
        #[cfg(target_arch = "x86_64")]
        (true, false) => unsafe { evaluate_group_avx2::<false>(steps, group, streams) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        (true, true) => unsafe { evaluate_group_avx2::<true>(steps, group, streams) },
        // SAFETY: the caller's promise.
        (_, false) => unsafe { evaluate_group::<f32x8, false>(steps, group, streams) },
        // SAFETY: the caller's promise.
        (_, true) => unsafe { evaluate_group::<f32x8, true>(steps, group, streams) },
    }
}

/// # Safety
/// The same as for [`evaluate_group`]; also, the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn evaluate_group_avx2<const BLENDS: bool>(steps: &[Step], group: &mut LaneGroup<'_>, streams: Streams) {
    // SAFETY: the caller's promise.
    unsafe { evaluate_group::<simd::Avx2, BLENDS>(steps, group, streams) };
}

//! All three steps for eight instances at once: what evaluates crowds.
//!
//! A crowd plays few clips with many instances. So eight instances of one model and one clip go through sampling,
//! hierarchy and inverse binds together, one in each lane of a vector: chains of joints, which no single instance can
//! work on in parallel, become eight chains side by side. The eight may be at any times of the clip.
//!
//! ```text
//! LaneClip::compile   clip × skeleton ─▶ rows of cells, list of steps        once for each clip that is played
//! evaluate            times ─▶ row and t ─▶ steps for eight lanes ─▶ JointMatrix, transposed back, written in order
//! ```
//!
//! The floor is what is written, 48 bytes a joint. Everything else is kept off the memory: a joint reads one cell of 32
//! bytes for each of its animated properties, and matrices stay in the first-level cache. By the count of operations a
//! joint that only turns costs about 100 cycles for eight instances, of which half are two matrix products.
//!
//! Steps and rows are made by [`compile`] and [`rows`]; the [`kernel`] is written in terms of [`simd`]. It takes AVX2
//! and FMA where the processor has them, and what all processors of the target have elsewhere. Results of both and of
//! the plain functions beside this module agree to 1e-5 of the largest number; each is the same in whichever lane and
//! group an instance is.
//!
//! What does not fit (numbers near the end of the range, tracks whose union of key times would be a table out of
//! proportion) is left to [`evaluate`](super::evaluate), as are morph weights, one instance after the other.

mod compile;
mod kernel;
mod rows;
mod simd;

use std::mem::MaybeUninit;

pub use compile::LaneClip;

use kernel::{Group, Matrix, evaluate_group};
use simd::{Array, LANES};

use crate::shader_types::JointMatrix;

/// Instances that are evaluated together. Fewer cost as much.
pub const GROUP_INSTANCES: usize = LANES;

/// What runs the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// x86-64 with AVX2 and FMA. Made by [`Processor::detect`] only.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2AndFma),
    /// Any other.
    Portable,
}

/// Proof that the processor has both.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Avx2AndFma(());

impl Processor {
    /// The fastest there is.
    #[must_use]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return Self::Avx2(Avx2AndFma(()));
        }
        Self::Portable
    }
}

/// What lies between the steps, for eight instances at a time. Holds no result that outlives the next call.
#[derive(Debug, Clone, Default)]
pub struct LaneScratch {
    slots: Vec<Matrix<Array>>,
}

impl LaneScratch {
    /// Grows where `clip` needs more than any before it.
    pub fn fit(&mut self, clip: &LaneClip) {
        if self.slots.len() < clip.slot_count {
            self.slots.resize(clip.slot_count, [[Array([0.0; LANES]); 4]; 3]);
        }
    }
}

/// Writes the joint matrices of instances of the model and clip that `clip` was compiled for, at `times_seconds` of the
/// clip (clamped to its keys, never wrapped), one instance after the other. Allocates only where `scratch` has to grow.
///
/// # Panics
/// If `out` has not the joint matrices of as many instances as there are times.
pub fn evaluate(
    processor: Processor,
    clip: &LaneClip,
    times_seconds: &[f64],
    scratch: &mut LaneScratch,
    out: &mut [MaybeUninit<JointMatrix>],
) {
    assert_eq!(out.len(), times_seconds.len() * clip.joint_count, "room for {} instances", times_seconds.len());
    if clip.joint_count == 0 {
        return;
    }
    scratch.fit(clip);
    let groups = out.chunks_mut(GROUP_INSTANCES * clip.joint_count);
    for (times_seconds, out) in times_seconds.chunks(GROUP_INSTANCES).zip(groups) {
        // Lanes without an instance repeat the last one.
        let last = times_seconds.last().copied().unwrap_or(0.0);
        let located: [_; LANES] =
            std::array::from_fn(|lane| clip.rows.locate(times_seconds.get(lane).copied().unwrap_or(last)));
        let first_cell = |(row, _): (usize, f32)| clip.rows.cells[row * clip.rows.columns..].as_ptr();
        // Lanes without an instance write all of theirs to one place that nobody reads.
        let mut nowhere = MaybeUninit::uninit();
        let mut own = out.chunks_exact_mut(clip.joint_count);
        let places: [_; LANES] =
            std::array::from_fn(|_| own.next().map_or((&raw mut nowhere, 0), |own| (own.as_mut_ptr(), 1)));
        let group = Group {
            rows: located.map(first_cell),
            t: Array(located.map(|(_, t)| t)),
            out: places.map(|(place, _)| place),
            strides: places.map(|(_, stride)| stride),
            slots: &mut scratch.slots,
        };
        match processor {
            // SAFETY: the processor has proven to have what the function is compiled for; rows and matrices are those
            // of the clip, by the lines above.
            #[cfg(target_arch = "x86_64")]
            Processor::Avx2(_) => unsafe { evaluate_group_avx2(clip, group) },
            // SAFETY: as above.
            Processor::Portable => unsafe { evaluate_group::<simd::Portable>(clip, group) },
        }
    }
}

/// # Safety
/// As [`evaluate_group`]; and the processor has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn evaluate_group_avx2(clip: &LaneClip, group: Group<'_>) {
    // SAFETY: the caller's promise.
    unsafe { evaluate_group::<simd::Avx2>(clip, group) };
}

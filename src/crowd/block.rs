//! The poses of one block: up to 16 poses that show the same clips in the same levels of detail.
//!
//! In: the clips, and the time of each pose. Out: joint matrices and morph weights. Clips that fit the lanes are evaluated eight
//! poses at a time ([`lanes`]), and all others one by one ([`evaluate_blend`]). Both give the same poses.

use super::playback::{ClipPair, clip_of, duration_of, start_in, wrap_seconds};
use super::sight::VisiblePose;
use super::{Crowd, Instance};
use crate::animation::lanes::{self, GROUP_INSTANCES, LaneScratch, LaneSource};
use crate::animation::{PoseScratch, PoseStreams, evaluate_blend, evaluate_morph_weights};

/// The largest number of poses in a block: whole groups of lanes, and few enough to divide 100 poses among threads.
pub(super) const BLOCK_POSES: usize = 2 * GROUP_INSTANCES;

/// The scratch memory of one task. The alignment keeps it apart from the cache lines of other tasks, and from the
/// neighbouring lines that the processor prefetches.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Scratch {
    poses: PoseScratch,
    lanes: LaneScratch,
}

impl Scratch {
    /// Allocates room for every clip that is played.
    pub fn new(crowd: &Crowd) -> Self {
        let mut lanes = LaneScratch::default();
        crowd.repertoire.lane_clips().for_each(|clip| lanes.fit(&clip.program));
        crowd.crossfade.blends.iter().for_each(|(_, blend)| lanes.fit(&blend.program));
        Self { poses: PoseScratch::for_models(&crowd.models), lanes }
    }
}

impl Crowd {
    /// Writes the poses of a block one after the other. All show the same clips, in the same levels of detail.
    pub(super) fn evaluate_block(
        &self,
        clips: ClipPair,
        poses: &[VisiblePose],
        time_seconds: f64,
        scratch: &mut Scratch,
        mut out: PoseStreams<'_>,
    ) {
        let model = &self.models[clips.model as usize];
        let shown = |pose: &VisiblePose| self.shown(&self.instances[pose.instance as usize], time_seconds);
        if evaluate_in_lanes(self, clips, poses, time_seconds, &mut scratch.lanes, &mut out).is_none() {
            let (joint_count, morph_weight_count) =
                (out.palette.len() / poses.len(), out.morph_weights.len() / poses.len());
            for pose in poses {
                let own = out.split_off(joint_count, morph_weight_count);
                evaluate_blend(model, &shown(pose), &mut scratch.poses, own);
            }
        } else if !out.morph_weights.is_empty() {
            for (pose, own) in poses.iter().zip(out.morph_weights.chunks_exact_mut(model.morph_weight_count())) {
                evaluate_morph_weights(model, &shown(pose), &mut scratch.poses, own);
            }
        }
    }
}

/// Writes the joint matrices of a block. Returns `None`, and writes nothing, if a clip does not fit the lanes.
fn evaluate_in_lanes(
    crowd: &Crowd,
    clips: ClipPair,
    poses: &[VisiblePose],
    time_seconds: f64,
    scratch: &mut LaneScratch,
    out: &mut PoseStreams<'_>,
) -> Option<()> {
    let is_blend = clips.from != clips.to;
    let [from, to] = [clips.from, clips.to].map(|clip| clip_of(&crowd.models[clips.model as usize], clip));
    let (from_seconds, to_seconds) = (duration_of(from), duration_of(to));
    let clip_seconds = crowd.clip_seconds(time_seconds);
    let mut times_seconds = [[0.0; BLOCK_POSES]; 2];
    for (index, pose) in poses.iter().enumerate() {
        let Instance { start_seconds, phase, .. } = crowd.instances[pose.instance as usize];
        let start_before = if is_blend { start_in(from, phase, crowd.share_hz).0 } else { start_seconds };
        times_seconds[0][index] = wrap_seconds(start_before + clip_seconds, from_seconds);
        if is_blend {
            times_seconds[1][index] = wrap_seconds(start_seconds + clip_seconds, to_seconds);
        }
    }
    let source = |clip: Option<u32>, index: usize| {
        let clip = crowd.repertoire.lane_clip(clips.model as usize, clip)?;
        Some(LaneSource { clip, times_seconds: &times_seconds[index][..poses.len()] })
    };
    let from = source(clips.from, 0)?;
    let second = if is_blend { Some((crowd.crossfade.lane_blend(clips)?, source(clips.to, 1)?)) } else { None };
    lanes::evaluate(crowd.processor, from, second, scratch, out.memory, out.palette);
    Some(())
}

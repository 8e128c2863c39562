//! What a crowd writes for a frame: its instances, joint matrices and morph weights.

use std::mem::MaybeUninit;

use rayon::ThreadPool;
use throng::animation::{MemoryKind, PoseStreams};
use throng::crowd::{Crowd, FramePlan, PoseSize, thread_pool};
use throng::shader_types::{InstanceData, JointMatrix};

use super::lanes::{room, written};

/// Returns the data of all visible instances, as the vertex shader gets them.
pub fn instances_of(crowd: &Crowd) -> Vec<InstanceData> {
    let count = crowd.visible_counts().iter().sum::<u32>() as usize;
    let mut out = vec![MaybeUninit::new(bytemuck::Zeroable::zeroed()); count];
    crowd.write_instances(&thread_pool(Some(2)).unwrap(), &mut out);
    written(&out)
}

pub fn plan_of(crowd: &Crowd) -> FramePlan {
    let sizes: Vec<PoseSize> = crowd.models().iter().map(PoseSize::of).collect();
    let mut plan = FramePlan::default();
    plan.rebuild(&sizes, crowd.visible_poses(), 1 << 27).unwrap();
    plan
}

pub fn planned_streams(
    crowd: &mut Crowd,
    pool: &ThreadPool,
    time_seconds: f64,
    plan: &FramePlan,
    memory: MemoryKind,
) -> (Vec<JointMatrix>, Vec<f32>) {
    let mut palette = room(plan.joint_count as usize);
    let mut morph_weights = vec![MaybeUninit::new(f32::NAN); plan.morph_weight_count as usize];
    let streams = PoseStreams { palette: &mut palette, morph_weights: &mut morph_weights, memory };
    crowd.evaluate(pool, time_seconds, plan, streams);
    (written(&palette), written(&morph_weights))
}

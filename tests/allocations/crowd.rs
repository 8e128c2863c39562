//! A steady frame of a crowd allocates nothing.

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use glam::{Affine3A, Vec3, Vec4};
use rayon::ThreadPool;
use throng::animation::{MemoryKind, PoseStreams};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, FramePlan, PoseSize, thread_pool};
use throng::model::{
    Clip, CoarserLevel, Geometry, Influence, Interpolation, LocalPose, Model, MorphTrack, MorphedNode, NO_PARENT,
    PaletteLayout, Skeleton, Track,
};
use throng::shader_types::InstanceData;
use throng::view::{Detail, Frustum, OrbitCamera};

use super::counter::ALLOCATIONS;
use crate::common::gpu::{Test, gpu_tests};

pub fn tests() -> Vec<Test> {
    gpu_tests![; once: steady_frames_allocate_nothing]
}

/// A model of `joints` joints under one root, with a clip that has a timeline for each of them.
fn model(joints: u32) -> Model {
    let values = vec![Vec4::W, Vec4::new(0.0, 0.0, 0.6, 0.8)];
    let track = |node| Track { node, timeline: node, interpolation: Interpolation::Linear, values: values.clone() };
    Model {
        skeleton: Skeleton {
            parents: (0..joints).map(|node| if node == 0 { NO_PARENT } else { 0 }).collect(),
            rest: LocalPose { morph_weights: vec![0.0; 3], ..LocalPose::identity(joints as usize) },
            morphed_nodes: vec![MorphedNode { node: 0, first_weight: 0, weight_count: 3 }],
            ..Skeleton::default()
        },
        palette: PaletteLayout {
            nodes: (0..joints).collect(),
            joint_from_mesh: vec![Affine3A::IDENTITY; joints as usize],
            skins: Vec::new(),
        },
        geometry: Geometry {
            coarser_levels: [0.01, 0.03]
                .map(|error| CoarserLevel { vertex_count: 1, error, ..CoarserLevel::default() })
                .into(),
            positions: vec![Vec3::ONE],
            normals: vec![Vec3::X],
            influence_starts: vec![0, 1],
            influences: vec![Influence { joint: 0, weight: 1.0 }],
            morph_delta_starts: vec![0, 0],
            ..Geometry::default()
        },
        clips: vec![Clip {
            morph_weights: vec![MorphTrack {
                first_weight: 0,
                weight_count: 3,
                timeline: 0,
                interpolation: Interpolation::Linear,
                values: vec![0.0, 1.0, 0.5, 1.0, 0.0, 0.5],
            }],
            duration_seconds: 1.0,
            timelines: vec![vec![0.0, 1.0]; joints as usize],
            rotations: (0..joints).map(track).collect(),
            ..Clip::default()
        }],
        ..Model::default()
    }
}

fn steady_frames_allocate_nothing() {
    // The first pool includes this thread, so it must be the one with several threads. One thread needs no queue.
    for threads in [2, 1] {
        let pool = thread_pool(Some(threads)).unwrap();
        frames_allocate_nothing(&pool, threads, false);
        frames_allocate_nothing(&pool, threads, true);
    }
}

/// With `blends`, all instances blend during two thirds of the frames, and the crossfade ends in one of them.
fn frames_allocate_nothing(pool: &ThreadPool, threads: usize, blends: bool) {
    let settings = CrowdSettings { instance_count: 500, travel: true, ..CrowdSettings::default() };
    let mut crowd = Crowd::new(Arc::from([model(3), model(40), model(17)]), &settings).unwrap();
    let sizes: Vec<PoseSize> = crowd.models().iter().map(PoseSize::of).collect();
    let mut plan = FramePlan::default();
    plan.rebuild(&sizes, crowd.visible_poses(), 1 << 27).unwrap();
    let mut palette = vec![MaybeUninit::uninit(); plan.joint_count as usize];
    let mut weights = vec![MaybeUninit::uninit(); plan.morph_weight_count as usize];
    let mut instances: Vec<MaybeUninit<InstanceData>> = vec![MaybeUninit::uninit(); 500];
    let mut camera = OrbitCamera::framing(&crowd.outline(0.0), 1.5);
    if blends {
        crowd.crossfade(&ClipChoice::None, 0.0, 4.0).unwrap();
        assert!(crowd.is_blending());
    }
    let mut fewest_visible = 500;
    let mut batch_counts = HashSet::with_capacity(100);
    let mut frame = |k: u32| {
        camera.orbit(0.1, 0.0);
        camera.zoom(if k % 40 < 20 { 0.9 } else { 1.0 / 0.9 });
        crowd.move_to(f64::from(k) / 60.0);
        let frustum = Frustum::from_clip_from_world(camera.clip_from_world(1.5));
        let detail = Detail::new(&camera, 200, 1.0).with_shadow_error(0.02);
        crowd.cull(Some(&frustum), Some(Vec3::new(0.6, 0.8, 0.0)), &detail);
        let visible = crowd.visible_counts().iter().sum::<u32>() as usize;
        fewest_visible = fewest_visible.min(visible);
        plan.rebuild(&sizes, crowd.visible_poses(), 1 << 27).unwrap();
        batch_counts.insert(plan.batches.len());
        let out = PoseStreams {
            palette: &mut palette[..plan.joint_count as usize],
            morph_weights: &mut weights[..plan.morph_weight_count as usize],
            memory: if k.is_multiple_of(2) { MemoryKind::Cached } else { MemoryKind::WriteCombined },
        };
        crowd.evaluate(pool, f64::from(k) / 60.0, &plan, out);
        crowd.write_instances(&mut instances[..visible]);
    };
    // Warm-up fills the scratch memory and rayon's per-thread state. On a busy machine a thread may start late, so
    // wait for all of them.
    pool.broadcast(|_| ());
    (0..40).for_each(&mut frame);
    // The test harness allocates once when its main thread starts to wait, which may be late on a busy machine.
    // Frames that allocate would do so in each of three runs.
    let allocations = [40, 140, 240].map(|first| {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        (first..first + 100).for_each(&mut frame);
        ALLOCATIONS.load(Ordering::Relaxed) - before
    });
    assert!(allocations.contains(&0), "{threads} threads, blends: {blends}: {allocations:?}");
    assert!(batch_counts.len() > 2, "levels must change: {batch_counts:?}");
    assert!(fewest_visible < 400, "the frames must differ in what is visible: {fewest_visible}");
}

//! Compares `skin.comp` with its CPU twin, `src/animation/skin.rs`, vertex by vertex. The results of the shader are
//! read back from the transient vertex buffer.
//!
//! One frame holds every clip of every model at several times. So a wrong palette offset, vertex offset, page or model
//! gives the pose of another instance. Frames have different numbers of instances, so that buffers grow and slots are
//! reused. Poses have different levels of detail, so some have a part of the model's vertices.
//!
//! Tolerances: the twin does the same float operations in the same order. Only two things may differ: contraction to
//! fused multiply-adds, and the rounding of normals to octahedral snorm16 (steps of up to 0.004 degrees). Measured on
//! Mesa's lavapipe: positions within 1.2e-7 of the model's size, normals within 0.0043 degrees, which is one step.

use std::mem::MaybeUninit;

use bytemuck::Zeroable;
use glam::{Vec3, Vec3Swizzles};
use throng::animation::{
    BindPose, ModelPose, Pose, PoseScratch, joint_matrices, pose_model, skin_vertex, skinned_positions,
};
use throng::crowd::{LevelSize, PoseSize, VisiblePose};
use throng::model::Model;
use throng::renderer::{LimitCaps, Renderer, RendererSettings, Shadows, UploadPath};
use throng::shader_types::{FrameData, InstanceData, JointMatrix, SkinnedVertex, unpack_octahedral, unpack_tangent};
use throng::view::Look;

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests, note};
use crate::common::{levels, scene};

list_gpu_tests![every_vertex_is_that_of_the_twin];

/// The largest accepted errors: of a position as a share of the model's size, and of a normal and a tangent in degrees.
const MOST_ERRORS: Vec3 = Vec3::new(1e-6, 0.02, 0.02);

/// Times as shares of a clip: both ends, at keys and between keys.
const MOMENTS: [f64; 5] = [0.0, 0.13, 0.37, 0.9, 1.0];

/// The numbers of poses of the models: the rest pose, and these moments of each clip.
const ALL: [u32; 4] = [16, 21, 16, 6];

struct Expected {
    palette: Vec<JointMatrix>,
    morph_weights: Vec<f32>,
    /// In the level of detail of the pose.
    vertices: Vec<SkinnedVertex>,
    full: Vec<Vec3>,
    /// Packed tangents. Empty for a model without tangents.
    tangents: Vec<u32>,
    size: f32,
}

fn expected(model: &Model) -> Vec<Expected> {
    let bind_pose = BindPose::new(&model.geometry);
    let wants_tangent = !bind_pose.bind_tangents.is_empty();
    let mut scratch = PoseScratch::for_model(model);
    let size = PoseSize::of(model);
    let mut k = 0;
    let mut instance = |clip, time_seconds| {
        let posed = pose_model(model, clip, time_seconds, &mut scratch);
        let mut full = Vec::new();
        skinned_positions(model, posed, &mut full);
        let ModelPose { model_from_node, morph_weights } = posed;
        let palette: Vec<JointMatrix> = joint_matrices(&model.palette, model_from_node).collect();
        let (camera, light) = levels_of(k);
        let LevelSize { vertex_count, bind_vertex_offset, .. } = size.level(camera.min(light));
        k += 1;
        let pose = Pose { palette: &palette, morph_weights, bind_vertex_offset };
        let skin = |vertex| skin_vertex(&bind_pose, vertex, pose, wants_tangent);
        let (skinned, mut tangents): (Vec<_>, Vec<_>) = (0..vertex_count as usize).map(skin).unzip();
        tangents.truncate(bind_pose.bind_tangents.len());
        let fold = |from, of: fn(Vec3, Vec3) -> Vec3| full.iter().copied().fold(from, of);
        let size = (fold(Vec3::MIN, Vec3::max) - fold(Vec3::MAX, Vec3::min)).length();
        Expected { palette, morph_weights: morph_weights.to_vec(), vertices: skinned, tangents, full, size }
    };
    let mut all = vec![instance(None, 0.0)];
    for clip in &model.clips {
        let moments = MOMENTS.map(|share| share * f64::from(clip.duration_seconds));
        all.extend(moments.map(|time_seconds| instance(Some(clip), time_seconds)));
    }
    all
}

/// Returns the levels of detail of pose k of a model, for the camera and for the light. The first two need full detail.
fn levels_of(k: u32) -> (u32, u32) {
    (k % 3, 2 - k % 2)
}

/// Draws the first `counts[m]` poses of each model in one frame. Pose p of the frame has p % 3 + 1 instances.
fn draw(renderer: &mut Renderer, expected: &[Vec<Expected>], counts: &[u32]) {
    let models = || counts.iter().enumerate().flat_map(|(model, &count)| (0..count).map(move |k| (model, k)));
    let visible = |((model, k), pose): ((usize, u32), u32)| {
        let (camera, light) = levels_of(k);
        VisiblePose::new(model as u32, pose % 3 + 1, 0).with_levels(camera, light)
    };
    let visible: Vec<VisiblePose> = models().zip(0..).map(visible).collect();
    let mut frame = renderer.begin_frame(&visible).unwrap();
    let (memory, plan) = frame.memory();
    for (record, (model, k)) in plan.records.iter().zip(models()) {
        let pose = &expected[model][k as usize];
        let (palette, morph_weights) = (record.palette_offset as usize, record.morph_weight_offset as usize);
        for (to, &joint) in memory.streams.palette[palette..].iter_mut().zip(&pose.palette) {
            *to = MaybeUninit::new(joint);
        }
        for (to, &weight) in memory.streams.morph_weights[morph_weights..].iter_mut().zip(&pose.morph_weights) {
            *to = MaybeUninit::new(weight);
        }
    }
    let shown = visible.iter().zip(0..).flat_map(|(visible, pose)| (0..visible.seen_count).map(move |_| pose));
    assert_eq!(memory.instances.len(), shown.clone().count(), "one element for each instance");
    let world_from_model = JointMatrix::IDENTITY;
    for (element, pose) in memory.instances.iter_mut().zip(shown) {
        element.write(InstanceData { world_from_model, pose, tint_unorm8: u32::MAX, numbers: [0; 2] });
    }
    // The picture is not examined.
    frame.submit(FrameData::zeroed(), Look::default(), false, &mut ()).unwrap();
}

/// Returns the angle between unit vectors, from their chord: the cosine is too imprecise for angles this small.
fn degrees_between(a: Vec3, b: Vec3) -> f32 {
    (2.0 * (a.distance(b) * 0.5).min(1.0).asin()).to_degrees()
}

/// Compares the first vertices of a pose with the twin's. Returns the largest errors.
fn check(vertices: &[SkinnedVertex], tangents: &[u32], expected: &Expected, what: &str) -> Vec3 {
    let mut largest = Vec3::ZERO;
    for (v, (actual, twin)) in vertices.iter().zip(&expected.vertices).enumerate() {
        let position = Vec3::from(actual.position).distance(Vec3::from(twin.position)) / expected.size;
        let [actual_normal, twin_normal] = [actual, twin].map(|v| unpack_octahedral(v.normal_octahedral));
        let mut errors = Vec3::new(position, degrees_between(actual_normal, twin_normal), 0.0);
        if let Some(&tangent) = tangents.get(v) {
            let [actual, twin] = [tangent, expected.tangents[v]].map(unpack_tangent);
            errors.z = degrees_between(actual.truncate(), twin.truncate());
            assert_eq!(actual.w, twin.w, "{what}, vertex {v}: handedness");
        }
        assert!(errors.cmple(MOST_ERRORS).all(), "{what}, vertex {v}: {actual:?} instead of {twin:?}: off by {errors}");
        largest = largest.max(errors);
    }
    largest
}

fn assets() -> Vec<Model> {
    // Smaller models surround the walker, so that no model's palette, weights or vertices start at multiples of a large one.
    let names = ["assets/jelly.gltf", "assets/walker.glb", "assets/jelly.gltf", "assets/simple_strip.gltf"];
    let mut models = names.map(scene::asset);
    // Some pages have tangents, some have none, some have both.
    models[1..3].iter_mut().for_each(give_tangents);
    models[2..4].iter_mut().for_each(|model| model.geometry.with_dual_quaternions = true);
    models.iter_mut().for_each(|model| levels::give_levels(model, 2, &[0.1, 0.2]));
    models.into()
}

/// Adds tangents perpendicular to the normals, and morph targets that change them.
fn give_tangents(model: &mut Model) {
    let tangent =
        |(v, normal): (usize, &Vec3)| normal.any_orthonormal_vector().extend(if v % 3 == 0 { -1.0 } else { 1.0 });
    model.geometry.tangents = model.geometry.normals.iter().enumerate().map(tangent).collect();
    for delta in &mut model.geometry.morph_deltas {
        delta.tangent = delta.position.yzx() * 2.0;
    }
}

/// The comparison would detect the pose of a neighbour: instances differ by much more than the tolerance.
fn assert_poses_differ(model: &Model, expected: &[Expected]) {
    let differ = |a: &Expected, b: &Expected| {
        let distances = a.full.iter().zip(&b.full).map(|(a, b)| a.distance(*b));
        distances.fold(0.0, f32::max) / a.size
    };
    // Clips loop, so one may end as the next begins. Some start at rest, and one has constant keys.
    let alike = expected.windows(2).filter(|pair| differ(&pair[0], &pair[1]) < 1000.0 * MOST_ERRORS.x).count();
    assert!(5 * alike <= expected.len(), "{}: {alike} neighbours in the same pose", model.name);
}

/// The vertices take each way: both upload paths, one page and many, and dispatches that hold a part of one walker.
fn every_vertex_is_that_of_the_twin(device: &TestDevice) {
    let models = assets();
    let expected: Vec<Vec<Expected>> = models.iter().map(expected).collect();
    assert!(expected.iter().map(Vec::len).eq(ALL.map(|count| count as usize)));
    models.iter().zip(&expected).for_each(|(model, expected)| assert_poses_differ(model, expected));

    let one_page = RendererSettings::default().page_bytes;
    // A page holds two of the largest model but not three.
    let most = models.iter().map(|model| model.geometry.vertex_count()).max().unwrap();
    let tiny_pages = (2 * most + most / 2) as u64 * size_of::<SkinnedVertex>() as u64;
    let few_groups = LimitCaps { work_groups: 7, ..LimitCaps::NONE };
    for (upload, page_bytes, limit_caps) in [
        (UploadPath::Direct, one_page, LimitCaps::NONE),
        (UploadPath::Direct, tiny_pages, LimitCaps::NONE),
        (UploadPath::Staged, one_page, LimitCaps::NONE),
        (UploadPath::Staged, tiny_pages, LimitCaps::NONE),
        (UploadPath::Staged, tiny_pages, few_groups),
    ] {
        let plain = RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() };
        let settings = RendererSettings { upload: Some(upload), page_bytes, limit_caps, ..plain };
        let gpu = Gpu::from(device);
        let mut renderer = scene::plain_renderer(gpu.device(), &models, [16, 16], settings);
        let setting = format!("{upload:?}, pages of {page_bytes} bytes");
        let mut errors = Vec3::ZERO;
        // Counts grow, shrink, become zero and return: each slot serves crowds of different sizes.
        for counts in [[1, 1, 1, 1], [2, 0, 5, 0], ALL, [0, 3, 0, 2], ALL] {
            draw(&mut renderer, &expected, &counts);
            let poses = (0..4).flat_map(|model| (0..counts[model]).map(move |k| (model, k)));
            for (pose, (model, k)) in (0..).zip(poses) {
                let what = format!("{setting}, {counts:?}: model {model}, instance {k}");
                let twin = &expected[model][k as usize];
                let vertices = renderer.read_skinned_vertices(pose).unwrap();
                assert_eq!(vertices.len(), twin.vertices.len(), "{what}");
                let tangents = renderer.read_skinned_tangents(pose).unwrap();
                assert_eq!(tangents.len(), twin.tangents.len(), "{what}");
                errors = errors.max(check(&vertices, &tangents, twin, &what));
            }
        }
        note!("{setting}: {errors}");
    }
}

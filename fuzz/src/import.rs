//! Target `import`: arbitrary bytes as a model file. An imported model is evaluated as the program would do it.
//!
//! The bytes are a GLB or JSON text. They cannot refer to other files: buffers are in the chunk or in data URIs.

use std::mem::MaybeUninit;

use glam::Vec3;
use throng::animation::{
    BindPose, Blend, MemoryKind, Pose, PoseScratch, PoseStreams, Source, evaluate_blend, joint_matrices, pose_model,
    skin_vertex,
};
use throng::app::inspect;
use throng::levels;
use throng::measure::{PosedBounds, posed_bounds, standing_point};
use throng::model::import::load_glb;
use throng::model::{Clip, Model};
use throng::retarget::keep_in_place;
use throng::shader_types::{JointMatrix, SkinnedVertex, unpack_tangent};

use super::invariants::check_invariants;
use super::lanes::check_lanes;

/// The largest model that is evaluated. Larger ones keep the promises too, but would leave the fuzzer no time.
const MAX_NODES: usize = 1_000;
const MAX_VERTICES: usize = 10_000;
const MAX_CLIPS: usize = 4;

/// The limits of a moderate model. With them, no product on the way to a skinned vertex exceeds `f32`, so results must
/// be finite.
const MODERATE_NODES: usize = 6;
const MODERATE_NUMBER: f32 = 100.0;
/// The largest number of morph targets of a moderate model.
const MODERATE_TARGETS: usize = 8;
/// The largest coordinate of a morphed vertex: a moderate number, and for each target another one times its weight.
const MAX_MORPHED: f32 = MODERATE_NUMBER * (1.0 + MODERATE_TARGETS as f32 * MODERATE_NUMBER);

/// Imports `data`, and evaluates the model if that succeeds. Returns whether it was imported.
///
/// # Panics
/// Panics if a promise of `throng::model`, or of a function that is called here, does not hold.
pub fn run(data: &[u8]) -> bool {
    match load_glb("fuzz.glb", data) {
        Ok(mut model) => {
            check_invariants(&model);
            report(&model);
            if model.skeleton.len() <= MAX_NODES && model.geometry.vertex_count() <= MAX_VERTICES {
                animate(&model);
                keep_in_place(&mut model);
                check_invariants(&model);
                animate(&model);
                check_levels(&mut model);
            }
            true
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with("fuzz.glb: "), "the message does not name the file: {message}");
            false
        }
    }
}

fn report(model: &Model) {
    let page = inspect::report(model, false, 100);
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'), "a terminal would obey {page:?}");
    let json = serde_json::to_value(inspect::facts(model, false)).expect("facts are plain values");
    assert_eq!(json["geometry"]["vertices"], model.geometry.vertex_count());
}

fn check_levels(model: &mut Model) {
    levels::build(model);
    check_invariants(model);
    let (mut most_vertices, mut least_error) = (model.geometry.vertex_count() as u32, 0.0);
    for level in &model.geometry.coarser_levels {
        assert!(level.vertex_count <= most_vertices && level.error >= least_error, "{level:?}");
        assert!(level.indices.iter().all(|&index| index < level.vertex_count), "{level:?}");
        assert_eq!(level.ranges.len(), model.geometry.draw_ranges.len());
        (most_vertices, least_error) = (level.vertex_count, level.error);
    }
}

fn animate(model: &Model) {
    let moderate = is_moderate(model);
    assert!(standing_point(model).is_finite());
    let mut scratch = PoseScratch::for_model(model);
    let clips = model.clips.iter().take(MAX_CLIPS).map(Some);
    for clip in std::iter::once(None).chain(clips) {
        let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
        let bounds = posed_bounds(model, clip);
        assert!(bounds.min.cmple(bounds.max).all(), "{bounds:?}");
        assert!(bounds.center().is_finite() && bounds.radius().is_finite(), "{bounds:?}");
        let times_seconds = [0.0, 0.37 * duration_seconds, duration_seconds, -1.0, f64::NAN, f64::INFINITY];
        // Products of many factors may be large, and their sums may cancel to anything, so only bounds are checked.
        check_lanes(model, clip, &times_seconds, 1.0, None);
        for time_seconds in times_seconds {
            let streams = streams_at(model, clip, time_seconds, &mut scratch);
            let skinned = skin(model, &streams);
            if moderate {
                assert!(streams.palette.iter().flat_map(|matrix| matrix.rows).flatten().all(f32::is_finite));
                assert!(skinned.iter().flat_map(|vertex| vertex.position).all(f32::is_finite));
            }
            if clip.is_none() && moderate {
                check_bounds(&bounds, &skinned[..model.geometry.drawn_vertex_count()], &streams.palette);
            }
        }
    }
}

/// The streams of one pose.
struct Streams {
    palette: Vec<JointMatrix>,
    morph_weights: Vec<f32>,
}

/// Evaluates a pose in both ways, which must agree in every bit.
fn streams_at(model: &Model, clip: Option<&Clip>, time_seconds: f64, scratch: &mut PoseScratch) -> Streams {
    let mut palette = vec![MaybeUninit::uninit(); model.palette.len()];
    let mut morph_weights = vec![MaybeUninit::uninit(); model.morph_weight_count()];
    let out = PoseStreams { palette: &mut palette, morph_weights: &mut morph_weights, memory: MemoryKind::Cached };
    evaluate_blend(model, &Blend { from: Source { clip, time_seconds }, to: None }, scratch, out);
    // SAFETY: `evaluate` writes every element of streams of the length that the model requires.
    let palette: Vec<JointMatrix> = palette.iter().map(|element| unsafe { element.assume_init() }).collect();
    // SAFETY: `evaluate` writes every element, as above.
    let morph_weights: Vec<f32> = morph_weights.iter().map(|element| unsafe { element.assume_init() }).collect();

    let pose = pose_model(model, clip, time_seconds, scratch);
    let bits = |matrix: &JointMatrix| matrix.rows.map(|row| row.map(f32::to_bits));
    assert!(joint_matrices(&model.palette, pose.model_from_node).map(|m| bits(&m)).eq(palette.iter().map(bits)));
    let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(pose.morph_weights), bits(&morph_weights));
    Streams { palette, morph_weights }
}

fn skin(model: &Model, streams: &Streams) -> Vec<SkinnedVertex> {
    let bind_pose = BindPose::new(&model.geometry);
    let pose = Pose { palette: &streams.palette, morph_weights: &streams.morph_weights, ..Pose::default() };
    let wants_tangent = !bind_pose.bind_tangents.is_empty();
    let skin = |vertex| {
        let (skinned, tangent) = skin_vertex(&bind_pose, vertex, pose, wants_tangent);
        let tangent = unpack_tangent(tangent);
        assert!((tangent.truncate().length() - 1.0).abs() < 1e-5 && tangent.w.abs() == 1.0, "{tangent}");
        skinned
    };
    (0..model.geometry.vertex_count()).map(skin).collect()
}

/// Checks that no drawn vertex of the rest pose is outside its box, except for rounding.
fn check_bounds(bounds: &PosedBounds, skinned: &[SkinnedVertex], palette: &[JointMatrix]) {
    // Large terms may cancel, so the tolerance depends on their size, not on the size of the result.
    let largest = palette.iter().flat_map(|matrix| matrix.rows).flatten().fold(0.0, |a: f32, b| a.max(b.abs()));
    let tolerance = 1e-5 * largest * MAX_MORPHED;
    for vertex in skinned {
        let position = Vec3::from(vertex.position);
        let inside = position.cmpge(bounds.min - tolerance) & position.cmple(bounds.max + tolerance);
        assert!(inside.all(), "{position} is outside {bounds:?}");
    }
}

/// Whether all numbers of the model are moderate and the tree is shallow.
fn is_moderate(model: &Model) -> bool {
    let Model { skeleton, palette, geometry, clips, .. } = model;
    let vectors = skeleton.rest.translations.iter().chain(&skeleton.rest.scales).chain(&geometry.positions);
    let tracks = clips.iter().flat_map(|clip| clip.translations.iter().chain(&clip.scales));
    let vectors = vectors.chain(tracks.flat_map(|track| &track.values)).flat_map(|vector| vector.to_array());
    let matrices = skeleton.fixed_locals.iter().map(|fixed| &fixed.parent_from_node).chain(&palette.joint_from_mesh);
    let tangents = clips.iter().flat_map(|clip| &clip.rotations).flat_map(|track| &track.values);
    let deltas = geometry.morph_deltas.iter().flat_map(|delta| [delta.position, delta.normal]);
    let weights = clips.iter().flat_map(|clip| &clip.morph_weights).flat_map(|track| &track.values);
    let numbers = vectors
        .chain(deltas.flat_map(|delta| delta.to_array()))
        .chain(weights.chain(&skeleton.rest.morph_weights).copied())
        .chain(matrices.flat_map(|matrix| matrix.to_cols_array()))
        .chain(tangents.flat_map(|tangent| tangent.to_array()))
        .chain(clips.iter().map(|clip| clip.duration_seconds));
    let few = skeleton.len() <= MODERATE_NODES && model.morph_weight_count() <= MODERATE_TARGETS;
    few && { numbers }.all(|number| number.abs() <= MODERATE_NUMBER)
}

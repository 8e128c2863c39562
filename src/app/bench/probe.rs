//! A probe that the measured work is really done.
//!
//! In: a renderer and a scene right after the first turn of a row. Out: an error if the frames are not what they should
//! be. A driver that skips a dispatch, or a crowd that stands still, would otherwise be a record.
//!
//! Two frames are drawn, a quarter of a second apart, without ground and sky. Characters have to cover pixels. The
//! skinned vertices of a few poses are read back, and have to be where `skin.comp`'s CPU twin has them: then poses differ
//! between instances and between frames exactly where the clips say so. A rest pose, a clip of one key or equal phases
//! need no exception. With vertex skinning no vertices are written, so only the pixels are checked.

use std::mem::MaybeUninit;

use anyhow::{Result, ensure};
use glam::Vec3;

use crate::animation::{BindPose, MemoryKind, Pose, PoseStreams, skin_vertex};
use crate::app::scene::Scene;
use crate::crowd::{FramePlan, PoseSize};
use crate::extras::{DebugView, Equipped};
use crate::model::Model;
use crate::renderer::Shot;
use crate::shader_types::JointMatrix;
use crate::view::{Background, Ground, Look};

/// The time between the two frames. Clips seldom repeat after it.
const STEP_SECONDS: f64 = 0.23;
/// The poses that are compared, and the vertices of each.
const MOST_POSES: usize = 4;
const MOST_VERTICES: usize = 64;
/// The largest distance between a vertex and its twin, as a share of the pose's size.
const TOLERANCE: f32 = 1e-3;
/// A colour that characters seldom have.
const BACKGROUND: [u8; 3] = [255, 0, 255];

/// Draws two frames and checks them. Pixels are checked if the camera frames a crowd that is shown as it is lit: a camera
/// that the user has placed may see nothing.
pub(super) fn check(renderer: &mut Equipped, scene: &mut Scene, time_seconds: f64, is_framed: bool) -> Result<()> {
    let look = Look { background: Background::Color(BACKGROUND), ground: Ground::Off, ..scene.look };
    let wants_pixels = is_framed && scene.show.view == DebugView::Lit;
    [time_seconds, time_seconds + STEP_SECONDS].into_iter().try_for_each(|time_seconds| {
        scene.draw_shot(renderer, &Shot { look, ..scene.shot(time_seconds, true) })?;
        // The last bit may be rounded.
        let is_background =
            |rgba: &[u8]| rgba.iter().zip(BACKGROUND).all(|(found, expected)| found.abs_diff(expected) <= 2);
        let is_covered = renderer.wait_for_pixels()?.chunks_exact(4).any(|pixel| !is_background(pixel));
        let has_triangles = scene.models.iter().any(|model| model.geometry.triangle_count() > 0);
        ensure!(is_covered || !wants_pixels || !has_triangles, "the probe found no pixel that a character covers");
        check_poses(renderer, scene, time_seconds)
    })
}

/// Compares the skinned vertices of a few poses of the last frame with those of the CPU.
fn check_poses(renderer: &mut Equipped, scene: &mut Scene, time_seconds: f64) -> Result<()> {
    let sizes: Vec<PoseSize> = scene.models.iter().map(PoseSize::of).collect();
    let mut plan = FramePlan::default();
    plan.rebuild(&sizes, scene.crowd.visible_poses(), u64::MAX)?;
    let mut palette = vec![MaybeUninit::new(JointMatrix::IDENTITY); plan.joint_count as usize];
    let mut weights = vec![MaybeUninit::new(0.0); plan.morph_weight_count as usize];
    let streams = PoseStreams { palette: &mut palette, morph_weights: &mut weights, memory: MemoryKind::Cached };
    scene.crowd.evaluate(&scene.pool, time_seconds, &plan, streams);
    // SAFETY: all elements were initialised above, and evaluation only replaces them.
    let (palette, weights) = unsafe { (palette.assume_init_ref(), weights.assume_init_ref()) };
    let count = plan.records.len();
    let sampled = MOST_POSES.min(count);
    for number in 0..sampled {
        let index = number * (count - 1) / (sampled - 1).max(1);
        let (pose, record) = (scene.crowd.visible_poses()[index], plan.records[index]);
        let model = &scene.models[pose.model as usize];
        let size = sizes[pose.model as usize].level(pose.levels.finest());
        let palette = &palette[record.palette_offset as usize..][..size.joint_count as usize];
        let morph_weights = &weights[record.morph_weight_offset as usize..][..record.morph_weight_count as usize];
        let vertices = renderer.read_skinned_vertices(index as u32)?;
        let vertices: Vec<Vec3> = vertices.iter().map(|vertex| Vec3::from(vertex.position)).collect();
        let pose = Pose { palette, morph_weights, bind_vertex_offset: record.bind_vertex_offset };
        check_vertices(model, pose, &vertices)?;
    }
    Ok(())
}

/// Compares vertices that were read back with those of a pose.
fn check_vertices(model: &Model, pose: Pose<'_>, found: &[Vec3]) -> Result<()> {
    let count = found.len();
    let bind_pose = BindPose::new(&model.geometry);
    let expected: Vec<(usize, Vec3)> = (0..count)
        .step_by((count / MOST_VERTICES).max(1))
        .map(|vertex| (vertex, Vec3::from(skin_vertex(&bind_pose, vertex, pose, false).0.position)))
        .collect();
    let size = expected.iter().fold(f32::MIN_POSITIVE, |size, (_, position)| size.max(position.abs().max_element()));
    for (vertex, expected) in expected {
        let found = found[vertex];
        let is_near = (found - expected).abs().max_element() <= TOLERANCE * size;
        // Positions that are not finite are equal in both.
        ensure!(
            is_near || !expected.is_finite(),
            "the probe found wrong vertices: vertex {vertex} of {} is at {found}, but its pose puts it at {expected}",
            model.name
        );
    }
    Ok(())
}

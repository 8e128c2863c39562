//! The work and the memory of a row's last frame, read from its scene and renderer after a turn.

use serde::Serialize;

use crate::app::scene::Scene;
use crate::model::Model;
use crate::renderer::{ByteCounts, DrawCounts, Renderer};

/// The amounts of work and memory of a frame.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Amounts {
    pub(super) visible: u32,
    pub(super) unique_poses: u32,
    /// The largest error of a vertex that sharing poses causes.
    pub(super) sharing_error_metres: Option<f64>,
    /// The same error as a share of the character's size: of the sphere that contains it throughout its clip.
    pub(super) sharing_error_share_of_size: Option<f64>,
    /// The joint matrices per instance of the mix. Vertices and triangles are per instance as well.
    pub(super) joints: f64,
    pub(super) vertices: f64,
    pub(super) triangles: f64,
    /// The vertices that the skin pass writes in a frame.
    pub(super) vertices_skinned: u64,
    /// The vertices and triangles of the camera's view in a frame, in the levels of detail of their instances.
    pub(super) vertices_drawn: u64,
    pub(super) triangles_drawn: u64,
    /// The triangles of the shadow map in a frame.
    pub(super) shadow_triangles_drawn: u64,
    /// The share of the drawn instances in each level of detail, finest first.
    pub(super) level_shares: Vec<f64>,
    pub(super) bytes: Bytes,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Bytes {
    pub(super) palette: u64,
    pub(super) skinned_vertices: u64,
    #[serde(rename = "static")]
    pub(super) static_data: u64,
    pub(super) total_device: u64,
}

impl Amounts {
    pub(super) fn of_last_frame(scene: &Scene, renderer: &Renderer) -> Self {
        let counts = scene.crowd.visible_counts();
        let visible: u32 = counts.iter().sum();
        let per_instance = |of: fn(&Model) -> usize| {
            let all = scene.models.iter().zip(counts).map(|(model, &count)| of(model) as f64 * f64::from(count));
            all.sum::<f64>() / f64::from(visible.max(1))
        };
        let sharing_error = scene.crowd.sharing_error();
        let DrawCounts { skinned_vertices: vertices_skinned, camera, light, seen_by_level } = renderer.draw_counts();
        let ByteCounts { palette, skinned_vertices, static_data, total_device } = renderer.byte_counts();
        Self {
            visible,
            unique_poses: scene.crowd.pose_counts().iter().sum(),
            sharing_error_metres: sharing_error.map(|error| error.metres.into()),
            sharing_error_share_of_size: sharing_error.map(|error| error.share_of_size.into()),
            joints: per_instance(|model| model.palette.len()),
            vertices: per_instance(|model| model.geometry.vertex_count()),
            triangles: per_instance(|model| model.geometry.triangle_count()),
            vertices_skinned,
            vertices_drawn: camera.vertices,
            triangles_drawn: camera.triangles,
            shadow_triangles_drawn: light.triangles,
            level_shares: seen_by_level.iter().map(|&seen| seen as f64 / camera.instances.max(1) as f64).collect(),
            bytes: Bytes { palette, skinned_vertices, static_data, total_device },
        }
    }
}

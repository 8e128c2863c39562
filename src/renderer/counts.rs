//! The work of a frame: how many vertices and triangles it skins and draws, and in which levels of detail.
//!
//! In: the last frame's plan and the models on the GPU. Out: [`DrawCounts`], which reports print. Nothing is counted while a
//! frame is drawn, so the counts cost nothing unless somebody wants them.

use super::passes::crowd_draw::Eye;
use super::passes::shadow_pass::casts_shadow;
use super::resident::model::GpuDraw;
use super::settings::Skinning;
use super::setup::Renderer;
use crate::crowd::Batch;
use crate::model::Topology;

/// The work of one view of the crowd.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ViewCounts {
    /// The number of drawn instances.
    pub instances: u64,
    /// The number of vertices of all drawn instances, in their levels of detail. The vertex shader runs at least once for
    /// each of them.
    pub vertices: u64,
    /// The number of drawn triangles, before culling and clipping.
    pub triangles: u64,
}

/// The work of one frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawCounts {
    /// The camera's view.
    pub camera: ViewCounts,
    /// The shadow map. All counts are 0 without shadows.
    pub light: ViewCounts,
    /// The number of vertices that `skin.comp` skins. 0 with [`Skinning::Vertex`].
    pub skinned_vertices: u64,
    /// The number of instances in the camera's view in each level of detail, finest first. The length is that of the
    /// longest chain of all models; divide by `camera.instances` for shares.
    pub seen_by_level: Vec<u64>,
}

impl Renderer {
    /// Returns the work of the last frame that [`Self::begin_frame`] has planned. It does not depend on timings or threads.
    #[must_use]
    pub fn draw_counts(&self) -> DrawCounts {
        let levels = self.pose_sizes.iter().map(|size| size.vertex_counts.len()).max().unwrap_or(1);
        let mut counts = DrawCounts { seen_by_level: vec![0; levels], ..DrawCounts::default() };
        for batch in &self.plan.batches {
            self.add(batch, Eye::Camera, |_| true, &mut counts.camera);
            if self.shadow_map_size().is_some() {
                self.add(batch, Eye::Light, casts_shadow, &mut counts.light);
            }
            if self.skinning == Skinning::Compute {
                counts.skinned_vertices += u64::from(batch.pose_count) * u64::from(batch.vertex_count);
            }
            if let Some(seen) = counts.seen_by_level.get_mut(batch.levels.camera as usize) {
                *seen += u64::from(batch.seen.count);
            }
        }
        counts
    }

    /// Adds the part of a batch that `eye` sees, with the draws that it draws.
    fn add(&self, batch: &Batch, eye: Eye, is_drawn: fn(&GpuDraw) -> bool, counts: &mut ViewCounts) {
        let Some(model) = self.models.get(batch.model as usize) else { return };
        let (seen, level) = eye.sees(batch);
        let instances: u64 = seen.iter().map(|range| u64::from(range.count)).sum();
        let triangles = model.draws.iter().filter(|draw| draw.topology == Topology::Triangles && is_drawn(draw));
        let triangles: u64 = triangles.map(|draw| u64::from(draw.indices(level).count / 3)).sum();
        counts.instances += instances;
        counts.vertices += instances * u64::from(model.size.vertex_count(level));
        counts.triangles += instances * triangles;
    }
}

//! What stands beside the renderer: the second page of the frame.
//!
//! In: [`Show`], what a person wants to see beside the lit crowd. Out: an implementation of [`Extras`], plain calls in the order of
//! the frame, and [`Equipped`], a renderer with all of them.
//!
//! Invariants: no file of the renderer names an extra. Extras do not name each other, and a line here names at most one: an extra
//! is deleted with its file, its shaders and the lines that the compiler names. A barrier on what several passes share stands in
//! `frame.rs`; one on an object's own image stands in its file, between producer and consumer.

pub mod bone_view;
pub mod debug_view;
pub mod motion_view;
pub mod outline;
pub mod overlay;

use std::sync::Arc;

use rayon::ThreadPool;

use crate::crowd::Crowd;
use crate::model::Model;
use crate::renderer::error::Result;
use crate::renderer::memory::Additions;
use crate::renderer::passes::PassInput;
use crate::renderer::{Extras, FrameOutcome, Renderer, RendererSettings, Shot, StageTimes};
use crate::shader_types::SkinnedVertex;
use crate::vulkan;

pub use debug_view::DebugView;
pub use overlay::{OverlayDraw, OverlayVertex, Triangles};

/// What frames show beside the lit crowd.
#[derive(Debug, Clone, Default)]
pub struct Show {
    pub view: DebugView,
    /// The node of each model whose weights [`DebugView::Heat`] shows. Models without a node show weights of 0.
    pub joint_nodes: Arc<[Option<u32>]>,
    /// Whether bones and joint axes are drawn over everything else.
    pub bones: bool,
    /// The number of the instance that has an outline.
    pub outlined: Option<u32>,
}

impl Show {
    pub fn needs_frame_before(&self) -> bool {
        self.view == DebugView::Motion
    }

    /// Returns the memory that frames with these extras take beside the crowd's, for an image of a size. A window may show an
    /// outline and an overlay at any time.
    pub fn additions(&self, models: &[Model], instances: u64, size: [u32; 2], is_window: bool) -> Additions {
        let mut all = motion_view::additions(self.view == DebugView::Motion, instances);
        all.bytes += debug_view::bytes(self.view, models);
        all.bytes += bone_view::bytes(self.bones, models);
        if is_window {
            all.bytes += outline::bytes(size);
            all.bytes += overlay::BYTES;
        }
        all
    }
}

#[derive(Default)]
struct All {
    show: Show,
    debug_view: debug_view::DebugViews,
    motion_view: motion_view::MotionView,
    bone_view: bone_view::BoneView,
    outline: outline::Outline,
    overlay: overlay::Overlay,
}

impl All {
    /// Builds what the next frame shows, as far as it does not depend on the frame.
    fn prepare(&mut self, renderer: &mut Renderer, crowd: &Crowd) -> Result<()> {
        let show = &self.show;
        self.debug_view.plan(renderer, crowd, show.view)?;
        self.motion_view.plan(renderer, show.view == DebugView::Motion)?;
        self.bone_view.plan(renderer, crowd, show.bones)
    }
}

// SAFETY: `Equipped` drops its renderer, which waits for all frames, before its extras. An extra that replaces an object waits
// first, or for the slot's last frame if the object belongs to the slot.
unsafe impl Extras for All {
    fn plan(&mut self, renderer: &mut Renderer, crowd: &Crowd, shot: &Shot) -> Result<()> {
        self.outline.plan(crowd, self.show.outlined, shot);
        self.prepare(renderer, crowd)
    }

    fn write(&mut self, renderer: &Renderer, slot: usize, crowd: &Crowd, shot: &Shot) -> Result<()> {
        if self.show.view == DebugView::Motion {
            self.motion_view.write(renderer, slot, crowd, shot)?;
        }
        Ok(())
    }

    fn fit(&mut self, renderer: &mut Renderer, slot: usize) -> Result<()> {
        self.outline.fit(renderer)?;
        self.overlay.fit(renderer, slot)
    }

    fn characters(&self, input: &PassInput) -> bool {
        let Show { view, joint_nodes, .. } = &self.show;
        if *view == DebugView::Motion {
            self.motion_view.record(input);
            return true;
        }
        self.debug_view.record(input, *view, joint_nodes)
    }

    fn over_scene(&self, input: &PassInput) {
        if self.show.bones {
            self.bone_view.record(input);
        }
    }

    fn after_scene(&self, input: &PassInput) {
        self.outline.record_silhouette(input);
    }

    fn over_picture(&self, input: &PassInput) {
        self.outline.record_line(input);
        self.overlay.record(input);
    }
}

/// A renderer with all extras. It is read through [`Deref`](std::ops::Deref). It is never handed out to be changed, because the
/// extras belong to the frames of this renderer and no other.
pub struct Equipped {
    /// Dropped first: its drop waits for all frames.
    renderer: Renderer,
    extras: All,
}

impl std::ops::Deref for Equipped {
    type Target = Renderer;

    fn deref(&self) -> &Renderer {
        &self.renderer
    }
}

impl From<Renderer> for Equipped {
    fn from(renderer: Renderer) -> Self {
        Self { renderer, extras: All::default() }
    }
}

impl Equipped {
    /// Draws as [`Renderer::draw`] does, with extras.
    ///
    /// # Errors
    /// Those of [`Renderer::draw`], and settings that the device cannot show.
    pub fn draw(
        &mut self,
        crowd: &mut Crowd,
        threads: &ThreadPool,
        shot: &Shot,
        show: &Show,
    ) -> Result<(FrameOutcome, StageTimes)> {
        self.extras.show = show.clone();
        self.renderer.draw(crowd, threads, shot, &mut self.extras)
    }

    /// Builds what a frame with these extras needs, to find out whether the device can show them.
    pub fn try_show(&mut self, crowd: &Crowd, show: &Show) -> Result<()> {
        self.extras.show = show.clone();
        self.extras.prepare(&mut self.renderer, crowd)
    }

    /// Returns the triangles over the picture, which the next frames draw. They need an atlas.
    pub fn overlay_mut(&mut self) -> &mut Triangles {
        &mut self.extras.overlay.triangles
    }

    pub fn set_overlay_atlas(&mut self, size: [u32; 2], rgba: &[u8]) -> Result<()> {
        self.extras.overlay.set_atlas(&mut self.renderer, size, rgba)
    }

    /// Builds everything again, as [`Renderer::rebuild`] does. The overlay stays.
    ///
    /// # Errors
    /// Those of [`Renderer::new`]. Everything is then as it was.
    pub fn rebuild(&mut self, models: &[Model], settings: RendererSettings) -> Result<()> {
        self.renderer.rebuild(models, settings)?;
        // All frames have finished.
        let mut overlay = std::mem::take(&mut self.extras).overlay;
        overlay.drop_pipeline();
        self.extras.overlay = overlay;
        Ok(())
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        self.renderer.resize(width, height);
    }

    pub fn wait_for_pixels(&mut self) -> Result<&[u8]> {
        self.renderer.wait_for_pixels()
    }

    pub fn read_skinned_vertices(&mut self, pose: u32) -> Result<Vec<SkinnedVertex>> {
        self.renderer.read_skinned_vertices(pose)
    }

    pub fn wait(&mut self) -> vulkan::Result<()> {
        self.renderer.wait()
    }
}

//! The overlay: flat textured triangles over the picture, such as the panel of a window.
//!
//! In: a program's triangles in pixels, and an atlas, the image with the shapes of letters. Out: vertices and indices for
//! [`overlay_pass`](super::passes::overlay_pass). The renderer does not know what the triangles mean. An empty overlay costs
//! nothing.

use ash::vk;

use crate::shader_types::OverlayVertex;

/// Triangles over the picture. They are drawn in order, and may be kept for several frames.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The vertices of all triangles.
    pub vertices: Vec<OverlayVertex>,
    /// Three indices of vertices for each triangle.
    pub indices: Vec<u32>,
    /// Which part of the image each range of triangles may cover.
    pub draws: Vec<OverlayDraw>,
}

/// The next triangles of an overlay.
#[derive(Debug, Clone, Copy)]
pub struct OverlayDraw {
    /// The part of the image that they may cover, in pixels.
    pub clip: vk::Rect2D,
    /// The number of their indices.
    pub index_count: u32,
}

impl Overlay {
    /// Removes all triangles.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.indices.clear();
        self.draws.clear();
    }

    /// Returns whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
}

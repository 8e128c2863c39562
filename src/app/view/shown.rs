//! A window on the screen, and one that has lost its surface.

use std::time::Instant;

use winit::dpi::PhysicalSize;
use winit::window::Window;

use crate::cli::Size;
use crate::renderer::Renderer;

/// An open window and its renderer. The renderer, which owns the surface, is dropped first.
pub struct Shown {
    /// The renderer.
    pub renderer: Renderer,
    /// The window.
    pub window: Window,
    /// The size in the last event. On X11 winit would ask the server, and panic once another client has destroyed the
    /// window.
    pub size: PhysicalSize<u32>,
}

/// A window whose surface or device was lost and not yet replaced.
pub struct Lost {
    /// The window.
    pub window: Window,
    /// The size in the last event.
    pub size: PhysicalSize<u32>,
    /// The time of the loss.
    pub since: Instant,
}

impl Shown {
    /// Returns width over height.
    pub fn aspect(&self) -> f32 {
        self.size.width.max(1) as f32 / self.size.height.max(1) as f32
    }

    /// Returns the size in pixels.
    pub fn image_size(&self) -> Size {
        Size { width: self.size.width, height: self.size.height }
    }
}

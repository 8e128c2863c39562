//! What a program adds to frames: the seam between the renderer and everything that stands beside it.
//!
//! In: an object that implements [`Extras`], handed to [`Renderer::draw`]. Out: calls at the places of [`frame`](super::frame)
//! that the functions are named after, in this order. The renderer knows none of its implementors, and `()` adds nothing.

use super::Renderer;
use super::error::Result;
use super::passes::PassInput;
use super::shot::Shot;
use crate::crowd::Crowd;

/// What a program adds to frames.
///
/// # Safety
/// Everything that the functions record lives until the GPU has finished the frame, and Vulkan allows it at its place.
pub unsafe trait Extras {
    /// The crowd is culled, and nothing is planned. Builds what is missing, and waits before it replaces what frames in flight
    /// use.
    ///
    /// # Errors
    /// The device cannot show what is wanted, or has no memory.
    fn plan(&mut self, _renderer: &mut Renderer, _crowd: &Crowd, _shot: &Shot) -> Result<()> {
        Ok(())
    }

    /// The poses are planned and written. For data of one's own that goes with this frame's slot.
    fn write(&mut self, _renderer: &Renderer, _slot: usize, _crowd: &Crowd, _shot: &Shot) -> Result<()> {
        Ok(())
    }

    /// The size and the format of the image are known, and the slot's last frame has finished.
    fn fit(&mut self, _renderer: &mut Renderer, _slot: usize) -> Result<()> {
        Ok(())
    }

    /// In the rendering of the scene. Draws the characters in another way than lit, and returns true; or returns false.
    fn characters(&self, _input: &PassInput) -> bool {
        false
    }

    /// In the rendering of the scene, after everything.
    fn over_scene(&self, _input: &PassInput) {}

    /// After the rendering of the scene, for renderings and copies of one's own.
    fn after_scene(&self, _input: &PassInput) {}

    /// In the rendering of the output, over the tone-mapped picture.
    fn over_picture(&self, _input: &PassInput) {}
}

// SAFETY: it records nothing.
unsafe impl Extras for () {}

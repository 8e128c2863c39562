//! The surface of a window.

use std::any::Any;
use std::sync::Arc;

use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use super::error::{Context, Error, Result};
use super::instance::Instance;

/// A window's surface. It keeps its window, so that the window outlives it.
pub struct Surface {
    pub(super) raw: vk::SurfaceKHR,
    pub(super) loader: khr::surface::Instance,
    _instance: Arc<Instance>,
    _window: Option<Arc<dyn Any + Send + Sync>>,
}

impl Surface {
    /// Creates the surface of a window.
    ///
    /// # Errors
    /// No window handle, or the driver cannot draw to this window system.
    pub fn new<W>(instance: &Arc<Instance>, window: &Arc<W>) -> Result<Self>
    where
        W: HasDisplayHandle + HasWindowHandle + Send + Sync + 'static,
    {
        let no_handle = |_| Error::call("window handle", vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR);
        let display = window.display_handle().map_err(no_handle)?.as_raw();
        let handle = window.window_handle().map_err(no_handle)?.as_raw();
        // SAFETY: the handles are those of a living window, which the surface keeps.
        let raw = unsafe { ash_window::create_surface(&instance.entry, &instance.raw, display, handle, None) }
            .context("vkCreateSurfaceKHR")?;
        // SAFETY: the surface is new and belongs to this instance.
        let mut surface = unsafe { Self::from_raw(instance, raw) };
        surface._window = Some(Arc::<W>::clone(window));
        Ok(surface)
    }

    /// Takes over a surface that the caller has created, for example one without a window (`VK_EXT_headless_surface`).
    ///
    /// # Safety
    /// The surface belongs to `instance`, which has `VK_KHR_surface` enabled. Nothing else destroys it.
    pub unsafe fn from_raw(instance: &Arc<Instance>, raw: vk::SurfaceKHR) -> Self {
        let loader = khr::surface::Instance::new(&instance.entry, &instance.raw);
        Self { raw, loader, _instance: Arc::clone(instance), _window: None }
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: swapchains hold an `Arc` of this surface, so none is left.
        unsafe { self.loader.destroy_surface(self.raw, None) };
    }
}

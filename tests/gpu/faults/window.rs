//! A life in a window on an X server without a screen: surface, swapchain, presentation, and a resize.

use std::ffi::{c_char, c_int, c_void};
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;

use anyhow::{Result, bail};
use ash::vk;
use raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle, XcbDisplayHandle, XcbWindowHandle,
};
use throng::app::scene::Scene;
use throng::renderer::{FrameOutcome, Output, Renderer, RendererSettings, Shadows, UploadPath};
use throng::vulkan::device::Device;
use throng::vulkan::physical_device::PhysicalDevice;
use throng::vulkan::surface::Surface;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt, CreateWindowAux, WindowClass};
use x11rb::rust_connection::RustConnection;

use super::life::{ASPECT, EXTENT, Outcome, Setting};
use super::loader;
use crate::common::screen::Screen;

/// A window, and a connection of the C library, which Vulkan needs.
pub struct XcbWindow {
    library: NonNull<c_void>,
    connection: NonNull<c_void>,
    id: u32,
    /// The connection that owns the window.
    owner: RustConnection,
    _screen: Screen,
}

impl XcbWindow {
    pub fn new() -> Arc<Self> {
        let screen = Screen::start_for_this_process();
        let (owner, number) = RustConnection::connect(Some(&screen.display)).unwrap();
        let (id, root) = (owner.generate_id().unwrap(), owner.setup().roots[number].root);
        let (width, height) = (EXTENT.width as u16, EXTENT.height as u16);
        let (class, values) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        owner.create_window(0, id, root, 0, 0, width, height, 0, class, 0, &values).unwrap().check().unwrap();
        owner.map_window(id).unwrap().check().unwrap();
        let display = std::ffi::CString::new(screen.display.as_str()).unwrap();
        // SAFETY: the library is libxcb, and the functions have the types of its header.
        let (library, connection) = unsafe {
            let library = NonNull::new(libc::dlopen(c"libxcb.so.1".as_ptr(), libc::RTLD_NOW)).expect("libxcb");
            let connect =
                function::<unsafe extern "C" fn(*const c_char, *mut c_int) -> *mut c_void>(library, c"xcb_connect");
            (library, NonNull::new(connect(display.as_ptr(), std::ptr::null_mut())).expect("a connection"))
        };
        Arc::new(Self { library, connection, id, owner, _screen: screen })
    }

    fn resize(&self, extent: vk::Extent2D) {
        let size = ConfigureWindowAux::new().width(extent.width).height(extent.height);
        self.owner.configure_window(self.id, &size).unwrap().check().unwrap();
    }
}

/// Returns a function of a C library.
///
/// # Safety
/// The function has the type `F`, which is a function pointer.
unsafe fn function<F: Copy>(library: NonNull<c_void>, name: &std::ffi::CStr) -> F {
    // SAFETY: the library is loaded.
    let address = unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) };
    assert!(!address.is_null(), "{name:?}");
    // SAFETY: the caller makes the promise.
    unsafe { std::mem::transmute_copy(&address) }
}

// SAFETY: libxcb locks its connection, and a library that is loaded belongs to no thread.
unsafe impl Send for XcbWindow {}
// SAFETY: as above.
unsafe impl Sync for XcbWindow {}

impl Drop for XcbWindow {
    fn drop(&mut self) {
        // SAFETY: the surfaces of this connection are destroyed.
        unsafe {
            function::<unsafe extern "C" fn(*mut c_void)>(self.library, c"xcb_disconnect")(self.connection.as_ptr());
        }
    }
}

impl HasDisplayHandle for XcbWindow {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        let handle = XcbDisplayHandle::new(Some(self.connection), 0);
        // SAFETY: the connection lives as long as `self`.
        Ok(unsafe { DisplayHandle::borrow_raw(handle.into()) })
    }
}

impl HasWindowHandle for XcbWindow {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let handle = XcbWindowHandle::new(NonZero::new(self.id).expect("a window"));
        // SAFETY: the window lives as long as `self`.
        Ok(unsafe { WindowHandle::borrow_raw(handle.into()) })
    }
}

impl Setting {
    /// Draws to a window, resizes it, and draws again. It is a failure if more than `most_skipped` frames are skipped. There
    /// are no pixels to read.
    pub fn windowed(&mut self, window: &Arc<XcbWindow>, most_skipped: u32) -> Outcome {
        self.in_window(window, |scene, renderer| {
            let mut skipped = 0;
            for extent in [EXTENT, vk::Extent2D { width: 40, height: 30 }] {
                window.resize(extent);
                renderer.resize(extent.width, extent.height);
                for _ in 0..2 {
                    skipped += u32::from(draw(scene, renderer)? == FrameOutcome::Skipped);
                }
            }
            if skipped > most_skipped {
                bail!("{skipped} frames were skipped");
            }
            Ok((Vec::new(), 0))
        })
    }

    /// Draws a frame with each of these sizes, which the program decides. Returns 1 for each frame that was drawn, and 0 for
    /// each that was skipped.
    pub fn with_sizes(&mut self, window: &Arc<XcbWindow>, sizes: &[[u32; 2]]) -> Outcome {
        self.in_window(window, |scene, renderer| {
            let drawn = sizes.iter().map(|&[width, height]| {
                renderer.resize(width, height);
                Ok((draw(scene, renderer)? == FrameOutcome::Drawn).into())
            });
            Ok((drawn.collect::<Result<_>>()?, 0))
        })
    }

    fn in_window(
        &mut self,
        window: &Arc<XcbWindow>,
        life: impl FnOnce(&mut Scene, &mut Renderer) -> Result<(Vec<u8>, usize)>,
    ) -> Outcome {
        window.resize(EXTENT);
        let display = window.display_handle().unwrap();
        let extensions = ash_window::enumerate_required_extensions(display.as_raw()).unwrap();
        Outcome::of(extensions, |instance, _| {
            let surface = Arc::new(Surface::new(instance, window)?);
            let physical = PhysicalDevice::choose(instance, Some(&self.device), Some(&surface))?;
            let device = Device::new(instance, physical, true)?;
            let output = Output::window(surface, EXTENT, Box::new(|| ()));
            let upload = Some(UploadPath::Staged);
            let settings =
                RendererSettings { samples: 1, shadows: Shadows::Off, upload, ..RendererSettings::default() };
            let mut renderer = Renderer::new(&device, &self.models, output, settings)?;
            loader::end_construction();
            life(&mut self.scene, &mut renderer)
        })
    }
}

fn draw(scene: &mut Scene, renderer: &mut Renderer) -> Result<FrameOutcome> {
    Ok(scene.draw(renderer, 0.3, ASPECT, false)?.0)
}

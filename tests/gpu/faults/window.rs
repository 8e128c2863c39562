//! Lives in a window on an X server without a screen: surface, swapchain, frames, resize; and a device that cannot present.

use std::ffi::{CString, c_char};
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;

use anyhow::{Result, bail};
use ash::vk;
use raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle, XcbDisplayHandle, XcbWindowHandle,
};
use throng::app::scene::Scene;
use throng::extras::Equipped;
use throng::renderer::{FrameOutcome, Output, Renderer, RendererSettings, Shadows, UploadPath};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;
use throng::vulkan::surface::Surface;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt, CreateWindowAux, WindowClass};
use x11rb::xcb_ffi::XCBConnection;

use super::life::{EXTENT, Outcome, Setting};
use super::loader::{self, Fault, Function, live};
use super::{all, count_by_function, few, live_well, sweep};
use crate::common::gpu::{TestDevice, list_gpu_tests};
use crate::common::scene;
use crate::common::screen::Screen;
use crate::gpu::loader::claims::{self, Claims};

list_gpu_tests![
    every_function_of_a_window_may_fail,
    every_call_in_a_window_may_fail_with_every_result [ignored if true],
    a_window_without_area_is_skipped,
    a_window_that_stays_suboptimal_or_without_images_goes_on,
    a_device_that_cannot_present_is_refused,
];

/// A window, and its connection, which is the C library's, because Vulkan needs that one.
pub struct XcbWindow {
    connection: XCBConnection,
    id: u32,
    _screen: Screen,
}

impl XcbWindow {
    pub fn new() -> Arc<Self> {
        let screen = Screen::start_for_this_process();
        let display = CString::new(screen.display.as_str()).unwrap();
        let (connection, number) = XCBConnection::connect(Some(&display)).unwrap();
        let (id, root) = (connection.generate_id().unwrap(), connection.setup().roots[number].root);
        let (width, height) = (EXTENT.width as u16, EXTENT.height as u16);
        let (class, values) = (WindowClass::INPUT_OUTPUT, CreateWindowAux::new());
        connection.create_window(0, id, root, 0, 0, width, height, 0, class, 0, &values).unwrap().check().unwrap();
        connection.map_window(id).unwrap().check().unwrap();
        Arc::new(Self { connection, id, _screen: screen })
    }

    fn surface_extensions(&self) -> &'static [*const c_char] {
        ash_window::enumerate_required_extensions(self.display_handle().unwrap().as_raw()).unwrap()
    }

    fn resize(&self, extent: vk::Extent2D) {
        let size = ConfigureWindowAux::new().width(extent.width).height(extent.height);
        self.connection.configure_window(self.id, &size).unwrap().check().unwrap();
    }
}

impl HasDisplayHandle for XcbWindow {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        let handle = XcbDisplayHandle::new(NonNull::new(self.connection.get_raw_xcb_connection()), 0);
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
    /// Draws to a window, resizes it, and draws again. Fails if more than `most_skipped` frames are skipped. Reads no pixels.
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

    /// Draws a frame with each of these sizes, which the program decides. Returns 1 for each drawn frame, and 0 for others.
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
        life: impl FnOnce(&mut Scene, &mut Equipped) -> Result<(Vec<u8>, usize)>,
    ) -> Outcome {
        window.resize(EXTENT);
        Outcome::of(window.surface_extensions(), |instance, _| {
            let surface = Arc::new(Surface::new(instance, window)?);
            let physical = PhysicalDevice::choose(instance, Some(&self.device), Some(&surface))?;
            let device = Device::new(instance, physical, true)?;
            let output = Output::window(surface, EXTENT, Box::new(|| ()));
            let upload = Some(UploadPath::Staged);
            let settings =
                RendererSettings { samples: 1, shadows: Shadows::Off, upload, ..RendererSettings::default() };
            let mut renderer = Renderer::new(&device, &self.models, output, settings)?.into();
            loader::end_construction();
            life(&mut self.scene, &mut renderer)
        })
    }
}

fn draw(scene: &mut Scene, renderer: &mut Equipped) -> Result<FrameOutcome> {
    Ok(scene.draw(renderer, 0.3, false)?.0)
}

fn in_window(device: &TestDevice) -> (Setting, Arc<XcbWindow>) {
    (Setting::with_models(device, vec![scene::asset(scene::STRIP)], 1), XcbWindow::new())
}

fn every_function_of_a_window_may_fail(device: &TestDevice) {
    // The others fail offscreen too.
    let is_of_windows = |function: Function| {
        format!("{function:?}").ends_with("KHR") || function == Function::vkGetSemaphoreCounterValue
    };
    let (mut setting, window) = in_window(device);
    sweep(few, is_of_windows, || setting.windowed(&window, 1));
}

fn every_call_in_a_window_may_fail_with_every_result(device: &TestDevice) {
    let (mut setting, window) = in_window(device);
    sweep(all, |_| true, || setting.windowed(&window, 1));
}

/// A window without area has no swapchain. Its frames are skipped, until it has an area again.
fn a_window_without_area_is_skipped(device: &TestDevice) {
    let (mut setting, window) = in_window(device);
    let ((drawn, _), _) = live_well(|| {
        loader::take_size_from_surfaces();
        setting.with_sizes(&window, &[[32, 24], [0, 0], [0, 24], [32, 0], [32, 24]])
    });
    assert_eq!(drawn, [1, 0, 0, 0, 1]);
}

/// Some window systems call every image suboptimal. Every frame is drawn then, and a swapchain is replaced only after a resize.
/// A window that never has an image is skipped in each frame. That is neither an error nor an endless loop.
fn a_window_that_stays_suboptimal_or_without_images_goes_on(device: &TestDevice) {
    use Function::*;
    let (mut setting, window) = in_window(device);
    for (function, call, result, most_skipped) in [
        (vkAcquireNextImageKHR, 0, vk::Result::SUBOPTIMAL_KHR, 0),
        (vkQueuePresentKHR, 0, vk::Result::SUBOPTIMAL_KHR, 0),
        (vkAcquireNextImageKHR, 0, vk::Result::ERROR_OUT_OF_DATE_KHR, u32::MAX),
        (vkAcquireNextImageKHR, 1, vk::Result::TIMEOUT, u32::MAX),
        (vkAcquireNextImageKHR, 0, vk::Result::NOT_READY, u32::MAX),
    ] {
        let fault = Fault { lasts: true, ..Fault::once(function, call, result) };
        let (Outcome { result: end, messages, .. }, report) =
            live(Some(fault), || setting.windowed(&window, most_skipped));
        assert!(end.is_ok() && report.failures > 0, "{fault:?}: {:?}", end.err());
        assert_eq!((messages, report.leaks), (Vec::new(), Vec::new()), "{fault:?}");
        assert!(report.calls.len() < 2000, "{fault:?}: {} calls", report.calls.len());
        let swapchains = count_by_function(&report.calls)[&vkCreateSwapchainKHR];
        assert!(swapchains == 2 || result != vk::Result::SUBOPTIMAL_KHR, "{fault:?}: {swapchains} swapchains");
    }
}

fn a_device_that_cannot_present_is_refused(device: &TestDevice) {
    let window = XcbWindow::new();
    let options = InstanceOptions { validation: true, surface_extensions: window.surface_extensions() };
    let entry = claims::entry(Claims { presents: false, ..Claims::NONE });
    let instance = Instance::with_entry(entry, options).expect("an instance");
    let surface = Surface::new(&instance, &window).expect("a surface");
    let chosen = PhysicalDevice::choose(&instance, Some(&device.selector()), Some(&surface));
    let refusal = chosen.err().expect("a refusal").to_string();
    assert!(refusal.contains("cannot present to this window"), "{refusal}");
    assert_eq!(instance.validation_messages.all(), [""; 0]);
}

//! Whether an X server shows a window at all.
//!
//! In: the window. Out: whether it is mapped. Most window managers unmap windows that are minimised or on another desktop.
//! winit does not report this. When the window is mapped again, winit sends `Occluded(false)`.

use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use winit::window::Window;
use x11rb::protocol::xproto::{ConnectionExt, MapState};
use x11rb::rust_connection::RustConnection;

/// A window on an X server, with a connection of its own.
pub struct Mapped {
    connection: RustConnection,
    window: u32,
}

impl Mapped {
    /// Connects to the server of the window. Returns `None` on Wayland.
    pub fn new(window: &Window) -> Option<Self> {
        let RawWindowHandle::Xlib(handle) = window.window_handle().ok()?.as_raw() else { return None };
        let (connection, _) = RustConnection::connect(None).ok()?;
        Some(Self { connection, window: u32::try_from(handle.window).ok()? })
    }

    /// Returns whether the window and all windows around it are mapped. A window that is gone counts as mapped.
    pub fn is_mapped(&self) -> bool {
        let reply = self.connection.get_window_attributes(self.window).ok().and_then(|cookie| cookie.reply().ok());
        reply.is_none_or(|attributes| attributes.map_state == MapState::VIEWABLE)
    }
}

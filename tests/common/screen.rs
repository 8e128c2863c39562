//! An X server without a screen, and a second client that controls windows on it.
//!
//! Every wait ends with an event of the server. If nothing happens any more, a watchdog ends the server. This breaks the
//! connections of the test and of the program, so that the test fails and the program ends.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

use x11rb::CURRENT_TIME;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{self, AtomEnum, ConnectionExt, EventMask};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::processor_time;

pub const SIZE: (u32, u32) = (1024, 768);

pub struct Screen {
    pub display: String,
    connection: RustConnection,
    root: xproto::Window,
    // Dropping it ends the server.
    _alive: Sender<()>,
}

impl Screen {
    pub fn start() -> Self {
        Self::start_and_wait(processor_time::receive)
    }

    /// Starts a server for windows of this process. There is no watchdog, because it counts the time of child processes only.
    pub fn start_for_this_process() -> Self {
        Self::start_and_wait(|alive| alive.recv().ok())
    }

    /// Starts a server that ends when `wait` does.
    fn start_and_wait(wait: fn(&Receiver<()>) -> Option<()>) -> Self {
        let size = format!("{}x{}x24", SIZE.0, SIZE.1);
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp"]);
        let mut server = spawn(server.stdout(Stdio::piped()));
        let stdout = server.stdout.take().unwrap();
        let (alive, watched): (Sender<()>, Receiver<()>) = channel();
        std::thread::spawn(move || {
            // Returns when the test is over, or when neither the server nor any program does anything.
            wait(&watched);
            let _ = server.kill();
            let _ = server.wait();
        });
        // Xvfb chooses a free number and writes it when it is ready.
        let mut number = String::new();
        BufReader::new(stdout).read_line(&mut number).unwrap();
        assert!(!number.trim().is_empty(), "Xvfb ended before it was ready");
        let display = format!(":{}", number.trim());
        let (connection, screen) = RustConnection::connect(Some(&display)).unwrap();
        let root = connection.setup().roots[screen].root;
        listen(&connection, root, EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE);
        Self { display, connection, root, _alive: alive }
    }

    /// Starts a server with a window manager. Only then can windows be minimised and fill the screen.
    pub fn with_manager() -> Self {
        let screen = Self::start();
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/openbox.xml");
        let mut manager = Command::new("openbox");
        manager.args(["--sm-disable", "--config-file", config]).env("DISPLAY", &screen.display);
        let mut manager = spawn(manager.stdout(Stdio::null()));
        // It ends with the server.
        std::thread::spawn(move || manager.wait());
        // A manager sets this property of the root window when it is ready.
        let ready = screen.atom("_NET_SUPPORTING_WM_CHECK");
        while !matches!(screen.next_event(), Event::PropertyNotify(event) if event.atom == ready) {}
        screen
    }

    /// Waits until the program shows its window and presents frames, and gives it the keys.
    pub fn wait_for_window(self) -> TestWindow {
        let managed = self.atom("_NET_CLIENT_LIST");
        loop {
            let candidates = match self.next_event() {
                Event::MapNotify(event) => vec![event.window],
                // A manager maps a frame around the window, and then lists the window.
                Event::PropertyNotify(event) if event.atom == managed => self.ids(self.root, managed, AtomEnum::WINDOW),
                _ => continue,
            };
            for id in candidates {
                if self.title(id).is_some_and(|title| title.starts_with("Throng")) {
                    listen(&self.connection, id, EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
                    let window = TestWindow { screen: self, id };
                    window.wait_for_title(|_| true);
                    window.focus();
                    return window;
                }
            }
        }
    }

    fn title(&self, window: xproto::Window) -> Option<String> {
        let (name, kind) = (self.atom("_NET_WM_NAME"), self.atom("UTF8_STRING"));
        let reply = self.connection.get_property(false, window, name, kind, 0, 1024).unwrap().reply().ok()?;
        String::from_utf8(reply.value).ok().filter(|title| !title.is_empty())
    }

    /// Returns the value of a property that is a list of atoms or windows.
    fn ids(&self, window: xproto::Window, property: xproto::Atom, kind: AtomEnum) -> Vec<u32> {
        let reply = self.connection.get_property(false, window, property, kind, 0, 1024).unwrap().reply().unwrap();
        reply.value32().into_iter().flatten().collect()
    }

    fn send(&self, window: xproto::Window, listeners: EventMask, event: impl Into<[u8; 32]>) {
        self.connection.send_event(false, window, listeners, event).unwrap().check().unwrap();
    }

    /// Moves the mouse, or presses or releases a button of it or a key.
    fn fake_input(&self, kind: u8, button: u8, (x, y): (i16, i16)) {
        self.connection.xtest_fake_input(kind, button, CURRENT_TIME, self.root, x, y, 0).unwrap().check().unwrap();
    }

    fn next_event(&self) -> Event {
        self.connection.flush().unwrap();
        self.connection
            .wait_for_event()
            .unwrap_or_else(|error| panic!("the X server has gone ({error}): nothing happened any more, or it crashed"))
    }

    fn atom(&self, name: &str) -> xproto::Atom {
        self.connection.intern_atom(false, name.as_bytes()).unwrap().reply().unwrap().atom
    }
}

fn spawn(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} cannot be started ({error}): run ./setup.sh, which installs it"))
}

fn listen(connection: &RustConnection, window: xproto::Window, events: EventMask) {
    let attributes = xproto::ChangeWindowAttributesAux::new().event_mask(events);
    connection.change_window_attributes(window, &attributes).unwrap().check().unwrap();
}

/// A key by the character that it types (an X keysym).
#[derive(Clone, Copy)]
pub struct Key(u32);

impl Key {
    pub const ESCAPE: Self = Self(0xff1b);
    pub const TAB: Self = Self(0xff09);
    pub const BACKSPACE: Self = Self(0xff08);
    pub const F11: Self = Self(0xffc8);
    pub const SHIFT: Self = Self(0xffe1);
    pub const CONTROL: Self = Self(0xffe3);
    pub const SPACE: Self = Self(b' ' as u32);

    /// Returns the key that types an ASCII character.
    pub fn typing(character: char) -> Self {
        Self(u32::from(character))
    }
}

pub struct TestWindow {
    screen: Screen,
    id: xproto::Window,
}

impl TestWindow {
    fn connection(&self) -> &RustConnection {
        &self.screen.connection
    }

    /// Returns the next event of this window. Fails if the program has closed it.
    fn next_event(&self) -> Event {
        let event = self.screen.next_event();
        assert!(!matches!(event, Event::DestroyNotify(ref gone) if gone.window == self.id), "the window was closed");
        event
    }

    /// Waits until the title changes to a `wanted` one. The program changes it only after it has presented.
    pub fn wait_for_title(&self, wanted: impl Fn(&str) -> bool) -> String {
        let name = self.screen.atom("_NET_WM_NAME");
        loop {
            if let Event::PropertyNotify(event) = self.next_event()
                && event.atom == name
                && let Some(title) = self.screen.title(self.id)
                && title.starts_with("Throng: ")
                && wanted(&title)
            {
                return title;
            }
        }
    }

    /// Takes the events that have arrived. Returns the present title once for each change.
    fn arrived_titles(&self) -> Vec<String> {
        // A reply comes after all earlier events.
        let (name, title) = (self.screen.atom("_NET_WM_NAME"), self.screen.title(self.id));
        let events = std::iter::from_fn(|| self.connection().poll_for_event().unwrap());
        let changes = events.filter(|event| matches!(event, Event::PropertyNotify(event) if event.atom == name));
        changes.filter_map(|_| title.clone()).collect()
    }

    /// Waits until the title has changed this many times, and returns the titles that have arrived until then.
    pub fn titles_until_answered(&self, changes: usize) -> Vec<String> {
        let awaited: Vec<String> = (0..changes).map(|_| self.wait_for_title(|_| true)).collect();
        [awaited, self.arrived_titles()].concat()
    }

    /// Waits until all previous requests are drawn. The first change of the title may come from earlier frames.
    pub fn wait_for_frames(&self) {
        self.arrived_titles();
        for _ in 0..2 {
            self.wait_for_title(|_| true);
        }
    }

    pub fn resize(&self, (width, height): (u32, u32)) {
        let size = xproto::ConfigureWindowAux::new().width(width).height(height);
        self.connection().configure_window(self.id, &size).unwrap().check().unwrap();
    }

    pub fn wait_for_size(&self, size: (u32, u32)) {
        let is_size = |width: u16, height: u16| (u32::from(width), u32::from(height)) == size;
        while !matches!(self.next_event(), Event::ConfigureNotify(event) if is_size(event.width, event.height)) {}
    }

    /// Gives the window the focus, and with it the keys. There is no window manager to do this.
    pub fn focus(&self) {
        let revert_to = xproto::InputFocus::POINTER_ROOT;
        self.connection().set_input_focus(revert_to, self.id, CURRENT_TIME).unwrap().check().unwrap();
    }

    pub fn press(&self, key: Key) {
        self.press_all(&[key]);
    }

    pub fn pause(&self) -> String {
        self.press(Key::SPACE);
        self.wait_for_title(|title| title.contains(" · paused at "))
    }

    /// Presses a key while another one is held.
    pub fn press_with(&self, held: Key, key: Key) {
        self.press_all(&[held, key]);
    }

    /// Presses keys, and then releases them.
    fn press_all(&self, keys: &[Key]) {
        let setup = self.connection().setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let mapping = self.connection().get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap();
        let rows = mapping.keysyms.chunks(usize::from(mapping.keysyms_per_keycode));
        let code = |key: &Key| first + rows.clone().position(|row| row[0] == key.0).expect("no such key") as u8;
        let codes: Vec<u8> = keys.iter().map(code).collect();
        for kind in [xproto::KEY_PRESS_EVENT, xproto::KEY_RELEASE_EVENT] {
            codes.iter().for_each(|&code| self.screen.fake_input(kind, code, (0, 0)));
        }
    }

    pub fn click(&self, point: (i16, i16)) {
        self.drag(point, point);
    }

    /// Drags from one point of the window, which is at the upper left corner of the screen, to another.
    pub fn drag(&self, from: (i16, i16), to: (i16, i16)) {
        const LEFT: u8 = 1;
        for (point, kind) in [(from, xproto::BUTTON_PRESS_EVENT), (to, xproto::BUTTON_RELEASE_EVENT)] {
            self.screen.fake_input(xproto::MOTION_NOTIFY_EVENT, 0, point);
            self.screen.fake_input(kind, LEFT, (0, 0));
        }
    }

    /// Drops a file on the window, with the messages of a file manager (XDND, version 5).
    pub fn drop_file(&self, path: &std::path::Path) {
        let connection = self.connection();
        let [selection, list] = ["XdndSelection", "text/uri-list"].map(|name| self.screen.atom(name));
        let source = self.screen.root;
        self.tell("XdndEnter", [source, 5 << 24, list, 0, 0]);
        self.tell("XdndPosition", [source, 0, 0, CURRENT_TIME, self.screen.atom("XdndActionCopy")]);
        // The list of files, as if the source had been asked for it.
        let files = format!("file://{}\r\n", path.display());
        let mode = xproto::PropMode::REPLACE;
        let bytes = files.as_bytes();
        let changed = connection.change_property(mode, self.id, selection, list, 8, bytes.len() as u32, bytes);
        changed.unwrap().check().unwrap();
        let notify = xproto::SelectionNotifyEvent {
            response_type: xproto::SELECTION_NOTIFY_EVENT,
            requestor: self.id,
            selection,
            target: list,
            property: selection,
            ..Default::default()
        };
        self.screen.send(self.id, EventMask::NO_EVENT, notify);
        self.tell("XdndDrop", [source, 0, CURRENT_TIME, 0, 0]);
    }

    /// Sends the message of a window manager's close button.
    pub fn ask_to_close(&self) {
        self.tell("WM_PROTOCOLS", [self.screen.atom("WM_DELETE_WINDOW"), CURRENT_TIME, 0, 0, 0]);
    }

    pub fn destroy(&self) {
        self.connection().destroy_window(self.id).unwrap().check().unwrap();
    }

    /// Asks the window manager to minimise the window (ICCCM, 4.1.4).
    pub fn minimize(&self) {
        const ICONIC_STATE: u32 = 3;
        self.ask_manager(self.id, "WM_CHANGE_STATE", ICONIC_STATE);
        self.wait_until_mapped(false);
    }

    /// Asks the window manager to show the window again, as a taskbar does.
    pub fn restore(&self) {
        const FROM_A_PAGER: u32 = 2;
        self.ask_manager(self.id, "_NET_ACTIVE_WINDOW", FROM_A_PAGER);
        self.wait_until_mapped(true);
    }

    /// Waits until the window is shown or hidden.
    fn wait_until_mapped(&self, is_mapped: bool) {
        let is_awaited = |event| match event {
            Event::MapNotify(event) => is_mapped && event.window == self.id,
            Event::UnmapNotify(event) => !is_mapped && event.window == self.id,
            _ => false,
        };
        while !is_awaited(self.next_event()) {}
    }

    /// Asks the window manager to show a desktop. The window is on desktop 0.
    pub fn show_desktop(&self, number: u32) {
        self.ask_manager(self.screen.root, "_NET_CURRENT_DESKTOP", number);
        self.wait_until_mapped(number == 0);
    }

    /// Covers the whole screen with a white window that no manager moves. Returns it for [`Self::uncover`].
    pub fn cover(&self) -> xproto::Window {
        let (connection, cover) = (self.connection(), self.connection().generate_id().unwrap());
        let (width, height) = (SIZE.0 as u16, SIZE.1 as u16);
        let white = xproto::CreateWindowAux::new().background_pixel(0xff_ffff).override_redirect(1);
        let class = xproto::WindowClass::INPUT_OUTPUT;
        let created =
            connection.create_window(0, cover, self.screen.root, 0, 0, width, height, 0, class, 0, &white).unwrap();
        created.check().unwrap();
        connection.map_window(cover).unwrap().check().unwrap();
        cover
    }

    pub fn uncover(&self, cover: xproto::Window) {
        self.connection().destroy_window(cover).unwrap().check().unwrap();
    }

    fn tell(&self, name: &str, data: [u32; 5]) {
        let message = xproto::ClientMessageEvent::new(32, self.id, self.screen.atom(name), data);
        self.screen.send(self.id, EventMask::NO_EVENT, message);
    }

    /// Asks for something that concerns a window, or the root window for the whole screen.
    fn ask_manager(&self, about: xproto::Window, name: &str, first: u32) {
        let listeners = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let data = [first, CURRENT_TIME, 0, 0, 0];
        let message = xproto::ClientMessageEvent::new(32, about, self.screen.atom(name), data);
        self.screen.send(self.screen.root, listeners, message);
    }

    /// Returns whether the window manager says that the window fills the screen.
    pub fn is_full_screen(&self) -> bool {
        let [states, full] = ["_NET_WM_STATE", "_NET_WM_STATE_FULLSCREEN"].map(|name| self.screen.atom(name));
        self.screen.ids(self.id, states, AtomEnum::ATOM).contains(&full)
    }

    pub fn picture(&self) -> Picture {
        let connection = self.connection();
        let xproto::GetGeometryReply { width, height, .. } = connection.get_geometry(self.id).unwrap().reply().unwrap();
        let format = xproto::ImageFormat::Z_PIXMAP;
        let image = connection.get_image(format, self.id, 0, 0, width, height, u32::MAX).unwrap().reply().unwrap();
        let (width, height, pixels) = (width.into(), height.into(), image.data.as_chunks().0.to_vec());
        assert_eq!(pixels.len(), width * height);
        Picture { width, height, pixels }
    }
}

/// The pixels from the top left, in the server's format.
#[derive(PartialEq)]
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Picture {
    /// Returns the pixels from the top left: red, green, blue and an opaque alpha.
    pub fn rgba(&self) -> impl Iterator<Item = [u8; 4]> {
        self.pixels.iter().map(|&[blue, green, red, _]| [red, green, blue, 255])
    }

    pub fn color_count(&self) -> usize {
        self.pixels.iter().collect::<HashSet<_>>().len()
    }

    /// Returns the number of pixels of nearly this colour: red, green, blue.
    pub fn count_of(&self, color: [u8; 3]) -> usize {
        const TOLERANCE: u8 = 6;
        let is_near = |pixel: &[u8; 4]| (0..3).all(|channel| pixel[channel].abs_diff(color[channel]) <= TOLERANCE);
        self.rgba().filter(is_near).count()
    }

    pub fn corner(&self, size: usize) -> Self {
        let rows = self.pixels.chunks(self.width).skip(self.height - size);
        let pixels = rows.flat_map(|row| &row[self.width - size..]).copied().collect();
        Self { width: size, height: size, pixels }
    }
}

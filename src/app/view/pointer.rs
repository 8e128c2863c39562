//! Mouse, touchpad and keyboard: how they move the camera, and the names of keys.
//!
//! In: winit's events, and the time between frames. Out: movements of the camera. Lengths are shares of the window's
//! height, so that movements feel the same on any display.

use std::collections::HashSet;

use glam::{Vec2, Vec3};
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton};
use winit::keyboard::{Key, KeyCode, ModifiersState, NamedKey, PhysicalKey};

use crate::cli::Size;
use crate::cli::keys::{self, Action};
use crate::view::OrbitCamera;

/// The camera's turn for a drag over the whole height of the window.
const RADIANS_PER_HEIGHT: f32 = std::f32::consts::PI;
/// A press and a release that are closer are a click.
const CLICK_PIXELS: f64 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drag {
    Orbit,
    Pan,
    LookAround,
}

/// The buttons and keys that are held, and the position of the cursor.
#[derive(Default)]
pub struct Pointer {
    drag: Option<Drag>,
    /// Where the left button was pressed, unless the cursor has moved away since.
    click: Option<PhysicalPosition<f64>>,
    last: Option<PhysicalPosition<f64>>,
    pub modifiers: ModifiersState,
    held: HashSet<KeyCode>,
}

/// The keys that fly: right, up and forward for each.
const FLIGHT: [(KeyCode, Vec3); 6] = [
    (KeyCode::KeyW, Vec3::Z),
    (KeyCode::KeyS, Vec3::NEG_Z),
    (KeyCode::KeyD, Vec3::X),
    (KeyCode::KeyA, Vec3::NEG_X),
    (KeyCode::KeyE, Vec3::Y),
    (KeyCode::KeyQ, Vec3::NEG_Y),
];

impl Pointer {
    /// Returns the action of a key, with the modifier keys that are held. Keys with Alt or Super are the desktop's.
    pub fn action(&self, name: &str) -> Option<(Action, usize)> {
        let modifiers = self.modifiers;
        match modifiers - ModifiersState::SHIFT {
            ModifiersState::CONTROL => keys::action(&format!("Ctrl {name}")),
            held if !held.is_empty() => None,
            _ if modifiers.shift_key() => keys::action(&format!("Shift {name}")).or_else(|| keys::action(name)),
            _ => keys::action(name),
        }
    }

    /// Notes that a button was pressed or released. Returns true at the end of a click with the left button.
    pub fn press(&mut self, button: MouseButton, state: ElementState) -> bool {
        let drag = match button {
            MouseButton::Left if self.modifiers.shift_key() => Drag::Pan,
            MouseButton::Left => Drag::Orbit,
            MouseButton::Middle => Drag::Pan,
            MouseButton::Right => Drag::LookAround,
            _ => return false,
        };
        if state == ElementState::Pressed {
            self.drag = Some(drag);
            self.click = self.last.filter(|_| drag == Drag::Orbit);
            return false;
        }
        self.drag = None;
        self.click.take().is_some()
    }

    /// Moves the camera if a button is held. Returns whether it has.
    pub fn moved(&mut self, position: PhysicalPosition<f64>, size: Size, camera: &mut OrbitCamera) -> bool {
        let is_near = |press: &PhysicalPosition<f64>| (position.x - press.x).hypot(position.y - press.y) < CLICK_PIXELS;
        self.click = self.click.filter(is_near);
        let (Some(last), Some(drag)) = (self.last.replace(position), self.drag) else { return false };
        let height = f64::from(size.height.max(1));
        let right = ((position.x - last.x) / height) as f32;
        let down = ((position.y - last.y) / height) as f32;
        match drag {
            _ if self.click.is_some() => return false,
            Drag::Orbit => camera.orbit(-right * RADIANS_PER_HEIGHT, down * RADIANS_PER_HEIGHT),
            Drag::Pan => camera.pan(-right, down),
            Drag::LookAround => {
                camera.free_limits();
                camera.look_around(-right * 0.5 * RADIANS_PER_HEIGHT, down * 0.5 * RADIANS_PER_HEIGHT);
            }
        }
        true
    }

    /// Returns the cursor: (0, 0) is upper left in the window, and (1, 1) lower right. The middle if it was never inside.
    pub fn cursor(&self, size: Size) -> Vec2 {
        let share = |at: f64, size: u32| (at / f64::from(size.max(1))).clamp(0.0, 1.0) as f32;
        self.last.map_or(Vec2::splat(0.5), |last| Vec2::new(share(last.x, size.width), share(last.y, size.height)))
    }

    /// Notes that a key was pressed or released. Returns whether it is one that flies.
    pub fn flight_key(&mut self, key: PhysicalKey, state: ElementState) -> bool {
        let PhysicalKey::Code(code) = key else { return false };
        let is_plain = (self.modifiers - ModifiersState::SHIFT).is_empty();
        if !FLIGHT.iter().any(|&(key, _)| key == code) || !is_plain && state == ElementState::Pressed {
            return false;
        }
        match state {
            ElementState::Pressed => self.held.insert(code),
            ElementState::Released => self.held.remove(&code),
        };
        true
    }

    /// Releases everything, for example because another window has the keys now.
    pub fn release_all(&mut self) {
        self.held.clear();
        (self.drag, self.click) = (None, None);
    }

    pub fn is_flying(&self) -> bool {
        !self.held.is_empty()
    }

    /// Moves the camera by the keys that are held, for a frame of this length.
    pub fn fly(&self, seconds: f32, camera: &mut OrbitCamera) {
        /// The speed: this many times the distance of the target in a second.
        const SPEED: f32 = 0.8;
        let speed = if self.modifiers.shift_key() { 4.0 * SPEED } else { SPEED };
        let held = FLIGHT.into_iter().filter(|(key, _)| self.held.contains(key));
        let way = held.map(|(_, step)| step).sum::<Vec3>() * speed * seconds.min(0.1);
        camera.free_limits();
        camera.fly(way.x, way.y, way.z);
    }
}

/// Returns the name of a key: the capital of its letter, or winit's name, which is that of the web. Only Escape is shorter.
pub fn key_name(key: &Key) -> Option<String> {
    match key {
        Key::Character(text) => Some(text.to_uppercase()),
        Key::Named(NamedKey::Escape) => Some("Esc".to_owned()),
        Key::Named(named) => Some(format!("{named:?}")),
        _ => None,
    }
}

//! The camera's moves: jumps that the eye can follow, and the way back.
//!
//! In: the camera after each frame's input. Out: the camera that the frame shows, and the cameras before earlier moves. A
//! drag or a turn of the wheel lasts for many frames and is one move.

use std::f32::consts::{PI, TAU};
use std::time::{Duration, Instant};

use crate::view::OrbitCamera;

/// The time that a jump takes.
const EASE: Duration = Duration::from_millis(150);
/// Movements by hand with shorter pauses are one move.
const PAUSE: Duration = Duration::from_millis(400);
/// The number of moves that can be undone.
const MOST_KEPT: usize = 100;

#[derive(Debug)]
pub struct Moves {
    before: Vec<OrbitCamera>,
    /// The camera in the last frame, where moves lead.
    last: OrbitCamera,
    /// When `last` was another camera. A jump ends the move.
    moved: Option<Instant>,
    /// The camera that was shown when a jump began.
    eased: Option<(OrbitCamera, Instant)>,
}

impl Moves {
    pub fn new(camera: OrbitCamera) -> Self {
        Self { before: Vec::new(), last: camera, moved: None, eased: None }
    }

    /// Notes that the camera was placed anew, for a window of another shape. That is no move.
    pub fn placed(&mut self, camera: OrbitCamera) {
        self.last = camera;
    }

    /// Notes that the camera jumps now, from where it is shown.
    pub fn jump(&mut self, now: Instant) {
        self.eased = Some((self.shown(now), now));
        self.moved = None;
    }

    /// Takes the camera of a frame, and returns the one to show.
    pub fn follow(&mut self, camera: OrbitCamera, now: Instant) -> OrbitCamera {
        if camera != self.last {
            if self.moved.is_none_or(|moved| now.saturating_duration_since(moved) > PAUSE) {
                if self.before.len() == MOST_KEPT {
                    self.before.remove(0);
                }
                self.before.push(self.last);
            }
            self.last = camera;
            self.moved = Some(now);
        }
        self.shown(now)
    }

    /// Returns the camera before the last move, which is then forgotten.
    pub fn back(&mut self, now: Instant) -> Option<OrbitCamera> {
        let before = self.before.pop()?;
        self.jump(now);
        self.last = before;
        Some(before)
    }

    /// Returns whether a jump goes on.
    pub fn is_moving(&self, now: Instant) -> bool {
        self.eased.is_some_and(|(_, since)| now.saturating_duration_since(since) < EASE)
    }

    fn shown(&self, now: Instant) -> OrbitCamera {
        let Some((from, since)) = self.eased.filter(|_| self.is_moving(now)) else { return self.last };
        let share = now.saturating_duration_since(since).as_secs_f32() / EASE.as_secs_f32();
        between(&from, &self.last, share * share * (3.0 - 2.0 * share))
    }
}

/// Returns the camera at a share of the way from one to another. It turns the short way, and comes closer evenly.
fn between(from: &OrbitCamera, to: &OrbitCamera, share: f32) -> OrbitCamera {
    let mix = |from: f32, to: f32| from + (to - from) * share;
    let turn = (to.yaw_radians - from.yaw_radians + PI).rem_euclid(TAU) - PI;
    OrbitCamera {
        target: from.target.lerp(to.target, share),
        distance: from.distance * (to.distance / from.distance).powf(share),
        yaw_radians: from.yaw_radians + turn * share,
        pitch_radians: mix(from.pitch_radians, to.pitch_radians),
        vertical_fov_radians: mix(from.vertical_fov_radians, to.vertical_fov_radians),
        target_x: mix(from.target_x, to.target_x),
        ..*to
    }
}

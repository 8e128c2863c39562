//! The window's title: models, visible instances, clip, debug view, and frame time or pause.

use std::time::{Duration, Instant};

use winit::window::Window;

use super::state::State;
use crate::view::DebugView;

/// Counts frames between two changes of the title.
pub struct Title {
    since: Instant,
    frames: u32,
}

impl Title {
    /// Starts counting.
    pub fn new() -> Self {
        Self { since: Instant::now(), frames: 0 }
    }

    /// Counts a presented frame. Changes the title four times a second, and after each frame while the animation is paused.
    pub fn count(&mut self, window: &Window, state: &State) {
        const PERIOD: Duration = Duration::from_millis(250);
        self.frames += 1;
        let elapsed = self.since.elapsed();
        let is_paused = state.clock.is_paused();
        if elapsed < PERIOD && !is_paused {
            return;
        }
        let frame_ms = elapsed.as_secs_f64() * 1e3 / f64::from(self.frames);
        let pace = match is_paused {
            true => format!("paused at {:.3} s", state.clock.time_seconds()),
            false => format!("{frame_ms:.1} ms ({:.0} fps)", 1e3 / frame_ms),
        };
        window.set_title(&text(state, &pace));
        *self = Self::new();
    }
}

fn text(state: &State, pace: &str) -> String {
    let scene = &state.scene;
    let names: Vec<&str> = scene.models.iter().map(|model| model.name.as_str()).collect();
    let visible: u32 = scene.crowd.visible_counts().iter().sum();
    let view = match scene.visualization.view {
        DebugView::Lit => String::new(),
        view => format!(" · {}", view.name()),
    };
    format!("Throng: {} · {visible} visible · {}{view} · {pace}", names.join(" + "), state.clip_name())
}

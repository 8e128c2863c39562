//! The words of title and panel: models and pace, the last frame, the device, the selected character, and the joint pointed at.

use std::time::{Duration, Instant};

use glam::Vec2;
use winit::window::Window;

use super::state::{State, clip_name};
use crate::app::joint::joints;
use crate::app::scene::Scene;
use crate::app::text::{counted, format_bytes, number, thousands};
use crate::crowd::ShownInstance;
use crate::extras::DebugView;
use crate::renderer::Renderer;

/// The window's title. Counts frames between two changes.
pub struct Title {
    since: Instant,
    frames: u32,
}

impl Title {
    pub fn new() -> Self {
        Self { since: Instant::now(), frames: 0 }
    }

    /// Counts a presented frame. Changes the title four times a second, and after each frame while nothing moves.
    pub fn count(&mut self, window: &Window, state: &State) {
        const PERIOD: Duration = Duration::from_millis(250);
        self.frames += 1;
        let elapsed = self.since.elapsed();
        let is_moving = state.is_moving();
        if elapsed < PERIOD && is_moving {
            return;
        }
        let frame_ms = elapsed.as_secs_f64() * 1e3 / f64::from(self.frames);
        let pace = match (state.clock.is_paused(), is_moving) {
            (true, _) => format!("paused at {:.3} s", state.clock.time_seconds()),
            (false, true) => format!("{frame_ms:.1} ms ({:.0} fps)", 1e3 / frame_ms),
            (false, false) => "nothing moves".to_owned(),
        };
        let scene = &state.scene;
        let names = scene.models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(" + ");
        let visible: u32 = scene.crowd.visible_counts().iter().sum();
        let view = match scene.show.view {
            DebugView::Lit => String::new(),
            view => format!(" · {}", view.name()),
        };
        window.set_title(&format!("Throng: {names} · {visible} visible · {}{view} · {pace}", state.clip_name()));
        *self = Self::new();
    }
}

/// Describes the last frame and the device. `frame_ms` is the time of a frame, or `None` before the first one.
pub fn frame_and_device(instances: usize, renderer: &Renderer, frame_ms: Option<f64>) -> Vec<String> {
    let counts = renderer.draw_counts();
    let bytes = renderer.byte_counts();
    let mut lines = Vec::new();
    if let Some(frame_ms) = frame_ms {
        lines.push(format!("{} ms, {:.0} frames/s (median)", number(frame_ms), 1e3 / frame_ms.max(1e-3)));
        lines.push(format!(
            "{} of {} in view, {} triangles",
            thousands(counts.camera.instances),
            thousands(instances as u64),
            thousands(counts.camera.triangles)
        ));
    }
    if counts.skinned_vertices > 0 {
        lines.push(format!("{} vertices skinned by skin.comp", thousands(counts.skinned_vertices)));
    }
    let (all, models) = (format_bytes(bytes.total_device), format_bytes(bytes.static_data));
    lines.push(format!("{all} of device memory, {models} of it models"));
    lines.push(renderer.device().physical.name.clone());
    lines
}

pub fn instance(scene: &Scene, shown: &ShownInstance) -> Vec<String> {
    let Some(model) = scene.models.get(shown.model as usize) else { return Vec::new() };
    let clip = shown.clip.and_then(|index| Some((index as usize, model.clips.get(index as usize)?)));
    let playing = match clip {
        Some((index, clip)) => format!(
            "{}\nat {:.2} of {:.2} s, phase {:.2}",
            clip_name(index, clip),
            shown.clip_seconds,
            clip.duration_seconds,
            shown.phase
        ),
        None => "rest pose".to_owned(),
    };
    let level = match shown.level {
        Some(0) => "full detail".to_owned(),
        Some(level) => format!("level of detail {level}"),
        None => "out of view".to_owned(),
    };
    vec![
        format!("{}, instance {}", model.name, shown.number),
        playing,
        format!("pose {}, {}, {level}", shown.pose, counted(joints(model).len(), "joint")),
    ]
}

/// Returns the character whose joints have names under the cursor: the selected one, if the skeleton is shown.
pub fn character_with_names(state: &State) -> Option<ShownInstance> {
    state.selected().filter(|_| state.scene.show.bones)
}

/// Returns the name of the joint whose place in the image is nearest to a point in pixels, if it is near.
pub fn joint_at(state: &State, point_pixels: Vec2, size_pixels: Vec2) -> Option<String> {
    const NEAR_PIXELS: f32 = 14.0;
    let shown = character_with_names(state)?;
    let scene = &state.scene;
    let model = scene.models.get(shown.model as usize)?;
    let mut positions = Vec::new();
    scene.crowd.node_positions(shown.number, state.clock.time_seconds(), &mut positions);
    let clip_from_world = scene.camera.clip_from_world(size_pixels.x / size_pixels.y);
    let distance = |node: u32| {
        let clip = clip_from_world * positions.get(node as usize)?.extend(1.0);
        let at = Vec2::new(0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w) * size_pixels;
        (clip.w > 0.0).then(|| (at.distance(point_pixels), node))
    };
    let near = joints(model).into_iter().filter_map(distance).filter(|&(distance, _)| distance < NEAR_PIXELS);
    let (_, node) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
    model.skeleton.names.get(node as usize).cloned()
}

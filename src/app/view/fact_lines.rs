//! The lines at the end of the panel: the last frame and the device, in words.

use crate::app::text::{number, thousands};
use crate::renderer::Renderer;
use crate::renderer::memory::format_bytes;

/// Describes the last frame and the device. `frame_ms` is the time of a frame, or `None` before the first one.
pub fn fact_lines(instances: usize, renderer: &Renderer, frame_ms: Option<f64>) -> Vec<String> {
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
    lines.extend([
        format!(
            "{} of device memory, {} of it models",
            format_bytes(bytes.total_device),
            format_bytes(bytes.static_data)
        ),
        renderer.device().physical.name.clone(),
    ]);
    lines
}

//! A line of text at the lower edge of an image that is not a window's.

use anyhow::Result;
use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, Context, FontId, RawInput, Rect, pos2, vec2};

use super::paint::{fill, send_letters};
use crate::extras::Equipped;

/// The height of letters as a share of the image's height, and the least height in pixels.
const SIZE_SHARE: f32 = 0.07;
const LEAST_PIXELS: f32 = 11.0;

#[derive(Default)]
pub struct Labels {
    context: Context,
}

impl Labels {
    /// Shows a text in the next frame of a renderer with images of this size: light, with a dark edge, and shortened to fit.
    pub fn show(&mut self, text: &str, renderer: &mut Equipped, image_size: [u32; 2]) -> Result<()> {
        let [width, height] = image_size.map(|side| side as f32);
        let font = FontId::proportional((SIZE_SHARE * height).max(LEAST_PIXELS).round());
        let screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height)));
        let corner = pos2(0.4 * font.size, height - 0.3 * font.size);
        let mut output = self.context.run_ui(RawInput { screen_rect, ..RawInput::default() }, |ui| {
            let edges = [(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)]
                .map(|(x, y)| (vec2(x, y), Color32::from_black_alpha(150)));
            for (offset, color) in edges.into_iter().chain([(vec2(0.0, 0.0), Color32::WHITE)]) {
                let mut job = LayoutJob::simple_singleline(text.to_owned(), font.clone(), color);
                job.wrap = TextWrapping::truncate_at_width(width - 2.0 * corner.x);
                let painter = ui.ctx().debug_painter();
                let galley = painter.layout_job(job);
                painter.galley(corner + offset - vec2(0.0, galley.size().y), galley, color);
            }
        });
        output.textures_delta.clear();
        let primitives = self.context.tessellate(output.shapes, output.pixels_per_point);
        fill(renderer.overlay_mut(), &primitives, output.pixels_per_point, image_size);
        send_letters(&self.context, renderer)
    }
}

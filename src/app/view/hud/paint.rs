//! From egui's shapes to the overlay.
//!
//! In: egui's triangles and changes of its one texture, the atlas of letters. Out: [`Triangles`] in pixels, and the atlas.

use std::ops::Range;

use ash::vk;
use egui::epaint::{ImageData, ImageDelta, Primitive};
use egui::{ClippedPrimitive, TextureId, TexturesDelta};

use crate::extras::{OverlayDraw, OverlayVertex, Triangles};

/// The atlas of letters, as egui has described it so far.
#[derive(Debug, Default)]
pub struct Atlas {
    size: [u32; 2],
    rgba: Vec<u8>,
    /// The rows that the renderer does not have yet.
    changed_rows: Range<u32>,
}

impl Atlas {
    /// Applies egui's changes. Only the atlas itself is kept: the panel has no other images.
    pub fn apply(&mut self, mut delta: TexturesDelta) {
        delta.free.clear();
        for (id, deltas) in std::mem::take(&mut delta.set) {
            if id == TextureId::default() {
                deltas.iter().for_each(|delta| self.apply_one(delta));
            }
        }
    }

    fn apply_one(&mut self, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size;
        let [left, top] = delta.pos.unwrap_or_default();
        if delta.pos.is_none() {
            self.size = [width as u32, height as u32];
            self.rgba = vec![0; 4 * width * height];
            self.changed_rows = 0..height as u32;
        }
        let row_bytes = 4 * self.size[0] as usize;
        for (row, pixels) in (top..).zip(image.pixels.chunks_exact(width.max(1))) {
            let start = row * row_bytes + 4 * left;
            if let Some(texels) = self.rgba.get_mut(start..start + 4 * width) {
                let (row, rows) = (row as u32, &self.changed_rows);
                self.changed_rows =
                    if rows.is_empty() { row..row + 1 } else { rows.start.min(row)..rows.end.max(row + 1) };
                for (texel, pixel) in texels.chunks_exact_mut(4).zip(pixels) {
                    texel.copy_from_slice(&pixel.to_array());
                }
            }
        }
    }

    /// Returns the size, the texels and the changed rows if the renderer does not have all of them.
    pub fn changed(&self) -> Option<([u32; 2], &[u8], Range<u32>)> {
        (!self.changed_rows.is_empty()).then(|| (self.size, &self.rgba[..], self.changed_rows.clone()))
    }

    /// Notes whether the renderer has the atlas.
    pub fn set_uploaded(&mut self, is_uploaded: bool) {
        self.changed_rows = if is_uploaded { 0..0 } else { 0..self.size[1] };
    }
}

/// Replaces an overlay by egui's triangles. Their positions are in points.
pub fn fill(overlay: &mut Triangles, primitives: &[ClippedPrimitive], pixels_per_point: f32, image_size: [u32; 2]) {
    overlay.clear();
    for ClippedPrimitive { clip_rect, primitive } in primitives {
        // Nothing in the panel uses callbacks.
        let Primitive::Mesh(mesh) = primitive else { continue };
        let Some(clip) = clip(*clip_rect, pixels_per_point, image_size) else { continue };
        let first = overlay.vertices.len() as u32;
        overlay.vertices.extend(mesh.vertices.iter().map(|vertex| OverlayVertex {
            position_pixels: [vertex.pos.x * pixels_per_point, vertex.pos.y * pixels_per_point],
            tex_coords: [vertex.uv.x, vertex.uv.y],
            color_unorm8: u32::from_le_bytes(vertex.color.to_array()),
        }));
        overlay.indices.extend(mesh.indices.iter().map(|index| first + index));
        overlay.draws.push(OverlayDraw { clip, index_count: mesh.indices.len() as u32 });
    }
}

/// Returns the part of an image that a rectangle covers, or `None` if it is empty.
pub fn clip(rect: egui::Rect, pixels_per_point: f32, [width, height]: [u32; 2]) -> Option<vk::Rect2D> {
    // Conversion to an integer saturates, and makes 0 of NaN.
    let edge = |points: f32, most: u32| ((points * pixels_per_point).round() as u32).min(most);
    let (left, right) = (edge(rect.min.x, width), edge(rect.max.x, width));
    let (top, bottom) = (edge(rect.min.y, height), edge(rect.max.y, height));
    (right > left && bottom > top).then(|| vk::Rect2D {
        offset: vk::Offset2D { x: left as i32, y: top as i32 },
        extent: vk::Extent2D { width: right - left, height: bottom - top },
    })
}

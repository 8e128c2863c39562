//! From egui's shapes to the renderer's overlay.
//!
//! In: egui's triangles and changes of its one texture, the atlas of letters. Out: an [`Overlay`] in pixels, and the atlas.

use std::ops::Range;

use ash::vk;
use egui::epaint::{ImageData, ImageDelta, Primitive};
use egui::{ClippedPrimitive, TextureId, TexturesDelta};

use crate::renderer::{Overlay, OverlayDraw};
use crate::shader_types::OverlayVertex;

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
        for (row, pixels) in image.pixels.chunks_exact(width.max(1)).enumerate() {
            let start = (top + row) * row_bytes + 4 * left;
            if let Some(texels) = self.rgba.get_mut(start..start + 4 * width) {
                let row = (top + row) as u32;
                let rows = &self.changed_rows;
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
pub fn fill(overlay: &mut Overlay, primitives: &[ClippedPrimitive], pixels_per_point: f32, image_size: [u32; 2]) {
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
fn clip(rect: egui::Rect, pixels_per_point: f32, [width, height]: [u32; 2]) -> Option<vk::Rect2D> {
    // Conversion to an integer saturates, and makes 0 of NaN.
    let edge = |points: f32, most: u32| ((points * pixels_per_point).round() as u32).min(most);
    let (left, right) = (edge(rect.min.x, width), edge(rect.max.x, width));
    let (top, bottom) = (edge(rect.min.y, height), edge(rect.max.y, height));
    (right > left && bottom > top).then(|| vk::Rect2D {
        offset: vk::Offset2D { x: left as i32, y: top as i32 },
        extent: vk::Extent2D { width: right - left, height: bottom - top },
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::{Color32, ColorImage, Mesh, Rect, TextureOptions, pos2};

    use super::*;

    #[test]
    fn clips_stay_inside_the_image() {
        let part = |left, top, right, bottom| {
            clip(Rect::from_min_max(pos2(left, top), pos2(right, bottom)), 2.0, [100, 50])
                .map(|rect| (rect.offset.x, rect.offset.y, rect.extent.width, rect.extent.height))
        };
        assert_eq!(part(1.0, 2.0, 3.0, 4.0), Some((2, 4, 4, 4)));
        assert_eq!(part(-5.0, f32::NEG_INFINITY, 1e9, f32::INFINITY), Some((0, 0, 100, 50)));
        assert_eq!(part(60.0, 0.0, 70.0, 10.0), None);
        assert_eq!(part(f32::NAN, 0.0, f32::NAN, 10.0), None);
    }

    #[test]
    fn parts_of_the_atlas_replace_texels() {
        let mut atlas = Atlas::default();
        let delta = |size: [usize; 2], color, pos: Option<[usize; 2]>| {
            let image = ImageData::Color(Arc::new(ColorImage::filled(size, color)));
            let mut changes = TexturesDelta::default();
            changes.push(TextureId::default(), ImageDelta { image, options: TextureOptions::LINEAR, pos });
            changes
        };
        atlas.apply(delta([3, 2], Color32::BLACK, None));
        atlas.apply(delta([2, 1], Color32::WHITE, Some([1, 1])));
        // A part that would lie outside is ignored.
        atlas.apply(delta([2, 9], Color32::RED, Some([0, 2])));
        let (size, rgba, rows) = atlas.changed().unwrap();
        let red: Vec<u8> = rgba.chunks(4).map(|texel| texel[0]).collect();
        assert_eq!((size, red, rows), ([3, 2], vec![0, 0, 0, 0, 255, 255], 0..2));
        atlas.set_uploaded(true);
        assert_eq!(atlas.changed(), None);
        atlas.apply(delta([1, 1], Color32::WHITE, Some([0, 1])));
        assert_eq!(atlas.changed().unwrap().2, 1..2);
    }

    #[test]
    fn indices_of_all_meshes_refer_to_one_list() {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::from_rgb(1, 2, 3));
        let visible = Rect::from_min_max(pos2(0.0, 0.0), pos2(9.0, 9.0));
        let primitive = |clip_rect| ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh.clone()) };
        let mut overlay = Overlay::default();
        fill(&mut overlay, &[primitive(visible), primitive(Rect::NOTHING), primitive(visible)], 2.0, [9, 9]);
        assert_eq!((overlay.vertices.len(), overlay.indices.len(), overlay.draws.len()), (8, 12, 2));
        assert_eq!((overlay.indices.iter().min(), overlay.indices.iter().max()), (Some(&0), Some(&7)));
        assert_eq!(overlay.vertices[0].color_unorm8, 0xff03_0201);
        assert!(overlay.vertices.iter().all(|vertex| vertex.position_pixels.iter().all(|x| [0.0, 2.0].contains(x))));
    }
}

//! From egui's shapes to the overlay.
//!
//! In: egui's triangles, in points, and its letters. Out: [`Triangles`] in pixels, and a renderer's atlas.

use anyhow::Result;
use ash::vk;
use egui::epaint::Primitive;
use egui::{ClippedPrimitive, Color32, Context};

use crate::extras::{Equipped, OverlayDraw, OverlayVertex, Triangles};

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

pub fn send_letters(context: &Context, renderer: &mut Equipped) -> Result<()> {
    let atlas = context.fonts(|fonts| fonts.image());
    let size = atlas.size.map(|texels| texels as u32);
    let rgba: Vec<u8> = atlas.pixels.iter().flat_map(Color32::to_array).collect();
    Ok(renderer.set_overlay_atlas(size, &rgba)?)
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

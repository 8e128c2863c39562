//! The size of a model on the device, computed before anything is uploaded.

use super::texture::texture_bytes;
use crate::model::{Geometry, Model};
use crate::shader_types::{BindVertex, GpuInfluence, GpuMorphDelta, StaticVertex};

/// Returns the size of the static geometry and the textures of a model on the device.
pub fn static_bytes(model: &Model) -> u64 {
    let textures = model.images.iter().map(|image| texture_bytes(image.width, image.height));
    geometry_bytes(&model.geometry) + textures.sum::<u64>()
}

/// Returns the size of the static geometry of a model on the device, with all levels of detail. Their copies are left out: a
/// few kilobytes, on GPUs alone.
pub fn geometry_bytes(geometry: &Geometry) -> u64 {
    let own_levels = || geometry.levels().filter_map(|(vertex_count, own)| Some((vertex_count as usize, own?)));
    let bind_vertices = geometry.vertex_count() + own_levels().map(|(vertex_count, _)| vertex_count).sum::<usize>();
    let vertices = bind_vertices * size_of::<BindVertex>() + geometry.vertex_count() * size_of::<StaticVertex>();
    let own_influences: usize = own_levels().map(|(_, (_, influences))| influences.len()).sum();
    let influences = (geometry.influences.len() + own_influences) * size_of::<GpuInfluence>();
    let morph_deltas = geometry.morph_deltas.len() * size_of::<GpuMorphDelta>();
    // Tangents are packed. Their morph deltas have three numbers, and exist only if there are tangents.
    let has_tangents = usize::from(!geometry.tangents.is_empty());
    let tangents =
        geometry.tangents.len() * size_of::<u32>() + has_tangents * geometry.morph_deltas.len() * size_of::<[f32; 3]>();
    let coarser_indices: usize = geometry.coarser_levels.iter().map(|level| level.indices.len()).sum();
    let indices = (geometry.indices.len() + coarser_indices) * index_bytes(geometry);
    let coarser_vertices: usize = geometry.coarser_levels.iter().map(|level| level.vertex_count as usize).sum();
    let skin_order = (geometry.vertex_count() + coarser_vertices) * size_of::<u32>();
    (vertices + influences + morph_deltas + tangents + indices + skin_order) as u64
}

/// Returns the size of an index on the device: two bytes if they suffice for all vertices, else four.
pub fn index_bytes(geometry: &Geometry) -> usize {
    if geometry.vertex_count() <= 1 << u16::BITS { size_of::<u16>() } else { size_of::<u32>() }
}

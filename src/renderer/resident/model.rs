//! A model on the GPU: the data that is uploaded once and shared by all instances.
//!
//! In: a [`Model`]. Out: buffers, descriptor sets, and a [`GpuDraw`] for each draw range.

use std::sync::Arc;

use ash::vk;

use super::copies::{CopiedGeometry, Copies};
use super::material::{GpuMaterials, features_of};
use super::sizes::index_bytes;
use super::skin_runs::{SkinOrder, run_count};
use super::texture::Samplers;
use super::upload::Uploader;
use crate::animation::{BindPose, mirrored_by_clips};
use crate::crowd::PoseSize;
use crate::model::{DrawRange, Geometry, Material, Model, Topology};
use crate::renderer::error::Result;
use crate::renderer::layouts::Layouts;
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, StaticVertex, material_features};
use crate::vulkan::buffer::Buffer;
use crate::vulkan::descriptors::{Binding, DescriptorPool, DescriptorSet};
use crate::vulkan::device::Device;

/// A draw range with all that a draw call needs.
pub struct GpuDraw {
    /// Triangles, lines or points.
    pub topology: Topology,
    /// The indices in each level of detail, finest first.
    pub levels: Vec<IndexRange>,
    /// The copies of levels of few vertices.
    pub copies: Vec<Option<Copies>>,
    /// The index of the material's set in [`GpuModel::materials`].
    pub material: usize,
    /// The material's bits of [`material_features`].
    pub features: u32,
    /// The faces that are not drawn.
    pub cull_mode: vk::CullModeFlags,
    /// Whether the surface is closed and casts its shadow with the side that faces away from the light.
    pub casts_with_far_side: bool,
    /// The winding order of front faces.
    pub front_face: vk::FrontFace,
    /// The specialization constants of vertex shaders that skin.
    skinning: SpecializationConstants,
}

/// A range of a model's index buffer. It may be empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexRange {
    pub first: u32,
    pub count: u32,
}

impl GpuDraw {
    /// Returns the indices of a level of detail. Levels beyond the coarsest one are equal to it.
    pub fn indices(&self, level: u32) -> IndexRange {
        self.levels.get(level as usize).or(self.levels.last()).copied().unwrap_or_default()
    }

    pub fn has_copies(&self) -> bool {
        self.copies.iter().any(Option::is_some)
    }

    pub fn is_blended(&self) -> bool {
        self.features & material_features::BLENDED != 0
    }

    /// Returns the specialization constants of the draw's shaders, with features of its material. With pre-skinning the
    /// vertex shader skins nothing, so all draws share the others.
    pub fn constants(&self, skinning: Skinning, features: u32) -> SpecializationConstants {
        match skinning {
            Skinning::Compute => SpecializationConstants { features, ..SpecializationConstants::default() },
            Skinning::Vertex => SpecializationConstants { features, ..self.skinning },
        }
    }
}

pub struct GpuModel {
    pub size: PoseSize,
    /// The runs of vertices that `skin.comp` skins in one dispatch each.
    pub skin_order: SkinOrder,
    /// The specialization constants of shaders that skin. Draws and runs have their own numbers of influences.
    pub skinning: SpecializationConstants,
    pub static_vertices: Buffer,
    /// The indices of all draws in all levels of detail.
    pub indices: Buffer,
    /// 16 bits if they suffice for all vertices, else 32.
    pub index_type: vk::IndexType,
    /// Bind-pose vertices, influences, morph deltas, tangents, morph deltas of tangents, skin order.
    pub buffers: [Buffer; 6],
    /// The model set: these buffers, in order.
    pub set: DescriptorSet,
    pub materials: GpuMaterials,
    /// The draws, in the file's order.
    pub draws: Vec<GpuDraw>,
    /// The size of geometry and textures on the device.
    pub static_bytes: u64,
}

impl GpuModel {
    /// Uploads a model and waits for it. `samplers` are those of all models. With `has_copies`, levels of few vertices have
    /// [`Copies`].
    pub fn new(
        device: &Arc<Device>,
        layouts: &Layouts,
        samplers: &mut Samplers,
        model: &Model,
        has_copies: bool,
    ) -> Result<Self> {
        let before = device.allocated_bytes();
        let geometry = &model.geometry;
        let name = &model.name;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let skin_order = SkinOrder::new(geometry);
        let mut bind_pose = BindPose::new(geometry);
        skin_order.pad(&mut bind_pose);
        let copied = if has_copies { CopiedGeometry::new(geometry) } else { CopiedGeometry::default() };
        let mut uploader = Uploader::new(device, name)?;
        let buffers = [
            uploader.buffer(&format!("{name}: bind-pose vertices"), &bind_pose.bind_vertices, storage)?,
            uploader.buffer(&format!("{name}: influences"), &bind_pose.influences, storage)?,
            uploader.buffer(&format!("{name}: morph deltas"), &bind_pose.morph_deltas, storage)?,
            uploader.buffer(&format!("{name}: tangents"), &bind_pose.bind_tangents, storage)?,
            uploader.buffer(&format!("{name}: morph tangents"), &bind_pose.morph_tangents, storage)?,
            uploader.buffer(&format!("{name}: skin order"), &skin_order.vertices, storage)?,
        ];
        let static_vertices = uploader.buffer(
            &format!("{name}: static vertices"),
            &static_vertices(geometry, &copied),
            vk::BufferUsageFlags::VERTEX_BUFFER,
        )?;
        let (indices, index_type) = upload_indices(&mut uploader, name, geometry, &copied)?;
        let sets = [(&layouts.model, 1), (&layouts.material, model.materials.len())];
        let mut pool = DescriptorPool::new(device, &format!("{name}: descriptor sets"), &sets)?;
        let bindings = buffers.each_ref().map(Binding::Buffer);
        let set = pool.allocate(&format!("{name}: model set"), &layouts.model, &bindings)?;
        let materials = GpuMaterials::new(&mut uploader, (samplers, &mut pool, &layouts.material), model)?;
        uploader.finish()?;
        let skinning = SpecializationConstants {
            with_morphs: (!geometry.morph_deltas.is_empty()).into(),
            with_normals: bind_pose.has_normals.into(),
            with_dual_quaternions: geometry.with_dual_quaternions.into(),
            ..SpecializationConstants::default()
        };
        let mirrored_by_clips = mirrored_by_clips(model);
        let ranges = geometry.draw_ranges.iter().enumerate();
        let draw = |(index, range): (usize, &DrawRange)| {
            let material = model.materials.get(range.material as usize)?;
            Some(draw(range, material, mirrored_by_clips[index], (&bind_pose, skinning), (geometry, &copied, index)))
        };
        let draws = ranges.filter_map(draw).collect();
        Ok(Self {
            size: PoseSize::of(model),
            skin_order,
            skinning,
            static_vertices,
            indices,
            index_type,
            set,
            materials,
            draws,
            static_bytes: device.allocated_bytes().saturating_sub(before),
            buffers,
        })
    }
}

/// Returns a draw range with all that a draw call needs. `index` is its index in the geometry.
fn draw(
    range: &DrawRange,
    material: &Material,
    mirrored_by_clips: bool,
    (bind_pose, skinning): (&BindPose, SpecializationConstants),
    (geometry, copied, index): (&Geometry, &CopiedGeometry, usize),
) -> GpuDraw {
    // Coarser levels use some of these vertices.
    let mut counts =
        geometry.indices_of(range).iter().map(|&vertex| bind_pose.bind_vertices[vertex as usize].influence_count);
    let first_count = counts.next().filter(|&count| run_count(count) == Some(count));
    let common_count = first_count.filter(|&first| counts.all(|count| count == first));
    let mirrored_feature = if mirrored_by_clips { material_features::MIRRORED_BY_CLIPS } else { 0 };
    let features = features_of(range, material) | mirrored_feature;
    let cull_mode =
        if material.double_sided || mirrored_by_clips { vk::CullModeFlags::NONE } else { vk::CullModeFlags::BACK };
    // The far side of a closed surface casts the same shadow, and does not shade the near side: see `receiver_on` in
    // shadow.glsl. Holes of one part in twenty let no light through that would be seen.
    let casts_with_far_side = range.topology == Topology::Triangles
        && features & (material_features::MASKED | material_features::MIRRORED_BY_CLIPS) == 0
        && geometry.openness(range) <= 0.05;
    GpuDraw {
        topology: range.topology,
        levels: index_ranges(range, geometry, index),
        copies: copied.copies.get(index).cloned().unwrap_or_default(),
        material: range.material as usize,
        features,
        cull_mode,
        casts_with_far_side,
        // In glTF, counterclockwise triangles face the front, unless the node mirrors.
        front_face: if range.mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE },
        skinning: SpecializationConstants { influence_count: common_count.unwrap_or(0), ..skinning },
    }
}

/// Returns where the indices of a draw range are in the index buffer, for each level of detail.
fn index_ranges(range: &DrawRange, geometry: &Geometry, index: usize) -> Vec<IndexRange> {
    let mut ranges = vec![IndexRange { first: range.first_index, count: range.index_count }];
    let mut first_of_level = geometry.indices.len() as u32;
    for level in &geometry.coarser_levels {
        let range = level.ranges.get(index).cloned().unwrap_or_default();
        ranges.push(IndexRange { first: first_of_level + range.start, count: range.end.saturating_sub(range.start) });
        first_of_level += level.indices.len() as u32;
    }
    ranges
}

/// Uploads the indices of all levels, one level after the other, and then those of copies.
fn upload_indices(
    uploader: &mut Uploader,
    name: &str,
    geometry: &Geometry,
    copied: &CopiedGeometry,
) -> Result<(Buffer, vk::IndexType)> {
    let (name, usage) = (format!("{name}: indices"), vk::BufferUsageFlags::INDEX_BUFFER);
    let coarser = geometry.coarser_levels.iter().flat_map(|level| &level.indices);
    let all = geometry.indices.iter().chain(coarser).chain(&copied.indices);
    if index_bytes(geometry) == size_of::<u16>() {
        let indices: Vec<u16> = all.map(|&index| index as u16).collect();
        return Ok((uploader.buffer(&name, &indices, usage)?, vk::IndexType::UINT16));
    }
    let indices: Vec<u32> = all.copied().collect();
    Ok((uploader.buffer(&name, &indices, usage)?, vk::IndexType::UINT32))
}

/// Returns the static vertices of the model, and then those of copies.
fn static_vertices(geometry: &Geometry, copied: &CopiedGeometry) -> Vec<StaticVertex> {
    let vertex = |vertex: u32| {
        let [first, second] = geometry.tex_coords[vertex as usize];
        StaticVertex {
            tex_coords: [first.x, first.y, second.x, second.y],
            color_unorm8: u32::from_le_bytes(geometry.colors[vertex as usize]),
        }
    };
    (0..geometry.vertex_count() as u32).chain(copied.vertices.iter().copied()).map(vertex).collect()
}

//! A model on the GPU: the data that is uploaded once and shared by all instances.
//!
//! In: a [`Model`]. Out: buffers, descriptor sets, and a [`GpuDraw`] for each draw range.

use std::sync::Arc;

use ash::vk;

use super::material::{GpuMaterials, features_of};
use super::skin_runs::SkinRun;
use super::upload::Uploader;
use crate::crowd::PoseSize;
use crate::model::{DrawRange, Geometry, Material, Model, MorphDelta, Topology};
use crate::renderer::layouts::Layouts;
use crate::renderer::settings::Skinning;
use crate::shader_types::{
    BindVertex, GpuInfluence, GpuMorphDelta, StaticVertex, material_features, pack_octahedral, pack_tangent,
};
use crate::vulkan::Result;
use crate::vulkan::buffer::Buffer;
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;

/// A draw range with all that a draw call needs.
pub struct GpuDraw {
    /// Triangles, lines or points.
    pub topology: Topology,
    /// The first index.
    pub first_index: u32,
    /// The number of indices.
    pub index_count: u32,
    /// The index of the material's set in [`GpuModel::materials`].
    pub material: usize,
    /// The material's bits of [`material_features`].
    pub features: u32,
    /// The faces that are not drawn.
    pub cull_mode: vk::CullModeFlags,
    /// The winding order of front faces.
    pub front_face: vk::FrontFace,
    variant: SkinVariant,
}

/// The specialization constants of the vertex shaders that skin. `skin.comp` has the same two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkinVariant {
    /// The number of influences of every vertex that the draw uses; 0 if they differ.
    pub influence_count: u32,
    /// Whether the model has morph targets that move a vertex.
    pub has_morphs: bool,
}

impl GpuDraw {
    /// Returns whether the draw is blended over the opaque ones.
    #[must_use]
    pub fn is_blended(&self) -> bool {
        self.features & material_features::BLENDED != 0
    }

    /// Returns the specialization of the draw's vertex shader. With pre-skinning the vertex shader skins nothing, so all
    /// draws share one.
    #[must_use]
    pub fn skin_variant(&self, skinning: Skinning) -> SkinVariant {
        match skinning {
            Skinning::Compute => SkinVariant::default(),
            Skinning::Vertex => self.variant,
        }
    }
}

/// Buffers, textures and sets of one model.
pub struct GpuModel {
    /// The size of a pose.
    pub size: PoseSize,
    /// The runs of vertices that `skin.comp` skins in one dispatch each.
    pub skin_runs: Vec<SkinRun>,
    /// Whether morph targets move any vertex.
    pub has_morphs: bool,
    /// The static attributes of all vertices.
    pub static_vertices: Buffer,
    /// The 32-bit indices of all draws.
    pub indices: Buffer,
    /// The model set: bind-pose vertices, influences, morph deltas, tangents, morph deltas of tangents.
    pub set: DescriptorSet,
    /// The materials.
    pub materials: GpuMaterials,
    /// The draws, in the file's order.
    pub draws: Vec<GpuDraw>,
    /// The size of geometry and textures on the device.
    pub static_bytes: u64,
    _buffers: [Buffer; 5],
}

impl GpuModel {
    /// Uploads a model and waits for it.
    ///
    /// # Errors
    /// No memory, or an array is larger than a storage buffer binding may be.
    pub fn new(device: &Arc<Device>, layouts: &Layouts, model: &Model) -> Result<Self> {
        let before = device.allocated_bytes();
        let geometry = &model.geometry;
        let name = &model.name;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let mut uploader = Uploader::new(device, name)?;
        let buffers = [
            uploader.buffer(&format!("{name}: bind-pose vertices"), &bind_vertices(geometry), storage)?,
            uploader.buffer(&format!("{name}: influences"), &gpu_influences(geometry), storage)?,
            uploader.buffer(&format!("{name}: morph deltas"), &gpu_morph_deltas(geometry), storage)?,
            uploader.buffer(&format!("{name}: tangents"), &bind_tangents(geometry), storage)?,
            uploader.buffer(&format!("{name}: morph tangents"), &gpu_morph_tangents(geometry), storage)?,
        ];
        let static_vertices = uploader.buffer(
            &format!("{name}: static vertices"),
            &static_vertices(geometry),
            vk::BufferUsageFlags::VERTEX_BUFFER,
        )?;
        let indices =
            uploader.buffer(&format!("{name}: indices"), &geometry.indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
        let set = DescriptorSet::new(
            device,
            &format!("{name}: model set"),
            &layouts.model,
            &buffers.each_ref().map(|buffer| Binding::Buffer(buffer.descriptor())),
        )?;

        let materials = GpuMaterials::new(&mut uploader, layouts, model)?;
        uploader.finish()?;
        let skin_runs = SkinRun::partition(geometry);
        let draws = geometry
            .draw_ranges
            .iter()
            .filter_map(|range| Some(draw(range, model.materials.get(range.material as usize)?, &skin_runs, geometry)))
            .collect();
        Ok(Self {
            size: PoseSize::of(model),
            skin_runs,
            has_morphs: !geometry.morph_deltas.is_empty(),
            static_vertices,
            indices,
            set,
            materials,
            draws,
            static_bytes: device.allocated_bytes().saturating_sub(before),
            _buffers: buffers,
        })
    }
}

fn draw(range: &DrawRange, material: &Material, skin_runs: &[SkinRun], geometry: &Geometry) -> GpuDraw {
    let (first, count) = (range.first_index as usize, range.index_count as usize);
    let indices = geometry.indices.get(first..first + count).unwrap_or(&[]);
    let run_of = |&vertex: &u32| skin_runs.partition_point(|run| run.end_vertex <= vertex);
    let (first_run, last_run) = (indices.iter().map(run_of).min(), indices.iter().map(run_of).max());
    let common_run = first_run.filter(|_| first_run == last_run).and_then(|run| skin_runs.get(run));
    GpuDraw {
        topology: range.topology,
        first_index: range.first_index,
        index_count: range.index_count,
        material: range.material as usize,
        features: features_of(range, material),
        cull_mode: if material.double_sided { vk::CullModeFlags::NONE } else { vk::CullModeFlags::BACK },
        // In glTF, counterclockwise triangles face the front, unless the node mirrors.
        front_face: if range.mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE },
        variant: SkinVariant {
            influence_count: common_run.and_then(|run| run.influence_count).unwrap_or(0),
            has_morphs: !geometry.morph_deltas.is_empty(),
        },
    }
}

/// Returns the vertices in the form that `skin.comp` and its CPU twin read.
#[must_use]
pub fn bind_vertices(geometry: &Geometry) -> Vec<BindVertex> {
    fn ranges(starts: &[u32]) -> impl Iterator<Item = (u32, u32)> {
        starts.windows(2).map(|pair| if let [first, end] = *pair { (first, end - first) } else { (0, 0) })
    }
    let influence_starts = padded_influence_starts(geometry);
    let influences = ranges(&influence_starts);
    let morph_deltas = ranges(&geometry.morph_delta_starts);
    geometry
        .positions
        .iter()
        .zip(&geometry.normals)
        .zip(influences.zip(morph_deltas))
        .map(|((position, &normal), (influences, morph_deltas))| BindVertex {
            position: position.to_array(),
            normal_octahedral: pack_octahedral(normal),
            first_influence: influences.0,
            influence_count: influences.1,
            first_morph_delta: morph_deltas.0,
            morph_delta_count: morph_deltas.1,
        })
        .collect()
}

/// Returns the influences of all vertices in the form that `skin.comp` reads. Each vertex has as many as its [`SkinRun`];
/// the missing ones have weight zero.
#[must_use]
pub fn gpu_influences(geometry: &Geometry) -> Vec<GpuInfluence> {
    let mut padded = Vec::with_capacity(geometry.influences.len());
    for run in SkinRun::partition(geometry) {
        for vertex in run.vertices() {
            let own = geometry.influences_of(vertex);
            padded
                .extend(own.iter().map(|influence| GpuInfluence { joint: influence.joint, weight: influence.weight }));
            let missing = run.influence_count.map_or(0, |count| (count as usize).saturating_sub(own.len()));
            // A joint that the vertex reads in any case.
            let joint = own.first().map_or(0, |influence| influence.joint);
            padded.extend(std::iter::repeat_n(GpuInfluence { joint, weight: 0.0 }, missing));
        }
    }
    padded
}

/// Returns [`Geometry::influence_starts`] for the result of [`gpu_influences`].
fn padded_influence_starts(geometry: &Geometry) -> Vec<u32> {
    let mut starts = Vec::with_capacity(geometry.influence_starts.len());
    let mut start = 0;
    starts.push(start);
    for run in SkinRun::partition(geometry) {
        for vertex in run.vertices() {
            start += run.influence_count.unwrap_or(geometry.influences_of(vertex).len() as u32);
            starts.push(start);
        }
    }
    starts
}

/// Returns the morph deltas of all vertices in the form that `skin.comp` reads.
#[must_use]
pub fn gpu_morph_deltas(geometry: &Geometry) -> Vec<GpuMorphDelta> {
    let delta = |delta: &MorphDelta| GpuMorphDelta {
        weight_index: delta.weight_index,
        position: delta.position.to_array(),
        normal: delta.normal.to_array(),
    };
    geometry.morph_deltas.iter().map(delta).collect()
}

/// Returns the packed tangents of all vertices. Most models have none.
#[must_use]
pub fn bind_tangents(geometry: &Geometry) -> Vec<u32> {
    geometry.tangents.iter().map(|&tangent| pack_tangent(tangent)).collect()
}

/// Returns the morph deltas of all tangents, three numbers each. Empty if the model has no tangents.
#[must_use]
pub fn gpu_morph_tangents(geometry: &Geometry) -> Vec<f32> {
    let deltas = if geometry.tangents.is_empty() { &[] } else { &geometry.morph_deltas[..] };
    deltas.iter().flat_map(|delta| delta.tangent.to_array()).collect()
}

fn static_vertices(geometry: &Geometry) -> Vec<StaticVertex> {
    geometry
        .tex_coords
        .iter()
        .zip(&geometry.colors)
        .map(|(&[first, second], &color)| StaticVertex {
            tex_coords: [first.x, first.y, second.x, second.y],
            color_unorm8: u32::from_le_bytes(color),
        })
        .collect()
}

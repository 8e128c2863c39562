//! A model on the GPU: everything that is uploaded once and shared by all of its instances.

use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use super::material::{GpuMaterials, surface_kind};
use super::skin_runs::SkinRun;
use crate::model::{DrawRange, Geometry, Material, Model, MorphDelta, Topology};
use crate::renderer::layouts::Layouts;
use crate::renderer::slot::plan::ModelSize;
use crate::shader_types::{
    BindVertex, GpuInfluence, GpuMorphDelta, SurfaceVertex, pack_octahedral, pack_tangent, surface,
};
use crate::vulkan::barrier::{Access, cmd_memory_barrier};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;
use crate::vulkan::{Error, Result};

/// A draw range with all that a draw call needs.
pub struct GpuDraw {
    /// What the indices make up.
    pub topology: Topology,
    /// First index.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Index into [`GpuModel::materials`]' sets.
    pub material: usize,
    /// Bits of [`surface`]: which pipeline draws it.
    pub surface: u32,
    /// Faces that are not drawn.
    pub cull_mode: vk::CullModeFlags,
    /// Winding of front faces.
    pub front_face: vk::FrontFace,
}

impl GpuDraw {
    /// Drawn after all opaque ones, blended.
    #[must_use]
    pub fn is_blended(&self) -> bool {
        self.surface & surface::BLENDED != 0
    }
}

/// Buffers, textures and sets of one model.
pub struct GpuModel {
    /// What the frame's plan needs.
    pub size: ModelSize,
    /// Vertices that are skinned together.
    pub skin_runs: Vec<SkinRun>,
    /// There are morph targets that move some vertex.
    pub has_morphs: bool,
    /// Surface attributes of all vertices.
    pub surface: Buffer,
    /// 32-bit indices.
    pub indices: Buffer,
    /// Bind-pose vertices, influences, morph deltas, tangents and their deltas.
    pub set: DescriptorSet,
    /// One set for each material.
    pub materials: GpuMaterials,
    /// In the file's order.
    pub draws: Vec<GpuDraw>,
    /// Static device memory, in bytes.
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
        let buffers = [
            upload(device, &format!("{name}: bind-pose vertices"), &bind_vertices(geometry), storage)?,
            upload(device, &format!("{name}: influences"), &gpu_influences(geometry), storage)?,
            upload(device, &format!("{name}: morph deltas"), &gpu_morph_deltas(geometry), storage)?,
            upload(device, &format!("{name}: tangents"), &bind_tangents(geometry), storage)?,
            upload(device, &format!("{name}: morph tangents"), &gpu_morph_tangents(geometry), storage)?,
        ];
        let surface = upload(
            device,
            &format!("{name}: surface attributes"),
            &surface_vertices(geometry),
            vk::BufferUsageFlags::VERTEX_BUFFER,
        )?;
        let indices =
            upload(device, &format!("{name}: indices"), &geometry.indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
        let set = DescriptorSet::new(
            device,
            &format!("{name}: model set"),
            &layouts.model,
            &buffers.each_ref().map(|buffer| Binding::Buffer(buffer.descriptor())),
        )?;

        let materials = GpuMaterials::new(device, layouts, model)?;
        let draws = geometry
            .draw_ranges
            .iter()
            .filter_map(|range| Some(draw(range, model.materials.get(range.material as usize)?)))
            .collect();
        Ok(Self {
            size: ModelSize {
                vertex_count: geometry.vertex_count() as u32,
                has_tangents: !geometry.tangents.is_empty(),
                joint_count: model.palette.len() as u32,
                morph_weight_count: model.morph_weight_count() as u32,
            },
            skin_runs: SkinRun::partition(geometry),
            has_morphs: !geometry.morph_deltas.is_empty(),
            surface,
            indices,
            set,
            materials,
            draws,
            static_bytes: device.allocated_bytes().saturating_sub(before),
            _buffers: buffers,
        })
    }
}

fn draw(range: &DrawRange, material: &Material) -> GpuDraw {
    GpuDraw {
        topology: range.topology,
        first_index: range.first_index,
        index_count: range.index_count,
        material: range.material as usize,
        surface: surface_kind(range, material),
        cull_mode: if material.double_sided { vk::CullModeFlags::NONE } else { vk::CullModeFlags::BACK },
        // glTF: counter-clockwise is front, unless the node mirrors.
        front_face: if range.mirrored { vk::FrontFace::CLOCKWISE } else { vk::FrontFace::COUNTER_CLOCKWISE },
    }
}

/// The vertices as `skin.comp` reads them; also what the CPU twin is tested with.
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

/// All vertices' influences, as `skin.comp` reads them: as many as the vertex's [`SkinRun`] has, those that the vertex
/// does not have with a weight of zero.
#[must_use]
pub fn gpu_influences(geometry: &Geometry) -> Vec<GpuInfluence> {
    let mut padded = Vec::with_capacity(geometry.influences.len());
    for run in SkinRun::partition(geometry) {
        for vertex in run.vertices() {
            let own = geometry.influences_of(vertex);
            padded
                .extend(own.iter().map(|influence| GpuInfluence { joint: influence.joint, weight: influence.weight }));
            let missing = run.influence_count.map_or(0, |count| (count as usize).saturating_sub(own.len()));
            // A joint that is read anyway.
            let joint = own.first().map_or(0, |influence| influence.joint);
            padded.extend(std::iter::repeat_n(GpuInfluence { joint, weight: 0.0 }, missing));
        }
    }
    padded
}

/// As [`Geometry::influence_starts`], for [`gpu_influences`].
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

/// All vertices' morph deltas, as `skin.comp` reads them.
#[must_use]
pub fn gpu_morph_deltas(geometry: &Geometry) -> Vec<GpuMorphDelta> {
    let delta = |delta: &MorphDelta| GpuMorphDelta {
        weight: delta.weight_index,
        position: delta.position.to_array(),
        normal: delta.normal.to_array(),
    };
    geometry.morph_deltas.iter().map(delta).collect()
}

/// All vertices' tangents, as `skin.comp` reads them; empty for most models.
#[must_use]
pub fn bind_tangents(geometry: &Geometry) -> Vec<u32> {
    geometry.tangents.iter().map(|&tangent| pack_tangent(tangent)).collect()
}

/// What morph deltas add to tangents, three numbers each, as `skin.comp` reads them; empty where there are no tangents.
#[must_use]
pub fn gpu_morph_tangents(geometry: &Geometry) -> Vec<f32> {
    let deltas = if geometry.tangents.is_empty() { &[] } else { &geometry.morph_deltas[..] };
    deltas.iter().flat_map(|delta| delta.tangent.to_array()).collect()
}

fn surface_vertices(geometry: &Geometry) -> Vec<SurfaceVertex> {
    geometry
        .tex_coords
        .iter()
        .zip(&geometry.colors)
        .map(|(&[first, second], &color)| SurfaceVertex {
            tex_coords: [first.x, first.y, second.x, second.y],
            color_unorm8: u32::from_le_bytes(color),
        })
        .collect()
}

/// A device buffer with `data` in it; waits for the copy.
pub(super) fn upload<T: Pod>(
    device: &Arc<Device>,
    name: &str,
    data: &[T],
    usage: vk::BufferUsageFlags,
) -> Result<Buffer> {
    let size_bytes = size_of_val(data) as u64;
    let limit_bytes = u64::from(device.limits().max_storage_buffer_range);
    if usage.contains(vk::BufferUsageFlags::STORAGE_BUFFER) && size_bytes > limit_bytes {
        return Err(Error::OverLimit {
            what: name.to_owned(),
            size_bytes,
            limit: "maxStorageBufferRange",
            limit_bytes,
            advice: "use a model with fewer vertices".to_owned(),
        });
    }
    let buffer =
        Buffer::new(device, name, size_bytes, usage | vk::BufferUsageFlags::TRANSFER_DST, BufferMemory::Device)?;
    if !data.is_empty() {
        let staging = staging_buffer(device, name, bytemuck::cast_slice(data))?;
        submit_and_wait(device, name, |commands| {
            let regions = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: size_bytes }];
            // SAFETY: both buffers are alive and at least that large.
            unsafe { device.raw.cmd_copy_buffer(commands, staging.raw, buffer.raw, &regions) };
            // All later frames read it (RAW): a wait on the CPU orders the copy before them but makes nothing visible.
            let readers =
                Access::GEOMETRY_READ.and(Access::ATTRIBUTE_READ).and(Access::INDEX_READ).and(Access::UNIFORM_READ);
            cmd_memory_barrier(device, commands, Access::TRANSFER_WRITE, readers);
            Ok(())
        })?;
    }
    Ok(buffer)
}

/// A mapped buffer with `bytes` in it, to copy from.
pub(super) fn staging_buffer(device: &Arc<Device>, name: &str, bytes: &[u8]) -> Result<Buffer> {
    let name = format!("{name} (staging)");
    let usage = vk::BufferUsageFlags::TRANSFER_SRC;
    let mut staging = Buffer::new(device, &name, bytes.len() as u64, usage, BufferMemory::Staging)?;
    for (to, &from) in staging.mapped_for_writing::<u8>(bytes.len()).iter_mut().zip(bytes) {
        to.write(from);
    }
    Ok(staging)
}

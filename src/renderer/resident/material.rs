//! Materials on the GPU.
//!
//! In: the materials of a model. Out: one uniform buffer with all factors, and one descriptor set for each material.

use ash::vk;
use glam::{Vec3, Vec4};

use super::texture::{COLOR, DATA, Samplers, Texture, TextureCache};
use super::upload::Uploader;
use crate::model::{AlphaMode, DrawRange, Material, MaterialTexture, Model, Topology};
use crate::renderer::error::Result;
use crate::shader_types::{MaterialData, material_features as features};
use crate::vulkan::buffer::Buffer;
use crate::vulkan::descriptors::{Binding, DescriptorPool, DescriptorSet, DescriptorSetLayout};

/// The format of the image of each slot of a material, in the order of [`features::TEXTURES`].
const FORMATS: [vk::Format; features::TEXTURES.len()] = [COLOR, DATA, DATA, COLOR, DATA];

pub struct GpuMaterials {
    /// The sets, by index of the material in the model.
    pub sets: Vec<DescriptorSet>,
    _factors: Buffer,
    _textures: Vec<Texture>,
}

impl GpuMaterials {
    /// Records the upload of factors and textures, and allocates the sets.
    pub fn new(
        uploader: &mut Uploader,
        (samplers, pool, layout): (&mut Samplers, &mut DescriptorPool, &DescriptorSetLayout),
        model: &Model,
    ) -> Result<Self> {
        let alignment = uploader.device().limits().min_uniform_buffer_offset_alignment.max(1);
        let stride = (size_of::<MaterialData>() as u64).next_multiple_of(alignment);
        let mut factors = Vec::new();
        for material in &model.materials {
            factors.extend_from_slice(bytemuck::bytes_of(&material_data(material)));
            factors.resize(factors.len().next_multiple_of(stride as usize), 0);
        }
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
        let factors = uploader.buffer(&format!("{}: materials", model.name), &factors, usage)?;
        let mut cache = TextureCache::new(uploader, samplers);
        let (mut sets, mut kept) = (Vec::with_capacity(model.materials.len()), Vec::new());
        for (index, material) in model.materials.iter().enumerate() {
            let mut textures = Vec::new();
            for (texture, format) in material.slots().into_iter().zip(FORMATS) {
                textures.push(cache.get(model, texture.map(|texture| texture.texture), format)?);
            }
            let mut bindings = vec![Binding::Part(&factors, index as u64 * stride, size_of::<MaterialData>() as u64)];
            bindings.extend(textures.iter().map(|(image, sampler)| Binding::Texture(image, sampler)));
            let label = format!("{}: {}", model.name, material.name);
            sets.push(pool.allocate(&label, layout, &bindings)?);
            kept.extend(textures);
        }
        Ok(Self { sets, _factors: factors, _textures: kept })
    }
}

/// Returns the bits of [`material_features`](crate::shader_types::material_features) of a draw range.
pub fn features_of(range: &DrawRange, material: &Material) -> u32 {
    let is_thin = range.topology != Topology::Triangles;
    let alpha = match material.alpha_mode {
        AlphaMode::Opaque => 0,
        AlphaMode::Mask(_) => features::MASKED,
        AlphaMode::Blend => features::BLENDED,
    };
    let light = match (material.unlit, range.flat_shaded, is_thin) {
        // glTF 2.0, 3.9.7: lines and points without normals are unlit.
        (true, ..) | (false, true, true) => features::UNLIT,
        (false, true, false) => features::FLAT,
        (false, false, _) => 0,
    };
    let shown = match (light, is_thin) {
        (features::UNLIT, _) if material.unlit => features::BASE_COLOR_TEXTURE,
        (features::UNLIT, _) => features::BASE_COLOR_TEXTURE | features::EMISSIVE_TEXTURE,
        // A line or point has no tangent frame for a normal map.
        (_, true) => !features::NORMAL_TEXTURE,
        (_, false) => !0,
    };
    let textures = material.slots().into_iter().zip(features::TEXTURES).filter(|(_, bit)| shown & bit != 0);
    let bit_of = |(texture, bit): (Option<MaterialTexture>, u32)| {
        texture.map_or(0, |texture| bit | if texture.is_plain() { 0 } else { features::TEX_COORDS_VARY })
    };
    let tangents = if range.has_tangents { features::TANGENTS } else { 0 };
    let thin = if is_thin { features::THIN } else { 0 };
    let emits = if !material.unlit && material.emission != Vec3::ZERO { features::EMITS } else { 0 };
    let dielectric = if material.metallic == 0.0 && light != features::UNLIT { features::DIELECTRIC } else { 0 };
    let factor = if material.base_color_factor == Vec4::ONE { 0 } else { features::COLOR_FACTOR };
    let specular = if material.has_usual_reflectance() || light == features::UNLIT { 0 } else { features::SPECULAR };
    let kind = alpha | light | tangents | thin | dielectric | emits | factor | specular;
    textures.map(bit_of).fold(kind, |kind, bits| kind | bits)
}

fn material_data(material: &Material) -> MaterialData {
    let mut texture_rows = [[0.0; 4]; 2 * features::TEXTURES.len()];
    for (rows, texture) in texture_rows.chunks_exact_mut(2).zip(material.slots()) {
        let Some(MaterialTexture { tex_coords, texture_from_vertex, .. }) = texture else { continue };
        let (m, t) = (texture_from_vertex.matrix2, texture_from_vertex.translation);
        let pair = tex_coords as f32;
        rows.copy_from_slice(&[[m.x_axis.x, m.y_axis.x, t.x, pair], [m.x_axis.y, m.y_axis.y, t.y, pair]]);
    }
    MaterialData {
        base_color_factor: material.base_color_factor.to_array(),
        // KHR_materials_unlit has no emission.
        emission: if material.unlit { [0.0; 3] } else { material.emission.to_array() },
        alpha_cutoff: match material.alpha_mode {
            AlphaMode::Mask(cutoff) => cutoff,
            AlphaMode::Opaque | AlphaMode::Blend => 0.0,
        },
        metallic: material.metallic,
        roughness: material.roughness,
        occlusion_strength: material.occlusion_strength,
        normal_scale: material.normal_scale,
        dielectric_reflectance: material.dielectric_reflectance.to_array(),
        grazing_reflectance: material.grazing_reflectance,
        texture_rows,
    }
}

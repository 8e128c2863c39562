//! Shadows (`shadow.vert`, `shadow.frag`): the depth of the crowd as the light sees it.
//!
//! In: the instances and the skinned vertices (or the palette, with `--skinning vertex`). Out: one orthographic depth map.
//! All frames in flight use the same image, and barriers order them. Closed surfaces cast their shadows with their far sides
//! (`GpuDraw::casts_with_far_side`). Blended materials, lines and points cast no shadow. `shadow.frag` cuts the holes of masked
//! materials out of their shadows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk;

use super::crowd_draw::{self, Eye};
use super::{PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::layouts::Layouts;
use crate::renderer::output::attachments::DEPTH_FORMAT;
use crate::renderer::resident::model::{GpuDraw, GpuModel, SkinVariant};
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::Binding;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder};
use crate::vulkan::recorder::Rendering;
use crate::vulkan::spirv;

/// The features of a masked material that the shadow depends on (0: not masked), and how its vertices are skinned.
pub type CasterKey = (u32, SkinVariant);

/// The shadow map and its pipelines. Without shadows the map has one texel, which is cleared to "lit".
pub struct ShadowPass {
    /// The map.
    pub map: Image,
    sampler: Sampler,
    pipelines: BTreeMap<CasterKey, Pipeline>,
    skinning: Skinning,
    is_on: bool,
}

impl ShadowPass {
    /// Creates a map of `size` by `size` texels, and the pipelines that the models need. `None`: no shadows.
    ///
    /// # Errors
    /// No memory, or the driver cannot build a pipeline.
    pub fn new(
        builder: &PipelineBuilder,
        layouts: &Layouts,
        (skinning, size): (Skinning, Option<u32>),
        models: &[GpuModel],
    ) -> Result<Self> {
        let device = builder.device();
        let build = |key| caster_pipeline(builder, layouts, "shadows", key);
        let draws = models.iter().flat_map(|model| &model.draws).filter(|draw| casts_shadow(draw));
        let keys: BTreeSet<CasterKey> = draws.map(|draw| caster_key(draw, skinning)).collect();
        Ok(Self {
            map: map(device, size.unwrap_or(1))?,
            // The shader gathers texels, compares and filters them (`shadow.glsl`).
            sampler: Sampler::clamped(device, "shadow sampler", vk::Filter::NEAREST)?,
            pipelines: keys.into_iter().map(|key| Ok((key, build(key)?))).collect::<Result<_>>()?,
            skinning,
            is_on: size.is_some(),
        })
    }

    /// Returns the side of the map in texels, or `None` without shadows.
    #[must_use]
    pub fn map_size(&self) -> Option<u32> {
        self.is_on.then_some(self.map.info().extent.width)
    }

    /// Replaces the map by one of `side` by `side` texels. No frame is in flight.
    ///
    /// # Errors
    /// No memory.
    pub fn resize(&mut self, device: &Arc<Device>, side: u32) -> Result<()> {
        self.map = map(device, side)?;
        Ok(())
    }

    /// Returns the map with its sampler, for the frame set.
    #[must_use]
    pub fn binding(&self) -> Binding<'_> {
        Binding::Texture(&self.map, &self.sampler)
    }

    /// Clears the map and draws all opaque parts of the crowd into it.
    pub fn record(&self, input: &PassInput) {
        let rendering = Rendering { depth: Some(&self.map), keeps_depth: true, y_up: true, ..Rendering::default() };
        input.recorder.rendering(rendering, || {
            if self.is_on {
                crowd_draw::record(input, Eye::Light, |draw| {
                    if casts_shadow(draw) { self.pipelines.get(&caster_key(draw, self.skinning)) } else { None }
                });
            }
        });
    }
}

fn map(device: &Arc<Device>, side: u32) -> Result<Image> {
    let extent = vk::Extent2D { width: side, height: side };
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let info = ImageInfo { aspect: vk::ImageAspectFlags::DEPTH, ..ImageInfo::color(DEPTH_FORMAT, extent, usage) };
    Image::new(device, "shadow map", info)
}

/// Builds a pipeline that draws depth alone: as the light sees it, or with [`material_features::SILHOUETTE`] as the camera
/// does.
///
/// # Errors
/// The driver cannot build it.
pub fn caster_pipeline(
    builder: &PipelineBuilder,
    layouts: &Layouts,
    what: &str,
    (features, variant): CasterKey,
) -> Result<Pipeline> {
    let name = format!("{what}: features {features}, {variant:?}");
    let vertex = match variant.skinning {
        Skinning::Compute => &spirv::SHADOW_VERT,
        Skinning::Vertex => &spirv::SHADOW_SKINNING_VERT,
    };
    builder.graphics(&GraphicsPipelineInfo {
        fragment: (features & material_features::MASKED != 0).then_some(&spirv::SHADOW_FRAG),
        constants: &SpecializationConstants { features, ..variant.constants() }.words(),
        vertex_input: vertex_input::CHARACTERS,
        depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
        ..GraphicsPipelineInfo::new(&name, &layouts.scene, vertex)
    })
}

/// Returns whether a draw is part of the shadow map. Lines and points are too thin for a shadow map.
pub fn casts_shadow(draw: &GpuDraw) -> bool {
    draw.topology == Topology::Triangles && !draw.is_blended()
}

/// Returns what the pipeline for the depth of a draw depends on.
pub fn caster_key(draw: &GpuDraw, skinning: Skinning) -> CasterKey {
    use material_features::{BASE_COLOR_TEXTURE, COLOR_FACTOR, MASKED, TEX_COORDS_VARY};
    let features = if draw.features & MASKED == 0 { 0 } else { draw.features };
    (features & (MASKED | TEX_COORDS_VARY | BASE_COLOR_TEXTURE | COLOR_FACTOR), draw.skin_variant(skinning))
}

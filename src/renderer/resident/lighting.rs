//! The light of a scene, as fragment shaders read it: the shadow map, and the light of the surroundings.
//!
//! In: the side of the shadow map, and a sky for each frame. Out: the light set. All frames in flight share it, because it refers
//! to the same images in each of them, and barriers order what writes and reads these images.

use std::sync::Arc;

use ash::vk;

use super::environment::Environment;
use crate::renderer::layouts::Layouts;
use crate::renderer::output::attachments::depth_map;
use crate::vulkan::Result;
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, Sampler};
use crate::vulkan::pipeline::PipelineBuilder;

/// The images of the light, and the set that refers to them.
pub struct Lighting {
    /// The depth of the crowd as the light sees it. Without shadows it has one texel, which the shadow pass clears to "lit".
    pub shadow_map: Image,
    /// The light set: shadow map, irradiance table, specular table, split-sum table.
    pub set: DescriptorSet,
    pub environment: Environment,
    sampler: Sampler,
}

impl Lighting {
    /// Creates a shadow map of `side` by `side` texels, and the tables of the surroundings.
    pub fn new(builder: &PipelineBuilder, layouts: &Layouts, side: u32) -> Result<Self> {
        let device = builder.device();
        let shadow_map = shadow_map(device, side)?;
        // The shader gathers texels, compares and filters them (`shadow.glsl`).
        let sampler = Sampler::clamped(device, "shadow sampler", vk::Filter::NEAREST)?;
        let environment = Environment::new(builder)?;
        let bindings = bindings(&shadow_map, &sampler, &environment);
        let set = DescriptorSet::new(device, "light set", &layouts.light, &bindings)?;
        Ok(Self { shadow_map, set, environment, sampler })
    }

    /// Replaces the shadow map by one of `side` by `side` texels.
    ///
    /// # Safety
    /// No frame is in flight.
    pub unsafe fn resize(&mut self, device: &Arc<Device>, side: u32) -> Result<()> {
        self.shadow_map = shadow_map(device, side)?;
        // SAFETY: the caller promises that no frame uses the set.
        unsafe { self.set.write(&bindings(&self.shadow_map, &self.sampler, &self.environment)) };
        Ok(())
    }
}

fn bindings<'a>(shadow_map: &'a Image, sampler: &'a Sampler, environment: &'a Environment) -> [Binding<'a>; 4] {
    let [irradiance, specular, split_sum] = environment.bindings();
    [Binding::Texture(shadow_map, sampler), irradiance, specular, split_sum]
}

fn shadow_map(device: &Arc<Device>, side: u32) -> Result<Image> {
    depth_map(device, "shadow map", vk::Extent2D { width: side, height: side })
}

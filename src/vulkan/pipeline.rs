//! Pipelines and their layouts.

use std::sync::Arc;

use ash::vk;

use super::descriptors::DescriptorSetLayout;
use super::device::Device;
use super::error::{Context, Result};
use super::owned::Owned;
use super::spirv::{ShaderOverride, Spirv};

/// The sets and push constants of a pipeline.
pub struct PipelineLayout {
    pub(super) handle: Owned<vk::PipelineLayout>,
    /// Whether pipelines with this layout are compute or graphics pipelines.
    pub(super) bind_point: vk::PipelineBindPoint,
    /// The stage that reads push constants.
    pub(super) stage: vk::ShaderStageFlags,
}

impl PipelineLayout {
    /// Creates a layout. Sets are numbered in order. `stage` reads the push constants, which start at offset 0. Only the compute
    /// stage makes it a layout of compute pipelines.
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        stage: vk::ShaderStageFlags,
        sets: &[&DescriptorSetLayout],
        push_constant_bytes: usize,
    ) -> Result<Self> {
        let sets: Vec<_> = sets.iter().map(|set| set.raw()).collect();
        let ranges = [vk::PushConstantRange { stage_flags: stage, offset: 0, size: push_constant_bytes as u32 }];
        let ranges = if push_constant_bytes > 0 { &ranges[..] } else { &[] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: the set layouts are alive.
        let raw =
            unsafe { device.raw.create_pipeline_layout(&info, None) }.context_for("vkCreatePipelineLayout", name)?;
        // SAFETY: it was just made.
        let handle = unsafe { Owned::new(device, name, raw, ash::Device::destroy_pipeline_layout) };
        let bind_point = match stage {
            vk::ShaderStageFlags::COMPUTE => vk::PipelineBindPoint::COMPUTE,
            _ => vk::PipelineBindPoint::GRAPHICS,
        };
        Ok(Self { handle, bind_point, stage })
    }
}

pub struct Pipeline {
    pub(super) handle: Owned<vk::Pipeline>,
    pub(super) bind_point: vk::PipelineBindPoint,
}

/// How colour is blended by alpha. The destination alpha becomes `dst * (1 - a)`, plus either 0 or `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blend {
    /// Adds 0.
    AlphaFades,
    /// Adds the source alpha.
    AlphaAdds,
    /// Adds the source alpha. The source colour is already multiplied by it.
    Premultiplied,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct VertexInput<'a> {
    pub bindings: &'a [vk::VertexInputBindingDescription],
    pub attributes: &'a [vk::VertexInputAttributeDescription],
}

/// The properties of a graphics pipeline. Viewport, scissor, cull mode and front face are dynamic; all other state is fixed.
pub struct GraphicsPipelineInfo<'a> {
    pub name: &'a str,
    pub vertex: &'a Spirv,
    /// The fragment shader; `None` for a depth-only pipeline.
    pub fragment: Option<&'a Spirv>,
    /// The `uint` specialization constants of both shaders, with the ids 0, 1, and so on.
    pub constants: &'a [u32],
    pub vertex_input: VertexInput<'a>,
    pub topology: vk::PrimitiveTopology,
    /// Whether triangles are filled, or only their edges are drawn (`fillModeNonSolid`).
    pub polygon_mode: vk::PolygonMode,
    pub layout: &'a PipelineLayout,
    /// The format of the colour attachment; `None` without one.
    pub color_format: Option<vk::Format>,
    /// The format, the comparison and whether depth is written; `None` without a depth attachment.
    pub depth: Option<(vk::Format, vk::CompareOp, bool)>,
    pub samples: vk::SampleCountFlags,
    /// Whether and how colour is blended by alpha; `None` replaces it.
    pub blend: Option<Blend>,
    /// The depth bias: a constant, and a factor of the slope (`VkPipelineRasterizationStateCreateInfo`).
    pub depth_bias: Option<(f32, f32)>,
}

impl<'a> GraphicsPipelineInfo<'a> {
    /// Returns the properties of filled triangles without attributes, attachments or constants, one sample per pixel.
    pub fn new(name: &'a str, layout: &'a PipelineLayout, vertex: &'a Spirv) -> Self {
        Self {
            name,
            vertex,
            fragment: None,
            constants: &[],
            vertex_input: VertexInput::default(),
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            polygon_mode: vk::PolygonMode::FILL,
            layout,
            color_format: None,
            depth: None,
            samples: vk::SampleCountFlags::TYPE_1,
            blend: None,
            depth_bias: None,
        }
    }
}

/// Builds pipelines, each from its own shader modules. There is no pipeline cache: drivers have their own.
pub struct PipelineBuilder {
    device: Arc<Device>,
    overrides: Vec<ShaderOverride>,
}

impl PipelineBuilder {
    /// Returns a builder that uses `overrides` instead of the embedded shaders of the same names.
    pub fn new(device: &Arc<Device>, overrides: &[ShaderOverride]) -> Self {
        Self { device: Arc::clone(device), overrides: overrides.to_vec() }
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Builds a compute pipeline. `constants` are the shader's `uint` specialization constants, from id 0 on.
    pub fn compute(
        &self,
        name: &str,
        (shader, constants): (&Spirv, &[u32]),
        layout: &PipelineLayout,
    ) -> Result<Pipeline> {
        let module = self.module(shader)?;
        let entries = specialization_entries(constants);
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(constants));
        let stage = shader_stage(vk::ShaderStageFlags::COMPUTE, &module, &specialization);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.handle.raw);
        // SAFETY: module and layout are alive.
        let built = unsafe { self.device.raw.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        self.first(("vkCreateComputePipelines", name), vk::PipelineBindPoint::COMPUTE, built)
    }

    pub fn graphics(&self, info: &GraphicsPipelineInfo) -> Result<Pipeline> {
        let vertex = self.module(info.vertex)?;
        let fragment = info.fragment.map(|shader| self.module(shader)).transpose()?;
        let entries = specialization_entries(info.constants);
        let specialization =
            vk::SpecializationInfo::default().map_entries(&entries).data(bytemuck::cast_slice(info.constants));
        let stage = |flags, module| shader_stage(flags, module, &specialization);
        let mut stages = vec![stage(vk::ShaderStageFlags::VERTEX, &vertex)];
        stages.extend(fragment.as_ref().map(|fragment| stage(vk::ShaderStageFlags::FRAGMENT, fragment)));
        let vertex_input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(info.vertex_input.bindings)
            .vertex_attribute_descriptions(info.vertex_input.attributes);
        let input_assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(info.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let (bias_constant, bias_slope) = info.depth_bias.unwrap_or_default();
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(info.polygon_mode)
            .line_width(1.0)
            .depth_bias_enable(info.depth_bias.is_some())
            .depth_bias_constant_factor(bias_constant)
            .depth_bias_slope_factor(bias_slope);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(info.samples);
        let (depth_format, depth_compare, depth_write) =
            info.depth.unwrap_or((vk::Format::UNDEFINED, vk::CompareOp::ALWAYS, false));
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(info.depth.is_some())
            .depth_write_enable(depth_write)
            .depth_compare_op(depth_compare);
        let color_formats: Vec<vk::Format> = info.color_format.into_iter().collect();
        let attachments = [vk::PipelineColorBlendAttachmentState {
            blend_enable: info.blend.is_some().into(),
            src_color_blend_factor: match info.blend {
                Some(Blend::Premultiplied) => vk::BlendFactor::ONE,
                _ => vk::BlendFactor::SRC_ALPHA,
            },
            dst_color_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            color_blend_op: vk::BlendOp::ADD,
            src_alpha_blend_factor: match info.blend {
                Some(Blend::AlphaFades) => vk::BlendFactor::ZERO,
                Some(Blend::AlphaAdds | Blend::Premultiplied) | None => vk::BlendFactor::ONE,
            },
            dst_alpha_blend_factor: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
            alpha_blend_op: vk::BlendOp::ADD,
            color_write_mask: vk::ColorComponentFlags::RGBA,
        }];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments[..color_formats.len()]);
        let dynamic_states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::CULL_MODE,
            vk::DynamicState::FRONT_FACE,
        ];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&color_formats)
            .depth_attachment_format(depth_format);
        let create = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertex_input)
            .input_assembly_state(&input_assembly)
            .viewport_state(&viewport)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(info.layout.handle.raw)
            .push_next(&mut rendering);
        // SAFETY: modules and layout are alive, all state structures outlive the call.
        let built = unsafe { self.device.raw.create_graphics_pipelines(vk::PipelineCache::null(), &[create], None) };
        self.first(("vkCreateGraphicsPipelines", info.name), vk::PipelineBindPoint::GRAPHICS, built)
    }

    /// Creates a shader module, which a pipeline needs only while it is built.
    fn module(&self, shader: &Spirv) -> Result<Owned<vk::ShaderModule>> {
        let replaced = self.overrides.iter().find(|other| other.file_name() == shader.file_name);
        let info = vk::ShaderModuleCreateInfo::default().code(replaced.map_or(shader.words, ShaderOverride::words));
        // SAFETY: the words are SPIR-V that the build has compared with the sources, or those of a `ShaderOverride`.
        let raw = unsafe { self.device.raw.create_shader_module(&info, None) }
            .context_for("vkCreateShaderModule", shader.file_name)?;
        // SAFETY: it was just made.
        Ok(unsafe { Owned::new(&self.device, shader.file_name, raw, ash::Device::destroy_shader_module) })
    }

    fn first(
        &self,
        (call, name): (&'static str, &str),
        bind_point: vk::PipelineBindPoint,
        built: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    ) -> Result<Pipeline> {
        let first = built
            .map_err(|(_, result)| result)
            .and_then(|pipelines| pipelines.into_iter().next().ok_or(vk::Result::ERROR_UNKNOWN));
        let raw = first.context_for(call, name)?;
        // SAFETY: it was just made.
        let handle = unsafe { Owned::new(&self.device, name, raw, ash::Device::destroy_pipeline) };
        Ok(Pipeline { handle, bind_point })
    }
}

fn shader_stage<'a>(
    stage: vk::ShaderStageFlags,
    module: &Owned<vk::ShaderModule>,
    specialization: &'a vk::SpecializationInfo,
) -> vk::PipelineShaderStageCreateInfo<'a> {
    let info = vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module.raw).name(c"main");
    info.specialization_info(specialization)
}

/// Returns the map entries of `uint` specialization constants with the ids 0, 1, and so on.
fn specialization_entries(constants: &[u32]) -> Vec<vk::SpecializationMapEntry> {
    (0..constants.len() as u32)
        .map(|id| vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: size_of::<u32>() })
        .collect()
}

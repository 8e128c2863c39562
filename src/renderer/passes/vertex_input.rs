//! Vertex input: what vertex shaders are fetched as attributes. `shaders/instance.glsl` and `shaders/character.glsl`
//! have the other side; `tests/shader_layout.rs` compares them.

use std::mem::offset_of;

use ash::vk;

use crate::shader_types::{InstanceData, SurfaceVertex};
use crate::vulkan::pipeline::VertexInput;

/// [`InstanceData`], one element for each instance.
pub const INSTANCE_BINDING: u32 = 0;
/// [`SurfaceVertex`], one element for each vertex of the model.
pub const SURFACE_BINDING: u32 = 1;

const BINDINGS: [vk::VertexInputBindingDescription; 2] = [
    vk::VertexInputBindingDescription {
        binding: INSTANCE_BINDING,
        stride: size_of::<InstanceData>() as u32,
        input_rate: vk::VertexInputRate::INSTANCE,
    },
    vk::VertexInputBindingDescription {
        binding: SURFACE_BINDING,
        stride: size_of::<SurfaceVertex>() as u32,
        input_rate: vk::VertexInputRate::VERTEX,
    },
];

const ROW: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const ROW_BYTES: usize = 16;
const ROWS_AT: usize = offset_of!(InstanceData, world_from_model);

const ATTRIBUTES: [vk::VertexInputAttributeDescription; 6] = [
    attribute(INSTANCE_BINDING, 0, ROW, ROWS_AT),
    attribute(INSTANCE_BINDING, 1, ROW, ROWS_AT + ROW_BYTES),
    attribute(INSTANCE_BINDING, 2, ROW, ROWS_AT + 2 * ROW_BYTES),
    // All three, and what fills their place up.
    attribute(INSTANCE_BINDING, 3, vk::Format::R32G32B32A32_UINT, offset_of!(InstanceData, palette_offset)),
    attribute(SURFACE_BINDING, 4, vk::Format::R32G32B32A32_SFLOAT, offset_of!(SurfaceVertex, tex_coords)),
    attribute(SURFACE_BINDING, 5, vk::Format::R8G8B8A8_UNORM, offset_of!(SurfaceVertex, color_unorm8)),
];

const fn attribute(
    binding: u32,
    location: u32,
    format: vk::Format,
    offset: usize,
) -> vk::VertexInputAttributeDescription {
    vk::VertexInputAttributeDescription { location, binding, format, offset: offset as u32 }
}

/// Of shadows: placements and offsets.
pub const INSTANCES: VertexInput<'_> =
    VertexInput { bindings: BINDINGS.split_at(1).0, attributes: ATTRIBUTES.split_at(4).0 };

/// Of characters: placements, offsets and surface attributes.
pub const CHARACTERS: VertexInput<'_> = VertexInput { bindings: &BINDINGS, attributes: &ATTRIBUTES };

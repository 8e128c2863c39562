//! Vertex input: the formats and offsets of the attributes of instances and of static vertices. `shaders/instance.glsl` and
//! `shaders/character.glsl` declare the same locations. `tests/repository/shader_layout.rs` compares the offsets with
//! the structs and the locations with the shaders.

use std::mem::offset_of;

use ash::vk;

use crate::model::Topology;
use crate::shader_types::{InstanceData, StaticVertex};
use crate::vulkan::pipeline::VertexInput;

/// The binding of [`InstanceData`], with one element per instance.
pub const INSTANCE_BINDING: u32 = 0;
/// The binding of [`StaticVertex`], with one element per vertex of the model.
pub const STATIC_BINDING: u32 = 1;

const BINDINGS: [vk::VertexInputBindingDescription; 2] = [
    vk::VertexInputBindingDescription {
        binding: INSTANCE_BINDING,
        stride: size_of::<InstanceData>() as u32,
        input_rate: vk::VertexInputRate::INSTANCE,
    },
    vk::VertexInputBindingDescription {
        binding: STATIC_BINDING,
        stride: size_of::<StaticVertex>() as u32,
        input_rate: vk::VertexInputRate::VERTEX,
    },
];

const ROW: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const ROW_BYTES: usize = 16;
const ROWS_AT: usize = offset_of!(InstanceData, world_from_model);

const ATTRIBUTES: [vk::VertexInputAttributeDescription; 8] = [
    attribute(INSTANCE_BINDING, 0, ROW, ROWS_AT),
    attribute(INSTANCE_BINDING, 1, ROW, ROWS_AT + ROW_BYTES),
    attribute(INSTANCE_BINDING, 2, ROW, ROWS_AT + 2 * ROW_BYTES),
    attribute(INSTANCE_BINDING, 3, vk::Format::R32_UINT, offset_of!(InstanceData, pose)),
    attribute(INSTANCE_BINDING, 4, vk::Format::R32_UINT, offset_of!(InstanceData, tint_unorm8)),
    attribute(STATIC_BINDING, 5, vk::Format::R32G32B32A32_SFLOAT, offset_of!(StaticVertex, tex_coords)),
    attribute(STATIC_BINDING, 6, vk::Format::R8G8B8A8_UNORM, offset_of!(StaticVertex, color_unorm8)),
    attribute(INSTANCE_BINDING, 7, vk::Format::R32G32_UINT, offset_of!(InstanceData, numbers)),
];

pub const fn attribute(
    binding: u32,
    location: u32,
    format: vk::Format,
    offset: usize,
) -> vk::VertexInputAttributeDescription {
    vk::VertexInputAttributeDescription { location, binding, format, offset: offset as u32 }
}

/// The vertex input of draws without static vertices: placements and poses.
pub const INSTANCES: VertexInput<'_> =
    VertexInput { bindings: BINDINGS.split_at(1).0, attributes: ATTRIBUTES.split_at(4).0 };

/// The vertex input of the shadow and character passes: placements, poses, tints and static vertices.
pub const CHARACTERS: VertexInput<'_> = VertexInput { bindings: &BINDINGS, attributes: ATTRIBUTES.split_at(7).0 };

/// The vertex input of the debug views: the same, and the numbers of instance and pose.
pub const NUMBERED_CHARACTERS: VertexInput<'_> = VertexInput { bindings: &BINDINGS, attributes: &ATTRIBUTES };

pub fn primitive(topology: Topology) -> vk::PrimitiveTopology {
    match topology {
        Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
        Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
        Topology::Points => vk::PrimitiveTopology::POINT_LIST,
    }
}

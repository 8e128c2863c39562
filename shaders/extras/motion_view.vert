// The motion view: the displacement of each vertex since the previous frame. The previous frame's pages still hold the old
// positions, because its slot is not written before this frame has finished (src/extras/motion_view.rs). The numbers of the
// instance and of the vertex find a position. A vertex that was not skinned then has none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shadow_caster.glsl"

// As in src/extras/motion_view.rs.
struct InstanceHistory {
    JointMatrix world_from_model;
    uint page;
    uint first_vertex;
    uint vertex_count; // 0 if the instance was not visible
    uint padding;
};

layout(set = 2, binding = 0, std430) readonly buffer LastInstances {
    InstanceHistory last_instances[]; // by the number of the instance
};

layout(set = 2, binding = 1, std430) readonly buffer LastSkinnedVertices {
    SkinnedVertex last_skinned_vertices[];
};

layout(set = 1, binding = 0, std430) readonly buffer SkinnedVertices {
    SkinnedVertex skinned_vertices[];
};

layout(push_constant, std430) uniform MotionConstants {
    uint page; // of the last frame
    float half_way_metres; // the way whose colour is half as strong as can be
} motion;

layout(location = 7) in uvec2 in_numbers; // instance and pose

layout(location = 5) out vec4 out_way; // -1 to 1; w is 0 without a last position

void main() {
    Instance instance = instance_of_attributes();
    vec3 position = skinned_vertices[poses[instance.pose].skinned_vertex_offset + gl_VertexIndex].position;
    emit_caster(instance, position, frame.clip_from_world);
    gl_PointSize = 1.0;
    out_way = vec4(0.0);
    InstanceHistory last = last_instances[in_numbers.x];
    if (last.page != motion.page) {
        // The draw with the right page shows the instance. Here all of its vertices are at one point outside of the picture.
        gl_Position = vec4(2.0, 2.0, 0.0, 1.0);
    } else if (gl_VertexIndex < last.vertex_count) {
        vec3 last_position = last_skinned_vertices[last.first_vertex + gl_VertexIndex].position;
        vec3 way = to_world(instance, position) - transform_point(last.world_from_model, last_position);
        out_way = vec4(way / (length(way) + motion.half_way_metres), 1.0);
    }
}

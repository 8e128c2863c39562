// Draws the bones of a skeleton: an octahedron from joint to joint, and the axes of the joint at its base. There are no
// attributes but those of the instance. The joints come from the palette that also moves the vertices.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "instance.glsl"
#include "colors.glsl"

// As in src/extras/bone_view.rs.
struct GpuBone {
    JointMatrix mesh_from_base;
    vec3 tip_mesh;
    uint base;
    uint tip;
    uint node;
    float axis_length;
    uint padding;
};

layout(set = 1, binding = 0, std430) readonly buffer Bones {
    GpuBone bones[];
};

layout(location = 0) out vec3 out_position_world;
layout(location = 1) flat out vec3 out_color;
// The corners of a triangle are 1 in one component each, so that the fragment shader finds the edges.
layout(location = 2) out vec3 out_corner;

// Eight triangles of the octahedron, and three for each of three axes. src/extras/bone_view.rs has the sum.
const uint OCTAHEDRON_VERTICES = 24;
const uint AXIS_VERTICES = 9;
const uint VERTICES_PER_BONE = 51;

// Where the octahedron is thickest, and how thick, as shares of its length.
const float WAIST_AT = 0.14;
const float WAIST_RADIUS = 0.085;
const float AXIS_RADIUS = 0.07;

// Returns a corner of the octahedron between two joints. Each side of its square waist has a triangle to either end. The
// square is turned by the joint's own axes, so a bone that rolls is seen to roll.
vec3 octahedron(uint corner, vec3 base, vec3 tip, mat3 axes) {
    vec3 along = tip - base;
    float length_world = length(along);
    vec3 direction = along / max(length_world, 1e-20);
    vec3 alignment = abs(vec3(dot(direction, axes[0]), dot(direction, axes[1]), dot(direction, axes[2])));
    // The axis at the largest angle to the bone.
    vec3 side = alignment.x <= min(alignment.y, alignment.z) ? axes[0] : alignment.y <= alignment.z ? axes[1] : axes[2];
    side = normalize(side - direction * dot(side, direction));
    vec3 other = cross(direction, side);
    uint triangle = corner / 3;
    uint rank = corner % 3;
    if (rank == 0) {
        return triangle < 4 ? base : tip;
    }
    // The triangles at the tip have the opposite winding.
    uint step = (triangle < 4) == (rank == 1) ? 1 : 0;
    float angle = 1.57079633 * float(triangle % 4 + step);
    return base + length_world * (WAIST_AT * direction + WAIST_RADIUS * (cos(angle) * side + sin(angle) * other));
}

// Returns a corner of a thin spike from `base` along axis `rank`. Its foot is a triangle between the other two axes.
vec3 spike(uint corner, uint rank, vec3 base, mat3 axes) {
    uint triangle = corner / 3;
    if (corner % 3 == 2) {
        return base + axes[rank];
    }
    float angle = 2.0943951 * float(triangle + corner % 3);
    return base + AXIS_RADIUS * (cos(angle) * axes[(rank + 1) % 3] + sin(angle) * axes[(rank + 2) % 3]);
}

void main() {
    Instance instance = instance_of_attributes();
    GpuBone bone = bones[uint(gl_VertexIndex) / VERTICES_PER_BONE];
    uint corner = uint(gl_VertexIndex) % VERTICES_PER_BONE;
    uint palette_offset = poses[instance.pose].palette_offset;
    JointMatrix model_from_mesh = palette[palette_offset + bone.base];
    vec4 rows[3] = bone.mesh_from_base.rows;
    vec3 base_mesh = vec3(rows[0].w, rows[1].w, rows[2].w);
    vec3 base = to_world(instance, transform_point(model_from_mesh, base_mesh));
    vec3 tip = to_world(instance, transform_point(palette[palette_offset + bone.tip], bone.tip_mesh));
    mat3 unit_axes, axes;
    for (int i = 0; i < 3; ++i) {
        vec3 axis_mesh = normalize(vec3(rows[0][i], rows[1][i], rows[2][i]));
        vec3 axis = to_world(instance, transform_point(model_from_mesh, base_mesh + axis_mesh)) - base;
        unit_axes[i] = axis / max(length(axis), 1e-20);
        axes[i] = bone.axis_length * axis;
    }
    if (corner < OCTAHEDRON_VERTICES) {
        out_position_world = octahedron(corner, base, tip, unit_axes);
        out_color = number_color(bone.node);
    } else {
        corner -= OCTAHEDRON_VERTICES;
        uint rank = corner / AXIS_VERTICES;
        out_position_world = spike(corner % AXIS_VERTICES, rank, base, axes);
        const vec3 axis_colors[3] = vec3[3](vec3(0.90, 0.22, 0.25), vec3(0.45, 0.75, 0.15), vec3(0.20, 0.45, 0.95));
        out_color = from_display(axis_colors[rank]);
    }
    uint rank = corner % 3;
    out_corner = vec3(rank == 0, rank == 1, rank == 2);
    gl_Position = frame.clip_from_world * vec4(out_position_world, 1.0);
}

// The structs and bindings that the CPU and the shaders share. src/shader_types.rs has the CPU's structs and asserts
// their sizes and offsets; tests/repository/shader_layout.rs compares them with the reflected SPIR-V.
//
// Sets of skin.comp and of debug views: 0 per frame in flight, 1 per model, 2 per page of the transient vertex buffer. Sets of
// draws: 0 as well, 1 the vertices (a page, or with --skinning vertex a model), 2 the light. In all draws, 3 is per material.
#ifndef THRONG_SHARED
#define THRONG_SHARED

#include "sky.glsl"

// An affine matrix as three rows, 48 bytes. Transforming a point takes three dot products.
struct JointMatrix {
    vec4 rows[3];
};

// std430 aligns a vec3 to 16 bytes, so a scalar follows each vec3.
struct BindVertex {
    vec3 position;
    uint normal_octahedral;
    uint first_influence;
    uint influence_count;
    uint first_morph_delta;
    uint morph_delta_count;
};

struct GpuInfluence {
    uint joint;
    float weight;
};

struct GpuMorphDelta {
    uint weight_index;
    float position[3];
    float normal[3];
};

struct SkinnedVertex {
    vec3 position;
    uint normal_octahedral;
};

// Where the data of one visible pose begins, in elements. FramePlan (src/crowd/plan.rs) computes all members.
struct PoseRecord {
    uint palette_offset;
    uint skinned_vertex_offset;
    uint morph_weight_offset;
    uint morph_weight_count; // 0 if no target is active
    uint bind_vertex_offset; // the first bind vertex of the level of detail
};

layout(set = 0, binding = 0, std140) uniform FrameData {
    mat4 clip_from_world;
    mat4 direction_from_clip; // to the axes of the world, around the eye
    vec3 camera_position;
    float exposure; // a factor of radiance
    vec3 to_light;
    float to_light_ground_scale; // reciprocal of the length of to_light along the ground, or 0
    vec3 light_color;
    float opaque_alpha; // of lit fragments (tone_map.frag): 1 if the image is transparent, otherwise 0
    mat4 shadow_from_world;
    float shadow_map_texels; // the side of the map
    float shadow_texel_metres;
    float shadow_depth_per_texel; // the depth of one texel's length along the light
    float ground_reach_metres; // from the camera
    vec2 shaded_ground_least; // x and z of the ground that shadows may reach
    vec2 shaded_ground_greatest;
    vec4 background; // the end of distant ground: the horizon, or a plain background
    SkyData sky;
    vec3 ground_sunlit; // radiance of the ground in the sun's light
    float ground_cell_metres; // the spacing of the fine grid
    vec3 ground_ambient; // radiance of the ground in the sky's light
    float hidden_sky_height; // of the strip at the lower edge of the picture where the ground hides the sky, in clip space
    vec2 ground_offset_cells; // how far the body that the camera follows has gone over the ground
    vec2 padding;
} frame;

// One record for each visible pose.
layout(set = 0, binding = 1, std430) readonly buffer Poses {
    PoseRecord poses[];
};

// The palette: the joint matrices of all visible poses. A pose's own begin at its palette_offset.
layout(set = 0, binding = 2, std430) readonly buffer Palette {
    JointMatrix palette[];
};

// The morph weights of all visible poses. A pose's own begin at its morph_weight_offset.
layout(set = 0, binding = 3, std430) readonly buffer MorphWeights {
    float morph_weights[];
};

// Returns a vector of unit length, without a division.
vec3 unit(vec3 v) {
    return v * inversesqrt(dot(v, v));
}

vec3 transform_point(JointMatrix m, vec3 p) {
    vec4 point = vec4(p, 1.0);
    return vec3(dot(m.rows[0], point), dot(m.rows[1], point), dot(m.rows[2], point));
}

// Transforms a normal by the cofactor matrix of the 3x3 part, with its sign corrected for mirroring matrices. This is
// the inverse transpose times |determinant|, without a division. The result is not normalised.
vec3 transform_normal(JointMatrix m, vec3 n) {
    vec3 row0 = m.rows[0].xyz, row1 = m.rows[1].xyz, row2 = m.rows[2].xyz;
    vec3 cofactor0 = cross(row1, row2), cofactor1 = cross(row2, row0), cofactor2 = cross(row0, row1);
    float determinant_sign = dot(row0, cofactor0) < 0.0 ? -1.0 : 1.0;
    return determinant_sign * vec3(dot(cofactor0, n), dot(cofactor1, n), dot(cofactor2, n));
}

// Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 2014.
uint pack_octahedral(vec3 n) {
    float sum = abs(n.x) + abs(n.y) + abs(n.z);
    vec2 p = sum > 0.0 ? n.xy / sum : vec2(0.0);
    if (n.z < 0.0) {
        p = (1.0 - abs(p.yx)) * vec2(p.x >= 0.0 ? 1.0 : -1.0, p.y >= 0.0 ? 1.0 : -1.0);
    }
    return packSnorm2x16(p);
}

// A direction, with a sign in the lowest bit.
uint pack_tangent(vec3 direction, float handedness) {
    return (pack_octahedral(direction) & ~1u) | (handedness < 0.0 ? 1u : 0u);
}

vec3 unpack_octahedral(uint packed_normal) {
    vec2 p = unpackSnorm2x16(packed_normal);
    vec3 n = vec3(p, 1.0 - abs(p.x) - abs(p.y));
    float fold = max(-n.z, 0.0);
    n.x += n.x >= 0.0 ? -fold : fold;
    n.y += n.y >= 0.0 ? -fold : fold;
    return normalize(n);
}

vec4 unpack_tangent(uint packed_tangent) {
    return vec4(unpack_octahedral(packed_tangent & ~1u), (packed_tangent & 1u) != 0u ? -1.0 : 1.0);
}

#endif

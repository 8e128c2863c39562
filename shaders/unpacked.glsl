// A vertex of the bind pose, as morphing and blending read it.
#ifndef THRONG_UNPACKED
#define THRONG_UNPACKED

#include "shared.glsl"
#include "specialization.glsl"

layout(set = 1, binding = 0, std430) readonly buffer BindVertices {
    BindVertex bind_vertices[];
};

layout(set = 1, binding = 1, std430) readonly buffer Influences {
    GpuInfluence influences[];
};

// The bind pose of one vertex, in mesh space, for any number of poses.
struct UnpackedVertex {
    vec3 position;
    vec3 normal;
    vec4 tangent; // w: handedness
    uint first_influence;
    uint influence_count;
    uint first_delta;
    uint end_delta;
    // The first INFLUENCE_COUNT. GLSL wants a length that is no specialization constant, so this is the largest one.
    GpuInfluence influences[8];
};

#endif

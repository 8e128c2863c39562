// Transforms a skinned vertex from model space to clip space. Both ways of skinning share this code.
//
// In: a skinned vertex in model space, and its instance. Out: its position in clip space, and the values of
// varyings.glsl for the fragment shader.
#ifndef THRONG_CHARACTER
#define THRONG_CHARACTER

#include "instance.glsl"
#include "material_features.glsl"
#include "varyings.glsl"

// Of the instance. Its numbers are at location 7, for debug views only.
layout(location = 4) in vec4 in_tint;

// StaticVertex of src/shader_types.rs.
layout(location = 5) in vec4 in_tex_coords; // two pairs
layout(location = 6) in vec4 in_color;

layout(location = 0) out vec4 varyings[VARYING_COUNT];

void emit_vertex(SkinnedVertex skinned, uint packed_tangent) {
    vec3 position_world = to_world(skinned.position);
    vec4 color = in_color * in_tint;
    varyings[0] = vec4(position_world, in_tex_coords.x);
    varyings[1] = vec4(color.rgb, in_tex_coords.y);
    if (VARYING_COUNT > 2) {
        // Of unit length, so that the length between the vertices tells how the surface curves (shadow.glsl).
        vec3 normal = normalize(direction_to_world(unpack_octahedral(skinned.normal_octahedral)));
        varyings[2] = vec4(normal, color.a);
    }
    if (VARYING_COUNT > 3) {
        varyings[3] = vec4(in_tex_coords.zw, 0.0, 0.0);
    }
    if (VARYING_COUNT > 4) {
        // MikkTSpace wants unit vectors at the vertices, and no normalisation after interpolation.
        vec4 tangent = unpack_tangent(packed_tangent);
        varyings[4] = vec4(normalize(direction_to_world(tangent.xyz)), tangent.w);
    }
    // The size of points, which is one pixel in glTF. Lines and triangles ignore it.
    gl_PointSize = 1.0;
    gl_Position = frame.clip_from_world * vec4(position_world, 1.0);
}

#endif

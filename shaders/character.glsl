// Transforms a skinned vertex from model space to clip space. Both ways of skinning share this code.
//
// In: a skinned vertex in model space, and its instance. Out: its position in clip space, and the values of
// varyings.glsl for the fragment shader.
#ifndef THRONG_CHARACTER
#define THRONG_CHARACTER

#include "instance.glsl"
#include "specialization.glsl"
#define VARYING out
#include "varyings.glsl"

// StaticVertex of src/shader_types.rs.
layout(location = 5) in vec4 in_tex_coords; // two pairs
layout(location = 6) in vec4 in_color;

void emit_vertex(Instance instance, SkinnedVertex skinned, uint packed_tangent) {
    surface_position = to_world(instance, skinned.position);
    surface_color = in_color * instance.tint;
    surface_u = in_tex_coords.x;
    surface_v = in_tex_coords.y;
    if (has_feature(FEATURE_TEX_COORDS_VARY)) {
        surface_second_tex_coord = in_tex_coords.zw;
    }
    if (!has_feature(FEATURE_FLAT) || has_feature(FEATURE_TANGENTS)) {
        surface_normal = normalize(direction_to_world(instance, unpack_octahedral(skinned.normal_octahedral)));
    }
    if (has_feature(FEATURE_TANGENTS)) {
        // MikkTSpace wants unit vectors at the vertices, and no normalisation after interpolation.
        vec4 tangent = unpack_tangent(packed_tangent);
        surface_tangent = vec4(normalize(direction_to_world(instance, tangent.xyz)), tangent.w);
    }
    // The size of points, which is one pixel in glTF. Lines and triangles ignore it.
    gl_PointSize = 1.0;
    gl_Position = frame.clip_from_world * vec4(surface_position, 1.0);
}

#endif

// Transforms a skinned vertex from model space to clip space. Both ways of skinning share this code.
//
// In: a skinned vertex in model space, and its instance. Out: its position in clip space; and position, normal, tangent,
// texture coordinates and colour for the fragment shader.
#ifndef THRONG_CHARACTER
#define THRONG_CHARACTER

#include "instance.glsl"
#include "material_features.glsl"

// Of the instance. Its numbers are at location 7, for debug views only.
layout(location = 4) in vec4 in_tint;

// StaticVertex of src/shader_types.rs.
layout(location = 5) in vec4 in_tex_coords; // two pairs
layout(location = 6) in vec4 in_color;

layout(location = 0) out vec3 out_position_world;
layout(location = 1) out vec3 out_normal_world;
layout(location = 2) out vec4 out_tex_coords; // two pairs
layout(location = 3) out vec4 out_color;
// Written only for materials with tangents. Some drivers interpolate it in any case, which costs a software rasteriser
// 2 % of a frame. A separate location for the second pair of texture coordinates would cost it 7 %.
layout(location = 4) out vec4 out_tangent_world; // w: handedness

void emit_vertex(SkinnedVertex skinned, uint packed_tangent) {
    out_position_world = to_world(skinned.position);
    // Of unit length, so that the length between the vertices tells how the surface curves (shadow.glsl).
    out_normal_world = normalize(direction_to_world(unpack_octahedral(skinned.normal_octahedral)));
    out_tex_coords = vec4(in_tex_coords.xy, 0.0, 0.0);
    out_color = in_color * in_tint;
    if (has_feature(FEATURE_TEX_COORDS_VARY)) {
        out_tex_coords.zw = in_tex_coords.zw;
    }
    if (has_feature(FEATURE_TANGENTS)) {
        // MikkTSpace wants unit vectors at the vertices, and no normalisation after interpolation.
        vec4 tangent = unpack_tangent(packed_tangent);
        out_tangent_world = vec4(normalize(direction_to_world(tangent.xyz)), tangent.w);
    }
    // The size of points, which is one pixel in glTF. Lines and triangles ignore it.
    gl_PointSize = 1.0;
    gl_Position = frame.clip_from_world * vec4(out_position_world, 1.0);
}

#endif

// What both ways of drawing a character's vertices have in common: from model space to the screen.
#ifndef THRONG_CHARACTER
#define THRONG_CHARACTER

#include "shared.glsl"
#include "surface.glsl"

layout(set = 1, binding = 2, std430) readonly buffer SurfaceVertices {
    SurfaceVertex surface_vertices[];
};

layout(location = 0) out vec3 out_position_world;
layout(location = 1) out vec3 out_normal_world;
layout(location = 2) out vec4 out_tex_coords; // two pairs
layout(location = 3) out vec4 out_color;
// Written only for surfaces with tangents. Some drivers interpolate it all the same, which costs a software rasteriser
// two hundredths of a frame; a location of its own for the second pair of coordinates cost it seven.
layout(location = 4) out vec4 out_tangent_world; // w: handedness

// Placements are rotations with uniform scale: the matrix itself will do for normals, too.
vec3 to_world(uint instance, vec3 direction) {
    JointMatrix m = instances[instance].world_from_model;
    return vec3(dot(m.rows[0].xyz, direction), dot(m.rows[1].xyz, direction), dot(m.rows[2].xyz, direction));
}

void emit_vertex(uint vertex, uint instance, SkinnedVertex skinned, uint packed_tangent) {
    out_position_world = transform_point(instances[instance].world_from_model, skinned.position);
    out_normal_world = to_world(instance, unpack_octahedral(skinned.normal_octahedral));
    float tex_coords[4] = surface_vertices[vertex].tex_coords;
    out_tex_coords = vec4(tex_coords[0], tex_coords[1], 0.0, 0.0);
    out_color = unpackUnorm4x8(surface_vertices[vertex].color_unorm8);
    if (surface_has(SURFACE_TEX_COORDS_VARY)) {
        out_tex_coords.zw = vec2(tex_coords[2], tex_coords[3]);
    }
    if (surface_has(SURFACE_TANGENTS)) {
        // Both of unit length at the vertices, as MikkTSpace wants it; between them they stay as interpolated.
        vec4 tangent = unpack_tangent(packed_tangent);
        out_normal_world = normalize(out_normal_world);
        out_tangent_world = vec4(normalize(to_world(instance, tangent.xyz)), tangent.w);
    }
    // Of points; ignored by everything else. glTF asks for one pixel.
    gl_PointSize = 1.0;
    gl_Position = frame.clip_from_world * vec4(out_position_world, 1.0);
}

#endif

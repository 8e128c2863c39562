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

void emit_vertex(uint vertex, uint instance, SkinnedVertex skinned) {
    JointMatrix world_from_model = instances[instance].world_from_model;
    vec3 position = vec3(skinned.position[0], skinned.position[1], skinned.position[2]);
    out_position_world = transform_point(world_from_model, position);
    // Placements are rotations with uniform scale: the matrix itself will do.
    vec4 normal = vec4(unpack_octahedral(skinned.normal_octahedral), 0.0);
    out_normal_world = vec3(dot(world_from_model.rows[0], normal), dot(world_from_model.rows[1], normal),
                            dot(world_from_model.rows[2], normal));
    // The second pair only where a texture uses it: interpolation costs, too.
    float tex_coords[4] = surface_vertices[vertex].tex_coords;
    out_tex_coords = vec4(tex_coords[0], tex_coords[1], 0.0, 0.0);
    if (surface_has(SURFACE_TEX_COORDS_VARY)) {
        out_tex_coords.zw = vec2(tex_coords[2], tex_coords[3]);
    }
    out_color = unpackUnorm4x8(surface_vertices[vertex].color_unorm8);
    gl_Position = frame.clip_from_world * vec4(out_position_world, 1.0);
    // Of points; ignored by everything else. glTF asks for one pixel.
    gl_PointSize = 1.0;
}

#endif

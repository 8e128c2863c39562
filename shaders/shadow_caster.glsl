// Transforms a skinned vertex from model space to clip space, for passes that draw depth alone. Both ways of skinning share
// this code.
#ifndef THRONG_SHADOW_CASTER
#define THRONG_SHADOW_CASTER

#include "instance.glsl"
#include "specialization.glsl"

// StaticVertex of src/shader_types.rs.
layout(location = 5) in vec4 in_tex_coords; // two pairs
layout(location = 6) in vec4 in_color;

// Written only for masked materials; the others have no fragment shader.
layout(location = 2) out float surface_u;
layout(location = 2, component = 1) out float surface_v;
layout(location = 2, component = 2) out vec2 surface_second_tex_coord;
layout(location = 3) out vec4 surface_color;

void emit_caster(Instance instance, vec3 position, mat4 clip_from_world) {
    gl_Position = clip_from_world * vec4(to_world(instance, position), 1.0);
    if (has_feature(FEATURE_MASKED)) {
        surface_u = in_tex_coords.x;
        surface_v = in_tex_coords.y;
        surface_second_tex_coord = in_tex_coords.zw;
        surface_color = in_color * instance.tint;
    }
}

#endif

// Cuts the holes of a masked material out of its shadow.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(location = 2) in float surface_u;
layout(location = 2, component = 1) in float surface_v;
layout(location = 2, component = 2) in vec2 surface_second_tex_coord;
layout(location = 3) in vec4 surface_color;

#include "material.glsl"

void main() {
    if (surface_color.a * base_color().a < material.alpha_cutoff) {
        discard;
    }
}

// Cuts the holes of a masked material out of its shadow.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(location = 2) in vec4 surface_tex_coords; // two pairs
layout(location = 3) in vec4 surface_color;

#include "material.glsl"

void main() {
    if (surface_color.a * base_color().a < material.alpha_cutoff) {
        discard;
    }
}

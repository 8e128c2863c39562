// Cuts the holes of a masked material out of its shadow.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(location = 2) in vec4 in_tex_coords; // two pairs
layout(location = 3) in vec4 in_color;

vec4 tex_coord_pairs() {
    return in_tex_coords;
}

#include "material.glsl"

void main() {
    if (in_color.a * base_color().a < material.alpha_cutoff) {
        discard;
    }
}

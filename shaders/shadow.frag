// Cuts the holes of a masked material out of its shadow.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "material.glsl"

layout(location = 3) in vec4 in_color;

void main() {
    if (in_color.a * base_color().a < material.alpha_cutoff) {
        discard;
    }
}

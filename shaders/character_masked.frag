// Shades a character whose material has a mask (shading.glsl). Its holes must not write depth, so the depth test comes last.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shading.glsl"

void main() {
    out_color = shaded_color();
}

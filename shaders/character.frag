// Shades a character (shading.glsl), unless a mask cuts holes into it (character_masked.frag).
//
// Hidden fragments must not be shaded. Most GPUs test the depth first by themselves. But a driver may also test it last if the
// shader does not ask, and then a crowd is shaded several times over.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shading.glsl"

layout(early_fragment_tests) in;

void main() {
    out_color = shaded_color();
}

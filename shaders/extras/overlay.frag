// The overlay's colour: that of the vertex times that of the atlas. Both are sRGB-encoded and multiplied by alpha, and are
// blended as they are, which is how text looks best on most displays.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "specialization.glsl"

layout(set = 0, binding = 0) uniform sampler2D atlas;

layout(location = 0) in vec2 in_tex_coords;
layout(location = 1) in vec4 in_color;

layout(location = 0) out vec4 out_color;

void main() {
    vec4 color = in_color * texture(atlas, in_tex_coords);
    if (ENCODES_SRGB == 0) {
        // The format encodes what the shader writes.
        color.rgb = pow(color.rgb / max(color.a, 1e-4), vec3(2.2)) * color.a;
    }
    out_color = color;
}

// The outline of the selected character: a line around the pixels that its silhouette covers.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "specialization.glsl"

// The depth of the character alone. 0 where it is not.
layout(set = 0, binding = 0) uniform sampler2D silhouette;

layout(location = 0) out vec4 out_color; // multiplied by alpha

// The line's half width in pixels, without the pixel at its edge.
const float WIDTH = 2.0;
// sRGB-encoded.
const vec3 COLOR = vec3(1.0, 0.66, 0.16);

void main() {
    ivec2 size = textureSize(silhouette, 0);
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float alpha = 0.0;
    for (int y = -3; y <= 3; ++y) {
        for (int x = -3; x <= 3; ++x) {
            ivec2 neighbour = clamp(pixel + ivec2(x, y), ivec2(0), size - 1);
            float near = clamp(WIDTH + 1.0 - length(vec2(x, y)), 0.0, 1.0);
            alpha = max(alpha, texelFetch(silhouette, neighbour, 0).r > 0.0 ? near : 0.0);
        }
    }
    alpha = texelFetch(silhouette, pixel, 0).r > 0.0 ? 0.0 : alpha;
    out_color = vec4(COLOR, 1.0) * alpha;
    if (ENCODES_SRGB == 0) {
        // The format encodes what the shader writes.
        out_color.rgb = pow(COLOR, vec3(2.2)) * alpha;
    }
}

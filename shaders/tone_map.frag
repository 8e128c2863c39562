// Tone mapping: from linear, unbounded radiance to the display's range.
//
// In an opaque image alpha is the share of a pixel that bypasses the tone curve: unlit materials and a plain
// background, debug views and bones, whose colours are meant for display. Because alpha is a share, edges between lit and
// unlit materials stay smooth when samples are resolved. In a transparent image alpha is coverage, and they write the
// radiance that the curve maps to their colour.
//
// Cost of a pixel: 12 bytes (8 read, 4 written), and one long chain of operations, so each division on it counts.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "specialization.glsl"
#include "tone_curve.glsl"

layout(set = 0, binding = 0) uniform sampler2D hdr_color;

layout(push_constant) uniform ToneMapConstants {
    float exposure; // a factor of radiance
};

layout(location = 0) noperspective in vec2 in_tex_coord;

layout(location = 0) out vec4 out_color;

// Encodes linear 0 to 1 as sRGB (IEC 61966-2-1). The power 1 / 2.4 is that of 5 / 6 of a square root: a rational
// function of the root, fitted from 0.0031308 to 1, differs by at most 0.03 / 255. It costs a third of pow.
vec3 encode_srgb(vec3 linear) {
    vec3 root = sqrt(linear);
    vec3 numerator = (4.53247341 * root + 1.43966375) * root - 0.04380577;
    vec3 high = numerator / ((0.38167923 * root + 4.54735313) * root + 1.0);
    return mix(high, 12.92 * linear, lessThanEqual(linear, vec3(0.0031308)));
}

void main() {
    // The texel of this pixel.
    vec4 texel = max(textureLod(hdr_color, in_tex_coord, 0.0), vec4(0.0));
    float alpha = min(texel.a, 1.0);
    vec3 color;
    if (has_feature(FEATURE_TRANSPARENT)) {
        // The radiance is already multiplied by alpha. PNG wants the colour without that factor.
        color = display_from_radiance(exposure * texel.rgb / max(alpha, 1e-4));
    } else {
        color = mix(display_from_radiance(exposure * texel.rgb), texel.rgb, alpha);
        alpha = 1.0;
    }
    out_color = vec4(ENCODES_SRGB != 0 ? encode_srgb(clamp(color, 0.0, 1.0)) : color, alpha);
}

// From linear, unbounded radiance to what a display shows.
//
// Alpha is the share of a pixel that is shown as it is: unlit surfaces, whose colours were chosen as they are to be
// seen. The curve below would darken them by 0.04, which makes room for a lit surface's reflection, and dull what is
// brighter than 0.8. As a share, edges between lit and unlit surfaces stay smooth when samples are resolved.
#version 460

layout(set = 0, binding = 0) uniform sampler2D hdr_color;

// 1: the target is a plain eight-bit format and the shader encodes sRGB (the same on every driver); 0: the target's
// format does it.
layout(constant_id = 0) const uint ENCODE_SRGB = 1;

layout(location = 0) out vec4 out_color;

// Khronos PBR Neutral: leaves base colours as their artists chose them and compresses only highlights.
vec3 pbr_neutral(vec3 color) {
    const float compression_start = 0.8 - 0.04;
    const float desaturation = 0.15;
    float x = min(color.r, min(color.g, color.b));
    float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
    color -= offset;
    float peak = max(color.r, max(color.g, color.b));
    if (peak < compression_start) {
        return color;
    }
    const float d = 1.0 - compression_start;
    float new_peak = 1.0 - d * d / (peak + d - compression_start);
    color *= new_peak / peak;
    float g = 1.0 - 1.0 / (desaturation * (peak - new_peak) + 1.0);
    return mix(color, vec3(new_peak), g);
}

vec3 encode_srgb(vec3 linear) {
    vec3 low = linear * 12.92;
    vec3 high = 1.055 * pow(max(linear, vec3(0.0)), vec3(1.0 / 2.4)) - 0.055;
    return mix(high, low, lessThanEqual(linear, vec3(0.0031308)));
}

void main() {
    vec4 texel = max(texelFetch(hdr_color, ivec2(gl_FragCoord.xy), 0), vec4(0.0));
    vec3 color = mix(pbr_neutral(texel.rgb), texel.rgb, min(texel.a, 1.0));
    out_color = vec4(ENCODE_SRGB != 0 ? encode_srgb(clamp(color, 0.0, 1.0)) : color, 1.0);
}

// Tone mapping: from linear, unbounded radiance to the display's range.
//
// Alpha is the share of a pixel that bypasses the tone curve: the unlit materials, whose colours are meant for display.
// The curve subtracts 0.04 to compensate for the reflection of a lit material, and compresses values above 0.8. Because
// alpha is a share, edges between lit and unlit materials stay smooth when samples are resolved.
#version 460

layout(set = 0, binding = 0) uniform sampler2D hdr_color;

// 1 if the target has a UNORM format: the shader then encodes sRGB, with the same result on every driver. 0 if the target
// has an sRGB format.
layout(constant_id = 0) const uint ENCODE_SRGB = 1;

layout(location = 0) out vec4 out_color;

// Khronos PBR Neutral: preserves base colours and compresses highlights only.
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

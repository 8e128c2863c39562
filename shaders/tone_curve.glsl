// The tone curve and its inverse: Khronos PBR Neutral, which preserves base colours and compresses highlights only.
#ifndef THRONG_TONE_CURVE
#define THRONG_TONE_CURVE

// The curve subtracts up to 0.04, the reflection of a lit material, and compresses what is above COMPRESSION_START.
const float COMPRESSION_START = 0.8 - 0.04;
const float DESATURATION = 0.15;

// Maps linear radiance to linear display colour.
vec3 display_from_radiance(vec3 color) {
    float x = min(color.r, min(color.g, color.b));
    float offset = x < 0.08 ? x - 6.25 * x * x : 0.04;
    color -= offset;
    float peak = max(color.r, max(color.g, color.b));
    if (peak < COMPRESSION_START) {
        return color;
    }
    const float d = 1.0 - COMPRESSION_START;
    float new_peak = 1.0 - d * d / (peak + d - COMPRESSION_START);
    color *= new_peak / peak;
    float g = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
    return mix(color, vec3(new_peak), g);
}

// Returns the radiance that the curve maps to a display colour. White, which no radiance reaches, becomes 57.
vec3 radiance_from_display(vec3 color) {
    const float d = 1.0 - COMPRESSION_START;
    color = min(color, vec3(0.999));
    float new_peak = max(color.r, max(color.g, color.b));
    if (new_peak >= COMPRESSION_START) {
        float peak = d * d / (1.0 - new_peak) - d + COMPRESSION_START;
        float kept = 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
        color = (color - new_peak * (1.0 - kept)) / kept * (peak / new_peak);
    }
    float x = min(color.r, min(color.g, color.b));
    return color + (x < 0.04 ? sqrt(max(x, 0.0) / 6.25) - x : 0.04);
}

#endif

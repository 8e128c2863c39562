// The tone curve and its inverse: Khronos PBR Neutral, which preserves base colours and compresses highlights only.
#ifndef THRONG_TONE_CURVE
#define THRONG_TONE_CURVE

// The curve subtracts up to 0.04, the reflection of a lit material, and compresses what is above COMPRESSION_START.
const float COMPRESSION_START = 0.8 - 0.04;
const float DESATURATION = 0.15;

// Maps linear radiance to linear display colour. Without branches, of which Mesa's lavapipe executes both sides.
vec3 display_from_radiance(vec3 color) {
    float least = min(min(color.r, min(color.g, color.b)), 0.08);
    color -= least - 6.25 * least * least;
    // The curve lowers the peak by lowered = excess^2 / (excess + d), and highlights lose their saturation:
    // kept = 1 / (DESATURATION * lowered + 1). The result is
    // color * kept * (peak - lowered) / peak + (peak - lowered) * (1 - kept), here with one division instead of three and
    // without the difference of large numbers. The least peak is only there against a division of 0 by 0.
    float peak = max(max(color.r, max(color.g, color.b)), 1e-6);
    const float d = 1.0 - COMPRESSION_START;
    float low = min(peak, COMPRESSION_START);
    float excess = peak - low;
    float a = excess + d;
    float gray = DESATURATION * excess * excess;
    float factor = (low * excess + d * peak) / (peak * a * (a + gray));
    return factor * (a * color + gray * peak);
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

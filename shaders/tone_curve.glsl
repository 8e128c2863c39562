// The tone curve and its inverse: Khronos PBR Neutral, which preserves base colours and compresses highlights only.
#ifndef THRONG_TONE_CURVE
#define THRONG_TONE_CURVE

// The curve subtracts up to 0.04, the reflection of a lit material, and compresses what is above COMPRESSION_START.
const float COMPRESSION_START = 0.8 - 0.04;
const float DESATURATION = 0.15;

// The largest finite number of the HDR target's format. Fragment shaders write no greater radiance: a GPU may round it to
// infinity, and blending and resolving would turn that into a NaN.
const float LARGEST_HALF = 65504.0;

// Maps linear radiance to linear display colour, without branches: neighbouring pixels would take both sides.
// Radiance above the largest half is white in any case, and infinity would become a NaN.
vec3 display_from_radiance(vec3 color) {
    color = min(color, LARGEST_HALF);
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

// Returns the radiance that the curve maps to a display colour. White, which no radiance reaches, becomes 57. The curve takes
// saturation from highlights, so no radiance becomes a bright saturated colour: that colour is darkened until one does. Pure
// red, 255, becomes 226.
vec3 radiance_from_display(vec3 color) {
    const float d = 1.0 - COMPRESSION_START;
    color = min(color, vec3(0.999));
    float peak = max(color.r, max(color.g, color.b));
    if (peak >= COMPRESSION_START) {
        // The part 1 - kept of a highlight is white, so the least channel is at least that part of the peak:
        // DESATURATION * lowered <= share / (1 - share). With u = 1 - reached, lowered = (d - u)^2 / u. This is the smaller
        // root of u^2 - (2 d + most_lowered) u + d^2, without a difference of large numbers.
        float share = min(color.r, min(color.g, color.b)) / peak;
        float most_lowered = share / (max(1.0 - share, 1e-4) * DESATURATION);
        float least_u = 2.0 * d * d / (2.0 * d + most_lowered + sqrt(most_lowered * (4.0 * d + most_lowered)));
        float reached = min(peak, 1.0 - least_u);
        color *= reached / peak;
        float radiance_peak = d * d / (1.0 - reached) - d + COMPRESSION_START;
        float kept = 1.0 / (DESATURATION * (radiance_peak - reached) + 1.0);
        color = (color - reached * (1.0 - kept)) / kept * (radiance_peak / reached);
    }
    float x = min(color.r, min(color.g, color.b));
    return color + (x < 0.04 ? sqrt(max(x, 0.0) / 6.25) - x : 0.04);
}

// Returns the radiance that becomes a display colour. `exposure` is a factor of radiance. In a transparent image, in which no
// colour bypasses the curve, surfaces that are not lit write this. At a low exposure it exceeds the target's numbers, and
// infinity would turn into NaN.
vec3 radiance_shown_as(vec3 color, float exposure) {
    return min(radiance_from_display(color) / exposure, LARGEST_HALF);
}

#endif

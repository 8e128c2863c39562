// One directional light and a sky: enough to read shape and pose, cheap enough for a software rasteriser.
#ifndef THRONG_LIGHTING
#define THRONG_LIGHTING

#include "shared.glsl"

const vec3 SKY_ZENITH = vec3(0.20, 0.36, 0.62);
const vec3 SKY_HORIZON = vec3(0.62, 0.72, 0.82);
const vec3 GROUND_BOUNCE = vec3(0.20, 0.19, 0.16);

// Radiance of the sky in a direction of unit length.
vec3 sky(vec3 direction) {
    float up = clamp(direction.y, 0.0, 1.0);
    return mix(SKY_HORIZON, SKY_ZENITH, 1.0 - exp(-3.0 * up));
}

// Ambient light from the sky above and, reflected by the ground, from below.
vec3 ambient(vec3 normal) {
    return mix(GROUND_BOUNCE, 0.75 * mix(SKY_HORIZON, SKY_ZENITH, 0.5), 0.5 + 0.5 * normal.y);
}

// Fades distant ground into the colour of the horizon, or into a plain background, so that the ground has no visible edge.
vec4 haze(vec4 color, float distance_metres, float half_distance_metres) {
    vec4 behind = mix(vec4(SKY_HORIZON, 0.0), frame.background, frame.picture.x);
    return mix(behind, color, exp2(-distance_metres / half_distance_metres));
}

#endif

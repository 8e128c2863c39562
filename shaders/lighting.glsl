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

// Light that comes from everywhere above and, bounced, from below.
vec3 ambient(vec3 normal) {
    return mix(GROUND_BOUNCE, 0.75 * mix(SKY_HORIZON, SKY_ZENITH, 0.5), 0.5 + 0.5 * normal.y);
}

layout(set = 0, binding = 3) uniform sampler2DShadow shadow_map;

// Level 0 by name: in non-uniform control flow there are no derivatives to choose a level by.
float compare(vec2 place, float depth) {
    return textureLod(shadow_map, vec3(place, depth), 0.0);
}

// How much of the light arrives at a place: 1 all of it. Four bilinear comparisons make a soft edge of about three
// texels. The place is moved off its surface by a texel or so, which keeps surfaces from shadowing themselves: along the
// triangle's own normal, since a file's may point anywhere, and towards the light.
float light_arriving(vec3 place_world, vec3 face_normal) {
    if (frame.shadow.z == 0.0) {
        return 1.0;
    }
    float side = dot(face_normal, frame.to_light.xyz) < 0.0 ? -1.0 : 1.0;
    vec4 place = frame.shadow_from_world * vec4(place_world + 1.5 * side * frame.shadow.y * face_normal, 1.0);
    // Outside the map nothing casts a shadow. Near its edge shadows fade out.
    float edge = max(abs(place.x), abs(place.y));
    if (edge >= 1.0 || place.z <= 0.0 || place.z >= 1.0) {
        return 1.0;
    }
    // The map was drawn with +Y up, and its rows count downwards.
    vec2 middle = place.xy * vec2(0.5, -0.5) + 0.5;
    float texel = frame.shadow.x;
    float lit = compare(middle + texel * vec2(-0.5, -0.5), place.z)
              + compare(middle + texel * vec2(0.5, -0.5), place.z)
              + compare(middle + texel * vec2(-0.5, 0.5), place.z)
              + compare(middle + texel * vec2(0.5, 0.5), place.z);
    float strength = frame.shadow.z * (1.0 - smoothstep(0.9, 1.0, edge));
    return mix(1.0, 0.25 * lit, strength);
}

// Distance fades into the horizon: a ground without an edge.
vec3 haze(vec3 color, float distance_metres, float half_distance_metres) {
    float kept = exp2(-distance_metres / half_distance_metres);
    return mix(SKY_HORIZON, color, kept);
}

#endif

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

layout(set = 0, binding = 4) uniform sampler2DShadow shadow_map;

// An explicit level, because non-uniform control flow has no derivatives.
float compare(vec2 tex_coord, float depth) {
    return textureLod(shadow_map, vec3(tex_coord, depth), 0.0);
}

// Returns the share of the sun's light that reaches a point, 0 to 1. Four bilinear comparisons make a soft edge of about
// three texels. To prevent self-shadowing, the point is moved off the surface by 1.5 texels, towards the light. It moves
// along the triangle's normal, because a file's own normals may have any direction.
float sunlight(vec3 position_world, vec3 face_normal) {
    float side = dot(face_normal, frame.to_light.xyz) < 0.0 ? -1.0 : 1.0;
    vec4 shadow_position = frame.shadow_from_world * vec4(position_world + 1.5 * side * frame.shadow.y * face_normal, 1.0);
    // Nothing casts a shadow outside the map, or if the strength is 0. The condition varies even so: a branch on uniforms
    // alone is slow on Mesa's lavapipe (ground.vert). Near the edge of the map shadows fade out.
    float edge = max(abs(shadow_position.x), abs(shadow_position.y));
    if (edge >= 1.0 || shadow_position.z * frame.shadow.z <= 0.0 || shadow_position.z >= 1.0) {
        return 1.0;
    }
    // The map was drawn with +Y up, and texture coordinates point down.
    vec2 center = shadow_position.xy * vec2(0.5, -0.5) + 0.5;
    float texel = frame.shadow.x;
    float lit = compare(center + texel * vec2(-0.5, -0.5), shadow_position.z)
              + compare(center + texel * vec2(0.5, -0.5), shadow_position.z)
              + compare(center + texel * vec2(-0.5, 0.5), shadow_position.z)
              + compare(center + texel * vec2(0.5, 0.5), shadow_position.z);
    float strength = frame.shadow.z * (1.0 - smoothstep(0.9, 1.0, edge));
    return mix(1.0, 0.25 * lit, strength);
}

// Fades distant ground into the colour of the horizon, so that the ground has no visible edge.
vec3 haze(vec3 color, float distance_metres, float half_distance_metres) {
    float kept = exp2(-distance_metres / half_distance_metres);
    return mix(SKY_HORIZON, color, kept);
}

#endif

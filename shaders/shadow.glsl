// The share of the sun's light that reaches a point, from the shadow map.
#ifndef THRONG_SHADOW
#define THRONG_SHADOW

#include "shared.glsl"

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

#endif

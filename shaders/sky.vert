// The sky: one triangle on the far plane (reversed Z: depth 0), above the strip where the ground hides it. Flat
// varyings hand on the colours, as in ground.vert.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) out vec3 out_direction_world; // of any length
layout(location = 1) flat out vec3 out_disc; // radiance that the sun's disc adds
layout(location = 2) flat out SkyData out_sky;

void main() {
    const vec2 corners[3] = vec2[3](vec2(-1, -1), vec2(3, -1), vec2(-1, 3));
    vec2 corner = corners[gl_VertexIndex] + vec2(0.0, frame.hidden_sky_height);
    // Any point in front of the camera gives the direction. A point at depth 0 would be infinitely far away.
    vec4 position = frame.direction_from_clip * vec4(corner, 0.5, 1.0);
    out_direction_world = position.xyz / position.w;
    // Brighter than 20 times a surface in the sun looks no brighter.
    out_disc = 20.0 * frame.light_color;
    out_sky = frame.sky;
    gl_Position = vec4(corner, 0.0, 1.0);
}

// The sky behind everything, with the sun's disc.
//
// Cost of a pixel: 8 bytes and about 50 operations.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sky.glsl"

// As in sky.vert.
layout(location = 0) in vec3 in_direction_world;
layout(location = 1) flat in vec3 in_disc;
layout(location = 2) flat in SkyData in_sky;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

// As in character.frag.
layout(early_fragment_tests) in;

void main() {
    vec3 direction = normalize(in_direction_world);
    // Half a degree from the sun's centre the disc ends, with a soft edge.
    const float EDGE = 0.99996, SOFT_EDGE = 0.00003;
    float disc = clamp((dot(direction, in_sky.to_sun.xyz) - EDGE) / SOFT_EDGE, 0.0, 1.0);
    out_color = vec4(sky_radiance(in_sky, direction) + disc * in_disc, 0.0);
}

// The sky behind everything, with the sun's disc.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) in vec3 in_direction_world;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

void main() {
    vec3 direction = normalize(in_direction_world);
    // Half a degree from the sun's centre the disc ends, with a soft edge. Brighter than 20 looks no brighter.
    const float EDGE = 0.99996, SOFT_EDGE = 0.00003;
    float disc = clamp((dot(direction, frame.sky.to_sun.xyz) - EDGE) / SOFT_EDGE, 0.0, 1.0);
    out_color = vec4(sky_radiance(frame.sky, direction) + 20.0 * disc * frame.light_color.rgb, 0.0);
}

// The ground: a checkerboard and a faint grid for scale, ten cells to a square, in the light of sun and sky. Ground that no
// shadow can reach does not read the shadow map, which is half of its cost on Mesa's lavapipe.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "shadow.glsl"

// 1 for the part of the ground that shadows may reach.
layout(constant_id = 0) const uint IS_SHADED = 1;

layout(location = 0) in vec3 in_position_world;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

// Returns 1 on the lines of a square grid and 0 elsewhere. `pixel` is the size of a pixel in cells, for antialiasing.
float grid(vec2 cells, vec2 pixel, float half_width) {
    vec2 distance_cells = abs(fract(cells - 0.5) - 0.5);
    vec2 line = 1.0 - clamp((distance_cells - half_width) / pixel, 0.0, 1.0);
    // Lines closer than a few pixels fade out.
    vec2 fade = 1.0 - clamp(pixel * 4.0, 0.0, 1.0);
    return max(line.x * fade.x, line.y * fade.y);
}

// Returns the share of the pixel that dark squares of a checkerboard cover, from the integral of the pattern over the pixel
// (Quilez, "Box-filtering procedural patterns").
float checker(vec2 cells, vec2 pixel) {
    vec2 integral = abs(fract(0.5 * (cells - 0.5 * pixel)) - 0.5) - abs(fract(0.5 * (cells + 0.5 * pixel)) - 0.5);
    vec2 sign = 2.0 * integral / pixel;
    return 0.5 - 0.5 * sign.x * sign.y;
}

void main() {
    vec3 from_camera = in_position_world - frame.camera_position.xyz;
    const vec3 up = vec3(0.0, 1.0, 0.0);
    vec2 cells = in_position_world.xz / frame.ground.z;
    vec2 pixel = max(fwidth(cells), 1e-5);
    float lines = grid(cells, pixel, 0.004);
    float dark = checker(0.1 * cells, 0.1 * pixel);
    float sunlit = IS_SHADED != 0 ? sunlight(Receiver(in_position_world, up)) : 1.0;
    vec3 lit = frame.ground_ambient.rgb + sunlit * frame.ground_sunlit.rgb;
    // The squares are of two tints, whose mean is the colour of the ground.
    const vec3 CONTRAST = vec3(0.17, 0.14, 0.11);
    lit *= (1.0 + CONTRAST * (0.5 - dark)) * (1.0 - 0.08 * lines);
    // Distant ground fades into the horizon. A rational function costs less than exp2 and a square root.
    float scale = 60.0 * (frame.ground.y + abs(frame.camera_position.y - frame.ground.x));
    float clear = 1.0 / (1.0 + dot(from_camera, from_camera) / (scale * scale));
    out_color = mix(frame.background, vec4(lit, frame.picture.y), clear * clear);
}

// The ground: a checkerboard and a faint grid for scale, ten cells to a square, in the light of sun and sky. Ground
// that no shadow can reach does not read the shadow map, which is half of its cost.
//
// Cost of a pixel without shadows: 12 bytes (8 of colour, 4 of depth), about 100 operations, and no read of a uniform block.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "shadow.glsl"
#include "specialization.glsl"

// As in ground.vert.
layout(location = 0) in vec4 in_place;
layout(location = 1) flat in vec4 in_shaded;
layout(location = 2) flat in vec4 in_sunlit;
layout(location = 3) flat in vec4 in_background;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

// As in character.frag.
layout(early_fragment_tests) in;

// Returns 1 on the lines of a square grid and 0 elsewhere. `pixel` is the size of a pixel in cells, for antialiasing,
// and `per_pixel` its reciprocal.
float grid(vec2 cells, vec2 pixel, vec2 per_pixel, float half_width) {
    vec2 distance_cells = abs(fract(cells - 0.5) - 0.5);
    vec2 line = 1.0 - clamp((distance_cells - half_width) * per_pixel, 0.0, 1.0);
    // Lines closer than a few pixels fade out.
    vec2 fade = 1.0 - min(pixel * 4.0, 1.0);
    return max(line.x * fade.x, line.y * fade.y);
}

// Returns the share of light squares of a checkerboard in the pixel minus that of dark ones, from the integral of the
// pattern over the pixel (Quilez, "Box-filtering procedural patterns").
float checker(vec2 cells, vec2 pixel, vec2 per_pixel) {
    vec2 integral = abs(fract(0.5 * (cells - 0.5 * pixel)) - 0.5) - abs(fract(0.5 * (cells + 0.5 * pixel)) - 0.5);
    vec2 sign = 2.0 * integral * per_pixel;
    return sign.x * sign.y;
}

void main() {
    vec2 cells = in_place.xy;
    vec2 pixel = max(fwidth(cells), 1e-5);
    vec2 per_pixel = 1.0 / pixel;
    float lines = grid(cells, pixel, per_pixel, 0.004);
    float light_squares = checker(0.1 * cells, 0.1 * pixel, 10.0 * per_pixel);
    float sunlit = 1.0;
    if (GROUND_IS_SHADED != 0) {
        vec2 position = frame.ground_cell_metres * (cells - frame.ground_offset_cells);
        sunlit = sunlight(Receiver(vec3(position.x, 0.0, position.y), vec3(0.0, 1.0, 0.0)));
    }
    vec3 lit = in_shaded.rgb + sunlit * in_sunlit.rgb;
    // The squares are of two tints, whose mean is the colour of the ground.
    const vec3 CONTRAST = vec3(0.17, 0.14, 0.11);
    lit *= (1.0 + 0.5 * CONTRAST * light_squares) * (1.0 - 0.08 * lines);
    // Distant ground fades into the horizon. A rational function costs less than exp2 and a square root.
    float clear = 1.0 / (1.0 + dot(in_place.zw, in_place.zw) + in_shaded.a);
    clear *= clear;
    if (GROUND_IS_SHADED == 2) {
        // The share of the light that is left. A colour becomes darker; nothing becomes black that covers what is behind it.
        const vec3 LUMINANCE = vec3(0.2126, 0.7152, 0.0722);
        vec3 all = in_shaded.rgb + in_sunlit.rgb;
        float left = mix(1.0, dot(in_shaded.rgb + sunlit * in_sunlit.rgb, LUMINANCE) / max(dot(all, LUMINANCE), 1e-6), clear);
        out_color = vec4(in_background.rgb * left, max(in_background.a, 1.0 - left));
    } else {
        out_color = mix(in_background, vec4(lit, in_sunlit.a), clear);
    }
}

// The ground, with a faint grid for scale (every tenth line is stronger), and the sky.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lighting.glsl"
#include "shadow.glsl"

layout(location = 0) in vec3 in_position_world;
layout(location = 1) flat in uint in_is_sky;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

// Returns 1 on the lines of a square grid. The pixel's footprint antialiases them; lines closer than a few pixels fade out.
float grid(vec2 position, vec2 footprint, float spacing, float half_width) {
    vec2 cells = position / spacing;
    vec2 pixel = footprint / spacing;
    vec2 distance_cells = abs(fract(cells - 0.5) - 0.5);
    vec2 line = 1.0 - clamp((distance_cells - half_width) / max(pixel, 1e-5), 0.0, 1.0);
    vec2 fade = 1.0 - clamp(pixel * 4.0, 0.0, 1.0);
    return max(line.x * fade.x, line.y * fade.y);
}

void main() {
    vec3 from_camera = in_position_world - frame.camera_position.xyz;
    if (in_is_sky != 0) {
        out_color = vec4(sky(normalize(from_camera)), 0.0);
        return;
    }
    const vec3 up = vec3(0.0, 1.0, 0.0);
    vec2 position = in_position_world.xz;
    vec2 footprint = fwidth(position);
    float spacing = frame.ground.z;
    float lines = 0.5 * grid(position, footprint, spacing, 0.004) + grid(position, footprint, 10.0 * spacing, 0.0008);
    vec3 albedo = vec3(0.30, 0.29, 0.27) * (1.0 - 0.22 * lines);
    vec3 sun = sunlight(in_position_world, up) * frame.light_color.rgb * frame.to_light.y / 3.14159265;
    vec3 lit = albedo * (sun + ambient(up));
    float half_distance = 12.0 * (frame.ground.y + abs(frame.camera_position.y - frame.ground.x));
    out_color = haze(vec4(lit, frame.picture.y), length(from_camera), half_distance);
}

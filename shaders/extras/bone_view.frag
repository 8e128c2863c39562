// Shades a bone by the direction of its faces, and darkens its edges.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "tone_curve.glsl"
#include "triangle.glsl"

layout(location = 0) in vec3 in_position_world;
layout(location = 1) flat in vec3 in_color;
layout(location = 2) in vec3 in_corner;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

void main() {
    vec3 to_camera = normalize(frame.camera_position - in_position_world);
    vec3 normal = normal_of_triangle(in_position_world, to_camera);
    // The light comes from above the camera, so that neighbouring faces differ.
    float shade = 0.35 + 0.65 * clamp(dot(normal, normalize(to_camera + vec3(0.0, 0.8, 0.0))), 0.0, 1.0);
    // The distance from the nearest edge in pixels.
    vec3 pixels = in_corner / max(fwidth(in_corner), vec3(1e-6));
    float edge = 1.0 - smoothstep(0.4, 1.2, min(pixels.x, min(pixels.y, pixels.z)));
    vec3 color = in_color * shade * (1.0 - 0.6 * edge);
    out_color = vec4(mix(color, radiance_shown_as(color, frame.exposure), frame.opaque_alpha), 1.0);
}

// Shows data instead of light: colours bypass the tone curve, and are a little darker where the surface turns away, so
// that its shape is seen. Directions and texture coordinates are numbers, so these views have no shading.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "colors.glsl"
#include "specialization.glsl"
#include "debug_views.glsl"
#include "tone_curve.glsl"
#include "triangle.glsl"
#define VARYING in
#include "varyings.glsl"
#include "material.glsl"

layout(location = 5) in vec4 in_blended;
layout(location = 6) flat in vec3 in_whole;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

// Returns the colour of a direction of unit length: 0.5 is zero.
vec3 direction_color(vec3 direction) {
    return from_display(0.5 + 0.5 * direction);
}

// Returns the colour of a weight: grey for 0, then from blue (little) over green (half) to red (1).
vec3 heat_color(float weight) {
    vec3 warm = from_display(0.95 * hue_color(2.0 / 3.0 * (1.0 - clamp(weight, 0.0, 1.0))));
    return mix(vec3(0.30), warm, smoothstep(0.0, 0.02, weight));
}

// Returns a checkerboard with the texture coordinates as red and green.
vec3 tex_coord_color(vec2 tex_coord) {
    vec2 tile = fract(tex_coord);
    vec2 squares = floor(tile * 8.0);
    float is_dark = mod(squares.x + squares.y, 2.0);
    return from_display(mix(1.0, 0.75, is_dark) * vec3(tile, 0.35));
}

void main() {
    // Derivatives are undefined after a discard, so everything that needs them comes first.
    float alpha = surface_color.a * base_color().a;
    vec3 to_camera = unit(frame.camera_position - surface_position);
    float side = side_of_triangle(surface_normal, surface_position, to_camera);
    vec3 face_normal = normal_of_triangle(surface_position, to_camera);
    vec3 normal = has_feature(FEATURE_FLAT) ? face_normal : side * unit(surface_normal);
    if (has_feature(FEATURE_MASKED) && alpha < material.alpha_cutoff) {
        discard;
    }
    float facing = clamp(dot(normal, to_camera), 0.0, 1.0);
    float shade = has_feature(FEATURE_THIN) ? 1.0 : mix(0.35, 1.0, facing);
    vec3 color = shade * in_whole;
    if (DEBUG_VIEW == VIEW_NORMALS) {
        color = direction_color(normal);
    }
    if (DEBUG_VIEW == VIEW_TANGENTS) {
        color = direction_color(has_feature(FEATURE_TANGENTS) ? unit(surface_tangent.xyz) : vec3(0.0));
    }
    if (DEBUG_VIEW == VIEW_TEX_COORDS) {
        color = tex_coord_color(vec2(surface_u, surface_v));
    }
    if (DEBUG_VIEW == VIEW_COLORS) {
        color = shade * surface_color.rgb;
    }
    if (DEBUG_VIEW == VIEW_WEIGHTS) {
        color = shade * in_blended.rgb;
    }
    if (DEBUG_VIEW == VIEW_HEAT) {
        color = shade * heat_color(in_blended.x);
    }
    if (DEBUG_VIEW == VIEW_CLAY) {
        color = shade * from_display(vec3(0.80, 0.77, 0.72));
    }
    if (DEBUG_VIEW == VIEW_WIRES) {
        color = from_display(vec3(0.28, 0.33, 0.46));
    }
    out_color = vec4(mix(color, radiance_shown_as(color, frame.exposure), frame.opaque_alpha), 1.0);
}

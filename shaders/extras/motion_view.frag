// Shows the way of each vertex since the last frame: a direction as a colour, grey where nothing moves, black where no last
// position is known. Colours bypass the tone curve.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"
#include "colors.glsl"
#include "tone_curve.glsl"

// As in shadow_caster.glsl.
layout(location = 2) in float surface_u;
layout(location = 2, component = 1) in float surface_v;
layout(location = 2, component = 2) in vec2 surface_second_tex_coord;
layout(location = 3) in vec4 surface_color;

#include "material.glsl"

layout(location = 5) in vec4 in_way;

layout(location = 0) out vec4 out_color; // alpha: see tone_map.frag

void main() {
    if (has_feature(FEATURE_MASKED) && surface_color.a * base_color().a < material.alpha_cutoff) {
        discard;
    }
    vec3 color = in_way.w > 0.99 ? from_display(0.5 + 0.5 * in_way.xyz) : vec3(0.0);
    out_color = vec4(mix(color, radiance_shown_as(color, frame.exposure), frame.opaque_alpha), 1.0);
}

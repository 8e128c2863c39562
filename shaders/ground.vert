// The ground: 25 rectangles that reach into the haze. GroundPass draws the middle one with shadows.
//
// Everything that is the same for all pixels is computed here and handed on as flat varyings, which cost a pixel less than
// reads of a uniform block.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// xy: the place in cells of the fine grid. zw: the same place seen from the camera; 1 is the distance of the half haze.
layout(location = 0) out vec4 out_place;
// rgb: radiance in shadow. a: the square of the camera's height, in the unit of `out_place.zw`.
layout(location = 1) flat out vec4 out_shaded;
// rgb: the sun's share of the radiance. a: alpha of lit ground.
layout(location = 2) flat out vec4 out_sunlit;
layout(location = 3) flat out vec4 out_background;

// src/renderer/passes/ground_pass.rs has the same number.
const uint STEPS_PER_AXIS = 5;

void main() {
    // Each axis has five steps. The middle one is the ground that shadows may reach. The next ones reach six heights of
    // the camera: over small triangles the position is interpolated more exactly, so all drivers draw the same pattern. The
    // outer ones reach into the haze.
    float height = frame.camera_position.y;
    vec2 camera = frame.camera_position.xz;
    float far = frame.ground_reach_metres;
    float half_faded = 0.5 * far; // the distance at which the haze hides half
    vec2 shaded_least = clamp(frame.shaded_ground_least, camera - far, camera + far);
    vec2 shaded_greatest = clamp(frame.shaded_ground_greatest, camera - far, camera + far);
    vec2 near_least = min(camera - 6.0 * abs(height), shaded_least);
    vec2 near_greatest = max(camera + 6.0 * abs(height), shaded_greatest);
    vec2 steps[STEPS_PER_AXIS + 1] = vec2[6](camera - far, near_least, shaded_least, shaded_greatest, near_greatest, camera + far);
    // Two triangles for each rectangle.
    const uvec2 corners[6] = uvec2[6](uvec2(0, 0), uvec2(0, 1), uvec2(1, 1), uvec2(0, 0), uvec2(1, 1), uvec2(1, 0));
    uint rectangle = gl_VertexIndex / 6;
    uvec2 corner = uvec2(rectangle % STEPS_PER_AXIS, rectangle / STEPS_PER_AXIS) + corners[gl_VertexIndex % 6];
    vec2 position = vec2(steps[corner.x].x, steps[corner.y].y);
    float height_faded = height / half_faded;
    out_place = vec4(position / frame.ground_cell_metres + frame.ground_offset_cells, (position - camera) / half_faded);
    out_shaded = vec4(frame.ground_ambient, height_faded * height_faded);
    out_sunlit = vec4(frame.ground_sunlit, frame.opaque_alpha);
    out_background = frame.background;
    // The ground is not drawn if the camera is below it: it would hide the characters. A select, because drivers may compile
    // and keep a variant of the shader for each result of a branch on uniforms alone.
    bool from_below = height < 0.0;
    gl_Position = mix(frame.clip_from_world * vec4(position.x, 0.0, position.y, 1.0), vec4(0.0), bvec4(from_below));
}

// The ground: 25 rectangles that reach into the haze. GroundPass draws the middle one with shadows.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) out vec3 out_position_world;

void main() {
    // Each axis has five steps. The middle one is the ground that shadows may reach. The next ones reach six heights of the
    // camera: over small triangles the position is interpolated more exactly, and on SwiftShader patterns on large ones were
    // off by a pixel. The outer ones reach into the haze.
    float height = abs(frame.camera_position.y - frame.ground.x);
    vec2 camera = frame.camera_position.xz;
    float far = 120.0 * (frame.ground.y + height);
    vec2 shaded_least = clamp(frame.shaded_ground.xy, camera - far, camera + far);
    vec2 shaded_greatest = clamp(frame.shaded_ground.zw, camera - far, camera + far);
    vec2 near_least = min(camera - 6.0 * height, shaded_least);
    vec2 near_greatest = max(camera + 6.0 * height, shaded_greatest);
    vec2 steps[6] = vec2[6](camera - far, near_least, shaded_least, shaded_greatest, near_greatest, camera + far);
    // Two triangles for each of the 25 rectangles.
    const ivec2 corners[6] = ivec2[6](ivec2(0, 0), ivec2(0, 1), ivec2(1, 1), ivec2(0, 0), ivec2(1, 1), ivec2(1, 0));
    int rectangle = gl_VertexIndex / 6;
    ivec2 corner = ivec2(rectangle % 5, rectangle / 5) + corners[gl_VertexIndex % 6];
    vec2 position = vec2(steps[corner.x].x, steps[corner.y].y);
    out_position_world = vec3(position.x, frame.ground.x, position.y);
    // The ground is not drawn if the camera is below it: it would hide the characters. A select, because Mesa's lavapipe
    // compiles and keeps another variant of the shader at each bind if a branch depends on uniforms alone.
    bool from_below = frame.camera_position.y < frame.ground.x;
    gl_Position = mix(frame.clip_from_world * vec4(out_position_world, 1.0), vec4(0.0), bvec4(from_below));
}

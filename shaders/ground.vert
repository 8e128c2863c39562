// The ground: a square around the camera that reaches into the haze.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) out vec3 out_position_world;

void main() {
    const vec2 corners[6] = vec2[6](vec2(-1, -1), vec2(-1, 1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(1, -1));
    float reach = 120.0 * (frame.ground.y + abs(frame.camera_position.y - frame.ground.x));
    vec2 position = frame.camera_position.xz + corners[gl_VertexIndex] * reach;
    out_position_world = vec3(position.x, frame.ground.x, position.y);
    // The ground is not drawn if the camera is below it: it would hide the characters. A select, because Mesa's lavapipe
    // compiles and keeps another variant of the shader at each bind if a branch depends on uniforms alone.
    bool from_below = frame.camera_position.y < frame.ground.x;
    gl_Position = mix(frame.clip_from_world * vec4(out_position_world, 1.0), vec4(0.0), bvec4(from_below));
}

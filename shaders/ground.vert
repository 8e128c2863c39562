// The ground: nine rectangles around the camera that reach into the haze.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) out vec3 out_position_world;

void main() {
    // The position is interpolated more exactly over small triangles than over two that reach into the haze: on SwiftShader,
    // shadows on the latter were off by a pixel.
    const uint corners[6] = uint[6](0, 4, 5, 0, 5, 1);
    uint corner = (gl_VertexIndex / 18) * 4 + (gl_VertexIndex / 6) % 3 + corners[gl_VertexIndex % 6];
    float height = abs(frame.camera_position.y - frame.ground.x);
    float near = 6.0 * height, reach = 120.0 * (frame.ground.y + height);
    vec4 steps = vec4(-reach, -near, near, reach);
    vec2 position = frame.camera_position.xz + vec2(steps[corner % 4], steps[corner / 4]);
    out_position_world = vec3(position.x, frame.ground.x, position.y);
    // The ground is not drawn if the camera is below it: it would hide the characters. A select, because Mesa's lavapipe
    // compiles and keeps another variant of the shader at each bind if a branch depends on uniforms alone.
    bool from_below = frame.camera_position.y < frame.ground.x;
    gl_Position = mix(frame.clip_from_world * vec4(out_position_world, 1.0), vec4(0.0), bvec4(from_below));
}

// Vertices 0 to 5 are the ground, a square around the camera that reaches into the haze. Vertices 6 to 8 are the sky, one
// triangle on the far plane (reversed Z: depth 0).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

layout(location = 0) out vec3 out_position_world;
layout(location = 1) flat out uint out_is_sky;

void main() {
    if (gl_VertexIndex < 6) {
        const vec2 corners[6] =
            vec2[6](vec2(-1, -1), vec2(-1, 1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(1, -1));
        float reach = 60.0 * (frame.ground.y + abs(frame.camera_position.y - frame.ground.x));
        vec2 position = frame.camera_position.xz + corners[gl_VertexIndex] * reach;
        out_position_world = vec3(position.x, frame.ground.x, position.y);
        out_is_sky = 0;
        // The ground is not drawn if the camera is below it: it would hide the characters. A select, because Mesa's
        // lavapipe compiles and keeps another variant of the shader at each bind if a branch depends on uniforms alone.
        bool from_below = frame.camera_position.y < frame.ground.x;
        gl_Position = mix(frame.clip_from_world * vec4(out_position_world, 1.0), vec4(0.0), bvec4(from_below));
    } else {
        const vec2 corners[3] = vec2[3](vec2(-1, -1), vec2(3, -1), vec2(-1, 3));
        vec2 corner = corners[gl_VertexIndex - 6];
        // Any point in front of the camera gives the direction. A point at depth 0 would be infinitely far away.
        vec4 position = frame.world_from_clip * vec4(corner, 0.5, 1.0);
        out_position_world = position.xyz / position.w;
        out_is_sky = 1;
        gl_Position = vec4(corner, 0.0, 1.0);
    }
}

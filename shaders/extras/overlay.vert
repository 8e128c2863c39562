// The overlay: flat textured triangles over the picture. Positions are in pixels from the top left.
#version 460

layout(location = 0) in vec2 in_position;
layout(location = 1) in vec2 in_tex_coords;
layout(location = 2) in vec4 in_color;

layout(push_constant) uniform OverlayConstants {
    vec2 clip_from_pixels; // a factor
};

layout(location = 0) out vec2 out_tex_coords;
layout(location = 1) out vec4 out_color;

void main() {
    out_tex_coords = in_tex_coords;
    out_color = in_color;
    gl_Position = vec4(in_position * clip_from_pixels - 1.0, 0.0, 1.0);
}

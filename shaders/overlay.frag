// The overlay's colour: that of the vertex times that of the atlas. Both are sRGB-encoded and multiplied by alpha, and are
// blended as they are, which is how text looks best on most displays.
#version 460

layout(set = 0, binding = 0) uniform sampler2D atlas;

// 1 if the target has an sRGB format, which encodes what the shader writes.
layout(constant_id = 0) const uint DECODE_SRGB = 0;

layout(location = 0) in vec2 in_tex_coords;
layout(location = 1) in vec4 in_color;

layout(location = 0) out vec4 out_color;

void main() {
    vec4 color = in_color * texture(atlas, in_tex_coords);
    if (DECODE_SRGB != 0) {
        color.rgb = pow(color.rgb / max(color.a, 1e-4), vec3(2.2)) * color.a;
    }
    out_color = color;
}

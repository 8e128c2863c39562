// One triangle over the whole target.
#version 460

// The place in the target, from 0 to 1.
layout(location = 0) noperspective out vec2 out_tex_coord;

void main() {
    const vec2 corners[3] = vec2[3](vec2(-1, -1), vec2(3, -1), vec2(-1, 3));
    out_tex_coord = 0.5 + 0.5 * corners[gl_VertexIndex];
    gl_Position = vec4(corners[gl_VertexIndex], 0.0, 1.0);
}

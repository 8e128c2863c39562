// The point of a character's surface that a fragment shader shades: its varyings by name, and its material.
#ifndef THRONG_SURFACE
#define THRONG_SURFACE

#include "varyings.glsl"

layout(location = 0) in vec4 varyings[VARYING_COUNT];

// Returns the position in world space.
vec3 position_world() {
    return varyings[0].xyz;
}

// Returns the colour of the vertex and the instance. Its alpha is 1 where no material needs it.
vec4 vertex_color() {
    float alpha = 1.0;
    if (VARYING_COUNT > 2) {
        alpha = varyings[2].w;
    }
    return vec4(varyings[1].xyz, alpha);
}

// Returns the interpolated normal in world space, of unit length at the vertices; 0 where no material needs it.
vec3 normal_world() {
    vec3 normal = vec3(0.0);
    if (VARYING_COUNT > 2) {
        normal = varyings[2].xyz;
    }
    return normal;
}

// Returns the tangent in world space and its handedness; 0 where no material needs it.
vec4 tangent_world() {
    vec4 tangent = vec4(0.0);
    if (VARYING_COUNT > 4) {
        tangent = varyings[4];
    }
    return tangent;
}

// Returns both pairs of texture coordinates. The second is 0 where no material needs it.
vec4 tex_coord_pairs() {
    vec2 second = vec2(0.0);
    if (VARYING_COUNT > 3) {
        second = varyings[3].xy;
    }
    return vec4(varyings[0].w, varyings[1].w, second);
}

#include "material.glsl"

#endif

// The values that vary over a character's surface. The shader that includes this file defines VARYING as `out` or `in`.
#ifndef THRONG_VARYINGS
#define THRONG_VARYINGS

// The first pair of texture coordinates fills the locations of two vectors: most materials then need three locations, and
// each costs time for every vertex and triangle, whatever is in it.
layout(location = 0) VARYING vec3 surface_position; // world space
layout(location = 0, component = 3) VARYING float surface_u;
layout(location = 1) VARYING vec4 surface_color; // of the vertex times that of the instance
// World space, of unit length at the vertices, so that the length between them tells how the surface curves (shadow.glsl).
// Not with FEATURE_FLAT.
layout(location = 2) VARYING vec3 surface_normal;
layout(location = 2, component = 3) VARYING float surface_v;
layout(location = 3) VARYING vec2 surface_second_tex_coord; // only with FEATURE_TEX_COORDS_VARY
layout(location = 4) VARYING vec4 surface_tangent; // world space, w: handedness; only with FEATURE_TANGENTS

#endif

// The values that vary over a character's surface. The shader that includes this file defines VARYING as `out` or `in`.
#ifndef THRONG_VARYINGS
#define THRONG_VARYINGS

layout(location = 0) VARYING vec3 surface_position; // world space
layout(location = 1) VARYING vec4 surface_color; // of the vertex times that of the instance
// World space, of unit length at the vertices, so that the length between them tells how the surface curves (shadow.glsl).
// Not with FEATURE_FLAT.
layout(location = 2) VARYING vec3 surface_normal;
layout(location = 3) VARYING vec4 surface_tex_coords; // two pairs
layout(location = 4) VARYING vec4 surface_tangent; // world space, w: handedness; only with FEATURE_TANGENTS

#endif

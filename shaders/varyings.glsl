// The values that vary over a character's surface. The shader that includes this file defines VARYING as `out` or `in`.
#ifndef THRONG_VARYINGS
#define THRONG_VARYINGS

// Each location costs time for every vertex and triangle, whatever is in it. So single numbers fill the locations of vectors,
// and what fewer materials need comes last.
layout(location = 0) VARYING vec3 surface_position; // world space
layout(location = 0, component = 3) VARYING float surface_u; // of the first texture coordinates
layout(location = 1) VARYING vec3 surface_color; // of the vertex times that of the instance
layout(location = 1, component = 3) VARYING float surface_v;
// World space, of unit length at the vertices, so that the length between them tells how the surface curves (shadow.glsl).
// Not with FEATURE_FLAT.
layout(location = 2) VARYING vec3 surface_normal;
layout(location = 2, component = 3) VARYING float surface_alpha; // of the colour; only with FEATURE_MASKED or FEATURE_BLENDED
layout(location = 3) VARYING vec2 surface_second_tex_coord; // only with FEATURE_TEX_COORDS_VARY
layout(location = 4) VARYING vec4 surface_tangent; // world space, w: handedness; only with FEATURE_TANGENTS

#endif

// The normal and the front of a triangle, in a fragment shader.
#ifndef THRONG_TRIANGLE
#define THRONG_TRIANGLE

#include "specialization.glsl"

// Returns the normal of the triangle, from screen-space derivatives, facing the camera. It is exact after skinning, and
// vertices without normals stay welded.
vec3 normal_of_triangle(vec3 position_world, vec3 to_camera) {
    vec3 normal = unit(cross(dFdx(position_world), dFdy(position_world)));
    return dot(normal, to_camera) < 0.0 ? -normal : normal;
}

// Returns 1 on the front and -1 on the back. Where a clip mirrors the surface, one draw call has both windings, but the normal
// of the surface points out of the front in any case.
float side_of_triangle(vec3 surface_normal, vec3 position_world, vec3 to_camera) {
    bool is_front = has_feature(FEATURE_MIRRORED_BY_CLIPS)
        ? dot(surface_normal, normal_of_triangle(position_world, to_camera)) >= 0.0 : gl_FrontFacing;
    return is_front ? 1.0 : -1.0;
}

#endif

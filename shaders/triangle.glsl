// The normal of a triangle, in a fragment shader.
#ifndef THRONG_TRIANGLE
#define THRONG_TRIANGLE

// Returns the normal of the triangle, from screen-space derivatives, facing the camera. It is exact after skinning, and
// vertices without normals stay welded.
vec3 normal_of_triangle(vec3 position_world, vec3 to_camera) {
    vec3 normal = unit(cross(dFdx(position_world), dFdy(position_world)));
    return dot(normal, to_camera) < 0.0 ? -normal : normal;
}

#endif

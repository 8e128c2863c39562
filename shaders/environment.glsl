// Code that the shaders of the light of the surroundings share (environment_*.comp). They run once, before the first frame,
// and again when the sky changes.
#ifndef THRONG_ENVIRONMENT
#define THRONG_ENVIRONMENT

#include "environment_sizes.glsl"
#include "sky.glsl"

const float PI = 3.14159265;

// The group size of all these shaders.
layout(local_size_x = 64) in;

// Returns the axes of the tables, as columns. The place of a direction in a table is its x, along the ground towards the sun,
// and its y, up. The plane of both mirrors the surroundings, so only the square of the third, aside, counts. If the sun is
// straight above, all directions along the ground are alike.
mat3 table_axes(SkyData sky) {
    float along_length = length(sky.to_sun.xz);
    vec2 along = mix(vec2(1.0, 0.0), sky.to_sun.xz / along_length, bvec2(along_length > 0.0));
    return mat3(vec3(along.x, 0.0, along.y), vec3(0.0, 1.0, 0.0), vec3(-along.y, 0.0, along.x));
}

// Returns the place of a texel of a table. The centres of the first and the last texel are at -1 and 1.
vec2 table_place(uvec2 texel, uint side) {
    return 2.0 * vec2(texel) / float(side - 1) - 1.0;
}

// Returns point `i` of `count` points that cover the unit square evenly (Hammersley).
vec2 hammersley(uint i, uint count) {
    return vec2((float(i) + 0.5) / float(count), float(bitfieldReverse(i)) * exp2(-32.0));
}

#endif

// Code that the shaders of the light of the surroundings share (environment_*.comp). They run once, before the first frame,
// and again when the sky changes.
#ifndef THRONG_ENVIRONMENT
#define THRONG_ENVIRONMENT

#include "sky.glsl"

const float PI = 3.14159265;

// The group size of all these shaders.
layout(local_size_x = 64) in;

// Returns point `i` of `count` points that cover the unit square evenly (Hammersley).
vec2 hammersley(uint i, uint count) {
    return vec2((float(i) + 0.5) / float(count), float(bitfieldReverse(i)) * exp2(-32.0));
}

#endif

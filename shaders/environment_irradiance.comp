// Projects the surroundings onto spherical harmonics up to band 2, and convolves them with the cosine lobe (Ramamoorthi and
// Hanrahan, "An Efficient Representation for Irradiance Environment Maps", SIGGRAPH 2001). One work group.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "environment.glsl"

layout(push_constant, std430) uniform EnvironmentConstants {
    SkyData sky;
} constants;

layout(set = 0, binding = 0, std430) writeonly buffer IrradianceData {
    vec4 terms[9];
} irradiance;

const uint GROUP_SIZE = 64;
const uint DIRECTIONS_PER_INVOCATION = 64;
const uint TERMS = 9;

shared vec3 sums[GROUP_SIZE][TERMS];

// Returns a direction of the golden spiral, which covers the sphere evenly.
vec3 spiral(uint i, uint count) {
    float y = 1.0 - 2.0 * (float(i) + 0.5) / float(count);
    // The golden angle, as a fraction of a turn. fract keeps the angle precise.
    float angle = 2.0 * PI * fract(float(i) * 0.381966011);
    float radius = sqrt(max(1.0 - y * y, 0.0));
    return vec3(radius * cos(angle), y, radius * sin(angle));
}

void main() {
    const uint count = GROUP_SIZE * DIRECTIONS_PER_INVOCATION;
    vec3 own[TERMS];
    for (uint term = 0; term < TERMS; term++) {
        own[term] = vec3(0.0);
    }
    for (uint i = 0; i < DIRECTIONS_PER_INVOCATION; i++) {
        vec3 d = spiral(i * GROUP_SIZE + gl_LocalInvocationIndex, count);
        vec3 radiance = surroundings(constants.sky, d);
        own[0] += radiance;
        own[1] += radiance * d.y;
        own[2] += radiance * d.z;
        own[3] += radiance * d.x;
        own[4] += radiance * d.x * d.y;
        own[5] += radiance * d.y * d.z;
        own[6] += radiance * (3.0 * d.z * d.z - 1.0);
        own[7] += radiance * d.x * d.z;
        own[8] += radiance * (d.x * d.x - d.y * d.y);
    }
    for (uint term = 0; term < TERMS; term++) {
        sums[gl_LocalInvocationIndex][term] = own[term];
    }
    barrier();
    if (gl_LocalInvocationIndex >= TERMS) {
        return;
    }
    // 4 pi (the sphere) times the squared factor of the harmonic times the cosine lobe of its band (1, 2/3, 1/4).
    const float factors[TERMS] = float[TERMS](
        1.0, 3.0 * 2.0 / 3.0, 3.0 * 2.0 / 3.0, 3.0 * 2.0 / 3.0,
        15.0 / 4.0, 15.0 / 4.0, 5.0 / 4.0 / 4.0, 15.0 / 4.0, 15.0 / 4.0 / 4.0);
    vec3 sum = vec3(0.0);
    for (uint i = 0; i < GROUP_SIZE; i++) {
        sum += sums[i][gl_LocalInvocationIndex];
    }
    irradiance.terms[gl_LocalInvocationIndex] = vec4(sum * factors[gl_LocalInvocationIndex] / float(count), 0.0);
}

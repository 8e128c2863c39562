// The irradiance table: the light of the surroundings that a white Lambert surface reflects, by the direction of its normal.
// One work group.
//
// The surroundings are projected onto spherical harmonics up to band 2 and convolved with the cosine lobe (Ramamoorthi and
// Hanrahan, "An Efficient Representation for Irradiance Environment Maps", SIGGRAPH 2001). That leaves nine colours, which
// would cost each pixel more than one sample of a table. They are a polynomial of a normal's place in the table
// (environment.glsl), so the texels are exact, and interpolation is off by at most 0.0005 of a term.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "environment.glsl"

layout(push_constant, std430) uniform EnvironmentConstants {
    SkyData sky;
} constants;

// Texels of four half-precision numbers, row after row.
layout(set = 0, binding = 0, std430) writeonly buffer IrradianceTexels {
    uvec2 texels[];
} irradiance;

const uint GROUP_SIZE = 64;
const uint DIRECTIONS_PER_INVOCATION = 64;
const uint TERMS = 9;

shared vec3 sums[GROUP_SIZE][TERMS];
shared vec3 terms[TERMS];

// Returns a direction of the golden spiral, which covers the sphere evenly.
vec3 spiral(uint i, uint count) {
    float y = 1.0 - 2.0 * (float(i) + 0.5) / float(count);
    // The golden angle, as a fraction of a turn. fract keeps the angle precise.
    float angle = 2.0 * PI * fract(float(i) * 0.381966011);
    float radius = sqrt(max(1.0 - y * y, 0.0));
    return vec3(radius * cos(angle), y, radius * sin(angle));
}

// Returns the terms of bands 0 and 1 for a normal.
vec3 linear_terms(vec3 n) {
    return terms[0] + terms[1] * n.y + terms[2] * n.z + terms[3] * n.x;
}

// Returns the terms of band 2 for a vector. They grow with the square of its length.
vec3 quadratic_terms(vec3 v) {
    return terms[4] * (v.x * v.y) + terms[5] * (v.y * v.z) + terms[6] * (3.0 * v.z * v.z - dot(v, v))
        + terms[7] * (v.x * v.z) + terms[8] * (v.x * v.x - v.y * v.y);
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
    if (gl_LocalInvocationIndex < TERMS) {
        // 4 pi (the sphere) times the squared factor of the harmonic times the cosine lobe of its band (1, 2/3, 1/4).
        const float factors[TERMS] = float[TERMS](
            1.0, 3.0 * 2.0 / 3.0, 3.0 * 2.0 / 3.0, 3.0 * 2.0 / 3.0,
            15.0 / 4.0, 15.0 / 4.0, 5.0 / 4.0 / 4.0, 15.0 / 4.0, 15.0 / 4.0 / 4.0);
        vec3 sum = vec3(0.0);
        for (uint i = 0; i < GROUP_SIZE; i++) {
            sum += sums[i][gl_LocalInvocationIndex];
        }
        terms[gl_LocalInvocationIndex] = sum * factors[gl_LocalInvocationIndex] / float(count);
    }
    barrier();
    mat3 axes = table_axes(constants.sky);
    for (uint texel = gl_LocalInvocationIndex; texel < IRRADIANCE_SIDE * IRRADIANCE_SIDE; texel += GROUP_SIZE) {
        vec2 place = table_place(uvec2(texel % IRRADIANCE_SIDE, texel / IRRADIANCE_SIDE), IRRADIANCE_SIDE);
        vec3 n = axes * vec3(place, 0.0);
        // What is left of the unit length points aside. Its square is negative where no normal is; such texels are only
        // neighbours of others.
        vec3 light = linear_terms(n) + quadratic_terms(n) + (1.0 - dot(n, n)) * quadratic_terms(axes[2]);
        light = max(light, vec3(0.0));
        irradiance.texels[texel] = uvec2(packHalf2x16(light.rg), packHalf2x16(vec2(light.b, 0.0)));
    }
}

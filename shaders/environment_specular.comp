// The specular table: the surroundings, filtered with the GGX lobe of a roughness, by the direction and the roughness. One
// texel per invocation. As usual, the view is assumed to be along the normal (Karis, "Real Shading in Unreal Engine 4",
// SIGGRAPH 2013). The sky has a formula, so no image is sampled.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "environment.glsl"

layout(push_constant, std430) uniform EnvironmentConstants {
    SkyData sky;
} constants;

// Texels of four half-precision numbers, row after row, roughness after roughness.
layout(set = 0, binding = 1, std430) writeonly buffer SpecularTexels {
    uvec2 texels[];
} specular;

const uint SAMPLES = 64;

// Returns two vectors that form a right-handed orthonormal basis with `n` (Duff et al., JCGT 2017).
mat3 basis_around(vec3 n) {
    float s = n.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (s + n.z);
    float b = n.x * n.y * a;
    return mat3(vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x), vec3(b, s + n.y * n.y * a, -n.y), n);
}

// Returns the surroundings around a direction of unit length, seen in a mirror of this roughness.
vec3 filtered(vec3 normal, float roughness) {
    if (roughness == 0.0) {
        return surroundings(constants.sky, normal);
    }
    float alpha2 = roughness * roughness * roughness * roughness;
    mat3 basis = basis_around(normal);
    vec4 sum = vec4(0.0);
    for (uint i = 0; i < SAMPLES; i++) {
        vec2 random = hammersley(i, SAMPLES);
        // The half vector, distributed as GGX.
        float cos2 = (1.0 - random.x) / (1.0 + (alpha2 - 1.0) * random.x);
        float n_h = sqrt(cos2), sine = sqrt(1.0 - cos2), angle = 2.0 * PI * random.y;
        vec3 reflected = vec3(2.0 * n_h * sine * vec2(cos(angle), sin(angle)), 2.0 * cos2 - 1.0);
        float n_l = max(reflected.z, 0.0);
        sum += n_l * vec4(surroundings(constants.sky, basis * reflected), 1.0);
    }
    return sum.rgb / sum.a;
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= SPECULAR_SIDE * SPECULAR_SIDE * ROUGHNESS_COUNT) {
        return;
    }
    float roughness = float(index / (SPECULAR_SIDE * SPECULAR_SIDE)) / float(ROUGHNESS_COUNT - 1);
    mat3 axes = table_axes(constants.sky);
    vec2 place = table_place(uvec2(index % SPECULAR_SIDE, index / SPECULAR_SIDE % SPECULAR_SIDE), SPECULAR_SIDE);
    float radius = length(place);
    vec3 radiance;
    if (radius <= 1.0) {
        radiance = filtered(axes * vec3(place, sqrt(1.0 - radius * radius)), roughness);
    } else {
        // No direction is here, but this may be a neighbour of one. Continues the line through the nearest direction and one as
        // far inside.
        vec2 nearest = place / radius;
        vec2 inside = (2.0 - radius) * nearest;
        vec3 at_nearest = filtered(axes * vec3(nearest, 0.0), roughness);
        vec3 at_inside = filtered(axes * vec3(inside, sqrt(1.0 - dot(inside, inside))), roughness);
        radiance = max(2.0 * at_nearest - at_inside, vec3(0.0));
    }
    specular.texels[index] = uvec2(packHalf2x16(radiance.rg), packHalf2x16(vec2(radiance.b, 0.0)));
}

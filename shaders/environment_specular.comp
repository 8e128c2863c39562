// Filters the surroundings with the GGX lobe of a roughness: one texel of the specular cube map per invocation, all levels
// in one dispatch. Level 0 is a mirror, the last level has roughness 1. As usual, the view is assumed to be along the
// normal (Karis, "Real Shading in Unreal Engine 4", SIGGRAPH 2013). The sky has a formula, so no other cube map is sampled.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "environment.glsl"

layout(push_constant, std430) uniform EnvironmentConstants {
    SkyData sky;
} constants;

// Texels of four half-precision numbers, level after level, face after face. vkCmdCopyBufferToImage reads this order.
layout(set = 0, binding = 1, std430) writeonly buffer SpecularTexels {
    uvec2 texels[];
} specular;

// src/renderer/resident/environment.rs has the same numbers.
const uint SIDE = 128;
const uint LEVELS = 6;
const uint SAMPLES = 64;

// Returns the direction of a texel (Vulkan 1.3, "Cube Map Face Selection"): `p` is in -1..1, with y down.
vec3 direction_of(uint face, vec2 p) {
    const vec3 directions[6] = vec3[6](
        vec3(1.0, -p.y, -p.x), vec3(-1.0, -p.y, p.x), vec3(p.x, 1.0, p.y),
        vec3(p.x, -1.0, -p.y), vec3(p.x, -p.y, 1.0), vec3(-p.x, -p.y, -1.0));
    return normalize(directions[face]);
}

// Returns two vectors that form a right-handed orthonormal basis with `n` (Duff et al., JCGT 2017).
mat3 basis_around(vec3 n) {
    float s = n.z < 0.0 ? -1.0 : 1.0;
    float a = -1.0 / (s + n.z);
    float b = n.x * n.y * a;
    return mat3(vec3(1.0 + s * n.x * n.x * a, s * b, -s * n.x), vec3(b, s + n.y * n.y * a, -n.y), n);
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    uint level = 0, side = SIDE;
    while (level < LEVELS && index >= 6 * side * side) {
        index -= 6 * side * side;
        side /= 2;
        level++;
    }
    if (level == LEVELS) {
        return;
    }
    uvec3 texel = uvec3(index % side, index / side % side, index / (side * side));
    vec3 normal = direction_of(texel.z, 2.0 * (vec2(texel.xy) + 0.5) / float(side) - 1.0);
    vec3 radiance = surroundings(constants.sky, normal);
    if (level > 0) {
        float roughness = float(level) / float(LEVELS - 1);
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
        radiance = sum.rgb / sum.a;
    }
    specular.texels[gl_GlobalInvocationID.x] = uvec2(packHalf2x16(radiance.rg), packHalf2x16(vec2(radiance.b, 0.0)));
}

// The split-sum table (Karis 2013): the share of uniform light that a GGX surface reflects, by the cosine of the view angle
// (x) and the roughness (y), as scale (r) and offset (g) of the reflectance at normal incidence. One texel per invocation.
//
// The half vectors are sampled as the view sees them (Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps",
// HPG 2023). Then only shadowing has to be averaged, so few samples are enough.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "environment.glsl"

// Texels of two half-precision numbers.
layout(set = 0, binding = 2, std430) writeonly buffer BrdfTexels {
    uint texels[];
} table;

const uint SAMPLES = 256;

vec3 visible_half_vector(vec3 to_view, float alpha, vec2 random) {
    vec3 stretched = normalize(vec3(alpha * to_view.xy, to_view.z));
    float angle = 2.0 * PI * random.x;
    float z = (1.0 - random.y) * (1.0 + stretched.z) - stretched.z;
    float sine = sqrt(clamp(1.0 - z * z, 0.0, 1.0));
    vec3 cap = vec3(sine * cos(angle), sine * sin(angle), z) + stretched;
    return normalize(vec3(alpha * cap.xy, cap.z));
}

// Smith's Lambda: (sqrt(1 + alpha^2 tan^2) - 1) / 2.
float lambda(float alpha2, float cosine) {
    float cos2 = cosine * cosine;
    return 0.5 * (sqrt(1.0 + alpha2 * (1.0 - cos2) / cos2) - 1.0);
}

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index >= SPLIT_SUM_SIDE * SPLIT_SUM_SIDE) {
        return;
    }
    vec2 position = (vec2(index % SPLIT_SUM_SIDE, index / SPLIT_SUM_SIDE) + 0.5) / float(SPLIT_SUM_SIDE);
    float n_v = position.x, alpha = position.y * position.y, alpha2 = alpha * alpha;
    vec3 to_view = vec3(sqrt(1.0 - n_v * n_v), 0.0, n_v);
    float view_lambda = lambda(alpha2, n_v);
    vec2 sum = vec2(0.0);
    for (uint i = 0; i < SAMPLES; i++) {
        vec3 halfway = visible_half_vector(to_view, alpha, hammersley(i, SAMPLES));
        float v_h = max(dot(to_view, halfway), 0.0);
        float n_l = 2.0 * v_h * halfway.z - to_view.z;
        if (n_l > 0.0) {
            // The share of the visible microfacets that is not shadowed.
            float kept = (1.0 + view_lambda) / (1.0 + view_lambda + lambda(alpha2, n_l));
            float schlick = pow(1.0 - v_h, 5.0);
            sum += kept * vec2(1.0 - schlick, schlick);
        }
    }
    table.texels[index] = packHalf2x16(sum / float(SAMPLES));
}

// The material of a draw: its factors, its textures, and the texture coordinates at which they are sampled.
//
// The shader that includes this file has the varyings `surface_u`, `surface_v` and `surface_second_tex_coord`.
#ifndef THRONG_MATERIAL
#define THRONG_MATERIAL

#include "specialization.glsl"

layout(set = 3, binding = 0, std140) uniform MaterialData {
    vec4 base_color_factor;
    vec3 emission;
    float alpha_cutoff;
    float metallic;
    float roughness;
    float occlusion_strength;
    float normal_scale;
    vec3 dielectric_reflectance;
    float grazing_reflectance;
    vec4 texture_rows[10]; // two for each texture
} material;

layout(set = 3, binding = 1) uniform sampler2D base_color_texture;
layout(set = 3, binding = 2) uniform sampler2D metallic_roughness_texture;
layout(set = 3, binding = 3) uniform sampler2D occlusion_texture;
layout(set = 3, binding = 4) uniform sampler2D emissive_texture;
layout(set = 3, binding = 5) uniform sampler2D normal_texture;

// Returns the coordinates at which the texture of a slot is sampled: a pair of the vertex, after KHR_texture_transform.
vec2 tex_coord_of(uint slot) {
    vec2 first = vec2(surface_u, surface_v);
    if (!has_feature(FEATURE_TEX_COORDS_VARY)) {
        return first;
    }
    vec4 u_row = material.texture_rows[2 * slot];
    vec4 v_row = material.texture_rows[2 * slot + 1];
    // A select, because drivers may compile a variant of the shader for each result of a branch on uniforms alone.
    vec3 tex_coord = vec3(mix(first, surface_second_tex_coord, bvec2(u_row.w != 0.0)), 1.0);
    return vec2(dot(u_row.xyz, tex_coord), dot(v_row.xyz, tex_coord));
}

vec4 base_color() {
    vec4 color = has_feature(FEATURE_COLOR_FACTOR) ? material.base_color_factor : vec4(1.0);
    return has_feature(FEATURE_BASE_COLOR_TEXTURE) ? color * texture(base_color_texture, tex_coord_of(0)) : color;
}

// x: metalness, y: roughness.
vec2 metallic_roughness() {
    vec2 factors = vec2(material.metallic, material.roughness);
    if (has_feature(FEATURE_METALLIC_ROUGHNESS_TEXTURE)) {
        factors *= texture(metallic_roughness_texture, tex_coord_of(1)).bg;
    }
    // A constant, so that the compiler drops the code of coloured reflections.
    return has_feature(FEATURE_DIELECTRIC) ? vec2(0.0, factors.y) : factors;
}

// The share of light that a dielectric reflects, at normal (rgb) and at grazing (a) incidence.
vec4 dielectric_reflectance() {
    return has_feature(FEATURE_SPECULAR) ? vec4(material.dielectric_reflectance, material.grazing_reflectance)
                                         : vec4(0.04, 0.04, 0.04, 1.0);
}

// Ambient occlusion. Direct light is shadowed by the shadow map.
float ambient_occlusion() {
    return has_feature(FEATURE_OCCLUSION_TEXTURE)
        ? 1.0 + material.occlusion_strength * (texture(occlusion_texture, tex_coord_of(2)).r - 1.0) : 1.0;
}

vec3 emitted() {
    vec3 factor = has_feature(FEATURE_EMITS) ? material.emission : vec3(0.0);
    return has_feature(FEATURE_EMISSIVE_TEXTURE) ? factor * texture(emissive_texture, tex_coord_of(3)).rgb : factor;
}

// Returns the normal in tangent space: x along the tangent, y along the bitangent, z along the normal.
vec3 normal_from_map(vec2 tex_coord) {
    vec3 direction = 2.0 * texture(normal_texture, tex_coord).xyz - 1.0;
    return direction * vec3(material.normal_scale, material.normal_scale, 1.0);
}

#endif

// The light that a character reflects: the sun, and the surroundings on all sides (image-based light).
//
// The BRDF is that of glTF 2.0, appendix B: Lambert below GGX, with the factors of KHR_materials_specular. For the
// surroundings it is split (Karis, "Real Shading in Unreal Engine 4", SIGGRAPH 2013) into a table of the blurred surroundings
// and a table of the BRDF. GGX loses the light that bounces more than once between microfacets, up to 69 % on rough metal;
// this light is added again (Fdez-Agüera, "A Multiple-Scattering Microfacet Model for Real-Time Image-based Lighting", JCGT
// 2019). So a white surface in a white room cannot be seen.
#ifndef THRONG_LIGHTING
#define THRONG_LIGHTING

#include "environment_sizes.glsl"
#include "specialization.glsl"
#include "shared.glsl"

// The shaders environment_*.comp describe these.
layout(set = 2, binding = 1) uniform sampler2D irradiance_table;
layout(set = 2, binding = 2) uniform sampler3D specular_table;
layout(set = 2, binding = 3) uniform sampler2D split_sum_table;

const float PI = 3.14159265;
// The highlight of the sun on a mirror, as GGX alpha: two degrees, four times the sun's disc. A smaller one flickers.
const float LEAST_ALPHA = 0.016;

// A point of a character's surface.
struct Surface {
    vec3 normal; // towards the camera's side
    vec3 to_camera;
    vec3 base_color;
    vec4 dielectric_reflectance; // at normal (rgb) and at grazing (a) incidence
    float metallic;
    float roughness;
    float occlusion;
};

// Returns the coordinates of a direction in a table of the surroundings (`table_axes` of environment.glsl).
vec2 table_coordinates(vec3 direction, uint side) {
    float along_ground = dot(direction.xz, frame.to_light.xz) * frame.to_light_ground_scale;
    return (0.5 - 0.5 / float(side)) * vec2(along_ground, direction.y) + 0.5;
}

// Returns the light of the surroundings that a white Lambert surface reflects.
vec3 irradiance_over_pi(vec3 normal) {
    return textureLod(irradiance_table, table_coordinates(normal, IRRADIANCE_SIDE), 0.0).rgb;
}

// Returns the surroundings in a direction, as a mirror of this roughness shows them.
vec3 mirrored_surroundings(vec3 direction, float roughness) {
    float slice = (float(ROUGHNESS_COUNT - 1) * roughness + 0.5) / float(ROUGHNESS_COUNT);
    return textureLod(specular_table, vec3(table_coordinates(direction, SPECULAR_SIDE), slice), 0.0).rgb;
}

// Returns the share of the mirrored surroundings that arrives where ambient light is occluded (Lagarde and de Rousiers,
// "Moving Frostbite to PBR", SIGGRAPH 2014).
float specular_occlusion(Surface surface, float n_v) {
    float exponent = exp2(-16.0 * surface.roughness - 1.0);
    return clamp(pow(n_v + surface.occlusion, exponent) - 1.0 + surface.occlusion, 0.0, 1.0);
}

// Returns the reflected radiance. `sunlit` is the share of the sun's light that arrives.
vec3 reflected_light(Surface surface, float sunlit) {
    // A metal has no diffuse reflection, and its base colour tints the specular reflection.
    vec3 diffuse_color = surface.base_color * (1.0 - surface.metallic);
    vec3 reflectance = mix(surface.dielectric_reflectance.rgb, surface.base_color, surface.metallic);
    float grazing = mix(surface.dielectric_reflectance.a, 1.0, surface.metallic);
    float n_v = clamp(dot(surface.normal, surface.to_camera), 1e-3, 1.0);

    // The share of uniform light that is reflected after one bounce, and after several.
    vec2 scale_and_offset = textureLod(split_sum_table, vec2(n_v, surface.roughness), 0.0).rg;
    float lost = 1.0 - scale_and_offset.x - scale_and_offset.y;
    vec3 single = reflectance * scale_and_offset.x + grazing * scale_and_offset.y;
    vec3 mean_reflectance = (20.0 * reflectance + grazing) / 21.0;
    vec3 multiple = single * mean_reflectance * lost / (1.0 - mean_reflectance * lost);
    vec3 diffuse = diffuse_color * (1.0 - single - multiple);

    vec3 around = irradiance_over_pi(surface.normal);
    vec3 mirrored = mirrored_surroundings(reflect(-surface.to_camera, surface.normal), surface.roughness);
    vec3 ambient = (diffuse + multiple) * around;
    if (has_feature(FEATURE_OCCLUSION_TEXTURE)) {
        ambient *= surface.occlusion;
        mirrored *= specular_occlusion(surface, n_v);
    }

    vec3 to_light = frame.to_light;
    vec3 halfway = unit(to_light + surface.to_camera);
    float n_l = max(dot(surface.normal, to_light), 0.0);
    float n_h = max(dot(surface.normal, halfway), 0.0);
    float from_grazing = 1.0 - max(dot(surface.to_camera, halfway), 0.0);
    float alpha = max(surface.roughness * surface.roughness, LEAST_ALPHA);
    float alpha2 = alpha * alpha;
    float spread = n_h * n_h * (alpha2 - 1.0) + 1.0;
    // The distribution of the normals, times Hammon's approximation of Smith's joint masking and shadowing (GDC 2017):
    // alpha2 / (pi * spread^2) and 0.5 / hidden.
    float hidden = max(mix(2.0 * n_l * n_v, n_l + n_v, alpha), 1e-4);
    float highlight = 0.5 * alpha2 / (PI * spread * spread * hidden);
    float grazing2 = from_grazing * from_grazing;
    vec3 fresnel = mix(reflectance, vec3(grazing), grazing2 * grazing2 * from_grazing);
    // The bounces that the single-scattering BRDF loses, in the lobe of the first bounce (Turquin 2019).
    vec3 all_bounces = 1.0 + reflectance * (lost / (1.0 - lost));
    vec3 sun = diffuse / PI + fresnel * all_bounces * highlight;
    return ambient + mirrored * single + sun * (sunlit * n_l) * frame.light_color;
}

#endif

// Lit surface of a character: Lambert and GGX for the sun, a hemisphere for the sky.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lighting.glsl"

layout(location = 0) in vec3 in_position_world;
layout(location = 1) in vec3 in_normal_world;
layout(location = 2) in vec2 in_tex_coord;
layout(location = 3) in vec4 in_color;

layout(set = 3, binding = 0) uniform sampler2D base_color_texture;

layout(push_constant, std430) uniform DrawConstants {
    vec4 base_color_factor;
    float alpha_cutoff;
    float metallic;
    float roughness;
    uint flags;
} constants;

const uint DRAW_FLAT_SHADED = 1;
const float PI = 3.14159265;

layout(location = 0) out vec4 out_color;

void main() {
    vec3 to_camera = normalize(frame.camera_position.xyz - in_position_world);
    // The triangle's own normal, taken from the screen and turned to the camera: exact with any skinning, and vertices
    // without normals stay welded. Before any discard, which would leave derivatives undefined.
    vec3 face_normal = normalize(cross(dFdx(in_position_world), dFdy(in_position_world)));
    face_normal = dot(face_normal, to_camera) < 0.0 ? -face_normal : face_normal;

    vec4 base = constants.base_color_factor * in_color * texture(base_color_texture, in_tex_coord);
    if (base.a < constants.alpha_cutoff) {
        discard;
    }
    // Files without normals are shaded flat, as glTF asks.
    vec3 normal = face_normal;
    if ((constants.flags & DRAW_FLAT_SHADED) == 0) {
        normal = normalize(in_normal_world);
        normal = gl_FrontFacing ? normal : -normal;
    }

    // glTF 2.0, appendix B: metals have no diffuse part and tint their reflection.
    vec3 diffuse_color = base.rgb * (1.0 - constants.metallic);
    vec3 reflectance = mix(vec3(0.04), base.rgb, constants.metallic);
    float alpha = max(constants.roughness * constants.roughness, 0.05);
    float alpha2 = alpha * alpha;

    vec3 to_light = frame.to_light.xyz;
    vec3 halfway = normalize(to_light + to_camera);
    float n_l = max(dot(normal, to_light), 0.0);
    float n_v = max(dot(normal, to_camera), 1e-3);
    float n_h = max(dot(normal, halfway), 0.0);
    float v_h = max(dot(to_camera, halfway), 0.0);
    float spread = n_h * n_h * (alpha2 - 1.0) + 1.0;
    float distribution = alpha2 / (PI * spread * spread);
    // Hammon's approximation of Smith's joint masking and shadowing (GDC 2017).
    float visibility = 0.5 / max(mix(2.0 * n_l * n_v, n_l + n_v, alpha), 1e-4);
    vec3 fresnel = reflectance + (1.0 - reflectance) * pow(1.0 - v_h, 5.0);
    float arriving = n_l > 0.0 ? light_arriving(in_position_world, face_normal) : 0.0;
    vec3 sun = arriving * frame.light_color.rgb * n_l * (diffuse_color / PI + fresnel * distribution * visibility);

    vec3 reflected = reflect(-to_camera, normal);
    vec3 environment = mix(sky(reflected), ambient(reflected), constants.roughness);
    vec3 around = ambient(normal) * diffuse_color + 0.5 * reflectance * environment;
    out_color = vec4(sun + around, base.a);
}

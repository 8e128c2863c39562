// The shading of characters: material, shadow, reflected light and emission.
//
// In: a point of the surface, with its normal and tangent in world space, its material, the shadow map and the light.
// Out: linear HDR radiance. tone_map.frag describes the alpha.
//
// The light of the surroundings comes from three tables: two that are sampled by direction, which cost less than cube maps or
// spherical harmonics, and one by angle and roughness (lighting.glsl).
#ifndef THRONG_SHADING
#define THRONG_SHADING

#include "lighting.glsl"
#include "triangle.glsl"
#include "shadow.glsl"
#include "tone_curve.glsl"
#define VARYING in
#include "varyings.glsl"
#include "material.glsl"

layout(location = 0) out vec4 out_color;

// Returns the tangent frame of a vertex without tangents, from the derivatives of position and texture coordinates. u
// increases along the tangent. v decreases along the bitangent, because v points down.
mat3 frame_from_screen(vec3 normal, vec2 tex_coord) {
    vec3 position_x = dFdx(surface_position), position_y = dFdy(surface_position);
    vec2 uv_x = dFdx(tex_coord), uv_y = dFdy(tex_coord);
    vec3 along_u = uv_y.y * position_x - uv_x.y * position_y;
    vec3 along_v = uv_x.x * position_y - uv_y.x * position_x;
    float orientation = uv_x.x * uv_y.y - uv_y.x * uv_x.y < 0.0 ? -1.0 : 1.0;
    vec3 tangent = orientation * (along_u - normal * dot(normal, along_u));
    if (dot(tangent, tangent) == 0.0) {
        // The whole triangle has the same texture coordinates.
        return mat3(vec3(0.0), vec3(0.0), normal);
    }
    tangent = unit(tangent);
    vec3 bitangent = cross(normal, tangent);
    return mat3(tangent, orientation * dot(bitangent, along_v) > 0.0 ? -bitangent : bitangent, normal);
}

// Applies the normal map to `normal`, which points out of the front face.
vec3 bumped(vec3 normal) {
    vec2 tex_coord = tex_coord_of(4);
    vec3 tilt = normal_from_map(tex_coord);
    if (has_feature(FEATURE_TANGENTS)) {
        // MikkTSpace: the vectors are used as interpolated, neither normalised nor orthogonalised, as in the baking
        // tool.
        vec4 tangent = surface_tangent;
        vec3 bitangent = tangent.w * cross(surface_normal, tangent.xyz);
        return unit(tilt.x * tangent.xyz + tilt.y * bitangent + tilt.z * surface_normal);
    }
    return unit(frame_from_screen(normal, tex_coord) * tilt);
}

// Returns the colour of a fragment.
vec4 shaded_color() {
    // Derivatives are undefined after a discard, so everything that needs them comes first.
    vec4 base = surface_color * base_color();
    vec3 to_camera = unit(frame.camera_position - surface_position);
    // Lines and points have the file's normal or are unlit.
    float side = side_of_triangle(surface_normal, surface_position, to_camera);
    vec3 face_normal = has_feature(FEATURE_THIN) ? side * unit(surface_normal)
                                                 : normal_of_triangle(surface_position, to_camera);
    // glTF requires flat shading if the file has no normals.
    vec3 normal = has_feature(FEATURE_FLAT) ? side * face_normal : unit(surface_normal);
    Receiver receiver;
    if (has_feature(FEATURE_SHADOWED)) {
        receiver = receiver_on(surface_position, face_normal, side * normal);
    }
    if (has_feature(FEATURE_NORMAL_TEXTURE)) {
        normal = bumped(normal);
    }
    normal *= side;
    vec2 metal_rough = metallic_roughness();
    float occlusion = ambient_occlusion();
    vec3 emission = emitted();

    if (has_feature(FEATURE_MASKED) && base.a < material.alpha_cutoff) {
        discard;
    }
    if (has_feature(FEATURE_UNLIT)) {
        // In a transparent image unlit colours go through the tone curve, so it has to give them back.
        vec3 color = min(base.rgb + emission, LARGEST_HALF);
        if (has_feature(FEATURE_TRANSPARENT)) {
            color = radiance_shown_as(color, frame.exposure);
        }
        return vec4(color, has_feature(FEATURE_BLENDED) ? base.a : 1.0);
    }

    float sunlit = 1.0;
    if (has_feature(FEATURE_SHADOWED)) {
        // A surface that faces away from the sun does not pay for shadows.
        sunlit = dot(normal, frame.to_light) > 0.0 ? sunlight(receiver) : 0.0;
    }
    Surface surface = Surface(normal, to_camera, base.rgb, dielectric_reflectance(), metal_rough.x, metal_rough.y, occlusion);
    vec3 light = min(reflected_light(surface, sunlit) + emission, LARGEST_HALF);
    return vec4(light, has_feature(FEATURE_BLENDED) ? base.a : has_feature(FEATURE_TRANSPARENT) ? 1.0 : 0.0);
}

#endif

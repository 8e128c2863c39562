// The share of the sun's light that reaches a point, from the shadow map.
//
// The map is read with gathers, and the shader itself compares and weights the texels. Drivers differ in how a
// comparing sampler filters, if it filters at all, but a gather returns the same four texels on each.
//
// Cost per pixel: nothing outside the map or on a surface that faces away from the light, otherwise 4 gathers. On edges
// 16 texels are weighted.
#ifndef THRONG_SHADOW
#define THRONG_SHADOW

#include "shared.glsl"

layout(set = 2, binding = 0) uniform sampler2D shadow_map;

// Penumbras widen by this share of the distance to the caster. The real sun's is 0.009, which is too little to be seen.
const float PENUMBRA_PER_DISTANCE = 0.02;
// The radius of the filter in texels: at a contact, and the largest that the window of 4x4 texels holds.
const float LEAST_RADIUS = 1.25;
const float GREATEST_RADIUS = 2.0;
// The distance of a receiver from a surface that light grazes, in texels.
const float GRAZING_LIFT = 4.0;

// A point of a surface, as it receives shadows.
struct Receiver {
    vec3 position_world;
    // Any length. It points out of the lit side.
    vec3 normal_world;
};

// Returns a receiver on a triangle with vertex normals. `face_normal` is the triangle's; both have unit length and face
// the same side.
//
// A closed body casts its shadow with its far side, so it does not shade its near side. The triangles of the far side
// are in the map themselves, although the normals at their corners may still face the light. They receive it on the side
// that faces the light, inside the body, where only other bodies shade them. So sunlight ends where the normals say, and
// not at the edges of triangles. Where light grazes, the receiver lies a few texels away from its triangle, where the
// window of the filter sees no other triangle of the same body. Elsewhere shadows touch their casters.
Receiver receiver_on(vec3 position_world, vec3 face_normal, vec3 normal) {
    float facing = dot(face_normal, frame.to_light);
    bvec3 is_far_side = bvec3(facing < 0.0);
    face_normal = mix(face_normal, -face_normal, is_far_side);
    // A file's normals may have nothing to do with its triangles.
    normal = mix(face_normal, normal, bvec3(dot(normal, face_normal) > 0.3));
    float grazing = 1.0 - smoothstep(0.1, 0.4, facing);
    vec3 offset = frame.shadow_texel_metres * (grazing * GRAZING_LIFT * normal + 0.5 * face_normal);
    return Receiver(position_world + offset, mix(face_normal, normal, grazing));
}

// The window of the filter: 2x2 blocks of 2x2 texels around a point.
struct Window {
    vec2 first; // in 0..1: the point between the four texels of the first block
    vec4 depths; // the receiver's plane at these texels, in the order of textureGather
    vec2 slope; // change of the plane's depth from one texel to the next
    float texel; // one texel in 0..1
};

// Returns how far the casters at the four texels of a block lie above the receiver's plane; not above 0: the texel is
// lit.
vec4 cover(Window window, vec2 block) {
    // An explicit texel corner, so rounding cannot choose other texels.
    vec4 casters = textureGather(shadow_map, window.first + 2.0 * window.texel * block);
    // Texels without a caster have a depth of 0. Where the plane leaves the map's range of depths, they are below it
    // too.
    return casters - max(window.depths + 2.0 * dot(block, window.slope), 0.0);
}

// Returns 1 for the lit texels of a block, 0 for the others.
vec4 lit(vec4 above) {
    return step(above, vec4(0.0));
}

float sum(vec4 v) {
    return dot(v, vec4(1.0));
}

// Returns the sum of a block's lit texels with the weights of its two columns and its two rows.
float weighted(vec4 lit, vec2 columns, vec2 rows) {
    return dot(lit, columns.xyyx * rows.yyxx);
}

// Returns the share of the sun's light that reaches a receiver, 0 to 1.
float sunlight(Receiver receiver) {
    vec3 position = (frame.shadow_from_world * vec4(receiver.position_world, 1.0)).xyz;
    // Nothing casts a shadow outside the map.
    float edge = max(abs(position.x), abs(position.y));
    if (edge >= 1.0 || position.z <= 0.0 || position.z >= 1.0) {
        return 1.0;
    }
    // The receiver's plane instead of one depth: a flat surface at any angle does not shade itself, and needs no bias
    // that would detach shadows from their casters. Slopes end at 6, where light grazes.
    vec3 normal = mat3(frame.shadow_from_world) * receiver.normal_world;
    // One texel's length as a depth, and the ratio of the scales of depth and of x and y.
    float depth_per_texel = frame.shadow_depth_per_texel;
    float depth_scale = 0.5 * frame.shadow_map_texels * depth_per_texel;
    vec2 slope = clamp(-depth_scale * normal.xy / max(normal.z, 1e-12), -6.0, 6.0) * depth_per_texel;
    // The map was drawn with +Y up, and texture coordinates point down.
    slope.y = -slope.y;
    vec2 texels = (position.xy * vec2(0.5, -0.5) + 0.5) * frame.shadow_map_texels - 0.5;
    vec2 corner = floor(texels), within = texels - corner;
    vec4 depths = position.z + slope.x * (vec4(-1, 0, 0, -1) - within.x) + slope.y * (vec4(0, 0, -1, -1) - within.y);
    float texel = 1.0 / frame.shadow_map_texels;
    Window window = Window(corner * texel, depths, slope, texel);
    vec4 above_left = cover(window, vec2(0, 0)), above_right = cover(window, vec2(1, 0));
    vec4 below_left = cover(window, vec2(0, 1)), below_right = cover(window, vec2(1, 1));
    float lit_count = sum(lit(above_left) + lit(above_right) + lit(below_left) + lit(below_right));
    float share = lit_count / 16.0;
    // Only edges are filtered.
    if (lit_count > 0.0 && lit_count < 16.0) {
        // The casters' mean height over the plane decides the radius of the filter, as in Fernando's percentage-closer
        // soft shadows (SIGGRAPH 2005).
        vec4 above = max(above_left, 0.0) + max(above_right, 0.0), below = max(below_left, 0.0) + max(below_right, 0.0);
        float heights = sum(above + below);
        float height_texels = heights / ((16.0 - lit_count) * depth_per_texel);
        float radius = min(LEAST_RADIUS + PENUMBRA_PER_DISTANCE * height_texels, GREATEST_RADIUS);
        // A parabola over the distance in each direction. It is 0 where texels enter and leave the window.
        vec4 x = (vec4(-1, 0, 1, 2) - within.x) / radius, y = (vec4(-1, 0, 1, 2) - within.y) / radius;
        vec4 columns = max(1.0 - x * x, 0.0), rows = max(1.0 - y * y, 0.0);
        share = weighted(lit(above_left), columns.xy, rows.xy) + weighted(lit(above_right), columns.zw, rows.xy)
              + weighted(lit(below_left), columns.xy, rows.zw) + weighted(lit(below_right), columns.zw, rows.zw);
        share /= sum(columns) * sum(rows);
    }
    // Near the edge of the map shadows fade out.
    return mix(share, 1.0, smoothstep(0.96, 1.0, edge));
}

#endif

// What kind of surface a pipeline draws: one specialization constant of bits, so that what a surface does not have is
// not in its shader at all: no texture is sampled that is not there, no light computed where none counts.
#ifndef THRONG_SURFACE
#define THRONG_SURFACE

layout(constant_id = 0) const uint SURFACE = 0;

const uint SURFACE_FLAT = 1;
const uint SURFACE_THIN = 2;
const uint SURFACE_MASKED = 4;
const uint SURFACE_BLENDED = 8;
const uint SURFACE_UNLIT = 16;
const uint SURFACE_TEX_COORDS_VARY = 32;
// One bit for each texture, in the order of their slots.
const uint SURFACE_BASE_COLOR_TEXTURE = 64;
const uint SURFACE_METALLIC_ROUGHNESS_TEXTURE = 128;
const uint SURFACE_OCCLUSION_TEXTURE = 256;
const uint SURFACE_EMISSIVE_TEXTURE = 512;
const uint SURFACE_NORMAL_TEXTURE = 1024;
// Vertices have tangents.
const uint SURFACE_TANGENTS = 2048;

bool surface_has(uint bit) {
    return (SURFACE & bit) != 0;
}

#endif

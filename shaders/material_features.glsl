// The features of a material that a pipeline is specialised for, as bits of one specialization constant. The code of an
// absent feature is not part of the pipeline: it samples no missing texture and lights no unlit material.
#ifndef THRONG_MATERIAL_FEATURES
#define THRONG_MATERIAL_FEATURES

layout(constant_id = 0) const uint FEATURES = 0;

const uint FEATURE_FLAT = 1;
const uint FEATURE_THIN = 2;
const uint FEATURE_MASKED = 4;
const uint FEATURE_BLENDED = 8;
const uint FEATURE_UNLIT = 16;
const uint FEATURE_TEX_COORDS_VARY = 32;
// One bit for each texture, in the order of their slots.
const uint FEATURE_BASE_COLOR_TEXTURE = 64;
const uint FEATURE_METALLIC_ROUGHNESS_TEXTURE = 128;
const uint FEATURE_OCCLUSION_TEXTURE = 256;
const uint FEATURE_EMISSIVE_TEXTURE = 512;
const uint FEATURE_NORMAL_TEXTURE = 1024;
// The vertices have tangents.
const uint FEATURE_TANGENTS = 2048;

// The metalness is 0 everywhere.
const uint FEATURE_DIELECTRIC = 4096;
// The emission is not 0.
const uint FEATURE_EMITS = 8192;
// The base colour factor is not 1.
const uint FEATURE_COLOR_FACTOR = 16384;

// There is a shadow map. This is a feature of the picture, like the next one.
const uint FEATURE_SHADOWED = 32768;
// Alpha is coverage (tone_map.frag).
const uint FEATURE_TRANSPARENT = 65536;

bool has_feature(uint bit) {
    return (FEATURES & bit) != 0;
}

#endif

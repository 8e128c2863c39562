// All specialization constants. A pipeline is specialised for them, and the code that they exclude is not part of it.
// SpecializationConstants (src/shader_types/specialization.rs) has the same members in the order of their ids, and one array
// of it gives all pipelines their values. tests/repository/shader_layout.rs compares ids and names.
#ifndef THRONG_SPECIALIZATION
#define THRONG_SPECIALIZATION

// The features of a material: the bits below. An absent texture is not sampled, and an unlit material is not lit.
layout(constant_id = 0) const uint FEATURES = 0;
// The number of influences of every vertex that this pipeline skins, or 0 if they differ. A loop of constant length is
// unrolled.
layout(constant_id = 1) const uint INFLUENCE_COUNT = 0;
// 0 if the model has no morph targets.
layout(constant_id = 2) const uint WITH_MORPHS = 1;
// skin.comp: 1 if the model has tangents. Its pages then have room for them.
layout(constant_id = 3) const uint WITH_TANGENTS = 0;
// 0 if the model has no normals. Then nothing reads the skinned ones, and they become +Z.
layout(constant_id = 4) const uint WITH_NORMALS = 1;
// skin.comp: the number of poses that a work group skins, one after the other.
layout(constant_id = 5) const uint POSES_PER_GROUP = 1;
// The ground: 1 for the part that shadows may reach.
layout(constant_id = 6) const uint GROUND_IS_SHADED = 1;
// 1 if the shader encodes sRGB, with the same result on every driver; 0 if the format of the output does.
layout(constant_id = 7) const uint ENCODES_SRGB = 1;
// 1 if dual quaternions are blended instead of joint matrices.
layout(constant_id = 8) const uint WITH_DUAL_QUATERNIONS = 0;

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
// A clip mirrors the surface, so its winding does not tell the front.
const uint FEATURE_MIRRORED_BY_CLIPS = 32768;

// There is a shadow map. This is a feature of the picture, like the next one.
const uint FEATURE_SHADOWED = 65536;
// Alpha is coverage (tone_map.frag).
const uint FEATURE_TRANSPARENT = 131072;
// A dielectric reflects another share of light than 0.04.
const uint FEATURE_SPECULAR = 262144;
// Each instance of the draw is many characters (copies.glsl).
const uint FEATURE_COPIES = 524288;

bool has_feature(uint bit) {
    return (FEATURES & bit) != 0;
}

#endif

// The values that vary over a character's surface, from the vertex shader to the fragment shader.
//
// A vec4 costs a software rasteriser 16 bytes per vertex and 48 bytes per triangle, even if no pixel reads it. So the
// values are packed, those that fewer materials need come last, and the length of the array is a specialization
// constant: `varying_count` of src/shader_types.rs chooses it by the features of the material.
//
// | element | xyz | w | needed by |
// |---|---|---|---|
// | 0 | position, world space | u of the first texture coordinates | every material |
// | 1 | colour of the vertex and the instance | v of the first texture coordinates | every material |
// | 2 | normal, world space | alpha of that colour | lit materials with normals; masked and blended ones |
// | 3 | xy: the second texture coordinates | unused | FEATURE_TEX_COORDS_VARY |
// | 4 | tangent, world space | handedness | FEATURE_TANGENTS |
#ifndef THRONG_VARYINGS
#define THRONG_VARYINGS

layout(constant_id = 3) const uint VARYING_COUNT = 5;

#endif

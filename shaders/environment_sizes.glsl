// The sizes of the tables of the light of the surroundings, in texels. src/renderer/resident/environment.rs has the same;
// tests/repository/shader_layout.rs compares them.
#ifndef THRONG_ENVIRONMENT_SIZES
#define THRONG_ENVIRONMENT_SIZES

const uint IRRADIANCE_SIDE = 32;
const uint SPECULAR_SIDE = 128;
const uint ROUGHNESS_COUNT = 6; // from 0 to 1
const uint SPLIT_SUM_SIDE = 64;

#endif

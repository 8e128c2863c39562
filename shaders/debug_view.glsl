// The numbers of the debug views. The views replace the lit shaders (character.vert, character.frag), which have no
// code for them. Both ways of skinning share this code. The vertices are the skinned vertices of all other passes;
// their influences are read once more, to be shown.
#ifndef THRONG_DEBUG_VIEW
#define THRONG_DEBUG_VIEW

// debug_views of src/shader_types.rs.
layout(constant_id = 4) const uint DEBUG_VIEW = 0;

const uint VIEW_NORMALS = 1;
const uint VIEW_TANGENTS = 2;
const uint VIEW_TEX_COORDS = 3;
const uint VIEW_WEIGHTS = 4;
const uint VIEW_JOINTS = 5;
const uint VIEW_INFLUENCES = 6;
const uint VIEW_HEAT = 7;
const uint VIEW_INSTANCES = 8;
const uint VIEW_POSES = 9;
const uint VIEW_CLAY = 10;
const uint VIEW_WIRES = 11;
const uint VIEW_LOD = 12;

#endif

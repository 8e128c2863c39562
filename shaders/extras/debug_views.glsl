// The numbers of the debug views, as in src/extras/debug_view.rs.
#ifndef THRONG_DEBUG_VIEWS
#define THRONG_DEBUG_VIEWS

// It follows the constants of specialization.glsl.
layout(constant_id = 9) const uint DEBUG_VIEW = 0;

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
const uint VIEW_COLORS = 13;

#endif

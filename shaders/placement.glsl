// The placement that a vertex shader draws, for meshes that an instance shows at several placements. Their vertices exist once.
// The instances of a draw are then the placements, and all of them read the attributes of one instance of the crowd.
//
// In: the instance's pose record. Out: the record with the palette that the placement sees, which begins later.
#ifndef THRONG_PLACEMENT
#define THRONG_PLACEMENT

#include "instance.glsl"

// 1 if the instances of the draw are placements.
layout(constant_id = 6) const uint WITH_PLACEMENTS = 0;

PoseRecord pose_at_placement() {
    PoseRecord pose = poses[in_pose];
    if (WITH_PLACEMENTS != 0) {
        pose.palette_offset += gl_InstanceIndex;
    }
    return pose;
}

#endif

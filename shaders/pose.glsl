// Which pose the instance at hand shows, for vertex shaders that skin.
#ifndef THRONG_POSE
#define THRONG_POSE

#include "instance.glsl"
#include "skinning.glsl"

// Where the part of the palette and of the morph weights that is bound begins, in elements: a binding has a largest size.
layout(push_constant, std430) uniform StreamWindow {
    uint first_joint;
    uint first_morph_weight;
} window;

Pose pose_of_instance() {
    return Pose(in_offsets.x - window.first_joint, in_offsets.z - window.first_morph_weight);
}

#endif

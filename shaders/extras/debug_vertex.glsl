// The vertex half of the debug views.
#ifndef THRONG_DEBUG_VERTEX
#define THRONG_DEBUG_VERTEX

#include "character.glsl"
#include "colors.glsl"
#include "debug_views.glsl"

// As in src/extras/debug_view.rs.
struct PaletteEntry {
    uint node;
    uint is_joint;
};

// The data of the model. With --skinning vertex, set 1 has the first two as well.
layout(set = 2, binding = 0, std430) readonly buffer DebugVertices {
    BindVertex debug_vertices[];
};

layout(set = 2, binding = 1, std430) readonly buffer DebugInfluences {
    GpuInfluence debug_influences[];
};

layout(set = 2, binding = 2, std430) readonly buffer PaletteEntries {
    PaletteEntry palette_entries[];
};

layout(push_constant, std430) uniform DebugConstants {
    uint shown_node; // VIEW_HEAT: the node whose weights are shown
    uint level; // VIEW_LOD: the level of detail in the camera's view
    uint coarsest_level; // VIEW_LOD: the level of detail that is red
} shown;

layout(location = 7) in uvec2 in_numbers; // instance and pose

layout(location = 5) out vec4 out_blended; // a colour, or a weight in x
layout(location = 6) flat out vec3 out_whole; // the colour of the whole triangle: that of its first vertex

// From grey over blue, green and yellow to red. `count` is the number of joints, 0 for a rigid mesh.
vec3 count_color(uint count) {
    const vec3 colors[9] = vec3[9](
        vec3(0.62, 0.62, 0.62), vec3(0.25, 0.40, 0.85), vec3(0.20, 0.68, 0.80), vec3(0.30, 0.72, 0.32),
        vec3(0.93, 0.84, 0.28), vec3(0.95, 0.62, 0.20), vec3(0.92, 0.40, 0.18), vec3(0.84, 0.20, 0.20),
        vec3(0.66, 0.14, 0.50));
    return from_display(colors[min(count, 8u)]);
}

// Grey is full detail. The coarser levels, 1 to `coarsest`, go from green to red.
vec3 level_color(uint level, uint coarsest) {
    float share = clamp(float(level) - 1.0, 0.0, float(coarsest)) / max(float(coarsest) - 1.0, 1.0);
    float hue = 1.0 / 3.0 * (1.0 - (coarsest > 1u ? share : 1.0));
    return from_display(mix(vec3(0.62), 0.9 * mix(vec3(1.0), hue_color(hue), 0.8), min(float(level), 1.0)));
}

// Writes the colours of the view for a vertex of an instance.
void emit_debug(uint vertex) {
    out_blended = vec4(0.0);
    out_whole = vec3(0.0);
    if (DEBUG_VIEW == VIEW_INSTANCES) {
        out_whole = number_color(in_numbers.x);
    }
    if (DEBUG_VIEW == VIEW_POSES) {
        out_whole = number_color(in_numbers.y);
    }
    if (DEBUG_VIEW == VIEW_LOD) {
        out_whole = level_color(shown.level, shown.coarsest_level);
    }
    bool is_heat = DEBUG_VIEW == VIEW_HEAT;
    if (is_heat || DEBUG_VIEW == VIEW_WEIGHTS || DEBUG_VIEW == VIEW_JOINTS || DEBUG_VIEW == VIEW_INFLUENCES) {
        // The influences that the pose was skinned with, in its level of detail.
        BindVertex bound = debug_vertices[poses[in_pose].bind_vertex_offset + vertex];
        uint first = bound.first_influence;
        vec3 mixed = vec3(0.0);
        float shown_weight = 0.0, strongest_weight = 0.0;
        uint strongest_node = 0, count = 0;
        for (uint i = first; i < first + bound.influence_count; ++i) {
            float weight = debug_influences[i].weight;
            PaletteEntry entry = palette_entries[debug_influences[i].joint];
            mixed += weight * number_color(entry.node);
            shown_weight += entry.node == shown.shown_node ? weight : 0.0;
            strongest_node = weight > strongest_weight ? entry.node : strongest_node;
            strongest_weight = max(weight, strongest_weight);
            // Influences of weight 0 fill up the list (src/renderer/resident/skin_runs.rs).
            count += weight > 0.0 ? entry.is_joint : 0u;
        }
        if (DEBUG_VIEW == VIEW_WEIGHTS) {
            out_blended.rgb = mixed;
        }
        if (is_heat) {
            out_blended.x = shown_weight;
        }
        if (DEBUG_VIEW == VIEW_JOINTS) {
            out_whole = number_color(strongest_node);
        }
        if (DEBUG_VIEW == VIEW_INFLUENCES) {
            out_whole = count_color(count);
        }
    }
}

#endif

//! The bind pose of a model as `skin.comp` reads it.
//!
//! In: the [`Geometry`] of a model. Out: the five arrays of descriptor set 1, under their names in
//! `shaders/skinning.glsl`, for the renderer (which pads the influences) and for the CPU twin ([`skin`](super::skin)).

use crate::model::{Geometry, Influence, MorphDelta};
use crate::shader_types::{BindVertex, GpuInfluence, GpuMorphDelta, pack_octahedral, pack_tangent};

/// All vertices of a model before morphing and skinning.
#[derive(Debug, Clone)]
pub struct BindPose {
    /// All vertices. Each names its range of `influences` and of `morph_deltas`.
    pub bind_vertices: Vec<BindVertex>,
    /// The influences of all vertices.
    pub influences: Vec<GpuInfluence>,
    /// The morph deltas of all vertices.
    pub morph_deltas: Vec<GpuMorphDelta>,
    /// The packed tangent of each vertex. Empty if the model has no tangents, like most models.
    pub bind_tangents: Vec<u32>,
    /// The change of the tangent for each morph delta, three numbers each. Empty if the model has no tangents.
    pub morph_tangents: Vec<f32>,
    /// Whether any vertex has a normal. Without any, the model is shaded flat, and all normals stay +Z.
    pub has_normals: bool,
}

impl BindPose {
    /// Packs the vertices of `geometry`.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Self {
        let bind_vertex = |vertex: usize| {
            let (first_influence, influence_count) = range(&geometry.influence_starts, vertex);
            let (first_morph_delta, morph_delta_count) = range(&geometry.morph_delta_starts, vertex);
            BindVertex {
                position: geometry.positions[vertex].to_array(),
                normal_octahedral: pack_octahedral(geometry.normals[vertex]),
                first_influence,
                influence_count,
                first_morph_delta,
                morph_delta_count,
            }
        };
        let influence = |&Influence { joint, weight }: &Influence| GpuInfluence { joint, weight };
        let morph_delta = |delta: &MorphDelta| GpuMorphDelta {
            weight_index: delta.weight_index,
            position: delta.position.to_array(),
            normal: delta.normal.to_array(),
        };
        let tangent_deltas = if geometry.tangents.is_empty() { &[] } else { &geometry.morph_deltas[..] };
        Self {
            bind_vertices: (0..geometry.vertex_count()).map(bind_vertex).collect(),
            influences: geometry.influences.iter().map(influence).collect(),
            morph_deltas: geometry.morph_deltas.iter().map(morph_delta).collect(),
            bind_tangents: geometry.tangents.iter().map(|&tangent| pack_tangent(tangent)).collect(),
            morph_tangents: tangent_deltas.iter().flat_map(|delta| delta.tangent.to_array()).collect(),
            has_normals: geometry.has_normals(),
        }
    }
}

/// Returns the first index and the length of a vertex's range.
fn range(starts: &[u32], vertex: usize) -> (u32, u32) {
    (starts[vertex], starts[vertex + 1] - starts[vertex])
}

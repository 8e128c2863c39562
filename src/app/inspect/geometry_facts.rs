//! The vertices before and after welding, and the number of joints that influence each.

use serde::Serialize;

use crate::model::{Geometry, SourcePrimitive, Topology};

#[derive(Debug, Serialize)]
pub(super) struct GeometryFacts {
    /// The number of primitives. One that several nodes show counts for each of them, and for each of its placements.
    pub primitives: usize,
    /// The number of their vertices before welding.
    pub file_vertices: usize,
    /// The number of vertices after welding.
    pub vertices: usize,
    pub triangles: usize,
    pub lines: usize,
    pub points: usize,
    /// The number of morph-target elements that move a vertex.
    pub morph_deltas: usize,
    pub influences: usize,
    pub max_influences: usize,
    pub draws: usize,
    /// The influences of the welded vertices.
    pub influence_histogram: Histogram,
    pub by_primitive: Vec<PrimitiveFacts>,
}

/// A primitive that a node shows. Node, mesh and skin are glTF indices.
#[derive(Debug, Serialize)]
pub(super) struct PrimitiveFacts {
    pub node: u32,
    pub mesh: u32,
    pub primitive: u32,
    pub skin: Option<u32>,
    /// The index of the placement (EXT_mesh_gpu_instancing). Absent if the node shows it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<u32>,
    /// The number of vertices before welding.
    pub file_vertices: usize,
    /// The number after welding. A vertex that two primitives share counts for both.
    pub vertices: usize,
    pub normals: bool,
    /// The number of vertices that a morph target moves.
    pub morphed_vertices: usize,
    pub max_influences: usize,
    pub influence_histogram: Histogram,
}

/// The number of vertices for each range of influence counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Histogram {
    #[serde(rename = "1")]
    pub one: usize,
    #[serde(rename = "2")]
    pub two: usize,
    #[serde(rename = "3-4")]
    pub up_to_four: usize,
    #[serde(rename = "5-8")]
    pub up_to_eight: usize,
    pub more: usize,
}

impl Histogram {
    fn add(&mut self, influence_count: usize) {
        *match influence_count {
            0 | 1 => &mut self.one,
            2 => &mut self.two,
            3 | 4 => &mut self.up_to_four,
            5..=8 => &mut self.up_to_eight,
            _ => &mut self.more,
        } += 1;
    }

    /// Returns each range with its number of vertices.
    pub fn counts(&self) -> [(&'static str, usize); 5] {
        [("1", self.one), ("2", self.two), ("3-4", self.up_to_four), ("5-8", self.up_to_eight), ("more", self.more)]
    }
}

impl GeometryFacts {
    pub fn of(geometry: &Geometry) -> Self {
        let (mut influence_histogram, mut max_influences) = (Histogram::default(), 0);
        for vertex in 0..geometry.vertex_count() {
            let count = geometry.influences_of(vertex).len();
            influence_histogram.add(count);
            max_influences = max_influences.max(count);
        }
        let mut last_primitives = vec![0; geometry.vertex_count()];
        let primitives = geometry.source_primitives.iter().zip(1..);
        let describe = |primitive| primitive_facts(geometry, &mut last_primitives, primitive);
        Self {
            primitives: geometry.source_primitives.len(),
            file_vertices: geometry.source_primitives.iter().map(|primitive| primitive.vertices.len()).sum(),
            vertices: geometry.vertex_count(),
            triangles: geometry.triangle_count(),
            lines: geometry.count_of(Topology::Lines),
            points: geometry.count_of(Topology::Points),
            morph_deltas: geometry.morph_deltas.len(),
            influences: geometry.influences.len(),
            max_influences,
            draws: geometry.draw_ranges.len(),
            influence_histogram,
            by_primitive: primitives.map(describe).collect(),
        }
    }
}

/// Describes a primitive. `number` identifies it, from 1 on, and `last_primitives` holds the number of the last described
/// primitive that uses each vertex.
fn primitive_facts(
    geometry: &Geometry,
    last_primitives: &mut [u32],
    (primitive, number): (&SourcePrimitive, u32),
) -> PrimitiveFacts {
    let mut facts = PrimitiveFacts {
        node: primitive.node,
        mesh: primitive.mesh,
        primitive: primitive.primitive,
        skin: primitive.skin,
        placement: primitive.placement,
        file_vertices: primitive.vertices.len(),
        vertices: 0,
        normals: primitive.has_normals,
        morphed_vertices: 0,
        max_influences: 0,
        influence_histogram: Histogram::default(),
    };
    for &vertex in &primitive.vertices {
        let Some(last) = last_primitives.get_mut(vertex as usize) else { continue };
        if std::mem::replace(last, number) != number {
            let count = geometry.influences_of(vertex as usize).len();
            facts.vertices += 1;
            facts.morphed_vertices += usize::from(!geometry.morph_deltas_of(vertex as usize).is_empty());
            facts.influence_histogram.add(count);
            facts.max_influences = facts.max_influences.max(count);
        }
    }
    facts
}

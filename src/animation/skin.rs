//! The CPU twin of `skin.comp`, and its test oracle: the functions, the statements and the names of
//! `shaders/skinning.glsl`, in the same order. Open both files next to each other.
//!
//! In: a [`BindPose`], which is also what the renderer uploads, and a [`Pose`]. Out: skinned vertices. Five differences remain.
//! The slices of a pose begin at its first matrix and first weight, so they need no offsets. Results are returned instead of
//! stored. Each vertex is unpacked for one pose, not for several. There are no specialization constants, which only save time.
//! A rotation becomes a quaternion, and a quaternion a rotation, by glam's functions.
//!
//! For measures, [`skinned_position`] computes single positions, with the same bits, from the [`Geometry`] itself.

use glam::{Vec3, Vec4, Vec4Swizzles};

use super::skin_dual::blend_dual_quaternions;
use super::{ModelPose, joint_matrices};
use crate::model::{Geometry, Influence, Model, MorphDelta};
use crate::shader_types::{
    BindVertex, GpuInfluence, GpuMorphDelta, JointMatrix, SkinnedVertex, pack_octahedral, pack_tangent,
    unpack_octahedral, unpack_tangent,
};

/// All vertices of a model before morphing and skinning: the first five arrays of the model set, under their names in
/// `shaders/skinning.glsl`. The renderer pads the influences.
#[derive(Debug, Clone)]
pub struct BindPose {
    /// All vertices. Each names its range of `influences` and of `morph_deltas`. Levels of detail with influences of their own
    /// have vertices of their own, which follow.
    pub bind_vertices: Vec<BindVertex>,
    /// The first vertex of each level of detail, full detail first.
    pub level_starts: Vec<u32>,
    pub influences: Vec<GpuInfluence>,
    pub morph_deltas: Vec<GpuMorphDelta>,
    /// The packed tangent of each vertex. Empty if the model has no tangents, like most models.
    pub bind_tangents: Vec<u32>,
    /// The change of the tangent for each morph delta, three numbers each. Empty if the model has no tangents.
    pub morph_tangents: Vec<f32>,
    /// Whether any vertex has a normal. Without any, the model is shaded flat, and all normals stay +Z.
    pub has_normals: bool,
    /// Whether joints are blended as dual quaternions.
    pub with_dual_quaternions: bool,
}

impl BindPose {
    /// Packs the vertices of `geometry`.
    pub fn new(geometry: &Geometry) -> Self {
        let bind_vertex = |vertex: usize, influence_starts: &[u32], first: u32| {
            let (first_influence, influence_count) = range(influence_starts, vertex);
            let first_influence = first + first_influence;
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
        let mut bind_vertices = Vec::new();
        let mut influences: Vec<GpuInfluence> = Vec::new();
        for (vertex_count, own) in geometry.levels() {
            let (starts, own) = match own {
                None if bind_vertices.is_empty() => (&geometry.influence_starts[..], &geometry.influences[..]),
                None => continue,
                Some(own) => own,
            };
            let first = influences.len() as u32;
            bind_vertices.extend((0..vertex_count as usize).map(|vertex| bind_vertex(vertex, starts, first)));
            influences.extend(own.iter().map(influence));
        }
        let morph_delta = |delta: &MorphDelta| GpuMorphDelta {
            weight_index: delta.weight_index,
            position: delta.position.to_array(),
            normal: delta.normal.to_array(),
        };
        let tangent_deltas = if geometry.tangents.is_empty() { &[] } else { &geometry.morph_deltas[..] };
        Self {
            bind_vertices,
            level_starts: level_starts(geometry),
            influences,
            morph_deltas: geometry.morph_deltas.iter().map(morph_delta).collect(),
            bind_tangents: geometry.tangents.iter().map(|&tangent| pack_tangent(tangent)).collect(),
            morph_tangents: tangent_deltas.iter().flat_map(|delta| delta.tangent.to_array()).collect(),
            has_normals: geometry.has_normals(),
            with_dual_quaternions: geometry.with_dual_quaternions,
        }
    }

    /// Returns the number of vertices in full detail.
    pub fn vertex_count(&self) -> usize {
        let end = self.level_starts.iter().copied().find(|&start| start > 0);
        end.map_or(self.bind_vertices.len(), |end| end as usize)
    }
}

/// Returns the first bind vertex of each level of detail, full detail first. It is 0 for levels without influences of their
/// own.
pub fn level_starts(geometry: &Geometry) -> Vec<u32> {
    let mut end = geometry.vertex_count() as u32;
    let start = |(vertex_count, own): (u32, Option<_>)| {
        let start = if own.is_some() { end } else { 0 };
        end += if own.is_some() { vertex_count } else { 0 };
        start
    };
    geometry.levels().map(start).collect()
}

/// Returns the first index and the length of a vertex's range.
fn range(starts: &[u32], vertex: usize) -> (u32, u32) {
    (starts[vertex], starts[vertex + 1] - starts[vertex])
}

/// The streams of one pose.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pose<'a> {
    /// The joint matrices, beginning with the pose's first one.
    pub palette: &'a [JointMatrix],
    /// The morph weights, beginning with the pose's first one. Empty if no target is active.
    pub morph_weights: &'a [f32],
    /// The first bind vertex of the pose's level of detail.
    pub bind_vertex_offset: u32,
}

/// The bind pose of one vertex, in mesh space, for any number of poses.
struct UnpackedVertex {
    position: Vec3,
    normal: Vec3,
    /// w: handedness.
    tangent: Vec4,
    first_influence: u32,
    influence_count: u32,
    first_delta: u32,
    end_delta: u32,
}

/// Reads one vertex of the model, with its normal and tangent if they are wanted.
fn unpack_vertex(
    bind_pose: &BindPose,
    vertex: usize,
    bind_vertex_offset: u32,
    wants_normal: bool,
    wants_tangent: bool,
) -> UnpackedVertex {
    let bind_vertex = bind_pose.bind_vertices[bind_vertex_offset as usize + vertex];
    UnpackedVertex {
        position: Vec3::from(bind_vertex.position),
        normal: if wants_normal { unpack_octahedral(bind_vertex.normal_octahedral) } else { Vec3::ZERO },
        tangent: if wants_tangent { unpack_tangent(bind_pose.bind_tangents[vertex]) } else { Vec4::ZERO },
        first_delta: bind_vertex.first_morph_delta,
        end_delta: bind_vertex.first_morph_delta + bind_vertex.morph_delta_count,
        first_influence: bind_vertex.first_influence,
        influence_count: bind_vertex.influence_count,
    }
}

/// Returns the weighted sum of the joint matrices that influence a vertex (glTF 2.0, 3.7.3.3).
fn blend_joint_matrices(influences: impl Iterator<Item = GpuInfluence>, palette: &[JointMatrix]) -> JointMatrix {
    let mut blended = [Vec4::ZERO; 3];
    for GpuInfluence { joint, weight } in influences {
        blended[0] += weight * Vec4::from(palette[joint as usize].rows[0]);
        blended[1] += weight * Vec4::from(palette[joint as usize].rows[1]);
        blended[2] += weight * Vec4::from(palette[joint as usize].rows[2]);
    }
    JointMatrix { rows: blended.map(|row| row.to_array()) }
}

/// Blends the joint matrices that influence a vertex. There is nothing to blend for one joint.
fn blend(
    with_dual_quaternions: bool,
    influences: impl ExactSizeIterator<Item = GpuInfluence>,
    palette: &[JointMatrix],
) -> JointMatrix {
    let by_matrices = !with_dual_quaternions || influences.len() <= 1;
    if by_matrices { blend_joint_matrices(influences, palette) } else { blend_dual_quaternions(influences, palette) }
}

/// Skins one vertex of the model, with its normal if the model has normals, and its tangent if `wants_tangent`. Only
/// models with normal maps have tangents. A normal that the model does not have becomes +Z, which is packed as 0.
///
/// # Panics
/// If `vertex`, one of its influences, their joints, its morph deltas or their weights are out of range.
#[inline]
pub fn skin_vertex(bind_pose: &BindPose, vertex: usize, pose: Pose<'_>, wants_tangent: bool) -> (SkinnedVertex, u32) {
    let wants_normal = bind_pose.has_normals;
    let vertex = unpack_vertex(bind_pose, vertex, pose.bind_vertex_offset, wants_normal, wants_tangent);
    let mut position = vertex.position;
    let mut bind_normal = vertex.normal;
    let mut bind_tangent = vertex.tangent;
    // glTF applies morph targets before joints (3.7.2.2).
    let end_delta = if pose.morph_weights.is_empty() { vertex.first_delta } else { vertex.end_delta };
    for i in vertex.first_delta as usize..end_delta as usize {
        let delta = bind_pose.morph_deltas[i];
        let weight = pose.morph_weights[delta.weight_index as usize];
        position += weight * Vec3::from(delta.position);
        bind_normal += weight * Vec3::from(delta.normal);
        if wants_tangent {
            bind_tangent += (weight * Vec3::from_slice(&bind_pose.morph_tangents[3 * i..])).extend(0.0);
        }
    }
    let first = vertex.first_influence as usize;
    let influences = bind_pose.influences[first..first + vertex.influence_count as usize].iter().copied();
    let model_from_mesh = blend(bind_pose.with_dual_quaternions, influences, pose.palette);
    position = model_from_mesh.transform_point(position);
    let mut skinned_normal = 0;
    if wants_normal {
        let normal = model_from_mesh.transform_normal(bind_normal);
        // The octahedral map needs no unit vector. If a joint has collapsed, the vertex keeps the bind pose's normal.
        let collapsed = normal.dot(normal) == 0.0;
        skinned_normal = pack_octahedral(if collapsed { bind_normal } else { normal });
    }
    let mut skinned_tangent = 0;
    if wants_tangent {
        // A tangent lies in the surface, so the matrix itself transforms it. A mirroring matrix changes the handedness.
        let [row0, row1, row2] = model_from_mesh.rows.map(|row| Vec4::from(row).xyz());
        let bind_direction = bind_tangent.xyz();
        let tangent = Vec3::new(row0.dot(bind_direction), row1.dot(bind_direction), row2.dot(bind_direction));
        let mirrored = if row0.dot(row1.cross(row2)) < 0.0 { -1.0 } else { 1.0 };
        let direction = if tangent.dot(tangent) == 0.0 { bind_direction } else { tangent };
        skinned_tangent = pack_tangent(direction.extend(mirrored * bind_tangent.w));
    }
    (SkinnedVertex { position: position.into(), normal_octahedral: skinned_normal }, skinned_tangent)
}

/// Skins all vertices of one pose.
///
/// # Panics
/// If the lengths of `skinned_vertices` and of the model's vertices differ, or for the reasons of [`skin_vertex`].
pub fn skin_vertices(bind_pose: &BindPose, pose: Pose<'_>, skinned_vertices: &mut [SkinnedVertex]) {
    let vertex_count = bind_pose.vertex_count();
    assert_eq!(skinned_vertices.len(), vertex_count, "room for {vertex_count} vertices");
    for (vertex, skinned) in skinned_vertices.iter_mut().enumerate() {
        (*skinned, _) = skin_vertex(bind_pose, vertex, pose, false);
    }
}

/// Overwrites `out` with the positions of all vertices of `model` that are drawn, in model space.
///
/// # Panics
/// If `pose` belongs to another model.
pub fn skinned_positions(model: &Model, pose: ModelPose<'_>, out: &mut Vec<Vec3>) {
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
    let pose = Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() };
    out.clear();
    out.extend((0..model.geometry.drawn_vertex_count()).map(|vertex| skinned_position(&model.geometry, vertex, pose)));
}

/// Returns the position of one vertex in model space.
///
/// # Panics
/// If `vertex` is out of range, or if `pose` belongs to another model.
#[inline]
pub fn skinned_position(geometry: &Geometry, vertex: usize, pose: Pose<'_>) -> Vec3 {
    let mut position = geometry.positions[vertex];
    let deltas = if pose.morph_weights.is_empty() { &[] } else { geometry.morph_deltas_of(vertex) };
    for delta in deltas {
        position += pose.morph_weights[delta.weight_index as usize] * delta.position;
    }
    blended_matrix(geometry, vertex, pose).transform_point(position)
}

/// Returns the blend of the joint matrices that influence a vertex.
///
/// # Panics
/// If `vertex` is out of range, or if `pose` belongs to another model.
#[inline]
pub fn blended_matrix(geometry: &Geometry, vertex: usize, pose: Pose<'_>) -> JointMatrix {
    let influences = geometry.influences_of(vertex).iter();
    let influences = influences.map(|&Influence { joint, weight }| GpuInfluence { joint, weight });
    blend(geometry.with_dual_quaternions, influences, pose.palette)
}

//! The numbers of an instance at given times, as the JSON has them.

use std::collections::BTreeMap;

use anyhow::Result;
use glam::{DMat3, DVec3, Mat4, Vec3};
use serde::{Serialize, Serializer};

use super::skinner::Skinner;
use crate::animation::{ModelPose, PoseScratch, pose_model};
use crate::app::export::PosedMesh;
use crate::model::{Clip, Model, Skin, SourcePrimitive};
use crate::shader_types::{SkinnedVertex, unpack_octahedral, unpack_tangent};

#[derive(Serialize)]
pub(super) struct PoseReport<'m> {
    pub model: String,
    pub clip: Option<ClipReport>,
    pub on: &'static str,
    /// Whether pictures show the body turned by half a turn around +Y (VRM 0.x). The numbers are those of the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub turned_in_pictures: bool,
    /// The point of the file that is the origin in pictures, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_in_pictures: Option<[f32; 3]>,
    /// The name of each node, by glTF index: `node N` without one in the file, and `None` for one that the scene does not need.
    pub node_names: Vec<Option<&'m str>>,
    pub frames: Vec<FrameReport<'m>>,
}

#[derive(Serialize)]
pub(super) struct ClipReport {
    pub index: usize,
    pub name: Option<String>,
    /// The file that the clip was borrowed from; `None` for one of the model's own.
    pub file: Option<String>,
    pub duration: f64,
}

/// A number in the file's space. Those of bodies that import has brought near need 64 bits.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum Number {
    Near(f32),
    Far(f64),
}

impl Number {
    fn new(near: f32, by: f64) -> Self {
        if by == 0.0 { Self::Near(near) } else { Self::Far(f64::from(near) + by) }
    }

    pub fn value(self) -> f64 {
        match self {
            Self::Near(number) => number.into(),
            Self::Far(number) => number,
        }
    }
}

/// A column-major matrix.
pub(super) type Matrix = [Number; 16];

/// Returns the numbers of a matrix whose translation grows by a vector.
fn moved(matrix: Mat4, by: DVec3) -> Matrix {
    let (numbers, by) = (matrix.to_cols_array(), by.to_array());
    std::array::from_fn(|at| Number::new(numbers[at], if (12..15).contains(&at) { by[at - 12] } else { 0.0 }))
}

/// Returns the number of a matrix for vertices that have not been moved by `mesh_origin`.
fn for_file_vertices(matrix: Mat4, mesh_origin: Vec3, by: DVec3) -> Matrix {
    moved(matrix, by - DMat3::from_mat4(matrix.as_dmat4()) * mesh_origin.as_dvec3())
}

/// Returns the inverse bind matrices of a skin in the file.
pub(super) fn inverse_binds(model: &Model, skin: &Skin) -> impl Iterator<Item = Matrix> {
    let matrices = skin.joint_from_mesh.iter();
    matrices.map(|&matrix| for_file_vertices(Mat4::from(matrix), model.source.mesh_origin, DVec3::ZERO))
}

/// The instance at one time. Matrices are column-major.
#[derive(Serialize)]
pub(super) struct FrameReport<'m> {
    pub time: f64,
    /// The world matrix of each node, by glTF index; `None` outside the scene.
    pub nodes: Vec<Option<Matrix>>,
    pub skins: Vec<Vec<Matrix>>,
    /// The morph weights of each node that has any, by glTF index.
    pub weights: BTreeMap<String, Vec<f32>>,
    pub primitives: Primitives<'m>,
}

/// [`PrimitiveReport`]s, each made when it is written, because the JSON has several times the bytes of the skinned vertices.
pub(super) struct Primitives<'m> {
    pub posed: PosedMesh<'m>,
    /// The origin of model space in the file.
    pub origin: DVec3,
    /// The way of each vertex, if it is wanted.
    pub ways: Vec<Vec3>,
}

impl Serialize for Primitives<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sources().iter().zip(&self.posed.mirrored).map(|(source, &is_mirrored)| {
            let vertices = || in_order_of(source, &self.posed.vertices);
            let tangents = if source.has_tangents { &self.posed.tangents[..] } else { &[] };
            let normals = vertices().filter(|_| source.has_normals);
            PrimitiveReport {
                node: source.node,
                mesh: source.mesh,
                primitive: source.primitive,
                skin: source.skin,
                clockwise: is_mirrored,
                indices: (0..source.vertices.len() as u32).collect(),
                positions: vertices().map(|vertex| self.in_file(vertex)).collect(),
                normals: normals.map(|vertex| unpack_octahedral(vertex.normal_octahedral).to_array()).collect(),
                tangents: in_order_of(source, tangents).map(|&tangent| unpack_tangent(tangent).to_array()).collect(),
                motion: in_order_of(source, &self.ways).map(Vec3::to_array).collect(),
            }
        }))
    }
}

impl<'m> Primitives<'m> {
    fn sources(&self) -> &'m [SourcePrimitive] {
        &self.posed.model.geometry.source_primitives
    }

    /// Notes the way of each vertex since an earlier time.
    pub fn note_ways_since(&mut self, before: Option<Self>) {
        let pairs = before.iter().flat_map(|before| self.posed.vertices.iter().zip(&before.posed.vertices));
        self.ways = pairs.map(|(now, before)| Vec3::from(now.position) - Vec3::from(before.position)).collect();
    }

    /// Iterates over the model's index and the skinned position of each vertex, in the file's order.
    pub fn positions(&self) -> impl Iterator<Item = (usize, DVec3)> {
        let indices = self.sources().iter().flat_map(|source| &source.vertices).map(|&vertex| vertex as usize);
        let in_file = |vertex| self.in_file(vertex).map(Number::value).into();
        indices.filter_map(move |vertex| Some((vertex, in_file(self.posed.vertices.get(vertex)?))))
    }

    fn in_file(&self, vertex: &SkinnedVertex) -> [Number; 3] {
        std::array::from_fn(|axis| Number::new(vertex.position[axis], self.origin[axis]))
    }
}

#[derive(Serialize)]
struct PrimitiveReport {
    node: u32,
    mesh: u32,
    primitive: u32,
    skin: Option<u32>,
    /// Whether front faces are clockwise in this pose. The matrix of the first vertex decides.
    clockwise: bool,
    indices: Vec<u32>,
    positions: Vec<[Number; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    normals: Vec<[f32; 3]>,
    /// Directions and handedness.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tangents: Vec<[f32; 4]>,
    /// The ways of the vertices in the time of `--motion`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    motion: Vec<[f32; 3]>,
}

/// Returns what each node of the file has, by glTF index, given what each node of the skeleton has.
pub(super) fn by_source_node<T: Clone>(model: &Model, own: impl Iterator<Item = Option<T>>) -> Vec<Option<T>> {
    let mut all = vec![None; model.skeleton.source_node_count as usize];
    for (&node, value) in model.skeleton.source_nodes.iter().zip(own).filter(|(_, value)| value.is_some()) {
        if let Some(entry) = all.get_mut(node as usize) {
            *entry = value;
        }
    }
    all
}

pub(super) fn evaluate<'m>(
    model: &'m Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    skinner: &mut Skinner,
) -> Result<FrameReport<'m>> {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, clip, time_seconds, &mut scratch);
    let ModelPose { model_from_node, morph_weights } = pose;
    let origin = model.source.origin.as_dvec3();
    let matrices = model_from_node.iter().zip(&model.skeleton.in_scene);
    let nodes =
        by_source_node(model, matrices.map(|(&matrix, &in_scene)| in_scene.then(|| moved(Mat4::from(matrix), origin))));
    let skins = model.skins.iter().map(|skin| {
        let inverse_binds = skin.joint_from_mesh.iter().zip(&skin.inverse_bind_w);
        let matrices = skin.joints.iter().zip(inverse_binds).map(|(&joint, (&joint_from_mesh, &w))| {
            let mut inverse_bind = Mat4::from(joint_from_mesh);
            inverse_bind.w_axis.w = w;
            let matrix = Mat4::from(model_from_node[joint as usize]) * inverse_bind;
            for_file_vertices(matrix, model.source.mesh_origin, origin)
        });
        matrices.collect()
    });
    let weights = model.skeleton.morphed_nodes.iter().map(|morphed| {
        let first = morphed.first_weight as usize;
        let source = model.skeleton.source_nodes[morphed.node as usize];
        (source.to_string(), morph_weights[first..first + morphed.weight_count as usize].to_vec())
    });
    let posed = skinner.skin(model, time_seconds, pose)?;
    let primitives = Primitives { posed, origin, ways: Vec::new() };
    let (skins, weights) = (skins.collect(), weights.collect());
    Ok(FrameReport { time: time_seconds, nodes, skins, weights, primitives })
}

/// Iterates over what the skinned vertices of a primitive have, in the file's order.
fn in_order_of<'v, T>(source: &'v SourcePrimitive, vertices: &'v [T]) -> impl Iterator<Item = &'v T> {
    source.vertices.iter().filter_map(|&vertex| vertices.get(vertex as usize))
}

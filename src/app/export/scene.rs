//! Posed meshes and their places.

use std::collections::HashMap;
use std::f64::consts::PI;
use std::ops::Range;

use anyhow::{Result, ensure};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Mat4};

use crate::animation::{
    BindPose, ModelPose, Pose, PoseScratch, blended_matrix, joint_matrices, pose_model, skin_vertex,
};
use crate::crowd::{Crowd, InstanceState, wrap_seconds};
use crate::model::{DrawRange, Geometry, Model, SourcePrimitive, Topology};
use crate::shader_types::{JointMatrix, SkinnedVertex};

/// The largest number of skinned vertices of all meshes together, two gigabytes.
const MOST_VERTICES: usize = 1 << 27;

pub struct PosedMesh<'m> {
    pub model: &'m Model,
    pub vertices: Vec<SkinnedVertex>,
    /// Their packed tangents. Empty if the model has none.
    pub tangents: Vec<u32>,
    /// Whether the pose mirrors each of the model's source primitives. The matrix of the first vertex decides.
    pub mirrored: Vec<bool>,
}

/// What a primitive of the file has become.
pub(super) struct Part<'m> {
    pub mesh: &'m PosedMesh<'m>,
    pub source: &'m SourcePrimitive,
    pub range: DrawRange,
    /// The model's vertices that it uses, in ascending order.
    pub vertices: Vec<u32>,
    /// Its triangles, lines or points of these vertices, counter-clockwise.
    pub indices: Vec<u32>,
}

impl<'m> PosedMesh<'m> {
    /// Collects what a pose has become.
    pub fn new(model: &'m Model, pose: Pose<'_>, (vertices, tangents): (Vec<SkinnedVertex>, Vec<u32>)) -> Self {
        let is_mirrored = |source: &SourcePrimitive| {
            let matrix = source.vertices.first().map(|&vertex| blended_matrix(&model.geometry, vertex as usize, pose));
            matrix.is_some_and(|matrix| Affine3A::from(matrix).matrix3.determinant() < 0.0)
        };
        let mirrored = model.geometry.source_primitives.iter().map(is_mirrored).collect();
        Self { model, vertices, tangents, mirrored }
    }

    /// Returns what one of the file's primitives has become. `None` if nothing of it is drawn.
    fn part(&self, primitive: usize) -> Option<Part<'_>> {
        let Geometry { source_primitives, draw_ranges, indices, .. } = &self.model.geometry;
        let source = &source_primitives[primitive];
        let drawn = source.indices.start as usize..source.indices.end as usize;
        let range = *draw_ranges.iter().rfind(|range| range.first_index <= source.indices.start)?;
        let drawn = indices.get(drawn).filter(|drawn| !drawn.is_empty())?;
        let mut vertices = drawn.to_vec();
        vertices.sort_unstable();
        vertices.dedup();
        let own = |vertex: &u32| vertices.partition_point(|other| other < vertex) as u32;
        let mut indices: Vec<u32> = drawn.iter().map(own).collect();
        if self.mirrored[primitive] && range.topology == Topology::Triangles {
            indices.as_chunks_mut::<3>().0.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        }
        Some(Part { mesh: self, source, range, vertices, indices })
    }

    /// Skins a pose on the CPU.
    pub fn skinned(model: &'m Model, bind_pose: &BindPose, pose: ModelPose<'_>) -> Self {
        let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
        let pose = Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() };
        let wants_tangent = !bind_pose.bind_tangents.is_empty();
        let vertices = 0..bind_pose.vertex_count();
        Self::new(model, pose, vertices.map(|vertex| skin_vertex(bind_pose, vertex, pose, wants_tangent)).unzip())
    }
}

impl Part<'_> {
    pub fn triangles(&self) -> &[[u32; 3]] {
        if self.range.topology == Topology::Triangles { self.indices.as_chunks().0 } else { &[] }
    }
}

/// A mesh, or a part of one, at its place.
pub struct PosedNode {
    pub name: String,
    pub mesh: usize,
    /// The primitives of the model's file that it shows.
    pub primitives: Range<usize>,
    pub world_from_model: DAffine3,
}

pub struct PosedScene<'m> {
    pub meshes: Vec<PosedMesh<'m>>,
    pub nodes: Vec<PosedNode>,
}

impl<'m> PosedScene<'m> {
    /// Returns one model in the space of its file. In `.glb` files, VRM 0.x bodies are turned round by their nodes, because
    /// without that extension they look along +Z.
    pub fn of_model(mesh: PosedMesh<'m>, origin: DVec3, is_turned: bool) -> Self {
        let rotation = if is_turned { DQuat::from_rotation_y(PI) } else { DQuat::IDENTITY };
        let mut posed = Self { meshes: vec![mesh], nodes: Vec::new() };
        posed.add_nodes_of_file(DAffine3::from_rotation_translation(rotation, rotation * origin));
        posed
    }

    /// Shows the first mesh, by a node for each node of its file that has a mesh.
    fn add_nodes_of_file(&mut self, world_from_model: DAffine3) {
        let Model { skeleton, geometry, .. } = self.meshes[0].model;
        let mut first = 0;
        for of_node in geometry.source_primitives.chunk_by(|a, b| a.node == b.node) {
            let node = skeleton.source_nodes.iter().position(|&node| node == of_node[0].node);
            let name = node.map_or_else(String::new, |node| skeleton.names[node].to_string());
            let primitives = first..first + of_node.len();
            first = primitives.end;
            self.nodes.push(PosedNode { name, mesh: 0, primitives, world_from_model });
        }
    }

    /// Poses a crowd: a mesh for each pose, and a node for each instance. A single character keeps the nodes of its file.
    pub fn of_crowd(models: &'m [Model], crowd: &Crowd, time_seconds: f64, speed: f64) -> Result<Self> {
        // Instances with the same model, clip and time in it share a pose.
        let shown = |state: &InstanceState| {
            let model = &models[state.model as usize];
            let clip = state.clip.and_then(|clip| model.clips.get(clip as usize));
            let duration_seconds = clip.map_or(0.0, |clip| clip.duration_seconds.into());
            (model, clip, wrap_seconds(state.start_seconds + time_seconds * speed, duration_seconds))
        };
        let states: Vec<_> = crowd.instance_states().collect();
        let placement = |state: &InstanceState| DAffine3::from_mat4(Mat4::from(state.world_from_model).as_dmat4());
        let (mut meshes, mut poses, mut nodes, mut vertex_count) = (HashMap::new(), Vec::new(), Vec::new(), 0);
        for (number, state) in states.iter().enumerate() {
            let (model, _, seconds) = shown(state);
            let mesh = *meshes.entry((state.model, state.clip, seconds.to_bits())).or_insert_with(|| {
                poses.push(state);
                vertex_count += model.geometry.vertex_count();
                poses.len() - 1
            });
            let (name, primitives) = (format!("{} {number}", model.name), 0..model.geometry.source_primitives.len());
            nodes.push(PosedNode { name, mesh, primitives, world_from_model: placement(state) });
        }
        ensure!(
            vertex_count <= MOST_VERTICES,
            "all poses have {vertex_count} vertices, and at most {MOST_VERTICES} can be written; show fewer instances"
        );
        let bind_poses: Vec<BindPose> = models.iter().map(|model| BindPose::new(&model.geometry)).collect();
        let mut scratch = PoseScratch::for_models(models);
        let meshes = poses.into_iter().map(|state| {
            let (model, clip, seconds) = shown(state);
            PosedMesh::skinned(model, &bind_poses[state.model as usize], pose_model(model, clip, seconds, &mut scratch))
        });
        let mut posed = Self { meshes: meshes.collect(), nodes };
        if let [single] = &states[..] {
            posed.nodes.clear();
            posed.add_nodes_of_file(placement(single));
        }
        Ok(posed)
    }

    pub(super) fn parts(&self, node: &PosedNode) -> impl Iterator<Item = Part<'_>> {
        let mesh = &self.meshes[node.mesh];
        node.primitives.clone().filter_map(|primitive| mesh.part(primitive))
    }
}

//! The stages of skinning, made visible: where each vertex is after each factor of
//! `world_from_model * model_from_joint * joint_from_mesh * position`, and the bind pose.
//!
//! In: a [`Model`], and the [`Stage`] to stop at. Out: the model, changed so that its palette holds a part of the product.
//! The renderer and the shaders are the same as ever, and so are bounds, culling and framing.
//!
//! | stage | palette | a vertex is |
//! |---|---|---|
//! | [`Stage::Mesh`] | identity | where the file has it, after morph targets |
//! | [`Stage::Joint`] | `joint_from_mesh` | as seen from its joint: all joints are at the origin |
//! | [`Stage::Model`] | `model_from_joint * joint_from_mesh` | part of the posed character, at the origin |
//! | [`Stage::World`] | the same | part of the posed character, in its place |
//!
//! A vertex with several influences is at the weighted mean of its positions in their joint spaces. Rigid meshes have one
//! joint, their node, with the identity as the inverse bind matrix. So mesh space and joint space are the same for them.

use glam::{Affine3A, Vec3};

use crate::model::bones::joints;
use crate::model::{Bone, Clip, FixedLocal, LocalPose, Model, NO_PARENT, Skeleton};

/// The last factor of the product that is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// No factor: mesh space.
    Mesh,
    /// The inverse bind matrix: the space of each joint.
    Joint,
    /// The joint matrix: model space.
    Model,
    /// All factors: world space.
    #[default]
    World,
}

impl Stage {
    /// All stages with their names.
    pub const ALL: [(&str, Self); 4] =
        [("mesh", Self::Mesh), ("joint", Self::Joint), ("model", Self::Model), ("world", Self::World)];

    /// Changes the palette of `model` so that its vertices end at this stage. [`Stage::Model`] and [`Stage::World`] have the
    /// same palette; they differ in the placement of the instances.
    ///
    /// Before [`Stage::Model`] clips animate only morph weights, which come before skinning.
    pub fn apply(self, model: &mut Model) {
        if matches!(self, Self::Model | Self::World) {
            return;
        }
        // `model_from_joint` becomes the identity.
        stop_nodes(&mut model.skeleton, |_| Affine3A::IDENTITY);
        model.clips.iter_mut().for_each(stop_clip);
        match self {
            Self::Mesh => {
                model.palette.joint_from_mesh.fill(Affine3A::IDENTITY);
                model.bones.extend(origin(&model.bones));
            }
            // Each joint has its own space, and the next joint is drawn where the space of the base has it.
            _ => model.bones.iter_mut().for_each(|bone| bone.tip = bone.base),
        }
        update_winding(model);
    }
}

/// Changes `model` so that it stays in its bind pose: each joint has its bind matrix, so the joint matrices are the identity
/// and the mesh looks as it was modelled, without morph targets beyond those of the rest pose.
///
/// Nodes that are no joints, and joints with a singular inverse bind matrix, keep their rest transform relative to their
/// parent. A joint of several skins has the bind matrix of the first.
pub fn apply_bind_pose(model: &mut Model) {
    let joints = joints(&model.skeleton, &model.palette);
    let mut model_from_node: Vec<Affine3A> = Vec::with_capacity(joints.len());
    for ((&parent, joint), rest) in model.skeleton.parents.iter().zip(joints).zip(model.skeleton.rest_locals()) {
        let parent_matrix = model_from_node.get(parent as usize).copied().unwrap_or(Affine3A::IDENTITY);
        model_from_node.push(joint.map_or(parent_matrix * rest, |(_, bind)| bind));
    }
    stop_nodes(&mut model.skeleton, |node| model_from_node[node]);
    for clip in &mut model.clips {
        stop_clip(clip);
        clip.morph_weights.clear();
    }
    update_winding(model);
}

/// Returns a bone without length at the origin of mesh space, whose axes are as long as the longest ones of the skeleton.
fn origin(bones: &[Bone]) -> Option<Bone> {
    let axis_length = bones.iter().map(|bone| bone.axis_length).fold(0.0, f32::max);
    bones.first().map(|bone| Bone {
        tip: bone.base,
        mesh_from_base: Affine3A::IDENTITY,
        tip_mesh: Vec3::ZERO,
        axis_length,
        ..*bone
    })
}

/// Gives each node a fixed matrix, and no parent that could move it.
fn stop_nodes(skeleton: &mut Skeleton, model_from_node: impl Fn(usize) -> Affine3A) {
    let node_count = skeleton.len();
    let morph_weights = std::mem::take(&mut skeleton.rest.morph_weights);
    skeleton.rest = LocalPose { morph_weights, ..LocalPose::identity(node_count) };
    skeleton.parents.fill(NO_PARENT);
    let fixed = |node: usize| FixedLocal { node: node as u32, parent_from_node: model_from_node(node) };
    skeleton.fixed_locals = (0..node_count).map(fixed).collect();
}

/// Sets the winding of each draw range by the joint matrix of its first vertex, after [`stop_nodes`].
fn update_winding(model: &mut Model) {
    let Model { skeleton, palette, geometry, .. } = model;
    for range in &mut geometry.draw_ranges {
        let Some(&vertex) = geometry.indices.get(range.first_index as usize) else { continue };
        let first = geometry.influence_starts[vertex as usize] as usize;
        let entry = geometry.influences[first].joint as usize;
        let model_from_joint = skeleton.fixed_locals[palette.nodes[entry] as usize].parent_from_node;
        range.mirrored = (model_from_joint * palette.joint_from_mesh[entry]).matrix3.determinant() < 0.0;
    }
}

/// Removes all tracks that move nodes.
fn stop_clip(clip: &mut Clip) {
    clip.translations.clear();
    clip.rotations.clear();
    clip.scales.clear();
}

//! The node tree in structure-of-arrays form, its local pose, and the layout of the palette.

use std::sync::Arc;

use glam::{Affine3A, Quat, Vec3};

/// The parent of a root node in [`Skeleton::parents`].
pub const NO_PARENT: u32 = u32::MAX;

/// The transforms of all nodes relative to their parents, in three arrays of equal length, and all morph weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocalPose {
    /// Translations in metres of the parent's space.
    pub translations: Vec<Vec3>,
    /// Rotations as unit quaternions.
    pub rotations: Vec<Quat>,
    /// Scales by axis; zero and negative values are legal.
    pub scales: Vec<Vec3>,
    /// The weights of all targets of each [`MorphedNode`], one node after the other. Any finite number is legal.
    pub morph_weights: Vec<f32>,
}

impl LocalPose {
    /// Returns a pose of `node_count` nodes with identity transforms, without morph targets.
    pub fn identity(node_count: usize) -> Self {
        Self {
            translations: vec![Vec3::ZERO; node_count],
            rotations: vec![Quat::IDENTITY; node_count],
            scales: vec![Vec3::ONE; node_count],
            morph_weights: Vec::new(),
        }
    }

    /// Overwrites this pose with `other`, which must have equally many nodes and weights. Allocates nothing.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.translations.copy_from_slice(&other.translations);
        self.rotations.copy_from_slice(&other.rotations);
        self.scales.copy_from_slice(&other.scales);
        self.morph_weights.copy_from_slice(&other.morph_weights);
    }
}

/// A node whose local transform is a matrix in the file (glTF 2.0, 3.5.3). The matrix may contain shear, and is never animated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedLocal {
    pub node: u32,
    /// Transforms from the node's space to its parent's.
    pub parent_from_node: Affine3A,
}

/// A node whose mesh has morph targets, with the range of its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MorphedNode {
    pub node: u32,
    /// The index of its first weight in [`LocalPose::morph_weights`].
    pub first_weight: u32,
    /// The number of targets of its mesh, at least 1.
    pub weight_count: u32,
}

/// The nodes of the scene and of all skins, with their ancestors, in arrays of equal length, sorted parent before child.
#[derive(Debug, Clone, Default)]
pub struct Skeleton {
    /// The index of each node's parent, which is smaller than the node's own, or [`NO_PARENT`].
    pub parents: Vec<u32>,
    /// The pose without animation. The transforms of nodes in `fixed_locals` are identity and unused.
    pub rest: LocalPose,
    /// The nodes that are given as matrices, sorted by node.
    pub fixed_locals: Vec<FixedLocal>,
    /// The mesh nodes of the scene with morph targets, sorted by node. Their weights partition those of a pose.
    pub morphed_nodes: Vec<MorphedNode>,
    /// The name of the target of each morph weight. A target without a name has its index in its mesh.
    pub morph_names: Vec<Arc<str>>,
    /// The weights that a person holds at a value, whatever a clip says, by index.
    pub held_morphs: Vec<(u32, f32)>,
    /// The names in the file, or `node N`.
    pub names: Vec<String>,
    /// The glTF index of each node.
    pub source_nodes: Vec<u32>,
    /// The number of nodes in the file, including those that are not in the skeleton.
    pub source_node_count: u32,
    /// Whether each node is in the scene. Nodes that only a skin needs are evaluated but not drawn.
    pub in_scene: Vec<bool>,
}

impl Skeleton {
    /// Holds a morph weight at a value, or lets it go.
    pub fn hold_morph(&mut self, index: u32, weight: Option<f32>) {
        let at = self.held_morphs.partition_point(|(other, _)| *other < index);
        let known = self.held_morphs.get(at).is_some_and(|(other, _)| *other == index);
        let is_weight = (index as usize) < self.rest.morph_weights.len();
        self.held_morphs.splice(at..at + usize::from(known), is_weight.then_some(index).zip(weight));
    }

    /// Sets the weights that are held among those of a pose.
    pub fn apply_held_morphs(&self, weights: &mut [f32]) {
        for &(index, weight) in &self.held_morphs {
            if let Some(own) = weights.get_mut(index as usize) {
                *own = weight;
            }
        }
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Returns whether a clip can animate a node: its local transform is no matrix.
    pub fn is_free(&self, node: u32) -> bool {
        self.fixed_locals.binary_search_by_key(&node, |fixed| fixed.node).is_err()
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        self.parents.get(node).filter(|&&parent| parent != NO_PARENT).map(|&parent| parent as usize)
    }
}

/// The layout of a palette: a node and an inverse bind matrix for each joint matrix. Joint matrix `k` is
/// `model_from_joint[nodes[k]] * joint_from_mesh[k]`.
///
/// There is an entry for each joint of the skins in use; skins share it if their inverse bind matrices of a node are equal. A
/// rigid mesh has one entry, its own node with identity, or with the place of vertices that were far away. Once a model has
/// levels of detail, each coarser level needs a prefix of the entries.
#[derive(Debug, Clone, Default)]
pub struct PaletteLayout {
    pub nodes: Vec<u32>,
    pub joint_from_mesh: Vec<Affine3A>,
    /// Whether each entry is a joint of a skin. All other entries belong to rigid meshes.
    pub is_joint: Vec<bool>,
}

impl PaletteLayout {
    /// Returns the number of joint matrices of a pose.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the model has nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn joints(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.is_joint).filter(|(_, is_joint)| **is_joint).map(|(entry, _)| entry)
    }
}

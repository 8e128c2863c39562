//! The node tree, in structure-of-arrays form, and what hangs matrices on it: skins and the palette.

use glam::{Affine3A, Quat, Vec3};

/// Parent of a root node in [`Skeleton::parents`].
pub const NO_PARENT: u32 = u32::MAX;

/// Translation, rotation and scale of every node relative to its parent, in three arrays of equal length, and the
/// weights of all morph targets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LocalPose {
    /// In metres of the parent's space.
    pub translations: Vec<Vec3>,
    /// Unit quaternions.
    pub rotations: Vec<Quat>,
    /// Per axis; zero and negative values are legal.
    pub scales: Vec<Vec3>,
    /// For each of the skeleton's [`MorphedNode`]s, one after the other, one weight for each of its targets. Any finite
    /// number is legal.
    pub morph_weights: Vec<f32>,
}

impl LocalPose {
    /// A pose of `node_count` nodes, all at identity, without morph targets.
    #[must_use]
    pub fn identity(node_count: usize) -> Self {
        Self {
            translations: vec![Vec3::ZERO; node_count],
            rotations: vec![Quat::IDENTITY; node_count],
            scales: vec![Vec3::ONE; node_count],
            morph_weights: Vec::new(),
        }
    }

    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.translations.len()
    }

    /// Whether there is no node at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.translations.is_empty()
    }

    /// Overwrites this pose with `other`, which must have as many nodes and weights. Allocates nothing.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn copy_from(&mut self, other: &Self) {
        self.translations.copy_from_slice(&other.translations);
        self.rotations.copy_from_slice(&other.rotations);
        self.scales.copy_from_slice(&other.scales);
        self.morph_weights.copy_from_slice(&other.morph_weights);
    }
}

/// A node whose local transform is a matrix in the file (glTF 2.0, 3.5.3): it may hold shear, which translation,
/// rotation and scale cannot, and is never animated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FixedLocal {
    /// Index into the skeleton.
    pub node: u32,
    /// Takes points of the node's space to its parent's.
    pub parent_from_node: Affine3A,
}

/// A node whose mesh has morph targets, and where its weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MorphedNode {
    /// Index into the skeleton.
    pub node: u32,
    /// First of its weights in [`LocalPose::morph_weights`].
    pub first_weight: u32,
    /// Number of its mesh's targets, at least 1.
    pub weight_count: u32,
}

/// All nodes that the scene or a skin reaches; arrays of equal length, sorted parent before child.
#[derive(Debug, Clone, Default)]
pub struct Skeleton {
    /// Index of the parent, always smaller than the node's own, or [`NO_PARENT`].
    pub parents: Vec<u32>,
    /// The pose where nothing is animated. Entries of nodes in `fixed_locals` are identity and unused.
    pub rest: LocalPose,
    /// Nodes given as matrices, sorted by node.
    pub fixed_locals: Vec<FixedLocal>,
    /// Mesh nodes of the scene with morph targets, sorted by node; their weights partition those of a pose.
    pub morphed_nodes: Vec<MorphedNode>,
    /// The file's names, or `node N`.
    pub names: Vec<String>,
    /// glTF node index of each node.
    pub source_nodes: Vec<u32>,
    /// Number of nodes in the file, reached or not.
    pub source_node_count: u32,
    /// False for nodes that only a skin reaches: they are evaluated but belong to no scene.
    pub in_scene: Vec<bool>,
}

impl Skeleton {
    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether there is no node at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }
}

/// One glTF skin; the arrays have equal length.
#[derive(Debug, Clone, Default)]
pub struct Skin {
    /// The file's name, if any.
    pub name: Option<String>,
    /// Skeleton node of each joint; a node may repeat.
    pub joints: Vec<u32>,
    /// Inverse bind matrices: bind-pose mesh space to joint space. Identity where the file has none.
    pub joint_from_mesh: Vec<Affine3A>,
    /// The last element of each inverse bind matrix, as the file has it. It must be 1 (glTF 2.0, 3.7.3.1) and is taken
    /// as 1 everywhere but in reports, which print what the file says.
    pub inverse_bind_w: Vec<f32>,
    /// Whether the file has inverse bind matrices, rather than leaving them to be identity.
    pub has_inverse_binds: bool,
}

/// The joint matrices that one instance streams: the concatenation, over all skins that a mesh uses and all rigid
/// mesh nodes, of (node, inverse bind). Entry `k` becomes `model_from_joint[nodes[k]] * joint_from_mesh[k]`.
/// A rigid mesh has one entry, its own node with identity; one that its node shows at several places has an entry for each,
/// with the place instead of the identity.
#[derive(Debug, Clone, Default)]
pub struct PaletteLayout {
    /// Skeleton node that each entry follows.
    pub nodes: Vec<u32>,
    /// Inverse bind matrix of each entry.
    pub joint_from_mesh: Vec<Affine3A>,
}

impl PaletteLayout {
    /// Joint matrices per instance.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the model has nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

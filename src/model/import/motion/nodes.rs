//! From glTF's lists of children to the arrays of the skeleton, sorted parent before child.
//!
//! The tree of the whole file is checked first: each node has at most one parent, and there is no cycle. Nothing is
//! recursive, so a chain of a million nodes cannot overflow the stack.
//!
//! Source: glTF 2.0, 3.5 (scenes, nodes, transformations).

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use glam::{Affine3A, Mat4, Quat, Vec3, Vec4};
use gltf::json;

use super::scene::{SceneChoice, scene_nodes};
use crate::model::import::decode::Document;
use crate::model::import::error::{Fault, Result, Warnings, look_up};
use crate::model::import::limits::{Counted, MAX_MORPH_TARGETS};
use crate::model::{FileCamera, FixedLocal, LocalPose, MorphedNode, NO_PARENT, Skeleton};

pub struct NodeTree {
    /// The nodes of the scene, the joints of all skins, and the ancestors of both.
    pub skeleton: Skeleton,
    /// The skeleton node for each glTF node index; `None` for nodes that are not in the skeleton.
    pub skeleton_node: Vec<Option<u32>>,
    /// Whether a skeleton node, or one above it, is hidden (KHR_node_visibility). Hidden meshes are not drawn.
    hidden: Vec<bool>,
}

impl NodeTree {
    /// Checks the tree of the file and builds the skeleton from the nodes that the scene and the skins need.
    pub fn read(document: &Document, scene: &SceneChoice, warnings: &mut Warnings) -> Result<Self> {
        let nodes = &document.root.nodes;
        let parents = find_parents(nodes)?;
        let order = parents_first(nodes, &parents)?;
        let in_scene = scene_nodes(document, scene, warnings)?;
        let wanted = with_joints_and_ancestors(document, &parents, &in_scene)?;

        let skeleton = Skeleton { source_node_count: nodes.len() as u32, ..Skeleton::default() };
        let mut tree = Self { skeleton, skeleton_node: vec![None; nodes.len()], hidden: Vec::new() };
        let mut target_names = TargetNames::new();
        for source in order.into_iter().filter(|&source| wanted[source]) {
            let skeleton = &mut tree.skeleton;
            let index = skeleton.len() as u32;
            // The ancestors of a wanted node are wanted too and come first, so its parent is already known.
            let parent = parents[source].and_then(|parent| tree.skeleton_node[parent]);
            skeleton.parents.push(parent.unwrap_or(NO_PARENT));
            skeleton.names.push(nodes[source].name.clone().unwrap_or_else(|| format!("node {source}")));
            skeleton.source_nodes.push(source as u32);
            skeleton.in_scene.push(in_scene[source]);
            tree.hidden.push(hides(&nodes[source]) || parent.is_some_and(|parent| tree.hidden[parent as usize]));
            push_local(skeleton, &nodes[source], source, warnings)?;
            if in_scene[source] {
                push_morph_weights(skeleton, document, source, &mut target_names, warnings)?;
            }
            tree.skeleton_node[source] = Some(index);
        }
        Ok(tree)
    }

    pub fn is_hidden(&self, skeleton_node: u32) -> bool {
        self.hidden.get(skeleton_node as usize) == Some(&true)
    }

    pub fn morphed_node(&self, skeleton_node: u32) -> Option<MorphedNode> {
        let morphed = &self.skeleton.morphed_nodes;
        let found = morphed.binary_search_by_key(&skeleton_node, |morphed| morphed.node).ok()?;
        morphed.get(found).copied()
    }

    /// Returns the cameras of the file with the nodes of the scene that carry them.
    pub fn place_cameras(&self, document: &Document) -> Vec<FileCamera> {
        let mut cameras = document.source.cameras.clone();
        for (source, node) in document.root.nodes.iter().zip(&self.skeleton_node) {
            let shown = node.filter(|&node| self.skeleton.in_scene.get(node as usize) == Some(&true));
            let Some(index) = source.camera.filter(|_| shown.is_some()) else { continue };
            if let Some(camera) = cameras.get_mut(index.value()) {
                camera.node = camera.node.or(shown);
            }
        }
        cameras
    }
}

/// Returns whether a node hides itself and all below it.
fn hides(node: &json::Node) -> bool {
    let extension = node.extensions.as_ref().and_then(|extensions| extensions.others.get("KHR_node_visibility"));
    extension.and_then(|extension| extension.get("visible")?.as_bool()) == Some(false)
}

/// Returns the parent of each node. Checks that children exist and have one parent.
fn find_parents(nodes: &[json::Node]) -> Result<Vec<Option<usize>>> {
    let mut parents = vec![None; nodes.len()];
    for (node, entry) in nodes.iter().enumerate() {
        for (rank, child) in entry.children.iter().flatten().enumerate() {
            let at = format_args!("nodes[{node}].children[{rank}]");
            let child = child.value();
            look_up(nodes, "nodes", child, at)?;
            if let Some(other) = parents[child].replace(node) {
                let problem = format!("nodes[{child}] already is a child of nodes[{other}]; expected one parent");
                return Err(Fault::content(at, problem));
            }
        }
    }
    Ok(parents)
}

/// Returns all nodes in depth-first order, so that reports can print a tree. Fails if there is a cycle.
fn parents_first(nodes: &[json::Node], parents: &[Option<usize>]) -> Result<Vec<usize>> {
    let mut left: Vec<usize> = (0..nodes.len()).rev().filter(|&node| parents[node].is_none()).collect();
    let mut order = Vec::with_capacity(nodes.len());
    let mut reached = vec![false; nodes.len()];
    while let Some(node) = left.pop() {
        reached[node] = true;
        order.push(node);
        left.extend(nodes[node].children.iter().flatten().rev().map(json::Index::value));
    }
    // Each node has at most one parent, so a node that no root reaches is on a cycle or below one.
    match reached.iter().position(|&reached| !reached) {
        Some(node) => Err(Fault::content(format_args!("nodes[{node}]"), "is part of a cycle, or below one")),
        None => Ok(order),
    }
}

fn with_joints_and_ancestors(document: &Document, parents: &[Option<usize>], in_scene: &[bool]) -> Result<Vec<bool>> {
    let mut starts: Vec<usize> = (0..in_scene.len()).filter(|&node| in_scene[node]).collect();
    for (skin, entry) in document.root.skins.iter().enumerate() {
        for (rank, joint) in entry.joints.iter().enumerate() {
            look_up(parents, "nodes", joint.value(), format_args!("skins[{skin}].joints[{rank}]"))?;
            starts.push(joint.value());
        }
    }
    let mut wanted = vec![false; parents.len()];
    for start in starts {
        let mut at = Some(start);
        while let Some(node) = at.filter(|&node| !std::mem::replace(&mut wanted[node], true)) {
            at = parents[node];
        }
    }
    Ok(wanted)
}

/// Appends the node's local transform to the rest pose, or to the fixed locals if it is a matrix.
fn push_local(skeleton: &mut Skeleton, entry: &json::Node, source: usize, warnings: &mut Warnings) -> Result<()> {
    let at = |property: &str| format!("nodes[{source}].{property}");
    let node = skeleton.rest.translations.len() as u32;
    let LocalPose { translations, rotations, scales, .. } = &mut skeleton.rest;
    if let Some(matrix) = &entry.matrix {
        if entry.translation.is_some() || entry.rotation.is_some() || entry.scale.is_some() {
            warnings.add(at("matrix"), "the node has both a matrix and other transforms, which are ignored");
        }
        let parent_from_node = affine_from_columns(matrix, &at("matrix"), warnings);
        let parent_from_node = warnings.leave_out("matrix", parent_from_node)?.unwrap_or_default();
        skeleton.fixed_locals.push(FixedLocal { node, parent_from_node });
        translations.push(Vec3::ZERO);
        rotations.push(Quat::IDENTITY);
        scales.push(Vec3::ONE);
        return Ok(());
    }
    let mut finite = |property: &str, numbers: Vec4, otherwise: Vec4| {
        if numbers.is_finite() {
            return numbers;
        }
        warnings.add(at(property), "a number is too large; the property is left out");
        otherwise
    };
    let of = |numbers: Option<[f32; 3]>, otherwise: Vec3| Vec3::from(numbers.unwrap_or(otherwise.into())).extend(0.0);
    let translation = finite("translation", of(entry.translation, Vec3::ZERO), Vec4::ZERO).truncate();
    let mut rotation = finite("rotation", entry.rotation.unwrap_or_default().0.into(), Vec4::W);
    let scale = finite("scale", of(entry.scale, Vec3::ONE), Vec4::ONE).truncate();
    translations.push(translation);
    make_unit([&mut rotation], format_args!("nodes[{source}].rotation"), warnings);
    rotations.push(Quat::from_vec4(rotation));
    scales.push(scale);
    Ok(())
}

/// Appends the morph weights of the node's mesh, if it has targets. The node's weights come first, then the mesh's, then 0.
fn push_morph_weights(
    skeleton: &mut Skeleton,
    document: &Document,
    source: usize,
    names: &mut TargetNames,
    warnings: &mut Warnings,
) -> Result<()> {
    let json::Root { nodes, meshes, .. } = &document.root;
    let Some(mesh) = nodes[source].mesh.map(|mesh| mesh.value()) else { return Ok(()) };
    // `geometry` reports a mesh that does not exist.
    let Some(entry) = meshes.get(mesh) else { return Ok(()) };
    let targets = entry.primitives.iter().filter_map(|primitive| primitive.targets.as_ref());
    let count = targets.map(Vec::len).max().unwrap_or(0);
    if count == 0 {
        return Ok(());
    }
    if count > MAX_MORPH_TARGETS {
        let problem = format!("{count} morph targets, at most {MAX_MORPH_TARGETS} are read");
        return Err(Fault::unsupported(format_args!("meshes[{mesh}]"), problem));
    }
    let (given, at) = match (&nodes[source].weights, &entry.weights) {
        (Some(weights), _) => (weights.as_slice(), format!("nodes[{source}].weights")),
        (None, Some(weights)) => (weights.as_slice(), format!("meshes[{mesh}].weights")),
        (None, None) => (&[][..], String::new()),
    };
    document.take(Counted::MORPH_WEIGHTS, count, &at)?;
    let broken = given.iter().any(|weight| !weight.is_finite());
    if broken {
        warnings.add(&at, "a number is too large; the weights are left out");
    }
    let given = if broken { &[] } else { given };
    if !given.is_empty() && given.len() != count {
        warnings.add(at, format_args!("{} weights for {count} morph targets; missing ones are 0", given.len()));
    }
    let weights = &mut skeleton.rest.morph_weights;
    skeleton.morphed_nodes.push(MorphedNode {
        node: skeleton.parents.len() as u32 - 1,
        first_weight: weights.len() as u32,
        weight_count: count as u32,
    });
    weights.extend(given.iter().copied().chain(std::iter::repeat(0.0)).take(count));
    skeleton.morph_names.extend_from_slice(names.entry(mesh).or_insert_with(|| target_names(entry, count)));
    Ok(())
}

/// The names of the morph targets of each mesh that a node has shown. Nodes share them, however many there are.
type TargetNames = HashMap<usize, Vec<Arc<str>>>;

/// Returns the names of a mesh's morph targets. They are a custom of exporters (`extras.targetNames` of the mesh, or of its
/// first primitive), so anything else there counts as absent. A target without a name has its index.
fn target_names(mesh: &json::Mesh, count: usize) -> Vec<Arc<str>> {
    let names = |extras: &json::Extras| {
        let extras: serde_json::Value = serde_json::from_str(extras.as_ref()?.get()).ok()?;
        extras.get("targetNames")?.as_array().cloned()
    };
    let names = names(&mesh.extras).or_else(|| names(&mesh.primitives.first()?.extras)).unwrap_or_default();
    let name = |target: usize| names.get(target)?.as_str().filter(|name| !name.is_empty());
    (0..count).map(|target| name(target).map_or_else(|| target.to_string().into(), Into::into)).collect()
}

/// Normalises finite quaternions (x, y, z, w). Zero ones become the identity, with one warning: a file may have millions.
pub fn make_unit<'q>(quaternions: impl IntoIterator<Item = &'q mut Vec4>, at: impl Display, warnings: &mut Warnings) {
    let mut lacks_length = false;
    for q in quaternions {
        // f64, because the squares of small or large f32 are out of range.
        let unit = q.as_dvec4().try_normalize();
        lacks_length |= unit.is_none();
        *q = unit.map_or(Vec4::W, |unit| unit.as_vec4());
    }
    if lacks_length {
        warnings.add(at, "a rotation of length zero is read as no rotation");
    }
}

/// Makes an affine matrix from 16 numbers in column-major order. The last row is taken as 0 0 0 1 (3.5.3, 3.7.3.1). A
/// small difference is a common rounding error; a larger one gives a warning.
pub(super) fn affine_from_columns(m: &[f32; 16], at: &str, warnings: &mut Warnings) -> Result<Affine3A> {
    let matrix = Mat4::from_cols_array(m);
    if !matrix.is_finite() {
        return Err(Fault::content(at, "the matrix has a number that is not finite"));
    }
    let last_row = matrix.row(3);
    if !last_row.abs_diff_eq(Vec4::W, 1e-4) {
        warnings.add(at, format_args!("the last row of a matrix is {last_row}; it is read as [0, 0, 0, 1]"));
    }
    Ok(Affine3A::from_mat4(matrix))
}

//! Bodies far from the origin of their file, at map coordinates for example: by their nodes, or baked into their vertices.
//!
//! In: a model as the file has it. Out: the same model around its own origin, because 32-bit numbers are coarse far away. What
//! was subtracted is in [`SourceFile`](crate::model::SourceFile), for reports in the file's space. Nodes are then as exact as
//! at the origin, and vertices as exact as the file.

use std::collections::HashMap;

use glam::{Affine3A, DVec3, Vec3};
use serde::Deserialize;

use crate::model::{FixedLocal, Interpolation, Model, NO_PARENT};

/// A body is far away if it is as many of its sizes away. Its own size has 17 bits of a coordinate left there.
const FAR: f32 = 100.0;

/// Brings a body that is far away to the origin. `json` is the file's, whose numbers have more than 32 bits.
pub(super) fn bring_near(model: &mut Model, json: &[u8]) {
    let drawn = model.geometry.drawn_vertex_count();
    if let Some((center, size)) = far_box(model.geometry.positions[..drawn].iter().copied()) {
        move_meshes(model, center, size);
    }
    let rest = model.skeleton.rest_matrices();
    let at = |node: u32| Vec3::from(rest[node as usize].translation);
    let joints = || model.skins.iter().flat_map(|skin| &skin.joints).copied();
    let geometry = &model.geometry;
    let far = if drawn > 0 {
        let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
        let matrices: Vec<Affine3A> = entries.map(|(&node, &matrix)| rest[node as usize] * matrix).collect();
        let vertices = geometry.positions[..drawn].iter().zip(&geometry.influence_starts);
        far_box(vertices.map(|(&position, &first)| {
            matrices[geometry.influences[first as usize].joint as usize].transform_point3(position)
        }))
    } else {
        far_box(joints().map(at))
    };
    let Some((center, _)) = far else { return };
    // The place of a node, if one has it, and not of the vertices: clips of another file with the same nodes fit then.
    let first = model.palette.nodes.first().copied().or_else(|| joints().next());
    let above = first.into_iter().flat_map(|node| model.skeleton.ancestors(node as usize)).map(|node| node as u32);
    let is_there = |&node: &u32| at(node).distance(center) < 0.5 * center.length();
    let origin = first.into_iter().chain(above).filter(is_there).last().map_or(center, at);
    model.source.origin = origin;

    let exact = exact_places(json, model);
    let skeleton = &mut model.skeleton;
    let is_root = |node: u32| skeleton.parents[node as usize] == NO_PARENT;
    let near = |node: u32, place: Vec3| {
        let exact = exact.get(&node).filter(|exact| exact.as_vec3() == place);
        finite((exact.copied().unwrap_or(place.as_dvec3()) - origin.as_dvec3()).as_vec3())
    };
    for (translation, node) in skeleton.rest.translations.iter_mut().zip(0..).filter(|(_, node)| is_root(*node)) {
        *translation = near(node, *translation);
    }
    for FixedLocal { node, parent_from_node } in skeleton.fixed_locals.iter_mut().filter(|fixed| is_root(fixed.node)) {
        parent_from_node.translation = near(*node, parent_from_node.translation.into()).into();
    }
    for track in model.clips.iter_mut().flat_map(|clip| &mut clip.translations).filter(|track| is_root(track.node)) {
        let is_spline = track.interpolation == Interpolation::CubicSpline;
        for (_, value) in track.values.iter_mut().enumerate().filter(|(index, _)| !is_spline || index % 3 == 1) {
            *value = finite(*value - origin);
        }
    }
}

/// Returns the places of nodes with all digits of the file. A body that was turned round is elsewhere.
fn exact_places(json: &[u8], model: &Model) -> HashMap<u32, DVec3> {
    #[derive(Deserialize)]
    struct Nodes {
        nodes: Vec<Node>,
    }
    #[derive(Deserialize)]
    struct Node {
        translation: Option<[f64; 3]>,
        matrix: Option<Vec<f64>>,
    }
    let nodes = serde_json::from_slice(json).map_or_else(|_| Vec::new(), |Nodes { nodes }| nodes);
    let place = |(node, &source): (u32, &u32)| {
        let Node { translation, matrix } = nodes.get(source as usize)?;
        let of_matrix = || Some(DVec3::from_slice(matrix.as_ref()?.get(12..15)?));
        Some((node, translation.map(DVec3::from).or_else(of_matrix)?))
    };
    (0..).zip(&model.skeleton.source_nodes).filter_map(place).collect()
}

/// Moves the origin of mesh space to a point, and makes up for it in the inverse bind matrices.
fn move_meshes(model: &mut Model, origin: Vec3, size: f32) {
    model.source.mesh_origin = origin;
    model.geometry.positions.iter_mut().for_each(|position| *position = finite(*position - origin));
    let skins = model.skins.iter_mut().flat_map(|skin| &mut skin.joint_from_mesh);
    for matrix in model.palette.joint_from_mesh.iter_mut().chain(skins) {
        matrix.translation = finite(matrix.as_daffine3().transform_point3(origin.as_dvec3()).as_vec3()).into();
    }
    let greatest = origin.abs().max_element();
    let step = greatest.next_up() - greatest;
    if step > 1e-3 * size {
        model.warnings.push(format!(
            "its vertices are {greatest} metres from the origin of their mesh, where numbers of 32 bits are {step} apart; it \
             is drawn as exactly as the file has it"
        ));
    }
}

/// Returns a difference, or the nearest finite numbers if it is out of range.
fn finite(difference: Vec3) -> Vec3 {
    difference.clamp(Vec3::MIN, Vec3::MAX)
}

/// Returns the centre and the size of the box around some points, if it is far from the origin.
fn far_box(points: impl Iterator<Item = Vec3> + Clone) -> Option<(Vec3, f32)> {
    let (min, max) = (points.clone().reduce(Vec3::min)?, points.reduce(Vec3::max)?);
    let (center, size) = (0.5 * min + 0.5 * max, (max - min).max_element());
    (size > 0.0 && center.is_finite() && center.length() > FAR * size).then_some((center, size))
}

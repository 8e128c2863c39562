//! A body for a file that is only a skeleton with clips, such as motion capture: a solid bone between each joint and the next.

use glam::{Vec2, Vec3};

use crate::model::bones::bones;
use crate::model::{DrawRange, Geometry, Influence, Material, Model, PaletteLayout, SourcePrimitive};

/// The triangles of a bone, counter-clockwise: corner 0 is the joint, 5 the next one, and four are around the thick part.
const TRIANGLES: [[u32; 3]; 8] =
    [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]];
/// The place of the thick part, and half of its width, as shares of the length.
const THICK_AT: f32 = 0.2;
const HALF_WIDTH: f32 = 0.09;
/// The length of a bone after the last joint, as a share of the one before.
const LAST_SHARE: f32 = 0.5;

/// Returns whether a model has clips that move a skeleton, and nothing to draw.
pub fn is_bare(model: &Model) -> bool {
    model.geometry.indices.is_empty() && model.clips.iter().any(|clip| clip.node_tracks().next().is_some())
}

/// Gives a bare model a bone for each joint of its clips. The rest pose is the bind pose.
pub fn add_bones(model: &mut Model) {
    let skeleton = &model.skeleton;
    let model_from_node = skeleton.rest_matrices();
    let place = |node: usize| Vec3::from(model_from_node[node].translation);
    let mut moves = vec![false; skeleton.len()];
    model.clips.iter().flat_map(|clip| clip.node_tracks()).for_each(|track| moves[track.node as usize] = true);
    let mut has_child = vec![false; skeleton.len()];
    // The joint that moves a bone, and both ends.
    let mut ends: Vec<(usize, [Vec3; 2])> = Vec::new();
    for node in 0..skeleton.len() {
        let Some(parent) = skeleton.parent(node) else { continue };
        moves[node] |= moves[parent];
        has_child[parent] = true;
        if moves[parent] {
            ends.push((parent, [place(parent), place(node)]));
        }
    }
    for node in (0..skeleton.len()).filter(|&node| moves[node] && !has_child[node]) {
        let Some(parent) = skeleton.parent(node) else { continue };
        ends.push((node, [place(node), place(node) + LAST_SHARE * (place(node) - place(parent))]));
    }
    let (mut geometry, mut palette) = (Geometry::default(), PaletteLayout::default());
    for (node, [from, to]) in ends {
        let (bone, joint_from_mesh) = (to - from, model_from_node[node].inverse());
        let Some(along) = bone.try_normalize().filter(|_| joint_from_mesh.is_finite()) else { continue };
        let entry = palette.nodes.iter().rposition(|&other| other == node as u32).unwrap_or_else(|| {
            palette.nodes.push(node as u32);
            palette.joint_from_mesh.push(joint_from_mesh);
            palette.is_joint.push(true);
            palette.len() - 1
        });
        let (side, other_side) = along.any_orthonormal_pair();
        let around = |direction: Vec3| from + bone * THICK_AT + direction * (HALF_WIDTH * bone.length());
        let first = geometry.positions.len() as u32;
        let sides = [side, other_side, -side, -other_side].map(around);
        geometry.positions.extend([from].into_iter().chain(sides).chain([to]));
        geometry.indices.extend(TRIANGLES.as_flattened().iter().map(|corner| first + corner));
        let influence = Influence { joint: entry as u32, weight: 1.0 };
        geometry.influences.resize(geometry.positions.len(), influence);
    }
    let count = geometry.positions.len();
    let index_count = geometry.indices.len() as u32;
    if count == 0 {
        return;
    }
    geometry.normals = vec![Vec3::Z; count];
    geometry.tex_coords = vec![[Vec2::ZERO; 2]; count];
    geometry.colors = vec![[255; 4]; count];
    geometry.influence_starts = (0..=count as u32).collect();
    geometry.morph_delta_starts = vec![0; count + 1];
    geometry.draw_ranges = vec![DrawRange { index_count, flat_shaded: true, ..DrawRange::default() }];
    let node = skeleton.source_nodes[palette.nodes[0] as usize];
    let vertices = (0..count as u32).collect();
    geometry.source_primitives =
        vec![SourcePrimitive { node, indices: 0..index_count, vertices, ..Default::default() }];
    let base_color_factor = Vec3::new(0.75, 0.72, 0.65).extend(1.0);
    model.materials =
        vec![Material { name: "bone".to_owned(), base_color_factor, metallic: 0.0, ..Material::default() }];
    model.bones = bones(skeleton, &palette, &geometry);
    (model.geometry, model.palette) = (geometry, palette);
}

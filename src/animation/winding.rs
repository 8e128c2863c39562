//! Surfaces that change their winding while a clip plays: a scale becomes negative, or positive.
//!
//! In: a model. Out: the draw ranges whose front faces are clockwise at some times of a clip and counterclockwise at others
//! (glTF 2.0, 3.7.4: the determinant decides). One draw call draws instances at many times with one winding, so it can
//! neither cull the back faces of such a range, nor tell the front by its winding.

use glam::Vec3;

use crate::model::{Clip, Interpolation, Model, Track};

/// Returns, for each draw range, whether a clip mirrors it compared with the rest pose. The first joint of the first vertex
/// decides, as for [`DrawRange::mirrored`](crate::model::DrawRange::mirrored).
pub fn mirrored_by_clips(model: &Model) -> Vec<bool> {
    let Model { skeleton, palette, geometry, clips, .. } = model;
    let mut mirrors = vec![false; skeleton.len()];
    for track in clips.iter().flat_map(|clip: &Clip| &clip.scales) {
        let node = track.node as usize;
        mirrors[node] |= changes_sign(track, skeleton.rest.scales[node]);
    }
    // Parents come first.
    for node in 0..skeleton.len() {
        mirrors[node] |= skeleton.parent(node).is_some_and(|parent| mirrors[parent]);
    }
    let is_mirrored = |first_index: u32| {
        let vertex = *geometry.indices.get(first_index as usize)?;
        let influence = geometry.influences.get(geometry.influence_starts[vertex as usize] as usize)?;
        Some(mirrors[palette.nodes[influence.joint as usize] as usize])
    };
    geometry.draw_ranges.iter().map(|range| is_mirrored(range.first_index).unwrap_or(false)).collect()
}

/// Returns whether a key has a determinant of the other sign than the rest pose. A scale of 0 has none.
fn changes_sign(track: &Track<Vec3>, rest: Vec3) -> bool {
    let per_key = if track.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let values = track.values.iter().skip(per_key / 2).step_by(per_key);
    let is_negative = |scale: Vec3| scale.element_product() < 0.0;
    let rest_is_negative = is_negative(rest);
    values.copied().filter(|scale| scale.element_product() != 0.0).any(|scale| is_negative(scale) != rest_is_negative)
}

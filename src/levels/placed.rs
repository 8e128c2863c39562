//! Placed meshes in levels of detail: one surface for all placements, and an error that holds at each.
//!
//! Levels are made of the vertices that exist, as if each placed mesh had one placement. That is the one that enlarges the mesh
//! most, because errors are largest there. With rotations and uniform scales, every other placement then has smaller errors.
//! Placements that stretch the mesh in one direction make all errors larger, by a factor that holds for any direction.

use glam::Affine3A;

use crate::animation::model_from_nodes;
use crate::model::Model;

/// The largest placement of each placed mesh.
pub(super) struct Largest {
    /// Pairs of palette entries: the first one of a mesh, and that of its largest placement.
    entries: Vec<(usize, usize)>,
    /// What to multiply errors with that were measured at the largest placements. Infinite if a mesh is flat there.
    pub error_factor: f32,
}

impl Largest {
    /// Finds the largest placements in the rest pose.
    pub fn of(model: &Model) -> Self {
        let mut model_from_node = vec![Affine3A::IDENTITY; model.skeleton.len()];
        model_from_nodes(&model.skeleton, &model.skeleton.rest, &mut model_from_node);
        let (mut entries, mut squared_factor) = (Vec::new(), 1.0f32);
        for mesh in model.geometry.placed_meshes.iter().filter(|mesh| mesh.len() > 1) {
            let stretch = |entry: u32| {
                let entry = entry as usize;
                stretch(&(model_from_node[model.palette.nodes[entry] as usize] * model.palette.joint_from_mesh[entry]))
            };
            let stretches = mesh.palette_entries.clone().map(|entry| (entry, stretch(entry)));
            let Some((entry, (least, most))) = stretches.max_by(|a, b| a.1.1.total_cmp(&b.1.1)) else { continue };
            entries.push((mesh.palette_entries.start as usize, entry as usize));
            // Rounding must not make uniform scales differ.
            squared_factor = squared_factor.max(if least > 0.999 * most { 1.0 } else { most / least.max(0.0) });
        }
        Self { entries, error_factor: squared_factor.sqrt() }
    }

    /// Exchanges the palette entries, so that the vertices are at the largest placements. A second call restores them.
    pub fn exchange(&self, model: &mut Model) {
        for &(first, largest) in &self.entries {
            model.palette.joint_from_mesh.swap(first, largest);
        }
    }
}

/// Returns bounds of the squared factors by which a matrix changes lengths: none is smaller than the first or larger than the
/// second. They are exact if the columns are perpendicular (Gershgorin, "Über die Abgrenzung der Eigenwerte einer Matrix",
/// 1931).
fn stretch(matrix: &Affine3A) -> (f32, f32) {
    let columns = [matrix.matrix3.x_axis, matrix.matrix3.y_axis, matrix.matrix3.z_axis];
    let disc = |k: usize| {
        let others = (0..3).filter(|&other| other != k).map(|other| columns[k].dot(columns[other]).abs());
        (columns[k].length_squared(), others.sum::<f32>())
    };
    let discs = [0, 1, 2].map(disc);
    let least = discs.iter().map(|(center, radius)| center - radius).fold(f32::INFINITY, f32::min);
    let most = discs.iter().map(|(center, radius)| center + radius).fold(0.0, f32::max);
    (least, most)
}

//! From the morph targets of a primitive to a list of deltas for each vertex.
//!
//! A target of a face moves a few hundred of its ten thousand vertices. The file has an element for each vertex and
//! target. Here each vertex gets a short list of the deltas that are not zero, each with the index of its weight.
//! `skin.comp` loops over that list as it loops over the influences.
//!
//! Source: glTF 2.0, 3.7.2.2 (morph targets); KHR_mesh_quantization (integers).

use glam::Vec3;
use gltf::json::Index;
use gltf::json::accessor::Accessor;
use gltf::json::mesh::MorphTarget;

use super::attributes::{Attributes, PrimitiveReader, zero_non_finite};
use crate::model::import::error::{Result, Warnings};
use crate::model::import::limits::Counted;
use crate::model::{MorphDelta, MorphedNode};

/// The targets of one primitive, for one mesh node.
pub(super) struct Morphs {
    targets: Vec<TargetDeltas>,
    /// The index of the first target's weight.
    first_weight: u32,
}

/// The deltas of one target by vertex: of positions, normals and tangents. Empty if the target does not change them.
type TargetDeltas = [Vec<Vec3>; 3];

impl Morphs {
    /// Reads and charges all targets. Those of normals and tangents count only if the file has some to which they can be added.
    pub fn read(
        reader: &PrimitiveReader,
        attributes: &Attributes,
        has_tangents: bool,
        morphed: Option<MorphedNode>,
        warnings: &mut Warnings,
    ) -> Result<Self> {
        let (first_weight, weight_count) = morphed.map_or((0, 0), |node| (node.first_weight, node.weight_count));
        let targets = reader.primitive.targets.as_deref().unwrap_or_default();
        if !targets.is_empty() && targets.len() < weight_count as usize {
            let problem = format!("{} morph targets, but another primitive has {weight_count}", targets.len());
            warnings
                .add(format_args!("{}.targets", reader.at), format_args!("{problem}; the others move nothing here"));
        }
        let mut read = |(number, target)| {
            let read = read_target(reader, number, target, attributes.positions.len(), warnings);
            let [positions, mut normals, mut tangents] = warnings.leave_out("target", read)?.unwrap_or_default();
            if attributes.normals.is_none() {
                normals.clear();
            }
            if !has_tangents {
                tangents.clear();
            }
            Ok([positions, normals, tangents])
        };
        // A node has a weight for each target of each primitive.
        let targets = targets.iter().take(weight_count as usize).enumerate().map(&mut read).collect::<Result<_>>()?;
        Ok(Self { targets, first_weight })
    }

    /// Fills `deltas` with the non-zero deltas of one vertex.
    pub fn deltas_of(&self, vertex: usize, deltas: &mut Vec<MorphDelta>) {
        deltas.clear();
        for (weight_index, target) in (self.first_weight..).zip(&self.targets) {
            let of_vertex = |list: &Vec<Vec3>| list.get(vertex).copied().unwrap_or_default();
            let [position, normal, tangent] = target.each_ref().map(of_vertex);
            if [position, normal, tangent] != [Vec3::ZERO; 3] {
                deltas.push(MorphDelta { weight_index, position, normal, tangent });
            }
        }
    }
}

/// Reads all deltas of one target, so that a broken accessor is an error even if nothing uses it.
fn read_target(
    reader: &PrimitiveReader,
    number: usize,
    target: &MorphTarget,
    vertex_count: usize,
    warnings: &mut Warnings,
) -> Result<TargetDeltas> {
    let mut read = |name: &str, index: Option<Index<Accessor>>| -> Result<Vec<Vec3>> {
        let Some(index) = index else { return Ok(Vec::new()) };
        let at = format_args!("{}.targets[{number}].{name}", reader.at);
        let accessor = reader.open_for_vertices(index, at, vertex_count)?;
        reader.document.take(Counted::MORPH_DELTAS, accessor.count, &accessor.at)?;
        let mut deltas: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
        let broken_count = zero_non_finite(&mut deltas, Vec3::is_finite);
        warnings.add_count(&accessor.at, broken_count, "elements are not finite and are left out");
        Ok(deltas)
    };
    let MorphTarget { positions, normals, tangents } = *target;
    Ok([read("POSITION", positions)?, read("NORMAL", normals)?, read("TANGENT", tangents)?])
}

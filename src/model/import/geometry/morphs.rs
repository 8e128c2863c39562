//! From the morph targets of a primitive to a list of deltas for each vertex.
//!
//! A target of a face moves a few hundred of its ten thousand vertices. The file has an element for each vertex and
//! target. Here each vertex gets a short list of the deltas that are not zero, each with the index of its weight.
//! `skin.comp` loops over that list as it loops over the influences.
//!
//! Source: glTF 2.0, 3.7.2.2 (morph targets); KHR_mesh_quantization (integers).

use glam::Vec3;
use gltf::json::mesh::{MorphTarget, Primitive};

use crate::model::MorphDelta;
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Budget;

/// The targets of one primitive, for one mesh node.
pub(super) struct Morphs {
    targets: Vec<TargetDeltas>,
    /// The index of the first target's weight.
    first_weight: u32,
}

/// The deltas of one target, one for each vertex. `None` if the target does not change the attribute.
#[derive(Default)]
struct TargetDeltas {
    positions: Option<Vec<Vec3>>,
    normals: Option<Vec<Vec3>>,
    tangents: Option<Vec<Vec3>>,
}

/// Reads the targets of one primitive.
pub(super) struct MorphReader<'a, 'f> {
    pub document: &'a Document<'f>,
    pub primitive: &'a Primitive,
    /// The JSON path of the primitive.
    pub at: &'a str,
    pub vertex_count: usize,
    /// Whether the bind pose has normals, to which those of a target can be added.
    pub has_normals: bool,
    /// Whether the bind pose has tangents, to which those of a target can be added.
    pub has_tangents: bool,
}

impl MorphReader<'_, '_> {
    /// Reads all targets, and charges them to `budget`. The node has `weight_count` weights from index `first_weight`
    /// on.
    pub fn read(
        &self,
        first_weight: u32,
        weight_count: u32,
        budget: &mut Budget,
        warnings: &mut Warnings,
    ) -> Result<Morphs> {
        let targets = self.primitive.targets.as_deref().unwrap_or_default();
        if !targets.is_empty() && targets.len() < weight_count as usize {
            let problem = format!("{} morph targets, but another primitive has {weight_count}", targets.len());
            warnings.add(format_args!("{}.targets", self.at), format_args!("{problem}; the others move nothing here"));
        }
        let mut read = |(number, target)| {
            let read = self.target(number, target, budget, warnings);
            Ok(warnings.leave_out("target", read)?.unwrap_or_default())
        };
        // A node has a weight for each target of each primitive.
        let targets = targets.iter().take(weight_count as usize).enumerate().map(&mut read).collect::<Result<_>>()?;
        Ok(Morphs { targets, first_weight })
    }

    fn target(
        &self,
        number: usize,
        target: &MorphTarget,
        budget: &mut Budget,
        warnings: &mut Warnings,
    ) -> Result<TargetDeltas> {
        let mut read = |name: &str, index: Option<usize>| -> Result<Option<Vec<Vec3>>> {
            let Some(index) = index else { return Ok(None) };
            let at = format!("{}.targets[{number}].{name}", self.at);
            let accessor = Accessor::open(self.document, index, &at)?;
            if accessor.count != self.vertex_count {
                let problem = format!("{} elements for {} vertices", accessor.count, self.vertex_count);
                return Err(Fault::content(&accessor.at, problem));
            }
            budget.take(accessor.count as u64, &accessor.at)?;
            let mut deltas: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
            let mut broken_count = 0_usize;
            for delta in deltas.iter_mut().filter(|delta| !delta.is_finite()) {
                *delta = Vec3::ZERO;
                broken_count += 1;
            }
            if broken_count > 0 {
                warnings.add(&accessor.at, format_args!("{broken_count} elements are not finite and are left out"));
            }
            Ok(Some(deltas))
        };
        let positions = read("POSITION", target.positions.map(|accessor| accessor.value()))?;
        // All are read, so that a broken accessor is an error even if nothing uses it.
        let normals = read("NORMAL", target.normals.map(|accessor| accessor.value()))?;
        let tangents = read("TANGENT", target.tangents.map(|accessor| accessor.value()))?;
        Ok(TargetDeltas {
            positions,
            normals: normals.filter(|_| self.has_normals),
            tangents: tangents.filter(|_| self.has_tangents),
        })
    }
}

impl Morphs {
    /// Fills `deltas` with the non-zero deltas of one vertex.
    pub fn deltas_of(&self, vertex: usize, deltas: &mut Vec<MorphDelta>) {
        deltas.clear();
        let of_vertex = |list: &Option<Vec<Vec3>>| list.as_ref().and_then(|list| list.get(vertex)).copied();
        for (weight_index, target) in (self.first_weight..).zip(&self.targets) {
            let position = of_vertex(&target.positions).unwrap_or(Vec3::ZERO);
            let normal = of_vertex(&target.normals).unwrap_or(Vec3::ZERO);
            let tangent = of_vertex(&target.tangents).unwrap_or(Vec3::ZERO);
            if [position, normal, tangent] != [Vec3::ZERO; 3] {
                deltas.push(MorphDelta { weight_index, position, normal, tangent });
            }
        }
    }
}

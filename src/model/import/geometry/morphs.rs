//! Morph targets: what each of them adds to the vertices of a primitive.
//!
//! A target of a face moves a few hundred of its ten thousand vertices. So the file's arrays, one number for each vertex
//! and target, become a short list for each vertex: only the deltas that are not zero, each with the weight that
//! scales it. That list is what `skin.comp` walks, exactly as it walks the influences.
//!
//! Source: glTF 2.0, 3.7.2.2 (morph targets); KHR_mesh_quantization (integers).

use glam::Vec3;
use gltf::json::mesh::{MorphTarget, Primitive};

use crate::model::MorphDelta;
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result};
use crate::model::import::limits::Budget;

/// The targets of one primitive, as one mesh node shows it.
pub(super) struct Morphs {
    targets: Vec<Target>,
    /// Weight of the first target.
    first_weight: u32,
}

/// As long as there are vertices; `None` where the target leaves the attribute alone.
struct Target {
    positions: Option<Vec<Vec3>>,
    normals: Option<Vec<Vec3>>,
    tangents: Option<Vec<Vec3>>,
}

/// Reads the targets of one primitive.
pub(super) struct MorphReader<'a, 'f> {
    pub document: &'a Document<'f>,
    pub primitive: &'a Primitive,
    /// JSON path of the primitive.
    pub at: &'a str,
    pub vertex_count: usize,
    /// Without normals in the bind pose there is nothing that those of a target could be added to.
    pub has_normals: bool,
    /// Likewise.
    pub has_tangents: bool,
}

impl MorphReader<'_, '_> {
    /// Reads all targets, and pays for them. `first_weight` is where the weights of the node start, of which there are
    /// `weight_count`.
    pub fn read(&self, first_weight: u32, weight_count: u32, budget: &mut Budget) -> Result<Morphs> {
        let targets = self.primitive.targets.as_deref().unwrap_or_default();
        if targets.len() > weight_count as usize {
            // Spec: all primitives of a mesh have the same number, and weights are counted by the first of them.
            let problem = format!("{} morph targets, but the mesh's first primitive has {weight_count}", targets.len());
            return Err(Fault::content(format_args!("{}.targets", self.at), problem));
        }
        let read = |(number, target)| self.target(number, target, budget);
        let targets = targets.iter().enumerate().map(read).collect::<Result<_>>()?;
        Ok(Morphs { targets, first_weight })
    }

    fn target(&self, number: usize, target: &MorphTarget, budget: &mut Budget) -> Result<Target> {
        let mut read = |name: &str, index: Option<usize>| -> Result<Option<Vec<Vec3>>> {
            let Some(index) = index else { return Ok(None) };
            let at = format!("{}.targets[{number}].{name}", self.at);
            let accessor = Accessor::open(self.document, index, &at)?;
            if accessor.count != self.vertex_count {
                let problem = format!("{} elements for {} vertices", accessor.count, self.vertex_count);
                return Err(Fault::content(&accessor.at, problem));
            }
            budget.take(accessor.count as u64, &accessor.at)?;
            let deltas: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
            match deltas.iter().position(|delta| !delta.is_finite()) {
                Some(vertex) => Err(Fault::content(&accessor.at, format_args!("vertex {vertex} is not finite"))),
                None => Ok(Some(deltas)),
            }
        };
        let positions = read("POSITION", target.positions.map(|accessor| accessor.value()))?;
        // Read in any case, so that a broken accessor is an error whether or not something uses it.
        let normals = read("NORMAL", target.normals.map(|accessor| accessor.value()))?;
        let tangents = read("TANGENT", target.tangents.map(|accessor| accessor.value()))?;
        Ok(Target {
            positions,
            normals: normals.filter(|_| self.has_normals),
            tangents: tangents.filter(|_| self.has_tangents),
        })
    }
}

impl Morphs {
    /// Fills `deltas` with those of one vertex that are not zero.
    pub fn deltas_of(&self, vertex: usize, deltas: &mut Vec<MorphDelta>) {
        deltas.clear();
        let of_vertex = |list: &Option<Vec<Vec3>>| list.as_ref().and_then(|list| list.get(vertex)).copied();
        for (weight, target) in (self.first_weight..).zip(&self.targets) {
            let position = of_vertex(&target.positions).unwrap_or(Vec3::ZERO);
            let normal = of_vertex(&target.normals).unwrap_or(Vec3::ZERO);
            let tangent = of_vertex(&target.tangents).unwrap_or(Vec3::ZERO);
            if [position, normal, tangent] != [Vec3::ZERO; 3] {
                deltas.push(MorphDelta { weight, position, normal, tangent });
            }
        }
    }
}

//! From a node with EXT_mesh_gpu_instancing to the placements of its mesh, as transforms in the node's space.
//!
//! Such a mesh is drawn once for each placement, and not at the node itself. Import copies its vertices to each placement, so
//! that nothing else has to know of placements. The extension serves foliage; a character has few of them, if any.
//!
//! Source: EXT_mesh_gpu_instancing.

use std::collections::BTreeMap;

use glam::{Affine3A, Mat3, Quat, Vec3, Vec4, Vec4Swizzles};
use gltf::json;
use serde::Deserialize;

use super::weld::Vertex;
use crate::model::MorphDelta;
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::file::mend::parse_value;
use crate::model::import::limits::Budget;
use crate::model::import::motion::make_unit;

const NAME: &str = "EXT_mesh_gpu_instancing";

/// The extension's JSON.
#[derive(Deserialize)]
struct Extension {
    /// The glTF index of an accessor for each semantic.
    attributes: BTreeMap<String, usize>,
}

/// An accessor of the extension.
struct Attribute<'d> {
    name: String,
    accessor: Accessor<'d>,
}

/// Returns the placements of the mesh of `node` (a glTF index), charged to `budget`. `None` if the node draws its mesh
/// once.
pub(super) fn read(
    document: &Document,
    node: usize,
    entry: &json::Node,
    budget: &mut Budget,
    warnings: &mut Warnings,
) -> Result<Option<Vec<Affine3A>>> {
    let value = entry.extensions.as_ref().and_then(|extensions| extensions.others.get(NAME));
    let Some(value) = value else { return Ok(None) };
    let at = format!("nodes[{node}].extensions.{NAME}");
    if entry.skin.is_some() {
        // The position of a skinned mesh depends only on its joints, so placements have no effect.
        warnings.add(&at, "the mesh has a skin and is drawn once, at its joints; the placements are ignored");
        return Ok(None);
    }
    let Extension { attributes } = parse_value(value).map_err(|error| Fault::content(&at, error))?;
    let open = |(name, accessor): (String, usize)| {
        let accessor = Accessor::open(document, accessor, format_args!("{at}.attributes.{name}"))?;
        Ok(Attribute { name, accessor })
    };
    let attributes = attributes.into_iter().map(open).collect::<Result<Vec<_>>>()?;
    let Some(first) = attributes.first() else {
        warnings.add(&at, "no attributes, so the number of placements is unknown; the mesh is drawn once");
        return Ok(None);
    };
    let count = first.accessor.count;
    if let Some(other) = attributes.iter().find(|attribute| attribute.accessor.count != count) {
        let problem = format!("{} elements, but {} has {count}", other.accessor.count, first.name);
        return Err(Fault::content(&other.accessor.at, problem));
    }
    budget.take(count as u64, &first.accessor.at)?;
    placements(&attributes, count, warnings).map(Some)
}

/// Multiplies translation × rotation × scale. A missing attribute is the identity.
fn placements(attributes: &[Attribute], count: usize, warnings: &mut Warnings) -> Result<Vec<Affine3A>> {
    let mut translations = vec![Vec3::ZERO; count];
    let mut rotations = vec![Quat::IDENTITY; count];
    let mut scales = vec![Vec3::ONE; count];
    for Attribute { name, accessor } in attributes {
        match name.as_str() {
            "TRANSLATION" => translations = vectors(accessor)?,
            "SCALE" => scales = vectors(accessor)?,
            "ROTATION" => rotations = quaternions(accessor, warnings)?,
            _ => {
                warnings.add(&accessor.at, "is ignored: only translations, rotations and scales of placements are read")
            }
        }
    }
    let parts = translations.into_iter().zip(rotations).zip(scales);
    Ok(parts.map(|((t, r), s)| Affine3A::from_scale_rotation_translation(s, r, t)).collect())
}

fn vectors(accessor: &Accessor) -> Result<Vec<Vec3>> {
    Ok(accessor.finite_floats::<3>("placement")?.into_iter().map(Vec3::from).collect())
}

fn quaternions(accessor: &Accessor, warnings: &mut Warnings) -> Result<Vec<Quat>> {
    let mut values: Vec<Vec4> = accessor.finite_floats::<4>("placement")?.into_iter().map(Vec4::from).collect();
    make_unit(values.iter_mut(), &accessor.at, warnings);
    Ok(values.into_iter().map(Quat::from_vec4).collect())
}

/// Moves a vertex and its morph deltas to a placement, as skinning would move them. Normals and tangents keep their length,
/// and stay where the placement leaves them no direction.
pub(super) fn place(vertex: &mut Vertex, deltas: &mut Vec<MorphDelta>, node_from_mesh: &Affine3A, has_normals: bool) {
    let matrix = Mat3::from(node_from_mesh.matrix3);
    let handedness = if matrix.determinant() < 0.0 { -1.0 } else { 1.0 };
    let Mat3 { x_axis, y_axis, z_axis } = matrix;
    // Normals take the cofactor matrix. Its sign turns those of a mirrored mesh outwards again.
    let cofactors = Mat3::from_cols(y_axis.cross(z_axis), z_axis.cross(x_axis), x_axis.cross(y_axis)) * handedness;
    let directed = |matrix: Mat3, unit: Vec3| {
        let length = (matrix * unit).length();
        move |vector: Vec3| if length.is_normal() { matrix * vector / length } else { vector }
    };
    let place_normal = directed(cofactors, vertex.normal);
    let place_tangent = directed(matrix, vertex.tangent.xyz());
    vertex.position = node_from_mesh.transform_point3(vertex.position);
    // Without normals they stay +Z.
    vertex.normal = if has_normals { place_normal(vertex.normal) } else { vertex.normal };
    vertex.tangent = place_tangent(vertex.tangent.xyz()).extend(handedness * vertex.tangent.w);
    for delta in &mut *deltas {
        delta.position = matrix * delta.position;
        delta.normal = place_normal(delta.normal);
        delta.tangent = place_tangent(delta.tangent);
    }
    // A scale of 0 may leave nothing of a delta.
    deltas.retain(|delta| [delta.position, delta.normal, delta.tangent] != [Vec3::ZERO; 3]);
}

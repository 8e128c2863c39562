//! From a node with EXT_mesh_gpu_instancing to the placements of its mesh, as transforms in the node's space.
//!
//! Such a mesh is drawn once for each placement, and not at the node itself. Every placement becomes a palette entry
//! that follows the node, with the placement as its `joint_from_mesh`. So all placements move with the node.
//!
//! Source: EXT_mesh_gpu_instancing.

use std::collections::BTreeMap;

use glam::{Affine3A, Quat, Vec3, Vec4};
use gltf::json;
use gltf::json::mesh::{Mode, Semantic};
use gltf::json::validation::Checked;
use serde::Deserialize;

use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Budget;
use crate::model::import::motion::make_unit;

const NAME: &str = "EXT_mesh_gpu_instancing";

/// The extension's JSON.
#[derive(Deserialize)]
struct Extension {
    /// The glTF index of an accessor for each semantic.
    attributes: BTreeMap<String, usize>,
}

/// The size of a mesh according to the counts of its accessors.
#[derive(Debug, Default)]
pub(super) struct MeshSize {
    pub vertices: u64,
    pub indices: u64,
}

/// Returns the size of `mesh`, without reading its accessors.
pub(super) fn size_of(document: &Document, mesh: &json::Mesh) -> MeshSize {
    let count_of = |index: usize| document.root.accessors.get(index).map_or(0, |accessor| accessor.count.0);
    mesh.primitives.iter().fold(MeshSize::default(), |size, primitive| {
        let positions = primitive.attributes.get(&Checked::Valid(Semantic::Positions));
        let vertices = positions.map_or(0, |index| count_of(index.value()));
        let indices = primitive.indices.map_or(vertices, |index| count_of(index.value()));
        // Strips and fans become lists of triangles.
        let expansion = if primitive.mode == Checked::Valid(Mode::Triangles) { 1 } else { 3 };
        MeshSize {
            vertices: size.vertices.saturating_add(vertices),
            indices: size.indices.saturating_add(indices.saturating_mul(expansion)),
        }
    })
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
    let Extension { attributes } = Extension::deserialize(value).map_err(|error| Fault::content(&at, error))?;
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
    document.total_budget().check_placements(count, &first.accessor.at)?;
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

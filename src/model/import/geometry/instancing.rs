//! The placements that EXT_mesh_gpu_instancing gives a node's mesh.
//!
//! The mesh is then drawn once for each placement, and not at the node itself. Every placement becomes a palette entry
//! of its own, the node's with the placement as its `joint_from_mesh`: so the placements move with the node, and all
//! later stages treat each as one more rigid part.
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

/// The extension as it is written.
#[derive(Deserialize)]
struct Extension {
    /// glTF accessor by semantic.
    attributes: BTreeMap<String, usize>,
}

/// What one more placement of a mesh takes, by what the mesh's accessors say.
#[derive(Debug, Default)]
pub(super) struct PlacementCost {
    pub vertices: u64,
    pub indices: u64,
}

/// Of one placement of `mesh`.
pub(super) fn cost(document: &Document, mesh: &json::Mesh) -> PlacementCost {
    let count_of = |index: usize| document.root.accessors.get(index).map_or(0, |accessor| accessor.count.0);
    mesh.primitives.iter().fold(PlacementCost::default(), |cost, primitive| {
        let positions = primitive.attributes.get(&Checked::Valid(Semantic::Positions));
        let vertices = positions.map_or(0, |index| count_of(index.value()));
        let indices = primitive.indices.map_or(vertices, |index| count_of(index.value()));
        // Strips and fans become lists.
        let expansion = if primitive.mode == Checked::Valid(Mode::Triangles) { 1 } else { 3 };
        PlacementCost {
            vertices: cost.vertices.saturating_add(vertices),
            indices: cost.indices.saturating_add(indices.saturating_mul(expansion)),
        }
    })
}

/// One accessor of the extension.
struct Attribute<'d> {
    name: String,
    accessor: Accessor<'d>,
}

/// Where `node` (its glTF index) wants its mesh, in its own space, paid for by `budget`; `None` where that is but once, at the node itself.
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
        // Where a skinned mesh is depends on its joints alone, so there is nothing that a placement could change.
        warnings.add(&at, "the mesh has a skin and is drawn once, where its joints are; the placements are ignored");
        return Ok(None);
    }
    let Extension { attributes } = Extension::deserialize(value).map_err(|error| Fault::content(&at, error))?;
    let open = |(name, accessor): (String, usize)| {
        let accessor = Accessor::open(document, accessor, format_args!("{at}.attributes.{name}"))?;
        Ok(Attribute { name, accessor })
    };
    let attributes = attributes.into_iter().map(open).collect::<Result<Vec<_>>>()?;
    let Some(first) = attributes.first() else {
        warnings.add(&at, "no attributes, so that the number of placements is unknown; the mesh is drawn once");
        return Ok(None);
    };
    let count = first.accessor.count;
    if let Some(other) = attributes.iter().find(|attribute| attribute.accessor.count != count) {
        let problem = format!("{} elements, but {} has {count}", other.accessor.count, first.name);
        return Err(Fault::content(&other.accessor.at, problem));
    }
    budget.take(count as u64, &first.accessor.at)?;
    document.purse().lend_placements(count, &first.accessor.at)?;
    placements(&attributes, count, warnings).map(Some)
}

/// Translation × rotation × scale; what is missing is the identity.
fn placements(attributes: &[Attribute], count: usize, warnings: &mut Warnings) -> Result<Vec<Affine3A>> {
    let mut translations = vec![Vec3::ZERO; count];
    let mut rotations = vec![Quat::IDENTITY; count];
    let mut scales = vec![Vec3::ONE; count];
    for Attribute { name, accessor } in attributes {
        match name.as_str() {
            "TRANSLATION" => translations = vectors(accessor)?,
            "SCALE" => scales = vectors(accessor)?,
            "ROTATION" => rotations = quaternions(accessor, warnings)?,
            _ => warnings.add(&accessor.at, "is not drawn: only translations, rotations and scales of placements are"),
        }
    }
    let parts = translations.into_iter().zip(rotations).zip(scales);
    Ok(parts.map(|((t, r), s)| Affine3A::from_scale_rotation_translation(s, r, t)).collect())
}

fn vectors(accessor: &Accessor) -> Result<Vec<Vec3>> {
    let vectors: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
    check_finite(accessor, vectors.iter().map(|vector| vector.is_finite()))?;
    Ok(vectors)
}

fn quaternions(accessor: &Accessor, warnings: &mut Warnings) -> Result<Vec<Quat>> {
    let mut values: Vec<Vec4> = accessor.floats::<4>()?.into_iter().map(Vec4::from).collect();
    check_finite(accessor, values.iter().map(|value| value.is_finite()))?;
    make_unit(values.iter_mut(), &accessor.at, warnings);
    Ok(values.into_iter().map(Quat::from_vec4).collect())
}

fn check_finite(accessor: &Accessor, mut are_finite: impl Iterator<Item = bool>) -> Result<()> {
    match are_finite.position(|is_finite| !is_finite) {
        Some(placement) => Err(Fault::content(&accessor.at, format_args!("placement {placement} is not finite"))),
        None => Ok(()),
    }
}

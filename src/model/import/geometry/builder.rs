//! All mesh nodes of the scene as one vertex array, one index array and draw ranges.
//!
//! A mesh that several nodes show is there several times, once for each palette section it follows: afterwards a
//! vertex needs nothing but its influences and morph deltas to know where it goes. Mesh nodes are taken in the order of their glTF
//! index and their primitives in the order of the file. A mesh that its node shows at several places comes once for each.

use glam::{Affine3A, Vec2, Vec3, Vec4};
use gltf::json;

use super::attributes::{AttributeReader, Attributes};
use super::influences::{Influences, PaletteSection};
use super::instancing;
use super::morphs::{MorphReader, Morphs};
use super::reorder::{OrderingEffort, number_by_use, order_triangles};
use super::tangents::{SplitVertices, TangentInput};
use super::topology::{self, Elements};
use super::weld::{Vertex, Welder, reserve};
use crate::model::import::decode::Document;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Budget;
use crate::model::import::material::Materials;
use crate::model::import::motion::{NodeTree, Palette};
use crate::model::{
    AlphaMode, DrawRange, Geometry, Material, MorphedNode, PaletteLayout, Skin, SourcePrimitive, Topology,
};

/// What was read before the geometry and is needed for it.
pub struct Scene<'a, 'f> {
    pub document: &'a Document<'f>,
    pub tree: &'a NodeTree,
    pub skins: &'a [Skin],
}

/// Reads the geometry, and the palette that it follows.
pub fn read(scene: &Scene, materials: &mut Materials, warnings: &mut Warnings) -> Result<(Geometry, PaletteLayout)> {
    let purse = scene.document.purse();
    let mut builder = Builder {
        rest_matrices: scene.tree.rest_matrices(),
        materials,
        warnings,
        palette: Palette::default(),
        welder: Welder::new(),
        placements: Budget::placements(purse.clone()),
        primitives: Budget::primitives(purse.clone()),
        vertices: Budget::vertices(purse.clone()),
        indices: Budget::indices(purse.clone()),
        influences: Budget::influences(purse.clone()),
        tangent_corners: Budget::tangent_corners(purse.clone()),
        morph_deltas: Budget::morph_deltas(purse),
        ordering_effort: OrderingEffort::new(),
    };
    for (node, entry) in scene.document.root.nodes.iter().enumerate() {
        let Some(skeleton_node) = scene.tree.skeleton_node.get(node).copied().flatten() else { continue };
        let in_scene = scene.tree.skeleton.in_scene.get(skeleton_node as usize) == Some(&true);
        if let (true, Some(mesh)) = (in_scene, entry.mesh) {
            let morphed = scene.tree.morphed_node(skeleton_node);
            builder.add_mesh_node(
                scene,
                MeshNode { node, skeleton_node, mesh: mesh.value(), instance: None, morphed },
                entry,
            )?;
        }
    }
    if builder.welder.geometry.indices.is_empty() {
        builder.warnings.add("scene", "shows nothing");
    }
    let mut geometry = builder.welder.geometry;
    if !geometry.draw_ranges.iter().any(|range| range.has_tangents) {
        geometry.tangents = Vec::new();
    }
    number_by_use(&mut geometry);
    Ok((geometry, builder.palette.layout))
}

/// The geometry while it grows.
pub(super) struct Builder<'b> {
    rest_matrices: Vec<Affine3A>,
    materials: &'b mut Materials,
    pub(super) warnings: &'b mut Warnings,
    pub(super) palette: Palette,
    pub(super) welder: Welder,
    placements: Budget,
    pub(super) primitives: Budget,
    pub(super) vertices: Budget,
    pub(super) indices: Budget,
    influences: Budget,
    tangent_corners: Budget,
    pub(super) morph_deltas: Budget,
    ordering_effort: OrderingEffort,
}

/// A node that shows a mesh.
#[derive(Clone, Copy)]
pub(super) struct MeshNode {
    /// glTF index.
    pub node: usize,
    pub skeleton_node: u32,
    /// glTF index.
    pub mesh: usize,
    /// Which of the node's placements, if it has such.
    pub instance: Option<u32>,
    /// Where its morph weights are, if its mesh has targets.
    pub morphed: Option<MorphedNode>,
}

/// A primitive whose vertices are welded, and which is not drawn yet.
pub(super) struct Shown {
    /// How it is drawn; empty.
    pub range: DrawRange,
    /// Of the geometry's vertices.
    pub indices: Vec<u32>,
    pub source: SourcePrimitive,
}

/// What the vertices of a mesh node follow.
#[derive(Clone, Copy)]
pub(super) enum Follow {
    Skin(PaletteSection),
    Entry(u32),
}

/// Where a primitive's tangents are from.
enum Tangents {
    /// Not needed, or nothing to make them of.
    None,
    OfFile(Vec<Vec4>),
    Generated(SplitVertices),
}

/// What the vertices of one primitive are made of.
struct Welding<'p> {
    attributes: &'p Attributes,
    influences: &'p Influences,
    morphs: &'p Morphs,
}

impl Builder<'_> {
    fn add_mesh_node(&mut self, scene: &Scene, place: MeshNode, entry: &json::Node) -> Result<()> {
        let MeshNode { node, mesh, .. } = place;
        let meshes = &scene.document.root.meshes;
        let Some(mesh_entry) = meshes.get(mesh) else {
            return Err(Fault::dangling(format_args!("nodes[{node}].mesh"), "meshes", mesh, meshes.len()));
        };
        if let Some(placements) = instancing::read(scene.document, node, entry, &mut self.placements, self.warnings)? {
            return self.add_placements(scene, place, mesh_entry, &placements);
        }
        let follow = match entry.skin.map(|skin| skin.value()) {
            Some(index) => {
                let at = || format!("nodes[{node}].skin");
                let skin = scene.skins.get(index);
                let skin = skin.ok_or_else(|| Fault::dangling(at(), "skins", index, scene.skins.len()))?;
                let first = self.palette.skin_section(index, skin);
                Follow::Skin(PaletteSection { first, joint_count: skin.joints.len() as u32, skin: index })
            }
            None => Follow::Entry(self.palette.rigid_entry(place.skeleton_node, Affine3A::IDENTITY)),
        };
        for shown in self.read_primitives(scene, place, mesh_entry, follow)? {
            self.push_indices(shown.range, &shown.indices, 0);
            self.welder.geometry.source_primitives.push(shown.source);
        }
        Ok(())
    }

    /// Welds the vertices of all primitives of a mesh, and leaves it to the caller to draw them.
    pub(super) fn read_primitives(
        &mut self,
        scene: &Scene,
        place: MeshNode,
        mesh: &json::Mesh,
        follow: Follow,
    ) -> Result<Vec<Shown>> {
        let mut all = Vec::with_capacity(mesh.primitives.len());
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            all.extend(self.read_primitive(scene, place, (number, primitive), follow)?);
        }
        Ok(all)
    }

    fn read_primitive(
        &mut self,
        scene: &Scene,
        place: MeshNode,
        (number, primitive): (usize, &json::mesh::Primitive),
        follow: Follow,
    ) -> Result<Option<Shown>> {
        let document = scene.document;
        let at = format!("meshes[{}].primitives[{number}]", place.mesh);
        self.primitives.take(1, &at)?;
        let at_attributes = format!("{at}.attributes");
        let reader = AttributeReader { document, primitive, at: &at_attributes };
        if !reader.has_positions() {
            self.warnings.add(&at_attributes, "no POSITION, so there is nothing to draw");
            return Ok(None);
        }
        if reader.lacks_bytes() {
            self.warnings.add(&at_attributes, "POSITION is in a buffer without uri or GLB chunk: nothing can be drawn");
            return Ok(None);
        }
        let material = self.materials.resolve(primitive.material.map(|material| material.value()), &at)?;
        let tex_coords = self.materials.tex_coord_sets.get(material as usize).copied().unwrap_or_default();
        let attributes = reader.read(tex_coords, &mut self.vertices, self.warnings)?;
        let count = attributes.positions.len();
        let influences = match follow {
            Follow::Entry(entry) => Influences::rigid(count, entry),
            Follow::Skin(section) => {
                let (budget, warnings) = (&mut self.influences, &mut *self.warnings);
                Influences::read(document, primitive, &at_attributes, count, section, budget, warnings)?
            }
        };
        let mut elements = topology::read(document, primitive, &at, count, &mut self.indices, self.warnings)?;
        let tangents = self.tangents(&reader, &attributes, &elements, material)?;
        let (first_weight, weight_count) =
            place.morphed.map_or((0, 0), |morphed| (morphed.first_weight, morphed.weight_count));
        let has_normals = attributes.normals.is_some();
        let has_tangents = matches!(tangents, Tangents::OfFile(_));
        let morphs = MorphReader { document, primitive, at: &at, vertex_count: count, has_normals, has_tangents };
        let morphs = morphs.read(first_weight, weight_count, &mut self.morph_deltas)?;

        let welding = Welding { attributes: &attributes, influences: &influences, morphs: &morphs };
        let has_tangents = !matches!(tangents, Tangents::None);
        let mut vertices = match tangents {
            Tangents::None => self.weld(&welding, (0..count as u32).map(|vertex| (vertex, Vec4::ZERO))),
            Tangents::OfFile(tangents) => self.weld(&welding, (0..).zip(tangents)),
            Tangents::Generated(split) => {
                elements.indices = split.indices;
                self.vertices.take(split.source.len().saturating_sub(count) as u64, &at)?;
                self.weld(&welding, split.source.into_iter().zip(split.tangents))
            }
        };
        // Proven to be in range by `topology::read`.
        let mut indices: Vec<u32> =
            elements.indices.into_iter().filter_map(|index| vertices.get(index as usize).copied()).collect();
        let is_blended = |material: &Material| material.alpha_mode == AlphaMode::Blend;
        // Whoever made blended triangles may have put them back to front.
        if elements.topology == Topology::Triangles
            && !self.materials.list.get(material as usize).is_some_and(is_blended)
        {
            order_triangles(&mut indices, &mut self.ordering_effort);
        }
        let range = DrawRange {
            topology: elements.topology,
            first_index: 0,
            index_count: 0,
            material,
            flat_shaded: !has_normals,
            has_tangents,
            mirrored: influences.of(0).first().is_some_and(|influence| self.is_mirrored(influence.joint)),
        };
        // The file's vertices come first; what follows are those that were split off them.
        vertices.truncate(count);
        let source = SourcePrimitive {
            node: place.node as u32,
            mesh: place.mesh as u32,
            primitive: number as u32,
            instance: place.instance,
            skin: match follow {
                Follow::Skin(section) => Some(section.skin as u32),
                Follow::Entry(_) => None,
            },
            has_normals,
            vertices,
        };
        Ok(Some(Shown { range, indices, source }))
    }

    /// Tangents, where a normal map needs them and triangles with normals can have them.
    fn tangents(
        &mut self,
        reader: &AttributeReader,
        attributes: &Attributes,
        elements: &Elements,
        material: u32,
    ) -> Result<Tangents> {
        let Attributes { positions, normals, tex_coords, .. } = attributes;
        let material = self.materials.list.get(material as usize);
        let normal_map = material.filter(|material| !material.unlit).and_then(|material| material.normal_texture);
        let (Some(normal_map), Some(normals), Topology::Triangles) = (normal_map, normals, elements.topology) else {
            return Ok(Tangents::None);
        };
        if let Some(tangents) = reader.tangents(positions.len(), self.warnings)? {
            return Ok(Tangents::OfFile(tangents));
        }
        let Some(pairs) = tex_coords else { return Ok(Tangents::None) };
        self.tangent_corners.take(elements.indices.len() as u64, reader.at)?;
        let sampled_at = |pair: &[Vec2; 2]| {
            let uv = normal_map.texture_from_vertex.transform_point2(pair[usize::from(normal_map.tex_coords != 0)]);
            if uv.is_finite() { uv } else { Vec2::ZERO }
        };
        let tex_coords: Vec<Vec2> = pairs.iter().map(sampled_at).collect();
        let input = TangentInput { positions, normals, tex_coords: &tex_coords, indices: &elements.indices };
        Ok(input.generate().map_or_else(
            || {
                let problem = "too many triangles meet at a vertex to make tangents; the normal map does without";
                self.warnings.add(reader.at, problem);
                Tangents::None
            },
            Tangents::Generated,
        ))
    }

    /// Our vertex for each of the primitive's vertices that `vertices` name, with their tangents.
    fn weld(&mut self, primitive: &Welding, vertices: impl Iterator<Item = (u32, Vec4)>) -> Vec<u32> {
        let Attributes { positions, normals, tex_coords, colors } = primitive.attributes;
        let mut morph_deltas = Vec::new();
        let vertex = |(vertex, tangent): (u32, Vec4)| {
            let index = vertex as usize;
            primitive.morphs.deltas_of(index, &mut morph_deltas);
            self.welder.push(&Vertex {
                position: positions.get(index).copied().unwrap_or_default(),
                normal: at(normals, index).unwrap_or(Vec3::Z),
                tangent,
                tex_coords: at(tex_coords, index).unwrap_or_default(),
                color: at(colors, index).unwrap_or([255; 4]),
                influences: primitive.influences.of(index),
                morph_deltas: &morph_deltas,
            })
        };
        vertices.map(vertex).collect()
    }

    /// Whether a palette entry turns inside out at rest what follows it. The first joint of a primitive's first vertex
    /// decides: parts that are mirrored differently cannot be told apart by a draw call; no exporter writes such.
    pub(super) fn is_mirrored(&self, entry: u32) -> bool {
        let PaletteLayout { nodes, joint_from_mesh } = &self.palette.layout;
        let entry = entry as usize;
        let determinant = || {
            let model_from_joint = self.rest_matrices.get(*nodes.get(entry)? as usize)?;
            Some((*model_from_joint * *joint_from_mesh.get(entry)?).matrix3.determinant())
        };
        determinant().is_some_and(|determinant| determinant < 0.0)
    }

    /// Appends triangles, lines or points, to the last draw range if that is drawn the same way. `shift` is added to
    /// each index.
    pub(super) fn push_indices(&mut self, range: DrawRange, list: &[u32], shift: u32) {
        let Geometry { indices, draw_ranges, .. } = &mut self.welder.geometry;
        let (first_index, index_count) = (indices.len() as u32, list.len() as u32);
        reserve(indices, list.len());
        indices.extend(list.iter().map(|index| index + shift));
        match draw_ranges.last_mut() {
            Some(last) if range == (DrawRange { first_index: 0, index_count: 0, ..*last }) => {
                last.index_count += index_count;
            }
            _ if index_count > 0 => draw_ranges.push(DrawRange { first_index, index_count, ..range }),
            _ => {}
        }
    }
}

fn at<T: Copy>(attribute: &Option<Vec<T>>, vertex: usize) -> Option<T> {
    attribute.as_ref()?.get(vertex).copied()
}

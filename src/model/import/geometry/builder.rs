//! From the primitives of a mesh node to welded vertices, ordered triangles and draw ranges.
//!
//! Each primitive takes the same way: attributes, influences, triangles, tangents, morph targets, welding
//! ([`weld`](super::weld)), and the order of triangles ([`order`](crate::model::order)). After that, a vertex needs only its
//! influences and morph deltas to be skinned.

use std::ops::Range;

use glam::{Affine3A, Vec2, Vec3, Vec4};
use gltf::json;

use super::attributes::{AttributeReader, Attributes};
use super::influences::{Influences, SkinEntries};
use super::morphs::{MorphReader, Morphs};
use super::tangents::{SplitVertices, TangentInput};
use super::topology::{self, Elements};
use super::weld::{Vertex, Welder, reserve};
use crate::model::import::decode::Document;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::{Budget, Counted};
use crate::model::import::material::Materials;
use crate::model::import::motion::{NodeTree, Palette};
use crate::model::order::{OrderingEffort, order_triangles};
use crate::model::{
    AlphaMode, DrawRange, Geometry, Material, MorphedNode, PaletteLayout, Skin, SourcePrimitive, Topology,
};

/// The parts of a model that are read before its geometry.
pub struct Scene<'a, 'f> {
    pub document: &'a Document<'f>,
    pub tree: &'a NodeTree,
    pub skins: &'a [Skin],
}

/// Collects the geometry of all mesh nodes.
pub(super) struct Builder<'b, 'f> {
    scene: &'b Scene<'b, 'f>,
    rest_matrices: Vec<Affine3A>,
    materials: &'b mut Materials,
    pub warnings: &'b mut Warnings,
    palette: Palette,
    welder: Welder,
    primitives: Budget,
    vertices: Budget,
    indices: Budget,
    influences: Budget,
    tangent_corners: Budget,
    morph_deltas: Budget,
    ordering_effort: OrderingEffort,
}

/// A node with a mesh.
#[derive(Clone, Copy)]
pub(super) struct MeshNode {
    /// The glTF index of the node.
    pub node: usize,
    pub skeleton_node: u32,
    /// The glTF index of the mesh.
    pub mesh: usize,
    /// The range of the node's morph weights, if its mesh has morph targets.
    pub morphed: Option<MorphedNode>,
}

/// A primitive whose vertices are not welded yet.
struct ReadPrimitive {
    attributes: Attributes,
    influences: Influences,
    morphs: Morphs,
    /// The vertices to weld, by their index in the file: first all of the file, then those that were split off for their
    /// tangents.
    vertices: Vec<u32>,
    /// The tangent of each of `vertices`; empty if there are none.
    tangents: Vec<Vec4>,
    /// Triangles, lines or points of `vertices`.
    elements: Elements,
    /// The properties of its draw range; no indices are in it yet.
    range: DrawRange,
    /// Its description, without vertices.
    source: SourcePrimitive,
}

/// The palette entries that the vertices of a mesh node follow.
#[derive(Clone)]
enum Follow {
    Skin(SkinEntries),
    Entry(u32),
}

/// The source of a primitive's tangents.
enum Tangents {
    /// There are none: they are not needed, or cannot be generated.
    None,
    OfFile(Vec<Vec4>),
    Generated(SplitVertices),
}

impl<'b, 'f> Builder<'b, 'f> {
    pub fn new(scene: &'b Scene<'b, 'f>, materials: &'b mut Materials, warnings: &'b mut Warnings) -> Self {
        let total = &scene.document.total_budget();
        Self {
            scene,
            rest_matrices: scene.tree.skeleton.rest_matrices(),
            materials,
            warnings,
            palette: Palette::default(),
            welder: Welder::new(),
            primitives: Budget::new(Counted::PRIMITIVES, total),
            vertices: Budget::new(Counted::VERTICES, total),
            indices: Budget::new(Counted::INDICES, total),
            influences: Budget::new(Counted::INFLUENCES, total),
            tangent_corners: Budget::new(Counted::TANGENT_CORNERS, total),
            morph_deltas: Budget::new(Counted::MORPH_DELTAS, total),
            ordering_effort: OrderingEffort::new(),
        }
    }

    pub fn document(&self) -> &'b Document<'f> {
        self.scene.document
    }

    /// Returns the geometry and its palette when all mesh nodes have been added. If nothing is left of a file with broken parts,
    /// the first fault is that of the file.
    pub fn finish(self) -> Result<(Geometry, PaletteLayout)> {
        let mut geometry = self.welder.geometry;
        if geometry.indices.is_empty() {
            self.warnings.take_fault()?;
            self.warnings.add("scene", "shows nothing");
        }
        if !geometry.draw_ranges.iter().any(|range| range.has_tangents) {
            geometry.tangents = Vec::new();
        }
        Ok((geometry, self.palette.layout))
    }

    /// Adds the mesh of a node. `skin` is the glTF index of the node's skin.
    pub fn add_mesh_node(&mut self, mesh_node: MeshNode, mesh: &json::Mesh, skin: Option<usize>) -> Result<()> {
        let follow = match skin {
            Some(index) => {
                let at = || format!("nodes[{}].skin", mesh_node.node);
                let skins = self.scene.skins;
                let skin = skins.get(index).ok_or_else(|| Fault::dangling(at(), "skins", index, skins.len()))?;
                Follow::Skin(SkinEntries { entries: self.palette.skin_entries(index, skin), skin: index })
            }
            None => Follow::Entry(self.palette.rigid_entry(mesh_node.skeleton_node)),
        };
        let mut primitives = Vec::with_capacity(mesh.primitives.len());
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            let read = self.read_primitive(mesh_node, (number, primitive), &follow);
            primitives.extend(self.warnings.leave_out("primitive", read)?.flatten());
        }
        primitives.into_iter().for_each(|primitive| self.add_primitive(primitive));
        Ok(())
    }

    fn read_primitive(
        &mut self,
        mesh_node: MeshNode,
        (number, primitive): (usize, &json::mesh::Primitive),
        follow: &Follow,
    ) -> Result<Option<ReadPrimitive>> {
        let document = self.scene.document;
        let at = format!("meshes[{}].primitives[{number}]", mesh_node.mesh);
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
        let material = self.materials.resolve(primitive.material.map(|material| material.value()), &at);
        let material = self.warnings.leave_out("material", material)?.unwrap_or_else(|| self.materials.default());
        let tex_coords = self.materials.tex_coord_sets.get(material as usize).copied().unwrap_or_default();
        let attributes = reader.read(tex_coords, &mut self.vertices, self.warnings)?;
        let count = attributes.positions.len();
        let (influences, skin) = match follow {
            Follow::Skin(skin)
                if let Some(read) = Influences::read(&reader, count, skin, &mut self.influences, self.warnings)? =>
            {
                (read, Some(skin.skin as u32))
            }
            Follow::Skin(_) => (Influences::rigid(count, self.palette.rigid_entry(mesh_node.skeleton_node)), None),
            Follow::Entry(entry) => (Influences::rigid(count, *entry), None),
        };
        let mut elements = topology::read(document, primitive, &at, count, &mut self.indices, self.warnings)?;
        elements.leave_out(&attributes.broken, &at, self.warnings)?;
        let tangents = self.tangents(&reader, &attributes, &elements, material)?;
        let (first_weight, weight_count) =
            mesh_node.morphed.map_or((0, 0), |morphed| (morphed.first_weight, morphed.weight_count));
        let has_normals = attributes.normals.is_some();
        let has_tangents = matches!(tangents, Tangents::OfFile(_));
        let morphs = MorphReader { document, primitive, at: &at, vertex_count: count, has_normals, has_tangents };
        let morphs = morphs.read(first_weight, weight_count, &mut self.morph_deltas, self.warnings)?;

        let range = DrawRange {
            topology: elements.topology,
            first_index: 0,
            index_count: 0,
            material,
            flat_shaded: !has_normals,
            has_tangents: !matches!(tangents, Tangents::None),
            mirrored: influences.of(0).first().is_some_and(|influence| self.is_mirrored(influence.joint)),
        };
        let all = (0..count as u32).collect();
        let (vertices, tangents, indices) = match tangents {
            Tangents::None => (all, Vec::new(), elements.indices),
            Tangents::OfFile(tangents) => (all, tangents, elements.indices),
            Tangents::Generated(split) => {
                self.vertices.take(split.source.len().saturating_sub(count) as u64, &at)?;
                (split.source, split.tangents, split.indices)
            }
        };
        let source = SourcePrimitive {
            node: mesh_node.node as u32,
            mesh: mesh_node.mesh as u32,
            primitive: number as u32,
            skin,
            has_normals,
            has_tangents,
            indices: 0..0,
            vertices: Vec::new(),
        };
        let elements = Elements { indices, ..elements };
        Ok(Some(ReadPrimitive { attributes, influences, morphs, vertices, tangents, elements, range, source }))
    }

    /// Adds a primitive to the geometry.
    fn add_primitive(&mut self, primitive: ReadPrimitive) {
        let mut vertices = self.weld(&primitive);
        let ReadPrimitive { elements, range, source, attributes, .. } = primitive;
        // `topology::read` has checked the indices.
        let mut indices: Vec<u32> =
            elements.indices.iter().filter_map(|&index| vertices.get(index as usize).copied()).collect();
        let is_blended = |material: &Material| material.alpha_mode == AlphaMode::Blend;
        // Blended triangles keep their order, because the author may have sorted them back to front.
        if elements.topology == Topology::Triangles
            && !self.materials.list.get(range.material as usize).is_some_and(is_blended)
        {
            order_triangles(&mut indices, &mut self.ordering_effort);
        }
        vertices.truncate(attributes.positions.len());
        let indices = self.push_indices(range, &indices);
        self.welder.geometry.source_primitives.push(SourcePrimitive { indices, vertices, ..source });
    }

    /// Reads or generates tangents if a normal map needs them and the primitive has triangles with normals.
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
        let tangents = reader.tangents(positions.len(), self.warnings);
        if let Some(tangents) = self.warnings.leave_out("attribute", tangents)?.flatten() {
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
                let problem = "too many triangles share a vertex to generate tangents; the shader derives them instead";
                self.warnings.add(reader.at, problem);
                Tangents::None
            },
            Tangents::Generated,
        ))
    }

    /// Welds the vertices of a primitive. Returns their indices in the geometry.
    fn weld(&mut self, primitive: &ReadPrimitive) -> Vec<u32> {
        let Attributes { positions, normals, tex_coords, colors, .. } = &primitive.attributes;
        let mut morph_deltas = Vec::new();
        let mut weld = |(rank, &index): (usize, &u32)| {
            let index = index as usize;
            primitive.morphs.deltas_of(index, &mut morph_deltas);
            self.welder.push(&Vertex {
                position: positions.get(index).copied().unwrap_or_default(),
                normal: at(normals, index).unwrap_or(Vec3::Z),
                tangent: primitive.tangents.get(rank).copied().unwrap_or_default(),
                tex_coords: at(tex_coords, index).unwrap_or_default(),
                color: at(colors, index).unwrap_or([255; 4]),
                influences: primitive.influences.of(index),
                morph_deltas: &morph_deltas,
            })
        };
        primitive.vertices.iter().enumerate().map(&mut weld).collect()
    }

    /// Whether a palette entry mirrors the vertices that follow it in the rest pose. The first joint of a primitive's
    /// first vertex decides for the primitive, because one draw call has one winding. No exporter mixes both in a
    /// primitive.
    fn is_mirrored(&self, entry: u32) -> bool {
        let PaletteLayout { nodes, joint_from_mesh, .. } = &self.palette.layout;
        let entry = nodes.get(entry as usize).zip(joint_from_mesh.get(entry as usize));
        entry.is_some_and(|(&node, joint_from_mesh)| {
            let model_from_joint = self.rest_matrices.get(node as usize);
            model_from_joint.is_some_and(|matrix| (*matrix * *joint_from_mesh).matrix3.determinant() < 0.0)
        })
    }

    /// Appends triangles, lines or points, to the last draw range if it has the same properties. Returns their place.
    fn push_indices(&mut self, range: DrawRange, list: &[u32]) -> Range<u32> {
        let Geometry { indices, draw_ranges, .. } = &mut self.welder.geometry;
        let (first_index, index_count) = (indices.len() as u32, list.len() as u32);
        reserve(indices, list.len());
        indices.extend_from_slice(list);
        match draw_ranges.last_mut() {
            Some(last) if range == (DrawRange { first_index: 0, index_count: 0, ..*last }) => {
                last.index_count += index_count;
            }
            _ if index_count > 0 => draw_ranges.push(DrawRange { first_index, index_count, ..range }),
            _ => {}
        }
        first_index..first_index + index_count
    }
}

fn at<T: Copy>(attribute: &Option<Vec<T>>, vertex: usize) -> Option<T> {
    attribute.as_ref()?.get(vertex).copied()
}

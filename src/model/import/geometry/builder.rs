//! From the primitives of a mesh node to welded vertices, ordered triangles and draw ranges.
//!
//! Each primitive takes the same way: attributes, influences, triangles, tangents, morph targets, welding
//! ([`weld`](super::weld)), and the order of triangles ([`order`](crate::model::order)). After that, a vertex needs only its
//! influences and morph deltas to be skinned.

use std::ops::Range;
use std::rc::Rc;

use glam::{Affine3A, Vec2, Vec3};
use gltf::json;

use super::attributes::{Attributes, PrimitiveReader};
use super::influences::Influences;
use super::morphs::Morphs;
use super::tangents::{self, SplitVertices};
use super::topology::{self, Elements};
use super::weld::{Vertex, Welder, reserve};
use crate::model::import::decode::Document;
use crate::model::import::error::{Result, Warnings, look_up};
use crate::model::import::limits::Counted;
use crate::model::import::material::Materials;
use crate::model::import::motion::{NodeTree, Palette};
use crate::model::order::{ORDERING_EFFORT, order_triangles};
use crate::model::{AlphaMode, DrawRange, Geometry, Material, PaletteLayout, Skin, SourcePrimitive, Topology};

/// The parts of a model that are read before its geometry.
pub struct Scene<'a, 'f> {
    pub document: &'a Document<'f>,
    pub tree: &'a NodeTree,
    pub skins: &'a [Skin],
}

pub(super) struct Builder<'b, 'f> {
    scene: &'b Scene<'b, 'f>,
    rest_matrices: Vec<Affine3A>,
    materials: &'b mut Materials,
    pub warnings: &'b mut Warnings,
    palette: Palette,
    welder: Welder,
    /// The effort that ordering triangles may still take.
    ordering_effort: u64,
}

/// The palette entries that the vertices of a mesh node follow.
enum Follow {
    /// Those of the joints of a skin, with its glTF index. Joints may share one.
    Skin(usize, Rc<[u32]>),
    Entry(u32),
}

impl<'b, 'f> Builder<'b, 'f> {
    pub fn new(scene: &'b Scene<'b, 'f>, materials: &'b mut Materials, warnings: &'b mut Warnings) -> Self {
        Self {
            scene,
            rest_matrices: scene.tree.skeleton.rest_matrices(),
            materials,
            warnings,
            palette: Palette::default(),
            welder: Welder::new(),
            ordering_effort: ORDERING_EFFORT,
        }
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

    /// Adds the mesh of a node. `node`, `mesh` and `skin` are glTF indices.
    pub fn add_mesh_node(&mut self, node: usize, skeleton_node: u32, mesh: usize, skin: Option<usize>) -> Result<()> {
        let meshes = &self.scene.document.root.meshes;
        let primitives = &look_up(meshes, "meshes", mesh, format_args!("nodes[{node}].mesh"))?.primitives;
        let follow = match skin {
            Some(index) => {
                let skin = look_up(self.scene.skins, "skins", index, format_args!("nodes[{node}].skin"))?;
                Follow::Skin(index, self.palette.skin_entries(index, skin))
            }
            None => Follow::Entry(self.palette.rigid_entry(skeleton_node)),
        };
        for (number, primitive) in primitives.iter().enumerate() {
            let added = self.add_primitive((node, skeleton_node), (mesh, number), primitive, &follow);
            self.warnings.leave_out("primitive", added)?;
        }
        Ok(())
    }

    /// Adds a primitive to the geometry, once all of it has been read.
    fn add_primitive(
        &mut self,
        (node, skeleton_node): (usize, u32),
        (mesh, number): (usize, usize),
        primitive: &json::mesh::Primitive,
        follow: &Follow,
    ) -> Result<()> {
        let Scene { document, tree, .. } = *self.scene;
        let at = &format!("meshes[{mesh}].primitives[{number}]");
        let at_attributes = &format!("{at}.attributes");
        document.take(Counted::PRIMITIVES, 1, at)?;
        let reader = PrimitiveReader { document, primitive, at, at_attributes };
        let positions = match reader.positions() {
            Ok(positions) => positions,
            Err(problem) => {
                self.warnings.add(at_attributes, problem);
                return Ok(());
            }
        };
        let material = self.materials.resolve(primitive.material.map(|material| material.value()), at);
        let material = self.warnings.leave_out("material", material)?.unwrap_or_else(|| self.materials.default());
        let tex_coords = self.materials.tex_coord_sets.get(material as usize).copied().unwrap_or_default();
        let attributes = reader.attributes(positions, tex_coords, self.warnings)?;
        let count = attributes.positions.len();
        let (influences, skin) = match follow {
            Follow::Skin(skin, entries)
                if let Some(read) = Influences::read(&reader, count, (*skin, entries), self.warnings)? =>
            {
                (read, Some(*skin as u32))
            }
            Follow::Skin(..) => (Influences::rigid(count, self.palette.rigid_entry(skeleton_node)), None),
            Follow::Entry(entry) => (Influences::rigid(count, *entry), None),
        };
        let mut elements = topology::read(&reader, count, self.warnings)?;
        elements.leave_out(&attributes.broken, at, self.warnings)?;
        let topology = elements.topology;
        let (split, has_tangents) = self.with_tangents(&reader, &attributes, elements, material)?;
        let morphed = tree.morphed_node(skeleton_node);
        let morphs = Morphs::read(&reader, &attributes, has_tangents, morphed, self.warnings)?;
        document.take(Counted::VERTICES, split.source.len().saturating_sub(count), at)?;

        let has_normals = attributes.normals.is_some();
        let range = DrawRange {
            topology,
            material,
            flat_shaded: !has_normals,
            has_tangents: !split.tangents.is_empty(),
            mirrored: influences.of(0).first().is_some_and(|influence| self.is_mirrored(influence.joint)),
            ..DrawRange::default()
        };
        let mut vertices = self.weld(&attributes, &influences, &morphs, &split);
        // `topology::read` has checked the indices.
        let mut indices: Vec<u32> = split.indices.iter().map(|&index| vertices[index as usize]).collect();
        let is_blended = |material: &Material| material.alpha_mode == AlphaMode::Blend;
        // Blended triangles keep their order, because the author may have sorted them back to front.
        if topology == Topology::Triangles && !self.materials.list.get(material as usize).is_some_and(is_blended) {
            order_triangles(&mut indices, &mut self.ordering_effort);
        }
        let indices = self.push_indices(range, &indices);
        vertices.truncate(count);
        let (node, mesh, primitive) = (node as u32, mesh as u32, number as u32);
        let source = SourcePrimitive { node, mesh, primitive, skin, has_normals, has_tangents, indices, vertices };
        self.welder.geometry.source_primitives.push(source);
        Ok(())
    }

    /// Returns the vertices and the indices of a primitive, with tangents if a normal map needs them and the primitive has
    /// triangles with normals. Also returns whether the tangents are those of the file.
    fn with_tangents(
        &mut self,
        reader: &PrimitiveReader,
        attributes: &Attributes,
        elements: Elements,
        material: u32,
    ) -> Result<(SplitVertices, bool)> {
        let Attributes { positions, normals, tex_coords, .. } = attributes;
        let source = (0..positions.len() as u32).collect();
        let plain = SplitVertices { source, tangents: Vec::new(), indices: elements.indices };
        let material = self.materials.list.get(material as usize);
        let normal_map = material.filter(|material| !material.unlit).and_then(|material| material.normal_texture);
        let (Some(normal_map), Some(normals), Topology::Triangles) = (normal_map, normals, elements.topology) else {
            return Ok((plain, false));
        };
        let tangents = reader.tangents(positions.len(), self.warnings);
        if let Some(tangents) = self.warnings.leave_out("attribute", tangents)?.flatten() {
            return Ok((SplitVertices { tangents, ..plain }, true));
        }
        let Some(pairs) = tex_coords else { return Ok((plain, false)) };
        reader.document.take(Counted::TANGENT_CORNERS, plain.indices.len(), reader.at_attributes)?;
        let sampled_at = |pair: &[Vec2; 2]| {
            let uv = normal_map.texture_from_vertex.transform_point2(pair[usize::from(normal_map.tex_coords != 0)]);
            if uv.is_finite() { uv } else { Vec2::ZERO }
        };
        let tex_coords: Vec<Vec2> = pairs.iter().map(sampled_at).collect();
        let generated = tangents::generate(positions, normals, &tex_coords, &plain.indices);
        if generated.is_none() {
            let problem = "too many triangles share a vertex to generate tangents; the shader derives them instead";
            self.warnings.add(reader.at_attributes, problem);
        }
        Ok((generated.unwrap_or(plain), false))
    }

    /// Welds the vertices of a primitive. Returns their indices in the geometry.
    fn weld(
        &mut self,
        attributes: &Attributes,
        influences: &Influences,
        morphs: &Morphs,
        split: &SplitVertices,
    ) -> Vec<u32> {
        let Attributes { positions, normals, tex_coords, colors, .. } = attributes;
        let mut morph_deltas = Vec::new();
        let mut weld = |(rank, &index): (usize, &u32)| {
            let index = index as usize;
            morphs.deltas_of(index, &mut morph_deltas);
            self.welder.push(&Vertex {
                position: positions[index],
                normal: normals.as_ref().map_or(Vec3::Z, |normals| normals[index]),
                tangent: split.tangents.get(rank).copied().unwrap_or_default(),
                tex_coords: tex_coords.as_ref().map_or([Vec2::ZERO; 2], |pairs| pairs[index]),
                color: colors.as_ref().map_or([255; 4], |colors| colors[index]),
                influences: influences.of(index),
                morph_deltas: &morph_deltas,
            })
        };
        split.source.iter().enumerate().map(&mut weld).collect()
    }

    /// Whether a palette entry mirrors the vertices that follow it in the rest pose. The first joint of a primitive's first
    /// vertex decides for the primitive, because one draw call has one winding. No exporter mixes both in a primitive.
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

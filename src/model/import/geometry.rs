//! All mesh nodes of the scene as one vertex array, one index array and draw ranges.
//!
//! A mesh that several nodes show is there several times, once for each palette section it follows: afterwards a
//! vertex needs nothing but its influences and morph deltas to know where it goes. Mesh nodes are taken in the order of their glTF
//! index and their primitives in the order of the file. A mesh that its node shows at several places comes once for each.

use glam::{Affine3A, Vec2, Vec3, Vec4};
use gltf::json;

use super::attributes::{AttributeReader, Attributes};
use super::document::Document;
use super::error::{Fault, Result, Warnings};
use super::influences::{Influences, PaletteSection};
use super::instancing;
use super::limits::Budget;
use super::materials::Materials;
use super::morphs::{MorphReader, Morphs};
use super::nodes::NodeTree;
use super::reorder::reorder;
use super::skins::Palette;
use super::tangents::{SplitVertices, TangentInput};
use super::topology::{self, Elements};
use super::weld::{Vertex, Welder};
use crate::model::{DrawRange, Geometry, MorphedNode, PaletteLayout, Skin, SourcePrimitive, Topology};

/// What was read before the geometry and is needed for it.
pub(super) struct Scene<'a, 'f> {
    pub document: &'a Document<'f>,
    pub tree: &'a NodeTree,
    pub skins: &'a [Skin],
}

/// Reads the geometry, and the palette that it follows.
pub(super) fn read(
    scene: &Scene,
    materials: &mut Materials,
    warnings: &mut Warnings,
) -> Result<(Geometry, PaletteLayout)> {
    let file_bytes = scene.document.file_bytes();
    let mut builder = Builder {
        rest_matrices: scene.tree.rest_matrices(),
        materials,
        warnings,
        palette: Palette::default(),
        welder: Welder::new(),
        primitives: Budget::primitives(file_bytes),
        vertices: Budget::vertices(file_bytes),
        indices: Budget::indices(file_bytes),
        influences: Budget::influences(file_bytes),
        morph_deltas: Budget::morph_deltas(file_bytes),
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
    reorder(&mut geometry, &builder.materials.list);
    Ok((geometry, builder.palette.layout))
}

struct Builder<'b> {
    rest_matrices: Vec<Affine3A>,
    materials: &'b mut Materials,
    warnings: &'b mut Warnings,
    palette: Palette,
    welder: Welder,
    primitives: Budget,
    vertices: Budget,
    indices: Budget,
    influences: Budget,
    morph_deltas: Budget,
}

#[derive(Clone, Copy)]
struct MeshNode {
    /// glTF index.
    node: usize,
    skeleton_node: u32,
    /// glTF index.
    mesh: usize,
    /// Which of the node's placements, if it has such.
    instance: Option<u32>,
    /// Where its morph weights are, if its mesh has targets.
    morphed: Option<MorphedNode>,
}

/// What the vertices of a mesh node follow.
#[derive(Clone, Copy)]
enum Follow {
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
        if let Some(placements) = instancing::read(scene.document, node, entry, self.warnings)? {
            let (all, drawn) = (placements.len(), placements.len().min(self.affordable_placements(scene, mesh_entry)));
            if drawn < all {
                let problem =
                    format!("of {all} placements {drawn} are drawn: files of this size allow no more vertices");
                self.warnings.add(format_args!("nodes[{node}]"), problem);
            }
            // Evenly chosen where some are left out, so that what is drawn still has the shape of the whole.
            for instance in (0..drawn).map(|rank| rank * all / drawn) {
                let follow = Follow::Entry(self.palette.rigid_entry(place.skeleton_node, placements[instance]));
                let place = MeshNode { instance: Some(instance as u32), ..place };
                self.add_primitives(scene, place, mesh_entry, follow)?;
            }
            return Ok(());
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
        self.add_primitives(scene, place, mesh_entry, follow)
    }

    /// How many placements of a mesh may be made, each with vertices of its own: a few bytes of the file place a mesh
    /// of any size once more. They may take half of what is left, so that the nodes to come have their part.
    fn affordable_placements(&self, scene: &Scene, mesh: &json::Mesh) -> usize {
        let cost = instancing::cost(scene.document, mesh);
        let affordable = |budget: &Budget, cost: u64| budget.left() / 2 / cost.max(1);
        let by_size = affordable(&self.vertices, cost.vertices).min(affordable(&self.indices, cost.indices));
        by_size.min(affordable(&self.primitives, mesh.primitives.len() as u64)) as usize
    }

    fn add_primitives(&mut self, scene: &Scene, place: MeshNode, mesh: &json::Mesh, follow: Follow) -> Result<()> {
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            self.add_primitive(scene, place, (number, primitive), follow)?;
        }
        Ok(())
    }

    fn add_primitive(
        &mut self,
        scene: &Scene,
        place: MeshNode,
        (number, primitive): (usize, &json::mesh::Primitive),
        follow: Follow,
    ) -> Result<()> {
        let document = scene.document;
        let at = format!("meshes[{}].primitives[{number}]", place.mesh);
        self.primitives.take(1, &at)?;
        let at_attributes = format!("{at}.attributes");
        let reader = AttributeReader { document, primitive, at: &at_attributes };
        if !reader.has_positions() {
            self.warnings.add(&at_attributes, "no POSITION, so there is nothing to draw");
            return Ok(());
        }
        if reader.lacks_bytes() {
            self.warnings.add(&at_attributes, "POSITION is in a buffer without uri or GLB chunk: nothing can be drawn");
            return Ok(());
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
        let range = DrawRange {
            topology: elements.topology,
            first_index: 0,
            index_count: 0,
            material,
            flat_shaded: !has_normals,
            has_tangents,
            mirrored: self.is_mirrored(&influences),
        };
        self.push_elements(range, &elements, &vertices);
        // The file's vertices come first; what follows are those that were split off them.
        vertices.truncate(count);
        self.welder.geometry.source_primitives.push(SourcePrimitive {
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
        });
        Ok(())
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

    /// Whether the first joint of the first vertex turns the primitive inside out at rest. Parts of one primitive
    /// that are mirrored differently cannot be told apart by a draw call; no exporter writes such.
    fn is_mirrored(&self, influences: &Influences) -> bool {
        let PaletteLayout { nodes, joint_from_mesh } = &self.palette.layout;
        let determinant = || {
            let entry = influences.of(0).first()?.joint as usize;
            let model_from_joint = self.rest_matrices.get(*nodes.get(entry)? as usize)?;
            Some((*model_from_joint * *joint_from_mesh.get(entry)?).matrix3.determinant())
        };
        determinant().is_some_and(|determinant| determinant < 0.0)
    }

    /// Appends triangles, lines or points, to the last draw range if that is drawn the same way.
    fn push_elements(&mut self, range: DrawRange, elements: &Elements, vertices: &[u32]) {
        let Geometry { indices, draw_ranges, .. } = &mut self.welder.geometry;
        let first_index = indices.len() as u32;
        // Proven to be in range by `topology::read`.
        indices.extend(elements.indices.iter().filter_map(|&index| vertices.get(index as usize)));
        let index_count = indices.len() as u32 - first_index;
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

//! `--hide`: parts of a file that are not meant to be seen, such as the boxes that a game uses for collisions.
//!
//! In: loaded models and patterns. Out: models without the primitives that a pattern names, so that nothing after this knows of
//! them, and a list of the parts of each file for people. Names are compared once for each node, mesh and material, however many
//! primitives share them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail};

use super::text::counted;
use crate::model::source::Part;
use crate::model::{Geometry, Material, Model, SourcePrimitive, Topology, names};
use crate::renderer::resident::texture::texture_bytes;

/// The pattern that hides nothing, also not by default.
pub const NONE: &str = "none";
/// Names of nodes, meshes and materials that are for collisions.
const COLLIDERS: [&str; 2] = ["*collider*", "*collision*"];
/// Names of nodes and meshes that Unreal, Godot and others read as shapes for collisions. Godot shows those that end with `-col`.
const SHAPES: [&str; 7] = ["ucx_*", "ubx_*", "usp_*", "ucp_*", "*.col", "*-colonly", "*-convcolonly"];

/// Removes what the patterns name, and colliders unless a pattern is `none`.
///
/// # Errors
/// The patterns name everything that a model shows.
pub fn hide(models: &mut [Model], patterns: &[String]) -> Result<()> {
    let hides_colliders = !patterns.iter().any(|pattern| pattern == NONE);
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).filter(|pattern| *pattern != NONE).collect();
    let mut unknown = patterns.clone();
    for model in &mut *models {
        let sources = Sources::of(model);
        let mut named = Vec::new();
        for pattern in &patterns {
            let found = sources.named_by(pattern);
            unknown.retain(|other| other != pattern || !found.contains(&true));
            named = any_of([named, found].into_iter());
        }
        if sources.are_all(&named) {
            let options: Vec<String> = patterns.iter().map(|pattern| format!("--hide {pattern}")).collect();
            bail!("{}: nothing is left to show; there are {}", options.join(" "), sources.offer(""));
        }
        let colliders = sources.colliders();
        let both = any_of([named.clone(), colliders.clone()].into_iter());
        let hidden = if hides_colliders && !sources.are_all(&both) { both } else { named };
        let parts = sources.parts(&hidden, &colliders);
        let count = parts.iter().filter(|part| part.is_collider && part.is_hidden).count();
        if count > 0 {
            let (parts, are) = (counted(count, "part"), if count == 1 { "is" } else { "are" });
            model.warnings.push(format!("{parts} named as colliders {are} hidden; --hide {NONE} shows them"));
        }
        model.source.parts = parts;
        if hidden.contains(&true) {
            model.remove(&hidden);
        }
    }
    for pattern in unknown {
        let offers: Vec<String> = models.iter().map(|model| Sources::of(model).offer(pattern)).collect();
        let offers = offers.join("; ");
        let warning = format!("--hide {pattern}: no node, mesh or material has such a name; there are {offers}");
        models.iter_mut().take(1).for_each(|model| model.warnings.push(warning.clone()));
    }
    Ok(())
}

/// Returns the number of parts that are hidden by default.
pub fn collider_count(model: &Model) -> usize {
    let sources = Sources::of(model);
    let colliders = sources.colliders();
    sources.parts(&colliders, &colliders).iter().filter(|part| part.is_collider).count()
}

/// The primitives of a model's file.
pub struct Sources<'m> {
    model: &'m Model,
    /// The skeleton node of each primitive.
    nodes: Vec<u32>,
    /// The material of each primitive, by its index in the model.
    materials: Vec<u32>,
}

impl<'m> Sources<'m> {
    /// Looks up the nodes and materials.
    pub fn of(model: &'m Model) -> Self {
        let Geometry { source_primitives, draw_ranges, .. } = &model.geometry;
        let node_of: HashMap<u32, u32> = model.skeleton.source_nodes.iter().copied().zip(0..).collect();
        let node = |source: &SourcePrimitive| node_of.get(&source.node).copied().unwrap_or_default();
        let material = |source: &SourcePrimitive| {
            let after = draw_ranges.partition_point(|range| range.first_index <= source.indices.start);
            after.checked_sub(1).map_or(0, |at| draw_ranges[at].material)
        };
        let nodes = source_primitives.iter().map(node).collect();
        Self { model, nodes, materials: source_primitives.iter().map(material).collect() }
    }

    /// Returns the names of the node, the mesh and the material of a primitive.
    pub fn names(&self, primitive: usize) -> [Option<&'m str>; 3] {
        let Model { skeleton, source, geometry, materials, .. } = self.model;
        let mesh = geometry.source_primitives[primitive].mesh as usize;
        [
            skeleton.names.get(self.nodes[primitive] as usize).map(String::as_str),
            source.meshes.get(mesh).and_then(Option::as_deref),
            materials.get(self.materials[primitive] as usize).map(|material| material.name.as_str()),
        ]
    }

    /// Returns for each primitive whether its node, its mesh, its material, or a node above that has no mesh has such a name.
    fn named(&self, is_such: impl Fn(&str) -> bool) -> [Vec<bool>; 4] {
        let Model { skeleton, source, geometry, materials, .. } = self.model;
        let nodes: Vec<bool> = skeleton.names.iter().map(|name| is_such(name)).collect();
        let meshes: Vec<bool> = source.meshes.iter().map(|name| name.as_deref().is_some_and(&is_such)).collect();
        let materials: Vec<bool> = materials.iter().map(|material| is_such(&material.name)).collect();
        let mut has_mesh = vec![false; nodes.len()];
        self.nodes.iter().for_each(|&node| has_mesh[node as usize] = true);
        let mut is_below = vec![false; nodes.len()];
        for node in 0..nodes.len() {
            let is_in = |parent: usize| is_below[parent] || nodes[parent] && !has_mesh[parent];
            is_below[node] = skeleton.parent(node).is_some_and(is_in);
        }
        let mesh_of = geometry.source_primitives.iter().map(|source| source.mesh);
        let is_set = |flags: &[bool], index: u32| flags.get(index as usize) == Some(&true);
        [
            self.nodes.iter().map(|&node| is_set(&nodes, node)).collect(),
            mesh_of.map(|mesh| is_set(&meshes, mesh)).collect(),
            self.materials.iter().map(|&material| is_set(&materials, material)).collect(),
            self.nodes.iter().map(|&node| is_set(&is_below, node)).collect(),
        ]
    }

    /// Returns the primitives that a pattern names, in the order of [`Self::named`] or at last by the glTF index of their node.
    /// Without `*`, the first of these ways that names any counts alone.
    fn named_by(&self, pattern: &str) -> Vec<bool> {
        let index: Option<u32> = pattern.parse().ok();
        let sources = self.model.geometry.source_primitives.iter();
        let by_index = sources.map(|source| index == Some(source.node)).collect();
        let mut ways = self.named(|name| fits(name, pattern)).into_iter().chain([by_index]);
        if pattern.contains('*') { any_of(ways) } else { ways.find(|way| way.contains(&true)).unwrap_or_default() }
    }

    /// Returns the primitives that are for collisions, by their names.
    fn colliders(&self) -> Vec<bool> {
        let fits_any = |name: &str, patterns: &[&str]| patterns.iter().any(|pattern| fits(name, pattern));
        // Copies have numbers.
        let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || ['.', '_'].contains(&c)).len();
        let is_shape = |name: &str| fits_any(name, &SHAPES) || fits_any(&name[..stem(name)], &SHAPES);
        let shapes = self.named(is_shape).into_iter().take(2);
        any_of(self.named(|name| fits_any(name, &COLLIDERS)).into_iter().chain(shapes))
    }

    /// Returns whether nothing is drawn without the hidden primitives.
    fn are_all(&self, hidden: &[bool]) -> bool {
        let sources = self.model.geometry.source_primitives.iter().zip(hidden);
        hidden.contains(&true) && sources.filter(|(source, _)| !source.indices.is_empty()).all(|(_, hidden)| *hidden)
    }

    /// Lists the parts of the model, one for each node with a mesh.
    fn parts(&self, hidden: &[bool], colliders: &[bool]) -> Vec<Part> {
        let Model { geometry, materials, images, .. } = self.model;
        let is_set = |flags: &[bool], at: usize| flags.get(at) == Some(&true);
        let mut parts: BTreeMap<u32, Part> = BTreeMap::new();
        for (at, source) in geometry.source_primitives.iter().enumerate() {
            let part = parts.entry(source.node).or_insert_with(|| {
                let name = self.names(at)[0].unwrap_or_default().to_owned();
                Part { name, is_hidden: true, is_collider: true, ..Part::default() }
            });
            part.triangles += self.triangles(at);
            part.materials.insert(self.materials[at]);
            part.is_hidden &= is_set(hidden, at);
            part.is_collider &= is_set(colliders, at);
        }
        for part in parts.values_mut() {
            let materials = part.materials.iter().filter_map(|&material| materials.get(material as usize));
            let textures = materials.flat_map(Material::textures).map(|slot| slot.texture.image);
            let used = textures.collect::<BTreeSet<u32>>().into_iter().filter_map(|image| images.get(image as usize));
            part.texture_bytes = used.map(|image| texture_bytes(image.width, image.height)).sum();
        }
        parts.into_values().collect()
    }

    /// Returns the number of triangles of a primitive.
    pub fn triangles(&self, primitive: usize) -> usize {
        let Geometry { source_primitives, draw_ranges, .. } = &self.model.geometry;
        let indices = &source_primitives[primitive].indices;
        let after = draw_ranges.partition_point(|range| range.first_index <= indices.start);
        let range =
            after.checked_sub(1).map(|at| draw_ranges[at]).filter(|range| range.topology == Topology::Triangles);
        range.map_or(0, |_| indices.len() / 3)
    }

    /// Offers names that are like a pattern.
    fn offer(&self, pattern: &str) -> String {
        let sources = self.model.geometry.source_primitives.iter().enumerate();
        let named =
            sources.flat_map(|(at, source)| self.names(at).into_iter().flatten().map(|name| (name, source.node)));
        let nodes: BTreeMap<&str, u32> = named.collect();
        format!(
            "{} in {}",
            names::offer(nodes.into_iter().map(|(name, node)| (node, Some(name))), pattern),
            self.model.name
        )
    }
}

/// Returns the flags that are set in any of several lists.
fn any_of(lists: impl Iterator<Item = Vec<bool>>) -> Vec<bool> {
    let either = |a: Vec<bool>, b: Vec<bool>| a.into_iter().zip(b).map(|(a, b)| a | b).collect();
    lists.filter(|list| !list.is_empty()).reduce(either).unwrap_or_default()
}

/// Returns whether a name is that of a pattern, in any case of letters. `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    let (name, pattern) = (name.to_lowercase(), pattern.to_lowercase());
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

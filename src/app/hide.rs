//! `--hide`: parts of a file that are not meant to be seen, such as the boxes that a game uses for collisions.
//!
//! In: loaded models and patterns. Out: models without the primitives that a pattern names, so that nothing after this knows of
//! them, and a list of the parts of each file for people.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use anyhow::{Result, bail};

use super::text::{counted, name};
use crate::model::source::Part;
use crate::model::{Material, Model, SourcePrimitive, Topology, names};
use crate::renderer::resident::texture::texture_bytes;

/// The pattern that hides nothing, also not by default.
pub const NONE: &str = "none";
/// Names of nodes, meshes and materials that are for collisions.
const COLLIDERS: [&str; 2] = ["*collider*", "*collision*"];
/// Names of nodes and meshes that Unreal, Godot and others read as shapes for collisions. Godot shows those that end with `-col`.
const SHAPES: [&str; 7] = ["ucx_*", "ubx_*", "usp_*", "ucp_*", "*.col", "*-colonly", "*-convcolonly"];

/// A primitive of a file.
pub struct Source<'m> {
    node: u32,
    /// The names of its node, its mesh and its material, empty without one. Then those of the nodes above that have no mesh.
    pub names: Vec<&'m str>,
    material: u32,
    pub triangles: usize,
}

pub fn sources(model: &Model) -> Vec<Source<'_>> {
    /// Hostile files may have many nodes above each other.
    const MOST_ABOVE: usize = 8;
    let Model { skeleton, geometry, .. } = model;
    let node_of: HashMap<u32, usize> = skeleton.source_nodes.iter().copied().zip(0..).collect();
    let with_mesh: HashSet<u32> = geometry.source_primitives.iter().map(|source| source.node).collect();
    let source = |&SourcePrimitive { node, mesh, ref indices, .. }: &SourcePrimitive| {
        let after = geometry.draw_ranges.partition_point(|range| range.first_index <= indices.start);
        let range = after.checked_sub(1).map(|at| geometry.draw_ranges[at]).unwrap_or_default();
        let triangles = if range.topology == Topology::Triangles { indices.len() / 3 } else { 0 };
        let at = node_of.get(&node).copied().unwrap_or_default();
        let mesh = model.source.meshes.get(mesh as usize).and_then(Option::as_deref).unwrap_or_default();
        let material = model.materials.get(range.material as usize).map_or("", |material| &material.name);
        let above = skeleton.ancestors(at).filter(|&node| !with_mesh.contains(&skeleton.source_nodes[node]));
        let name = |node: usize| skeleton.names.get(node).map_or("", String::as_str);
        let names = [name(at), mesh, material].into_iter().chain(above.take(MOST_ABOVE).map(name)).collect();
        Source { node, names, material: range.material, triangles }
    };
    geometry.source_primitives.iter().map(source).collect()
}

/// Removes what the patterns name, and colliders unless a pattern is `none`.
///
/// # Errors
/// The patterns name everything that a model shows.
pub fn hide(models: &mut [Model], patterns: &[String]) -> Result<()> {
    let hides_colliders = !patterns.iter().any(|pattern| pattern == NONE);
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).filter(|pattern| *pattern != NONE).collect();
    let mut unknown = patterns.clone();
    for model in &mut *models {
        let sources = sources(model);
        let mut named = vec![false; sources.len()];
        for pattern in &patterns {
            let found = named_by(&sources, pattern);
            unknown.retain(|other| other != pattern || !found.contains(&true));
            named.iter_mut().zip(found).for_each(|(named, found)| *named |= found);
        }
        let drawn: Vec<bool> = model.geometry.source_primitives.iter().map(|one| !one.indices.is_empty()).collect();
        let are_all = |hidden: &[bool]| hidden.contains(&true) && drawn.iter().zip(hidden).all(|(is, not)| !is || *not);
        if are_all(&named) {
            let options: Vec<String> = patterns.iter().map(|pattern| format!("--hide {pattern}")).collect();
            bail!("{}: nothing is left to show; there are {}", options.join(" "), offer(model, ""));
        }
        let colliders: Vec<bool> = sources.iter().map(is_collider).collect();
        let both: Vec<bool> = named.iter().zip(&colliders).map(|(named, collider)| named | collider).collect();
        let hidden = if hides_colliders && !are_all(&both) { both } else { named };
        let parts = parts(model, &sources, &hidden);
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
        let offers = models.iter().map(|model| offer(model, pattern)).collect::<Vec<_>>().join("; ");
        let warning = format!("--hide {pattern}: no node, mesh or material has such a name; there are {offers}");
        models.iter_mut().take(1).for_each(|model| model.warnings.push(warning.clone()));
    }
    Ok(())
}

/// Returns the primitives that a pattern names. Without `*` it means the node of this name; without one, the mesh, then the
/// material, then everything below a node without a mesh, and at last the node with this glTF index.
fn named_by(sources: &[Source], pattern: &str) -> Vec<bool> {
    let way = |source: &Source| {
        let by_name = source.names.iter().position(|name| fits(name, pattern)).map(|way| way.min(3));
        by_name.or_else(|| (source.node.to_string() == pattern).then_some(4))
    };
    let ways: Vec<Option<usize>> = sources.iter().map(way).collect();
    let first = ways.iter().flatten().min();
    ways.iter().map(|way| way.is_some() && (pattern.contains('*') || way.as_ref() == first)).collect()
}

fn is_collider(source: &Source) -> bool {
    let fits_any = |name: &str, patterns: &[&str]| patterns.iter().any(|pattern| fits(name, pattern));
    // Copies have numbers.
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('.').to_owned();
    source.names.iter().any(|name| fits_any(name, &COLLIDERS))
        || source.names.iter().take(2).any(|name| fits_any(&stem(name), &SHAPES))
}

/// Returns the number of nodes that are hidden by default.
pub fn collider_count(model: &Model) -> usize {
    let sources = sources(model);
    let colliders = sources.iter().filter(|source| is_collider(source));
    colliders.map(|source| source.node).collect::<BTreeSet<u32>>().len()
}

/// Lists the parts of a model, one for each node with a mesh.
fn parts(model: &Model, sources: &[Source], hidden: &[bool]) -> Vec<Part> {
    let mut hidden = hidden.iter();
    let part = |of_node: &[Source]| {
        let used: BTreeSet<u32> = of_node.iter().map(|source| source.material).collect();
        let used = used.into_iter().filter_map(|material| model.materials.get(material as usize));
        let images = used.flat_map(Material::textures).map(|slot| slot.texture.image).collect::<BTreeSet<u32>>();
        let images = images.into_iter().filter_map(|image| model.images.get(image as usize));
        Part {
            name: of_node[0].names[0].to_owned(),
            triangles: of_node.iter().map(|source| source.triangles).sum(),
            material: name(of_node[0].names[2]),
            texture_bytes: images.map(|image| texture_bytes(image.width, image.height)).sum(),
            is_hidden: hidden.by_ref().take(of_node.len()).fold(true, |all, is_hidden| all & is_hidden),
            is_collider: of_node.iter().all(is_collider),
        }
    };
    sources.chunk_by(|a, b| a.node == b.node).map(part).collect()
}

/// Returns the patterns that hide these parts and no others.
pub fn patterns_for(parts: &[Part], is_hidden: impl Fn(&Part) -> bool) -> Vec<String> {
    let by_default = parts.iter().filter(|part| part.is_collider).all(&is_hidden);
    let named = parts.iter().filter(|part| is_hidden(part) && !(by_default && part.is_collider));
    let none = (!by_default).then(|| NONE.to_owned());
    none.into_iter().chain(named.map(|part| part.name.clone())).collect()
}

fn offer(model: &Model, pattern: &str) -> String {
    let sources = sources(model);
    let names = sources.iter().flat_map(|source| source.names.iter().take(3).map(|name| (*name, source.node)));
    let nodes: BTreeMap<&str, u32> = names.filter(|(name, _)| !name.is_empty()).collect();
    format!("{} in {}", names::offer(nodes.into_iter().map(|(name, node)| (node, Some(name))), pattern), model.name)
}

/// Returns whether a name is that of a pattern, in any case of letters. `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    const MOST_CHARS: usize = 128;
    let name: String = name.chars().take(MOST_CHARS).flat_map(char::to_lowercase).collect();
    let pattern = pattern.to_lowercase();
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

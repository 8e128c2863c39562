//! Puts the facts into words: a summary, then one table for each kind of thing that the model has.

use super::bounds_facts::BoundsFacts;
use super::clip_facts::{ClipFacts, TimelineFacts};
use super::facts::{ExtensionFacts, Facts, ImageFacts, MaterialFacts, NodeFacts, SceneFacts, SkinFacts};
use super::geometry_facts::{GeometryFacts, Histogram, PrimitiveFacts};
use super::level_facts::LevelFacts;
use crate::app::text::format_bytes as bytes;
use crate::app::text::{aligned, counted, name, name_or_none, plural};
use crate::model::text::{printable, shortened};

/// Deeper nodes are not indented further.
const MAX_INDENT_LEVELS: usize = 16;
/// The largest number of primitives in the text. The JSON has all of them.
const MAX_PRIMITIVE_ROWS: usize = 24;

/// The cells of a table, row by row.
type Rows = Vec<Vec<String>>;

/// Describes a model in sections with aligned columns, on a page of this width.
#[must_use]
pub fn report(facts: &Facts, columns: u16) -> String {
    let sections: [(&str, usize, Rows); 11] = [
        ("nodes", facts.nodes.len(), facts.nodes.iter().map(node).collect()),
        ("skins", facts.skins.len(), with_head(&SKIN_HEAD, facts.skins.iter().enumerate().map(skin))),
        ("clips", facts.clips.len(), with_head(&CLIP_HEAD, facts.clips.iter().enumerate().map(clip))),
        ("primitives (mesh.primitive)", facts.geometry.by_primitive.len(), primitives(facts)),
        ("levels of detail", facts.levels.len(), with_head(&LEVEL_HEAD, facts.levels.iter().map(level))),
        (
            "materials",
            facts.materials.len(),
            with_head(&MATERIAL_HEAD, facts.materials.iter().enumerate().map(material)),
        ),
        ("images", facts.images.len(), with_head(&IMAGE_HEAD, facts.images.iter().enumerate().map(image))),
        ("extensions", facts.extensions.len(), extensions(facts)),
        ("scenes", facts.scenes.len(), scenes(facts)),
        ("cameras and lights", facts.cameras.len() + facts.lights.len(), cameras_and_lights(facts)),
        ("warnings", facts.warnings.len(), facts.warnings.iter().map(|warning| vec![warning.clone()]).collect()),
    ];
    let mut text = format!("{}\n{}", printable(facts.model), aligned(columns, 2, summary(facts)));
    for (title, count, rows) in sections.into_iter().filter(|(_, count, _)| *count > 0) {
        text += &format!("\n{title}: {count}\n{}", aligned(columns, 2, rows));
    }
    if facts.geometry.by_primitive.len() > MAX_PRIMITIVE_ROWS {
        text += &format!("\nOnly {MAX_PRIMITIVE_ROWS} primitives are listed; --json has all of them.\n");
    }
    text
}

fn with_head(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Rows {
    std::iter::once(head.iter().map(|&title| title.to_owned()).collect()).chain(rows).collect()
}

fn summary(facts: &Facts) -> Rows {
    let (file, geometry) = (&facts.file, &facts.geometry);
    let (instance, once) = (&facts.bytes_per_instance, &facts.static_bytes);
    let joint_count = facts.nodes.iter().filter(|node| node.joint).count();
    let per_vertex = geometry.influences as f64 / geometry.vertices.max(1) as f64;
    let optional = |is_present: bool, text: String| if is_present { text } else { String::new() };
    let morphs = optional(instance.morph_weights > 0, format!("{} of morph weights, ", instance.morph_weights));
    let rows = [
        ("file", optional(file.bytes > 0, bytes(file.bytes))),
        ("made by", file.generator.map_or_else(String::new, remark)),
        ("copyright", file.copyright.map_or_else(String::new, remark)),
        (
            "height",
            facts.bounds.map_or_else(String::new, |bounds| format!("{} in the rest pose", metres(bounds.height))),
        ),
        ("bounding box", facts.bounds.map_or_else(String::new, bounding_box)),
        (
            "nodes",
            format!(
                "{}, of which {joint_count} {}",
                facts.nodes.len(),
                if joint_count == 1 { "is a joint" } else { "are joints" }
            ),
        ),
        ("vertices", format!("{} after welding, {} in the file", geometry.vertices, geometry.file_vertices)),
        ("triangles", format!("{} in {}", triangles_lines_points(geometry), counted(geometry.draws, "draw"))),
        ("influences", format!("{per_vertex:.2} per vertex, at most {}", geometry.max_influences)),
        ("", vertices_by_influences(&geometry.influence_histogram)),
        ("palette", counted(facts.palette, "joint matrix")),
        ("morph targets", optional(geometry.morph_deltas > 0, morph_targets(facts))),
        (
            "per instance",
            format!(
                "{} bytes on the GPU: {} of joint matrices, {morphs}{} of skinned vertices, {} of placement; {} on the CPU",
                instance.total, instance.palette, instance.skinned_vertices, instance.instance_data, instance.cpu
            ),
        ),
        (
            "once",
            format!(
                "{} of geometry and {} of textures with mipmaps on the GPU; {} of clips and {} of model on the CPU",
                bytes(once.gpu_geometry),
                bytes(once.gpu_textures),
                bytes(once.cpu_clips),
                bytes(once.cpu_model)
            ),
        ),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    rows.map(|(title, value)| vec![title.to_owned(), value]).collect()
}

/// Returns a length with enough digits for a character, a coin or a castle.
fn metres(length: f32) -> String {
    if length == 0.0 {
        return "0 m".to_owned();
    }
    let decimals = (3 - length.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{length:.decimals$} m")
}

/// Returns `x -0.3050 m to 0.3050 m, y 0 m to 1.784 m, …`.
fn bounding_box(bounds: BoundsFacts) -> String {
    let axes = ["x", "y", "z"].into_iter().zip(bounds.min.into_iter().zip(bounds.max));
    axes.map(|(axis, (min, max))| format!("{axis} {} to {}", metres(min), metres(max))).collect::<Vec<_>>().join(", ")
}

/// Shortens a remark in the file to a line or two.
fn remark(text: &str) -> String {
    const MAX_CHARS: usize = 240;
    shortened(&printable(text), MAX_CHARS)
}

/// Returns `576` or `576, 32 lines, 12 points`, without the kinds that the model does not have.
fn triangles_lines_points(geometry: &GeometryFacts) -> String {
    let mut text = geometry.triangles.to_string();
    for (count, what) in [(geometry.lines, "line"), (geometry.points, "point")] {
        if count > 0 {
            text.push_str(&format!(", {}", counted(count, what)));
        }
    }
    text
}

fn morph_targets(facts: &Facts) -> String {
    let weights: usize = facts.nodes.iter().map(|node| node.morph_targets as usize).sum();
    let moved: usize = facts.geometry.by_primitive.iter().map(|primitive| primitive.morphed_vertices).sum();
    let deltas = counted(facts.geometry.morph_deltas, "delta");
    format!("{}, {} with {deltas}", counted(weights, "weight"), counted(moved, "vertex"))
}

/// Returns `3287 vertices with 1, 1848 with 2`, without the numbers of influences that no vertex has.
fn vertices_by_influences(histogram: &Histogram) -> String {
    let mut parts = by_influences(histogram);
    if let Some(first) = parts.first_mut() {
        // The first number gets the noun.
        let noun = if first.starts_with("1 ") { " vertex with" } else { " vertices with" };
        *first = first.replacen(" with", noun, 1);
    }
    parts.join(", ")
}

fn by_influences(histogram: &Histogram) -> Vec<String> {
    let counts = histogram.counts().into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(range, count)| format!("{count} with {range}")).collect()
}

fn node(node: &NodeFacts) -> Vec<String> {
    let indent = "  ".repeat(node.depth.min(MAX_INDENT_LEVELS));
    let mut notes = Vec::new();
    if node.joint {
        notes.push(format!("joint of {}", indices("skin", &node.skins)));
    }
    notes.extend(node.mesh.map(|mesh| format!("mesh {mesh}")));
    if node.morph_targets > 0 {
        notes.push(counted(node.morph_targets as usize, "morph target"));
    }
    if !node.in_scene {
        notes.push("not in the scene".to_owned());
    }
    vec![node.node.to_string(), format!("{indent}{}", name(node.name)), notes.join(", ")]
}

/// Returns `skin 0` or `skins 0, 1`. A long list is cut and says how many are missing.
fn indices<'i>(what: &str, list: impl IntoIterator<Item = &'i u32>) -> String {
    const MOST: usize = 6;
    let list: Vec<String> = list.into_iter().map(u32::to_string).collect();
    let shown = list.get(..MOST).unwrap_or(&list).join(", ");
    match list.len() {
        0 => format!("no {what}"),
        1 => format!("{what} {shown}"),
        count if count > MOST => format!("{} {shown} and {} more", plural(what), count - MOST),
        _ => format!("{} {shown}", plural(what)),
    }
}

const SKIN_HEAD: [&str; 5] = ["#", "name", "joints", "inverse binds", "used by"];

fn skin((index, skin): (usize, &SkinFacts)) -> Vec<String> {
    vec![
        index.to_string(),
        name_or_none(skin.name),
        skin.joints.to_string(),
        if skin.inverse_binds { "in the file" } else { "identity" }.to_owned(),
        indices("mesh", &skin.meshes),
    ]
}

const CLIP_HEAD: [&str; 6] = ["#", "name", "length", "move/turn/scale/morph", "interpolation", "keys"];

fn clip((index, clip): (usize, &ClipFacts)) -> Vec<String> {
    vec![
        index.to_string(),
        name_or_none(clip.name),
        format!("{:.3} s", clip.duration),
        format!("{}/{}/{}/{}", clip.translations, clip.rotations, clip.scales, clip.morph_weights),
        interpolations(clip),
        timelines(&clip.shared_timelines),
    ]
}

/// Returns `LINEAR`, or `19 LINEAR, 1 STEP` if the tracks differ.
fn interpolations(clip: &ClipFacts) -> String {
    let names: Vec<&str> = clip.interpolations.keys().copied().collect();
    match names[..] {
        [] => "no tracks".to_owned(),
        [only] => only.to_owned(),
        _ => {
            let parts = clip.interpolations.iter().map(|(name, count)| format!("{count} {name}"));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Returns `100 tracks of 2, 23 of 33`: how many tracks share their key times, and how many keys these are.
fn timelines(timelines: &[TimelineFacts]) -> String {
    const MOST: usize = 3;
    let mut sorted = timelines.to_vec();
    // The sort is stable: equal timelines stay in the file's order.
    sorted.sort_by_key(|timeline| std::cmp::Reverse(timeline.tracks));
    let part = |(rank, timeline): (usize, &TimelineFacts)| match rank {
        0 => format!("{} of {}", counted(timeline.tracks, "track"), timeline.keys),
        _ => format!("{} of {}", timeline.tracks, timeline.keys),
    };
    let mut parts: Vec<String> = sorted.iter().take(MOST).enumerate().map(part).collect();
    if sorted.len() > MOST {
        parts.push(counted(sorted.len() - MOST, "more timeline"));
    }
    parts.join(", ")
}

fn primitives(facts: &Facts) -> Rows {
    const HEAD: [&str; 6] = ["node", "mesh", "skin", "vertices", "in the file", "vertices by influences"];
    let all = &facts.geometry.by_primitive;
    let row = |primitive: &PrimitiveFacts| {
        let mut notes = by_influences(&primitive.influence_histogram);
        notes.extend(primitive.placement.map(|placement| format!("placement {placement}")));
        if !primitive.normals {
            notes.push("no normals".to_owned());
        }
        vec![
            primitive.node.to_string(),
            format!("{}.{}", primitive.mesh, primitive.primitive),
            primitive.skin.map_or_else(|| "rigid".to_owned(), |skin| skin.to_string()),
            primitive.vertices.to_string(),
            primitive.file_vertices.to_string(),
            notes.join(", "),
        ]
    };
    with_head(&HEAD, all.iter().take(MAX_PRIMITIVE_ROWS).map(row))
}

const LEVEL_HEAD: [&str; 5] = ["level", "triangles", "vertices", "error", "of the height"];

fn level(level: &LevelFacts) -> Vec<String> {
    vec![
        level.level.to_string(),
        level.triangles.to_string(),
        level.vertices.to_string(),
        format!("{:.3e}", level.error),
        level.error_by_height.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", 100.0 * share)),
    ]
}

const MATERIAL_HEAD: [&str; 6] = ["#", "name", "base colour", "metal, rough", "surface", "images"];

fn material((index, material): (usize, &MaterialFacts)) -> Vec<String> {
    let [r, g, b, a] = material.base_color_factor;
    vec![
        index.to_string(),
        name(material.name),
        format!("{r:.2} {g:.2} {b:.2} {a:.2}"),
        format!("{:.2}, {:.2}", material.metallic, material.roughness),
        surface(material),
        images_of(material),
    ]
}

/// Returns `lit, opaque, one-sided` and the like.
fn surface(material: &MaterialFacts) -> String {
    let lit = match (material.unlit, material.emission.iter().any(|&light| light > 0.0)) {
        (true, _) => "unlit",
        (false, true) => "lit and emissive",
        (false, false) => "lit",
    };
    format!(
        "{lit}, {}, {}",
        material.alpha_mode.to_lowercase(),
        if material.double_sided { "two-sided" } else { "one-sided" }
    )
}

/// Returns `base 0, normals 2` and the like, or `-` for a material without images.
fn images_of(material: &MaterialFacts) -> String {
    let slots = [
        ("base", material.base_color_image),
        ("metal-rough", material.metallic_roughness_image),
        ("occlusion", material.occlusion_image),
        ("emission", material.emissive_image),
        ("normals", material.normal_image),
    ];
    let present = slots.into_iter().filter_map(|(name, image)| Some(format!("{name} {}", image?)));
    let list = present.collect::<Vec<_>>().join(", ");
    if list.is_empty() { "-".to_owned() } else { list }
}

const IMAGE_HEAD: [&str; 6] = ["#", "name", "size", "format", "in the file", "on the GPU with mipmaps"];

fn image((index, image): (usize, &ImageFacts)) -> Vec<String> {
    vec![
        index.to_string(),
        name(image.name),
        format!("{}x{}", image.width, image.height),
        image.format.unwrap_or("-").to_owned(),
        image.encoded_bytes.map_or_else(|| "-".to_owned(), bytes),
        bytes(image.gpu_bytes),
    ]
}

fn extensions(facts: &Facts) -> Rows {
    let row = |extension: &ExtensionFacts| {
        let need = if extension.required { "required" } else { "used" };
        vec![name(extension.name), need.to_owned(), extension.support.to_owned()]
    };
    facts.extensions.iter().map(row).collect()
}

fn scenes(facts: &Facts) -> Rows {
    let row = |(index, scene): (usize, &SceneFacts)| {
        vec![index.to_string(), name_or_none(scene.name), if scene.shown { "shown" } else { "" }.to_owned()]
    };
    facts.scenes.iter().enumerate().map(row).collect()
}

fn cameras_and_lights(facts: &Facts) -> Rows {
    let row = |what: &'static str, note: &'static str| {
        move |name: &Option<String>| vec![what.to_owned(), name_or_none(name.as_deref()), note.to_owned()]
    };
    let cameras = facts.cameras.iter().map(row("camera", "ignored: the program has its own"));
    let lights = facts.lights.iter().map(row("light", "ignored: the program has a sun"));
    cameras.chain(lights).collect()
}

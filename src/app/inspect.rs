//! What is in a model: the facts behind `throng inspect`, for people ([`report`]) and for programs ([`json()`]).
//!
//! Both say the same, from the imported [`Model`] alone: no file and no GPU is touched here. Nothing recurses on the
//! node tree, and deep trees stop being indented, so that a hostile chain of nodes prints in bounded width.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::scene::load_model;
use crate::cli::InspectArgs;
use crate::model::{Clip, Interpolation, Material, MaterialTexture, Model, NO_PARENT, Skeleton, Track};
use crate::shader_types::{JointMatrix, SkinnedVertex};

/// Indentation of the node tree stops here.
const MAX_INDENT_LEVELS: usize = 24;

/// Runs the command.
///
/// # Errors
/// If the file cannot be loaded.
pub fn run(args: &InspectArgs) -> Result<()> {
    let model = load_model(args.model.as_ref(), &args.scene)?;
    super::print(&if args.json { format!("{:#}\n", json(&model)) } else { report(&model) })
}

/// A page of text: sections with aligned columns.
#[must_use]
pub fn report(model: &Model) -> String {
    let facts = Facts::of(model);
    let sections = [
        ("", summary(model, &facts)),
        ("nodes (* joint, + mesh, - outside the scene)", node_tree(model, &facts)),
        ("skins", skins(model)),
        ("clips", clips(model)),
        ("materials", materials(model)),
        ("images", images(model)),
        ("warnings", model.warnings.iter().map(|warning| vec![warning.clone()]).collect()),
    ];
    let mut text = format!("{}\n", model.name);
    for (title, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
        if !title.is_empty() {
            // Writing to a String cannot fail; so below.
            let _ = write!(text, "\n{title}: {}\n", rows.len());
        }
        push_aligned(&mut text, rows);
    }
    text
}

/// The same facts as one JSON object.
#[must_use]
pub fn json(model: &Model) -> Value {
    let facts = Facts::of(model);
    let Model { skeleton, skins, geometry, materials, images, clips, .. } = model;
    let nodes: Vec<Value> = (0..skeleton.len())
        .map(|node| {
            let parent = skeleton.parents[node];
            json!({
                "node": skeleton.source_nodes[node],
                "name": skeleton.names[node],
                "parent": (parent != NO_PARENT).then(|| skeleton.source_nodes[parent as usize]),
                "joint": facts.is_joint[node],
                "mesh": facts.mesh_of[node],
                "in_scene": skeleton.in_scene[node],
            })
        })
        .collect();
    json!({
        "model": model.name,
        "nodes": nodes,
        "skins": skins.iter().map(|skin| json!({"name": skin.name, "joints": skin.joints.len()})).collect::<Vec<_>>(),
        "clips": clips.iter().map(clip_json).collect::<Vec<_>>(),
        "geometry": {
            "primitives": geometry.source_primitives.len(),
            "file_vertices": facts.file_vertex_count,
            "vertices": geometry.vertex_count(),
            "triangles": geometry.triangle_count(),
            "influences": geometry.influences.len(),
            "max_influences": facts.max_influence_count,
            "draws": geometry.draw_ranges.len(),
        },
        "materials": materials.iter().map(|material| json!({
            "name": material.name,
            "base_color_factor": material.base_color_factor.to_array(),
            "base_color_image": image_of(material.base_color_texture),
            "metallic": material.metallic,
            "roughness": material.roughness,
            "metallic_roughness_image": image_of(material.metallic_roughness_texture),
            "occlusion_image": image_of(material.occlusion_texture),
            "emission": material.emission.to_array(),
            "emissive_image": image_of(material.emissive_texture),
            "normal_image": image_of(material.normal_texture),
            "unlit": material.unlit,
            "alpha_mode": format!("{:?}", material.alpha_mode),
            "double_sided": material.double_sided,
        })).collect::<Vec<_>>(),
        "images": images.iter().map(|image| json!({
            "name": image.name, "width": image.width, "height": image.height, "bytes": image.rgba.len(),
        })).collect::<Vec<_>>(),
        "bytes_per_instance": {
            "palette": facts.palette_bytes,
            "skinned_vertices": facts.skinned_vertex_bytes,
            "total": facts.palette_bytes + facts.skinned_vertex_bytes,
        },
        "palette": model.palette.len(),
        "warnings": model.warnings,
    })
}

/// What both forms have to work out.
struct Facts {
    /// By skeleton node.
    is_joint: Vec<bool>,
    /// glTF mesh index by skeleton node.
    mesh_of: Vec<Option<u32>>,
    file_vertex_count: usize,
    max_influence_count: usize,
    palette_bytes: usize,
    skinned_vertex_bytes: usize,
}

impl Facts {
    fn of(model: &Model) -> Self {
        let Model { skeleton, geometry, .. } = model;
        let mut is_joint = vec![false; skeleton.len()];
        for &joint in model.skins.iter().flat_map(|skin| &skin.joints) {
            is_joint[joint as usize] = true;
        }
        let meshes: BTreeMap<u32, u32> = geometry.source_primitives.iter().map(|p| (p.node, p.mesh)).collect();
        Self {
            is_joint,
            mesh_of: skeleton.source_nodes.iter().map(|source| meshes.get(source).copied()).collect(),
            file_vertex_count: geometry.source_primitives.iter().map(|primitive| primitive.vertices.len()).sum(),
            max_influence_count: (0..geometry.vertex_count())
                .map(|v| geometry.influences_of(v).len())
                .max()
                .unwrap_or(0),
            palette_bytes: model.palette.len() * size_of::<JointMatrix>(),
            skinned_vertex_bytes: geometry.vertex_count() * size_of::<SkinnedVertex>()
                + geometry.tangents.len() * size_of::<u32>(),
        }
    }
}

type Rows = Vec<Vec<String>>;

/// Cells of a column start below each other; the last cell of a row may be as long as it likes.
fn push_aligned(text: &mut String, rows: &Rows) {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row.iter().take(row.len().saturating_sub(1))) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, " {cell:width$} ");
        }
        // Names come from the file, and a terminal obeys control characters.
        let line = line.replace(char::is_control, "\u{fffd}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn summary(model: &Model, facts: &Facts) -> Rows {
    let Model { skeleton, geometry, .. } = model;
    let joint_count = facts.is_joint.iter().filter(|&&is_joint| is_joint).count();
    let (vertices, file_vertices) = (geometry.vertex_count(), facts.file_vertex_count);
    let influences_per_vertex = geometry.influences.len() as f64 / vertices.max(1) as f64;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    vec![
        row("nodes", format!("{}, of which {joint_count} are joints", skeleton.len())),
        row("vertices", format!("{vertices} after welding, {file_vertices} in the file")),
        row("triangles", format!("{} in {}", geometry.triangle_count(), counted(geometry.draw_ranges.len(), "draw"))),
        row("influences", format!("{influences_per_vertex:.2} per vertex, at most {}", facts.max_influence_count)),
        row("palette", format!("{} joint matrices", model.palette.len())),
        row(
            "per instance",
            format!(
                "{} bytes: {} of joint matrices, {} of skinned vertices",
                facts.palette_bytes + facts.skinned_vertex_bytes,
                facts.palette_bytes,
                facts.skinned_vertex_bytes
            ),
        ),
    ]
}

fn node_tree(model: &Model, facts: &Facts) -> Rows {
    let Skeleton { parents, names, source_nodes, in_scene, .. } = &model.skeleton;
    // Parents come first, so one pass finds every depth.
    let mut depths: Vec<usize> = Vec::with_capacity(parents.len());
    for &parent in parents {
        depths.push(depths.get(parent as usize).map_or(0, |depth| depth + 1));
    }
    (0..parents.len())
        .map(|node| {
            let mark = |wanted: bool, mark: char| if wanted { mark } else { ' ' };
            let marks: String =
                [mark(facts.is_joint[node], '*'), mark(facts.mesh_of[node].is_some(), '+'), mark(!in_scene[node], '-')]
                    .iter()
                    .collect();
            let indent = "  ".repeat(depths[node].min(MAX_INDENT_LEVELS));
            vec![source_nodes[node].to_string(), marks, format!("{indent}{}", names[node])]
        })
        .collect()
}

fn skins(model: &Model) -> Rows {
    let row = |(index, skin): (usize, &crate::model::Skin)| {
        vec![index.to_string(), or_unnamed(skin.name.as_deref()), counted(skin.joints.len(), "joint")]
    };
    model.skins.iter().enumerate().map(row).collect()
}

fn clips(model: &Model) -> Rows {
    let row = |(index, clip): (usize, &Clip)| {
        let interpolations = interpolation_counts(clip);
        let interpolations: Vec<String> =
            interpolations.iter().map(|(name, count)| format!("{count} {name}")).collect();
        vec![
            index.to_string(),
            or_unnamed(clip.name.as_deref()),
            format!("{:.3} s", clip.duration_seconds),
            format!("{} on {}", counted(clip.track_count(), "track"), counted(clip.timelines.len(), "timeline")),
            interpolations.join(", "),
        ]
    };
    model.clips.iter().enumerate().map(row).collect()
}

fn clip_json(clip: &Clip) -> Value {
    json!({
        "name": clip.name,
        "duration": clip.duration_seconds,
        "translations": clip.translations.len(),
        "rotations": clip.rotations.len(),
        "scales": clip.scales.len(),
        "timelines": clip.timelines.len(),
        "interpolations": interpolation_counts(clip),
    })
}

/// Number of tracks by glTF's name of the interpolation.
fn interpolation_counts(clip: &Clip) -> BTreeMap<&'static str, usize> {
    fn kinds<T>(tracks: &[Track<T>]) -> impl Iterator<Item = Interpolation> {
        tracks.iter().map(|track| track.interpolation)
    }
    let mut counts = BTreeMap::new();
    for kind in kinds(&clip.translations).chain(kinds(&clip.rotations)).chain(kinds(&clip.scales)) {
        let name = match kind {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

fn image_of(texture: Option<MaterialTexture>) -> Option<u32> {
    texture.map(|texture| texture.texture.image)
}

fn materials(model: &Model) -> Rows {
    let row = |(index, material): (usize, &Material)| {
        let [r, g, b, a] = material.base_color_factor.to_array();
        let lit = match (material.unlit, material.emission.max_element() > 0.0) {
            (true, _) => "unlit",
            (false, true) => "lit and emissive",
            (false, false) => "lit",
        };
        let sides = if material.double_sided { "two-sided" } else { "one-sided" };
        vec![
            index.to_string(),
            material.name.clone(),
            format!("{r:.2} {g:.2} {b:.2} {a:.2}"),
            format!("metallic {:.2}, roughness {:.2}", material.metallic, material.roughness),
            format!("{lit}, {:?}, {sides}", material.alpha_mode),
            textures_of(material),
        ]
    };
    model.materials.iter().enumerate().map(row).collect()
}

fn textures_of(material: &Material) -> String {
    let slots = [
        ("base colour", material.base_color_texture),
        ("metallic-roughness", material.metallic_roughness_texture),
        ("occlusion", material.occlusion_texture),
        ("emission", material.emissive_texture),
        ("normals", material.normal_texture),
    ];
    let present = slots.into_iter().filter_map(|(name, texture)| Some((name, image_of(texture)?)));
    let list: Vec<String> = present.map(|(name, image)| format!("{name}: image {image}")).collect();
    if list.is_empty() { "no texture".to_owned() } else { list.join(", ") }
}

fn images(model: &Model) -> Rows {
    let row = |(index, image): (usize, &crate::model::Image)| {
        let size = format!("{}x{}", image.width, image.height);
        vec![index.to_string(), image.name.clone(), size, format!("{} bytes", image.rgba.len())]
    };
    model.images.iter().enumerate().map(row).collect()
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn or_unnamed(name: Option<&str>) -> String {
    name.unwrap_or("(unnamed)").to_owned()
}

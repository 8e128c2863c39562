//! `inspect`: the contents of a model file.
//!
//! [`facts`] derives everything from the imported [`Model`](crate::model::Model), without a GPU. The facts are the JSON for
//! programs, and the page for people is made from them. No function recurses on the node tree and indentation has a limit, so a
//! hostile chain of nodes prints in bounded width.

#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;
use glam::Vec3;

use super::advice::in_one_line;
use super::fact::{Fact, page};
use super::joint::joints;
use super::models::{load_model, set_in_motion};
use super::output::{print, print_json};
use super::text::{counted, page_columns};
use crate::animation::{PoseScratch, pose_model, skinned_positions};
use crate::cli::InspectArgs;
use crate::crowd::{ClipChoice, INSTANCE_BYTES, PoseSize};
use crate::model::{
    Clip, ExtensionSupport, Geometry, Image, Interpolation, Material, MaterialTexture, Model, MorphedNode, NO_PARENT,
    Role, SourcePrimitive, Topology, Track,
};
use crate::renderer::resident::model::geometry_bytes;
use crate::renderer::resident::texture::texture_bytes;
use crate::retarget::humanoid_of;
use crate::shader_types::{InstanceData, JointMatrix};

/// Runs the command.
pub fn run(args: &InspectArgs) -> Result<()> {
    if args.models.len() > 1 {
        return compare(args);
    }
    let model = load(args.models.first(), args)?;
    if args.json {
        print_json(&facts(&model, args.levels), true)
    } else {
        print(&report(&model, args.levels, page_columns()))
    }
}

/// Prints a line for each file. Those that cannot be read do not hide the others.
fn compare(args: &InspectArgs) -> Result<()> {
    let (mut models, mut errors) = (Vec::new(), Vec::new());
    for path in &args.models {
        match load(Some(path), args) {
            Ok(model) => models.push(if args.json { facts(&model, args.levels) } else { summary(&model) }),
            Err(error) => errors.push(error),
        }
    }
    if args.json {
        print_json(&Fact::List(models), true)?;
    } else {
        print(page(&Fact::from([("files", Fact::List(models))]), page_columns()).trim_start())?;
    }
    let count = counted(errors.len(), "file");
    let mut errors = errors.into_iter();
    let Some(first) = errors.next() else { return Ok(()) };
    for error in errors {
        tracing::warn!("{}", in_one_line(&error));
    }
    Err(first.context(format!("{count} cannot be read")))
}

fn load(path: Option<&PathBuf>, args: &InspectArgs) -> Result<Model> {
    let mut model = load_model(path, &args.clips, &args.file_scene)?;
    if args.levels {
        // Those of the moving character that the other commands draw.
        let mut drawn = model.clone();
        set_in_motion(&mut drawn, &ClipChoice::All)?;
        crate::levels::build(&mut drawn);
        model.geometry.coarser_levels = drawn.geometry.coarser_levels;
    }
    Ok(model)
}

/// Returns the line of a file in a table of several.
fn summary(model: &Model) -> Fact {
    let height = bounds(model).map(|(min, max)| max.y - min.y);
    Fact::from([
        ("name", model.name.as_str().into()),
        ("bytes", model.source.bytes.into()),
        ("height", height.into()),
        ("triangles", model.geometry.triangle_count().into()),
        ("joints", joints(model).len().into()),
        ("clips", model.clips.len().into()),
        ("morph_targets", model.morph_weight_count().into()),
        ("images", model.images.len().into()),
        ("warnings", model.warnings.len().into()),
    ])
}

/// Returns the numbers of things in a file.
fn contents(model: &Model) -> [(&'static str, Fact); 9] {
    [
        ("nodes", model.skeleton.len().into()),
        ("joints", joints(model).len().into()),
        ("skins", model.skins.len().into()),
        ("clips", model.clips.len().into()),
        ("morph_targets", model.morph_weight_count().into()),
        ("materials", model.materials.len().into()),
        ("images", model.images.len().into()),
        ("extensions", model.source.extensions.len().into()),
        ("warnings", model.warnings.len().into()),
    ]
}

/// Describes a model on a page of this width.
#[must_use]
pub fn report(model: &Model, with_levels: bool, columns: u16) -> String {
    page(&facts(model, with_levels), columns)
}

/// Returns the contents of a model, with its levels of detail on request. Scenes, skins and clips are listed by glTF index.
#[must_use]
pub fn facts(model: &Model, with_levels: bool) -> Fact {
    let bounds = bounds(model);
    let height = bounds.map(|(min, max)| max.y - min.y);
    let source = &model.source;
    let (roles_from, roles) = roles(model);
    let bounds = bounds.map_or(Fact::Absent, |(min, max)| {
        Fact::from([("min", vector(min)), ("max", vector(max)), ("height", height.into())])
    });
    // The page has a line for each fact, then a table for each list, in this order: what is asked first comes first.
    let mut facts = vec![
        ("model", model.name.as_str().into()),
        ("contents", Fact::from(contents(model))),
        ("attributes", source.attributes.iter().map(String::as_str).collect()),
        (
            "file",
            Fact::from([
                // Of the file and of all files that it refers to.
                ("bytes", source.bytes.into()),
                ("generator", source.generator.as_deref().into()),
                ("copyright", source.copyright.as_deref().into()),
            ]),
        ),
        ("humanoid", roles_from.as_deref().into()),
        // In metres, the unit of glTF. +Y is up.
        ("bounds", bounds),
        // The number of joint matrices of a pose.
        ("palette", model.palette.len().into()),
        ("bytes_per_instance", bytes_per_instance(model)),
        ("static_bytes", static_bytes(model)),
        ("warnings", model.warnings.iter().map(String::as_str).collect()),
    ];
    if with_levels {
        facts.push(("levels", levels(model, height.filter(|&height| height > 0.0))));
    }
    facts.extend([
        ("clips", model.clips.iter().map(clip).collect()),
        ("materials", model.materials.iter().map(material).collect()),
        ("images", images(model)),
        ("geometry", geometry(&model.geometry)),
        ("morph_targets", morph_targets(model)),
        ("extensions", extensions(model)),
        ("skins", skins(model)),
        ("scenes", scenes(model)),
        ("cameras", source.cameras.iter().map(|camera| camera.name.as_deref()).collect::<Fact>()),
        ("lights", source.lights.iter().map(Option::as_deref).collect()),
        ("roles", roles),
        ("nodes", nodes(model)),
    ]);
    Fact::Object(facts)
}

fn vector(vector: Vec3) -> Fact {
    vector.to_array().into_iter().collect()
}

/// Returns the corners of the box around the rest pose, or `None` for a model without vertices or with a rest pose that
/// overflows.
fn bounds(model: &Model) -> Option<(Vec3, Vec3)> {
    let mut positions: Vec<Vec3> = Vec::new();
    skinned_positions(model, pose_model(model, None, 0.0, &mut PoseScratch::for_model(model)), &mut positions);
    let first = *positions.first()?;
    let (min, max) = positions.iter().fold((first, first), |(min, max), &p| (min.min(p), max.max(p)));
    // A NaN does not become the smallest or the largest coordinate.
    let is_finite = positions.iter().all(|position| position.is_finite()) && (max - min).is_finite();
    is_finite.then_some((min, max))
}

fn extensions(model: &Model) -> Fact {
    let facts = model.source.extensions.iter().map(|extension| {
        let support = match extension.support {
            ExtensionSupport::Honoured => "honoured",
            ExtensionSupport::NotDrawn => "not drawn",
            ExtensionSupport::Ignored => "ignored",
        };
        [("name", extension.name.as_str().into()), ("required", extension.required.into()), ("support", support.into())]
    });
    facts.collect()
}

fn scenes(model: &Model) -> Fact {
    let shown = model.source.shown_scene.map(|scene| scene as usize);
    let scenes = model.source.scenes.iter().enumerate();
    scenes.map(|(index, name)| [("name", name.as_deref().into()), ("shown", (shown == Some(index)).into())]).collect()
}

/// Lists the nodes depth first: parents come before their children. Nodes, parents, skins and meshes are glTF indices.
fn nodes(model: &Model) -> Fact {
    let skeleton = &model.skeleton;
    let mut skins = vec![Vec::new(); skeleton.len()];
    for (index, skin) in (0..).zip(&model.skins) {
        for &joint in &skin.joints {
            // A skin may list a node several times.
            if let Some(skins) = skins.get_mut(joint as usize)
                && skins.last() != Some(&index)
            {
                skins.push(index);
            }
        }
    }
    let shown = model.geometry.source_primitives.iter();
    let meshes: BTreeMap<u32, u32> = shown.map(|primitive| (primitive.node, primitive.mesh)).collect();
    let weights: BTreeMap<u32, u32> =
        skeleton.morphed_nodes.iter().map(|morphed| (morphed.node, morphed.weight_count)).collect();
    let node = |(index, skins): (u32, Vec<u32>)| {
        let at = index as usize;
        let (node, parent) = (skeleton.source_nodes[at], skeleton.parents[at]);
        let morph_targets = weights.get(&index).copied().unwrap_or_default();
        [
            ("node", node.into()),
            ("name", skeleton.names[at].as_str().into()),
            ("parent", (parent != NO_PARENT).then(|| skeleton.source_nodes[parent as usize]).into()),
            ("joint", (!skins.is_empty()).into()),
            // The skins that have this node as a joint.
            ("skins", skins.into_iter().collect()),
            ("mesh", meshes.get(&node).copied().into()),
            ("morph_targets", u64::from(morph_targets).into()),
            ("in_scene", skeleton.in_scene[at].into()),
        ]
    };
    (0..).zip(skins).map(node).collect()
}

/// Lists the morph targets of each mesh node, with the weights of the rest pose.
fn morph_targets(model: &Model) -> Fact {
    let skeleton = &model.skeleton;
    let shown = model.geometry.source_primitives.iter();
    let meshes: BTreeMap<u32, u32> = shown.map(|primitive| (primitive.node, primitive.mesh)).collect();
    let of_node = |morphed: &MorphedNode| {
        let node = skeleton.source_nodes[morphed.node as usize];
        let mesh = meshes.get(&node).copied();
        let weights = (morphed.first_weight as usize..).take(morphed.weight_count as usize);
        let target = move |weight: usize| {
            let name = skeleton.morph_names.get(weight).map(AsRef::as_ref);
            [
                ("name", name.into()),
                ("mesh", mesh.into()),
                ("node", node.into()),
                ("weight", skeleton.rest.morph_weights[weight].into()),
            ]
        };
        weights.map(target)
    };
    skeleton.morphed_nodes.iter().flat_map(of_node).collect()
}

fn skins(model: &Model) -> Fact {
    let mut meshes = vec![BTreeSet::new(); model.skins.len()];
    for primitive in &model.geometry.source_primitives {
        if let Some(meshes) = primitive.skin.and_then(|skin| meshes.get_mut(skin as usize)) {
            meshes.insert(primitive.mesh);
        }
    }
    let facts = model.skins.iter().zip(meshes).map(|(skin, meshes)| {
        [
            ("name", skin.name.as_deref().into()),
            ("joints", skin.joints.len().into()),
            // Without inverse bind matrices in the file they are identity.
            ("inverse_binds", skin.has_inverse_binds.into()),
            // The meshes that the scene shows with this skin.
            ("meshes", meshes.into_iter().collect()),
        ]
    });
    facts.collect()
}

/// Returns where the roles of a humanoid come from, and the node of each role, by glTF index.
fn roles(model: &Model) -> (Option<String>, Fact) {
    let Some(humanoid) = humanoid_of(model) else { return (None, Fact::List(Vec::new())) };
    let role = |(role, node): (Role, u32)| {
        let at = node as usize;
        [
            ("role", role.name().into()),
            ("node", model.skeleton.source_nodes[at].into()),
            ("name", model.skeleton.names[at].as_str().into()),
        ]
    };
    (Some(humanoid.source.to_string()), humanoid.roles().map(role).collect())
}

fn clip(clip: &Clip) -> Fact {
    let (mut interpolations, mut keys) = (BTreeMap::new(), 0);
    let mut tracks_of = vec![0_usize; clip.timelines.len()];
    for (timeline, interpolation, _) in tracks(clip) {
        let name = match interpolation {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::CubicSpline => "CUBICSPLINE",
        };
        *interpolations.entry(name).or_insert(0_usize) += 1;
        if let Some(times) = clip.timelines.get(timeline as usize) {
            tracks_of[timeline as usize] += 1;
            keys += times.len();
        }
    }
    let timelines = clip.timelines.iter().zip(tracks_of);
    Fact::from([
        ("name", clip.name.as_deref().into()),
        // The file that the clip was borrowed from.
        ("file", clip.file.as_deref().into()),
        ("duration", clip.duration_seconds.into()),
        // The numbers of tracks.
        ("translations", clip.translations.len().into()),
        ("rotations", clip.rotations.len().into()),
        ("scales", clip.scales.len().into()),
        ("morph_weights", clip.morph_weights.len().into()),
        // The number of distinct lists of key times.
        ("timelines", clip.timelines.len().into()),
        // The number of tracks for each interpolation.
        (
            "interpolations",
            Fact::Object(interpolations.into_iter().map(|(name, count)| (name, count.into())).collect()),
        ),
        // The number of keys of all tracks.
        ("keys", keys.into()),
        (
            "shared_timelines",
            timelines.map(|(times, tracks)| [("keys", times.len().into()), ("tracks", tracks.into())]).collect(),
        ),
        ("bytes", clip_bytes(clip).into()),
    ])
}

/// Iterates over the timeline, the interpolation and the size in bytes of all tracks.
fn tracks(clip: &Clip) -> impl Iterator<Item = (u32, Interpolation, usize)> {
    fn of<T>(tracks: &[Track<T>]) -> impl Iterator<Item = (u32, Interpolation, usize)> {
        tracks.iter().map(|track| (track.timeline, track.interpolation, size_of_val(&track.values[..])))
    }
    let morphs = clip.morph_weights.iter();
    let morphs = morphs.map(|track| (track.timeline, track.interpolation, size_of_val(&track.values[..])));
    of(&clip.translations).chain(of(&clip.rotations)).chain(of(&clip.scales)).chain(morphs)
}

/// Returns the size of key times and values.
fn clip_bytes(clip: &Clip) -> usize {
    let times: usize = clip.timelines.iter().map(|times| size_of_val(&times[..])).sum();
    times + tracks(clip).map(|(.., bytes)| bytes).sum::<usize>()
}

fn geometry(geometry: &Geometry) -> Fact {
    let influences = Influences::of(geometry, 0..geometry.vertex_count());
    let shown = || geometry.source_primitives.iter();
    // For each vertex the last primitive that was described and uses it, from 1 on.
    let mut last_primitives = vec![0; geometry.vertex_count()];
    let by_primitive = (1..).zip(shown()).map(|(number, primitive)| {
        let is_new = |vertex: &usize| {
            last_primitives.get_mut(*vertex).is_some_and(|last| std::mem::replace(last, number) != number)
        };
        // A vertex that two primitives share counts for both.
        let vertices: Vec<usize> = primitive.vertices.iter().map(|&vertex| vertex as usize).filter(is_new).collect();
        primitive_facts(geometry, primitive, vertices)
    });
    Fact::from([
        // One that several nodes show counts for each of them.
        ("primitives", shown().count().into()),
        ("file_vertices", shown().map(|primitive| primitive.vertices.len()).sum::<usize>().into()),
        // After welding.
        ("vertices", geometry.vertex_count().into()),
        ("triangles", geometry.triangle_count().into()),
        ("lines", geometry.count_of(Topology::Lines).into()),
        ("points", geometry.count_of(Topology::Points).into()),
        ("morph_deltas", geometry.morph_deltas.len().into()),
        ("influences", geometry.influences.len().into()),
        ("max_influences", influences.most.into()),
        ("draws", geometry.draw_ranges.len().into()),
        ("influence_histogram", influences.histogram()),
        ("by_primitive", by_primitive.collect()),
    ])
}

fn primitive_facts(geometry: &Geometry, primitive: &SourcePrimitive, vertices: Vec<usize>) -> Fact {
    let morphed = vertices.iter().filter(|&&vertex| !geometry.morph_deltas_of(vertex).is_empty()).count();
    let vertex_count = vertices.len();
    let influences = Influences::of(geometry, vertices);
    let mut facts = vec![
        ("node", primitive.node.into()),
        ("mesh", primitive.mesh.into()),
        ("primitive", primitive.primitive.into()),
        ("skin", primitive.skin.into()),
        ("file_vertices", primitive.vertices.len().into()),
        ("vertices", vertex_count.into()),
        ("normals", primitive.has_normals.into()),
        ("morphed_vertices", morphed.into()),
        ("max_influences", influences.most.into()),
        ("influence_histogram", influences.histogram()),
    ];
    // EXT_mesh_gpu_instancing.
    if let Some(placement) = primitive.placement {
        facts.insert(4, ("placement", placement.into()));
    }
    Fact::Object(facts)
}

/// The numbers of joints that influence vertices.
#[derive(Default)]
struct Influences {
    /// The number of vertices with 1, 2, 3-4, 5-8 and more of them.
    counts: [usize; 5],
    most: usize,
}

impl Influences {
    fn of(geometry: &Geometry, vertices: impl IntoIterator<Item = usize>) -> Self {
        let mut influences = Self::default();
        for vertex in vertices {
            let count = geometry.influences_of(vertex).len();
            influences.most = influences.most.max(count);
            influences.counts[match count {
                0 | 1 => 0,
                2 => 1,
                3 | 4 => 2,
                5..=8 => 3,
                _ => 4,
            }] += 1;
        }
        influences
    }

    fn histogram(&self) -> Fact {
        Fact::Object(["1", "2", "3-4", "5-8", "more"].into_iter().zip(self.counts.map(Fact::from)).collect())
    }
}

/// Lists full detail and all coarser levels.
fn levels(model: &Model, height: Option<f32>) -> Fact {
    let geometry = &model.geometry;
    let level = |level: u32, triangles: usize, (vertices, joints): (usize, usize), error: f32| {
        [
            ("level", level.into()),
            ("triangles", triangles.into()),
            // That a pose of the level skins.
            ("vertices", vertices.into()),
            // The joint matrices that it needs.
            ("joints", joints.into()),
            // How much a picture loses, as a distance in units of model space.
            ("error", error.into()),
            // As a share of the height of the rest pose.
            ("error_by_height", height.map(|height| error / height).into()),
        ]
    };
    let full = level(0, geometry.triangle_count(), (geometry.vertex_count(), model.palette.len()), 0.0);
    let coarser = (1..).zip(&geometry.coarser_levels).map(|(number, coarser)| {
        let ranges = geometry.draw_ranges.iter().zip(&coarser.ranges);
        let triangles = ranges.filter(|(drawn, _)| drawn.topology == Topology::Triangles);
        let triangles = triangles.map(|(_, range)| range.len() / 3).sum();
        let size = (coarser.vertex_count as usize, coarser.joint_count as usize);
        level(number, triangles, size, coarser.error)
    });
    std::iter::once(full).chain(coarser).collect()
}

fn material(material: &Material) -> Fact {
    let is_usual = material.has_usual_reflectance();
    let image = |texture: Option<MaterialTexture>| Fact::from(texture.map(|texture| texture.texture.image));
    Fact::from([
        ("name", material.name.as_str().into()),
        ("base_color_factor", material.base_color_factor.to_array().into_iter().collect()),
        // The index in the list of images.
        ("base_color_image", image(material.base_color_texture)),
        ("metallic", material.metallic.into()),
        ("roughness", material.roughness.into()),
        // At normal and at grazing incidence, if they are not glTF's own.
        ("dielectric_reflectance", if is_usual { Fact::Absent } else { vector(material.dielectric_reflectance) }),
        ("grazing_reflectance", (!is_usual).then_some(material.grazing_reflectance).into()),
        ("metallic_roughness_image", image(material.metallic_roughness_texture)),
        ("occlusion_image", image(material.occlusion_texture)),
        // In linear RGB.
        ("emission", vector(material.emission)),
        ("emissive_image", image(material.emissive_texture)),
        ("normal_image", image(material.normal_texture)),
        ("unlit", material.unlit.into()),
        ("alpha_mode", format!("{:?}", material.alpha_mode).as_str().into()),
        ("double_sided", material.double_sided.into()),
    ])
}

fn images(model: &Model) -> Fact {
    let sources = model.source.images.iter().map(Some).chain(std::iter::repeat(None));
    let used_by = |index: u32| {
        let uses = move |material: &Material| material.textures().any(|texture| texture.texture.image == index);
        (0..).zip(&model.materials).filter(move |(_, material)| uses(material)).map(|(index, _): (u32, _)| index)
    };
    let facts = model.images.iter().zip(sources).zip(0..).map(|((image, source), index)| {
        [
            ("name", image.name.as_str().into()),
            ("materials", used_by(index).collect()),
            // The glTF index.
            ("image", source.map(|source| source.index).into()),
            ("width", u64::from(image.width).into()),
            ("height", u64::from(image.height).into()),
            // Decoded.
            ("bytes", image.decoded_bytes().into()),
            ("format", source.map(|source| source.format).into()),
            // In the file.
            ("encoded_bytes", source.map(|source| source.bytes).into()),
            // With mipmaps.
            ("gpu_bytes", texture_bytes(image.width, image.height).into()),
        ]
    });
    facts.collect()
}

/// Returns the bytes that each instance adds. Those on the GPU exist once for each frame in flight.
fn bytes_per_instance(model: &Model) -> Fact {
    let palette = model.palette.len() * size_of::<JointMatrix>();
    let size = PoseSize::of(model);
    let skinned_vertices = size.skinned_bytes(size.level(0).vertex_count) as usize;
    let morph_weights = model.morph_weight_count() * size_of::<f32>();
    let instance_data = size_of::<InstanceData>();
    Fact::from([
        ("palette", palette.into()),
        ("skinned_vertices", skinned_vertices.into()),
        ("morph_weights", morph_weights.into()),
        ("instance_data", instance_data.into()),
        ("total", (palette + skinned_vertices + morph_weights + instance_data).into()),
        ("cpu", INSTANCE_BYTES.into()),
    ])
}

/// Returns the bytes that the model needs once, for any number of instances.
fn static_bytes(model: &Model) -> Fact {
    let textures = model.images.iter().map(|image| texture_bytes(image.width, image.height));
    let images: usize = model.images.iter().map(Image::kept_bytes).sum();
    Fact::from([
        ("gpu_geometry", geometry_bytes(&model.geometry).into()),
        // With mipmaps. An image that several materials use counts once.
        ("gpu_textures", textures.sum::<u64>().into()),
        // Key times and values.
        ("cpu_clips", model.clips.iter().map(clip_bytes).sum::<usize>().into()),
        // Geometry and encoded images.
        ("cpu_model", (model.geometry.bytes() + images).into()),
    ])
}

//! The facts of `throng inspect` as plain values. The JSON is these structs; the text is made from them.

use std::collections::BTreeSet;

use serde::Serialize;

use super::bounds_facts::BoundsFacts;
use super::clip_facts::ClipFacts;
use super::geometry_facts::GeometryFacts;
use super::level_facts::LevelFacts;
use crate::crowd::{INSTANCE_BYTES, PoseSize};
use crate::model::{
    Extension, ExtensionSupport, Image, ImageSource, Material, MaterialTexture, Model, NO_PARENT, Skin,
};
use crate::renderer::resident::model::geometry_bytes;
use crate::renderer::resident::texture::texture_bytes;
use crate::shader_types::{InstanceData, JointMatrix};

/// The contents of a model. Scenes, skins and clips are listed by glTF index.
#[derive(Debug, Serialize)]
pub struct Facts<'m> {
    pub(super) model: &'m str,
    pub(super) file: FileFacts<'m>,
    pub(super) extensions: Vec<ExtensionFacts<'m>>,
    pub(super) scenes: Vec<SceneFacts<'m>>,
    /// The nodes, depth first: parents come before their children.
    pub(super) nodes: Vec<NodeFacts<'m>>,
    pub(super) skins: Vec<SkinFacts<'m>>,
    pub(super) clips: Vec<ClipFacts<'m>>,
    pub(super) geometry: GeometryFacts,
    /// The box of the rest pose; `None` without vertices, or if it overflows.
    pub(super) bounds: Option<BoundsFacts>,
    /// The levels of detail, finest first; only if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) levels: Vec<LevelFacts>,
    pub(super) materials: Vec<MaterialFacts<'m>>,
    pub(super) images: Vec<ImageFacts<'m>>,
    /// The names of the cameras, which the program does not use.
    pub(super) cameras: &'m [Option<String>],
    /// The names of the lights, which the program does not use.
    pub(super) lights: &'m [Option<String>],
    /// The number of joint matrices of a pose.
    pub(super) palette: usize,
    pub(super) bytes_per_instance: InstanceBytes,
    pub(super) static_bytes: StaticBytes,
    pub(super) warnings: &'m [String],
}

#[derive(Debug, Serialize)]
pub(super) struct FileFacts<'m> {
    /// The size of the file and of all files that it refers to.
    pub bytes: u64,
    pub generator: Option<&'m str>,
    pub copyright: Option<&'m str>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExtensionFacts<'m> {
    pub name: &'m str,
    pub required: bool,
    /// `honoured`, `not drawn` or `ignored`.
    pub support: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct SceneFacts<'m> {
    pub name: Option<&'m str>,
    pub shown: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct NodeFacts<'m> {
    /// The node's glTF index. Parent, skins and mesh are glTF indices as well.
    pub node: u32,
    pub name: &'m str,
    pub parent: Option<u32>,
    pub joint: bool,
    /// The skins that have this node as a joint.
    pub skins: Vec<u32>,
    pub mesh: Option<u32>,
    /// The number of morph weights: one for each target of the mesh.
    pub morph_targets: u32,
    pub in_scene: bool,
    /// The number of ancestors.
    #[serde(skip)]
    pub depth: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct SkinFacts<'m> {
    pub name: Option<&'m str>,
    pub joints: usize,
    /// Whether the file has inverse bind matrices. Without them they are identity.
    pub inverse_binds: bool,
    /// The glTF indices of the meshes that the scene shows with this skin.
    pub meshes: BTreeSet<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct MaterialFacts<'m> {
    pub name: &'m str,
    pub base_color_factor: [f32; 4],
    /// The index in the list of images. The other images are indices as well.
    pub base_color_image: Option<u32>,
    pub metallic: f32,
    pub roughness: f32,
    pub metallic_roughness_image: Option<u32>,
    pub occlusion_image: Option<u32>,
    /// The emitted light in linear RGB.
    pub emission: [f32; 3],
    pub emissive_image: Option<u32>,
    pub normal_image: Option<u32>,
    pub unlit: bool,
    pub alpha_mode: String,
    pub double_sided: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ImageFacts<'m> {
    pub name: &'m str,
    /// The image's glTF index.
    pub image: Option<u32>,
    pub width: u32,
    pub height: u32,
    /// The decoded size.
    pub bytes: usize,
    pub format: Option<&'static str>,
    /// The size in the file.
    pub encoded_bytes: Option<u64>,
    /// The size on the GPU, with mipmaps.
    pub gpu_bytes: u64,
}

/// The bytes that each instance adds. Those on the GPU exist once for each frame in flight.
#[derive(Debug, Serialize)]
pub(super) struct InstanceBytes {
    /// The joint matrices on the GPU.
    pub palette: usize,
    /// The skinned vertices on the GPU.
    pub skinned_vertices: usize,
    /// The morph weights on the GPU.
    pub morph_weights: usize,
    /// The placement and the offsets on the GPU.
    pub instance_data: usize,
    /// The sum of the fields above.
    pub total: usize,
    /// The instance in the crowd on the CPU.
    pub cpu: usize,
}

/// The bytes that the model needs once, for any number of instances.
#[derive(Debug, Serialize)]
pub(super) struct StaticBytes {
    pub gpu_geometry: u64,
    /// The images with mipmaps. An image that several materials use counts once.
    pub gpu_textures: u64,
    /// The key times and values.
    pub cpu_clips: u64,
    /// The vertices, indices and encoded images that the CPU keeps.
    pub cpu_model: u64,
}

impl<'m> Facts<'m> {
    /// Collects the facts of an imported model, with its levels of detail on request.
    #[must_use]
    pub fn of(model: &'m Model, with_levels: bool) -> Self {
        let geometry = GeometryFacts::of(&model.geometry);
        let clips: Vec<ClipFacts> = model.clips.iter().map(ClipFacts::of).collect();
        let image_sources = model.source.images.iter().map(Some).chain(std::iter::repeat(None));
        let images: Vec<ImageFacts> =
            model.images.iter().zip(image_sources).map(|(image, source)| ImageFacts::of(image, source)).collect();
        let bounds = BoundsFacts::of(model);
        Self {
            model: &model.name,
            file: FileFacts {
                bytes: model.source.bytes,
                generator: model.source.generator.as_deref(),
                copyright: model.source.copyright.as_deref(),
            },
            extensions: model.source.extensions.iter().map(ExtensionFacts::of).collect(),
            scenes: scenes(model),
            nodes: nodes(model),
            skins: skins(model),
            materials: model.materials.iter().map(MaterialFacts::of).collect(),
            cameras: &model.source.cameras,
            lights: &model.source.lights,
            palette: model.palette.len(),
            bytes_per_instance: InstanceBytes::of(model),
            static_bytes: StaticBytes::of(model, &clips, &images),
            warnings: &model.warnings,
            geometry,
            bounds,
            levels: if with_levels { LevelFacts::of(model, bounds) } else { Vec::new() },
            clips,
            images,
        }
    }
}

impl<'m> ExtensionFacts<'m> {
    fn of(extension: &'m Extension) -> Self {
        let support = match extension.support {
            ExtensionSupport::Honoured => "honoured",
            ExtensionSupport::NotDrawn => "not drawn",
            ExtensionSupport::Ignored => "ignored",
        };
        Self { name: &extension.name, required: extension.required, support }
    }
}

fn scenes(model: &Model) -> Vec<SceneFacts<'_>> {
    let shown = model.source.shown_scene.map(|scene| scene as usize);
    let scenes = model.source.scenes.iter().enumerate();
    scenes.map(|(index, name)| SceneFacts { name: name.as_deref(), shown: shown == Some(index) }).collect()
}

fn nodes(model: &Model) -> Vec<NodeFacts<'_>> {
    let skeleton = &model.skeleton;
    let mut nodes: Vec<NodeFacts> = Vec::with_capacity(skeleton.len());
    for (index, (&parent, name)) in skeleton.parents.iter().zip(&skeleton.names).enumerate() {
        let above = (parent != NO_PARENT).then(|| nodes.get(parent as usize)).flatten();
        let (parent, depth) = (above.map(|above| above.node), above.map_or(0, |above| above.depth + 1));
        let node = skeleton.source_nodes.get(index).copied().unwrap_or_default();
        let in_scene = skeleton.in_scene.get(index) == Some(&true);
        nodes.push(NodeFacts {
            node,
            name,
            parent,
            joint: false,
            skins: Vec::new(),
            mesh: None,
            morph_targets: 0,
            in_scene,
            depth,
        });
    }
    for morphed in &skeleton.morphed_nodes {
        if let Some(node) = nodes.get_mut(morphed.node as usize) {
            node.morph_targets = morphed.weight_count;
        }
    }
    for (index, skin) in model.skins.iter().enumerate() {
        for &joint in &skin.joints {
            let Some(node) = nodes.get_mut(joint as usize) else { continue };
            node.joint = true;
            // A skin may list a node several times.
            if node.skins.last() != Some(&(index as u32)) {
                node.skins.push(index as u32);
            }
        }
    }
    let mut index_of = vec![None; skeleton.source_node_count as usize];
    for (index, node) in nodes.iter().enumerate() {
        if let Some(entry) = index_of.get_mut(node.node as usize) {
            *entry = Some(index);
        }
    }
    for primitive in &model.geometry.source_primitives {
        let index = index_of.get(primitive.node as usize).copied().flatten();
        if let Some(node) = index.and_then(|index| nodes.get_mut(index)) {
            node.mesh = Some(primitive.mesh);
        }
    }
    nodes
}

fn skins<'m>(model: &'m Model) -> Vec<SkinFacts<'m>> {
    let facts = |skin: &'m Skin| SkinFacts {
        name: skin.name.as_deref(),
        joints: skin.joints.len(),
        inverse_binds: skin.has_inverse_binds,
        meshes: BTreeSet::new(),
    };
    let mut skins: Vec<SkinFacts> = model.skins.iter().map(facts).collect();
    for primitive in &model.geometry.source_primitives {
        if let Some(skin) = primitive.skin.and_then(|skin| skins.get_mut(skin as usize)) {
            skin.meshes.insert(primitive.mesh);
        }
    }
    skins
}

impl<'m> MaterialFacts<'m> {
    fn of(material: &'m Material) -> Self {
        Self {
            name: &material.name,
            base_color_factor: material.base_color_factor.to_array(),
            base_color_image: image_of(material.base_color_texture),
            metallic: material.metallic,
            roughness: material.roughness,
            metallic_roughness_image: image_of(material.metallic_roughness_texture),
            occlusion_image: image_of(material.occlusion_texture),
            emission: material.emission.to_array(),
            emissive_image: image_of(material.emissive_texture),
            normal_image: image_of(material.normal_texture),
            unlit: material.unlit,
            alpha_mode: format!("{:?}", material.alpha_mode),
            double_sided: material.double_sided,
        }
    }
}

fn image_of(texture: Option<MaterialTexture>) -> Option<u32> {
    texture.map(|texture| texture.texture.image)
}

impl<'m> ImageFacts<'m> {
    fn of(image: &'m Image, source: Option<&ImageSource>) -> Self {
        Self {
            name: &image.name,
            image: source.map(|source| source.index),
            width: image.width,
            height: image.height,
            bytes: image.decoded_bytes(),
            format: source.map(|source| source.format),
            encoded_bytes: source.map(|source| source.bytes),
            gpu_bytes: texture_bytes(image.width, image.height),
        }
    }
}

impl InstanceBytes {
    fn of(model: &Model) -> Self {
        let palette = model.palette.len() * size_of::<JointMatrix>();
        let size = PoseSize::of(model);
        let skinned_vertices = size.skinned_bytes(size.vertex_count(0)) as usize;
        let morph_weights = model.morph_weight_count() * size_of::<f32>();
        let instance_data = size_of::<InstanceData>();
        let total = palette + skinned_vertices + morph_weights + instance_data;
        Self { palette, skinned_vertices, morph_weights, instance_data, total, cpu: INSTANCE_BYTES }
    }
}

impl StaticBytes {
    fn of(model: &Model, clips: &[ClipFacts], images: &[ImageFacts]) -> Self {
        let geometry = &model.geometry;
        let kept: usize = model.images.iter().map(Image::kept_bytes).sum();
        Self {
            gpu_geometry: geometry_bytes(geometry),
            gpu_textures: images.iter().map(|image| image.gpu_bytes).sum(),
            cpu_clips: clips.iter().map(|clip| clip.bytes).sum(),
            cpu_model: (geometry.bytes() + kept) as u64,
        }
    }
}

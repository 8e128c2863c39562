//! Everything that `throng inspect` says, as plain values: the JSON is these structs, the text is made from them.

use std::collections::BTreeSet;

use serde::Serialize;

use super::clip_facts::ClipFacts;
use super::geometry_facts::GeometryFacts;
use crate::crowd::INSTANCE_BYTES;
use crate::model::{
    Extension, ExtensionSupport, Image, ImageSource, Material, MaterialTexture, Model, NO_PARENT, Skin,
};
use crate::renderer::memory::{geometry_bytes, texture_bytes};
use crate::shader_types::{InstanceData, JointMatrix, SkinnedVertex};

/// What is in a model.
#[derive(Debug, Serialize)]
pub struct Facts<'m> {
    pub(super) model: &'m str,
    pub(super) file: FileFacts<'m>,
    pub(super) extensions: Vec<ExtensionFacts<'m>>,
    /// By glTF index.
    pub(super) scenes: Vec<SceneFacts<'m>>,
    /// Parents before children, depth first.
    pub(super) nodes: Vec<NodeFacts<'m>>,
    /// By glTF index.
    pub(super) skins: Vec<SkinFacts<'m>>,
    /// By glTF index.
    pub(super) clips: Vec<ClipFacts<'m>>,
    pub(super) geometry: GeometryFacts,
    pub(super) materials: Vec<MaterialFacts<'m>>,
    pub(super) images: Vec<ImageFacts<'m>>,
    /// Names; none is used.
    pub(super) cameras: &'m [Option<String>],
    /// Names; none is lit.
    pub(super) lights: &'m [Option<String>],
    /// Joint matrices that one instance streams.
    pub(super) palette: usize,
    pub(super) bytes_per_instance: InstanceBytes,
    pub(super) static_bytes: StaticBytes,
    pub(super) warnings: &'m [String],
}

#[derive(Debug, Serialize)]
pub(super) struct FileFacts<'m> {
    /// Of the file and of all files read for it.
    pub bytes: u64,
    pub generator: Option<&'m str>,
    pub copyright: Option<&'m str>,
}

#[derive(Debug, Serialize)]
pub(super) struct ExtensionFacts<'m> {
    pub name: &'m str,
    pub required: bool,
    /// `honoured`, `not drawn`, `ignored`.
    pub support: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct SceneFacts<'m> {
    pub name: Option<&'m str>,
    pub shown: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct NodeFacts<'m> {
    /// glTF index.
    pub node: u32,
    pub name: &'m str,
    /// glTF index.
    pub parent: Option<u32>,
    pub joint: bool,
    /// The skins that it is a joint of.
    pub skins: Vec<u32>,
    /// glTF index.
    pub mesh: Option<u32>,
    /// Weights that it has, one for each target of its mesh.
    pub morph_targets: u32,
    pub in_scene: bool,
    /// 0 for a root.
    #[serde(skip)]
    pub depth: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct SkinFacts<'m> {
    pub name: Option<&'m str>,
    pub joints: usize,
    /// Whether the file has them; else they are identity.
    pub inverse_binds: bool,
    /// glTF indices of the meshes that nodes of the scene show with it.
    pub meshes: BTreeSet<u32>,
}

#[derive(Debug, Serialize)]
pub(super) struct MaterialFacts<'m> {
    pub name: &'m str,
    pub base_color_factor: [f32; 4],
    /// Index into the list of images; so below.
    pub base_color_image: Option<u32>,
    pub metallic: f32,
    pub roughness: f32,
    pub metallic_roughness_image: Option<u32>,
    pub occlusion_image: Option<u32>,
    /// Linear RGB.
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
    /// glTF index.
    pub image: Option<u32>,
    pub width: u32,
    pub height: u32,
    /// Decoded.
    pub bytes: usize,
    pub format: Option<&'static str>,
    /// In the file.
    pub encoded_bytes: Option<u64>,
    /// With mipmaps.
    pub gpu_bytes: u64,
}

/// What each instance adds.
#[derive(Debug, Serialize)]
pub(super) struct InstanceBytes {
    /// On the GPU, for each frame in flight.
    pub palette: usize,
    /// On the GPU.
    pub skinned_vertices: usize,
    /// On the GPU, for each frame in flight.
    pub morph_weights: usize,
    /// On the GPU, for each frame in flight: placement and offsets.
    pub instance_data: usize,
    /// On the GPU, one of each of the above.
    pub total: usize,
    /// In the crowd on the CPU.
    pub cpu: usize,
}

/// What the model takes once, however many instances there are.
#[derive(Debug, Serialize)]
pub(super) struct StaticBytes {
    pub gpu_geometry: u64,
    /// With mipmaps; an image that several materials show is there once.
    pub gpu_textures: u64,
    /// Key times and values.
    pub cpu_clips: u64,
    /// Vertices, indices and decoded images, which are kept.
    pub cpu_model: u64,
}

impl<'m> Facts<'m> {
    /// Of an imported model.
    #[must_use]
    pub fn of(model: &'m Model) -> Self {
        let geometry = GeometryFacts::of(&model.geometry);
        let clips: Vec<ClipFacts> = model.clips.iter().map(ClipFacts::of).collect();
        let image_sources = model.source.images.iter().map(Some).chain(std::iter::repeat(None));
        let images: Vec<ImageFacts> =
            model.images.iter().zip(image_sources).map(|(image, source)| ImageFacts::of(image, source)).collect();
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
            // A node may repeat among the joints of one skin.
            if node.skins.last() != Some(&(index as u32)) {
                node.skins.push(index as u32);
            }
        }
    }
    let mut index_of = vec![None; skeleton.source_node_count as usize];
    for (index, node) in nodes.iter().enumerate() {
        if let Some(place) = index_of.get_mut(node.node as usize) {
            *place = Some(index);
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

impl<'m> SkinFacts<'m> {
    fn unused(skin: &'m Skin) -> Self {
        let name = skin.name.as_deref();
        Self { name, joints: skin.joints.len(), inverse_binds: skin.has_inverse_binds, meshes: BTreeSet::new() }
    }
}

fn skins(model: &Model) -> Vec<SkinFacts<'_>> {
    let mut skins: Vec<SkinFacts> = model.skins.iter().map(SkinFacts::unused).collect();
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
            bytes: image.rgba.len(),
            format: source.map(|source| source.format),
            encoded_bytes: source.map(|source| source.bytes),
            gpu_bytes: texture_bytes(image.width, image.height),
        }
    }
}

impl InstanceBytes {
    fn of(model: &Model) -> Self {
        let palette = model.palette.len() * size_of::<JointMatrix>();
        let tangents = model.geometry.tangents.len() * size_of::<u32>();
        let skinned_vertices = model.geometry.vertex_count() * size_of::<SkinnedVertex>() + tangents;
        let morph_weights = model.morph_weight_count() * size_of::<f32>();
        let instance_data = size_of::<InstanceData>();
        let total = palette + skinned_vertices + morph_weights + instance_data;
        Self { palette, skinned_vertices, morph_weights, instance_data, total, cpu: INSTANCE_BYTES }
    }
}

impl StaticBytes {
    fn of(model: &Model, clips: &[ClipFacts], images: &[ImageFacts]) -> Self {
        let geometry = &model.geometry;
        let cpu_geometry = size_of_val(&geometry.positions[..])
            + size_of_val(&geometry.normals[..])
            + size_of_val(&geometry.tangents[..])
            + size_of_val(&geometry.tex_coords[..])
            + size_of_val(&geometry.colors[..])
            + size_of_val(&geometry.influence_starts[..])
            + size_of_val(&geometry.influences[..])
            + size_of_val(&geometry.morph_delta_starts[..])
            + size_of_val(&geometry.morph_deltas[..])
            + size_of_val(&geometry.indices[..]);
        let decoded: usize = images.iter().map(|image| image.bytes).sum();
        Self {
            gpu_geometry: geometry_bytes(geometry),
            gpu_textures: images.iter().map(|image| image.gpu_bytes).sum(),
            cpu_clips: clips.iter().map(|clip| clip.bytes).sum(),
            cpu_model: (cpu_geometry + decoded) as u64,
        }
    }
}

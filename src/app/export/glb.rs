//! The binary form of glTF 2.0, with the part of the materials that is drawn.
//!
//! In: the scene. Out: one buffer, which stands in a file without a name until its size is known, and the JSON that describes it.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use anyhow::{Context, Result};
use bytemuck::Pod;
use glam::{Affine2, DAffine3, DMat4, Vec2, Vec3};
use serde_json::{Value, json};

use super::scene::{Part, PosedScene};
use crate::app::output::folder_of;
use crate::model::{
    AlphaMode, Filter, Geometry, Material, MaterialTexture, Model, Texture, TextureSampler, Topology, Wrap,
};
use crate::shader_types::{unpack_octahedral, unpack_tangent};

/// Component types, and targets of buffer views.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const UNSIGNED_BYTE: u32 = 5121;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

pub(super) fn write(scene: &PosedScene, path: &Path, out: &mut impl Write) -> Result<()> {
    let bytes = BufWriter::new(tempfile::tempfile_in(folder_of(path))?);
    let mut bin = Bin { out: bytes, length: 0, views: vec![], accessors: vec![] };
    let mut surfaces = Surfaces::default();
    let (mut meshes, mut nodes, mut mesh_of) = (Vec::new(), Vec::new(), HashMap::new());
    for node in &scene.nodes {
        let key = (node.mesh, node.primitives.clone());
        let mesh = match mesh_of.get(&key) {
            Some(&mesh) => mesh,
            None => {
                let mut primitives = Vec::new();
                for part in scene.parts(node) {
                    let material = surfaces.material(part.mesh.model, part.range.material, &mut bin)?;
                    primitives.push(primitive(&part, material, &mut bin)?);
                }
                // A mesh has at least one primitive.
                let mesh = (!primitives.is_empty()).then_some(meshes.len());
                meshes.extend(mesh.map(|_| json!({"name": node.name, "primitives": primitives})));
                *mesh_of.entry(key).or_insert(mesh)
            }
        };
        let mut entry = json!({"name": node.name});
        set(&mut entry, "mesh", mesh);
        if node.world_from_model != DAffine3::IDENTITY {
            entry["matrix"] = DMat4::from(node.world_from_model).to_cols_array().as_slice().into();
        }
        nodes.push(entry);
    }
    let mut root = json!({
        "asset": {"version": "2.0", "generator": concat!("Throng ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": Vec::from_iter(0..nodes.len())}],
        "nodes": nodes,
        "meshes": meshes,
        "accessors": bin.accessors,
        "bufferViews": bin.views,
        "buffers": [{"byteLength": bin.length}],
    });
    let copyright = scene.meshes.iter().find_map(|mesh| mesh.model.source.copyright.as_deref());
    set(&mut root["asset"], "copyright", copyright);
    surfaces.list_in(&mut root);
    let mut json = serde_json::to_vec(&root)?;
    json.resize(json.len().next_multiple_of(4), b' ');
    let total = u32::try_from(12 + 8 + json.len() as u64 + 8 + bin.length).context("a .glb file has at most 4 GiB")?;
    let (json_length, bin_length) = (json.len() as u32, bin.length as u32);
    for word in [u32::from_le_bytes(*b"glTF"), 2, total, json_length, u32::from_le_bytes(*b"JSON")] {
        out.write_all(&word.to_le_bytes())?;
    }
    out.write_all(&json)?;
    out.write_all(&bin_length.to_le_bytes())?;
    out.write_all(b"BIN\0")?;
    let mut bytes = bin.out.into_inner()?;
    bytes.rewind()?;
    std::io::copy(&mut bytes, out)?;
    Ok(())
}

fn set(object: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[key] = value.into();
    }
}

struct Bin {
    out: BufWriter<File>,
    length: u64,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Bin {
    /// Appends bytes. Returns the index of their view.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> Result<usize> {
        let mut view = json!({"buffer": 0, "byteOffset": self.length, "byteLength": bytes.len()});
        set(&mut view, "target", target);
        self.out.write_all(bytes)?;
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.out.write_all(&[0; 4][..padding])?;
        self.length += (bytes.len() + padding) as u64;
        self.views.push(view);
        Ok(self.views.len() - 1)
    }

    /// Appends the elements of an accessor. Returns its index.
    fn accessor<T: Pod>(&mut self, component: u32, kind: &str, elements: &[T]) -> Result<usize> {
        // Only indices are scalars.
        let target = if kind == "SCALAR" { ELEMENT_ARRAY_BUFFER } else { ARRAY_BUFFER };
        let view = self.view(bytemuck::cast_slice(elements), Some(target))?;
        let normalized = component == UNSIGNED_BYTE;
        let count = elements.len();
        self.accessors.push(
            json!({"bufferView": view, "componentType": component, "normalized": normalized, "type": kind, "count": count}),
        );
        Ok(self.accessors.len() - 1)
    }
}

fn primitive(part: &Part, material: Option<usize>, bin: &mut Bin) -> Result<Value> {
    let (mesh, range) = (part.mesh, part.range);
    let Geometry { tex_coords, colors, .. } = &mesh.model.geometry;
    let vertices = || part.vertices.iter().map(|&vertex| vertex as usize);
    let mut attributes = json!({});
    let positions: Vec<[f32; 3]> = vertices().map(|vertex| mesh.vertices[vertex].position).collect();
    let all = || positions.iter().map(|&position| Vec3::from(position));
    let (min, max) = (all().reduce(Vec3::min).unwrap_or_default(), all().reduce(Vec3::max).unwrap_or_default());
    let position = bin.accessor(FLOAT, "VEC3", &positions)?;
    bin.accessors[position]["min"] = min.to_array().as_slice().into();
    bin.accessors[position]["max"] = max.to_array().as_slice().into();
    attributes["POSITION"] = position.into();
    if part.source.has_normals {
        let normals = vertices().map(|vertex| unpack_octahedral(mesh.vertices[vertex].normal_octahedral).to_array());
        attributes["NORMAL"] = bin.accessor(FLOAT, "VEC3", &Vec::from_iter(normals))?.into();
    }
    if range.has_tangents {
        let tangents = vertices().map(|vertex| unpack_tangent(mesh.tangents[vertex]).to_array());
        attributes["TANGENT"] = bin.accessor(FLOAT, "VEC4", &Vec::from_iter(tangents))?.into();
    }
    let samples = |set| mesh.model.materials[range.material as usize].samples(set);
    for (set, name) in [(0, "TEXCOORD_0"), (1, "TEXCOORD_1")] {
        if samples(set) || samples(1) {
            let set = vertices().map(|vertex| tex_coords[vertex][set as usize].to_array());
            attributes[name] = bin.accessor(FLOAT, "VEC2", &Vec::from_iter(set))?.into();
        }
    }
    if vertices().any(|vertex| colors[vertex] != [255; 4]) {
        let colors = vertices().map(|vertex| colors[vertex]);
        attributes["COLOR_0"] = bin.accessor(UNSIGNED_BYTE, "VEC4", &Vec::from_iter(colors))?.into();
    }
    let indices = bin.accessor(UNSIGNED_INT, "SCALAR", &part.indices)?;
    let mode = match range.topology {
        Topology::Points => 0,
        Topology::Lines => 1,
        Topology::Triangles => 4,
    };
    let mut primitive = json!({"attributes": attributes, "indices": indices, "mode": mode});
    set(&mut primitive, "material", material);
    Ok(primitive)
}

/// The materials of all models, with their textures and images.
#[derive(Default)]
struct Surfaces {
    /// The first material of each model, by the model's address.
    first_of: HashMap<*const Model, usize>,
    materials: Vec<Value>,
    textures: Vec<Value>,
    samplers: Vec<Value>,
    images: Vec<Value>,
    extensions: BTreeSet<&'static str>,
}

impl Surfaces {
    /// Returns the index of a model's material. `None` is glTF's default one. All materials of a model are added with the first.
    fn material(&mut self, model: &Model, material: u32, bin: &mut Bin) -> Result<Option<usize>> {
        let default = Material::default();
        let first = match self.first_of.get(&std::ptr::from_ref(model)) {
            Some(&first) => first,
            None => {
                let first = self.materials.len();
                let textures = self.add_textures(model, bin)?;
                // The importer has appended the default material where a primitive has none.
                let own = model.materials.iter().filter(|material| **material != default);
                let own: Vec<Value> = own.map(|material| self.describe(material, &textures)).collect();
                self.materials.extend(own);
                *self.first_of.entry(model).or_insert(first)
            }
        };
        let is_own = |material: &&Material| **material != default;
        let before = model.materials[..material as usize].iter().filter(is_own).count();
        Ok(is_own(&&model.materials[material as usize]).then_some(first + before))
    }

    /// Adds the images of a model, and its textures. Returns the index of each texture.
    fn add_textures(&mut self, model: &Model, bin: &mut Bin) -> Result<HashMap<Texture, usize>> {
        let first_image = self.images.len();
        let format_of = |image: usize| model.source.images.get(image).map_or("PNG", |source| source.format);
        for (index, image) in model.images.iter().enumerate() {
            let view = bin.view(image.encoded_bytes(), None)?;
            let mime_type = format!("image/{}", format_of(index).to_lowercase());
            self.images.push(json!({"name": image.name, "mimeType": mime_type, "bufferView": view}));
        }
        let mut index_of = HashMap::new();
        for texture in model.materials.iter().flat_map(Material::textures).map(|used| used.texture) {
            if index_of.contains_key(&texture) {
                continue;
            }
            index_of.insert(texture, self.textures.len());
            let image = first_image + texture.image as usize;
            let mut entry = json!({"sampler": self.samplers.len()});
            if format_of(texture.image as usize) == "WebP" {
                entry["extensions"] = json!({(self.uses("EXT_texture_webp")): {"source": image}});
            } else {
                entry["source"] = image.into();
            }
            self.textures.push(entry);
            self.samplers.push(sampler(texture.sampler));
        }
        Ok(index_of)
    }

    /// Notes that an extension is used. Returns its name.
    fn uses(&mut self, extension: &'static str) -> &'static str {
        self.extensions.insert(extension);
        extension
    }

    fn describe(&mut self, material: &Material, textures: &HashMap<Texture, usize>) -> Value {
        let mut texture = |slot: Option<MaterialTexture>, strength: Option<(&str, f32)>| {
            let slot = slot?;
            let mut info = json!({"index": textures.get(&slot.texture)?, "texCoord": slot.tex_coords});
            if slot.texture_from_vertex != Affine2::IDENTITY {
                let transform = texture_transform(slot.texture_from_vertex);
                info["extensions"] = json!({(self.uses("KHR_texture_transform")): transform});
            }
            if let Some((key, strength)) = strength {
                info[key] = strength.into();
            }
            Some(info)
        };
        let mut entry = json!({"name": material.name, "doubleSided": material.double_sided, "pbrMetallicRoughness": {
            "baseColorFactor": material.base_color_factor.to_array(),
            "metallicFactor": material.metallic,
            "roughnessFactor": material.roughness,
        }});
        let pbr = &mut entry["pbrMetallicRoughness"];
        set(pbr, "baseColorTexture", texture(material.base_color_texture, None));
        set(pbr, "metallicRoughnessTexture", texture(material.metallic_roughness_texture, None));
        let (scale, strength) = (("scale", material.normal_scale), ("strength", material.occlusion_strength));
        set(&mut entry, "normalTexture", texture(material.normal_texture, Some(scale)));
        set(&mut entry, "occlusionTexture", texture(material.occlusion_texture, Some(strength)));
        set(&mut entry, "emissiveTexture", texture(material.emissive_texture, None));
        let strength = material.emission.max_element().max(1.0);
        entry["emissiveFactor"] = (material.emission / strength).to_array().as_slice().into();
        let mut extensions = json!({});
        if strength > 1.0 {
            extensions[self.uses("KHR_materials_emissive_strength")] = json!({"emissiveStrength": strength});
        }
        if !material.has_usual_reflectance() {
            let grazing = material.grazing_reflectance;
            let color = material.dielectric_reflectance / (Material::REFLECTANCE * grazing.max(f32::MIN_POSITIVE));
            extensions[self.uses("KHR_materials_specular")] =
                json!({"specularFactor": grazing, "specularColorFactor": color.min(Vec3::MAX).to_array()});
        }
        if material.unlit {
            extensions[self.uses("KHR_materials_unlit")] = json!({});
        }
        if extensions != json!({}) {
            entry["extensions"] = extensions;
        }
        match material.alpha_mode {
            AlphaMode::Opaque => {}
            AlphaMode::Mask(cutoff) => {
                entry["alphaMode"] = "MASK".into();
                entry["alphaCutoff"] = cutoff.into();
            }
            AlphaMode::Blend => entry["alphaMode"] = "BLEND".into(),
        }
        entry
    }

    /// Adds all lists that are not empty to the JSON.
    fn list_in(self, root: &mut Value) {
        let Self { materials, textures, samplers, images, extensions, .. } = self;
        let lists = [("materials", materials), ("textures", textures), ("samplers", samplers), ("images", images)];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            root[name] = list.into();
        }
        if extensions.contains("EXT_texture_webp") {
            root["extensionsRequired"] = json!(["EXT_texture_webp"]);
        }
        if !extensions.is_empty() {
            root["extensionsUsed"] = json!(extensions);
        }
    }
}

fn sampler(TextureSampler { wrap_u, wrap_v, mag, min, mipmap }: TextureSampler) -> Value {
    let wrap = |wrap| match wrap {
        Wrap::Repeat => 10497,
        Wrap::MirroredRepeat => 33648,
        Wrap::ClampToEdge => 33071,
    };
    let rank = |filter| u32::from(filter == Filter::Linear);
    // NEAREST, LINEAR, then the four with mipmaps, in the order of their numbers.
    let min = mipmap.map_or(9728 + rank(min), |mipmap| 9984 + rank(min) + 2 * rank(mipmap));
    json!({"wrapS": wrap(wrap_u), "wrapT": wrap(wrap_v), "magFilter": 9728 + rank(mag), "minFilter": min})
}

/// Takes a transform apart as the extension has it: scale, then rotation, then offset.
fn texture_transform(Affine2 { matrix2, translation }: Affine2) -> Value {
    let (x_axis, y_axis) = (matrix2.x_axis, matrix2.y_axis);
    let rotation_radians = if x_axis != Vec2::ZERO { -x_axis.to_angle() } else { y_axis.x.atan2(y_axis.y) };
    let scale = Vec2::new(x_axis.length(), y_axis.length() * matrix2.determinant().signum());
    json!({"offset": translation.to_array(), "rotation": rotation_radians, "scale": scale.to_array()})
}

//! From glTF materials to the parameters that the renderer uses, with warnings about values out of range.
//!
//! Source: glTF 2.0, 3.9 (materials); KHR_materials_unlit; KHR_materials_emissive_strength.

use glam::{Vec3, Vec4};
use gltf::json;
use gltf::json::material::AlphaMode as JsonAlphaMode;
use gltf::json::validation::Checked;
use serde_json::Value;

use super::images::{DecodedAhead, Images, TextureUse, textures_of};
use super::textures::{TexCoordSets, TextureReader};
use crate::model::import::decode::Document;
use crate::model::import::error::{Result, Warnings, look_up};
use crate::model::import::file::mend::parse_value;
use crate::model::{AlphaMode, Image, ImageSource, Material, MaterialTexture};

/// The largest emission. The HDR target holds numbers up to 65,504, which must fit the sum of several lights.
const MOST_EMISSION: f32 = 10_000.0;

/// All materials of a file. `list` and `tex_coord_sets` have equal length.
pub struct Materials {
    /// The materials by glTF index. The default material comes last if something uses it.
    pub list: Vec<Material>,
    /// The texture coordinate sets that the textures of each material use.
    pub tex_coord_sets: Vec<TexCoordSets>,
    pub images: Vec<Image>,
    pub image_sources: Vec<ImageSource>,
    default: Option<u32>,
}

impl Materials {
    /// Reads all materials and the images of their textures. `ahead` holds images that are already decoded.
    pub fn read(document: &mut Document, ahead: DecodedAhead, warnings: &mut Warnings) -> Result<Self> {
        let mut images = Images::new(ahead);
        let (mut list, mut tex_coord_sets) = (Vec::new(), Vec::new());
        // The materials are taken out, because reading images borrows the document mutably.
        let entries = std::mem::take(&mut document.root.materials);
        let mut textures = TextureReader { document, images: &mut images, warnings };
        for (index, entry) in entries.iter().enumerate() {
            let at = format!("materials[{index}]");
            let mut reader = MaterialReader { textures: &mut textures, at, sets: TexCoordSets::default() };
            list.push(reader.read(entry, index)?);
            tex_coord_sets.push(reader.sets);
        }
        Ok(Self { list, tex_coord_sets, images: images.list, image_sources: images.sources, default: None })
    }

    /// Returns the index of a primitive's material. `index` is the glTF index, or `None` for the default material.
    pub fn resolve(&mut self, index: Option<usize>, at: &str) -> Result<u32> {
        let Some(index) = index else { return Ok(self.default()) };
        let of_file = &self.list[..self.list.len() - usize::from(self.default.is_some())];
        look_up(of_file, "materials", index, format_args!("{at}.material")).map(|_| index as u32)
    }

    /// Returns the index of the default material, which is appended at its first use.
    pub fn default(&mut self) -> u32 {
        *self.default.get_or_insert_with(|| {
            self.list.push(Material::default());
            self.tex_coord_sets.push(TexCoordSets::default());
            self.list.len() as u32 - 1
        })
    }
}

/// The archived extension whose diffuse colour is shown.
const SPECULAR_GLOSSINESS: &str = "KHR_materials_pbrSpecularGlossiness";

struct MaterialReader<'t, 'a, 'f> {
    textures: &'t mut TextureReader<'a, 'f>,
    at: String,
    sets: TexCoordSets,
}

impl MaterialReader<'_, '_, '_> {
    fn read(&mut self, entry: &json::Material, index: usize) -> Result<Material> {
        let [.., occlusion, normal] = textures_of(entry);
        let surface = match extension(entry, SPECULAR_GLOSSINESS) {
            Some(archived) => self.archived_surface(archived, entry)?,
            None => self.surface(entry)?,
        };
        Ok(Material {
            name: entry.name.clone().unwrap_or_else(|| format!("material {index}")),
            occlusion_texture: self.texture(occlusion, "occlusionTexture")?,
            occlusion_strength: entry.occlusion_texture.as_ref().map_or(1.0, |info| info.strength.0.clamp(0.0, 1.0)),
            emission: self.emission(entry, surface.emissive_texture.is_some()),
            normal_texture: self.texture(normal, "normalTexture")?,
            normal_scale: self.normal_scale(entry),
            alpha_mode: self.alpha_mode(entry),
            double_sided: entry.double_sided,
            ..surface
        })
    }

    fn surface(&mut self, entry: &json::Material) -> Result<Material> {
        let [base_color, metallic_roughness, emissive, ..] = textures_of(entry);
        let pbr = &entry.pbr_metallic_roughness;
        // The base colour comes first, so that it uses the first texture coordinate set of the vertices.
        let base_color_texture = self.texture(base_color, "pbrMetallicRoughness.baseColorTexture")?;
        let metallic_roughness_texture =
            self.texture(metallic_roughness, "pbrMetallicRoughness.metallicRoughnessTexture")?;
        let emissive_texture = self.texture(emissive, "emissiveTexture")?;
        let (dielectric_reflectance, grazing_reflectance) = self.reflectances(entry);
        let factor = self.clamped("pbrMetallicRoughness.baseColorFactor", pbr.base_color_factor.0);
        Ok(Material {
            base_color_factor: Vec4::from(factor) * grey_if(base_color.is_some(), base_color_texture),
            base_color_texture,
            metallic: pbr.metallic_factor.0.clamp(0.0, 1.0),
            roughness: pbr.roughness_factor.0.clamp(0.0, 1.0),
            metallic_roughness_texture,
            dielectric_reflectance,
            grazing_reflectance,
            emissive_texture,
            unlit: extension(entry, "KHR_materials_unlit").is_some(),
            ..Material::default()
        })
    }

    /// Reads the surface of a material of KHR_materials_pbrSpecularGlossiness, which is archived: its diffuse colour on a
    /// dielectric of its glossiness. glTF's own properties, which would be the fallback, are often left out, and then white.
    fn archived_surface(&mut self, archived: &Value, entry: &json::Material) -> Result<Material> {
        let at = format!("extensions.{SPECULAR_GLOSSINESS}");
        self.warn(&at, "is archived; its diffuse colour and glossiness are shown, its specular colour is not");
        let number = |value: Option<&Value>| value.and_then(Value::as_f64).map_or(1.0, |number| number as f32);
        let factor = archived.get("diffuseFactor");
        let factor = Vec4::from([0, 1, 2, 3].map(|rank| number(factor.and_then(|factor| factor.get(rank)))));
        let info: Option<json::texture::Info> = archived.get("diffuseTexture").and_then(|info| parse_value(info).ok());
        let base_color_texture = self.texture(info.as_ref().map(TextureUse::from), &format!("{at}.diffuseTexture"))?;
        let [.., emissive, _, _] = textures_of(entry);
        Ok(Material {
            base_color_factor: factor.clamp(Vec4::ZERO, Vec4::ONE) * grey_if(info.is_some(), base_color_texture),
            base_color_texture,
            metallic: 0.0,
            roughness: 1.0 - number(archived.get("glossinessFactor")).clamp(0.0, 1.0),
            emissive_texture: self.texture(emissive, "emissiveTexture")?,
            ..Material::default()
        })
    }

    /// Returns the reflectances of a dielectric at normal and at grazing incidence (KHR_materials_specular, KHR_materials_ior).
    fn reflectances(&mut self, entry: &json::Material) -> (Vec3, f32) {
        let (mut ior, mut specular, mut color) = (1.5, 1.0, Vec3::ONE);
        let finite = |value: Option<&Value>| {
            value.and_then(Value::as_f64).map(|number| number as f32).filter(|number| number.is_finite())
        };
        if let Some(extension) = extension(entry, "KHR_materials_ior") {
            ior = finite(extension.get("ior")).unwrap_or(ior);
        }
        if let Some(extension) = extension(entry, "KHR_materials_specular") {
            specular = finite(extension.get("specularFactor")).unwrap_or(specular);
            let factor = extension.get("specularColorFactor");
            let channel = |rank: usize| finite(factor.and_then(|factor| factor.get(rank))).unwrap_or(1.0);
            color = Vec3::from([0, 1, 2].map(channel));
            for texture in ["specularTexture", "specularColorTexture"] {
                if extension.get(texture).is_some() {
                    self.warn(&format!("extensions.KHR_materials_specular.{texture}"), "is not drawn; its factor is");
                }
            }
        }
        // An index of 0 stands for an infinite one.
        let normal = match ior {
            1.5 => Material::REFLECTANCE,
            ior if ior >= 1.0 => ((ior - 1.0) / (ior + 1.0)).powi(2),
            _ => 1.0,
        };
        let specular = specular.clamp(0.0, 1.0);
        ((normal * color).clamp(Vec3::ZERO, Vec3::ONE) * specular, specular)
    }

    fn texture(&mut self, info: Option<TextureUse>, slot: &str) -> Result<Option<MaterialTexture>> {
        let Some(info) = info else { return Ok(None) };
        let texture = self.textures.read(info, &format!("{}.{slot}", self.at), &mut self.sets);
        Ok(self.textures.warnings.leave_out("texture", texture)?.flatten())
    }

    fn warn(&mut self, property: &str, problem: &str) {
        self.textures.warnings.add(format_args!("{}.{property}", self.at), problem);
    }

    fn clamped<const N: usize>(&mut self, property: &str, numbers: [f32; N]) -> [f32; N] {
        let clamped = numbers.map(|number| number.clamp(0.0, 1.0));
        if clamped != numbers {
            self.warn(property, "a number outside 0..1 is clamped");
        }
        clamped
    }

    /// Returns the emission. A material whose emissive texture is lost emits nothing: the factor alone, which is usually
    /// white, would make all of it glow. A lost base colour is replaced by grey, a normal map by no bumps, and the other
    /// textures by white, as the specification has it for absent ones.
    fn emission(&mut self, entry: &json::Material, has_texture: bool) -> Vec3 {
        if entry.emissive_texture.is_some() && !has_texture {
            self.warn("emissiveTexture", "is left out, so the material emits no light");
            return Vec3::ZERO;
        }
        let factor = Vec3::from(self.clamped("emissiveFactor", entry.emissive_factor.0));
        let strength = extension(entry, "KHR_materials_emissive_strength")
            .and_then(|strength| strength.get("emissiveStrength")?.as_f64())
            .unwrap_or(1.0) as f32;
        if !(0.0..=MOST_EMISSION).contains(&strength) {
            self.warn("extensions.KHR_materials_emissive_strength", "a strength outside 0..10000 is clamped");
        }
        factor * strength.clamp(0.0, MOST_EMISSION)
    }

    fn normal_scale(&mut self, entry: &json::Material) -> f32 {
        let scale = entry.normal_texture.as_ref().map_or(1.0, |info| info.scale);
        if scale.is_finite() {
            return scale;
        }
        self.warn("normalTexture.scale", "the number is too large and is read as 1");
        1.0
    }

    fn alpha_mode(&mut self, entry: &json::Material) -> AlphaMode {
        match entry.alpha_mode {
            Checked::Valid(JsonAlphaMode::Opaque) => AlphaMode::Opaque,
            Checked::Valid(JsonAlphaMode::Mask) => {
                AlphaMode::Mask(entry.alpha_cutoff.unwrap_or_default().0.clamp(0.0, f32::MAX))
            }
            Checked::Valid(JsonAlphaMode::Blend) => AlphaMode::Blend,
            Checked::Invalid => {
                self.warn("alphaMode", "unknown; read as OPAQUE");
                AlphaMode::Opaque
            }
        }
    }
}

/// Returns the factor of the base colour: grey in place of a lost texture. White would look as if the file had wanted it.
fn grey_if(has_texture: bool, texture: Option<MaterialTexture>) -> Vec4 {
    const GREY: f32 = 0.5;
    if has_texture && texture.is_none() { Vec4::new(GREY, GREY, GREY, 1.0) } else { Vec4::ONE }
}

fn extension<'j>(entry: &'j json::Material, name: &str) -> Option<&'j Value> {
    entry.extensions.as_ref()?.others.get(name)
}

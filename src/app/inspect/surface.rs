//! What is drawn of a model, and what it takes: geometry, levels of detail, materials, images and bytes.

use std::ops::RangeInclusive;

use super::skeleton::clip_bytes;
use crate::app::fact::Fact;
use crate::app::hide::{Source, sources};
use crate::crowd::{INSTANCE_BYTES, LevelSize, PoseSize};
use crate::model::{Geometry, Image, Material, MaterialTexture, Model, SourcePrimitive, Topology};
use crate::renderer::resident::sizes::geometry_bytes;
use crate::renderer::resident::texture::texture_bytes;
use crate::shader_types::{InstanceData, JointMatrix};

pub(super) fn geometry(model: &Model) -> Fact {
    let (geometry, sources) = (&model.geometry, sources(model));
    let (max_influences, histogram) = influences(geometry, 0..geometry.vertex_count());
    let shown = || geometry.source_primitives.iter();
    let by_primitive = shown().zip(&sources).map(|(primitive, source)| {
        // A vertex that two primitives share counts for both.
        let mut vertices: Vec<usize> = primitive.vertices.iter().map(|&vertex| vertex as usize).collect();
        vertices.sort_unstable();
        vertices.dedup();
        primitive_facts(geometry, primitive, vertices, source)
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
        ("max_influences", max_influences.into()),
        ("draws", geometry.draw_ranges.len().into()),
        ("influence_histogram", histogram),
        ("by_primitive", by_primitive.collect()),
    ])
}

fn primitive_facts(geometry: &Geometry, primitive: &SourcePrimitive, vertices: Vec<usize>, source: &Source) -> Fact {
    let name = |at: usize| source.names.get(at).copied().filter(|name| !name.is_empty());
    let morphed = vertices.iter().filter(|&&vertex| !geometry.morph_deltas_of(vertex).is_empty()).count();
    let vertex_count = vertices.len();
    let (max_influences, histogram) = influences(geometry, vertices);
    Fact::Object(vec![
        ("node", primitive.node.into()),
        ("name", name(0).into()),
        ("mesh", primitive.mesh.into()),
        ("mesh_name", name(1).into()),
        ("material", name(2).into()),
        ("triangles", source.triangles.into()),
        ("primitive", primitive.primitive.into()),
        ("skin", primitive.skin.into()),
        ("file_vertices", primitive.vertices.len().into()),
        ("vertices", vertex_count.into()),
        ("normals", primitive.has_normals.into()),
        ("morphed_vertices", morphed.into()),
        ("max_influences", max_influences.into()),
        ("influence_histogram", histogram),
    ])
}

/// Returns the largest number of joints that influence a vertex, and the number of vertices for each number of joints.
fn influences(geometry: &Geometry, vertices: impl IntoIterator<Item = usize>) -> (usize, Fact) {
    let counts: Vec<usize> = vertices.into_iter().map(|vertex| geometry.influences_of(vertex).len()).collect();
    let with = |range: RangeInclusive<usize>| counts.iter().filter(|count| range.contains(count)).count().into();
    let ranges = [("1", 0..=1), ("2", 2..=2), ("3-4", 3..=4), ("5-8", 5..=8), ("more", 9..=usize::MAX)];
    let histogram = Fact::from(ranges.map(|(name, range)| (name, with(range))));
    (counts.into_iter().max().unwrap_or_default(), histogram)
}

pub(super) fn levels(model: &Model, height: Option<f32>) -> Fact {
    let geometry = &model.geometry;
    let errors = std::iter::once(0.0).chain(geometry.coarser_levels.iter().map(|level| level.error));
    let levels = PoseSize::of(model).levels.into_iter().zip(geometry.triangles_by_level()).zip(errors);
    let level = |(level, ((size, triangles), error)): (u32, ((LevelSize, usize), f32))| {
        [
            ("level", level.into()),
            ("triangles", triangles.into()),
            ("vertices", size.vertex_count.into()),
            ("joints", size.joint_count.into()),
            // How much a picture loses, as a distance in units of model space.
            ("error", error.into()),
            ("error_by_height", height.map(|height| error / height).into()),
        ]
    };
    (0..).zip(levels).map(level).collect()
}

pub(super) fn material(material: &Material) -> Fact {
    let is_usual = material.has_usual_reflectance();
    let image = |texture: Option<MaterialTexture>| Fact::from(texture.map(|texture| texture.texture.image));
    Fact::from([
        ("name", material.name.as_str().into()),
        ("base_color_factor", material.base_color_factor.to_array().into()),
        // The index in the list of images.
        ("base_color_image", image(material.base_color_texture)),
        ("metallic", material.metallic.into()),
        ("roughness", material.roughness.into()),
        // At normal and at grazing incidence, if they are not glTF's own.
        ("dielectric_reflectance", (!is_usual).then(|| material.dielectric_reflectance.to_array()).into()),
        ("grazing_reflectance", (!is_usual).then_some(material.grazing_reflectance).into()),
        ("metallic_roughness_image", image(material.metallic_roughness_texture)),
        ("occlusion_image", image(material.occlusion_texture)),
        // In linear RGB.
        ("emission", material.emission.to_array().into()),
        ("emissive_image", image(material.emissive_texture)),
        ("normal_image", image(material.normal_texture)),
        ("unlit", material.unlit.into()),
        ("alpha_mode", format!("{:?}", material.alpha_mode).as_str().into()),
        ("double_sided", material.double_sided.into()),
    ])
}

pub(super) fn images(model: &Model) -> Fact {
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
            ("encoded_bytes", source.map(|source| source.bytes).into()),
            // With mipmaps.
            ("gpu_bytes", texture_bytes(image.width, image.height).into()),
        ]
    });
    facts.collect()
}

/// Returns the bytes that each instance adds. Those on the GPU exist once for each frame in flight.
pub(super) fn bytes_per_instance(model: &Model) -> Fact {
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
pub(super) fn static_bytes(model: &Model) -> Fact {
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

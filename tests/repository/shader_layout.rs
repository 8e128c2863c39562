//! The contract between the CPU and the shaders, read from the SPIR-V that is embedded in the program.
//!
//! Each struct of `src/shader_types.rs` has the same member names in the same order, offsets, size and array stride in
//! every module that stores it in memory. No struct may be missing: the table below holds all of `shader_types`, and every
//! struct with a layout in any module is in the table. Another table has the sets and bindings of `renderer::layouts`. The
//! validation layer checks that the descriptor set layouts have these types (`tests/gpu/validation.rs`).

use std::collections::BTreeSet;
use std::mem::{offset_of, size_of};

use ash::vk;
use throng::renderer::layouts::{FRAME_SET, LAST_PAGE_SET, MATERIAL_SET, MODEL_SET, PAGE_SET};
use throng::renderer::passes::overlay_pass::VERTICES;
use throng::renderer::passes::vertex_input::{
    CHARACTERS, INSTANCE_BINDING, INSTANCES, NUMBERED_CHARACTERS, STATIC_BINDING,
};
use throng::renderer::passes::{ground_pass::STEPS_PER_AXIS, skeleton_pass::VERTICES_PER_BONE};
use throng::renderer::resident::environment::{
    GROUP_SIZE, IRRADIANCE_SIDE, ROUGHNESS_COUNT, SPECULAR_SIDE, SPLIT_SUM_SIDE,
};
use throng::shader_types::{
    BindVertex, EnvironmentConstants, FrameData, GpuBone, GpuInfluence, GpuMorphDelta, InstanceData, InstanceHistory,
    JointMatrix, MaterialData, ModelConstants, MotionConstants, OverlayConstants, OverlayVertex, PaletteEntry,
    PoseRecord, SkinConstants, SkinnedVertex, SkyData, SpecializationConstants, StaticVertex, ToneMapConstants,
    VERTICES_PER_GROUP, debug_views, material_features,
};
use throng::vulkan::pipeline::VertexInput;
use throng::vulkan::spirv::ALL;

use super::reflect::{Kind, MemoryStruct, Reflection};

/// Structs that are read as vertex attributes. SPIR-V does not know these as structs.
const ATTRIBUTE_STRUCTS: [&str; 3] = ["InstanceData", "OverlayVertex", "StaticVertex"];

/// The layout of a struct in Rust.
#[derive(Debug)]
struct RustStruct {
    name: &'static str,
    members: Vec<(String, u32)>,
    size: u32,
}

/// Builds a [`RustStruct`]. Only a macro can turn members into names and offsets. A missing member does not compile.
macro_rules! rust_struct {
    ($type:ident: $($member:ident)+) => {{
        let _all_members_are_named = |value: $type| { let $type { $($member: _),+ } = value; };
        RustStruct {
            name: stringify!($type),
            members: vec![$((stringify!($member).to_owned(), offset_of!($type, $member) as u32)),+],
            size: size_of::<$type>() as u32,
        }
    }};
}

macro_rules! rust_structs {
    ($($type:ident: $($member:ident)+;)*) => { vec![$(rust_struct!($type: $($member)+)),*] };
}

fn rust_structs() -> Vec<RustStruct> {
    rust_structs! {
        JointMatrix: rows;
        BindVertex: position normal_octahedral first_influence influence_count first_morph_delta morph_delta_count;
        GpuInfluence: joint weight;
        GpuMorphDelta: weight_index position normal;
        StaticVertex: tex_coords color_unorm8;
        SkinnedVertex: position normal_octahedral;
        PoseRecord: palette_offset skinned_vertex_offset morph_weight_offset morph_weight_count camera_level
            bind_vertex_offset;
        InstanceData: world_from_model pose tint_unorm8 numbers;
        InstanceHistory: world_from_model page first_vertex vertex_count padding;
        PaletteEntry: node is_joint;
        GpuBone: mesh_from_base tip_mesh base tip node axis_length padding;
        FrameData: clip_from_world world_from_clip camera_position exposure to_light to_light_ground_scale
            light_color opaque_alpha shadow_from_world shadow_map_texels shadow_texel_metres shadow_depth_per_texel
            ground_reach_metres shaded_ground_least shaded_ground_greatest background sky ground_sunlit
            ground_cell_metres ground_ambient hidden_sky_height;
        SkyData: zenith horizon glow ground to_sun;
        EnvironmentConstants: sky;
        SkinConstants: first end first_pose end_pose;
        ModelConstants: shown_node coarsest_level;
        MotionConstants: page half_way_metres;
        ToneMapConstants: exposure;
        OverlayConstants: clip_from_pixels;
        OverlayVertex: position_pixels tex_coords color_unorm8;
        MaterialData: base_color_factor emission alpha_cutoff metallic roughness occlusion_strength normal_scale
            dielectric_reflectance grazing_reflectance texture_rows;
    }
}

/// Returns each module's name and its reflection.
fn modules() -> Vec<(&'static str, Reflection)> {
    ALL.iter().map(|shader| (shader.file_name, Reflection::new(shader.words))).collect()
}

fn assert_same(file_name: &str, rust: &RustStruct, shader: &MemoryStruct) {
    let what = format!("{} in {file_name}", rust.name);
    assert_eq!(shader.members, rust.members, "members of {what}");
    assert_eq!(shader.end, rust.size, "size of {what}");
    if let Some(stride) = shader.stride {
        assert_eq!(stride, rust.size, "array stride of {what}");
    }
}

#[test]
fn structs_have_the_same_members_offsets_and_sizes() {
    let rust_structs = rust_structs();
    let mut found = BTreeSet::new();
    let mut found_in_arrays = BTreeSet::new();
    for (file_name, module) in modules() {
        for shader in &module.memory_structs() {
            let rust = rust_structs.iter().find(|rust| rust.name == shader.name);
            let rust = rust.unwrap_or_else(|| panic!("{} in {file_name} has no twin in shader_types.rs", shader.name));
            assert_same(file_name, rust, shader);
            found.insert(rust.name);
            if shader.stride.is_some() {
                found_in_arrays.insert(rust.name);
            }
        }
    }
    // The attribute structs have a test: `attributes_lie_where_the_structs_have_them`.
    let in_memory = rust_structs.iter().map(|rust| rust.name).filter(|name| !ATTRIBUTE_STRUCTS.contains(name));
    assert_eq!(found, in_memory.collect());
    let elements = [
        "BindVertex",
        "GpuBone",
        "GpuInfluence",
        "GpuMorphDelta",
        "InstanceHistory",
        "JointMatrix",
        "PaletteEntry",
        "PoseRecord",
        "SkinnedVertex",
    ];
    assert_eq!(found_in_arrays, elements.into());
}

/// Each attribute begins at a member (or at a row of the matrix).
#[test]
fn attributes_lie_where_the_structs_have_them() {
    let rows = [0, 16, 32].map(|row| offset_of!(InstanceData, world_from_model) + row);
    let static_vertex = [offset_of!(StaticVertex, tex_coords), offset_of!(StaticVertex, color_unorm8)];
    let expected: Vec<(u32, u32, u32)> = rows
        .into_iter()
        .chain([offset_of!(InstanceData, pose), offset_of!(InstanceData, tint_unorm8)])
        .map(|at| (INSTANCE_BINDING, at as u32))
        .chain(static_vertex.map(|at| (STATIC_BINDING, at as u32)))
        .chain([(INSTANCE_BINDING, offset_of!(InstanceData, numbers) as u32)])
        .zip(0..)
        .map(|((binding, at), location)| (location, binding, at))
        .collect();
    let found = |input: VertexInput<'_>| -> Vec<(u32, u32, u32)> {
        input.attributes.iter().map(|attribute| (attribute.location, attribute.binding, attribute.offset)).collect()
    };
    assert_eq!(found(NUMBERED_CHARACTERS), expected);
    assert_eq!(found(CHARACTERS), expected[..7]);
    assert_eq!(found(INSTANCES), expected[..4]);
    let strides: Vec<u32> = CHARACTERS.bindings.iter().map(|binding| binding.stride).collect();
    assert_eq!(strides, [size_of::<InstanceData>() as u32, size_of::<StaticVertex>() as u32]);
}

/// Each attribute is an input of a vertex shader at the same location, and each input is an attribute.
#[test]
fn attributes_are_the_inputs_of_the_vertex_shaders() {
    let components = |format| match format {
        vk::Format::R8G8B8A8_UNORM | vk::Format::R32G32B32A32_SFLOAT => 4,
        vk::Format::R32G32_UINT | vk::Format::R32G32_SFLOAT => 2,
        _ => 1,
    };
    for (file_name, module) in modules().into_iter().filter(|(file_name, _)| file_name.ends_with(".vert")) {
        let attributes = match file_name.split(['_', '.']).next() {
            Some("character" | "shadow") => CHARACTERS.attributes,
            Some("debug" | "motion") => NUMBERED_CHARACTERS.attributes,
            Some("skeleton") => INSTANCES.attributes,
            Some("overlay") => VERTICES.attributes,
            _ => &[],
        };
        let expected: BTreeSet<(u32, u32)> =
            attributes.iter().map(|attribute| (attribute.location, components(attribute.format))).collect();
        let found: BTreeSet<(u32, u32)> = module.inputs().into_iter().collect();
        assert!(found.is_subset(&expected), "{file_name} reads {found:?}, and the pipeline has {expected:?}");
        assert_eq!(found.len(), expected.len(), "{file_name} leaves attributes unread");
    }
}

/// MoltenVK copies such an array out of bounds.
#[test]
fn no_varying_has_the_length_of_a_specialization_constant() {
    for (file_name, module) in modules() {
        assert_eq!(module.specialized_varyings(), [""; 0], "{file_name}");
    }
}

#[test]
fn the_table_holds_every_struct_of_shader_types() {
    let source = include_str!("../../src/shader_types.rs");
    let declared = source.lines().filter_map(|line| line.strip_prefix("pub struct ")?.strip_suffix(" {"));
    assert_eq!(declared.collect::<BTreeSet<_>>(), rust_structs().iter().map(|rust| rust.name).collect());
}

#[test]
fn push_constants_are_those_that_the_passes_push() {
    let pushed: Vec<(&str, String)> = modules()
        .into_iter()
        .filter_map(|(file_name, module)| Some((file_name, module.push_constants()?.name)))
        .collect();
    let expected = [
        ("debug_view.vert", "ModelConstants"),
        ("debug_view_skinning.vert", "ModelConstants"),
        ("environment_irradiance.comp", "EnvironmentConstants"),
        ("environment_specular.comp", "EnvironmentConstants"),
        ("motion.vert", "MotionConstants"),
        ("overlay.vert", "OverlayConstants"),
        ("skin.comp", "SkinConstants"),
        ("tone_map.frag", "ToneMapConstants"),
    ];
    assert_eq!(pushed, expected.map(|(file_name, name)| (file_name, name.to_owned())));
}

/// Each shader that has a specialization constant has it under the id and the name of the member.
#[test]
fn specialization_constants_have_one_meaning_each() {
    let rust = rust_struct!(SpecializationConstants: features influence_count with_morphs with_tangents with_normals
        poses_per_group debug_view ground_is_shaded encodes_srgb with_dual_quaternions);
    let members: Vec<(u32, String)> = rust.members.into_iter().map(|(name, offset)| (offset / 4, name)).collect();
    let mut found = BTreeSet::new();
    for (file_name, module) in modules() {
        for (id, name) in module.specialization_constants() {
            let constant = (id, name.to_lowercase());
            assert!(members.contains(&constant), "{file_name} has {constant:?}");
            found.insert(constant);
        }
    }
    assert_eq!(found, members.into_iter().collect());
}

/// Returns the constants of a shader source whose names begin with a prefix, without it.
fn numbers<'s>(source: &'s str, prefix: &str) -> Vec<(&'s str, u32)> {
    let declarations = source.lines().filter_map(|line| line.strip_prefix("const uint ")?.strip_prefix(prefix));
    declarations
        .filter_map(|line| line.split_once(';')?.0.split_once(" = "))
        .filter_map(|(name, value)| Some((name, value.parse().ok()?)))
        .collect()
}

/// Returns constants of a module with their names.
macro_rules! constants {
    ($module:ident: $($name:ident)+) => { [$((stringify!($name), $module::$name)),+] };
}

const SPECIALIZATION: &str = include_str!("../../shaders/specialization.glsl");

#[test]
fn numbers_that_stand_in_two_languages_are_equal() {
    let sizes = [
        ("IRRADIANCE_SIDE", IRRADIANCE_SIDE),
        ("SPECULAR_SIDE", SPECULAR_SIDE),
        ("ROUGHNESS_COUNT", ROUGHNESS_COUNT),
        ("SPLIT_SUM_SIDE", SPLIT_SUM_SIDE),
    ];
    assert_eq!(numbers(include_str!("../../shaders/environment_sizes.glsl"), ""), sizes);
    let ground = numbers(include_str!("../../shaders/ground.vert"), "");
    assert_eq!(ground, [("STEPS_PER_AXIS", STEPS_PER_AXIS)]);
    let skeleton = numbers(include_str!("../../shaders/skeleton.vert"), "");
    let counts = [("OCTAHEDRON_VERTICES", 24), ("AXIS_VERTICES", 9), ("VERTICES_PER_BONE", VERTICES_PER_BONE)];
    assert_eq!(skeleton, counts);
}

#[test]
fn bits_of_features_have_one_meaning() {
    let in_shader = numbers(SPECIALIZATION, "FEATURE_");
    let in_rust = constants!(material_features: FLAT THIN MASKED BLENDED UNLIT TEX_COORDS_VARY BASE_COLOR_TEXTURE
        METALLIC_ROUGHNESS_TEXTURE OCCLUSION_TEXTURE EMISSIVE_TEXTURE NORMAL_TEXTURE TANGENTS DIELECTRIC EMITS COLOR_FACTOR
        MIRRORED_BY_CLIPS SHADOWED TRANSPARENT SPECULAR SILHOUETTE);
    assert_eq!(in_shader, in_rust);
    assert!(in_rust.iter().enumerate().all(|(rank, &(_, bit))| bit == 1 << rank), "one bit each");
}

#[test]
fn debug_views_have_the_same_numbers() {
    let in_rust = constants!(debug_views: NORMALS TANGENTS TEX_COORDS WEIGHTS JOINTS INFLUENCES HEAT INSTANCES POSES CLAY
        WIRES LOD COLORS MOTION);
    assert_eq!(numbers(SPECIALIZATION, "VIEW_"), in_rust);
}

#[test]
fn groups_have_the_size_that_is_dispatched() {
    let sizes: Vec<_> = modules().iter().filter_map(|(name, module)| Some((*name, module.local_size()?))).collect();
    let expected = [
        ("environment_brdf.comp", GROUP_SIZE),
        ("environment_irradiance.comp", GROUP_SIZE),
        ("environment_specular.comp", GROUP_SIZE),
        ("skin.comp", VERTICES_PER_GROUP),
    ];
    assert_eq!(sizes, expected.map(|(file_name, size)| (file_name, [size, 1, 1])));
}

#[test]
fn descriptors_lie_where_the_layouts_have_them() {
    let scene = [
        (FRAME_SET, 0, Kind::UniformBuffer, "FrameData"),
        (FRAME_SET, 1, Kind::StorageBuffer, "Poses"),
        (FRAME_SET, 2, Kind::StorageBuffer, "Palette"),
        (FRAME_SET, 3, Kind::StorageBuffer, "MorphWeights"),
        (FRAME_SET, 4, Kind::CombinedImageSampler, "shadow_map"),
        (FRAME_SET, 5, Kind::CombinedImageSampler, "irradiance_table"),
        (FRAME_SET, 6, Kind::CombinedImageSampler, "specular_table"),
        (FRAME_SET, 7, Kind::CombinedImageSampler, "split_sum_table"),
        (MODEL_SET, 0, Kind::StorageBuffer, "BindVertices"),
        (MODEL_SET, 1, Kind::StorageBuffer, "Influences"),
        (MODEL_SET, 2, Kind::StorageBuffer, "MorphDeltas"),
        (MODEL_SET, 3, Kind::StorageBuffer, "BindTangents"),
        (MODEL_SET, 4, Kind::StorageBuffer, "MorphTangents"),
        (MODEL_SET, 5, Kind::StorageBuffer, "PaletteEntries"),
        (MODEL_SET, 6, Kind::StorageBuffer, "Bones"),
        (MODEL_SET, 7, Kind::StorageBuffer, "SkinOrder"),
        (PAGE_SET, 0, Kind::StorageBuffer, "SkinnedVertices"),
        (PAGE_SET, 1, Kind::StorageBuffer, "SkinnedTangents"),
        (MATERIAL_SET, 0, Kind::UniformBuffer, "MaterialData"),
        (MATERIAL_SET, 1, Kind::CombinedImageSampler, "base_color_texture"),
        (MATERIAL_SET, 2, Kind::CombinedImageSampler, "metallic_roughness_texture"),
        (MATERIAL_SET, 3, Kind::CombinedImageSampler, "occlusion_texture"),
        (MATERIAL_SET, 4, Kind::CombinedImageSampler, "emissive_texture"),
        (MATERIAL_SET, 5, Kind::CombinedImageSampler, "normal_texture"),
    ];
    let environment = [
        (0, 0, Kind::StorageBuffer, "IrradianceTexels"),
        (0, 1, Kind::StorageBuffer, "SpecularTexels"),
        (0, 2, Kind::StorageBuffer, "BrdfTexels"),
    ];
    let tone_map = [(0, 0, Kind::CombinedImageSampler, "hdr_color")];
    let overlay = [(0, 0, Kind::CombinedImageSampler, "atlas")];
    let outline = [(0, 0, Kind::CombinedImageSampler, "silhouette")];
    // The page of the last frame takes the place of the model.
    let last_page = [
        (LAST_PAGE_SET, 0, Kind::StorageBuffer, "LastInstances"),
        (LAST_PAGE_SET, 1, Kind::StorageBuffer, "LastSkinnedVertices"),
    ];
    let motion: Vec<_> = scene.into_iter().filter(|known| known.0 != MODEL_SET).chain(last_page).collect();
    let mut used = BTreeSet::new();
    for (file_name, module) in modules() {
        let allowed = match file_name.split(['_', '.']).next() {
            Some("tone") => &tone_map[..],
            Some("overlay") => &overlay[..],
            Some("outline") => &outline[..],
            Some("environment") => &environment[..],
            Some("motion") => &motion[..],
            _ => &scene[..],
        };
        for (set, binding, kind, name) in module.resources() {
            let found = (set, binding, kind, name.as_str());
            let known = allowed.iter().find(|&&known| known == found);
            used.insert(*known.unwrap_or_else(|| panic!("{file_name} has {found:?}, which no layout has")));
        }
    }
    assert_eq!(
        used,
        scene.into_iter().chain(last_page).chain(environment).chain(tone_map).chain(overlay).chain(outline).collect(),
        "every binding of the layouts is used by a shader"
    );
}

/// Tests the comparison itself: a layout that differs in one member must not pass.
#[test]
#[should_panic(expected = "members of SkinnedVertex in a shader")]
fn a_moved_member_is_noticed() {
    let rust = rust_struct!(SkinnedVertex: position normal_octahedral);
    let members = vec![("position".to_owned(), 0), ("normal_octahedral".to_owned(), 16)];
    let shader = MemoryStruct { name: rust.name.to_owned(), members, end: 20, stride: Some(32) };
    assert_same("a shader", &rust, &shader);
}

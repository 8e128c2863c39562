//! The contract between the CPU and the shaders, read from the SPIR-V that is embedded in the program.
//!
//! Each struct of `src/shader_types.rs` has the same member names in the same order, offsets, size and array stride in
//! every module that stores it in memory. No struct may be missing: the table below holds all of `shader_types`, and every
//! struct with a layout in any module is in the table. Another table has the sets and bindings of `renderer::layouts`. The
//! validation layer checks that the descriptor set layouts have these types (`tests/gpu/validation.rs`).

use std::collections::BTreeSet;
use std::mem::{offset_of, size_of};

use ash::vk;
use throng::extras::bone_view::{self, BONES_SET, GpuBone};
use throng::extras::debug_view::{DEBUG_SET, DebugConstants, DebugView, PaletteEntry};
use throng::extras::motion_view::{InstanceHistory, LAST_PAGE_SET, MotionConstants};
use throng::extras::overlay::{self, OverlayConstants, OverlayVertex};
use throng::renderer::layouts::{FRAME_SET, LIGHT_SET, MATERIAL_SET, MODEL_SET, PAGE_SET, VERTICES_SET};
use throng::renderer::passes::ground_pass;
use throng::renderer::passes::vertex_input::*;
use throng::renderer::resident::{copies, environment};
use throng::shader_types::*;
use throng::vulkan::spirv::ALL;

use super::files::text;
use super::reflect::{MemoryStruct, Reflection};

/// Structs that lie in arrays, so that their stride is checked too.
const ELEMENTS: &str = "BindVertex GpuBone GpuInfluence GpuMorphDelta InstanceData InstanceHistory JointMatrix PaletteEntry PoseRecord \
    SkinnedVertex";

/// Builds a [`MemoryStruct`] for each struct, which only a macro can. A missing member does not compile.
macro_rules! rust_structs {
    ($($type:ident: $($member:ident)+;)*) => { vec![$({
        let _all_members_are_named = |value: $type| { let $type { $($member: _),+ } = value; };
        MemoryStruct {
            name: stringify!($type).to_owned(),
            members: vec![$((stringify!($member).to_owned(), offset_of!($type, $member) as u32)),+],
            size: size_of::<$type>() as u32,
        }
    }),*] };
}

fn rust_structs() -> Vec<MemoryStruct> {
    rust_structs! {
        JointMatrix: rows;
        BindVertex: position normal_octahedral first_influence influence_count first_morph_delta morph_delta_count;
        GpuInfluence: joint weight;
        GpuMorphDelta: weight_index position normal;
        StaticVertex: tex_coords color_unorm8;
        SkinnedVertex: position normal_octahedral;
        PoseRecord: palette_offset skinned_vertex_offset morph_weight_offset morph_weight_count bind_vertex_offset;
        InstanceData: world_from_model pose tint_unorm8 numbers;
        InstanceHistory: world_from_model page first_vertex vertex_count padding;
        PaletteEntry: node is_joint;
        GpuBone: mesh_from_base tip_mesh base tip node axis_length padding;
        FrameData: clip_from_world direction_from_clip camera_position exposure to_light to_light_ground_scale
            light_color opaque_alpha shadow_from_world shadow_map_texels shadow_texel_metres shadow_depth_per_texel
            ground_reach_metres shaded_ground_least shaded_ground_greatest background sky ground_sunlit
            ground_cell_metres ground_ambient hidden_sky_height ground_offset_cells padding;
        SkyData: zenith horizon glow ground to_sun;
        EnvironmentConstants: sky;
        SkinConstants: first end first_pose end_pose;
        CopyConstants: first_instance vertex_bits;
        DebugConstants: shown_node level coarsest_level;
        MotionConstants: page half_way_metres;
        ToneMapConstants: exposure;
        OverlayConstants: clip_from_pixels;
        OverlayVertex: position_pixels tex_coords color_unorm8;
        MaterialData: base_color_factor emission alpha_cutoff metallic roughness occlusion_strength normal_scale
            dielectric_reflectance grazing_reflectance texture_rows;
    }
}

fn modules() -> impl Iterator<Item = (&'static str, Reflection)> {
    ALL.iter().map(|shader| (shader.file_name, Reflection::new(shader)))
}

#[test]
fn structs_have_the_same_members_offsets_and_sizes() {
    let rust_structs = rust_structs();
    let (mut found, mut found_in_arrays) = (BTreeSet::new(), BTreeSet::new());
    for (file_name, module) in modules() {
        for (shader, stride) in module.memory_structs() {
            let rust = rust_structs.iter().find(|rust| rust.name == shader.name);
            assert_eq!(Some(&shader), rust, "{file_name} and shader_types.rs");
            assert!(stride.is_none_or(|stride| stride == shader.size), "array stride {stride:?} of {shader:?}");
            found_in_arrays.extend(stride.map(|_| shader.name.clone()));
            found.insert(shader.name);
        }
    }
    assert_eq!(found_in_arrays, ELEMENTS.split(' ').map(str::to_owned).collect());
    // SPIR-V does not know vertex attributes as structs. `attributes_lie_where_the_structs_have_them` is their test.
    found.extend(["OverlayVertex", "StaticVertex"].map(str::to_owned));
    assert_eq!(found, rust_structs.into_iter().map(|rust| rust.name).collect());
    let source = text("src/shader_types.rs");
    let mut declared = source.lines().filter_map(|line| line.strip_prefix("pub struct ")?.strip_suffix(" {"));
    assert!(declared.all(|name| found.contains(name)), "the table holds every struct of shader_types");
}

/// Each attribute begins at a member (or at a row of the matrix).
#[test]
fn attributes_lie_where_the_structs_have_them() {
    let of_instance = |offset: usize| (INSTANCE_BINDING, offset as u32);
    let rows = [0, 16, 32].map(|row| of_instance(offset_of!(InstanceData, world_from_model) + row));
    let pose_and_tint = [offset_of!(InstanceData, pose), offset_of!(InstanceData, tint_unorm8)].map(of_instance);
    let static_vertex = [offset_of!(StaticVertex, tex_coords), offset_of!(StaticVertex, color_unorm8)];
    let static_vertex = static_vertex.map(|offset| (STATIC_BINDING, offset as u32));
    let numbers = [of_instance(offset_of!(InstanceData, numbers))];
    let expected = [&rows[..], &pose_and_tint, &static_vertex, &numbers].concat();
    for (input, count) in [(NUMBERED_CHARACTERS, 8), (CHARACTERS, 7), (INSTANCES, 4)] {
        let found: Vec<_> = input.attributes.iter().map(|attribute| (attribute.binding, attribute.offset)).collect();
        assert_eq!(found, expected[..count]);
        assert!(input.attributes.iter().map(|attribute| attribute.location).eq(0..count as u32));
    }
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
    for (file_name, module) in modules().filter(|(file_name, _)| file_name.ends_with(".vert")) {
        let attributes = match file_name.split(['_', '.']).next() {
            Some("character" | "shadow" | "silhouette") => CHARACTERS.attributes,
            Some("debug" | "motion") => NUMBERED_CHARACTERS.attributes,
            Some("bone") => INSTANCES.attributes,
            Some("overlay") => overlay::VERTICES.attributes,
            _ => &[],
        };
        let expected = attributes.iter().map(|attribute| (attribute.location, components(attribute.format)));
        assert_eq!(module.inputs(), expected.collect(), "inputs of {file_name}, and attributes of its pipeline");
    }
}

#[test]
fn push_constants_and_sizes_of_groups_are_those_that_the_passes_have() {
    let expected = [
        ("character.vert", "CopyConstants", None),
        ("character_skinning.vert", "CopyConstants", None),
        ("debug_view.vert", "DebugConstants", None),
        ("debug_view_skinning.vert", "DebugConstants", None),
        ("environment_brdf.comp", "", Some(environment::GROUP_SIZE)),
        ("environment_irradiance.comp", "EnvironmentConstants", Some(environment::GROUP_SIZE)),
        ("environment_specular.comp", "EnvironmentConstants", Some(environment::GROUP_SIZE)),
        ("motion_view.vert", "MotionConstants", None),
        ("overlay.vert", "OverlayConstants", None),
        ("shadow.vert", "CopyConstants", None),
        ("shadow_skinning.vert", "CopyConstants", None),
        ("silhouette.vert", "CopyConstants", None),
        ("silhouette_skinning.vert", "CopyConstants", None),
        ("skin.comp", "SkinConstants", Some(VERTICES_PER_GROUP)),
        ("tone_map.frag", "ToneMapConstants", None),
    ];
    let expected = expected.map(|(file_name, name, size)| (file_name, name.to_owned(), size.map(|size| [size, 1, 1])));
    let found = modules().map(|(file_name, module)| (file_name, module.push_constants(), module.local_size()));
    assert_eq!(found.filter(|(_, name, size)| !name.is_empty() || size.is_some()).collect::<Vec<_>>(), expected);
}

/// Each shader that has a specialization constant has it under the id and the name of the member.
#[test]
fn specialization_constants_have_one_meaning_each() {
    let rust = rust_structs!(SpecializationConstants: features influence_count with_morphs with_tangents with_normals
        poses_per_group ground_is_shaded encodes_srgb with_dual_quaternions;);
    let members = rust[0].members.iter().map(|(name, offset)| (offset / 4, name.clone()));
    // Debug views add one.
    let members = members.chain([(SpecializationConstants::COUNT as u32, "debug_view".to_owned())]).collect();
    let constants = modules().flat_map(|(_, module)| module.specialization_constants());
    assert_eq!(constants.map(|(id, name)| (id, name.to_lowercase())).collect::<BTreeSet<_>>(), members);
}

macro_rules! constants {
    ($module:ident: $($name:ident)+) => { &[$((stringify!($name), $module::$name as u32)),+] };
}

#[test]
fn numbers_that_stand_in_two_languages_are_equal() {
    let features: &[(&str, u32)] = constants!(material_features: FLAT THIN MASKED BLENDED UNLIT TEX_COORDS_VARY
        BASE_COLOR_TEXTURE METALLIC_ROUGHNESS_TEXTURE OCCLUSION_TEXTURE EMISSIVE_TEXTURE NORMAL_TEXTURE TANGENTS DIELECTRIC
        EMITS COLOR_FACTOR MIRRORED_BY_CLIPS SHADOWED TRANSPARENT SPECULAR COPIES);
    assert!(features.iter().enumerate().all(|(rank, &(_, bit))| bit == 1 << rank), "one bit each");
    let views = constants!(DebugView: Normals Tangents TexCoords Weights Joints Influences Heat Instances Poses CLAY WIRES
        Lod Colors);
    let sizes = constants!(environment: IRRADIANCE_SIDE SPECULAR_SIDE ROUGHNESS_COUNT SPLIT_SUM_SIDE);
    let bone = [("OCTAHEDRON_VERTICES", 24), ("AXIS_VERTICES", 9), ("VERTICES_PER_BONE", bone_view::VERTICES_PER_BONE)];
    // The constants of a shader source whose names begin with a prefix, without it.
    for (file_name, prefix, expected) in [
        ("specialization.glsl", "FEATURE_", features),
        ("extras/debug_views.glsl", "VIEW_", views),
        ("environment_sizes.glsl", "", sizes),
        ("ground.vert", "", constants!(ground_pass: STEPS_PER_AXIS)),
        ("copies.glsl", "", constants!(copies: COPIED_VERTICES)),
        ("extras/bone_view.vert", "", &bone),
    ] {
        let source = text(&format!("shaders/{file_name}"));
        let declarations = source.lines().filter_map(|line| line.strip_prefix("const uint ")?.strip_prefix(prefix));
        let numbers = declarations.filter_map(|line| line.split_once(';')?.0.split_once(" = "));
        let word = |name: &str| name.replace('_', "").to_uppercase();
        let numbers: Vec<_> = numbers.filter_map(|(name, value)| Some((word(name), value.parse().ok()?))).collect();
        let expected: Vec<_> = expected.iter().map(|&(name, value)| (word(name), value)).collect();
        assert_eq!(numbers, expected, "{file_name}");
    }
}

#[test]
fn descriptors_lie_where_the_layouts_have_them() {
    // The resources of each set in the order of the bindings.
    let frame = "uniform FrameData, buffer Poses, buffer Palette, buffer MorphWeights, buffer Instances";
    let light = "texture shadow_map, texture irradiance_table, texture specular_table, texture split_sum_table";
    let model = "buffer BindVertices, buffer Influences, buffer MorphDeltas, buffer BindTangents, buffer MorphTangents, \
        buffer SkinOrder";
    let page = "buffer SkinnedVertices, buffer SkinnedTangents";
    let material = "uniform MaterialData, texture base_color_texture, texture metallic_roughness_texture, \
        texture occlusion_texture, texture emissive_texture, texture normal_texture";
    let last_page = "buffer LastInstances, buffer LastSkinnedVertices";
    let [frame, light, material] = [(FRAME_SET, frame), (LIGHT_SET, light), (MATERIAL_SET, material)];
    let [page, model] = [(VERTICES_SET, page), (VERTICES_SET, model)];
    let debug = (DEBUG_SET, "buffer DebugVertices, buffer DebugInfluences, buffer PaletteEntries");
    // The sets of the shaders whose names begin so.
    let layouts = [
        ("tone_map", vec![(0, "texture hdr_color")]),
        ("overlay", vec![(0, "texture atlas")]),
        ("outline", vec![(0, "texture silhouette")]),
        ("environment", vec![(0, "buffer IrradianceTexels, buffer SpecularTexels, buffer BrdfTexels")]),
        ("motion", vec![frame, page, (LAST_PAGE_SET, last_page), material]),
        ("debug_view_skinning", vec![frame, model, debug, material]),
        ("debug", vec![frame, page, debug, material]),
        ("bone", vec![frame, (BONES_SET, "buffer Bones")]),
        ("skin", vec![frame, (MODEL_SET, model.1), (PAGE_SET, page.1)]),
        ("character_skinning", vec![frame, model]),
        ("shadow_skinning", vec![frame, model]),
        ("silhouette_skinning", vec![frame, model]),
        ("", vec![frame, page, light, material]),
    ];
    let layouts = layouts.map(|(start, sets)| {
        let bindings = sets.iter().flat_map(|(set, resources)| {
            resources.split(", ").enumerate().map(move |(binding, resource)| format!("{set}.{binding} {resource}"))
        });
        (start, bindings.collect::<BTreeSet<String>>())
    });
    let mut used = BTreeSet::new();
    for (file_name, module) in modules() {
        let (_, allowed) = layouts.iter().find(|(start, _)| file_name.starts_with(start)).unwrap();
        for resource in module.resources() {
            assert!(allowed.contains(&resource), "{file_name} has {resource}, which no layout has");
            used.insert(resource);
        }
    }
    let all = layouts.into_iter().flat_map(|(_, bindings)| bindings);
    assert_eq!(used, all.collect(), "every binding of the layouts is used by a shader");
}

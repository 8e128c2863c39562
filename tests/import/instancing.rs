//! EXT_mesh_gpu_instancing: a node's mesh at several places.

use glam::{Affine3A, Quat, Vec3};
use serde_json::{Value, json};

use super::builder::{F32, Gltf, I16, warns};
use super::samples::sample;

const NAME: &str = "EXT_mesh_gpu_instancing";

/// The triangle at these places.
fn instanced(attributes: Value) -> Value {
    json!({NAME: {"attributes": attributes}})
}

#[test]
fn each_placement_is_a_palette_entry_of_the_node() {
    let mut gltf = Gltf::triangle();
    let translations = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
    // A quarter turn about z in the second place, stored as normalised integers; the third has no length.
    let half = (0.5_f32.sqrt() * 32_767.0).round() as i16;
    let rotations: [[i16; 4]; 3] = [[0, 0, 0, 32_767], [0, 0, half, half], [0; 4]];
    let rotations = gltf.accessor(I16, "VEC4", 3, bytemuck::cast_slice(&rotations));
    gltf.json["accessors"][rotations]["normalized"] = json!(true);
    let scales = gltf.f32s("VEC3", &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0, -1.0, 1.0, 1.0]);
    let ids = gltf.accessor(F32, "SCALAR", 3, &[0; 12]);
    gltf.json["nodes"][0]["extensions"] =
        instanced(json!({"TRANSLATION": translations, "ROTATION": rotations, "SCALE": scales, "_ID": ids}));
    gltf.json["extensionsRequired"] = json!([NAME]);
    let model = gltf.model();

    assert_eq!(model.palette.nodes, [0, 0, 0]);
    let turned = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let expected = [
        Affine3A::IDENTITY,
        Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), turned, Vec3::X * 5.0),
        Affine3A::from_scale_rotation_translation(Vec3::new(-1.0, 1.0, 1.0), Quat::IDENTITY, Vec3::Y * 7.0),
    ];
    for (found, expected) in model.palette.joint_from_mesh.iter().zip(expected) {
        assert!(found.abs_diff_eq(expected, 1e-4), "{found:?} for {expected:?}");
    }
    let geometry = &model.geometry;
    assert_eq!((geometry.vertex_count(), geometry.triangle_count()), (9, 3));
    let instances: Vec<_> = geometry.source_primitives.iter().map(|source| (source.node, source.instance)).collect();
    assert_eq!(instances, [(0, Some(0)), (0, Some(1)), (0, Some(2))]);
    for source in &geometry.source_primitives {
        for &vertex in &source.vertices {
            assert_eq!(Some(geometry.influences_of(vertex as usize)[0].joint), source.instance);
        }
    }
    // The third is mirrored, so it cannot be drawn together with the others.
    let ranges: Vec<(u32, bool)> = geometry.draw_ranges.iter().map(|r| (r.index_count, r.mirrored)).collect();
    assert_eq!(ranges, [(6, false), (3, true)]);
    assert!(warns(&model, "attributes.ROTATION (accessors[2]): a rotation without length is read as no rotation"));
    assert!(warns(&model, "attributes._ID (accessors[4]): is not drawn"), "{:?}", model.warnings);
}

#[test]
fn any_attribute_may_be_missing_and_no_placement_is_none() {
    let mut gltf = Gltf::triangle();
    let scales = gltf.f32s("VEC3", &[2.0, 3.0, 4.0, 1.0, 1.0, 1.0]);
    let none = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 0}));
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"SCALE": scales}));
    let model = gltf.model();
    assert_eq!(model.palette.joint_from_mesh[0], Affine3A::from_scale(Vec3::new(2.0, 3.0, 4.0)));
    assert_eq!((model.palette.len(), model.geometry.triangle_count()), (2, 2));
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"SCALE": none}));
    assert_eq!(gltf.model().geometry.triangle_count(), 0);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({}));
    let model = gltf.model();
    assert_eq!((model.palette.len(), model.geometry.source_primitives[0].instance), (1, None));
    assert!(warns(&model, "the number of placements is unknown; the mesh is drawn once"));
}

#[test]
fn a_skinned_mesh_is_drawn_once() {
    let mut gltf = Gltf::skinned([[0; 4]; 3], [[1.0, 0.0, 0.0, 0.0]; 3]);
    let translations = gltf.f32s("VEC3", &[0.0; 6]);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": translations}));
    let model = gltf.model();
    assert_eq!((model.palette.len(), model.geometry.triangle_count()), (2, 1));
    assert!(warns(&model, &format!("nodes[0].extensions.{NAME}: the mesh has a skin and is drawn once")));
}

#[test]
fn counts_numbers_and_amounts_are_checked() {
    let mut gltf = Gltf::triangle();
    let two = gltf.f32s("VEC3", &[0.0; 6]);
    let three = gltf.f32s("VEC3", &[1.0; 9]);
    let infinite = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, f32::INFINITY, 0.0]);
    let many = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 1 << 20}));
    let at = format!("test.gltf: nodes[0].extensions.{NAME}");
    let error = |attributes: Value| {
        let mut gltf = Gltf { json: gltf.json.clone(), bytes: gltf.bytes.clone() };
        gltf.json["nodes"][0]["extensions"] = instanced(attributes);
        gltf.error()
    };
    assert_eq!(
        error(json!({"SCALE": two, "TRANSLATION": three})),
        format!("{at}.attributes.TRANSLATION (accessors[{three}]): 3 elements, but SCALE has 2")
    );
    assert_eq!(
        error(json!({"TRANSLATION": infinite})),
        format!("{at}.attributes.TRANSLATION (accessors[{infinite}]): placement 1 is not finite")
    );
    assert!(error(json!({"ROTATION": two})).ends_with("Vec3 elements, expected Vec4"));
    assert!(error(json!({"SCALE": 99})).contains("accessors[99] does not exist"));
    assert!(error(json!([])).starts_with(&format!("{at}: invalid type")));
    // A million places that no byte of the file accounts for.
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": many}));
    let model = gltf.model();
    let drawn = model.palette.len();
    assert!((1000..1 << 18).contains(&drawn), "{drawn}");
    assert_eq!(model.geometry.triangle_count(), drawn);
    assert!(warns(&model, &format!("nodes[0]: of 1048576 placements {drawn} are drawn")));
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn sample_models_show_all_their_placements() {
    let cubes = sample("SimpleInstancing/simple-instancing.glb");
    assert_eq!((cubes.palette.len(), cubes.geometry.triangle_count()), (125, 125 * 12));
    let teapots = sample("BlenderGpuInstancing/24_gpu_instancing.gltf");
    // 1,899 teapots of 2,204 vertices in a file of 158 kB: more than it may become.
    let of_node = |node: u32| teapots.geometry.source_primitives.iter().filter(|source| source.node == node).count();
    assert_eq!([0, 3, 4].map(of_node), [1, 118, 59]);
    assert!(warns(&teapots, "nodes[3]: of 958 placements 118 are drawn"), "{:?}", teapots.warnings);
    let chosen = teapots.geometry.source_primitives.iter().filter(|source| source.node == 3).filter_map(|s| s.instance);
    assert!(chosen.collect::<Vec<_>>().windows(2).all(|pair| (8..=9).contains(&(pair[1] - pair[0]))));
}

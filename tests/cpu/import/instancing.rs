//! Tests of EXT_mesh_gpu_instancing: the mesh of a node at several placements.

use glam::{Affine3A, Quat, Vec2, Vec3};
use serde_json::{Value, json};

use std::sync::Arc;

use throng::animation::{PoseScratch, pose_model, skinned_positions};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings};
use throng::measure::{floor_height, gait_of, posed_bounds, worst_displacement};
use throng::model::{Model, PlacedMesh};
use throng::view::{OrbitCamera, Ray};

use super::samples::sample;
use crate::common::builder::{F32, Gltf, I16, U8, check_invariants, warns};
use crate::common::placed::{PLACEMENTS, placed_and_copied};

const NAME: &str = "EXT_mesh_gpu_instancing";

/// Returns one white texel as PNG.
const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==";

/// Returns the model with vertices for each placement.
fn copied(model: &Model) -> Model {
    let mut copied = model.clone();
    copied.geometry.copy_placements();
    check_invariants(&copied);
    copied
}

/// Makes the triangle with these placements.
fn instanced(attributes: Value) -> Value {
    json!({NAME: {"attributes": attributes}})
}

#[test]
fn each_placement_is_a_palette_entry_of_the_node() {
    let mut gltf = Gltf::triangle();
    let translations = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
    // The second placement is a quarter turn about z, as normalised integers; the third rotation has length zero.
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
    // The third placement is mirrored, so it needs vertices and a draw range of its own.
    assert_eq!((geometry.vertex_count(), geometry.triangle_count()), (6, 3));
    let mesh = |vertices, palette_entries, placements| PlacedMesh { vertices, palette_entries, placements };
    assert_eq!(geometry.placed_meshes, [mesh(0..3, 0..2, vec![0, 1]), mesh(3..6, 2..3, vec![2])]);
    let ranges: Vec<(u32, bool)> = geometry.draw_ranges.iter().map(|r| (r.index_count, r.mirrored)).collect();
    assert_eq!(ranges, [(3, false), (3, true)]);
    let model = copied(&model);
    let geometry = &model.geometry;
    assert_eq!((geometry.vertex_count(), geometry.triangle_count()), (9, 3));
    let instances: Vec<_> = geometry.source_primitives.iter().map(|source| (source.node, source.placement)).collect();
    assert_eq!(instances, [(0, Some(0)), (0, Some(1)), (0, Some(2))]);
    for source in &geometry.source_primitives {
        for &vertex in &source.vertices {
            assert_eq!(Some(geometry.influences_of(vertex as usize)[0].joint), source.placement);
        }
    }
    let ranges: Vec<(u32, bool)> = geometry.draw_ranges.iter().map(|r| (r.index_count, r.mirrored)).collect();
    assert_eq!(ranges, [(6, false), (3, true)]);
    assert!(warns(&model, "attributes.ROTATION (accessors[2]): a rotation of length zero is read as no rotation"));
    assert!(warns(&model, "attributes._ID (accessors[4]): is ignored"), "{:?}", model.warnings);
}

/// Makes two primitives with a material each. The second one has a normal map, a morph target, and a vertex that
/// nothing draws.
fn two_parts() -> Gltf {
    let mut gltf = Gltf::triangle();
    let positions = gltf.f32s("VEC3", &[0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 5.0, 5.0, 5.0]);
    let normals = gltf.f32s("VEC3", &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    let tangents =
        gltf.f32s("VEC4", &[1.0, 0.0, 0.0, 1.0, 0.6, 0.8, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0]);
    let deltas = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    let zeros = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 3}));
    let indices = gltf.accessor(U8, "SCALAR", 3, &[2, 0, 1]);
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["images"] = json!([{"uri": PIXEL}]);
    gltf.push("materials", json!({}));
    gltf.push("materials", json!({"normalTexture": {"index": 0}}));
    let primitives = gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    primitives[0]["material"] = json!(0);
    primitives[0]["targets"] = json!([{"POSITION": zeros}]);
    primitives.push(json!({
        "attributes": {"POSITION": positions, "NORMAL": normals, "TANGENT": tangents},
        "indices": indices, "material": 1, "targets": [{"POSITION": deltas}],
    }));
    gltf
}

#[test]
fn copies_equal_the_mesh_except_for_their_joint() {
    let mut gltf = two_parts();
    let scales = gltf.f32s("VEC3", &[1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, -3.0]);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"SCALE": scales}));
    // The same mesh without placements, with which every copy must agree.
    gltf.push("nodes", json!({"mesh": 0}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let model = copied(&gltf.model());
    let geometry = &model.geometry;

    assert_eq!(model.palette.nodes, [0, 0, 0, 0, 1]);
    // The palette has the second and the last placement, which are mirrored, after the others.
    let entry_of = [0, 2, 1, 3, 4];
    assert_eq!((geometry.vertex_count(), geometry.triangle_count()), (7 * 5, 2 * 5));
    let sources = &geometry.source_primitives;
    let names: Vec<_> = sources.iter().map(|source| (source.node, source.placement, source.primitive)).collect();
    let placed = (0..4).flat_map(|instance| [(0, Some(instance), 0), (0, Some(instance), 1)]);
    assert_eq!(names, placed.chain([(1, None, 0), (1, None, 1)]).collect::<Vec<_>>());
    for (k, source) in sources.iter().enumerate() {
        let alone = &sources[8 + k % 2];
        assert_eq!((source.has_normals, source.vertices.len()), (alone.has_normals, alone.vertices.len()));
        for (&copy, &vertex) in source.vertices.iter().zip(&alone.vertices) {
            let (copy, vertex) = (copy as usize, vertex as usize);
            assert_eq!(geometry.positions[copy], geometry.positions[vertex]);
            assert_eq!(geometry.normals[copy], geometry.normals[vertex]);
            assert_eq!(geometry.tangents[copy], geometry.tangents[vertex]);
            let deltas = |vertex| geometry.morph_deltas_of(vertex).iter().map(|delta| delta.position);
            assert!(deltas(copy).eq(deltas(vertex)));
            let influences: Vec<_> = geometry.influences_of(copy).iter().map(|i| (i.joint, i.weight)).collect();
            assert_eq!(influences, [(entry_of[k / 2], 1.0)]);
        }
    }
    // There are two materials with two windings each, and then the node without placements.
    let ranges: Vec<_> = geometry.draw_ranges.iter().map(|r| (r.material, r.index_count, r.mirrored)).collect();
    assert_eq!(ranges, [(0, 6, false), (0, 6, true), (1, 6, false), (1, 6, true), (0, 3, false), (1, 3, false)]);
    // Each copy draws its own vertices; those of the second primitive start at the third vertex.
    let drawn_of = |range: usize| {
        let first = geometry.draw_ranges[range].first_index as usize;
        geometry.indices[first..first + geometry.draw_ranges[range].index_count as usize].as_chunks::<3>().0.to_vec()
    };
    for (range, copies) in [(2, [0, 2]), (3, [1, 3])] {
        for (drawn, copy) in drawn_of(range).into_iter().zip(copies) {
            let vertices = &sources[2 * copy + 1].vertices;
            let turned = |shift: usize| [2, 0, 1].map(|corner| vertices[(corner + shift) % 3]);
            assert!((0..3).any(|shift| turned(shift) == drawn), "{drawn:?} of {vertices:?}");
        }
    }
}

#[test]
fn a_mesh_that_cannot_be_read_once_is_left_out() {
    let mut gltf = Gltf::triangle();
    gltf.json["accessors"][0] = json!({"componentType": F32, "type": "VEC3", "count": 1 << 20});
    let scales = gltf.f32s("VEC3", &[1.0; 6]);
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"SCALE": scales}));
    let model = gltf.model();
    assert_eq!(model.geometry.vertex_count(), 0);
    assert!(warns(&model, "nodes[0]: 0 of 2 placements are drawn: files of this size allow no more"));
    let mesh = &mut gltf.json["meshes"][0]["primitives"][0];
    mesh["attributes"] = json!({});
    let model = gltf.model();
    assert!(warns(&model, "no POSITION, so there is nothing to draw"), "{:?}", model.warnings);
}

/// If the limits allow fewer placements, the drawn ones are spread over all of them, and a warning gives their number.
#[test]
fn excess_placements_of_a_small_file_are_left_out_evenly() {
    const VERTICES: usize = 5000;
    let mut gltf = Gltf::triangle();
    let positions: Vec<f32> = (0..3 * VERTICES).map(|number| number as f32).collect();
    let positions = gltf.f32s("VEC3", &positions);
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = json!(positions);
    let many = gltf.push("accessors", json!({"componentType": F32, "type": "VEC3", "count": 3000}));
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": many}));
    let model = gltf.model();
    let drawn = model.palette.len();
    // All copies together have four million vertices.
    assert_eq!(drawn, ((4 << 20) - (32 << 10)) / VERTICES);
    assert_eq!((model.geometry.vertex_count(), model.geometry.shown_vertex_count()), (VERTICES, drawn * VERTICES));
    assert!(warns(&model, &format!("nodes[0]: {drawn} of 3000 placements are drawn: files of this size")));
    let chosen = &model.geometry.placed_meshes[0].placements;
    assert!(chosen.windows(2).all(|pair| (3..=4).contains(&(pair[1] - pair[0]))), "{chosen:?}");
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
    assert_eq!((model.palette.len(), model.geometry.source_primitives[0].placement), (1, None));
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
    // A million placements take no bytes in the file.
    gltf.json["nodes"][0]["extensions"] = instanced(json!({"TRANSLATION": many}));
    let model = gltf.model();
    let drawn = model.palette.len();
    // The first placement is read, and the copies may use half of the remaining primitives of a small file.
    assert_eq!(drawn, 1 << 15);
    assert_eq!(model.geometry.triangle_count(), drawn);
    assert!(warns(&model, &format!("nodes[0]: {drawn} of 1048576 placements are drawn")));
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn sample_models_show_all_their_placements() {
    let cubes = sample("SimpleInstancing/simple-instancing.glb");
    assert_eq!((cubes.palette.len(), cubes.geometry.triangle_count()), (125, 125 * 12));
    let teapots = sample("BlenderGpuInstancing/24_gpu_instancing.gltf");
    // The file of 158 kB has 1,899 teapots of 2,204 vertices.
    let meshes = teapots.geometry.placed_meshes.iter();
    assert_eq!(meshes.map(PlacedMesh::len).collect::<Vec<_>>(), [958, 941]);
    // After welding, a teapot has 2,179 vertices.
    assert_eq!(
        (teapots.geometry.vertex_count(), teapots.geometry.shown_vertex_count()),
        (4 + 2 * 2179, 4 + 1899 * 2179)
    );
    assert_eq!(teapots.geometry.triangle_count(), 2 + 1899 * 4032);
    assert!(teapots.warnings.is_empty(), "{:?}", teapots.warnings);
}

/// Everything that the CPU measures counts each placement.
#[test]
fn measures_see_every_placement() {
    let models = placed_and_copied(true);
    let [placed, copied] = &models;
    assert_eq!(placed.geometry.shown_vertex_count(), copied.geometry.vertex_count());
    assert_eq!(placed.geometry.triangle_count(), copied.geometry.triangle_count());
    let clip = &placed.clips[0];
    let mut scratch = PoseScratch::for_model(placed);
    for seconds in [0.0, 0.6] {
        let [one, many] = models.each_ref().map(|model| {
            let mut positions = Vec::new();
            skinned_positions(model, pose_model(model, Some(clip), seconds, &mut scratch), &mut positions);
            positions
        });
        assert!(one.len() == many.len() && one == many, "the same positions in the same order");
    }
    assert_eq!(floor_height(placed), floor_height(copied));
    assert_eq!(gait_of(placed, clip), gait_of(copied, clip));
    assert_eq!(worst_displacement(placed, clip, 0.1), worst_displacement(copied, clip, 0.1));
    let bounds = models.each_ref().map(|model| posed_bounds(model, Some(clip)));
    assert_eq!(bounds[0], bounds[1]);
}

#[test]
fn picking_finds_every_placement() {
    let settings = CrowdSettings { instance_count: 3, clip: ClipChoice::Index(0), ..CrowdSettings::default() };
    let crowds = placed_and_copied(true).map(|model| Crowd::new(Arc::from(vec![model]), &settings).unwrap());
    let [placed, copied] = &crowds;
    let outlines = crowds.each_ref().map(|crowd| crowd.outline(0.4));
    assert_eq!(format!("{:?}", outlines[0]), format!("{:?}", outlines[1]));
    let camera = OrbitCamera::framing(&outlines[0], 1.5);
    let mut hits = 0;
    for point in (0..40 * 40).map(|k| Vec2::new((k % 40) as f32 + 0.5, (k / 40) as f32 + 0.5) / 40.0) {
        let ray = Ray::through(&camera, 1.5, point);
        let found = placed.pick(&ray, 0.4);
        assert_eq!(found, copied.pick(&ray, 0.4));
        hits += usize::from(found.is_some());
    }
    assert!(hits > 10 * PLACEMENTS, "{hits} hits");
}

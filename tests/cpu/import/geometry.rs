//! Tests of primitives, topologies, welding and draw ranges.

use glam::{Vec2, Vec3};
use serde_json::json;
use throng::model::{DrawRange, Topology};

use crate::common::builder::{Gltf, U8, drawn_vertices, warns};

#[test]
fn a_bare_triangle_is_flat_shaded_white_and_follows_its_node() {
    let model = Gltf::triangle().model_without_warnings();
    let geometry = &model.geometry;
    assert_eq!(geometry.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!(geometry.normals, [Vec3::Z; 3]);
    assert_eq!(geometry.tex_coords, [[Vec2::ZERO; 2]; 3]);
    assert_eq!(geometry.colors, [[255; 4]; 3]);
    assert_eq!(geometry.indices, [0, 1, 2]);
    assert_eq!(geometry.influence_starts, [0, 1, 2, 3]);
    assert!(geometry.influences.iter().all(|influence| (influence.joint, influence.weight) == (0, 1.0)));
    // The default range has triangles, material 0, no tangents, and is not mirrored.
    assert_eq!(geometry.draw_ranges, [DrawRange { index_count: 3, flat_shaded: true, ..DrawRange::default() }]);
    assert_eq!((model.palette.nodes.as_slice(), model.materials.len()), ([0].as_slice(), 1));
    let source = &geometry.source_primitives[0];
    assert_eq!((source.node, source.mesh, source.primitive, source.skin), (0, 0, 0, None));
    assert!(!source.has_normals);
}

#[test]
fn all_topologies_become_lists() {
    for (mode, topology, indices) in [
        (0, Topology::Points, vec![0, 1, 2, 3]),
        (1, Topology::Lines, vec![0, 1, 2, 3]),
        (2, Topology::Lines, vec![0, 1, 1, 2, 2, 3, 3, 0]),
        (3, Topology::Lines, vec![0, 1, 1, 2, 2, 3]),
        (4, Topology::Triangles, vec![0, 1, 2]),
        (5, Topology::Triangles, vec![0, 1, 2, 1, 3, 2]),
        (6, Topology::Triangles, vec![0, 1, 2, 0, 2, 3]),
    ] {
        let mut gltf = Gltf::triangle();
        let position = gltf.f32s("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
        *gltf.primitive() = json!({"attributes": {"POSITION": position}, "mode": mode});
        let model = gltf.model();
        assert_eq!(drawn_vertices(&model), indices, "mode {mode}");
        let [range] = model.geometry.draw_ranges[..] else { panic!("mode {mode}: one draw") };
        assert_eq!((range.topology, range.index_count as usize), (topology, indices.len()), "mode {mode}");
        assert_eq!(model.geometry.count_of(topology), indices.len() / topology.corner_count());
        // One vertex makes points alone.
        gltf.json["accessors"][position]["count"] = json!(1);
        assert_eq!(gltf.model().geometry.indices.len(), usize::from(mode == 0), "mode {mode}");
        // Four vertices are not a whole number of triangles.
        assert_eq!(warns(&model, "meshes[0].primitives[0]: 4 indices are not a multiple of 3"), mode == 4);
    }
}

#[test]
fn equal_vertices_are_welded_and_source_vertices_are_kept() {
    let mut gltf = Gltf::triangle();
    // The quad has six vertices, two of which repeat. The colour of the last one differs from its twin.
    let quad = [[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]].map(|[x, y]| [x as f32, y as f32, 0.0]);
    gltf.attribute("POSITION", "VEC3", quad.as_flattened());
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.source_primitives[0].vertices, [0, 1, 2, 2, 1, 3]);
    assert_eq!(geometry.indices, [0, 1, 2, 2, 1, 3]);
    assert_eq!((geometry.vertex_count(), geometry.triangle_count()), (4, 2));

    let mut colors = [[255_u8, 255, 255, 255]; 6];
    colors[3] = [255, 0, 51, 255];
    let color = gltf.normalized(U8, "VEC4", 6, colors.as_flattened());
    gltf.primitive()["attributes"]["COLOR_0"] = json!(color);
    let geometry = gltf.model().geometry;
    assert_eq!(geometry.source_primitives[0].vertices, [0, 1, 2, 3, 1, 4]);
    assert_eq!(geometry.colors[3], [255, 0, 51, 255]);
}

#[test]
fn a_mesh_on_two_nodes_is_read_twice_and_mirroring_is_found() {
    let mut gltf = Gltf::triangle();
    gltf.push("nodes", json!({"mesh": 0, "scale": [-1, 1, 1]}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let model = gltf.model();
    assert_eq!((model.geometry.vertex_count(), model.palette.nodes.as_slice()), (6, [0, 1].as_slice()));
    let mirrored: Vec<bool> = model.geometry.draw_ranges.iter().map(|range| range.mirrored).collect();
    assert_eq!(mirrored, [false, true]);
    assert_eq!(model.geometry.source_primitives[1].vertices, [3, 4, 5]);
    assert_eq!(model.geometry.influences_of(4)[0].joint, 1);

    // Parts with the same properties are one draw range.
    gltf.json["nodes"][1]["scale"] = json!([1, 1, 1]);
    let ranges = gltf.model().geometry.draw_ranges;
    assert_eq!((ranges.len(), ranges[0].index_count), (1, 6));
}

#[test]
fn indices_and_counts_are_checked() {
    let mut gltf = Gltf::triangle();
    let indices = gltf.accessor(U8, "SCALAR", 4, &[0, 1, 3, 1]);
    let normals = gltf.f32s("VEC3", &[0.0; 6]);
    let path = |of: &str| format!("meshes/0/primitives/0/{of}");
    let [outside, few] = ["index 3 at 2, but there are 3 vertices", "2 elements for 3 vertices"];
    let at = "meshes[0].primitives[0].";
    gltf.mistakes(at).are_refused([(&path("indices"), json!(indices), &format!("indices (accessors[1]): {outside}"))]);
    let few = format!("attributes.NORMAL (accessors[2]): {few}…");
    gltf.mistakes(at).are_left_out([(&path("attributes/NORMAL"), json!(normals), &few)]);
    // What is broken costs its own primitive.
    let whole = gltf.primitive().clone();
    let mut broken = whole.clone();
    broken["indices"] = json!(indices);
    let primitives = json!([broken, whole]);
    let outside = format!("indices (accessors[1]): {outside}…");
    gltf.mistakes(at).are_left_out([("meshes/0/primitives", primitives, &outside)]);
    gltf.bytes[12..16].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let problem = "meshes[0].primitives[0]: 1 vertices are not finite; 1 elements with them are left out";
    assert!(gltf.error().ends_with(problem), "{}", gltf.error());
}

#[test]
fn degenerate_normals_and_missing_positions_give_warnings() {
    let mut gltf = Gltf::triangle();
    // The last normal is so short that its squared length is zero in f32.
    gltf.attribute("NORMAL", "VEC3", &[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 3e-44, 0.0]);
    gltf.json["meshes"][0]["primitives"] = json!([gltf.primitive(), {"attributes": {}}]);
    let model = gltf.model_that_warns(&["2 normals without a direction", "primitives[1].attributes: no POSITION"]);
    assert_eq!(model.geometry.normals, [Vec3::Z, Vec3::Z, Vec3::Y]);
    assert!(!model.geometry.draw_ranges[0].flat_shaded);
    assert_eq!(model.geometry.source_primitives.len(), 1);
}

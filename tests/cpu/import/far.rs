//! Bodies that are far from the origin of their file are near that of their model, and reports know where they were.

use glam::{DVec3, Mat4, Vec3};
use serde_json::{Value, json};
use throng::model::Model;

use crate::common::builder::{Gltf, check_invariants};
use crate::common::pose::skinned;

/// A place on a map, which 32-bit numbers have exactly: half a metre apart.
const FAR: [f32; 3] = [512_345.5, 34.5, -5_403_210.5];

/// A triangle that two joints move, of which a clip turns the second one and moves the first one by a metre.
fn body(place: [f32; 3]) -> Gltf {
    let mut gltf = Gltf::skinned(
        [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]],
        [[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    );
    gltf.json["nodes"][1]["translation"] = json!(place);
    gltf.animate(2, "rotation", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);
    gltf
}

/// Adds keys for the first joint: from a place to one a metre beside it. With tangents it is a spline.
fn moving(mut gltf: Gltf, place: [f32; 3], with_tangents: bool) -> Gltf {
    let times = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let end = [place[0] + 1.0, place[1], place[2]];
    let tangent = [0.5f32, 1.0, -2.0];
    let (interpolation, keys) = if with_tangents {
        ("CUBICSPLINE", vec![tangent, place, tangent, tangent, end, tangent])
    } else {
        ("LINEAR", vec![place, end])
    };
    let output = gltf.f32s("VEC3", keys.as_flattened());
    gltf.push("animations/0/samplers", json!({"input": times, "output": output, "interpolation": interpolation}));
    gltf.push("animations/0/channels", json!({"sampler": 1, "target": {"node": 1, "path": "translation"}}));
    gltf
}

/// Adds a place to all vertices, and inverse bind matrices that take them back; with `joints`, to joints that are there, too.
fn baked(mut gltf: Gltf, place: [f32; 3]) -> Gltf {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y].map(|corner| (corner + Vec3::from(place)).to_array());
    gltf.attribute("POSITION", "VEC3", corners.as_flattened());
    if gltf.json["skins"][0].is_object() {
        let matrix = Mat4::from_translation(-Vec3::from(place)).to_cols_array();
        let matrices = gltf.f32s("MAT4", &[matrix, matrix].concat());
        gltf.json["skins"][0]["inverseBindMatrices"] = json!(matrices);
    }
    gltf
}

#[test]
fn far_bodies_are_as_exact_as_at_the_origin() {
    let zero = [0.0; 3];
    let positions = |model: &Model, seconds: f64| skinned(model, model.clips.first(), seconds);
    let matrix = |gltf: Gltf, [x, y, z]: [f32; 3]| {
        let matrix = json!([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1]);
        gltf.with(&[("nodes/1/matrix", matrix), ("nodes/1/translation", Value::Null)])
    };
    let below = |mut gltf: Gltf, place: [f32; 3]| {
        let root = gltf.push("nodes", json!({"children": [1], "translation": place}));
        gltf.json["scenes"][0]["nodes"] = json!([0, root]);
        gltf
    };
    let rigid = |place: [f32; 3]| baked(Gltf::triangle(), place);
    let mut placed = rigid(zero);
    placed.json["nodes"][0]["translation"] = json!(FAR);
    let cases = [
        ("a root", body(FAR), body(zero)),
        ("a root with a matrix", matrix(body(zero), FAR), matrix(body(zero), zero)),
        ("a root above", below(body(zero), FAR), below(body(zero), zero)),
        ("a node below the root", below(body(FAR), zero), below(body(zero), zero)),
        ("keys of the root", moving(body(FAR), FAR, false), moving(body(zero), zero, false)),
        ("splines of the root", moving(body(FAR), FAR, true), moving(body(zero), zero, true)),
        ("vertices and joints", baked(body(FAR), FAR), body(zero)),
        ("a mesh without a skin", placed, rigid(zero)),
        ("vertices of a mesh without a skin", rigid(FAR), rigid(zero)),
    ];
    for (what, far, near) in cases {
        let (far, near) = (far.model(), near.model());
        check_invariants(&far);
        assert_eq!(near.source.origin, Vec3::ZERO, "{what}");
        for seconds in [0.0, 0.3, 1.0] {
            let place = Vec3::from(FAR).as_dvec3();
            for (found, wanted) in positions(&far, seconds).into_iter().zip(positions(&near, seconds)) {
                assert!(found.length() < 4.0, "{what}: {found}");
                let in_file: DVec3 = found.as_dvec3() + far.source.origin.as_dvec3();
                let error = in_file.distance(wanted.as_dvec3() + place);
                assert!(error < 1e-6, "{what} at {seconds}: {in_file} instead of {wanted} + {place}");
            }
        }
    }
    // The file's digits count, also those beyond 32 bits.
    let place = [512_345.6f64, 34.5, -5_403_210.9];
    let mut exact = body([0.0; 3]);
    exact.json["nodes"][1]["translation"] = json!(place);
    for mut gltf in [exact.clone(), matrix(exact, [0.0; 3])] {
        if let Some(matrix) = gltf.json["nodes"][1].get_mut("matrix") {
            (12..15).for_each(|at| matrix[at] = json!(place[at - 12]));
        }
        let model = gltf.model();
        let root = model.skeleton.rest_matrices()[1].translation.as_dvec3() + model.source.origin.as_dvec3();
        assert!(root.distance(DVec3::from(place)) < 1e-8, "{root}");
    }
    // Vertices near the origin, whose joints take them far away, and back.
    let bound = baked(body(zero), FAR).model();
    let expected = positions(&body(zero).model(), 0.3);
    assert_eq!((bound.source.origin, positions(&bound, 0.3)), (Vec3::ZERO, expected));
    assert_eq!(bound.source.mesh_origin, Vec3::from(FAR) + Vec3::new(0.5, 0.5, 0.0));
}

#[test]
fn what_is_not_far_stays_and_what_is_coarse_is_said() {
    for place in [[0.0; 3], [5.0, 0.0, 0.0], [90.0, 0.0, 0.0]] {
        let model = body(place).model();
        assert_eq!((model.source.origin, model.source.mesh_origin), (Vec3::ZERO, Vec3::ZERO), "{place:?}");
    }
    let warnings = baked(body(FAR), FAR).model().warnings;
    assert!(matches!(&warnings[..], [one] if one.contains("numbers of 32 bits are 0.5 apart")), "{warnings:?}");
    assert!(baked(body([500.0; 3]), [500.0; 3]).model().warnings.is_empty());
    // The largest numbers, and those that overflow when they are subtracted.
    for place in [[f32::MAX; 3], [f32::MIN, f32::MAX, 0.0], [3e38, 0.0, 0.0], [1e-38, 0.0, 0.0]] {
        for gltf in [body(place), baked(body(place), place), moving(body(place), place.map(|x| -x), true)] {
            if let Ok(model) = gltf.load() {
                check_invariants(&model);
            }
        }
    }
}

//! A model whose mesh is shown at several placements (EXT_mesh_gpu_instancing), next to a part that is shown once.

use glam::{Mat3, Quat, Vec3};
use serde_json::json;
use throng::model::Model;

use super::builder::{F32, Gltf, U16};

/// The number of placements; the second and the fifth one mirror the mesh.
pub const PLACEMENTS: usize = 6;
const AROUND: u16 = 24;
const ALONG: u16 = 12;
/// The number of triangles of the mesh.
pub const TRIANGLES: usize = 2 * AROUND as usize * ALONG as usize;

/// Returns a model of a torus with a morph target, some lines, and a clip that turns the node and morphs the mesh. Placements
/// have any rotation, and scales that differ by axis if `stretched`.
pub fn gltf(stretched: bool) -> Gltf {
    let mut gltf = Gltf::new();
    let (mut positions, mut normals, mut deltas) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..AROUND {
        for j in 0..ALONG {
            let [a, b] = [(i, AROUND), (j, ALONG)].map(|(k, n)| std::f32::consts::TAU * f32::from(k) / f32::from(n));
            let turn = Mat3::from_rotation_y(a);
            let normal = turn * Vec3::new(b.cos(), b.sin(), 0.0);
            positions.push(turn * Vec3::X * 0.5 + normal * 0.2);
            normals.push(normal);
            deltas.push(if i % 4 == 0 { normal * 0.15 } else { Vec3::ZERO });
        }
    }
    let at = |i: u16, j: u16| i % AROUND * ALONG + j % ALONG;
    let quad = |(i, j)| [at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
    let triangles: Vec<u16> = (0..AROUND).flat_map(|i| (0..ALONG).map(move |j| (i, j))).flat_map(quad).collect();
    let lines: Vec<u16> = (0..AROUND).flat_map(|i| [at(i, 3), at(i + 5, 9)]).collect();
    let [triangles, lines] =
        [triangles, lines].map(|list| gltf.accessor(U16, "SCALAR", list.len(), bytemuck::cast_slice(&list)));
    let [positions, normals, deltas] =
        [positions, normals, deltas].map(|list| gltf.f32s("VEC3", bytemuck::cast_slice(&list)));
    let primitive = |indices: usize, mode: u32, material: usize| {
        json!({
            "attributes": {"POSITION": positions, "NORMAL": normals}, "targets": [{"POSITION": deltas}],
            "indices": indices, "mode": mode, "material": material,
        })
    };
    gltf.push("meshes", json!({"primitives": [primitive(triangles, 4, 0), primitive(lines, 1, 1)]}));
    for color in [[0.8, 0.3, 0.2, 1.0], [0.1, 0.5, 0.9, 1.0]] {
        gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorFactor": color, "metallicFactor": 0}}));
    }
    let (mut translations, mut rotations, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..PLACEMENTS {
        let angle = std::f32::consts::TAU * k as f32 / PLACEMENTS as f32;
        translations.push(Vec3::new(2.0 * angle.cos(), 0.5 + 0.2 * k as f32, 2.0 * angle.sin()));
        rotations.push(Quat::from_euler(glam::EulerRot::YXZ, angle, 0.3 * k as f32, 0.2));
        let scale = if stretched {
            Vec3::new(0.5 + 0.2 * k as f32, 1.0, 1.3 - 0.1 * k as f32)
        } else {
            Vec3::splat(0.6 + 0.1 * k as f32)
        };
        scales.push(if k % 3 == 1 { scale * Vec3::new(-1.0, 1.0, 1.0) } else { scale });
    }
    let translations = gltf.f32s("VEC3", bytemuck::cast_slice(&translations));
    let rotations = gltf.accessor(F32, "VEC4", PLACEMENTS, bytemuck::cast_slice(&rotations));
    let scales = gltf.f32s("VEC3", bytemuck::cast_slice(&scales));
    let attributes = json!({"TRANSLATION": translations, "ROTATION": rotations, "SCALE": scales});
    gltf.push("nodes", json!({"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}}}));
    gltf.push("nodes", json!({"mesh": 0, "translation": [0, 0.7, 0]}));
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    let times = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let turns = gltf.f32s("VEC4", bytemuck::cast_slice(&[Quat::IDENTITY, Quat::from_rotation_y(1.0)]));
    let weights = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let clip = gltf.animation(0, "rotation", "LINEAR", times, turns);
    let clip = &mut gltf.json["animations"][clip];
    clip["samplers"].as_array_mut().unwrap().push(json!({"input": times, "output": weights}));
    clip["channels"].as_array_mut().unwrap().push(json!({"sampler": 1, "target": {"node": 0, "path": "weights"}}));
    gltf
}

/// Returns the model with placed meshes, and the same model with vertices for each placement.
pub fn placed_and_copied(stretched: bool) -> [Model; 2] {
    let placed = gltf(stretched).model();
    assert!(placed.warnings.is_empty(), "{:?}", placed.warnings);
    let mut copied = placed.clone();
    copied.geometry.copy_placements();
    super::builder::check_invariants(&copied);
    [placed, copied]
}

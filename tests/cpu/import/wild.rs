//! Files with small faults that people reported to other programs, in `THRONG_WILD_MODELS`: a fault costs its part.

use glam::DVec3;
use serde_json::Value;
use throng::animation::{Pose, joint_matrices, skinned_position};
use throng::app::models::load_models;
use throng::crowd::PoseSize;
use throng::measure::{floor_height, posed_bounds};
use throng::model::{Model, import};
use throng::retarget::borrow_clips;

use crate::common::assets::{asset, wild_path};
use crate::common::builder::check_invariants;
use crate::common::lanes::check_lanes;
use crate::common::pose::posed;
use crate::common::scene;

/// Files that are read without a warning.
const SOUND: &str = "base.gltf w01_componentType.gltf w01_count.gltf w01_exponents.gltf w01_indices.gltf w01_joints.gltf \
    w13_morph_and_skin.gltf w18_a_clip_for_each_object.gltf w23_good_tangents.gltf w24_unused_far_vertices.gltf \
    w25_far_1e+03.gltf w25_far_1e+05.gltf w25b_utm.gltf w25b_z-1e4.gltf w25c_5.gltf w25c_500.gltf w30_hidden_nodes.gltf \
    w30_hidden_skinned_mesh.gltf w33_two_with_the_same_names.gltf w48_root_12.gltf w48_root_motion.gltf";

/// Parts of the warnings of other files, as many as each has, or of its error.
const FAULTY: &[(&str, Result<&[&str], &str>)] = &[
    ("w04_skeleton_minus_1.gltf", Ok(&["skeleton is the index -1"])),
    ("w05_stride_0_ibm.gltf", Ok(&["byteStride is 0"])),
    ("w05_stride_0_position.gltf", Ok(&["byteStride is 0"])),
    ("w06_one_primitive_without_joints.gltf", Ok(&["primitives[1].attributes: no JOINTS_0"])),
    ("w10_one_target_and_two.gltf", Ok(&["primitives[0].targets: 1 morph targets"])),
    ("w10_two_targets_and_one.gltf", Ok(&["primitives[1].targets: 1 morph targets"])),
    ("w12_3_weights_for_25_targets.gltf", Ok(&["3 weights for 25 morph targets"])),
    ("w15_negative_times.gltf", Ok(&["key 0 is at -0.96"])),
    ("w19_nan_keys.gltf", Ok(&["not finite; the channel is left out", "not finite; the channel is left out"])),
    ("w23_nan_tangents.gltf", Ok(&["46 tangents have no direction"])),
    ("w23_nan_weights.gltf", Ok(&["4 weights are not finite", "1 vertices without any weight"])),
    ("w23_tangents_w_0.gltf", Ok(&["136 tangents have a w that is neither 1 nor -1"])),
    ("w26_unaligned_json.glb", Ok(&["a chunk of 1883 bytes"])),
    ("w28_404.glb", Err("it is a web page")),
    ("w28_bin_is_a_pointer.gltf", Err("buffers[0].uri: the file is a pointer of Git LFS")),
    ("w28_lfs_pointer.glb", Err("run `git lfs pull`")),
    ("w43_roll_constraint.gltf", Ok(&["VRMC_node_constraint is not applied"])),
    ("uris/absolute_windows.gltf", Ok(&["names a scheme or drive"])),
    ("uris/out_up.gltf", Ok(&["leads out of the model's folder; \"textures/skin.png\" is read instead"])),
];

fn load(name: &str) -> Model {
    import::load(&wild_path(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the vertices of each primitive, in the order and the space of the file.
fn positions(model: &Model, clip: usize, time_seconds: f64) -> Vec<Vec<DVec3>> {
    let (model_from_node, morph_weights) = posed(model, model.clips.get(clip), time_seconds);
    let palette: Vec<_> = joint_matrices(&model.palette, &model_from_node).collect();
    let pose = Pose { palette: &palette, morph_weights: &morph_weights, ..Pose::default() };
    let origin = model.source.origin.as_dvec3();
    let skinned = |&vertex: &u32| skinned_position(&model.geometry, vertex as usize, pose).as_dvec3() + origin;
    let of_file = |vertices: &[u32]| vertices.iter().map(skinned).collect();
    model.geometry.source_primitives.iter().map(|primitive| of_file(&primitive.vertices)).collect()
}

#[test]
#[cfg_attr(not(wild_models), ignore = "set THRONG_WILD_MODELS to the folder of models with faults")]
fn a_small_fault_costs_its_part() {
    let expected: Value = serde_json::from_slice(&std::fs::read(wild_path("expected.json")).unwrap()).unwrap();
    let sound = SOUND.split(' ').map(|name| (name, Ok(&[][..])));
    for (name, right) in sound.chain(FAULTY.iter().copied()) {
        let (model, parts) = match (import::load(&wild_path(name)), right) {
            (Ok(model), Ok(parts)) => (model, parts),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{error}");
                continue;
            }
            (loaded, _) => panic!("{name}: {:?}", loaded.map(|model| model.warnings)),
        };
        check_invariants(&model);
        let seconds = [0.0, 0.05, 0.55, 1.1, 2.2, 3.0];
        assert!(check_lanes(&model, model.clips.first(), &seconds, 2.0, Some(1e-5)).is_some(), "{name}");
        let warnings = &model.warnings;
        assert_eq!(warnings.len(), parts.len(), "{name}: {warnings:?}");
        assert!(warnings.iter().zip(parts).all(|(warning, part)| warning.contains(part)), "{name}: {warnings:?}");
        for frame in expected[name].as_array().into_iter().flatten() {
            let clip = frame["clip"].as_u64().unwrap() as usize;
            let found = positions(&model, clip, frame["time"].as_f64().unwrap());
            let wanted: Vec<Vec<[f64; 3]>> = serde_json::from_value(frame["prims"].clone()).unwrap();
            assert_eq!(found.len(), wanted.len(), "{name}");
            for (found, wanted) in found.iter().flatten().zip(wanted.into_iter().flatten().map(DVec3::from)) {
                // However far away a body is.
                assert!(found.distance(wanted) < 1e-4, "{name} at {}: {found} instead of {wanted}", frame["time"]);
            }
        }
    }
}

#[test]
#[cfg_attr(not(wild_models), ignore = "set THRONG_WILD_MODELS to the folder of models with faults")]
fn vertices_that_nothing_draws_count_for_nothing() {
    let drawn = |name: &str| {
        let models = load_models(&scene::arguments(wild_path(name).to_str().unwrap()).crowd).unwrap();
        let (model, clip) = (&models[0], models[0].clips.first());
        let size = PoseSize::of(model).level(0).vertex_count;
        (posed_bounds(model, clip), floor_height(model), size, model.geometry.coarser_levels.len())
    };
    assert_eq!(drawn("w24_unused_far_vertices.gltf"), drawn("base.gltf"));
}

#[test]
#[cfg_attr(not(wild_models), ignore = "set THRONG_WILD_MODELS to the folder of models with faults")]
fn clips_of_other_files_move_all_skeletons_with_the_same_names() {
    for source in [load("w33_clip.gltf"), asset("assets/walker.glb")] {
        let mut model = load("w33_two_with_the_same_names.gltf");
        borrow_clips(&mut model, &source).unwrap();
        let [still, moved] = [usize::MAX, 0].map(|clip| positions(&model, clip, 0.3));
        let way = |body: usize| still[body].iter().zip(&moved[body]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(way(0) > 0.1 && (way(0) - way(1)).abs() < 1e-3, "{}: {} and {}", source.name, way(0), way(1));
    }
}

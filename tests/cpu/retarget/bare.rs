//! Files that are only a skeleton with clips: bones that follow the joints, or the bundled character.

use glam::Vec3;
use serde_json::json;
use throng::animation::{PoseScratch, pose_model, skinned_positions};
use throng::app::inspect::report;
use throng::app::models::load_models;
use throng::model::Model;
use throng::retarget::bare::{add_bones, is_bare};
use throng::retarget::first::jump_of;

use crate::common::assets::sample_path;
use crate::common::builder::{Gltf, check_invariants};
use crate::common::scene;

/// A root that stands still, and below it a body with a tail, a head and a joint at the same place as its parent.
fn creature() -> Gltf {
    let mut gltf = Gltf::new();
    for node in [
        json!({"name": "armature", "scale": [0.5, 0.5, 0.5], "children": [1]}),
        json!({"name": "body", "translation": [0, 1, 0], "children": [2, 3, 4]}),
        json!({"name": "tail", "translation": [0, 0, -2]}),
        json!({"name": "head", "translation": [0, 0.5, 1], "rotation": [0, 0.6, 0, 0.8]}),
        json!({"name": "twist"}),
    ] {
        gltf.push("nodes", node);
    }
    gltf.json["scenes"][0]["nodes"] = json!([0]);
    let (times, turns) = ([0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0]);
    gltf.animate(1, "rotation", "LINEAR", &times, &turns);
    gltf.animate(1, "translation", "LINEAR", &times, &[0.0, 1.0, 0.0, 0.0, 1.0, 0.5, 0.0, 1.0, 3.0]);
    gltf
}

#[test]
fn bones_lie_between_the_joints_at_every_time() {
    let mut model = creature().model();
    assert!(is_bare(&model) && !is_bare(&crate::common::assets::models()[0]));
    add_bones(&mut model);
    check_invariants(&model);
    // From the body to tail and head, and after both. Nothing moves the armature, and the twist has no length.
    assert_eq!((model.geometry.triangle_count(), model.geometry.vertex_count()), (4 * 8, 4 * 6));
    let (mut scratch, mut positions) = (PoseScratch::for_model(&model), Vec::new());
    for clip in [None, model.clips.first(), model.clips.get(1)] {
        for seconds in [0.0, 0.6, 1.7] {
            let pose = pose_model(&model, clip, seconds, &mut scratch);
            let places: Vec<Vec3> = pose.model_from_node.iter().map(|node| node.translation.into()).collect();
            let at = |name: &str| places[model.skeleton.names.iter().position(|other| other == name).unwrap()];
            skinned_positions(&model, pose, &mut positions);
            for (bone, [from, to]) in [["body", "tail"], ["body", "head"]].into_iter().enumerate() {
                let [base, tip] = [positions[bone * 6], positions[bone * 6 + 5]];
                assert!(base.abs_diff_eq(at(from), 1e-5) && tip.abs_diff_eq(at(to), 1e-5), "{base} {tip} at {seconds}");
            }
            assert!(positions[12].abs_diff_eq(at("tail"), 1e-5) && positions[18].abs_diff_eq(at("head"), 1e-5));
        }
    }
    // Outwards: the volume of a closed body is positive.
    let volume = |corners: &[u32]| {
        let [a, b, c] = [0, 1, 2].map(|corner| model.geometry.positions[corners[corner] as usize]);
        a.dot(b.cross(c))
    };
    assert!(model.geometry.indices.chunks(3).map(volume).sum::<f32>() > 0.0);
}

#[test]
fn the_clips_of_a_humanoid_play_on_the_bundled_character() {
    let path = sample_path("avatars/bitmoji/jump-flip.glb");
    let load = |path: &std::path::Path| -> Model {
        load_models(&scene::arguments(&path.display().to_string()).crowd).unwrap()[0].clone()
    };
    let model = load(&path);
    assert_eq!((model.name.as_str(), model.materials[0].name.as_str()), ("jump-flip.glb", "walker"));
    assert_eq!((model.clips.len(), model.warnings.len()), (1, 1));
    assert!(model.warnings[0].contains("its clips play on the bundled character"), "{}", model.warnings[0]);
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("creature.glb");
    std::fs::write(&own, creature().glb()).unwrap();
    let model = load(&own);
    assert_eq!((model.materials[0].name.as_str(), model.clips.len()), ("bone", 3));
    assert!(model.warnings[0].contains("its joints are drawn as bones"), "{}", model.warnings[0]);
}

#[test]
fn inspect_says_what_the_file_is_and_what_each_clip_moves() {
    let model = creature().model();
    let page = report(&model, false, 100);
    let has = |text: &str| assert!(page.contains(text), "{text}: {page}");
    has("a skeleton with clips and no mesh: its joints are drawn as bones");
    has("other nodes: 1");
    let mut scratch = PoseScratch::for_model(&model);
    let [turn, way] = [0, 1].map(|clip| jump_of(&model, &model.clips[clip], &mut scratch));
    assert!(turn.is_small && turn.metres == 0.0, "{turn:?}");
    // Three metres of a body at half its size.
    assert!(!way.is_small && (way.metres - 1.5).abs() < 1e-6, "{way:?}");
}

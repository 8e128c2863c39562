//! The plain model: text, names, bones, and what its geometry and its images say of themselves.

use glam::{Affine3A, Vec3};
use image::{ImageFormat, RgbaImage};
use serde_json::json;
use throng::model::bones::bones;
use throng::model::names::{find, offer};
use throng::model::text::{printable, shortened};
use throng::model::{Bone, DrawRange, Geometry, Image, NO_PARENT, Skeleton};

use crate::common::builder::{Gltf, encoded};
use crate::common::pose::layout;

#[test]
fn invisible_characters_are_escaped_and_others_kept() {
    for kept in ["", "Fox", "it's \"C:\\x\"", "ノード 1", "é e\u{301}", "Ω😀"] {
        assert_eq!(printable(kept), kept);
    }
    assert_eq!(printable("a\u{1b}[31m\n\u{7f}\u{9b}"), "a\\u{1b}[31m\\n\\u{7f}\\u{9b}");
    for hidden in ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{200f}', '\u{2028}', '\u{feff}'] {
        assert_eq!(printable(&format!("a{hidden}'b")), format!("a\\u{{{:x}}}'b", hidden as u32));
    }
}

#[test]
fn long_text_keeps_its_ends() {
    assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
    assert_eq!(shortened("abcdefghijk", 10), "abcdef…ijk");
    assert_eq!(shortened("ääääääääää", 7), "ääää…ää");
    assert_eq!((shortened("abc", 2), shortened("abc", 1), shortened("abc", 0)), ("a…".into(), "…".into(), "".into()));
    assert_eq!(shortened(&"x".repeat(1 << 20), 400).chars().count(), 400);
}

#[test]
fn a_word_finds_the_name_that_is_most_like_it() {
    let found = |names: &[&str], word: &str| find(names.iter().copied().map(Some), word);
    let names =
        ["Armature|Idle", "idle", "IDLE", "mixamorig:Head", "Walking_A", "a/b|C", "faces.eyeClose_L", "eyeOpen_L"];
    for (word, expected) in [
        ("IDLE", Some(2)),
        ("Idle", Some(1)),
        ("head", Some(3)),
        ("c", Some(5)),
        ("b|c", Some(5)),
        ("walk", None),
        ("eyeclose_l", Some(6)),
        ("Close_L", None),
        ("L", None),
    ] {
        assert_eq!(found(&names, word), expected, "{word}");
    }
    assert_eq!(found(&["A|x", "B|X"], "X"), Some(0));
    assert_eq!((find([None, Some("x")], "X"), find([None], "")), (Some(1), None));
}

#[test]
fn few_names_are_offered() {
    let names = ["Run", "Death", "Walking_B", "Walking_A", "Jump", "Talk", "x"];
    let all = names.iter().zip(0..).map(|(name, index)| (index, Some(*name)));
    let offered = offer(all, "walk");
    assert!(offered.starts_with("2 \"Walking_B\", 3 \"Walking_A\", 5 \"Talk\","), "{offered}");
    assert!(offered.ends_with(" and 2 more (see `throng inspect`)"), "{offered}");
    let morphs = ["noseSneer_L", "ai_mouthClose", "ai_eyeUpperClose_L", "lipCornerPinch_L"];
    for word in ["blink", "eyesClosed", "eye_closed"] {
        let offered = offer((0..).zip(morphs.map(Some)), word);
        assert!(offered.starts_with("2 \"ai_eyeUpperClose_L\""), "{word}: {offered}");
    }
    assert_eq!((offer([], "x"), offer([(4, None)], "x")), ("none".to_owned(), "4".to_owned()));
}

#[test]
fn openness_is_that_of_the_hole() {
    let mut gltf = Gltf::new();
    gltf.cuboid([0.0; 3], [1.0; 3], json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([0]);
    for (faces, expected) in [(6, 0.0), (5, 0.2), (1, 1.0)] {
        let geometry = gltf.with(&[("accessors/1/count", json!(6 * faces))]).model().geometry;
        let openness = geometry.openness(&geometry.draw_ranges[0]);
        assert!((openness - expected).abs() < 1e-6, "{openness} instead of {expected}");
    }
    assert_eq!(Geometry::default().openness(&DrawRange::default()), 1.0);
}

#[test]
fn texels_are_decoded_as_often_as_they_are_needed() {
    let texels = [1, 2, 3, 255, 4, 5, 6, 7];
    let bytes = encoded(&RgbaImage::from_raw(2, 1, texels.to_vec()).unwrap(), ImageFormat::Png);
    let mut gltf = Gltf::triangle();
    gltf.encoded_texture(&bytes);
    gltf.push("materials", json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}));
    gltf.primitive()["material"] = json!(0);
    let image = gltf.model().images.remove(0);
    for _ in 0..3 {
        assert_eq!(*image.texels().unwrap(), texels);
    }
    assert_eq!((image.kept_bytes(), image.decoded_bytes()), (bytes.len(), 8));
    let plain = Image::new("plain", 2, 1, texels.to_vec());
    assert_eq!((&*plain.texels().unwrap(), plain.kept_bytes()), (&texels[..], 8));
}

fn skeleton(parents: &[u32]) -> Skeleton {
    Skeleton { parents: parents.to_vec(), ..Skeleton::default() }
}

fn bound_at(y: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(0.0, -y, 0.0))
}

fn ends(bones: &[Bone]) -> Vec<(u32, u32, f32, f32)> {
    bones.iter().map(|bone| (bone.base, bone.tip, bone.mesh_from_base.translation.y, bone.tip_mesh.y)).collect()
}

#[test]
fn bones_lead_to_the_next_joint_and_the_last_one_is_short() {
    // Node 1 is no joint. Entries are in another order than nodes.
    let palette = layout([(2, bound_at(3.0)), (0, bound_at(1.0))], true);
    let bones = bones(&skeleton(&[NO_PARENT, 0, 1]), &palette, &Geometry::default());
    assert_eq!(ends(&bones), [(0, 0, 3.0, 4.0), (1, 0, 1.0, 3.0)]);
    assert!((bones[1].axis_length - 0.3 * 2.0).abs() < 1e-6);
}

#[test]
fn joints_without_a_bind_matrix_are_skipped() {
    let collapsed = Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0));
    let palette = layout([(0, bound_at(0.0)), (1, collapsed), (2, bound_at(2.0))], true);
    let bones = bones(&skeleton(&[NO_PARENT, 0, 1]), &palette, &Geometry::default());
    assert_eq!(ends(&bones), [(0, 2, 0.0, 2.0), (2, 2, 2.0, 3.0)]);
    let all_singular = layout([(0, collapsed)], true);
    assert_eq!(self::bones(&skeleton(&[NO_PARENT]), &all_singular, &Geometry::default()), []);
}

#[test]
fn rigid_entries_and_repeated_joints_have_no_bones() {
    let mut palette = layout([(0, bound_at(0.0)), (0, bound_at(5.0)), (1, bound_at(1.0))], true);
    palette.is_joint[2] = false;
    let geometry = Geometry { positions: vec![Vec3::ZERO, Vec3::new(0.0, 4.0, 0.0)], ..Geometry::default() };
    let bones = bones(&skeleton(&[NO_PARENT, NO_PARENT]), &palette, &geometry);
    assert_eq!(ends(&bones), [(0, 0, 0.0, 0.05 * 4.0)]);
    assert!(palette.joints().eq([0, 1]));
}

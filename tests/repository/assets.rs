//! The models in `assets/` equal the output of `examples/make_assets`, byte for byte. They also have the properties
//! that make them good test models: closed skins wound outwards, weights that add up to one, clips that loop.
//!
//! The generator is compiled into this test, with its unit tests, and so is the example that poses and skins the walker.

#[path = "../../examples/animate.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod animate;
#[path = "../../examples/make_assets/generator/mod.rs"]
mod generator;

use std::collections::{BTreeSet, HashMap};

use animate::animate;
use throng::model::import::load_glb;
use throng::model::{Clip, Geometry, Interpolation, Model, Track};

use super::files;

#[test]
fn checked_in_assets_are_what_the_generator_writes() {
    for generator::Asset { file_name, bytes } in generator::assets().unwrap() {
        let refresh = "`cargo run --example make_assets` refreshes it";
        assert!(files::bytes(&format!("assets/{file_name}")) == bytes, "assets/{file_name} is out of date: {refresh}");
    }
}

fn walker() -> Model {
    let model = load_glb("walker.glb", &files::bytes("assets/walker.glb")).unwrap();
    assert_eq!(model.warnings, [""; 0]);
    model
}

#[test]
fn the_walkers_surface_is_closed_and_wound_outwards() {
    let Geometry { positions, normals, indices, .. } = walker().geometry;
    let mut edges = HashMap::<(u32, u32), u32>::new();
    let mut volume = 0.0;
    for &[a, b, c] in indices.as_chunks::<3>().0 {
        for edge in [(a, b), (b, c), (c, a)] {
            *edges.entry(edge).or_default() += 1;
        }
        let corners = [a, b, c].map(|corner| positions[corner as usize]);
        let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize();
        for normal in [a, b, c].map(|corner| normals[corner as usize]) {
            assert!((normal.length() - 1.0).abs() < 1e-4);
            assert!(face.dot(normal) > 0.5, "normal {normal} is turned away from its triangle");
        }
        volume += corners[0].dot(corners[1].cross(corners[2])) / 6.0;
    }
    for ((a, b), count) in &edges {
        assert_eq!((*count, edges.get(&(*b, *a))), (1, Some(&1)), "edge {a}-{b} has no single opposite");
    }
    assert!((0.10..0.16).contains(&volume), "enclosed volume: {volume} cubic metres");
}

/// Import renormalises weights, so only those of a file whose bytes add up to 255 are still multiples of 1/255.
#[test]
fn the_walkers_weights_add_up_to_one() {
    let geometry = walker().geometry;
    for influence in &geometry.influences {
        let byte = 255.0 * influence.weight;
        assert!((byte - byte.round()).abs() < 1e-3, "{influence:?}");
    }
    let soft_count = (0..geometry.vertex_count()).filter(|&vertex| geometry.influences_of(vertex).len() > 1).count();
    assert!(soft_count * 4 > geometry.vertex_count(), "{soft_count} vertices follow several joints");
}

#[test]
fn the_walkers_clips_loop_and_use_every_interpolation() {
    fn is_loop<T: Copy + PartialEq>(track: &Track<T>, clip: &Clip) -> bool {
        // A key of a spline has tangents before and after its value.
        let (first, step) = if track.interpolation == Interpolation::CubicSpline { (1, 3) } else { (0, 1) };
        let keys: Vec<T> = track.values.iter().copied().skip(first).step_by(step).collect();
        let seconds = &clip.timelines[track.timeline as usize];
        seconds[0] == 0.0 && keys.len() == seconds.len() && keys[0] == keys[keys.len() - 1]
    }
    let walker = walker();
    let names: Vec<_> = walker.clips.iter().map(|clip| clip.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Walk", "Run", "Idle", "Wave"]);
    let mut interpolations = BTreeSet::new();
    for clip in &walker.clips {
        let vectors = || clip.translations.iter().chain(&clip.scales);
        assert!(clip.rotations.iter().all(|track| is_loop(track, clip)), "{:?}", clip.name);
        assert!(vectors().all(|track| is_loop(track, clip)), "{:?}", clip.name);
        let of_rotations = clip.rotations.iter().map(|track| track.interpolation);
        let used = of_rotations.chain(vectors().map(|track| track.interpolation));
        interpolations.extend(used.map(|interpolation| format!("{interpolation:?}")));
    }
    assert_eq!(interpolations, ["CubicSpline", "Linear", "Step"].map(str::to_owned).into());
}

#[test]
fn the_example_poses_and_skins_the_walker() {
    let (path, model) = (files::path_of("assets/walker.glb"), walker());
    let (report, obj) = animate(&path, 0.5).unwrap();
    assert!(report.starts_with("walker.glb at 0.5 s\n"), "{report}");
    assert_eq!(report.lines().count(), model.skeleton.len() + 2, "{report}");
    let count = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("v "), count("f ")), (model.geometry.vertex_count(), model.geometry.triangle_count()));
    assert_ne!(report, animate(&path, 0.25).unwrap().0, "the walker moves");
    assert!(animate("missing.glb".as_ref(), 0.0).is_err());
}

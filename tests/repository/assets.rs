//! The models in `assets/` equal the output of `examples/make_assets`, byte for byte. They also have the properties
//! that make them good test models: closed skins wound outwards, weights that add up to one, clips that loop.
//!
//! The generator is compiled into this test, with its unit tests.

#[path = "../../examples/make_assets/generator/mod.rs"]
mod generator;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use throng::model::import::load_glb;
use throng::model::{Clip, Geometry, Interpolation, Model, Track};

#[test]
fn checked_in_assets_are_what_the_generator_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for asset in generator::assets().unwrap() {
        let path = folder.join(&asset.file_name);
        let checked_in = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            checked_in == asset.bytes,
            "{} differs from what the generator writes: `cargo run --example make_assets` refreshes it",
            path.display()
        );
    }
}

fn walker() -> Model {
    let assets = generator::assets().unwrap();
    let walker = assets.into_iter().find(|asset| asset.file_name == "walker.glb").unwrap();
    let model = load_glb(&walker.file_name, &walker.bytes).unwrap();
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
        let keys: Vec<T> = match track.interpolation {
            Interpolation::CubicSpline => track.values.iter().skip(1).step_by(3).copied().collect(),
            _ => track.values.clone(),
        };
        let seconds = &clip.timelines[track.timeline as usize];
        seconds[0] == 0.0 && keys.len() == seconds.len() && keys[0] == keys[keys.len() - 1]
    }
    let walker = walker();
    let names: Vec<_> = walker.clips.iter().map(|clip| clip.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Walk", "Run", "Idle", "Wave"]);
    let mut interpolations = BTreeSet::new();
    for clip in &walker.clips {
        assert!(clip.rotations.iter().all(|track| is_loop(track, clip)), "{:?}", clip.name);
        assert!(clip.translations.iter().chain(&clip.scales).all(|track| is_loop(track, clip)), "{:?}", clip.name);
        let used = clip.rotations.iter().map(|track| track.interpolation);
        let others = clip.translations.iter().chain(&clip.scales).map(|track| track.interpolation);
        interpolations.extend(used.chain(others).map(|interpolation| format!("{interpolation:?}")));
    }
    assert_eq!(interpolations, ["CubicSpline", "Linear", "Step"].map(str::to_owned).into());
}

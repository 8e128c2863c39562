//! The models in `assets/` equal the output of `examples/make_assets`, byte for byte. They also have the properties
//! that make them good test models: closed skins wound outwards, weights that add up to one, clips that loop.
//!
//! The generator is compiled into this test, with its unit tests.

#[path = "../../examples/make_assets/generator/mod.rs"]
mod generator;

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

#[test]
fn checked_in_assets_are_what_the_generator_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for asset in generator::assets().unwrap() {
        let path = folder.join(asset.file_name);
        let checked_in = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(
            checked_in == asset.bytes,
            "{} differs from what the generator writes: `cargo run --example make_assets` refreshes it",
            path.display()
        );
    }
}

/// The two chunks of a GLB that the generator wrote.
struct Walker {
    json: Value,
    binary: Vec<u8>,
}

impl Walker {
    fn new() -> Self {
        let assets = generator::assets().unwrap();
        let file = assets.into_iter().find(|asset| asset.file_name == "walker.glb").unwrap().bytes;
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!((&file[..4], word(4), word(8)), (&b"glTF"[..], 2, file.len()));
        let json_bytes = word(12);
        assert_eq!((json_bytes % 4, file.len() % 4), (0, 0), "chunks are padded to four bytes");
        assert_eq!(word(20 + json_bytes) + 28 + json_bytes, file.len());
        let json = serde_json::from_slice(&file[20..20 + json_bytes]).unwrap();
        Self { json, binary: file[28 + json_bytes..].to_vec() }
    }

    fn bytes_of(&self, accessor: &Value) -> &[u8] {
        let view =
            &self.json["bufferViews"][self.json["accessors"][index(accessor)]["bufferView"].as_u64().unwrap() as usize];
        let (start, length) = (index(&view["byteOffset"]), index(&view["byteLength"]));
        assert_eq!(start % 4, 0, "views are aligned");
        &self.binary[start..start + length]
    }

    fn floats_of<const N: usize>(&self, accessor: &Value) -> Vec<[f32; N]> {
        let floats = self.bytes_of(accessor).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        floats.collect::<Vec<_>>().as_chunks::<N>().0.to_vec()
    }

    fn primitive(&self) -> &Value {
        &self.json["meshes"][0]["primitives"][0]
    }

    fn triangles(&self) -> Vec<[usize; 3]> {
        let bytes = self.bytes_of(&self.primitive()["indices"]);
        let indices = bytes.as_chunks::<2>().0.iter().map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
        indices.collect::<Vec<_>>().as_chunks::<3>().0.to_vec()
    }
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn the_walkers_surface_is_closed_and_wound_outwards() {
    let walker = Walker::new();
    let attributes = &walker.primitive()["attributes"];
    let positions =
        walker.floats_of::<3>(&attributes["POSITION"]).into_iter().map(glam::Vec3::from).collect::<Vec<_>>();
    let normals = walker.floats_of::<3>(&attributes["NORMAL"]).into_iter().map(glam::Vec3::from).collect::<Vec<_>>();
    let mut edges = HashMap::<(usize, usize), u32>::new();
    let mut volume = 0.0;
    for [a, b, c] in walker.triangles() {
        for edge in [(a, b), (b, c), (c, a)] {
            *edges.entry(edge).or_default() += 1;
        }
        let face = (positions[b] - positions[a]).cross(positions[c] - positions[a]).normalize();
        for corner in [a, b, c] {
            assert!((normals[corner].length() - 1.0).abs() < 1e-4);
            assert!(face.dot(normals[corner]) > 0.5, "normal {corner} is turned away from its triangle");
        }
        volume += positions[a].dot(positions[b].cross(positions[c])) / 6.0;
    }
    for ((a, b), count) in &edges {
        assert_eq!((*count, edges.get(&(*b, *a))), (1, Some(&1)), "edge {a}-{b} has no single opposite");
    }
    assert!((0.10..0.16).contains(&volume), "enclosed volume: {volume} cubic metres");
}

#[test]
fn the_walkers_weights_add_up_to_one() {
    let walker = Walker::new();
    let attributes = &walker.primitive()["attributes"];
    let joint_count = walker.json["skins"][0]["joints"].as_array().unwrap().len();
    let joints = walker.bytes_of(&attributes["JOINTS_0"]).as_chunks::<4>().0;
    let weights = walker.bytes_of(&attributes["WEIGHTS_0"]).as_chunks::<4>().0;
    for (joints, weights) in joints.iter().zip(weights) {
        assert_eq!(weights.iter().map(|weight| u32::from(*weight)).sum::<u32>(), 255);
        assert!(joints.iter().all(|joint| usize::from(*joint) < joint_count));
    }
    let soft_count = weights.iter().filter(|weights| weights[1] > 0).count();
    assert!(soft_count * 4 > weights.len(), "{soft_count} of {} vertices follow several joints", weights.len());
}

#[test]
fn the_walkers_clips_loop_and_use_every_interpolation() {
    let walker = Walker::new();
    let clips = walker.json["animations"].as_array().unwrap();
    let names = clips.iter().map(|clip| clip["name"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(names, ["Walk", "Run", "Idle", "Wave"]);
    let mut interpolations = vec![];
    for clip in clips {
        for channel in clip["channels"].as_array().unwrap() {
            let sampler = &clip["samplers"][index(&channel["sampler"])];
            let interpolation = sampler["interpolation"].as_str().unwrap();
            interpolations.push(interpolation);
            let times = walker.floats_of::<1>(&sampler["input"]);
            assert!(times[0] == [0.0] && times.is_sorted_by(|a, b| a < b));
            if channel["target"]["path"] == "rotation" {
                let values = walker.floats_of::<4>(&sampler["output"]);
                let spline = interpolation == "CUBICSPLINE";
                let keys =
                    if spline { values.iter().skip(1).step_by(3).collect() } else { values.iter().collect::<Vec<_>>() };
                assert_eq!((keys.len(), keys[0]), (times.len(), keys[keys.len() - 1]));
                for key in keys {
                    assert!((glam::Vec4::from(*key).length() - 1.0).abs() < 1e-6);
                }
            } else {
                let keys = walker.floats_of::<3>(&sampler["output"]);
                assert_eq!((keys.len(), keys[0]), (times.len(), keys[keys.len() - 1]));
            }
        }
    }
    interpolations.sort_unstable();
    interpolations.dedup();
    assert_eq!(interpolations, ["CUBICSPLINE", "LINEAR", "STEP"]);
}

//! Properties that must hold for every clip and every triangle, tested with random ones: lanes, which evaluate eight instances at
//! once, agree with the plain functions, and the oddest triangles have tangents.
//!
//! Every run tests the same cases: a test that fails now and then helps no one who changed something else. For other
//! cases set `PROPTEST_RNG_SEED`, for more cases `PROPTEST_CASES`. Fuzzing looks for unexpected cases: fuzz/README.md.

use glam::{Affine3A, Quat, Vec2, Vec3, Vec4};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;
use throng::animation::lanes::{LaneClip, Processor};
use throng::model::{Clip, FixedLocal, Interpolation, LocalPose, Model, NO_PARENT, Skeleton, Track};

use Interpolation::{CubicSpline, Linear, Step};

use crate::common::builder::Gltf;
use crate::common::lanes::{check_lanes, in_lanes};
use crate::common::pose::layout;
use crate::common::reference::rotation_at;
use crate::cpu::crowd::{chain, clip_with, track};

/// The number and the seed of the cases of every property here.
fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261);
    }
    config
}

const NODES: u32 = 6;

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop_oneof![Just(Step), Just(Linear), Just(CubicSpline)]
}

/// Key times. Sometimes two keys have the same time.
fn timeline() -> impl Strategy<Value = Vec<f32>> {
    let gap = prop_oneof![9 => 0.01_f32..1.0, 1 => Just(0.0)];
    (prop_oneof![Just(0.0), 0.0_f32..1.0], prop::collection::vec(gap, 0..6)).prop_map(|(first, gaps)| {
        gaps.into_iter().fold(vec![first], |mut seconds, gap| {
            seconds.push(seconds[seconds.len() - 1] + gap);
            seconds
        })
    })
}

fn vector() -> BoxedStrategy<Vec3> {
    prop::array::uniform3(-3.0_f32..3.0).prop_map(Vec3::from).boxed()
}

fn any_unit() -> BoxedStrategy<Vec4> {
    prop::array::uniform4(-1.0_f32..1.0).prop_map(|q| Vec4::from(q).normalize_or(Vec4::W)).boxed()
}

fn tracks<T: Clone + std::fmt::Debug + 'static>(
    timelines: Vec<Vec<f32>>,
    value: BoxedStrategy<T>,
) -> impl Strategy<Value = Vec<Track<T>>> {
    let parts = (0..NODES, 0..timelines.len(), interpolation(), any::<bool>());
    let any_track = parts.prop_flat_map(move |(node, timeline, interpolation, is_constant)| {
        let count = timelines[timeline].len() * if interpolation == CubicSpline { 3 } else { 1 };
        prop::collection::vec(value.clone(), count).prop_map(move |mut values| {
            if is_constant && interpolation != CubicSpline {
                let first = values[0].clone();
                values.fill(first);
            }
            Track { node, timeline: timeline as u32, interpolation, values }
        })
    });
    prop::collection::vec(any_track, 0..NODES as usize).prop_map(|mut tracks| {
        tracks.sort_by_key(|track| track.node);
        tracks.dedup_by_key(|track| track.node);
        // Node 2 has a fixed matrix, which is never animated.
        tracks.retain(|track| track.node != 2);
        tracks
    })
}

fn clip() -> impl Strategy<Value = Clip> {
    prop::collection::vec(timeline(), 1..4).prop_flat_map(|timelines| {
        let of = || timelines.clone();
        let tracks = (tracks(of(), vector()), tracks(of(), any_unit()), tracks(of(), vector()));
        tracks.prop_map(move |(translations, rotations, scales)| Clip {
            duration_seconds: timelines.iter().flatten().copied().fold(0.0, f32::max),
            timelines: timelines.clone(),
            translations,
            rotations,
            scales,
            ..Clip::default()
        })
    })
}

/// A tree of six nodes, one of them with a fixed matrix. The palette names some of them, possibly twice, in any order.
fn model() -> impl Strategy<Value = Model> {
    let poses = prop::collection::vec((vector(), any_unit(), vector()), NODES as usize);
    let parents = (0..2u32, 0..3u32, 0..4u32, 0..5u32);
    let entries = prop::collection::vec((0..NODES, vector()), 1..8);
    (poses, parents, entries, clip()).prop_map(|(poses, parents, entries, clip)| {
        let mut rest = LocalPose::identity(NODES as usize);
        for (node, (translation, rotation, scale)) in poses.into_iter().enumerate() {
            rest.translations[node] = translation;
            rest.rotations[node] = Quat::from_vec4(rotation);
            rest.scales[node] = if node % 2 == 0 { Vec3::ONE } else { scale };
        }
        let shear = Affine3A::from_cols_array(&[1.0, 0.2, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        Model {
            skeleton: Skeleton {
                parents: vec![NO_PARENT, 0, parents.0, parents.1, parents.2, parents.3],
                rest,
                fixed_locals: vec![FixedLocal { node: 2, parent_from_node: shear }],
                ..Skeleton::default()
            },
            palette: layout(entries.into_iter().map(|(node, at)| (node, Affine3A::from_translation(at))), false),
            clips: vec![clip],
            ..Model::default()
        }
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lanes_agree_with_the_plain_functions_in_any_lane_and_group(model in model(), shares in prop::collection::vec(-0.1_f64..1.2, 1..20)) {
        let clip = &model.clips[0];
        let duration = f64::from(clip.duration_seconds);
        let keys = clip.timelines.iter().flatten().map(|&key| f64::from(key));
        let mut times: Vec<f64> = shares.iter().map(|share| share * duration).chain(keys).collect();
        // A rotation spline may pass near length zero, where rounding decides the direction.
        let is_well_defined = |track: &Track<_>, time| rotation_at(track, &clip.timelines[track.timeline as usize], time).1;
        times.retain(|&time| clip.rotations.iter().all(|track| is_well_defined(track, time)));
        // Five levels of scales of up to 3 make intermediate numbers of several hundred.
        prop_assert!(check_lanes(&model, Some(clip), &times, 100.0, Some(1e-5)).is_some());

        let compiled = LaneClip::compile(&model, Some(clip)).expect("a small clip");
        for processor in [Processor::detect(), Processor::PORTABLE] {
            let all = in_lanes(processor, &compiled, &model, &times);
            for (time, together) in times.iter().zip(all.chunks(12 * model.palette.len())) {
                let alone = in_lanes(processor, &compiled, &model, &[*time]);
                prop_assert!(alone.iter().zip(together).all(|(a, b)| a.to_bits() == b.to_bits()), "{time}");
            }
        }
    }
}

fn one_node(clip: Clip) -> Model {
    Model {
        skeleton: Skeleton { parents: vec![NO_PARENT], rest: LocalPose::identity(1), ..Skeleton::default() },
        palette: layout([(0, Affine3A::IDENTITY)], false),
        clips: vec![clip],
        ..Model::default()
    }
}

#[test]
fn clips_with_huge_numbers_or_huge_tables_are_refused() {
    let far = vec![track(0, Linear, vec![Vec3::ZERO, Vec3::splat(1e30)])];
    let huge = one_node(Clip { translations: far, ..clip_with(&[0.0, 1.0]) });
    assert!(LaneClip::compile(&huge, huge.clips.first()).is_none());
    assert!(LaneClip::compile(&huge, None).is_some(), "the rest pose is moderate");

    // A hundred nodes, each with a hundred keys at different times: a million cells for ten thousand keys.
    let timeline = |node: usize| (0..100).map(|key| (key * 100 + node) as f32).collect();
    let values: Vec<Vec3> = (0..100).map(|key| Vec3::splat(key as f32)).collect();
    let own_track = |node| Track { timeline: node, ..track(node, Linear, values.clone()) };
    let (timelines, translations) = ((0..100).map(timeline).collect(), (0..100).map(own_track).collect());
    let mut scattered = chain("scattered", 100, 1.0, &[]);
    scattered.clips = vec![Clip { timelines, translations, ..Clip::default() }];
    assert!(LaneClip::compile(&scattered, scattered.clips.first()).is_none());
}

proptest! {
    #![proptest_config(Config { cases: 128, ..config() })]

    /// There are few different numbers, so that vertices coincide, triangles degenerate and edges have many neighbours.
    #[test]
    fn tangents_of_odd_triangles_are_unit_vectors(
        corners in prop::collection::vec((0..3_u8, 0..3_u8, 0..2_u8, 0..3_u8, 0..3_u8, 0..2_u8), 3..12),
        indices in prop::collection::vec(0..12_u16, 3..90),
        scale in prop::sample::select(vec![1.0, 1e-30, 1e9]),
    ) {
        let positions: Vec<Vec3> = corners.iter().map(|c| scale * Vec3::new(c.0.into(), c.1.into(), c.2.into())).collect();
        let tex_coords: Vec<Vec2> = corners.iter().map(|c| scale * Vec2::new(c.3.into(), c.4.into())).collect();
        let normals: Vec<Vec3> = corners.iter().map(|c| if c.5 == 0 { Vec3::Z } else { Vec3::X }).collect();
        let mut indices: Vec<u16> = indices.into_iter().map(|index| index % corners.len() as u16).collect();
        indices.truncate(indices.len() / 3 * 3);
        let mut gltf =
            Gltf::mesh(&positions, &normals, &tex_coords, &indices, json!({"normalTexture": {"index": 0}}));
        gltf.texture(&image::RgbaImage::new(1, 1));
        let geometry = gltf.model().geometry;
        prop_assert_eq!(geometry.indices.len(), indices.len());
        // The tangents of such ranges are unit vectors, or `model` would fail.
        prop_assert!(geometry.draw_ranges.iter().all(|range| range.has_tangents));
    }
}

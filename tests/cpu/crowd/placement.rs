//! Where instances stand, how large they are, and how their tints differ.

use glam::{Affine3A, Vec2, Vec3};
use serde_json::json;
use throng::crowd::{Crowd, CrowdSettings, Layout};
use throng::model::Model;
use throng::shader_types::InstanceData;

use super::{crowd_of, instances_of, positions, settings};
use crate::common::builder::Gltf;

/// The room of an instance in widths of its model.
const SPACING: f32 = 1.15;
/// The least distance of neighbours in a scatter, in spacings.
const SCATTERED: f32 = 0.87;

/// Returns a model that reaches from its origin to -X and +X, as wide in Z.
fn body(left: f32, right: f32, height: f32) -> Model {
    let (mut gltf, half) = (Gltf::new(), 0.5 * (left + right));
    gltf.cuboid([-left, 0.0, -half], [right, height, half], json!({}));
    gltf.json["scenes"][0]["nodes"] = json!([0]);
    gltf.model()
}

/// Returns the places of instances of these models, in units of the room of one that is a metre wide.
fn places<const N: usize>(models: [Model; N], layout: Layout, count: u32) -> Vec<Vec2> {
    let crowd = crowd_of(models, &CrowdSettings { layout, seed: 3, ..settings(count) });
    positions(&crowd).into_iter().map(|place| Vec2::new(place.x, place.z) / SPACING).collect()
}

fn farthest(places: &[Vec2]) -> f32 {
    places.iter().map(|place| place.length()).fold(0.0, f32::max)
}

#[test]
fn every_layout_begins_at_the_origin_and_keeps_its_distance() {
    for (layout, least) in [(Layout::Grid, 0.7), (Layout::Ring, 0.999), (Layout::Scatter, SCATTERED)] {
        for count in [1, 2, 7, 300, 1000] {
            let places = places([body(0.5, 0.5, 1.0)], layout, count);
            // As dense as the lattice, whose radius is 0.525 √n spacings, or a little less.
            assert!(farthest(&places) <= 0.65 * (count as f32).sqrt() + 1.0, "{layout:?} {count}");
            for (k, a) in places.iter().enumerate() {
                let nearest = places[..k].iter().map(|b| a.distance(*b)).fold(f32::INFINITY, f32::min);
                assert!(nearest >= least - 1e-4, "{layout:?} {count}: {nearest}");
            }
        }
        assert_eq!(places([body(0.5, 0.5, 1.0)], layout, 1), [Vec2::ZERO]);
    }
}

#[test]
fn wide_instances_get_room_and_narrow_ones_stand_close() {
    let models = || [body(2.5, 2.5, 1.0), body(0.25, 0.25, 1.0)];
    for (layout, share, most) in
        [(Layout::Grid, 1.0, 50.0), (Layout::Scatter, SCATTERED, 45.0), (Layout::Ring, 0.999, 80.0)]
    {
        let places = places(models(), layout, 300);
        assert!(farthest(&places) < most, "{layout:?}: {}", farthest(&places));
        // Instances are sorted by model.
        let width = |k: usize| if k < 150 { 5.0 } else { 0.5 };
        for (k, a) in places.iter().enumerate() {
            for (l, b) in places[..k].iter().enumerate() {
                let least = share * 0.5 * (width(k) + width(l)) - 1e-3;
                assert!(a.distance(*b) >= least, "{layout:?} {k} {l}");
            }
        }
    }
}

#[test]
fn a_line_is_straight_and_as_close_as_extents_allow() {
    let models = [body(0.5, 0.5, 2.0), body(0.0, 2.0, 2.0), body(0.2, 0.2, 2.0)];
    let line = places(models, Layout::Line, 3).into_iter().map(|place| place * SPACING).collect::<Vec<_>>();
    let x = |k: usize| line[k].x;
    assert!(line.iter().all(|place| place.y == 0.0));
    // The gaps are a tenth of the mean widths, and the ends are equally far from the origin.
    assert!((x(1) - x(0) - 0.5 - 0.15).abs() < 1e-5 && (x(2) - x(1) - 2.2 - 0.12).abs() < 1e-5, "{line:?}");
    assert!((x(0) - 0.55 + x(2) + 0.22).abs() < 1e-5, "{line:?}");
}

/// However far from the file's origin a body stands, it is where a body at the origin is, and turned about itself.
#[test]
fn instances_turn_about_the_body_and_not_about_the_origin_of_the_file() {
    let beside = Vec3::new(7.0, -0.3, -40.0);
    let shifted = || {
        let mut model = body(0.6, 0.6, 1.8);
        model.skeleton.rest.translations[0] += beside;
        model
    };
    for layout in [Layout::Grid, Layout::Ring, Layout::Scatter, Layout::Line] {
        let of = |model: Model| {
            let other = body(0.2, 0.2, 1.5);
            crowd_of([model, other], &CrowdSettings { layout, seed: 3, variety: 0.5, ..settings(40) })
        };
        let (near, far) = (instances_of(&of(body(0.6, 0.6, 1.8))), instances_of(&of(shifted())));
        let place = |instance: &InstanceData, by: Vec3| instance.world_from_model.transform_point(Vec3::Y + by);
        for (index, (near, far)) in near.iter().zip(&far).enumerate() {
            // The second model is the same in both crowds.
            let by = if index < 20 { beside } else { Vec3::ZERO };
            let (near, far) = (place(near, Vec3::ZERO), place(far, by));
            assert!(near.distance(far) < 1e-4, "{layout:?}: {far} instead of {near}");
        }
        let bounds = [of(body(0.6, 0.6, 1.8)), of(shifted())].map(|crowd| crowd.bounds());
        assert!(bounds[0].min.distance(bounds[1].min) < 1e-4 && bounds[0].max.distance(bounds[1].max) < 1e-4);
    }
    // One character stays where its file has it, on the ground.
    assert_eq!(positions(&crowd_of([shifted()], &settings(1))), [Vec3::Y * 0.3]);
}

#[test]
fn rings_are_full() {
    let places = places([body(0.5, 0.5, 1.0)], Layout::Ring, 1000);
    let mut radii: Vec<f32> = places.iter().map(|place| place.length()).collect();
    radii.sort_by(f32::total_cmp);
    assert!(radii.iter().all(|radius| (radius - radius.round()).abs() < 1e-4), "{radii:?}");
    let on = |ring: f32| radii.iter().filter(|radius| radius.round() == ring).count();
    assert_eq!([0.0, 1.0, 2.0, 3.0].map(on), [1, 6, 12, 18]);
}

#[test]
fn a_scatter_is_round_dense_and_has_no_holes() {
    let places: Vec<Vec2> =
        places([body(0.5, 0.5, 1.0)], Layout::Scatter, 5000).into_iter().map(|place| place / SCATTERED).collect();
    let radius = farthest(&places);
    // 0.7 points on a unit of area is the most that random points reach (Rényi's parking, in two dimensions).
    let density = 5000.0 / (std::f32::consts::PI * radius * radius);
    assert!((0.62..0.72).contains(&density), "{density}");
    // Every place in the disc is near a point: a hole of radius 1 would have room for another one.
    for k in 0..500 {
        let place = Vec2::from_angle(k as f32 * 2.399_963) * (k as f32 / 500.0).sqrt() * (radius - 1.5);
        assert!(places.iter().any(|point| point.distance(place) < 1.3), "a hole at {place}");
    }
    let center = places.iter().sum::<Vec2>() / 5000.0;
    assert!(center.length() < 0.02 * radius, "{center}");
}

#[test]
fn units_are_repaired_and_sizes_in_one_unit_stay() {
    for (sizes, expected) in [
        (&[154.0, 1.5, 1.7][..], &[0.01, 1.0, 1.0][..]),
        (&[154.0, 1.5], &[0.01, 1.0]),
        (&[0.0017, 1.5, 1.7], &[1000.0, 1.0, 1.0]),
        // A fox in centimetres next to a man and a robot of six metres.
        (&[154.0, 1.5, 6.0], &[0.01, 1.0, 1.0]),
        (&[0.3, 1.5, 11.0], &[1.0; 3]),
        (&[154.0], &[1.0]),
    ] {
        let models: Vec<Model> = sizes.iter().map(|&size| body(0.05 * size, 0.05 * size, size)).collect();
        let crowd = Crowd::new(models.into(), &settings(sizes.len() as u32)).unwrap();
        let scale = |instance: &InstanceData| Affine3A::from(instance.world_from_model).matrix3.y_axis.length();
        let scales: Vec<f32> = instances_of(&crowd).iter().map(scale).collect();
        assert!(scales.iter().zip(expected).all(|(a, b)| (a / b - 1.0).abs() < 1e-5), "{sizes:?}: {scales:?}");
        let repaired = expected.iter().filter(|&&scale| scale != 1.0);
        let notes = repaired.map(|scale| format!("scaled by {scale}")).collect::<Vec<_>>();
        assert!(crowd.notes().len() == notes.len() && crowd.notes().iter().zip(&notes).all(|(a, b)| a.contains(b)));
        assert!(expected == [1.0] || crowd.bounds().max.y < 14.0, "{sizes:?}: {:?}", crowd.bounds());
    }
}

#[test]
fn variations_fill_their_range_and_stay_in_it() {
    const SIZE_DEVIATION: f32 = 0.2;
    for variety in [0.5, 1.0] {
        let mut clothed = body(0.5, 0.5, 1.0);
        clothed.geometry.colors = vec![[40, 60, 160, 255]; clothed.geometry.vertex_count()];
        let all = instances_of(&crowd_of([clothed], &CrowdSettings { variety, ..settings(5000) }));
        let sizes = || all.iter().map(|instance| instance.world_from_model.rows[1][1]);
        let (least, most) = (sizes().fold(9.0, f32::min), sizes().fold(0.0, f32::max));
        let deviation = SIZE_DEVIATION * variety;
        assert!(least >= 1.0 - deviation && least < 1.0 - 0.9 * deviation, "{least}");
        assert!(most <= 1.0 + deviation && most > 1.0 + 0.9 * deviation, "{most}");
        assert!((sizes().sum::<f32>() / 5000.0 - 1.0).abs() < 0.005);
        // Each channel is sometimes the strongest and sometimes the weakest one.
        let tints = || all.iter().map(|instance| instance.tint_unorm8.to_le_bytes());
        assert!(tints().all(|rgba| rgba[3] == 255));
        // The darkest brightness is 0.6, and the largest saturation 0.5.
        let bound = 255.0 * (1.0 - 0.4 * variety) * (1.0 - 0.5 * variety);
        for channel in 0..3 {
            let darkest = f32::from(tints().map(|rgba| rgba[channel]).min().unwrap());
            assert!((bound - 1.0..bound + 50.0).contains(&darkest), "{darkest} of {bound}");
            let is_strongest = |rgba: &[u8; 4]| rgba[channel] == *rgba[..3].iter().max().unwrap();
            assert!(tints().filter(is_strongest).count() > 1000);
        }
    }
    // Fur has no other hue.
    let mut furry = body(0.5, 0.5, 1.0);
    furry.geometry.colors = vec![[150, 110, 60, 255]; furry.geometry.vertex_count()];
    let furs = instances_of(&crowd_of([furry], &CrowdSettings { variety: 1.0, ..settings(5000) }));
    let channels = || furs.iter().map(|instance| instance.tint_unorm8.to_le_bytes());
    assert!(channels().all(|[red, green, blue, _]| red >= green && green >= blue));
    assert!(channels().any(|[red, _, blue, _]| red > blue.saturating_add(30)));
}

//! Bounds: of a clip, and of the whole crowd.

use throng::measure::{PosedBounds, posed_bounds};

use super::*;
use crate::common::assets::{JELLY, asset};
use crate::common::pose::skinned;

/// Returns the bounds of a clip, and its highest vertex. All vertices must be within, a thousand times a second.
fn bounds_that_hold_every_vertex(model: &Model, clip: &Clip) -> (PosedBounds, f32) {
    let bounds = posed_bounds(model, Some(clip));
    let mut highest = 0.0f32;
    for k in 0..=(1000.0 * clip.duration_seconds) as u32 {
        for point in skinned(model, Some(clip), f64::from(k) / 1000.0) {
            assert!(point.cmpge(bounds.min).all() && point.cmple(bounds.max).all(), "{point} at {k} ms");
            highest = highest.max(point.y);
        }
    }
    (bounds, highest)
}

#[test]
fn posed_bounds_hold_every_vertex_between_the_samples_too() {
    let model = chain("A.glb", 6, 2.0, &["Idle", "Walk", "Turn"]);
    for clip in &model.clips {
        let (bounds, _) = bounds_that_hold_every_vertex(&model, clip);
        assert!(bounds.radius() < 2.0, "far too loose: {bounds:?}");
    }
    let rest = posed_bounds(&model, None);
    assert!((rest.max - Vec3::new(0.2, 2.0, 0.0)).length() < 1e-5, "{rest:?}");
    let empty = posed_bounds(&Model::default(), None);
    assert_eq!((empty.center(), empty.half_extents()), (Vec3::ZERO, Vec3::splat(0.5)));

    // Morph targets count. The bounds are a box around boxes, so they are looser than the vertices, but not much.
    let jelly = asset(JELLY);
    for clip in &jelly.clips {
        let (bounds, highest) = bounds_that_hold_every_vertex(&jelly, clip);
        assert!(highest > 1.0 && bounds.max.y < 1.25 * highest, "{:?}: {highest} in {bounds:?}", clip.name);
    }
}

/// A leap between the even samples of a long clip counts: one held for a millisecond, and one up to a time with two keys.
#[test]
fn posed_bounds_hold_what_a_long_clip_does_for_a_moment() {
    let leap = Vec3::new(0.0, 9.0, 0.0);
    let values = vec![Vec3::ZERO, leap, Vec3::ZERO, Vec3::ZERO];
    for (interpolation, end) in [(Interpolation::Step, 29.311), (Interpolation::Linear, 29.31)] {
        let mut model = chain("A.glb", 2, 1.0, &[]);
        let translations = vec![track(0, interpolation, values.clone())];
        model.clips = vec![Clip { translations, ..clip_with(&[0.0, 29.31, end, 600.0]) }];
        let bounds = posed_bounds(&model, model.clips.first());
        assert!(bounds.max.y > 9.9 && bounds.max.y < 11.0, "{interpolation:?}: {bounds:?}");
    }
}

/// Found by fuzzing: each corner was finite, but their distance was not.
#[test]
fn bounds_beyond_all_numbers_are_given_up() {
    for size in [1e30, 3e38] {
        let mut model = chain("A.glb", 2, 2.0, &["Walk"]);
        model.skeleton.rest.translations = vec![Vec3::splat(-size), Vec3::splat(size)];
        for clip in [None, model.clips.first()] {
            let bounds = posed_bounds(&model, clip);
            assert_eq!((bounds.center(), bounds.half_extents()), (Vec3::ZERO, Vec3::splat(0.5)), "{size}");
        }
    }
}

#[test]
fn the_crowds_bounds_hold_all_of_it() {
    let crowd = Crowd::new(mixed(), &settings(200)).unwrap();
    let bounds = crowd.bounds();
    for position in positions(&crowd) {
        assert!(position.cmpge(bounds.min - 1.0).all() && position.cmple(bounds.max + 1.0).all());
        let offset = position - bounds.center();
        assert!(offset.x.hypot(offset.z) <= bounds.footprint_radius);
    }
}

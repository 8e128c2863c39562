//! Picking finds what a search through all triangles of all instances finds, in double precision.

use glam::{DMat4, DVec3, Vec2};
use throng::model::DrawRange;
use throng::view::Ray;

use super::crossfade::poses;
use super::*;
use crate::common::assets::STRIP;
use crate::common::pose::palette;
use crate::cpu::levels::measure::{corners, skinned};

/// Returns a hit of each instance: its number, and the distance. All triangles of all instances are tested in the world, after
/// skinning in double precision by the palette of the frame. The last element says how far inside the triangle the hit is.
fn brute_force(crowd: &mut Crowd, time_seconds: f64, rays: &[Ray]) -> Vec<Option<(u32, f64, f64)>> {
    let mut nearest = vec![None; rays.len()];
    for (number, (palette, mut weights)) in poses(crowd, time_seconds) {
        let shown = crowd.shown_instance(number, time_seconds).unwrap();
        let model = &crowd.models()[shown.model as usize];
        let geometry = &model.geometry;
        // A pose without active targets has no weights.
        weights.resize(model.morph_weight_count(), 0.0);
        let world_from_model = shown.world_from_model.as_daffine3();
        let matrix_of = |joint: u32| DMat4::from(Affine3A::from(palette[joint as usize]).as_daffine3());
        let model_place = |vertex| skinned(geometry, vertex, geometry.influences_of(vertex), matrix_of, &weights);
        let place = |vertex| world_from_model.transform_point3(model_place(vertex));
        let vertices: Vec<DVec3> = (0..geometry.vertex_count()).map(place).collect();
        let triangles = corners(geometry, 0).into_iter().map(|corners| corners.map(|corner| vertices[corner as usize]));
        let triangles: Vec<[DVec3; 3]> = triangles.collect();
        for (ray, nearest) in rays.iter().zip(&mut nearest) {
            let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
            for &[a, b, c] in &triangles {
                let normal = (b - a).cross(c - a);
                let distance = (a - origin).dot(normal) / direction.dot(normal);
                let point = origin + direction * distance;
                // The share of the triangle's area that is opposite to each corner.
                let area = normal.length_squared();
                let shares = [(b, c), (c, a), (a, b)].map(|(p, q)| (p - point).cross(q - point).dot(normal) / area);
                let inside = shares.into_iter().fold(f64::INFINITY, f64::min);
                let is_nearer = nearest.is_none_or(|(_, last, _)| distance < last);
                if inside >= 0.0 && distance > 0.0 && is_nearer {
                    *nearest = Some((number, distance, inside));
                }
            }
        }
    }
    nearest
}

fn grid(camera: &OrbitCamera, side: u32) -> Vec<Ray> {
    let place = |k: u32| (k as f32 + 0.5) / side as f32;
    let points = (0..side * side).map(|k| Vec2::new(place(k % side), place(k / side)));
    points.map(|point| Ray::through(camera, 16.0 / 9.0, point)).collect()
}

/// Compares picking with brute force. Returns the number of hits.
fn compare(crowd: &mut Crowd, time_seconds: f64, rays: &[Ray]) -> usize {
    let expected = brute_force(crowd, time_seconds, rays);
    for (ray, expected) in rays.iter().zip(&expected) {
        let found = crowd.pick(ray, time_seconds);
        let pair = found.zip(*expected);
        let agrees = pair.is_some_and(|(found, (number, distance, _))| {
            found.instance == number && (f64::from(found.distance) - distance).abs() < 1e-4 * distance
        });
        // At the edge of a triangle rounding decides.
        let is_at_an_edge = expected.is_some_and(|(_, _, inside)| inside < 1e-4);
        assert!(agrees || found.is_none() && expected.is_none() || is_at_an_edge, "{found:?} instead of {expected:?}");
        if let Some(picked) = found {
            assert_eq!(picked.position_world, ray.origin + ray.direction * picked.distance);
            let shown = crowd.shown_instance(picked.instance, time_seconds).unwrap();
            assert!(picked.position_world.distance(shown.center_world) <= shown.radius * 1.001, "{shown:?}");
        }
    }
    expected.iter().flatten().count()
}

/// A chain whose vertices form a strip of triangles.
fn strip(name: &str, joints: u32) -> Model {
    let mut model = chain(name, joints, 1.7, &["Idle", "Walk"]);
    let geometry = &mut model.geometry;
    for (vertex, position) in geometry.positions.iter_mut().enumerate() {
        position.x = if vertex % 2 == 0 { 0.3 } else { -0.3 };
    }
    geometry.indices = (2..joints).flat_map(|corner| [corner - 2, corner - 1, corner]).collect();
    geometry.draw_ranges = vec![DrawRange { index_count: 3 * (joints - 2), flat_shaded: true, ..DrawRange::default() }];
    model
}

/// Compares the crowd from a camera that frames it and from a closer one, and during a crossfade. Returns the number of hits.
fn compare_all(crowd: &mut Crowd, closer: f32, side: u32) -> usize {
    let mut camera = OrbitCamera::framing(&crowd.outline(2.0), 16.0 / 9.0);
    let mut hits = compare(crowd, 2.0, &grid(&camera, side));
    camera.zoom(closer);
    crowd.crossfade(&ClipChoice::Index(1), 2.0, 0.25).unwrap();
    for time_seconds in [2.0, 2.1, 2.25] {
        hits += compare(crowd, time_seconds, &grid(&camera, side / 2));
    }
    hits
}

#[test]
fn picking_finds_what_brute_force_finds() {
    for settings in [settings(1), settings(200), CrowdSettings { variety: 1.0, travel: true, ..settings(200) }] {
        let hits = compare_all(&mut crowd_of([strip("A.glb", 8), strip("B.glb", 5)], &settings), 0.3, 40);
        assert!(hits >= 30, "{hits} hits");
    }
    let hits = compare_all(&mut crowd_of([asset(JELLY), asset(STRIP)], &settings(40)), 0.5, 20);
    assert!(hits >= 30, "{hits} hits");
}

/// Its number, its place and its level are tested by `numbers_find_their_instances`.
#[test]
fn the_nodes_of_an_instance_are_near_it() {
    let crowd = crowd_of([strip("A.glb", 8), strip("B.glb", 5)], &settings(50));
    let mut positions = Vec::new();
    for number in 0..50 {
        let shown = crowd.shown_instance(number, 2.0).unwrap();
        crowd.node_positions(number, 2.0, &mut positions);
        assert_eq!(positions.len(), crowd.models()[shown.model as usize].skeleton.len());
        let farthest = positions.iter().map(|position| position.distance(shown.center_world)).fold(0.0, f32::max);
        assert!(farthest < 1.5 * shown.radius, "{farthest} of {}", shown.radius);
    }
    assert_eq!(crowd.shown_instance(50, 2.0), None);
}

#[test]
fn a_character_in_focus_is_whole_in_the_image() {
    let model = strip("A.glb", 8);
    let mut crowd = crowd_of([model.clone()], &settings(3));
    for (number, time_seconds) in [(0, 0.0), (1, 0.4), (2, 2.2)] {
        crowd.move_to(time_seconds);
        let shown = crowd.shown_instance(number, time_seconds).unwrap();
        let clip = shown.clip.map(|clip| &model.clips[clip as usize]);
        let palette = palette(&model, clip, shown.clip_seconds);
        let posed = palette.iter().zip(&model.geometry.positions);
        let vertices: Vec<Vec3> =
            posed.map(|(joint, &at)| shown.world_from_model.transform_point3(joint.transform_point(at))).collect();
        let (center, radius) = crowd.posed_sphere(number, time_seconds).unwrap();
        let farthest = vertices.iter().map(|vertex| vertex.distance(center)).fold(0.0, f32::max);
        assert!((radius - farthest).abs() < 1e-4, "{radius} instead of {farthest}");
        for aspect in [0.4, 1.0, 2.5] {
            let mut camera = OrbitCamera::default();
            camera.focus_on(center, radius, aspect);
            let seen = vertices.iter().map(|&vertex| camera.clip_from_world(aspect).project_point3(vertex));
            let reach = seen.map(|at| at.truncate().abs().max_element()).fold(0.0, f32::max);
            assert!((0.3..1.0).contains(&reach), "{reach} of the image's half");
        }
    }
    assert_eq!(crowd.posed_sphere(3, 0.0), None);
    assert_eq!(crowd_of([Model::default()], &settings(1)).posed_sphere(0, 0.0), None, "an empty model");
}

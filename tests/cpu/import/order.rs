//! The order of triangles and vertices after import.

use glam::{Vec2, Vec3};
use serde_json::json;
use throng::model::{Geometry, Model};

use crate::common::builder::{Gltf, grid, sorted_triangles};

const SIDE: u32 = 40;

/// A grid of quads, two triangles each, in an order that defeats every cache.
#[test]
fn reordering_keeps_triangles_and_reduces_cache_misses() {
    let (places, triangles) = grid(SIDE, SIDE);
    let squares = triangles.as_chunks::<2>().0;
    // 307 and the number of squares have no common divisor, so each square appears once.
    let order = (0..squares.len()).flat_map(|k| squares[k * 307 % squares.len()]).flatten();
    let order: Vec<u16> = order.map(|index| index as u16).collect();
    let positions: Vec<Vec3> = places.iter().map(|place| place.extend(0.0)).collect();
    let normals = vec![Vec3::Z; positions.len()];
    let material = json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}});
    let mut gltf = Gltf::mesh(&positions, &normals, &places, &order, material);
    gltf.texture(&image::RgbaImage::new(1, 1));
    let geometry = &gltf.model().geometry;
    let indices = order.iter().map(|&index| index.into()).collect();
    let before = Geometry { positions, indices, ..Geometry::default() };
    assert_eq!(sorted_triangles(geometry), sorted_triangles(&before));
    // Transformed vertices per triangle, with a cache of 16: at least half of one. The original order, which jumps, needs two.
    let misses = [&before, geometry]
        .map(|geometry| meshopt::analyze_vertex_cache(&geometry.indices, geometry.vertex_count(), 16, 0, 0).acmr);
    assert!(misses[0] >= 2.0 && misses[1] < 0.8, "{misses:?}");
    // Vertices are numbered in the order of their first use.
    let mut next = 0;
    for &index in &geometry.indices {
        assert!(index <= next, "{index} before {next}");
        next = next.max(index + 1);
    }
    // All that belongs to a vertex has moved with it.
    for (source, &vertex) in geometry.source_primitives[0].vertices.iter().enumerate() {
        let vertex = vertex as usize;
        assert_eq!(geometry.positions[vertex], before.positions[source]);
        assert_eq!(geometry.tex_coords[vertex][0], places[source]);
    }
}

fn fan(count: u16, is_mapped: bool) -> Model {
    let rim = (0..=count).map(|k| Vec2::from_angle(f32::from(k) * 1e-4));
    let places: Vec<Vec2> = std::iter::once(Vec2::ZERO).chain(rim).collect();
    let positions: Vec<Vec3> = places.iter().map(|place| place.extend(0.0)).collect();
    let indices: Vec<u16> = (1..=count).flat_map(|k| [0, k, k + 1]).collect();
    let material = if is_mapped { json!({"normalTexture": {"index": 0}}) } else { json!({}) };
    let mut gltf = Gltf::mesh(&positions, &vec![Vec3::Z; positions.len()], &places, &indices, material);
    if is_mapped {
        gltf.texture(&image::RgbaImage::new(1, 1));
    }
    gltf.model()
}

/// The effort of ordering grows with the square of the triangles around a vertex.
#[test]
fn many_triangles_around_one_vertex_keep_their_order() {
    let model = fan(20_000, false);
    let rim = |k: usize| model.geometry.positions[model.geometry.indices[3 * k + 1] as usize];
    assert!((0..20_000).all(|k| rim(k) == Vec2::from_angle(k as f32 * 1e-4).extend(0.0)));
}

/// So does that of tangents. The shader then derives them from the screen.
#[test]
fn too_many_triangles_around_one_vertex_get_no_tangents() {
    for (count, has_tangents) in [(1024, true), (1025, false), (30_000, false)] {
        assert_eq!(fan(count, true).geometry.draw_ranges[0].has_tangents, has_tangents, "{count}");
    }
}

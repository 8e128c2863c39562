//! Tangents of the oddest triangles.

use glam::{Vec2, Vec3};
use proptest::prelude::*;
use serde_json::json;

use crate::common::builder::Gltf;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

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

//! The arithmetic of device memory: the sizes of textures and geometry.

use glam::Vec3;
use throng::model::{CoarserLevel, Geometry};
use throng::renderer::resident::model::geometry_bytes;
use throng::renderer::resident::texture::texture_bytes;

#[test]
fn textures_have_all_mip_levels() {
    assert_eq!(texture_bytes(1, 1), 4);
    assert_eq!(texture_bytes(4, 2), 4 * (8 + 2 + 1));
    assert_eq!(texture_bytes(256, 256), 4 * 87_381);
}

/// Indices take two bytes while they suffice for all vertices. The indices and the skin order of coarser levels count.
#[test]
fn static_geometry_has_all_levels() {
    let bytes = |vertices: usize, indices: usize, coarser: &[(u32, usize)]| {
        let level = |&(vertex_count, indices): &(u32, usize)| CoarserLevel {
            vertex_count,
            indices: vec![0; indices],
            ..CoarserLevel::default()
        };
        let coarser_levels = coarser.iter().map(level).collect();
        let positions = vec![Vec3::ZERO; vertices];
        geometry_bytes(&Geometry { positions, indices: vec![0; indices], coarser_levels, ..Geometry::default() })
    };
    // A bind-pose vertex, a static vertex, and its number in the skin order.
    let vertex = 32 + 20 + 4;
    assert_eq!(bytes(100, 300, &[]), 100 * vertex + 600);
    assert_eq!(bytes(100, 300, &[(50, 150), (10, 30)]), 100 * vertex + 960 + 4 * 60);
    assert_eq!(bytes(65_536, 300, &[(50, 150)]), 65_536 * vertex + 900 + 4 * 50);
    assert_eq!(bytes(65_537, 300, &[(50, 150)]), 65_537 * vertex + 1800 + 4 * 50);
}

//! What the CPU packs for shaders.

use glam::Vec3;
use throng::shader_types::{pack_octahedral, pack_tangent, unpack_octahedral, unpack_tangent};

#[test]
fn octahedral_normals_survive_the_round_trip() {
    for i in 0..10_000 {
        // A golden-angle spiral covers the sphere evenly, poles and the folded half included.
        let z = 1.0 - 2.0 * (i as f32 + 0.5) / 10_000.0;
        let (sin, cos) = (i as f32 * 2.399_963).sin_cos();
        let n = Vec3::new(cos * (1.0 - z * z).sqrt(), sin * (1.0 - z * z).sqrt(), z);
        let error_radians = unpack_octahedral(pack_octahedral(n)).angle_between(n);
        assert!(error_radians < 5e-4, "{n} is off by {error_radians}");
        for handedness in [-1.0, 1.0] {
            let tangent = unpack_tangent(pack_tangent(n.extend(handedness)));
            assert!(tangent.w == handedness && tangent.truncate().angle_between(n) < 7e-4, "{n}: {tangent}");
        }
    }
    for n in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
        assert!((unpack_octahedral(pack_octahedral(n)) - n).length() < 1e-4, "{n}");
    }
}

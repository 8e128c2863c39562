//! Unit vectors in 32 bits, as the shaders pack and unpack them.

use glam::{Vec3, Vec4};

/// Packs a direction of any length into two signed normalised 16-bit numbers by the octahedral map (Cigolle et al., "A
/// Survey of Efficient Representations for Independent Unit Vectors", JCGT 2014). x is in the low half; the largest error
/// is about 0.004 degrees. The twin of `pack_octahedral` in `shaders/shared.glsl`.
#[must_use]
pub fn pack_octahedral(n: Vec3) -> u32 {
    let sum = n.x.abs() + n.y.abs() + n.z.abs();
    let mut p = if sum > 0.0 { n.truncate() / sum } else { glam::Vec2::ZERO };
    if n.z < 0.0 {
        p = glam::Vec2::new(
            (1.0 - p.y.abs()) * if p.x >= 0.0 { 1.0 } else { -1.0 },
            (1.0 - p.x.abs()) * if p.y >= 0.0 { 1.0 } else { -1.0 },
        );
    }
    // GLSL's packSnorm2x16: round(clamp(c, -1, 1) * 32767). `as` saturates and turns NaN into 0.
    let snorm16 = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    snorm16(p.x) | (snorm16(p.y) << 16)
}

/// Packs a tangent like [`pack_octahedral`]. The lowest bit holds the sign of w, the handedness.
#[must_use]
pub fn pack_tangent(tangent: Vec4) -> u32 {
    (pack_octahedral(tangent.truncate()) & !1) | u32::from(tangent.w < 0.0)
}

/// Unpacks the result of [`pack_tangent`]: a unit vector, and 1 or -1 as w.
#[must_use]
pub fn unpack_tangent(packed: u32) -> Vec4 {
    unpack_octahedral(packed & !1).extend(if packed & 1 == 0 { 1.0 } else { -1.0 })
}

/// Unpacks the result of [`pack_octahedral`]: a unit vector.
#[must_use]
pub fn unpack_octahedral(packed: u32) -> Vec3 {
    let snorm16 = |bits: u32| (f32::from(bits as u16 as i16) / 32767.0).clamp(-1.0, 1.0);
    let (x, y) = (snorm16(packed & 0xffff), snorm16(packed >> 16));
    let z = 1.0 - x.abs() - y.abs();
    let fold = (-z).max(0.0);
    Vec3::new(x - fold.copysign(x), y - fold.copysign(y), z).normalize_or(Vec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

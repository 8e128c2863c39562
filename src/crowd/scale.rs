//! Unit repair. glTF requires metres, but some files are in centimetres, such as Fox.glb. That is visible only next to
//! other models. In: the size of each model. Out: a scale for each model.

/// A model whose size differs from the others' by more than this factor is assumed to be in another unit.
const SUSPICIOUS_FACTOR: f32 = 8.0;

/// Returns a scale for each model: 1, or the power of ten that brings it closest to the median size.
///
/// The median of an even number of sizes is the lower one of the middle two, because wrong units usually make models
/// too large.
pub(super) fn common_unit_scales(sizes: &[f32]) -> Vec<f32> {
    let mut sorted: Vec<f32> = sizes.iter().copied().filter(|&size| size > 0.0).collect();
    sorted.sort_by(f32::total_cmp);
    let Some(&median) = sorted.get(sorted.len().saturating_sub(1) / 2) else {
        return vec![1.0; sizes.len()];
    };
    let scale = |&size: &f32| {
        let factor = median / size;
        let usual = 1.0 / SUSPICIOUS_FACTOR..=SUSPICIOUS_FACTOR;
        if size <= 0.0 || usual.contains(&factor) { 1.0 } else { power_of_ten(factor.log10().round() as i32) }
    };
    sizes.iter().map(scale).collect()
}

/// Returns a power of ten, rounded once. The result of `powi` may differ between platforms.
fn power_of_ten(exponent: i32) -> f32 {
    let power = (0..exponent.unsigned_abs()).fold(1.0f64, |power, _| power * 10.0);
    (if exponent < 0 { 1.0 / power } else { power }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centimetres_become_metres() {
        assert_eq!(common_unit_scales(&[154.0, 1.5, 1.7]), [0.01, 1.0, 1.0]);
        assert_eq!(common_unit_scales(&[154.0, 1.5]), [0.01, 1.0]);
        assert_eq!(common_unit_scales(&[0.0017, 1.5, 1.7]), [1000.0, 1.0, 1.0]);
    }

    #[test]
    fn different_sizes_in_the_same_unit_stay() {
        assert_eq!(common_unit_scales(&[0.3, 1.5, 11.0]), [1.0, 1.0, 1.0]);
        assert_eq!(common_unit_scales(&[154.0]), [1.0]);
        assert_eq!(common_unit_scales(&[0.0, 0.0]), [1.0, 1.0]);
        assert_eq!(common_unit_scales(&[]), [] as [f32; 0]);
    }
}

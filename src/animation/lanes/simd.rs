//! A vector of eight numbers, one for each instance of a group, with AVX2 or with the target's baseline.
//!
//! The kernel is written in terms of [`Lanes`]. It is compiled once for each implementation, and the functions here are
//! inlined into it. So the AVX2 kernel may use instructions that the rest of the program must not. Both implementations
//! do the same operations in the same order, and give the same bits: `a * b + c` is rounded twice, although
//! FMA, which comes with AVX2, could round it once and would save one part in twenty-five of the kernel's time.

use std::mem::MaybeUninit;
use std::ops::{Add, Mul, Sub};

use wide::f32x8;

use super::rows::Cell;
use crate::shader_types::JointMatrix;

/// The number of lanes, and so of instances in a group.
pub(super) const LANES: usize = 8;

/// One number for each lane, in memory.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Array(pub [f32; LANES]);

/// Arithmetic on eight lanes, and loads and stores.
pub(super) trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    fn splat(value: f32) -> Self;
    fn load(from: &Array) -> Self;
    fn store(self, to: &mut Array);
    /// Returns one over the square root, or 0 if the number is at most `f32::MIN_POSITIVE`.
    fn inverse_root(self) -> Self;
    /// Returns 1 in the lanes that are 0, and 0 in the others.
    fn is_zero(self) -> Self;
    /// Returns the numbers, which are not negative, with the signs of `other`.
    fn with_signs_of(self, other: Self) -> Self;
    /// Loads the cell `rows[lane] + column` of each lane. Returns its value and its change, component by component.
    ///
    /// # Safety
    /// Each of these cells is inside the slice that the row belongs to.
    unsafe fn load_cells(rows: &[*const Cell; LANES], column: usize) -> ([Self; 4], [Self; 4]);
    /// Writes the matrix of each lane, given as rows, to `out[lane]`.
    ///
    /// # Safety
    /// Each of `out` is valid for writing.
    unsafe fn write_matrices(rows: &[[Self; 4]; 3], out: &[*mut MaybeUninit<JointMatrix>; LANES]);
}

/// Registers that all processors of the target have, usually two of four numbers each.
impl Lanes for f32x8 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self::from([value; LANES])
    }

    #[inline(always)]
    fn load(from: &Array) -> Self {
        Self::from(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut Array) {
        to.0 = self.to_array();
    }

    #[inline(always)]
    fn inverse_root(self) -> Self {
        let inverse = |number: f32| if number > f32::MIN_POSITIVE { 1.0 / number.sqrt() } else { 0.0 };
        Self::from(self.to_array().map(inverse))
    }

    #[inline(always)]
    fn is_zero(self) -> Self {
        Self::from(self.to_array().map(|number| if number == 0.0 { 1.0 } else { 0.0 }))
    }

    #[inline(always)]
    fn with_signs_of(self, other: Self) -> Self {
        let (mut numbers, signs) = (self.to_array(), other.to_array());
        for (number, sign) in numbers.iter_mut().zip(signs) {
            *number = number.copysign(sign);
        }
        Self::from(numbers)
    }

    #[inline(always)]
    unsafe fn load_cells(rows: &[*const Cell; LANES], column: usize) -> ([Self; 4], [Self; 4]) {
        let mut cells = [Cell::default(); LANES];
        for (cell, row) in cells.iter_mut().zip(rows) {
            // SAFETY: the caller's promise.
            *cell = unsafe { *row.add(column) };
        }
        let [a, b, c, d, e, f, g, h] = Self::transpose(cells.map(bytemuck::cast));
        ([a, b, c, d], [e, f, g, h])
    }

    #[inline(always)]
    unsafe fn write_matrices(rows: &[[Self; 4]; 3], out: &[*mut MaybeUninit<JointMatrix>; LANES]) {
        for (row, [x, y, z, w]) in rows.iter().enumerate() {
            let (x, y, z, w) = (x.to_array(), y.to_array(), z.to_array(), w.to_array());
            for lane in 0..LANES {
                // SAFETY: the caller's promise; a joint matrix is three rows of four numbers.
                unsafe { *out[lane].cast::<[f32; 4]>().add(row) = [x[lane], y[lane], z[lane], w[lane]] };
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::*;

    /// One number for each lane, in one register. It exists only inside functions that are compiled for AVX2.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(__m256);

    /// The distance from a joint matrix to the cache line that is prefetched for it. If another core has read the last
    /// frame's matrices, as a software rasteriser does, each store would wait for its line. With a prefetch many lines
    /// are loaded at once. Non-temporal stores would be slower, because each fills only a part of a line.
    const PREFETCH_BYTES: usize = 256;

    /// Prefetches a cache line for writing. Any address is allowed.
    #[inline(always)]
    fn prefetch_for_writing(joint: *const u8) {
        // `_mm_prefetch` would prefetch for reading, and the store would have to request the line again.
        // SAFETY: a prefetch neither faults nor changes anything. Processors with AVX2 that do not announce the
        // instruction (Intel's first ones) treat it as a no-op.
        unsafe {
            std::arch::asm!(
                "prefetchw [{} + {}]",
                in(reg) joint,
                const PREFETCH_BYTES,
                options(nostack, preserves_flags, readonly)
            );
        }
    }

    impl Avx2 {
        /// Transposes four registers between two forms. In the one, each register has one number of all lanes. In the other,
        /// register `k` has the four numbers of lane `k` in its lower half, and those of lane `k + 4` in its upper half.
        #[inline(always)]
        fn transposed(rows: [Self; 4]) -> [Self; 4] {
            // SAFETY: see the type.
            unsafe {
                let low01 = _mm256_unpacklo_ps(rows[0].0, rows[1].0);
                let high01 = _mm256_unpackhi_ps(rows[0].0, rows[1].0);
                let low23 = _mm256_unpacklo_ps(rows[2].0, rows[3].0);
                let high23 = _mm256_unpackhi_ps(rows[2].0, rows[3].0);
                [
                    Self(_mm256_shuffle_ps::<0x44>(low01, low23)),
                    Self(_mm256_shuffle_ps::<0xee>(low01, low23)),
                    Self(_mm256_shuffle_ps::<0x44>(high01, high23)),
                    Self(_mm256_shuffle_ps::<0xee>(high01, high23)),
                ]
            }
        }

        /// Loads the value (`half` 0) or the change (`half` 1) of the cells `rows[lane] + column`.
        ///
        /// # Safety
        /// The same as for [`Lanes::load_cells`].
        #[inline(always)]
        unsafe fn load_half(rows: &[*const Cell; LANES], column: usize, half: usize) -> [Self; 4] {
            // SAFETY: the caller's promise; cells and their halves are aligned to 16 bytes.
            unsafe {
                Self::transposed([
                    Self::load_pair(rows[0], rows[4], column, half),
                    Self::load_pair(rows[1], rows[5], column, half),
                    Self::load_pair(rows[2], rows[6], column, half),
                    Self::load_pair(rows[3], rows[7], column, half),
                ])
            }
        }

        /// # Safety
        /// The same as for [`Lanes::load_cells`].
        #[inline(always)]
        unsafe fn load_pair(low: *const Cell, high: *const Cell, column: usize, half: usize) -> Self {
            // SAFETY: as above.
            unsafe {
                let low = _mm_load_ps(low.add(column).cast::<f32>().add(4 * half));
                let high = _mm_load_ps(high.add(column).cast::<f32>().add(4 * half));
                Self(_mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high))
            }
        }
    }

    impl Add for Avx2 {
        type Output = Self;

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }
    }

    impl Sub for Avx2 {
        type Output = Self;

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_sub_ps(self.0, other.0) })
        }
    }

    impl Mul for Avx2 {
        type Output = Self;

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: see the type.
            Self(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        fn load(from: &Array) -> Self {
            // SAFETY: `Array` has the alignment that the load needs.
            Self(unsafe { _mm256_load_ps(from.0.as_ptr()) })
        }

        #[inline(always)]
        fn store(self, to: &mut Array) {
            // SAFETY: as above.
            unsafe { _mm256_store_ps(to.0.as_mut_ptr(), self.0) };
        }

        #[inline(always)]
        fn inverse_root(self) -> Self {
            // SAFETY: see the type.
            unsafe {
                let inverse = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(self.0));
                let is_positive = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_set1_ps(f32::MIN_POSITIVE));
                Self(_mm256_and_ps(inverse, is_positive))
            }
        }

        #[inline(always)]
        fn is_zero(self) -> Self {
            // SAFETY: see the type.
            unsafe {
                let is_zero = _mm256_cmp_ps::<_CMP_EQ_OQ>(self.0, _mm256_setzero_ps());
                Self(_mm256_and_ps(is_zero, _mm256_set1_ps(1.0)))
            }
        }

        #[inline(always)]
        fn with_signs_of(self, other: Self) -> Self {
            // SAFETY: see the type.
            unsafe { Self(_mm256_or_ps(self.0, _mm256_and_ps(other.0, _mm256_set1_ps(-0.0)))) }
        }

        #[inline(always)]
        unsafe fn load_cells(rows: &[*const Cell; LANES], column: usize) -> ([Self; 4], [Self; 4]) {
            // SAFETY: the caller's promise; see also the type.
            unsafe { (Self::load_half(rows, column, 0), Self::load_half(rows, column, 1)) }
        }

        #[inline(always)]
        unsafe fn write_matrices(rows: &[[Self; 4]; 3], out: &[*mut MaybeUninit<JointMatrix>; LANES]) {
            let rows = [Self::transposed(rows[0]), Self::transposed(rows[1]), Self::transposed(rows[2])];
            for lane in 0..4 {
                prefetch_for_writing(out[lane].cast());
                prefetch_for_writing(out[lane + 4].cast());
                for (row, pairs) in rows.iter().enumerate() {
                    // SAFETY: the caller's promise; a joint matrix is three rows of four numbers, and these stores need
                    // no alignment.
                    unsafe {
                        let (low, high) = (out[lane].cast::<f32>(), out[lane + 4].cast::<f32>());
                        _mm_storeu_ps(low.add(4 * row), _mm256_castps256_ps128(pairs[lane].0));
                        _mm_storeu_ps(high.add(4 * row), _mm256_extractf128_ps::<1>(pairs[lane].0));
                    }
                }
            }
        }
    }
}

//! The kernel: sampling, hierarchy and palette of eight instances, generic over [`Lanes`].
//!
//! In: the steps of a clip, and the cells of the clip at the time of each instance. Out: the joint matrices of each
//! instance, in the palette's order. If the instances blend two clips, there are cells of both.
//!
//! The kernel uses no closures, and no functions of the standard library that take closures. The compiler would compile
//! those without AVX2, and would call them instead of inlining them, at ten times the cost.

use std::mem::MaybeUninit;

use super::program::{Constant, Curve, Mover, Step};
use super::rows::Cell;
use super::simd::{Array, LANES, Lanes};
use crate::shader_types::JointMatrix;

/// An affine matrix for each lane, row by row.
pub(super) type Matrix<T> = [[T; 4]; 3];

/// Translation, rotation and, if the mover has one, scale.
type Properties<T> = ([T; 3], [T; 4], Option<[T; 3]>);

/// Eight instances at their times of one clip.
#[derive(Clone, Copy)]
pub(super) struct Located {
    /// The first cell of each instance's row.
    pub rows: [*const Cell; LANES],
    /// The elapsed share of the row, 0 to 1.
    pub t: Array,
}

/// Eight instances at their times of the clip, or of both clips that they blend, with their intermediate matrices.
pub(super) struct LaneGroup<'a> {
    /// The clip, or the first clip of a blend.
    pub first: Located,
    /// The second clip of a blend, and its share, 0 to 1.
    pub second: Option<(Located, f32)>,
    /// The temporaries: the matrix of each mover in use.
    pub temporaries: &'a mut [Matrix<Array>],
}

/// The addresses that the lanes' joint matrices are written to.
pub(super) struct Streams {
    /// The address of each lane's next joint matrix.
    pub out: [*mut MaybeUninit<JointMatrix>; LANES],
    /// The distance from one joint matrix to the next: 1, or 0 if a lane's matrices overwrite each other.
    pub strides: [usize; LANES],
}

/// Runs some consecutive steps of a clip for one group. The temporaries stay valid for the steps that follow. The code for
/// instances that do not blend has `BLENDS` false.
///
/// # Safety
/// Each of the group's rows is the start of a row of the clip that the steps belong to. If the group blends, the steps
/// belong to the same two clips in the same order. Each of `streams.out` has room for the matrices that the steps write, or for
/// one if its stride is 0.
#[inline(always)]
pub(super) unsafe fn evaluate_group<T: Lanes, const BLENDS: bool>(
    steps: &[Step],
    group: &mut LaneGroup<'_>,
    streams: Streams,
) {
    let LaneGroup { first: Located { rows, t }, second, temporaries } = group;
    let Streams { mut out, strides } = streams;
    let t = T::load(t);
    for step in steps {
        let matrix = match step {
            Step::Move(mover) => {
                // SAFETY: the caller's promise; columns are within a row.
                let properties = unsafe {
                    match second {
                        Some((second, weight)) if BLENDS => blended::<T>(mover, rows, t, second, *weight),
                        _ => sampled::<T>(mover, rows, t),
                    }
                };
                let local = composed(properties);
                let local = match &mover.offset {
                    None => local,
                    Some(offset) => product(splat_matrix(offset), local),
                };
                let matrix = match mover.parent {
                    None => local,
                    Some(parent) => product(load(&temporaries[parent]), local),
                };
                store(matrix, &mut temporaries[mover.temporary]);
                continue;
            }
            Step::Write(mover, joint_from_mesh) => product(load(&temporaries[*mover]), splat_matrix(joint_from_mesh)),
            Step::WriteHeld(matrix) => splat_matrix(matrix),
        };
        // SAFETY: the caller's promise; `out` advances once for each matrix.
        unsafe { T::write_matrices(&matrix, &out) };
        for (out, stride) in out.iter_mut().zip(strides) {
            *out = out.wrapping_add(stride);
        }
    }
}

/// Blends each property as [`pose_blend`](crate::animation::pose_blend) does.
///
/// # Safety
/// The same as for [`sampled`], for both clips.
#[inline(always)]
unsafe fn blended<T: Lanes>(
    mover: &Mover,
    rows: &[*const Cell; LANES],
    t: T,
    second: &Located,
    weight: f32,
) -> Properties<T> {
    // SAFETY: the caller's promise.
    let (mut translation, mut rotation, mut scale) = unsafe { sampled(mover, rows, t) };
    let (rows, t) = (&second.rows, T::load(&second.t));
    let (kept, added) = (T::splat(1.0 - weight), T::splat(weight));
    let [second_translation, second_rotation, second_scale] = &mover.second;
    if let Some(curve) = second_translation {
        // SAFETY: as above.
        translation = mixed(translation, kept, unsafe { vector(curve, rows, t) }, added);
    }
    if let Some(curve) = second_rotation {
        // SAFETY: as above.
        let other = unsafe { quaternion(curve, rows, t) };
        let sum = along(other, added.with_signs_of(dot(rotation, other)), times(rotation, kept));
        rotation = times(sum, dot(sum, sum).inverse_root());
    }
    if let (Some(own), Some(curve)) = (scale, second_scale) {
        // SAFETY: as above.
        scale = Some(mixed(own, kept, unsafe { vector(curve, rows, t) }, added));
    }
    (translation, rotation, scale)
}

/// Returns the properties in the first clip.
///
/// # Safety
/// `rows` is the start of a row of the clip that `mover` belongs to. The same holds for the functions that it calls.
#[inline(always)]
#[allow(clippy::manual_map, reason = "a closure would be compiled without AVX2")]
unsafe fn sampled<T: Lanes>(mover: &Mover, rows: &[*const Cell; LANES], t: T) -> Properties<T> {
    // SAFETY: the caller's promise.
    unsafe {
        let (translation, rotation) = (vector(&mover.translation, rows, t), quaternion(&mover.rotation, rows, t));
        let scale = match &mover.scale {
            Some(scale) => Some(vector(scale, rows, t)),
            None => None,
        };
        (translation, rotation, scale)
    }
}

#[inline(always)]
fn mixed<T: Lanes>(a: [T; 3], kept: T, b: [T; 3], added: T) -> [T; 3] {
    [b[0] * added + a[0] * kept, b[1] * added + a[1] * kept, b[2] * added + a[2] * kept]
}

#[inline(always)]
fn composed<T: Lanes>((translation, rotation, scale): Properties<T>) -> Matrix<T> {
    let mut matrix = rotation_matrix(rotation);
    if let Some(scale) = scale {
        for row in &mut matrix {
            *row = [row[0] * scale[0], row[1] * scale[1], row[2] * scale[2]];
        }
    }
    let [x, y, z] = matrix;
    [[x[0], x[1], x[2], translation[0]], [y[0], y[1], y[2], translation[1]], [z[0], z[1], z[2], translation[2]]]
}

/// Returns a translation or a scale.
///
/// # Safety
/// See [`sampled`].
#[inline(always)]
unsafe fn vector<T: Lanes>(curve: &Curve, rows: &[*const Cell; LANES], t: T) -> [T; 3] {
    // SAFETY: the caller's promise.
    let [x, y, z, _] = match curve {
        Curve::Held(value) => splat(value),
        Curve::Straight(column) => {
            // SAFETY: the caller's promise.
            let (value, change) = unsafe { T::load_cells(rows, *column) };
            along(change, t, value)
        }
        // SAFETY: the caller's promise.
        Curve::Cubic(column) => unsafe { cubic(rows, *column, t) },
    };
    [x, y, z]
}

/// Returns a rotation of length 1.
///
/// # Safety
/// See [`sampled`].
#[inline(always)]
unsafe fn quaternion<T: Lanes>(curve: &Curve, rows: &[*const Cell; LANES], t: T) -> [T; 4] {
    match curve {
        Curve::Held(value) => splat(value),
        Curve::Straight(column) => {
            // SAFETY: the caller's promise.
            let (value, change) = unsafe { T::load_cells(rows, *column) };
            along_arc(value, change, t)
        }
        Curve::Cubic(column) => {
            // SAFETY: the caller's promise.
            let q = unsafe { cubic(rows, *column, t) };
            // Appendix C.5: blended, then normalised. A sum of length zero becomes the identity.
            let inverse_length = dot(q, q).inverse_root();
            let [x, y, z, w] = times(q, inverse_length);
            [x, y, z, w + inverse_length.is_zero()]
        }
    }
}

/// Returns a cubic polynomial in the time.
///
/// # Safety
/// See [`sampled`].
#[inline(always)]
unsafe fn cubic<T: Lanes>(rows: &[*const Cell; LANES], column: usize, t: T) -> [T; 4] {
    // SAFETY: the caller's promise.
    let ((value, change), (square, cube)) = unsafe { (T::load_cells(rows, column), T::load_cells(rows, column + 1)) };
    along(along(along(cube, t, square), t, change), t, value)
}

#[inline(always)]
fn splat<T: Lanes>(&[x, y, z, w]: &[f32; 4]) -> [T; 4] {
    [T::splat(x), T::splat(y), T::splat(z), T::splat(w)]
}

#[inline(always)]
fn splat_matrix<T: Lanes>([x, y, z]: &Constant) -> Matrix<T> {
    [splat(x), splat(y), splat(z)]
}

#[inline(always)]
fn times<T: Lanes>([x, y, z, w]: [T; 4], factor: T) -> [T; 4] {
    [x * factor, y * factor, z * factor, w * factor]
}

#[inline(always)]
fn along<T: Lanes>([x, y, z, w]: [T; 4], factor: T, start: [T; 4]) -> [T; 4] {
    [x * factor + start[0], y * factor + start[1], z * factor + start[2], w * factor + start[3]]
}

/// Returns a point of a great arc (see the table in [`rows`](super::rows)). Sine and cosine are short polynomials in
/// the square of the angle, so no root, division or comparison is needed. The result has the length of `value`, 1.
#[inline(always)]
fn along_arc<T: Lanes>(value: [T; 4], change: [T; 4], t: T) -> [T; 4] {
    let square = dot(change, change) * t * t;
    let cosine = polynomial(&COSINE_OF_ROOT, square);
    let sine = polynomial(&SINE_OF_ROOT_OVER_ROOT, square) * t;
    along(change, sine, times(value, cosine))
}

/// Evaluates a polynomial. The constant coefficient comes first.
#[inline(always)]
fn polynomial<T: Lanes, const N: usize>(coefficients: &[f32; N], x: T) -> T {
    let mut sum = T::splat(coefficients[N - 1]);
    for &coefficient in coefficients[..N - 1].iter().rev() {
        sum = sum * x + T::splat(coefficient);
    }
    sum
}

/// Minimax polynomials (Remez) in x² on 0 ≤ x ≤ π/2, with a first coefficient of 1: cos x to 3e-10, sin x / x to 5e-9.
const COSINE_OF_ROOT: [f32; 6] = [1.0, -0.5, 0.041_666_64, -0.001_388_840_4, 2.476_188_6e-5, -2.607_710_5e-7];
const SINE_OF_ROOT_OVER_ROOT: [f32; 5] = [1.0, -0.166_666_6, 0.008_333_088, -0.000_198_111_13, 2.608_932_7e-6];

#[inline(always)]
fn dot<T: Lanes>(a: [T; 4], b: [T; 4]) -> T {
    a[3] * b[3] + (a[2] * b[2] + (a[1] * b[1] + a[0] * b[0]))
}

#[inline(always)]
fn rotation_matrix<T: Lanes>([x, y, z, w]: [T; 4]) -> [[T; 3]; 3] {
    let one = T::splat(1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [[one - (yy + zz), xy - wz, xz + wy], [xy + wz, one - (xx + zz), yz - wx], [xz - wy, yz + wx, one - (xx + yy)]]
}

#[inline(always)]
fn product<T: Lanes>(a: Matrix<T>, b: Matrix<T>) -> Matrix<T> {
    [product_row(a[0], &b), product_row(a[1], &b), product_row(a[2], &b)]
}

#[inline(always)]
fn product_row<T: Lanes>([x, y, z, w]: [T; 4], b: &Matrix<T>) -> [T; 4] {
    [
        z * b[2][0] + (y * b[1][0] + x * b[0][0]),
        z * b[2][1] + (y * b[1][1] + x * b[0][1]),
        z * b[2][2] + (y * b[1][2] + x * b[0][2]),
        z * b[2][3] + (y * b[1][3] + (x * b[0][3] + w)),
    ]
}

#[inline(always)]
fn load<T: Lanes>([x, y, z]: &Matrix<Array>) -> Matrix<T> {
    [load_row(x), load_row(y), load_row(z)]
}

#[inline(always)]
fn load_row<T: Lanes>([x, y, z, w]: &[Array; 4]) -> [T; 4] {
    [T::load(x), T::load(y), T::load(z), T::load(w)]
}

#[inline(always)]
fn store<T: Lanes>(matrix: Matrix<T>, to: &mut Matrix<Array>) {
    for (row, to) in matrix.iter().zip(to) {
        for (number, to) in row.iter().zip(to) {
            number.store(to);
        }
    }
}

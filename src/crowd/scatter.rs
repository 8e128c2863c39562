//! Blue noise: random points, no two of them closer than a distance, and no large holes between them.
//!
//! The points grow from the centre (Bridson, "Fast Poisson Disk Sampling in Arbitrary Dimensions", SIGGRAPH 2007). Each
//! point in turn gets a few random neighbours, if there is room for them. A lattice of cells, each too small for two
//! points, finds the points nearby, so `n` points take O(n) time. Only additions, products and comparisons decide, which
//! have the same results on every machine. So the points have, too.

use glam::Vec2;

use super::random::SplitMix64;

/// The smallest distance as a share of the spacing. Neighbours are then as far apart on average as in the
/// lattice of the grid, and bounding circles do not overlap at the default spacing.
pub(super) const DISTANCE: f32 = 0.87;
/// The number of random neighbours for which each point tries to find room.
const TRIES: u32 = 16;
/// The largest distance to these neighbours. The smallest is 1. A narrow ring packs points more densely.
const REACH: f32 = 1.4;
/// The cells in a unit of length. The diagonal of a cell is then not longer than 1.
const CELLS_PER_UNIT: f32 = std::f32::consts::SQRT_2;

/// Returns `count` points that are at least 1 apart, from the centre outwards. They fill a disc.
pub(super) fn disc(count: usize, random: &mut SplitMix64) -> Vec<Vec2> {
    // The rim grows unevenly, so some points more than needed are drawn and the outermost ones dropped.
    let wanted = count + 6 * (count as f64).sqrt() as usize + 8;
    let mut cells = Cells::new(wanted);
    let mut points = Vec::with_capacity(wanted);
    let mut draw = |point: Vec2, points: &mut Vec<Vec2>| {
        if cells.take(point) {
            points.push(point);
        }
    };
    draw(Vec2::ZERO, &mut points);
    // The list of points is also the queue. It almost never runs empty; it then starts again with the first point.
    for turn in 0.. {
        if points.len() >= wanted {
            break;
        }
        let center = points[turn % points.len()];
        for _ in 0..TRIES {
            draw(center + offset(random), &mut points);
        }
    }
    points.sort_unstable_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    points.truncate(count);
    points
}

/// Returns a point for each width, from the centre outwards. Two points are at least as far apart as the mean of their widths, times
/// `share`.
///
/// As in [`disc`], points grow from earlier ones. Here each cell has a list of points: it is as large as the widest distance, so
/// the neighbours of a point lie in nine cells.
pub(super) fn packed(widths: &[f32], share: f32, random: &mut SplitMix64) -> Vec<Vec2> {
    const NONE: u32 = u32::MAX;
    let widest = widths.iter().fold(f32::MIN_POSITIVE, |widest, &width| widest.max(width)) * share;
    let area: f64 = widths.iter().map(|&width| f64::from(width * share / widest).powi(2)).sum();
    // Cells for three times the area that the points fill.
    let side = (2.0 * area.sqrt()) as usize + 8;
    let (mut last_of_cell, mut previous) = (vec![NONE; side * side], Vec::with_capacity(widths.len()));
    let mut points: Vec<Vec2> = Vec::with_capacity(widths.len());
    let mut parent = 0;
    for &width in widths {
        let point = loop {
            let base = parent % points.len().max(1);
            let free = (0..TRIES).find_map(|_| {
                let Some((&center, &its_width)) = points.get(base).zip(widths.get(base)) else {
                    return Some(Vec2::ZERO);
                };
                let point = center + offset(random) * (0.5 * share * (width + its_width));
                let cell = cell_of(point, widest, side)?;
                let rows = (cell - side..=cell + side).step_by(side);
                let is_free = rows.flat_map(|row| &last_of_cell[row - 1..=row + 1]).all(|&last| {
                    let near = std::iter::successors(Some(last), |&near| previous.get(near as usize).copied());
                    let mut near = near.take_while(|&near| near != NONE);
                    near.all(|near| {
                        let least = 0.5 * share * (width + widths[near as usize]);
                        points[near as usize].distance_squared(point) >= least * least
                    })
                });
                is_free.then_some(point)
            });
            match free {
                Some(point) => break point,
                None => parent += 1,
            }
        };
        let cell = cell_of(point, widest, side).unwrap_or(0);
        previous.push(std::mem::replace(&mut last_of_cell[cell], points.len() as u32));
        points.push(point);
    }
    // They may have grown to one side.
    let center = points.iter().sum::<Vec2>() / points.len().max(1) as f32;
    points.into_iter().map(|point| point - center).collect()
}

/// Returns the cell of a point, unless it is at the edge or outside.
fn cell_of(point: Vec2, widest: f32, side: usize) -> Option<usize> {
    let cell = point / widest + 0.5 * side as f32;
    let inside = 1.0..(side - 1) as f32;
    (inside.contains(&cell.x) && inside.contains(&cell.y)).then(|| cell.y as usize * side + cell.x as usize)
}

/// Returns a random vector with a length of 1 to [`REACH`].
fn offset(random: &mut SplitMix64) -> Vec2 {
    loop {
        let offset = Vec2::new(random.signed_unit(), random.signed_unit()) * REACH;
        if (1.0..REACH * REACH).contains(&offset.length_squared()) {
            return offset;
        }
    }
}

/// A square lattice of cells around the origin. Each holds at most one point.
struct Cells {
    side: usize,
    /// The point in each cell, or infinity.
    points: Vec<Vec2>,
}

impl Cells {
    /// Allocates cells for twice the area that this many points fill.
    fn new(points: usize) -> Self {
        let radius = 0.8 * (points as f64).sqrt() + 3.0;
        let side = (2.0 * radius * f64::from(CELLS_PER_UNIT)) as usize;
        Self { side, points: vec![Vec2::INFINITY; side * side] }
    }

    /// Puts a point into its cell, unless it is outside the lattice or closer than 1 to another point.
    fn take(&mut self, point: Vec2) -> bool {
        let cell = point * CELLS_PER_UNIT + 0.5 * self.side as f32;
        // The points that are closer than 1 lie at most two cells away.
        let inside = 2.0..(self.side - 2) as f32;
        if !inside.contains(&cell.x) || !inside.contains(&cell.y) {
            return false;
        }
        let (x, y) = (cell.x as usize, cell.y as usize);
        let rows = (y - 2..=y + 2).map(|row| row * self.side + x);
        let mut near = rows.flat_map(|at| &self.points[at - 2..=at + 2]);
        let is_free = near.all(|other| other.distance_squared(point) >= 1.0);
        if is_free {
            self.points[y * self.side + x] = point;
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_disc_is_round_dense_and_has_no_holes() {
        let points = disc(5000, &mut SplitMix64::new(1, 0));
        assert_eq!(points.len(), 5000);
        let radius = points[4999].length();
        // 0.7 points on a unit of area is the most that random points reach (Rényi's parking, in two dimensions).
        let density = 5000.0 / (std::f32::consts::PI * radius * radius);
        assert!((0.62..0.72).contains(&density), "{density}");
        // Every place in the disc is near a point: a hole of radius 1 would have room for another one.
        let mut random = SplitMix64::new(2, 0);
        for _ in 0..500 {
            let place = Vec2::new(random.signed_unit(), random.signed_unit()) * 0.68 * radius;
            assert!(points.iter().any(|point| point.distance(place) < 1.3), "a hole at {place}");
        }
        let center = points.iter().sum::<Vec2>() / 5000.0;
        assert!(center.length() < 0.02 * radius, "{center}");
    }
}

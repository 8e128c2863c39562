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
/// The same for points of different widths: after this many failed tries the next point has its turn.
const PACKED_TRIES: u32 = 8;
/// The largest distance to these neighbours. The smallest is 1. A narrow ring packs points more densely.
const REACH: f32 = 1.4;

/// Returns `count` points that are at least 1 apart, from the centre outwards. They fill a disc.
pub(super) fn disc(count: usize, random: &mut SplitMix64) -> Vec<Vec2> {
    // The rim grows unevenly, so some points more than needed are drawn and the outermost ones dropped.
    let wanted = count + 6 * (count as f64).sqrt() as usize + 8;
    let mut pack = Pack::new(wanted, wanted as f64);
    pack.put(Vec2::ZERO, 1.0);
    // The list of points is also the queue. It almost never runs empty; it then starts again with the first point.
    for turn in 0.. {
        if pack.points.len() >= wanted {
            break;
        }
        let center = pack.points[turn % pack.points.len()];
        for _ in 0..TRIES {
            let point = center + offset(random);
            if pack.is_free(point, 1.0) {
                pack.put(point, 1.0);
            }
        }
    }
    let mut points = pack.points;
    points.sort_unstable_by(|a, b| a.length_squared().total_cmp(&b.length_squared()));
    points.truncate(count);
    points
}

/// Returns a point for each width, from the centre outwards. Two points are at least as far apart as the mean of their
/// widths, times `share`. Very narrow instances get more room, so that a cell has few points.
pub(super) fn packed(widths: &[f32], share: f32, random: &mut SplitMix64) -> Vec<Vec2> {
    /// The least width, as a share of the widest.
    const NARROWEST: f32 = 0.125;
    let widest = widths.iter().fold(f32::MIN_POSITIVE, |widest, &width| widest.max(width));
    // In units of the widest distance.
    let widths: Vec<f32> = widths.iter().map(|width| (width / widest).max(NARROWEST)).collect();
    let mut pack = Pack::new(widths.len(), widths.iter().map(|&width| f64::from(width).powi(2)).sum());
    let mut parent = 0;
    // As in `disc`, points grow from earlier ones, but each has its own width, and none is dropped.
    for &width in &widths {
        let point = loop {
            let Some((&center, &its_width)) = pack.points.get(parent).zip(widths.get(parent)) else {
                // The list ran out, or has not begun.
                if pack.points.is_empty() {
                    break Vec2::ZERO;
                }
                parent = 0;
                continue;
            };
            let mut tries = (0..PACKED_TRIES).map(|_| center + offset(random) * (0.5 * (width + its_width)));
            match tries.find(|point| pack.is_free(*point, width)) {
                Some(point) => break point,
                None => parent += 1,
            }
        };
        pack.put(point, width);
    }
    // They may have grown to one side.
    let center = pack.points.iter().sum::<Vec2>() / pack.points.len().max(1) as f32;
    pack.points.into_iter().map(|point| (point - center) * (widest * share)).collect()
}

/// Points with widths of at most 1, in cells with a side of 1. Each cell has a list of its points, so those that are too near
/// for a new one lie in nine cells.
struct Pack {
    side: usize,
    /// The last point of each cell, or [`Self::NONE`].
    last_of_cell: Vec<u32>,
    /// For each point its width, and the point before it in its cell.
    entries: Vec<(f32, u32)>,
    points: Vec<Vec2>,
}

impl Pack {
    const NONE: u32 = u32::MAX;

    /// Allocates cells for four times the area that the points fill.
    fn new(count: usize, area: f64) -> Self {
        let side = (2.0 * area.sqrt()) as usize + 8;
        let last_of_cell = vec![Self::NONE; side * side];
        Self { side, last_of_cell, entries: Vec::with_capacity(count), points: Vec::with_capacity(count) }
    }

    /// Returns the cell of a point, unless it is at the edge or outside.
    fn cell_of(&self, point: Vec2) -> Option<usize> {
        let cell = point + 0.5 * self.side as f32;
        let inside = 1.0..(self.side - 1) as f32;
        let is_inside = inside.contains(&cell.x) && inside.contains(&cell.y);
        is_inside.then(|| cell.y as usize * self.side + cell.x as usize)
    }

    fn is_free(&self, point: Vec2, width: f32) -> bool {
        let Some(cell) = self.cell_of(point) else { return false };
        // The own cell is the most likely one to have a point that is too near.
        let side = self.side;
        let rows = [cell, cell - side, cell + side];
        rows.iter().flat_map(|&row| [row, row - 1, row + 1]).all(|cell| {
            let mut near = self.last_of_cell[cell];
            while near != Self::NONE {
                let (its_width, before) = self.entries[near as usize];
                let least = 0.5 * (width + its_width);
                if self.points[near as usize].distance_squared(point) < least * least {
                    return false;
                }
                near = before;
            }
            true
        })
    }

    fn put(&mut self, point: Vec2, width: f32) {
        // A point that is free has a cell.
        let cell = self.cell_of(point).unwrap_or_default();
        let before = std::mem::replace(&mut self.last_of_cell[cell], self.points.len() as u32);
        self.entries.push((width, before));
        self.points.push(point);
    }
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

//! The points of a level that are compared with full detail, and the points of full detail that are compared with a level.
//!
//! In: the triangles in full detail and of one level. Out: lists of points, each with the surface to which it is compared. The
//! points are the vertices in full detail that the level has lost, and points on edges and triangles that the other surface
//! does not have.
//!
//! Of many points, those that matter most are compared, and a few others, evenly spread. A vertex matters by its distance
//! from the surface of the level that lost it, in a few poses, so the tip of a spike is not left out. A point of a level
//! matters by the lost vertices next to its triangle's corners, and by the longest side of its triangle. The corners are on
//! the surface in full detail, so no point is farther from it than that.

use glam::Vec3A;

use super::surface::{Lost, NodeBox, Place, Tree, far_vertices};
use super::triangles::{Component, Edges, Triangles, components, sides};
use crate::model::Geometry;

/// The number of points of each kind that are mapped for each level, at least.
const LEAST_OF_LEVEL: usize = 8192;
const LEAST_VERTICES: usize = 4096;
const LEAST_INSIDE: usize = 2048;
/// A surface with at most this many triangles has points inside of all of them.
const FEW_TRIANGLES: usize = 1024;
/// At least one of this many points is compared, however many points there are.
const MOST_STRIDE: usize = 16;
/// The weight of a triangle's longest side, squared, compared with a lost vertex's squared distance.
const SIDE_SHARE: f32 = 0.01;
/// The largest number of divisions of a large triangle's side.
const MOST_DIVISIONS: usize = 6;
/// One of this many compared points is not chosen for its importance.
const SPREAD: usize = 4;

/// Points of one kind that are compared with the same surface.
pub(super) struct Points {
    /// The index of the surface: of a material in full detail for points of the level, otherwise of a tree of the level.
    pub target: usize,
    pub kind: PointKind,
    pub places: Vec<Place>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PointKind {
    /// A point on the surface of the level.
    OfLevel,
    /// A vertex in full detail.
    Vertices,
    /// Inside of a triangle in full detail, or on its sides.
    Inside,
}

/// An edge of one of the two surfaces that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    New,
    HasPoints,
    /// An edge of both surfaces.
    Shared,
}

/// The surface in full detail.
pub(super) struct FullSurface<'m> {
    geometry: &'m Geometry,
    /// The positions in the reference pose.
    reference: &'m [Vec3A],
    materials: Vec<FullMaterial>,
    /// The tree of each material, and its boxes in the reference pose.
    pub trees: Vec<Tree>,
    pub boxes: Vec<Vec<NodeBox>>,
    edges: Edges,
    triangle_count: usize,
}

/// One material in full detail.
struct FullMaterial {
    material: u32,
    /// The connected components, each with the numbers of its triangles' sides in [`FullSurface::edges`].
    components: Vec<(Component, Vec<[u32; 3]>)>,
    /// The mean length of the triangles' sides.
    spacing: f32,
}

impl<'m> FullSurface<'m> {
    /// Prepares the triangles in full detail for comparisons.
    pub fn new(geometry: &'m Geometry, full: &Triangles, reference: &'m [Vec3A]) -> Self {
        let full = full.by_material(geometry);
        let edges = Edges::new(full.iter().map(|(&material, triangles)| (material, &triangles[..])), reference.len());
        let of_material = |(&material, triangles): (&u32, &Vec<[u32; 3]>)| {
            let side = |side| edges.index(material, side).unwrap_or_default() as u32;
            let with_sides = |component: Component| {
                let sides = component.triangles.iter().map(|&corners| sides(corners).map(side)).collect();
                (component, sides)
            };
            let components = components(triangles, reference).into_iter().map(with_sides).collect();
            FullMaterial { material, components, spacing: spacing(triangles, reference) }
        };
        let materials = full.iter().map(of_material).collect();
        let triangle_count = full.values().map(Vec::len).sum();
        let trees: Vec<Tree> = full.into_values().map(|triangles| Tree::new(triangles, reference)).collect();
        let boxes = trees.iter().map(|tree| tree.boxes(reference)).collect();
        Self { geometry, reference, materials, trees, boxes, edges, triangle_count }
    }

    /// Finds the points of a level, and those in full detail that concern it.
    pub fn level(&self, finer: &Triangles, triangles: Triangles) -> LevelSurface {
        let (lost, (trees, lists)) =
            rayon::join(|| far_vertices(self.reference, finer, &triangles), || self.points(&triangles));
        LevelSurface { triangles, trees, lists, lost }
    }

    /// Returns the trees of a level, and all points that concern it. The targets of points in full detail are indices of these
    /// trees; the targets of the level's own points are indices of the materials in full detail.
    fn points(&self, triangles: &Triangles) -> (Vec<Tree>, Vec<Points>) {
        let reference = self.reference;
        let mut by_material = triangles.by_material(self.geometry);
        let (mut trees, mut lists) = (Vec::new(), Vec::new());
        let mut is_in_level = vec![false; reference.len()];
        triangles.indices.iter().for_each(|&vertex| is_in_level[vertex as usize] = true);
        // Where a corner is lost, the distance of the corner says enough, unless triangles are large.
        let has_inside = |corners: &[u32; 3]| {
            self.triangle_count <= FEW_TRIANGLES
                || corners.iter().filter(|&&corner| is_in_level[corner as usize]).count() > 1
        };
        let own_edges = Edges::new(by_material.iter().map(|(&material, own)| (material, &own[..])), reference.len());
        let mut own_states = vec![Side::New; own_edges.len()];
        let mut full_states = vec![Side::New; self.edges.len()];
        let mut is_kept = vec![false; reference.len()];
        // Points of components that the level has lost.
        let mut lost: Vec<Place> = Vec::new();
        for (target, FullMaterial { material, components, spacing }) in self.materials.iter().enumerate() {
            let own = by_material.remove(material).unwrap_or_default();
            own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = true);
            let mut own_side = |side| {
                let index = own_edges.index(*material, side).unwrap_or_default();
                if let Some(full_index) = self.edges.index(*material, side) {
                    (own_states[index], full_states[full_index]) = (Side::Shared, Side::Shared);
                }
                index as u32
            };
            let own_sides: Vec<[u32; 3]> = own.iter().map(|&corners| sides(corners).map(&mut own_side)).collect();
            let mut places = Vec::new();
            for (&corners, &sides) in own.iter().zip(&own_sides) {
                add_points_inside(&mut places, corners, sides, &mut own_states, *spacing, reference);
            }
            lists.push(Points { target, kind: PointKind::OfLevel, places });
            let (mut removed, mut removed_inside) = (Vec::new(), Vec::new());
            for (component, component_sides) in components {
                let removed_vertices = component.vertices.iter().copied().filter(|&vertex| !is_kept[vertex as usize]);
                let vertices = removed_vertices.map(Place::of_vertex);
                if component.vertices.iter().any(|&vertex| is_kept[vertex as usize]) {
                    removed.extend(vertices);
                    let inside =
                        component.triangles.iter().zip(component_sides).filter(|(corners, _)| has_inside(corners));
                    for (&corners, &sides) in inside {
                        add_points_inside(&mut removed_inside, corners, sides, &mut full_states, *spacing, reference);
                    }
                } else {
                    let places: Vec<Place> = vertices.collect();
                    lost.extend_from_slice(&places);
                    lists.push(Points { target: trees.len(), kind: PointKind::Vertices, places });
                    trees.push(Tree::new(vec![[middle(&component.vertices, reference); 3]], reference));
                }
            }
            own.as_flattened().iter().for_each(|&vertex| is_kept[vertex as usize] = false);
            if !own.is_empty() {
                lists.push(Points { target: trees.len(), kind: PointKind::Vertices, places: removed });
                lists.push(Points { target: trees.len(), kind: PointKind::Inside, places: removed_inside });
                trees.push(Tree::new(own, reference));
            }
        }
        if !lost.is_empty() {
            lists.push(Points { target: trees.len(), kind: PointKind::Vertices, places: lost });
            trees.push(Tree::new(triangles.indices.as_chunks().0.to_vec(), reference));
        }
        // There may be a few points for each triangle in full detail, so they do not wait for the losses.
        thin(&mut lists, PointKind::Inside, LEAST_INSIDE, |place| longest_side(place.corners, reference));
        (trees, lists)
    }

    fn triangles(&self) -> impl Iterator<Item = &[u32; 3]> {
        self.materials.iter().flat_map(|material| &material.components).flat_map(|(component, _)| &component.triangles)
    }
}

/// A level, with its points and those in full detail that concern it.
pub(super) struct LevelSurface {
    triangles: Triangles,
    /// Its surfaces: materials, and components that it has lost.
    pub trees: Vec<Tree>,
    pub lists: Vec<Points>,
    /// The vertices of the finer level that this one has lost.
    pub lost: Vec<Lost>,
}

impl LevelSurface {
    /// Leaves out vertices and points of the level that hardly matter, if there are many. `losses` has the squared distance
    /// of each vertex from the surface of the first level without it.
    pub fn thin(&mut self, full: &FullSurface<'_>, losses: &[f32]) {
        let reference = full.reference;
        let lists = &mut self.lists;
        let mut loss = losses.to_vec();
        self.triangles.indices.iter().for_each(|&vertex| loss[vertex as usize] = 0.0);
        // The largest loss next to each vertex.
        let mut near = vec![0.0f32; reference.len()];
        for corners in full.triangles() {
            let largest = largest(corners, &loss);
            corners.iter().for_each(|&corner| near[corner as usize] = near[corner as usize].max(largest));
        }
        let of_triangle = |place: &Place| {
            let side = longest_side(place.corners, reference);
            largest(&place.corners, &near) + SIDE_SHARE * side * side
        };
        thin(lists, PointKind::OfLevel, LEAST_OF_LEVEL, of_triangle);
        thin(lists, PointKind::Vertices, LEAST_VERTICES, |place| largest(&place.corners, &loss));
    }
}

/// Returns the largest number of a triangle's corners.
fn largest(corners: &[u32; 3], of_vertex: &[f32]) -> f32 {
    corners.iter().map(|&corner| of_vertex[corner as usize]).fold(0.0, f32::max)
}

/// Leaves points of a kind out, if there are many: keeps the most important ones, and a few others evenly.
fn thin(lists: &mut [Points], kind: PointKind, least_points: usize, importance: impl Fn(&Place) -> f32) {
    let mut all: Vec<f32> =
        lists.iter().filter(|list| list.kind == kind).flat_map(|list| &list.places).map(&importance).collect();
    let most = least_points.max(all.len() / MOST_STRIDE);
    if all.len() <= most {
        return;
    }
    let important = most - most / SPREAD;
    let (_, &mut least, _) = all.select_nth_unstable_by(important, |a, b| b.total_cmp(a));
    let stride = (all.len() - important).div_ceil(most / SPREAD);
    for list in lists.iter_mut().filter(|list| list.kind == kind) {
        let mut index = 0;
        list.places.retain(|place| {
            index += 1;
            importance(place) > least || (index - 1) % stride == 0
        });
    }
}

fn centroid(corners: [u32; 3]) -> Place {
    Place { corners, weights: [1.0 / 3.0; 3] }
}

/// Adds a grid of points on a triangle about as dense as `spacing`, without its corners. Triangles of which both surfaces have
/// all `sides` have none. Only the first triangle at a side has points on it.
fn add_points_inside(
    points: &mut Vec<Place>,
    corners: [u32; 3],
    sides: [u32; 3],
    states: &mut [Side],
    spacing: f32,
    reference: &[Vec3A],
) {
    let before = sides.map(|side| states[side as usize]);
    if before == [Side::Shared; 3] {
        return;
    }
    for side in sides {
        if states[side as usize] == Side::New {
            states[side as usize] = Side::HasPoints;
        }
    }
    points.push(centroid(corners));
    let divisions = ((longest_side(corners, reference) / spacing).ceil() as usize).clamp(1, MOST_DIVISIONS);
    // A triangle that is not large has the midpoints of its sides.
    let divisions = divisions.max(2);
    for i in 0..=divisions {
        for j in 0..=divisions - i {
            let parts = [i, j, divisions - i - j];
            let is_on_side = |k: usize| parts[k] == 0;
            let is_left_out = |k: usize| is_on_side(k) && before[k] != Side::New;
            if parts.iter().all(|&part| part < divisions) && !(0..3).any(is_left_out) {
                points.push(Place { corners, weights: parts.map(|part| part as f32 / divisions as f32) });
            }
        }
    }
}

fn longest_side(corners: [u32; 3], reference: &[Vec3A]) -> f32 {
    let [a, b, c] = corners.map(|corner| reference[corner as usize]);
    a.distance(b).max(b.distance(c)).max(c.distance(a))
}

/// Returns the mean length of the triangles' sides.
fn spacing(triangles: &[[u32; 3]], reference: &[Vec3A]) -> f32 {
    let side = |a: u32, b: u32| f64::from(reference[a as usize].distance(reference[b as usize]));
    let sum: f64 = triangles.iter().map(|&[a, b, c]| side(a, b) + side(b, c) + side(c, a)).sum();
    (sum / (3 * triangles.len()).max(1) as f64) as f32
}

/// Returns the vertex nearest to the centre of the box around vertices.
fn middle(vertices: &[u32], reference: &[Vec3A]) -> u32 {
    let at = |vertex: &u32| reference[*vertex as usize];
    let limits = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    let (min, max) = vertices.iter().map(at).fold(limits, |(min, max), p| (min.min(p), max.max(p)));
    let centre = 0.5 * (min + max);
    let squared = |vertex: &&u32| at(vertex).distance_squared(centre);
    vertices.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).copied().unwrap_or_default()
}

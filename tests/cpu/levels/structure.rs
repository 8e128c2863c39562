//! The structure of the chain: prefixes, counts, borders, and full detail that stays as it was.

use std::collections::{BTreeSet, HashMap};

use throng::levels;
use throng::model::{Geometry, Influence, Model, Topology, import};

use super::measure::{box_of, corners, distances_of_level, matrices, points, positions, skinned};
use super::shapes;
use crate::common::assets::sample_files;
use crate::common::builder::check_invariants;

/// The triangles at an edge, by the direction in which they go along it: from the smaller point to the larger one, and back.
type Uses = [u32; 2];

/// Returns the triangles at each edge of a level. Triangles without area have none.
fn edges(model: &Model, points: &[u32], level: usize) -> HashMap<[u32; 2], Uses> {
    let mut uses = HashMap::<[u32; 2], Uses>::new();
    for corners in corners(&model.geometry, level) {
        let [a, b, c] = corners.map(|vertex| points[vertex as usize]);
        if a != b && b != c && c != a {
            for [from, to] in [[a, b], [b, c], [c, a]] {
                uses.entry([from.min(to), from.max(to)]).or_default()[usize::from(from > to)] += 1;
            }
        }
    }
    uses
}

/// Returns the ends of the edges that do not join two triangles. Two triangles that go along an edge in the same direction do
/// not join there: one shows its front and the other one its back.
fn border(edges: &HashMap<[u32; 2], Uses>) -> BTreeSet<u32> {
    edges.iter().filter(|(_, uses)| **uses != [1, 1]).flat_map(|(edge, _)| *edge).collect()
}

/// Returns whether both draw the same triangles, lines and points in the same order.
fn draw_the_same(model_a: &Model, model_b: &Model) -> bool {
    let (a, b) = (&model_a.geometry, &model_b.geometry);
    // Palettes may have another order.
    let followed = |model: &Model, vertex: usize| -> Vec<(u32, [u32; 12], f32)> {
        let influences = model.geometry.influences_of(vertex).iter();
        let followed = influences.map(|&Influence { joint, weight }| {
            let matrix = model.palette.joint_from_mesh[joint as usize].to_cols_array().map(f32::to_bits);
            (model.palette.nodes[joint as usize], matrix, weight)
        });
        followed.collect()
    };
    let is_same = |(&i, &j): (&u32, &u32)| {
        let (i, j) = (i as usize, j as usize);
        a.positions[i] == b.positions[j]
            && a.normals[i] == b.normals[j]
            && a.tangents.get(i) == b.tangents.get(j)
            && a.tex_coords[i] == b.tex_coords[j]
            && a.colors[i] == b.colors[j]
            && followed(model_a, i) == followed(model_b, j)
            && a.morph_deltas_of(i) == b.morph_deltas_of(j)
    };
    a.indices.len() == b.indices.len() && a.indices.iter().zip(&b.indices).all(is_same)
}

/// Asserts everything about the chain that needs no distance.
fn check(name: &str, before: &Model, model: &Model) {
    check_invariants(model);
    let geometry = &model.geometry;
    assert_eq!(geometry.draw_ranges, before.geometry.draw_ranges, "{name}");
    assert!(draw_the_same(model, before), "{name}: full detail changed");
    let sources = |geometry: &Geometry| -> Vec<Vec<_>> {
        let position = |&vertex: &u32| geometry.positions[vertex as usize];
        geometry.source_primitives.iter().map(|source| source.vertices.iter().map(position).collect()).collect()
    };
    assert_eq!(sources(geometry), sources(&before.geometry), "{name}");
    let (mut vertex_count, mut triangle_count, mut error, mut joint_count) =
        (geometry.vertex_count() as u32, corners(geometry, 0).len(), 0.0, model.palette.len() as u32);
    let points = points(model);
    let mut finer_border = border(&edges(model, &points, 0));
    for (index, level) in geometry.coarser_levels.iter().enumerate() {
        let name = format!("{name}, level {}", index + 1);
        assert!(level.vertex_count <= vertex_count, "{name}: {} vertices", level.vertex_count);
        let used: BTreeSet<u32> = level.indices.iter().copied().collect();
        assert!(used.iter().all(|&index| index < level.vertex_count), "{name}");
        // No vertex of the prefix is unused.
        assert_eq!(used.len(), level.vertex_count as usize, "{name}");
        assert!(level.error.is_finite() && level.error >= error, "{name}: {}", level.error);
        assert!(level.joint_count <= joint_count, "{name}: {} joints after {joint_count}", level.joint_count);
        let (_, own) = geometry.levels().nth(index + 1).unwrap();
        let (starts, influences) = own.unwrap_or((&geometry.influence_starts, &geometry.influences));
        for vertex in 0..level.vertex_count as usize {
            let influences = &influences[starts[vertex] as usize..starts[vertex + 1] as usize];
            assert!(influences.iter().all(|influence| influence.joint < level.joint_count), "{name}");
            let sum = |list: &[Influence]| list.iter().map(|influence| influence.weight).sum::<f32>();
            assert!((sum(influences) - sum(geometry.influences_of(vertex))).abs() < 1e-5, "{name}");
        }
        assert_eq!(level.ranges.len(), geometry.draw_ranges.len(), "{name}");
        let mut end = 0;
        for (range, drawn) in level.ranges.iter().zip(&geometry.draw_ranges) {
            assert!(range.start == end && range.end >= end, "{name}: {range:?}");
            assert_eq!(range.len() % drawn.topology.corner_count(), 0, "{name}");
            end = range.end;
            let own = &level.indices[range.start as usize..end as usize];
            let full = &geometry.indices[drawn.first_index as usize..][..drawn.index_count as usize];
            if drawn.topology != Topology::Triangles {
                assert_eq!(own, full, "{name}");
            }
            // A triangle stays in its draw range, so its corners are corners of that range.
            let of_range: BTreeSet<&u32> = full.iter().collect();
            assert!(own.iter().all(|index| of_range.contains(index)), "{name}");
        }
        assert_eq!(end as usize, level.indices.len(), "{name}");
        let own_count = corners(geometry, index + 1).len();
        assert!(own_count > 0 && own_count < triangle_count, "{name}: {own_count} of {triangle_count} triangles");
        (vertex_count, triangle_count, error, joint_count) =
            (level.vertex_count, own_count, level.error, level.joint_count);
        // A border may become shorter, but it stays where a border was.
        let own_edges = edges(model, &points, index + 1);
        let is_inside = |edge: &[u32; 2]| !edge.iter().all(|end| finer_border.contains(end));
        let is_torn = |(edge, uses): &(&[u32; 2], &Uses)| uses.iter().sum::<u32>() == 1 && is_inside(edge);
        let torn = own_edges.iter().filter(is_torn).count();
        assert_eq!(torn, 0, "{name}: open edges inside the surface of {own_count} triangles");
        finer_border = border(&own_edges);
    }
}

/// Asserts that levels are no farther from full detail than they state, at moments that the builder does not prefer.
fn check_errors(name: &str, model: &Model, moments_per_clip: usize) {
    let (min, max) = box_of(&positions(model, None, 0.0));
    let extent = (max - min).max_element();
    let mut moments = vec![(None, 0.0)];
    for clip in &model.clips {
        let share = |k: usize| (k as f64 + 0.37) / moments_per_clip as f64 * f64::from(clip.duration_seconds);
        moments.extend((0..moments_per_clip).map(|k| (Some(clip), share(k))));
    }
    for (index, level) in model.geometry.coarser_levels.iter().enumerate() {
        let stated = f64::from(level.error);
        for &(clip, time_seconds) in &moments {
            let (mean, largest) = distances_of_level(model, index + 1, clip, time_seconds);
            // A mean distance of 0.036 pixels of a character of 60 is an error of a pixel, and less of a larger one.
            let of_mean = (mean / 0.036 * (extent / 60.0).powf(0.24)).powf(1.0 / 1.24);
            // Distances may be a little larger between the measured poses.
            let allowed = if clip.is_none() { 1.001 * stated } else { 2.0 * 1.25 * stated };
            let is_stated = largest <= allowed && of_mean <= 1.4 * stated;
            assert!(is_stated, "{name}, level {}: mean {mean}, largest {largest}, stated {stated}", index + 1);
        }
    }
}

fn built(before: &Model) -> Model {
    let mut model = before.clone();
    levels::build(&mut model);
    model
}

/// Returns the shape of this name with its levels, of which there is at least one.
fn built_shape(name: &str) -> Model {
    let (_, before) = shapes::all().into_iter().find(|(own, _)| *own == name).unwrap();
    let model = built(&before);
    assert!(!model.geometry.coarser_levels.is_empty(), "{name}");
    model
}

#[test]
fn shapes_have_sound_levels() {
    for (name, before) in shapes::all() {
        check_invariants(&before);
        let model = built(&before);
        check(name, &before, &model);
        check_errors(name, &model, 3);
        let coarsest = model.geometry.coarser_levels.last().unwrap_or_else(|| panic!("{name} has no level"));
        let triangles: usize = corners(&model.geometry, model.geometry.coarser_levels.len()).len();
        println!("{name}: {triangles} of {} triangles, error {}", before.geometry.triangle_count(), coarsest.error);
        // The cubes are 16 parts.
        assert!(triangles <= 96, "{name}: {triangles} triangles are left");
    }
}

#[test]
fn units_of_mesh_space_do_not_matter() {
    let [own, scaled] = ["tube", "tube in centimetres"].map(|name| built_shape(name).geometry.coarser_levels);
    assert_eq!(own.len(), scaled.len());
    for (own, scaled) in own.iter().zip(&scaled) {
        let ratio = own.error / scaled.error;
        // Rounding may change the order of collapses, which matters while the surface is almost flat.
        assert!(own.error < 0.02 || (0.5..2.0).contains(&ratio), "{} and {}", own.error, scaled.error);
    }
}

/// A joint is left out of a level if that moves the surface on average by at most a tenth of the level's mean distance, and no
/// vertex by more than half of its error. The first share decides for a large part, and the second one for a small part.
#[test]
fn levels_follow_the_joints_that_matter() {
    for (radius, swing) in [(0.5, 0.01), (0.02, 0.012), (0.02, 0.045)] {
        let model = built(&shapes::sphere_and_satellite(radius, swing));
        let (geometry, clip) = (&model.geometry, model.clips.first());
        let poses = [0.0, 0.35, 0.7, 1.35, 2.0].map(|seconds| matrices(&model, clip, seconds));
        for (index, level) in geometry.coarser_levels.iter().enumerate() {
            let (mut sum, mut area, mut largest) = (0.0, 0.0, 0.0f64);
            let corners = corners(geometry, index + 1);
            for (pose, &corners) in poses.iter().flat_map(|pose| corners.iter().map(move |own| (pose, own))) {
                // The distance between where the vertex is, and where it is if it follows the first joint alone.
                let moved = |vertex: u32| {
                    let (vertex, own) = (vertex as usize, geometry.influences_of(vertex as usize));
                    let at = |last: u32| skinned(geometry, vertex, own, |joint| pose[joint.min(last) as usize], &[0.0]);
                    at(1).distance(at(0))
                };
                let [a, b, c] = corners.map(|corner| geometry.positions[corner as usize].as_dvec3());
                let (own_area, moved) = ((b - a).cross(c - a).length(), corners.map(moved));
                (sum, area) = (sum + own_area * moved.iter().sum::<f64>() / 3.0, area + own_area);
                largest = moved.into_iter().fold(largest, f64::max);
            }
            let mean_of = |clip, seconds| distances_of_level(&model, index + 1, clip, seconds).0;
            let mean = mean_of(None, 0.0).max(mean_of(clip, 2.0));
            let is_left = level.joint_count == 1;
            // The stated error has grown by the distance.
            let error = f64::from(level.error) - if is_left { largest } else { 0.0 };
            let share = (sum / area / (0.1 * mean)).max(largest / (0.5 * error));
            // The builder measures other points.
            let is_right = if is_left { share < 1.5 } else { share > 0.7 };
            assert!(is_right, "{radius}, level {}: {} joints, {share}", index + 1, level.joint_count);
        }
        let joint_counts: Vec<u32> = geometry.coarser_levels.iter().map(|level| level.joint_count).collect();
        assert!(joint_counts.starts_with(&[2, 2]) && joint_counts.ends_with(&[1, 1, 1]), "{radius}: {joint_counts:?}");
    }
}

#[test]
fn parts_that_touch_by_chance_are_not_joined() {
    let model = built_shape("two spheres in one place");
    for level in &model.geometry.coarser_levels {
        for triangle in level.indices.as_chunks::<3>().0 {
            let [a, b, c] = triangle.map(|vertex| model.geometry.influences_of(vertex as usize)[0].joint);
            assert!(a == b && b == c, "{a}, {b}, {c}");
        }
    }
}

#[test]
fn blended_triangles_keep_their_order() {
    let model = built_shape("blended sheet");
    // A triangle of the wavy sheet stays near its place, and the original order goes from row to row.
    for level in &model.geometry.coarser_levels {
        let row = |triangle: &[u32; 3]| {
            triangle.map(|vertex| model.geometry.positions[vertex as usize].z).into_iter().sum::<f32>() / 3.0
        };
        let rows: Vec<f32> = level.indices.as_chunks::<3>().0.iter().map(row).collect();
        let steps_back = rows.windows(2).filter(|pair| pair[1] < pair[0] - 0.5).count();
        assert_eq!(steps_back, 0, "{rows:?}");
    }
}

#[test]
fn neither_threads_nor_another_build_change_the_levels() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| built_shape("tube of two materials"))
    };
    let [one, four] = [1, 4].map(with);
    assert!(draw_the_same(&one, &four) && one.geometry.coarser_levels == four.geometry.coarser_levels);
    let again = built(&one);
    assert_eq!(again.geometry.coarser_levels.len(), one.geometry.coarser_levels.len());
    assert!(draw_the_same(&again, &one));
}

#[test]
fn models_that_cannot_be_simplified_have_no_levels() {
    for before in shapes::without_levels() {
        assert!(built(&before).geometry.coarser_levels.is_empty());
    }
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn samples_keep_all_promises_and_have_sound_levels() {
    /// Brute force compares every point with every triangle.
    const MOST_TRIANGLES: usize = 800;
    const MOST_CLIPS: usize = 4;
    /// Scenes of a thousand copies take long and show nothing new.
    const MOST_INDICES: usize = 100_000;
    let mut with_levels = 0;
    for path in sample_files(&["glb", "gltf"]) {
        let before = import::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if before.geometry.indices.len() > MOST_INDICES {
            check_invariants(&before);
            continue;
        }
        let model = built(&before);
        let name = path.file_name().unwrap().to_str().unwrap();
        check(name, &before, &model);
        with_levels += usize::from(!model.geometry.coarser_levels.is_empty());
        if model.geometry.triangle_count() <= MOST_TRIANGLES && model.clips.len() <= MOST_CLIPS {
            check_errors(name, &model, 3);
        }
    }
    assert!(with_levels > 10, "{with_levels} models have levels");
}

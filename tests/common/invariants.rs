//! Checks every guarantee of `throng::model` about an imported model.
//!
//! Later layers do not check these again. Import tests and fuzz targets (fuzz/README.md) call this for all imported models.

use std::collections::HashSet;

use glam::{Affine3A, Vec3, Vec4};
use throng::model::{AlphaMode, Clip, Geometry, Interpolation, Model, MorphTrack, NO_PARENT, Skeleton, Track};

/// The rounding error of a normalised `f32` vector.
const UNIT_TOLERANCE: f32 = 1e-5;

pub fn check_invariants(model: &Model) {
    check_skeleton(&model.skeleton);
    check_morphed_nodes(&model.skeleton);
    check_skins_and_palette(model);
    let Geometry { positions, normals, tex_coords, colors, .. } = &model.geometry;
    assert_eq!([normals.len(), tex_coords.len(), colors.len()], [positions.len(); 3]);
    assert!(positions.iter().all(|position| position.is_finite()));
    assert!(normals.iter().all(|normal| is_unit(normal.extend(0.0))));
    assert!(tex_coords.iter().flatten().all(|uv| uv.is_finite()));
    check_influences(&model.geometry, model.palette.len());
    check_morph_deltas(&model.geometry, model.morph_weight_count());
    check_draws(model);
    check_tangents(&model.geometry);
    check_materials(model);
    for clip in &model.clips {
        check_clip(clip, &model.skeleton);
    }
    // At most a hundred warnings are kept, and one more line counts the rest.
    assert!(model.warnings.len() <= 101, "{} warnings", model.warnings.len());
}

pub fn check_skeleton(skeleton: &Skeleton) {
    let Skeleton { parents, rest, fixed_locals, names, source_nodes, source_node_count, in_scene, .. } = skeleton;
    let count = parents.len();
    assert_eq!([rest.translations.len(), rest.rotations.len(), rest.scales.len()], [count; 3]);
    assert_eq!([names.len(), source_nodes.len(), in_scene.len()], [count; 3]);
    for (node, &parent) in parents.iter().enumerate() {
        assert!(parent == NO_PARENT || (parent as usize) < node, "node {node} stands before its parent {parent}");
        let below_the_scene = parent != NO_PARENT && in_scene[parent as usize];
        assert!(in_scene[node] || !below_the_scene, "node {node} is not in the scene, but its parent {parent} is");
    }
    assert!(rest.translations.iter().chain(&rest.scales).all(|v| v.is_finite()));
    assert!(rest.rotations.iter().all(|&rotation| is_unit(rotation.into())));
    assert!(fixed_locals.is_sorted_by(|a, b| a.node < b.node));
    for fixed in fixed_locals {
        assert!((fixed.node as usize) < count && fixed.parent_from_node.is_finite(), "{fixed:?} of {count} nodes");
    }
    let distinct: HashSet<u32> = source_nodes.iter().copied().collect();
    assert_eq!(distinct.len(), count, "a node of the file stands twice");
    assert!(source_nodes.iter().all(|source| source < source_node_count));
}

fn check_morphed_nodes(skeleton: &Skeleton) {
    let Skeleton { rest, morphed_nodes, in_scene, .. } = skeleton;
    let mut end = 0;
    for morphed in morphed_nodes {
        assert!(in_scene[morphed.node as usize] && morphed.weight_count > 0, "{morphed:?}");
        assert_eq!(morphed.first_weight, end, "the weights of nodes follow upon each other");
        end += morphed.weight_count;
    }
    assert!(morphed_nodes.is_sorted_by(|a, b| a.node < b.node));
    assert_eq!(end as usize, rest.morph_weights.len(), "the nodes have all of the weights");
    assert!(rest.morph_weights.iter().all(|weight| weight.is_finite()));
}

fn check_skins_and_palette(model: &Model) {
    let node_count = model.skeleton.len();
    let check = |nodes: &[u32], joint_from_mesh: &[Affine3A]| {
        assert_eq!(nodes.len(), joint_from_mesh.len());
        assert!(nodes.iter().all(|&node| (node as usize) < node_count));
        assert!(joint_from_mesh.iter().all(|matrix| matrix.is_finite()));
    };
    for skin in &model.skins {
        check(&skin.joints, &skin.joint_from_mesh);
        assert_eq!(skin.inverse_bind_w.len(), skin.joints.len());
    }
    check(&model.palette.nodes, &model.palette.joint_from_mesh);
    assert_eq!(model.palette.is_joint.len(), model.palette.len());
}

/// Checks a list of starts: the start of each vertex's part of a list, then the end of the last part.
fn check_starts(starts: &[u32], vertex_count: usize, list_len: usize) {
    assert_eq!(starts.len(), vertex_count + 1);
    assert_eq!((starts[0], starts[vertex_count] as usize), (0, list_len));
    assert!(starts.is_sorted());
}

fn check_influences(geometry: &Geometry, palette_len: usize) {
    check_starts(&geometry.influence_starts, geometry.vertex_count(), geometry.influences.len());
    for vertex in 0..geometry.vertex_count() {
        let influences = geometry.influences_of(vertex);
        let sum: f64 = influences.iter().map(|influence| f64::from(influence.weight)).sum();
        assert!((sum - 1.0).abs() < 1e-6, "the weights of vertex {vertex} sum to {sum}");
        assert!(influences.iter().all(|influence| influence.weight > 0.0 && (influence.joint as usize) < palette_len));
        assert!(influences.is_sorted_by(|a, b| a.weight >= b.weight), "vertex {vertex}: heaviest first");
        let joints: HashSet<u32> = influences.iter().map(|influence| influence.joint).collect();
        assert_eq!(joints.len(), influences.len(), "vertex {vertex}: a joint stands twice");
    }
}

fn check_morph_deltas(geometry: &Geometry, weight_count: usize) {
    check_starts(&geometry.morph_delta_starts, geometry.vertex_count(), geometry.morph_deltas.len());
    for vertex in 0..geometry.vertex_count() {
        let deltas = geometry.morph_deltas_of(vertex);
        let is_sorted = deltas.is_sorted_by(|a, b| a.weight_index < b.weight_index);
        assert!(is_sorted, "vertex {vertex}: a target has two deltas");
        assert!(deltas.iter().all(|delta| (delta.weight_index as usize) < weight_count));
        let parts = || deltas.iter().map(|delta| [delta.position, delta.normal, delta.tangent]);
        assert!(parts().flatten().all(Vec3::is_finite));
        assert!(parts().all(|parts| parts != [Vec3::ZERO; 3]), "vertex {vertex}: a delta that does nothing");
    }
}

/// Tangents exist only if a draw needs them. Each is a unit vector, or zero if no draw needs it.
fn check_tangents(geometry: &Geometry) {
    let Geometry { tangents, draw_ranges, .. } = geometry;
    let needed = draw_ranges.iter().any(|range| range.has_tangents);
    assert_eq!(tangents.len(), if needed { geometry.vertex_count() } else { 0 });
    let is_whole = |tangent: Vec4| is_unit(tangent.truncate().extend(0.0)) && tangent.w.abs() == 1.0;
    assert!(tangents.iter().all(|&tangent| tangent == Vec4::ZERO || is_whole(tangent)));
    for range in draw_ranges.iter().filter(|range| range.has_tangents) {
        let first = range.first_index as usize;
        let indices = &geometry.indices[first..first + range.index_count as usize];
        assert!(indices.iter().all(|&vertex| is_whole(tangents[vertex as usize])), "{range:?}");
    }
}

fn check_draws(model: &Model) {
    let Geometry { indices, draw_ranges, source_primitives, .. } = &model.geometry;
    let vertex_count = model.geometry.vertex_count();
    let is_vertex = |&index: &u32| (index as usize) < vertex_count;
    assert!(indices.iter().all(is_vertex));
    let mut end = 0;
    for range in draw_ranges {
        assert_eq!(range.first_index, end, "draw ranges follow upon each other");
        let is_whole = (range.index_count as usize).is_multiple_of(range.topology.corner_count());
        assert!(range.index_count > 0 && is_whole, "{range:?}");
        assert!((range.material as usize) < model.materials.len(), "{range:?}");
        end += range.index_count;
    }
    assert_eq!(end as usize, indices.len(), "draw ranges hold all indices");
    assert!(source_primitives.is_sorted_by_key(|source| (source.node, source.primitive)));
    let nodes: HashSet<u32> = model.skeleton.source_nodes.iter().copied().collect();
    for primitive in source_primitives {
        assert!(primitive.vertices.iter().all(is_vertex));
        assert!(nodes.contains(&primitive.node));
        assert!(primitive.skin.is_none_or(|skin| (skin as usize) < model.skins.len()));
    }
}

fn check_materials(model: &Model) {
    assert!(!model.materials.is_empty());
    for material in &model.materials {
        let share = |number: f32| (0.0..=1.0).contains(&number);
        assert!(material.base_color_factor.to_array().into_iter().all(share), "{material:?}");
        assert!(share(material.metallic) && share(material.roughness), "{material:?}");
        assert!(share(material.occlusion_strength) && material.normal_scale.is_finite(), "{material:?}");
        assert!(material.emission.is_finite() && material.emission.min_element() >= 0.0, "{material:?}");
        if let AlphaMode::Mask(cutoff) = material.alpha_mode {
            assert!(cutoff.is_finite() && cutoff >= 0.0, "{material:?}");
        }
        for slot in material.textures() {
            assert!((slot.texture.image as usize) < model.images.len(), "{material:?}");
            assert!(slot.tex_coords < 2 && slot.texture_from_vertex.is_finite(), "{material:?}");
        }
    }
    assert_eq!(model.source.images.len(), model.images.len());
    for image in &model.images {
        assert!(image.width > 0 && image.height > 0);
        assert_eq!(image.texels().unwrap().len() as u64, 4 * u64::from(image.width) * u64::from(image.height));
    }
}

pub fn check_clip(clip: &Clip, skeleton: &Skeleton) {
    for seconds in &clip.timelines {
        assert!(!seconds.is_empty() && seconds.is_sorted(), "{seconds:?}");
        assert!(seconds.iter().all(|time| time.is_finite()), "{seconds:?}");
        assert!(seconds.iter().all(|time| *time <= clip.duration_seconds), "{seconds:?}, {}", clip.duration_seconds);
    }
    assert!(clip.duration_seconds.is_finite() && clip.duration_seconds >= 0.0);
    check_tracks(&clip.translations, clip, skeleton, Vec3::is_finite);
    check_tracks(&clip.scales, clip, skeleton, Vec3::is_finite);
    check_tracks(&clip.rotations, clip, skeleton, Vec4::is_finite);
    check_morph_tracks(clip, skeleton);
    for track in &clip.rotations {
        let spline = track.interpolation == Interpolation::CubicSpline;
        let mut keys = track.values.iter().enumerate().filter(|(index, _)| !spline || index % 3 == 1);
        assert!(keys.all(|(_, &rotation)| is_unit(rotation)), "{track:?}");
    }
}

fn check_tracks<T: Copy>(tracks: &[Track<T>], clip: &Clip, skeleton: &Skeleton, is_finite: fn(T) -> bool) {
    let mut animated = HashSet::new();
    for track in tracks {
        assert!((track.node as usize) < skeleton.len());
        let fixed = skeleton.fixed_locals.binary_search_by_key(&track.node, |fixed| fixed.node);
        assert!(fixed.is_err(), "node {} has a matrix and is animated", track.node);
        assert!(animated.insert(track.node), "node {} has two tracks for one property", track.node);
        let key_count = clip.timelines[track.timeline as usize].len();
        assert_eq!(track.values.len(), values_per_key(track.interpolation) * key_count);
        assert!(track.values.iter().all(|&value| is_finite(value)));
    }
}

fn check_morph_tracks(clip: &Clip, skeleton: &Skeleton) {
    let mut animated = HashSet::new();
    for track in &clip.morph_weights {
        let &MorphTrack { first_weight, weight_count, timeline, interpolation, ref values } = track;
        let mut nodes = skeleton.morphed_nodes.iter();
        let is_of = nodes.any(|node| (node.first_weight, node.weight_count) == (first_weight, weight_count));
        assert!(is_of && animated.insert(first_weight), "{first_weight} + {weight_count} are no node's, or twice");
        let key_count = clip.timelines[timeline as usize].len();
        assert_eq!(values.len(), values_per_key(interpolation) * key_count * weight_count as usize);
        assert!(values.iter().all(|value| value.is_finite()));
    }
}

fn values_per_key(interpolation: Interpolation) -> usize {
    if interpolation == Interpolation::CubicSpline { 3 } else { 1 }
}

fn is_unit(vector: Vec4) -> bool {
    (vector.length() - 1.0).abs() < UNIT_TOLERANCE
}

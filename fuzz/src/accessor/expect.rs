//! The comparison of the accessor's numbers with the model, for each role.

use glam::{DVec3, DVec4, Vec3, Vec4};
use throng::model::{Influence, Model};

use super::case::{Case, JOINT_COUNT, MAX_COUNT, Role};

/// The rounding error of a weight or of a component of a unit vector.
const TOLERANCE: f64 = 1e-6;

/// Whether the numbers are such that the model must be imported, given valid types and bounds.
pub fn is_valid(case: &Case, elements: &[Vec<f64>]) -> bool {
    let numbers = || elements.iter().flatten().copied();
    let below = |limit: usize| numbers().all(|number| number < limit as f64);
    let values_are_valid = match case.role {
        Role::Joints => below(JOINT_COUNT),
        Role::Indices => below(MAX_COUNT as usize),
        Role::KeyTimes => numbers().all(|time| time >= 0.0) && numbers().is_sorted_by(|a, b| a < b),
        Role::Spline => case.count.is_multiple_of(3),
        _ => true,
    };
    values_are_valid && numbers().all(f64::is_finite)
}

/// Compares the model with `elements`, the result of the second decoder.
///
/// # Panics
/// Panics if the model has other numbers.
pub fn check(case: &Case, elements: &[Vec<f64>], model: &Model) {
    let geometry = &model.geometry;
    let clip = model.clips.first();
    match case.role {
        Role::Position => by_vertex(model, elements, |vertex, _, element| {
            let mut expected = narrow(element);
            // A mesh that is far away was brought near.
            if model.source.mesh_origin != Vec3::ZERO {
                let moved = Vec3::from_slice(&expected) - model.source.mesh_origin;
                expected = moved.clamp(Vec3::MIN, Vec3::MAX).to_array().to_vec();
            }
            assert_eq!(geometry.positions[vertex].to_array().to_vec(), expected, "{case:?}");
        }),
        Role::Normal => by_vertex(model, elements, |vertex, _, element| {
            let expected = unit_or(DVec3::from_slice(element).extend(0.0), DVec4::Z);
            near(geometry.normals[vertex].extend(0.0), expected, case);
        }),
        Role::Color => by_vertex(model, elements, |vertex, _, element| {
            check_color(geometry.colors[vertex], element, case);
        }),
        Role::Joints => by_vertex(model, elements, |vertex, rank, element| {
            let expected = Influence { joint: element[rank % 4] as u32, weight: 1.0 };
            assert_eq!(geometry.influences_of(vertex), [expected], "{case:?}");
        }),
        Role::Weights => by_vertex(model, elements, |vertex, _, element| {
            check_weights(geometry.influences_of(vertex), element, case);
        }),
        Role::Indices => {
            // Vertices may have new numbers. The last indices do not count if they are less than a triangle.
            let vertices = &geometry.source_primitives[0].vertices;
            let expected: Vec<u32> = elements.iter().map(|element| vertices[element[0] as usize]).collect();
            assert_eq!(triangles(&geometry.indices), triangles(&expected), "{case:?}");
        }
        Role::InverseBinds => check_matrices(case, elements, model),
        Role::KeyTimes => {
            let times: Vec<f32> = elements.iter().map(|element| element[0] as f32).collect();
            assert_eq!(clip.map(|clip| &clip.timelines), Some(&vec![times]), "{case:?}");
        }
        Role::Translation | Role::Spline => {
            let values = clip.map(|clip| clip.translations[0].values.clone()).unwrap_or_default();
            let expected: Vec<Vec3> = elements.iter().map(|element| Vec3::from_slice(&narrow(element))).collect();
            assert_eq!(values, expected, "{case:?}");
        }
        Role::MorphTarget => by_vertex(model, elements, |vertex, _, element| {
            // Deltas of zero are not stored.
            let delta = geometry.morph_deltas_of(vertex).first().map_or(Vec3::ZERO, |delta| delta.position);
            assert_eq!(delta.to_array().to_vec(), narrow(element), "{case:?}");
        }),
        Role::MorphWeights => {
            let values = clip.map(|clip| clip.morph_weights[0].values.clone()).unwrap_or_default();
            assert_eq!(values, narrow(&elements.concat()), "{case:?}");
        }
        Role::Rotation => {
            let values = clip.map(|clip| clip.rotations[0].values.clone()).unwrap_or_default();
            assert_eq!(values.len(), elements.len(), "{case:?}");
            for (&value, element) in values.iter().zip(elements) {
                near(value, unit_or(DVec4::from_slice(element), DVec4::W), case);
            }
        }
    }
}

/// Calls `check` with our vertex, the file's vertex and the element, for all vertices.
fn by_vertex(model: &Model, elements: &[Vec<f64>], check: impl Fn(usize, usize, &[f64])) {
    let vertices = &model.geometry.source_primitives[0].vertices;
    assert_eq!(vertices.len(), elements.len());
    for (rank, (&vertex, element)) in vertices.iter().zip(elements).enumerate() {
        check(vertex as usize, rank, element);
    }
}

/// Returns the triangles sorted, each starting with its smallest corner, because the model may have them in any order.
fn triangles(indices: &[u32]) -> Vec<[u32; 3]> {
    let turned = |&[a, b, c]: &[u32; 3]| [[a, b, c], [b, c, a], [c, a, b]].into_iter().min().unwrap_or_default();
    let mut triangles: Vec<[u32; 3]> = indices.as_chunks::<3>().0.iter().map(turned).collect();
    triangles.sort_unstable();
    triangles
}

/// Rounds to `f32`, as the model does, which integers may need.
fn narrow(element: &[f64]) -> Vec<f32> {
    element.iter().map(|&number| number as f32).collect()
}

fn unit_or(vector: DVec4, other: DVec4) -> DVec4 {
    vector.try_normalize().unwrap_or(other)
}

fn near(actual: Vec4, expected: DVec4, case: &Case) {
    let off = (actual.as_dvec4() - expected).length();
    assert!(off < TOLERANCE, "{actual} instead of {expected}: {case:?}");
}

fn check_color(actual: [u8; 4], element: &[f64], case: &Case) {
    let alpha = element.get(3).copied().unwrap_or(1.0);
    let rgba = [element[0], element[1], element[2], alpha];
    for (actual, expected) in actual.into_iter().zip(rgba) {
        let expected = if expected.is_nan() { 0.0 } else { expected.clamp(0.0, 1.0) * 255.0 };
        // Half way between two bytes, rounding may go either way.
        assert!((f64::from(actual) - expected).abs() < 0.5001, "{actual} instead of {expected}: {case:?}");
    }
}

fn check_weights(influences: &[Influence], element: &[f64], case: &Case) {
    let sum: f64 = element.iter().filter(|weight| **weight > 0.0).sum();
    for (joint, &weight) in element.iter().enumerate() {
        let expected = if sum > 0.0 { weight.max(0.0) / sum } else { f64::from(u8::from(joint == 0)) };
        let found = influences.iter().find(|influence| influence.joint as usize == joint);
        let actual = found.map_or(0.0, |influence| f64::from(influence.weight));
        assert!((actual - expected).abs() < TOLERANCE, "joint {joint}: {actual} instead of {expected}: {case:?}");
    }
}

fn check_matrices(case: &Case, elements: &[Vec<f64>], model: &Model) {
    let skin = &model.skins[0];
    assert_eq!(skin.joint_from_mesh.len(), case.matrix_count(), "{case:?}");
    for ((matrix, &w), element) in skin.joint_from_mesh.iter().zip(&skin.inverse_bind_w).zip(elements) {
        let element = narrow(element);
        let expected: Vec<f32> = element.chunks(4).flat_map(|column| &column[..3]).copied().collect();
        assert_eq!((matrix.to_cols_array().to_vec(), w), (expected, element[15]), "{case:?}");
    }
}

//! Models made by hand, each of which is difficult in its own way.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Affine3A, Quat, Vec2, Vec3, Vec4};
use throng::model::{
    AlphaMode, Clip, DrawRange, Influence, Interpolation, LocalPose, Material, Model, MorphDelta, MorphTrack,
    MorphedNode, NO_PARENT, Skeleton, Topology,
};

use crate::common::builder;
use crate::common::pose::layout;
use crate::cpu::crowd::{clip_with, track};

#[derive(Clone, Copy)]
struct Vertex {
    position: Vec3,
    normal: Vec3,
    tex_coords: Vec2,
    bent: f32,
    delta: Vec3,
}

struct Part {
    topology: Topology,
    material: u32,
    vertices: Vec<Vertex>,
    indices: Vec<u32>,
}

/// Returns a grid of quads over the unit square, placed by `at`.
fn grid(columns: u32, rows: u32, material: u32, at: impl Fn(Vec2) -> Vertex) -> Part {
    let (places, triangles) = builder::grid(columns, rows);
    let vertices = places.into_iter().map(|place| at(place / Vec2::new(columns as f32, rows as f32))).collect();
    Part { topology: Topology::Triangles, material, vertices, indices: triangles.into_flattened() }
}

fn vertex(position: Vec3, normal: Vec3, tex_coords: Vec2) -> Vertex {
    Vertex { position, normal, tex_coords, bent: 0.0, delta: Vec3::ZERO }
}

/// Returns a model of parts whose positions are multiplied by `scale` in mesh space only. The second of two joints, at y = 1,
/// swings in a clip. A morph target of all vertices goes to its end in another.
fn model(parts: &[Part], scale: f32) -> Model {
    let mut model = Model { name: "shape".to_owned(), ..Model::default() };
    model.skeleton = Skeleton {
        parents: vec![NO_PARENT, 0],
        rest: LocalPose { translations: vec![Vec3::ZERO, Vec3::Y], morph_weights: vec![0.0], ..LocalPose::identity(2) },
        morphed_nodes: vec![MorphedNode { node: 0, first_weight: 0, weight_count: 1 }],
        names: vec!["root".to_owned(), "bend".to_owned()],
        source_nodes: vec![0, 1],
        source_node_count: 2,
        in_scene: vec![true; 2],
        ..Skeleton::default()
    };
    let shrink = Affine3A::from_scale(Vec3::splat(1.0 / scale));
    model.palette = layout([(0, shrink), (1, Affine3A::from_translation(-Vec3::Y) * shrink)], true);
    model.materials = (0..2).map(|_| Material::default()).collect();
    let interpolation = Interpolation::Linear;
    let turns = [-1.3, 0.2, 1.3].map(|angle| Vec4::from(Quat::from_rotation_z(angle))).to_vec();
    let swing = track(1, interpolation, turns);
    let values = vec![0.0, 1.0];
    let stretch = MorphTrack { first_weight: 0, weight_count: 1, timeline: 0, interpolation, values };
    model.clips = vec![
        Clip { rotations: vec![swing], ..clip_with(&[0.0, 0.7, 2.0]) },
        Clip { morph_weights: vec![stretch], ..clip_with(&[0.0, 1.0]) },
    ];
    let geometry = &mut model.geometry;
    geometry.influence_starts.push(0);
    geometry.morph_delta_starts.push(0);
    for part in parts {
        let first_vertex = geometry.positions.len() as u32;
        for vertex in &part.vertices {
            geometry.positions.push(scale * vertex.position);
            geometry.normals.push(vertex.normal);
            geometry.tex_coords.push([vertex.tex_coords, Vec2::ZERO]);
            geometry.colors.push([255; 4]);
            let mut weights = [(0, 1.0 - vertex.bent), (1, vertex.bent)];
            weights.sort_by(|a, b| b.1.total_cmp(&a.1));
            let influences = weights.into_iter().filter(|(_, weight)| *weight > 0.0);
            geometry.influences.extend(influences.map(|(joint, weight)| Influence { joint, weight }));
            geometry.influence_starts.push(geometry.influences.len() as u32);
            if vertex.delta != Vec3::ZERO {
                let [position, normal, tangent] = [scale * vertex.delta, Vec3::ZERO, Vec3::ZERO];
                geometry.morph_deltas.push(MorphDelta { weight_index: 0, position, normal, tangent });
            }
            geometry.morph_delta_starts.push(geometry.morph_deltas.len() as u32);
        }
        geometry.draw_ranges.push(DrawRange {
            topology: part.topology,
            first_index: geometry.indices.len() as u32,
            index_count: part.indices.len() as u32,
            material: part.material,
            ..DrawRange::default()
        });
        geometry.indices.extend(part.indices.iter().map(|index| index + first_vertex));
    }
    model
}

/// A tube along y, open at both ends, which bends in the middle. Texture coordinates have a seam.
fn tube(material: u32, from: f32, to: f32) -> Part {
    grid(16, 20, material, |uv| {
        let angle = TAU * (uv.x % 1.0);
        let outwards = Vec3::new(angle.cos(), 0.0, angle.sin());
        let y = from + (to - from) * uv.y;
        let bent = ((y - 0.6) / 0.8).clamp(0.0, 1.0);
        Vertex { bent, ..vertex(0.3 * outwards + y * Vec3::Y, outwards, uv) }
    })
}

/// A wavy sheet with an open border.
fn sheet() -> Part {
    grid(20, 20, 0, |uv| {
        let height = 0.1 * (7.0 * uv.x).sin() * (5.0 * uv.y).cos();
        vertex(Vec3::new(uv.x, height, uv.y), Vec3::Y, uv)
    })
}

/// A row of cubes, each side with vertices of its own.
fn cubes() -> Part {
    let mut all = Part { topology: Topology::Triangles, material: 0, vertices: Vec::new(), indices: Vec::new() };
    let around = [0.0, 1.0, 2.0, 3.0].map(|quarters| Quat::from_rotation_y(quarters * FRAC_PI_2));
    let ends = [FRAC_PI_2, -FRAC_PI_2].map(Quat::from_rotation_x);
    for cube in 0..16 {
        for turn in around.into_iter().chain(ends) {
            // Multiples of a half, so that corners of neighbouring sides are at equal positions.
            let at = |uv: Vec2| (2.0 * (turn * Vec3::new(uv.x - 0.5, uv.y - 0.5, 0.5))).round() / 2.0;
            let own = grid(1, 1, 0, |uv| vertex(at(uv) + 1.5 * cube as f32 * Vec3::X, (turn * Vec3::Z).round(), uv));
            let first = all.vertices.len() as u32;
            all.vertices.extend(own.vertices);
            all.indices.extend(own.indices.iter().map(|index| index + first));
        }
    }
    all
}

/// A sphere whose morph target stretches its upper half.
fn sphere(radius: f32, centre: Vec3, bent: f32) -> Part {
    grid(16, 12, 0, |uv| {
        let (angle, rise) = (TAU * (uv.x % 1.0), PI * (uv.y - 0.5));
        let flat = if uv.y == 0.0 || uv.y == 1.0 { 0.0 } else { rise.cos() };
        let normal = Vec3::new(flat * angle.cos(), rise.sin(), flat * angle.sin());
        let delta = 2.0 * radius * normal.y.max(0.0) * Vec3::Y;
        Vertex { bent, delta, ..vertex(centre + radius * normal, normal, uv) }
    })
}

/// Returns a sphere, and a sphere of this radius that swings around it a little, at twice its distance.
pub fn sphere_and_satellite(radius: f32, swing: f32) -> Model {
    let mut parts = [sphere(0.5, Vec3::ZERO, 0.0), sphere(radius, 2.0 * Vec3::Y, 1.0)];
    parts.iter_mut().flat_map(|part| &mut part.vertices).for_each(|vertex| vertex.delta = Vec3::ZERO);
    let mut model = model(&parts, 1.0);
    for rotation in &mut model.clips[0].rotations[0].values {
        *rotation = (swing * *rotation).with_w(1.0).normalize();
    }
    model
}

pub fn all() -> Vec<(&'static str, Model)> {
    let [lines, points] = [(Topology::Lines, (0..12).collect()), (Topology::Points, (0..12).rev().collect())]
        .map(|(topology, indices)| Part { topology, material: 1, vertices: sheet().vertices[..12].to_vec(), indices });
    let mut blended = model(&[sheet()], 1.0);
    blended.materials[0].alpha_mode = AlphaMode::Blend;
    let mut still = model(&[cubes()], 1.0);
    still.clips.clear();
    vec![
        ("tube", model(&[tube(0, 0.0, 2.0)], 1.0)),
        ("tube in centimetres", model(&[tube(0, 0.0, 2.0)], 100.0)),
        ("tube of two materials", model(&[tube(0, 0.0, 0.9), tube(1, 0.9, 2.0)], 1.0)),
        ("cubes", still),
        ("sphere and satellite", sphere_and_satellite(0.5, 0.01)),
        ("tube with a rigid attachment", model(&[tube(0, 0.0, 2.0), sphere(0.2, Vec3::new(0.0, 2.1, 0.0), 1.0)], 1.0)),
        ("two spheres in one place", model(&[sphere(0.5, Vec3::ZERO, 0.0), sphere(0.5, Vec3::ZERO, 1.0)], 1.0)),
        ("blended sheet", blended),
        ("sheet, lines and points", model(&[sheet(), lines, points], 1.0)),
    ]
}

/// Returns a model whose rest pose overflows, one without any extent, one that only a clip makes larger than a point, one of
/// few triangles, and an empty one. None has levels.
pub fn without_levels() -> Vec<Model> {
    let mut huge = model(&[sheet()], 1.0);
    huge.skeleton.rest.scales[0] = Vec3::splat(3e38);
    huge.geometry.positions.iter_mut().for_each(|position| *position *= 1e10);
    let mut point = model(&[sheet()], 1.0);
    point.geometry.positions.fill(Vec3::ONE);
    let mut grows = model(&[sheet()], 1.0);
    grows.skeleton.rest.scales[0] = Vec3::ZERO;
    vec![huge, point, grows, model(&[grid(2, 2, 0, |uv| vertex(uv.extend(0.0), Vec3::Z, uv))], 1.0), model(&[], 1.0)]
}

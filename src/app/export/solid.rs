//! Formats without materials: `.obj`, `.ply` and `.stl`. All nodes stand in world space.

use std::io::Write;

use anyhow::{Context, Result};
use glam::{DVec3, Vec3, Vec4};

use super::scene::{Part, PosedNode, PosedScene};
use crate::model::{Geometry, Topology};
use crate::shader_types::unpack_octahedral;
use crate::view::srgb_from_linear;

/// Returns the positions of a part's vertices in world space.
fn positions<'p>(node: &'p PosedNode, part: &'p Part<'_>) -> impl Iterator<Item = DVec3> + 'p {
    let position = |&vertex: &u32| Vec3::from(part.mesh.vertices[vertex as usize].position).as_dvec3();
    part.vertices.iter().map(move |vertex| node.world_from_model.transform_point3(position(vertex)))
}

/// Returns the unit normals of a part's vertices in world space. Those that the file lacks are made of its triangles.
fn normals(node: &PosedNode, part: &Part<'_>) -> Vec<Vec3> {
    let unpacked = |&vertex: &u32| unpack_octahedral(part.mesh.vertices[vertex as usize].normal_octahedral).as_dvec3();
    let normals: Vec<DVec3> = if part.source.has_normals {
        // Placements scale all axes alike.
        part.vertices.iter().map(|vertex| node.world_from_model.transform_vector3(unpacked(vertex))).collect()
    } else {
        let positions: Vec<DVec3> = positions(node, part).collect();
        let mut normals = vec![DVec3::ZERO; positions.len()];
        for corners in part.triangles() {
            let [a, b, c] = corners.map(|corner| positions[corner as usize]);
            // As long as the triangle is large.
            corners.iter().for_each(|&corner| normals[corner as usize] += (b - a).cross(c - a));
        }
        normals
    };
    normals.into_iter().map(|normal| normal.normalize_or(DVec3::Y).as_vec3()).collect()
}

/// Returns a number as text without digits that it does not have.
fn text(number: f64) -> String {
    let short = number as f32;
    if f64::from(short) == number { short.to_string() } else { number.to_string() }
}

/// Writes a group for each node, in metres with +Y up. Unlike in glTF, V of texture coordinates points up.
pub(super) fn write_obj(scene: &PosedScene, out: &mut impl Write) -> Result<()> {
    // The numbers of the next vertex and of the next normal.
    let (mut first, mut first_normal) = (1_u64, 1_u64);
    for node in &scene.nodes {
        // A name ends at a space, and a line goes on after a backslash.
        let is_letter = |c: char| !c.is_whitespace() && !c.is_control() && c != '\\';
        let name: String = node.name.chars().map(|c| if is_letter(c) { c } else { '_' }).collect();
        writeln!(out, "g {name}")?;
        for part in scene.parts(node) {
            for position in positions(node, &part) {
                let [x, y, z] = position.to_array().map(text);
                writeln!(out, "v {x} {y} {z}")?;
            }
            for &vertex in &part.vertices {
                let [uv, _] = part.mesh.model.geometry.tex_coords[vertex as usize];
                writeln!(out, "vt {} {}", uv.x, 1.0 - uv.y)?;
            }
            let has_normals = part.source.has_normals && part.range.topology == Topology::Triangles;
            for Vec3 { x, y, z } in if has_normals { normals(node, &part) } else { Vec::new() } {
                writeln!(out, "vn {x} {y} {z}")?;
            }
            let letter = match part.range.topology {
                Topology::Triangles => 'f',
                Topology::Lines => 'l',
                Topology::Points => 'p',
            };
            for element in part.indices.chunks_exact(part.range.topology.corner_count()) {
                write!(out, "{letter}")?;
                for &corner in element {
                    let (number, normal) = (first + u64::from(corner), first_normal + u64::from(corner));
                    match letter {
                        'p' => write!(out, " {number}")?,
                        _ if has_normals => write!(out, " {number}/{number}/{normal}")?,
                        _ => write!(out, " {number}/{number}")?,
                    }
                }
                writeln!(out)?;
            }
            first += part.vertices.len() as u64;
            first_normal += if has_normals { part.vertices.len() as u64 } else { 0 };
        }
    }
    Ok(())
}

/// Writes all triangles as one mesh, in metres with +Y up. Colours are those of vertices and materials, without textures.
pub(super) fn write_ply(scene: &PosedScene, vertices: usize, triangles: usize, out: &mut impl Write) -> Result<()> {
    let first_count = u32::try_from(vertices).context("the format numbers at most 4,294,967,295 vertices")?;
    writeln!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {first_count}")?;
    for property in ["double x", "double y", "double z", "float nx", "float ny", "float nz"] {
        writeln!(out, "property {property}")?;
    }
    for color in ["red", "green", "blue", "alpha"] {
        writeln!(out, "property uchar {color}")?;
    }
    writeln!(out, "element face {triangles}\nproperty list uchar uint vertex_indices\nend_header")?;
    let parts = || scene.nodes.iter().flat_map(|node| scene.parts(node).map(move |part| (node, part)));
    for (node, part) in parts() {
        let Geometry { colors, .. } = &part.mesh.model.geometry;
        let factor = part.mesh.model.materials[part.range.material as usize].base_color_factor;
        for ((position, normal), &vertex) in positions(node, &part).zip(normals(node, &part)).zip(&part.vertices) {
            let color = factor * Vec4::from(colors[vertex as usize].map(f32::from)) / 255.0;
            let [red, green, blue] = color.truncate().to_array().map(srgb_from_linear);
            out.write_all(bytemuck::bytes_of(&position))?;
            out.write_all(bytemuck::bytes_of(&normal))?;
            out.write_all(&[red, green, blue, (color.w * 255.0).round() as u8])?;
        }
    }
    let mut first = 0;
    for (_, part) in parts() {
        for corners in part.triangles() {
            out.write_all(&[3])?;
            out.write_all(bytemuck::bytes_of(&corners.map(|corner| first + corner)))?;
        }
        first += part.vertices.len() as u32;
    }
    Ok(())
}

/// Writes all triangles in millimetres with +Z up, as programs for printers expect them. They place bodies themselves, and the
/// format has 32 bits, so all stand relative to the first node.
pub(super) fn write_stl(scene: &PosedScene, triangles: usize, out: &mut impl Write) -> Result<()> {
    let count = u32::try_from(triangles).context("the format holds at most 4,294,967,295 triangles")?;
    let mut header = [0; 80];
    let title = b"Throng: millimetres, +Z is up";
    header[..title.len()].copy_from_slice(title);
    out.write_all(&header)?;
    out.write_all(&count.to_le_bytes())?;
    let origin = scene.nodes.first().map_or(DVec3::ZERO, |node| node.world_from_model.translation);
    let in_print = |world: DVec3| {
        let DVec3 { x, y, z } = 1000.0 * (world - origin);
        DVec3::new(x, -z, y).as_vec3()
    };
    for node in &scene.nodes {
        for part in scene.parts(node) {
            let positions: Vec<Vec3> = positions(node, &part).map(in_print).collect();
            for corners in part.triangles() {
                let [a, b, c] = corners.map(|corner| positions[corner as usize]);
                let normal = (b - a).cross(c - a).normalize_or_zero();
                out.write_all(bytemuck::bytes_of(&[normal, a, b, c]))?;
                out.write_all(&[0; 2])?;
            }
        }
    }
    Ok(())
}

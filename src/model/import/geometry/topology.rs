//! From the indices of a primitive, in any topology, to a list of triangles, lines or points.
//!
//! Source: glTF 2.0, 3.7.2.1 (topology types).

use gltf::json::mesh::Mode;
use gltf::json::validation::Checked;

use super::attributes::PrimitiveReader;
use crate::model::Topology;
use crate::model::import::decode::Accessor;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Counted;

pub(super) struct Elements {
    pub topology: Topology,
    /// Indices of the primitive's own vertices, all in range. Their number is a multiple of the topology's corners.
    pub indices: Vec<u32>,
}

impl Elements {
    /// Leaves out the triangles, lines or points with one of these vertices, which ascend. It is an error if none is left.
    pub fn leave_out(&mut self, vertices: &[u32], at: &str, warnings: &mut Warnings) -> Result<()> {
        if vertices.is_empty() {
            return Ok(());
        }
        let corners = self.topology.corner_count();
        let whole = |corners: &&[u32]| corners.iter().all(|vertex| vertices.binary_search(vertex).is_err());
        let left = self.indices.chunks_exact(corners).filter(whole).flatten().copied().collect();
        let all = std::mem::replace(&mut self.indices, left).len();
        let (count, vertex_count) = ((all - self.indices.len()) / corners, vertices.len());
        let problem = format!("{vertex_count} vertices are not finite; {count} elements with them are left out");
        if self.indices.is_empty() {
            return Err(Fault::content(at, problem));
        }
        warnings.add(at, problem);
        Ok(())
    }
}

pub(super) fn read(reader: &PrimitiveReader, vertex_count: usize, warnings: &mut Warnings) -> Result<Elements> {
    let &PrimitiveReader { document, primitive, at, .. } = reader;
    let Checked::Valid(mode) = primitive.mode else {
        return Err(Fault::content(format_args!("{at}.mode"), "unknown, expected 0 to 6"));
    };
    // A strip or fan of n vertices has n - 2 triangles, and a loop has n lines.
    let expansion = match mode {
        Mode::Points | Mode::Lines | Mode::Triangles => 1,
        Mode::LineLoop | Mode::LineStrip => 2,
        Mode::TriangleStrip | Mode::TriangleFan => 3,
    };
    let order = match primitive.indices {
        Some(accessor) => {
            let accessor = Accessor::open(document, accessor.value(), format_args!("{at}.indices"))?;
            document.take(Counted::INDICES, accessor.count * expansion, &accessor.at)?;
            read_indices(&accessor, vertex_count)?
        }
        None => {
            document.take(Counted::INDICES, vertex_count * expansion, at)?;
            (0..vertex_count as u32).collect()
        }
    };
    let (topology, mut indices) = match mode {
        Mode::Points => (Topology::Points, order),
        Mode::Lines => (Topology::Lines, order),
        Mode::LineStrip => (Topology::Lines, from_line_strip(&order)),
        Mode::LineLoop => (Topology::Lines, from_line_loop(&order)),
        Mode::Triangles => (Topology::Triangles, order),
        Mode::TriangleStrip => (Topology::Triangles, from_strip(&order)),
        Mode::TriangleFan => (Topology::Triangles, from_fan(&order)),
    };
    let (count, corners) = (indices.len(), topology.corner_count());
    if count % corners != 0 {
        warnings.add(at, format_args!("{count} indices are not a multiple of {corners}; the last ones are ignored"));
        indices.truncate(count - count % corners);
    }
    Ok(Elements { topology, indices })
}

fn read_indices(accessor: &Accessor, vertex_count: usize) -> Result<Vec<u32>> {
    let indices: Vec<u32> = accessor.unsigned::<1>()?.into_flattened();
    match indices.iter().position(|&index| index as usize >= vertex_count) {
        Some(rank) => {
            let problem = format!("index {} at {rank}, but there are {vertex_count} vertices", indices[rank]);
            Err(Fault::content(&accessor.at, problem))
        }
        None => Ok(indices),
    }
}

fn from_line_strip(order: &[u32]) -> Vec<u32> {
    order.windows(2).flatten().copied().collect()
}

fn from_line_loop(order: &[u32]) -> Vec<u32> {
    let mut lines = from_line_strip(order);
    if let [first, .., last] = *order {
        lines.extend([last, first]);
    }
    lines
}

/// Converts a triangle strip. Every other triangle is reversed, so that all have the same winding.
fn from_strip(order: &[u32]) -> Vec<u32> {
    let triangle = |(number, corners): (usize, &[u32])| match *corners {
        [a, b, c] if number % 2 == 0 => [a, b, c],
        [a, b, c] => [a, c, b],
        _ => [0; 3],
    };
    order.windows(3).enumerate().flat_map(triangle).collect()
}

fn from_fan(order: &[u32]) -> Vec<u32> {
    let Some((&hub, rim)) = order.split_first() else { return Vec::new() };
    rim.windows(2).flat_map(|pair| [pair[0], pair[1], hub]).collect()
}

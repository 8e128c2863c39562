//! Triangle lists from whatever topology a primitive has.
//!
//! Source: glTF 2.0, 3.7.2.1 (topology types).

use gltf::json::mesh::{Mode, Primitive};
use gltf::json::validation::Checked;

use super::accessor::Accessor;
use super::document::Document;
use super::error::{Fault, Result, Warnings};
use super::limits::Budget;

/// Indices of a primitive's triangles into its own vertices, three each; `None` for points and lines.
pub(super) fn read(
    document: &Document,
    primitive: &Primitive,
    at: &str,
    vertex_count: usize,
    budget: &mut Budget,
    warnings: &mut Warnings,
) -> Result<Option<Vec<u32>>> {
    let mode = match primitive.mode {
        Checked::Valid(mode @ (Mode::Triangles | Mode::TriangleStrip | Mode::TriangleFan)) => mode,
        Checked::Valid(mode) => {
            warnings.add(at, format_args!("{mode:?} are not drawn, only triangles are"));
            return Ok(None);
        }
        Checked::Invalid => return Err(Fault::content(format_args!("{at}.mode"), "unknown, expected 0 to 6")),
    };
    // A strip or fan of n vertices has n - 2 triangles.
    let expansion = if mode == Mode::Triangles { 1 } else { 3 };
    let order = match primitive.indices {
        Some(accessor) => {
            let accessor = Accessor::open(document, accessor.value(), &format!("{at}.indices"))?;
            budget.take(accessor.count as u64 * expansion, &accessor.at)?;
            read_indices(&accessor, vertex_count)?
        }
        None => {
            budget.take(vertex_count as u64 * expansion, at)?;
            (0..vertex_count as u32).collect()
        }
    };
    let triangles = match mode {
        Mode::TriangleStrip => from_strip(&order),
        Mode::TriangleFan => from_fan(&order),
        _ => {
            let whole = order.len() - order.len() % 3;
            if whole < order.len() {
                warnings
                    .add(at, format_args!("{} indices are no multiple of three; the last are ignored", order.len()));
            }
            let mut list = order;
            list.truncate(whole);
            list
        }
    };
    Ok(Some(triangles))
}

fn read_indices(accessor: &Accessor, vertex_count: usize) -> Result<Vec<u32>> {
    let indices: Vec<u32> = accessor.unsigned::<1>()?.into_iter().flatten().collect();
    match indices.iter().position(|&index| index as usize >= vertex_count) {
        Some(rank) => {
            let problem = format!("index {} at {rank}, but there are {vertex_count} vertices", indices[rank]);
            Err(Fault::content(&accessor.at, problem))
        }
        None => Ok(indices),
    }
}

/// Every other triangle is turned, so that all face the same way.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_and_fans_become_lists_that_face_one_way() {
        assert_eq!(from_strip(&[0, 1, 2, 3, 4]), [0, 1, 2, 1, 3, 2, 2, 3, 4]);
        assert_eq!(from_fan(&[9, 1, 2, 3]), [1, 2, 9, 2, 3, 9]);
        for short in [&[][..], &[0], &[0, 1]] {
            assert!(from_strip(short).is_empty());
            assert!(from_fan(short).is_empty());
        }
    }
}

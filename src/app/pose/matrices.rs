//! The text form of `pose`: matrices as rows, with the names of their nodes, and the skinned positions.

use glam::DVec3;

use super::report::{FrameReport, Matrix, Number, PoseReport, inverse_binds};
use crate::app::text::{aligned, counted, name};
use crate::model::text::printable;
use crate::model::{Model, Skin};

/// The largest number of matrices in a list, and of vertices.
const MOST: usize = 40;

/// Follows a list that is not complete. The JSON has no inverse bind matrices.
const IN_JSON: &str = ", --json has all of them";

pub(super) fn as_text(model: &Model, report: &PoseReport<'_>, columns: u16) -> String {
    let clip = report.clip.as_ref().map_or("rest pose".to_owned(), |clip| {
        let name = clip.name.as_deref().map_or_else(|| "(unnamed)".to_owned(), printable);
        format!("clip {} {name}, {:.3} s", clip.index, clip.duration)
    });
    let (model_name, on) = (printable(&report.model), report.on.to_uppercase());
    let mut text = format!("{model_name}: {clip}, skinned on the {on}\n");
    text += "Matrices are listed by row. Their fourth row is 0 0 0 1.\n";
    for (index, skin) in model.skins.iter().enumerate() {
        let title = format!("inverse bind matrices of skin {index} (joint_from_mesh)");
        text += &list(columns, &title, "", joints(model, skin).zip(inverse_binds(model, skin)));
    }
    for frame in &report.frames {
        text += &moment(model, frame, columns);
    }
    text
}

fn moment(model: &Model, frame: &FrameReport<'_>, columns: u16) -> String {
    let skeleton = &model.skeleton;
    let nodes = skeleton.source_nodes.iter().zip(&skeleton.names);
    let nodes = nodes.filter_map(|(&node, name)| Some(((node, name.as_ref()), (*frame.nodes.get(node as usize)?)?)));
    let mut text = format!("\ntime {} s\n", frame.time);
    text += &list(columns, "node matrices (model_from_node)", IN_JSON, nodes);
    for (index, (skin, matrices)) in model.skins.iter().zip(&frame.skins).enumerate() {
        let title = format!("joint matrices of skin {index} (model_from_node * joint_from_mesh)");
        text += &list(columns, &title, IN_JSON, joints(model, skin).zip(matrices.iter().copied()));
    }
    if !frame.weights.is_empty() {
        let row =
            |(node, weights): (&String, &Vec<f32>)| [node.clone(), numbers(weights.iter().copied().map(f64::from), 7)];
        text += &format!("\nmorph weights by node\n{}", aligned(columns, 2, frame.weights.iter().map(row)));
    }
    text + &positions(model, frame, columns)
}

/// Lists the joints of a skin: their glTF indices and names.
fn joints<'m>(model: &'m Model, skin: &'m Skin) -> impl Iterator<Item = (u32, &'m str)> {
    let skeleton = &model.skeleton;
    let joint = |&joint: &u32| (skeleton.source_nodes[joint as usize], skeleton.names[joint as usize].as_ref());
    skin.joints.iter().map(joint)
}

/// Returns a table of matrices, each with the index and the name of its node. `advice` follows if not all are listed.
fn list<'m>(
    columns: u16,
    title: &str,
    advice: &str,
    matrices: impl Iterator<Item = ((u32, &'m str), Matrix)>,
) -> String {
    let all: Vec<_> = matrices.collect();
    let listed = all.get(..MOST).unwrap_or(&all);
    let width = listed.iter().flat_map(|(_, matrix)| matrix).map(|value| fixed(value.value()).len()).max().unwrap_or(0);
    let rows = listed.iter().map(|&((node, node_name), matrix)| {
        let row = |row: usize| numbers(matrix.into_iter().skip(row).step_by(4).map(Number::value), width);
        [node.to_string(), name(node_name), [row(0), row(1), row(2)].join("\n")]
    });
    let rest = if all.len() > MOST { format!("; only {MOST} are listed here{advice}") } else { String::new() };
    format!("\n{title}: {}{rest}\n{}", all.len(), aligned(columns, 2, rows))
}

/// Lists the bind-pose and skinned positions of a small model; a larger one is summed up by its bounds.
fn positions(model: &Model, frame: &FrameReport<'_>, columns: u16) -> String {
    let (count, min, max) = frame
        .primitives
        .positions()
        .fold((0, DVec3::INFINITY, DVec3::NEG_INFINITY), |(n, min, max), (_, at)| (n + 1, min.min(at), max.max(at)));
    if count == 0 {
        return String::new();
    }
    let [min, max] = [min, max].map(|corner| numbers(corner.to_array(), 0).replace("  ", ", "));
    let ways = &frame.primitives.ways;
    let longest = ways.iter().map(|way| way.length()).reduce(f32::max);
    let longest = longest.map(|way| format!(", the longest way is {}", fixed(way.into()))).unwrap_or_default();
    let bounds = format!("\n{}, from ({min}) to ({max}){longest}", counted(count, "vertex"));
    if count > MOST {
        return format!("{bounds}; --json has all of them\n");
    }
    let head = ["#", "bind pose", if ways.is_empty() { "skinned" } else { "skinned, and the way" }, "influences"];
    let rows = frame.primitives.positions().enumerate().map(|(index, (vertex, position))| {
        let bind = model.geometry.positions.get(vertex).copied().unwrap_or_default().as_dvec3();
        let influences = model.geometry.influences_of(vertex).iter().map(|influence| {
            let node = model.palette.nodes[influence.joint as usize] as usize;
            format!("{:.4} {}", influence.weight, name(&model.skeleton.names[node]))
        });
        let vector = |vector: DVec3| numbers(vector.to_array(), 8);
        let way = ways.get(vertex).map(|&way| format!(",  {}", vector(way.as_dvec3()))).unwrap_or_default();
        [
            index.to_string(),
            vector(bind + model.source.mesh_origin.as_dvec3()),
            vector(position) + &way,
            influences.collect::<Vec<_>>().join(", "),
        ]
    });
    format!("{bounds}\n{}", aligned(columns, 2, [head.map(str::to_owned)].into_iter().chain(rows)))
}

/// Returns right-aligned numbers with four digits after the point.
fn numbers(values: impl IntoIterator<Item = f64>, width: usize) -> String {
    values.into_iter().map(|value| format!("{:>width$}", fixed(value))).collect::<Vec<_>>().join("  ")
}

fn fixed(value: f64) -> String {
    let text = format!("{value:.4}");
    // A negative number that rounds to zero is zero.
    if text == "-0.0000" { "0.0000".to_owned() } else { text }
}

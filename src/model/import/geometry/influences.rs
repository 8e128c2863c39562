//! From any number of JOINTS_n/WEIGHTS_n sets to a short list of influences for each vertex, largest weight first.
//!
//! Real files have irregular influences, which are repaired. Weights that do not sum to one are normalised over all
//! sets. Influences of joints that the skin does not have, and weights that are no numbers, are left out. A joint that occurs
//! twice gets the sum of its weights. A vertex without weights follows the first joint in its list.
//!
//! Source: glTF 2.0, 3.7.3.3 (skinned mesh attributes).

use gltf::json::mesh::Semantic;

use super::attributes::PrimitiveReader;
use crate::model::Influence;
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Counted;

/// The influences of the vertices of one primitive, stored as in [`Geometry`](crate::model::Geometry).
pub(super) struct Influences {
    starts: Vec<u32>,
    list: Vec<Influence>,
}

impl Influences {
    pub fn rigid(vertex_count: usize, palette_entry: u32) -> Self {
        let list = vec![Influence { joint: palette_entry, weight: 1.0 }; vertex_count];
        Self { starts: (0..=vertex_count as u32).collect(), list }
    }

    /// Reads all sets of a primitive, and charges them. `None` if there are none. The skin has a palette entry for each joint.
    pub fn read(
        reader: &PrimitiveReader,
        vertex_count: usize,
        (skin, entries): (usize, &[u32]),
        warnings: &mut Warnings,
    ) -> Result<Option<Self>> {
        let at = reader.at_attributes;
        let sets = read_sets(reader, vertex_count, warnings)?;
        if sets.is_empty() {
            let problem = format!("no JOINTS_0 with WEIGHTS_0 for skins[{skin}]; the primitive follows the node");
            warnings.add(at, problem);
            return Ok(None);
        }
        if entries.is_empty() {
            return Err(Fault::content(at, format_args!("skins[{skin}] has no joints")));
        }
        let mut influences = Self { starts: vec![0], list: Vec::with_capacity(vertex_count) };
        let mut repairs = Repairs::default();
        let mut scratch = Vec::with_capacity(4 * sets.len());
        for vertex in 0..vertex_count {
            scratch.clear();
            for set in &sets {
                scratch.extend(set.joints[vertex].into_iter().zip(set.weights[vertex]));
            }
            influences.push_vertex(&mut scratch, entries, &mut repairs);
        }
        repairs.warn(at, warnings);
        Ok(Some(influences))
    }

    /// Returns the influences of one vertex, largest weight first.
    pub fn of(&self, vertex: usize) -> &[Influence] {
        let (Some(&start), Some(&end)) = (self.starts.get(vertex), self.starts.get(vertex + 1)) else { return &[] };
        self.list.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Appends one vertex. `listed` holds its joints (indices in the skin) and weights in the file's order.
    fn push_vertex(&mut self, listed: &mut Vec<(u32, f32)>, entries: &[u32], repairs: &mut Repairs) {
        let joint_count = entries.len() as u32;
        let first_listed = listed.first().map_or(0, |&(joint, _)| joint);
        let mut retain = |count: &mut usize, is_right: fn(u32, f32, u32) -> bool| {
            let all = listed.len();
            listed.retain(|&(joint, weight)| is_right(joint, weight, joint_count));
            *count += all - listed.len();
        };
        retain(&mut repairs.no_numbers, |_, weight, _| weight.is_finite());
        retain(&mut repairs.negative_weights, |_, weight, _| weight >= 0.0);
        retain(&mut 0, |_, weight, _| weight > 0.0);
        retain(&mut repairs.strangers, |joint, _, joint_count| joint < joint_count);
        // The sum is in f64, because many large f32 may add up beyond their range.
        let sum: f64 = listed.iter().map(|&(_, weight)| f64::from(weight)).sum();
        // Sorting keeps merging cheap for a vertex with thousands of influences.
        listed.iter_mut().for_each(|(joint, _)| *joint = entries[*joint as usize]);
        listed.sort_by_key(|&(entry, _)| entry);
        let start = self.list.len();
        for same_entry in listed.chunk_by(|a, b| a.0 == b.0) {
            let weight = (same_entry.iter().map(|&(_, weight)| f64::from(weight)).sum::<f64>() / sum) as f32;
            // A weight may round to zero if another one is 1e38 times larger.
            if let (Some(&(joint, _)), true) = (same_entry.first(), weight > 0.0) {
                self.list.push(Influence { joint, weight });
            }
        }
        if self.list.len() == start {
            self.list.push(Influence { joint: entries[first_listed.min(joint_count - 1) as usize], weight: 1.0 });
            repairs.weightless_vertices += 1;
        }
        self.list[start..].sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.joint.cmp(&b.joint)));
        self.starts.push(self.list.len() as u32);
    }
}

/// The numbers of repairs in one primitive, for one warning each.
#[derive(Default)]
struct Repairs {
    negative_weights: usize,
    no_numbers: usize,
    /// Influences of joints that the skin does not have.
    strangers: usize,
    weightless_vertices: usize,
}

impl Repairs {
    fn warn(&self, at: &str, warnings: &mut Warnings) {
        let mut warn = |count, problem| warnings.add_count(at, count, problem);
        warn(self.negative_weights, "negative weights are read as zero");
        warn(self.no_numbers, "weights are not finite and are left out");
        warn(self.strangers, "influences of joints that the skin does not have are left out");
        warn(self.weightless_vertices, "vertices without any weight follow the first joint in their list");
    }
}

/// One pair of JOINTS_n and WEIGHTS_n.
struct InfluenceSet {
    joints: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

fn read_sets(reader: &PrimitiveReader, vertex_count: usize, warnings: &mut Warnings) -> Result<Vec<InfluenceSet>> {
    let mut sets = Vec::new();
    for number in 0.. {
        let [of_joints, of_weights] = ["JOINTS", "WEIGHTS"].map(|name| format!("{name}_{number}"));
        let Some(joints) = reader.open(Semantic::Joints(number), &of_joints, vertex_count)? else { break };
        let Some(weights) = reader.open(Semantic::Weights(number), &of_weights, vertex_count)? else {
            let problem = format_args!("there is no {of_weights}; the joints are left out");
            warnings.add(format_args!("{}.{of_joints}", reader.at_attributes), problem);
            break;
        };
        reader.document.take(Counted::INFLUENCES, 4 * vertex_count, &joints.at)?;
        sets.push(InfluenceSet { joints: joints.unsigned()?, weights: weights.floats()? });
    }
    Ok(sets)
}

//! The nodes and properties that stand still in each clip of a blend, but at different places.
//!
//! A blend gives them a value that depends on the weights, but not on the time. All instances of a
//! frame have the same weights. So these values are computed once a frame, in double precision, and the kernel reads them as
//! constants: [`LaneBlend::set_weights`](super::LaneBlend::set_weights).
//!
//! In: the values in each clip, found by [`compile`](super::compile), and the weights of a frame. Out: the constants of the
//! steps that depend on them. Nothing is allocated after the compilation.

use glam::{DAffine3, DQuat, DVec4};

use super::program::{Part, Step, rows_of};

/// The transform of a node in one clip: translation, rotation and scale.
pub(super) type HeldParts = [DVec4; 3];

/// The index of the rotation in [`HeldParts`].
const ROTATION: usize = 1;

/// A node that stands still in each clip.
#[derive(Debug, Clone)]
struct StandingNode {
    /// The next ancestor of this kind below the mover.
    parent: Option<usize>,
    /// The fixed transform from the node's parent to that ancestor, or else to the mover.
    ancestor_from_parent: DAffine3,
    /// One element for each clip.
    parts: Vec<HeldParts>,
    /// The transform at the present weights.
    mover_from_node: DAffine3,
}

/// A matrix of a step: the transform of a node, times a fixed matrix.
#[derive(Debug, Clone)]
struct StepMatrix {
    step: usize,
    node: usize,
    node_from_source: DAffine3,
}

/// A property of a mover.
#[derive(Debug, Clone)]
struct StepPart {
    step: usize,
    /// 0 for the translation, 1 for the rotation, 2 for the scale.
    property: usize,
    /// One element for each clip.
    values: Vec<DVec4>,
}

/// Everything in the steps of one blend that depends on the weights alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Parents come before their children.
    nodes: Vec<StandingNode>,
    matrices: Vec<StepMatrix>,
    parts: Vec<StepPart>,
}

impl Standing {
    /// Adds a node and returns its number.
    pub fn add_node(&mut self, parent: Option<usize>, ancestor_from_parent: DAffine3, parts: Vec<HeldParts>) -> usize {
        self.nodes.push(StandingNode { parent, ancestor_from_parent, parts, mover_from_node: DAffine3::IDENTITY });
        self.nodes.len() - 1
    }

    /// The matrix of step number `step` is the transform of `node` times `node_from_source`.
    pub fn add_matrix(&mut self, step: usize, node: usize, node_from_source: DAffine3) {
        self.matrices.push(StepMatrix { step, node, node_from_source });
    }

    /// The mover of step number `step` has these values of a property.
    pub fn add_part(&mut self, step: usize, property: usize, values: Vec<DVec4>) {
        self.parts.push(StepPart { step, property, values });
    }

    /// Sets the constants in `steps` for these weights, one for each clip. The first one is not used.
    pub fn set_weights(&mut self, weights: &[f32], steps: &mut [Step]) {
        for index in 0..self.nodes.len() {
            let StandingNode { parent, ancestor_from_parent, ref parts, .. } = self.nodes[index];
            let mover_from_ancestor = parent.map_or(DAffine3::IDENTITY, |parent| self.nodes[parent].mover_from_node);
            let [translation, rotation, scale] =
                [0, 1, 2].map(|property| blended(property, parts.iter().map(|parts| parts[property]), weights));
            let parent_from_node = parent_from_node([translation, rotation, scale]);
            self.nodes[index].mover_from_node = mover_from_ancestor * ancestor_from_parent * parent_from_node;
        }
        for &StepMatrix { step, node, node_from_source } in &self.matrices {
            let matrix = rows_of(&(self.nodes[node].mover_from_node * node_from_source));
            match &mut steps[step] {
                Step::Move(mover) => mover.offset = Some(matrix),
                Step::Write(_, constant) | Step::WriteHeld(constant) => *constant = matrix,
            }
        }
        for StepPart { step, property, values } in &self.parts {
            if let Step::Move(mover) = &mut steps[*step] {
                let value = Part::Held(blended(*property, values.iter().copied(), weights).as_vec4().to_array());
                match property {
                    0 => mover.translation = value,
                    1 => mover.rotation = value,
                    _ => mover.scale = Some(value),
                }
            }
        }
    }
}

/// Returns the transform of a node that stands still.
pub(super) fn parent_from_node([translation, rotation, scale]: HeldParts) -> DAffine3 {
    let rotation = DQuat::from_vec4(rotation.normalize_or(DVec4::W));
    DAffine3::from_scale_rotation_translation(scale.truncate(), rotation, translation.truncate())
}

/// Blends the values of a property in each clip, as in [`blend`](super::super::blend).
fn blended(property: usize, mut values: impl Iterator<Item = DVec4>, weights: &[f32]) -> DVec4 {
    let first = values.next().unwrap_or(DVec4::ZERO);
    values.zip(&weights[1..]).fold(first, |value, (other, &weight)| {
        let added = f64::from(weight);
        if property == ROTATION {
            (value * (1.0 - added) + other * added.copysign(value.dot(other))).normalize_or(value)
        } else {
            value * (1.0 - added) + other * added
        }
    })
}

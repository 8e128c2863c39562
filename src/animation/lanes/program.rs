//! The steps of the kernel, as data: [`compile`](super::compile) makes them, and the [`kernel`](super::kernel) runs them.
//!
//! A blend of two clips has constants that depend on its weight: nodes and properties that stand still in both clips, but at
//! different places. All instances of a frame have the same weight. So these constants are computed once a frame, in double
//! precision, by [`Standing::set_weight`]. Nothing is allocated after the compilation.

use std::ops::Range;

use glam::{DAffine3, DMat3, DQuat, DVec4};

/// The translation, rotation or scale of a mover in a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Curve {
    Held([f32; 4]),
    /// A straight line or a great arc: the cell in this column.
    Straight(usize),
    /// A cubic: the two cells from this column on.
    Cubic(usize),
}

/// The rows of an affine matrix that is the same for all instances.
pub(super) type Constant = [[f32; 4]; 3];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mover {
    /// The temporary of the next moving ancestor (its number until `share_temporaries` has run).
    pub parent: Option<usize>,
    /// The transform from the parent node to the next moving ancestor, or to the model. `None` is the identity.
    pub offset: Option<Constant>,
    pub translation: Curve,
    pub rotation: Curve,
    /// `None` means no scale.
    pub scale: Option<Curve>,
    /// Translation, rotation and scale in the second clip of a blend. `None` needs no blending: the first curve has the result.
    pub second: [Option<Curve>; 3],
    /// The temporary that receives `model_from_node` (the mover's number until `share_temporaries` has run).
    pub temporary: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Move(Mover),
    /// Writes the next joint matrix: the matrix of this temporary times the constant.
    Write(usize, Constant),
    /// Writes the next joint matrix, which is constant.
    WriteHeld(Constant),
}

/// The steps that evaluate all joint matrices of a pose.
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) temporary_count: usize,
    /// The number of steps up to each step that writes: one number for each joint matrix.
    pub(super) ends: Vec<usize>,
}

impl Program {
    /// Returns the steps that write these joint matrices, and those that they need after the matrices before.
    pub(super) fn steps_of(&self, joints: Range<usize>) -> &[Step] {
        let start = joints.start.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.steps[start..self.ends[joints.end - 1]]
    }
}

pub(super) fn rows_of(matrix: &DAffine3) -> Constant {
    let DMat3 { x_axis, y_axis, z_axis } = matrix.matrix3;
    [0, 1, 2].map(|row| [x_axis, y_axis, z_axis, matrix.translation].map(|column| column[row] as f32))
}

/// The translation, rotation and scale of a node that stands still in a clip.
pub(super) type HeldProperties = [DVec4; 3];

const ROTATION: usize = 1;

/// A node that stands still in both clips.
#[derive(Debug, Clone)]
pub(super) struct StandingNode {
    /// The next ancestor of this kind below the mover.
    pub parent: Option<usize>,
    /// The fixed transform from the node's parent to that ancestor, or else to the mover.
    pub ancestor_from_parent: DAffine3,
    pub in_clips: [HeldProperties; 2],
    /// The transform at the present weight.
    pub mover_from_node: DAffine3,
}

/// Everything in the steps of one blend that depends on the weight alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Standing {
    /// Parents come before their children.
    pub nodes: Vec<StandingNode>,
    /// The matrices of steps: the number of the step, a node, and the fixed matrix to the right of the node's transform.
    pub matrices: Vec<(usize, usize, DAffine3)>,
    /// The properties of movers: the number of the step, the index of the property (translation, rotation, scale), and its
    /// value in both clips.
    pub properties: Vec<(usize, usize, [DVec4; 2])>,
}

impl Standing {
    pub fn set_weight(&mut self, weight: f32, steps: &mut [Step]) {
        for index in 0..self.nodes.len() {
            let StandingNode { parent, ancestor_from_parent, in_clips: [first, second], .. } = self.nodes[index];
            let mover_from_ancestor = parent.map_or(DAffine3::IDENTITY, |parent| self.nodes[parent].mover_from_node);
            let blended = std::array::from_fn(|k| blended(k, [first[k], second[k]], weight));
            self.nodes[index].mover_from_node = mover_from_ancestor * ancestor_from_parent * parent_from_node(blended);
        }
        for &(step, node, node_from_source) in &self.matrices {
            let matrix = rows_of(&(self.nodes[node].mover_from_node * node_from_source));
            match &mut steps[step] {
                Step::Move(mover) => mover.offset = Some(matrix),
                Step::Write(_, constant) | Step::WriteHeld(constant) => *constant = matrix,
            }
        }
        for &(step, property, in_clips) in &self.properties {
            if let Step::Move(mover) = &mut steps[step] {
                let value = Curve::Held(blended(property, in_clips, weight).as_vec4().to_array());
                match property {
                    0 => mover.translation = value,
                    ROTATION => mover.rotation = value,
                    _ => mover.scale = Some(value),
                }
            }
        }
    }
}

pub(super) fn parent_from_node([translation, rotation, scale]: HeldProperties) -> DAffine3 {
    let rotation = DQuat::from_vec4(rotation.normalize_or(DVec4::W));
    DAffine3::from_scale_rotation_translation(scale.truncate(), rotation, translation.truncate())
}

/// Blends the values of a property in both clips, as [`pose_blend`](crate::animation::pose_blend) does.
fn blended(property: usize, [first, second]: [DVec4; 2], weight: f32) -> DVec4 {
    let added = f64::from(weight);
    if property == ROTATION {
        (first * (1.0 - added) + second * added.copysign(first.dot(second))).normalize_or(first)
    } else {
        first * (1.0 - added) + second * added
    }
}

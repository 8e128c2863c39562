//! The steps of the kernel, as data: [`compile`](super::compile) makes them, [`standing`](super::standing) sets the constants
//! that depend on the weights of a blend, and the [`kernel`](super::kernel) runs them.

use glam::{DAffine3, DMat3};

/// The translation, rotation or scale of a mover.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// A constant value.
    Held([f32; 4]),
    /// A straight line or a great arc: the cell in this column.
    Straight(usize),
    /// A cubic: the two cells from this column on.
    Cubic(usize),
}

/// The rows of an affine matrix that is the same for all instances.
pub(super) type Constant = [[f32; 4]; 3];

/// The parts of a mover in a further clip of a blend. `None` is a value that needs no blending: the first clip has it already.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FurtherParts {
    pub translation: Option<Part>,
    pub rotation: Option<Part>,
    pub scale: Option<Part>,
}

/// A node that moves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mover {
    /// The temporary of the next moving ancestor (its number until `share_temporaries` has run).
    pub parent: Option<usize>,
    /// The transform from the parent node to the next moving ancestor, or to the model. `None` is the identity.
    pub offset: Option<Constant>,
    pub translation: Part,
    pub rotation: Part,
    /// `None` means no scale.
    pub scale: Option<Part>,
    /// One element for each further clip of a blend.
    pub further: Box<[FurtherParts]>,
    /// The temporary that receives `model_from_node` (the mover's number until `share_temporaries` has run).
    pub temporary: usize,
}

/// One step of the kernel.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Samples and poses a mover.
    Move(Mover),
    /// Writes the next joint matrix: the matrix of this temporary times the constant.
    Write(usize, Constant),
    /// Writes the next joint matrix, which is constant.
    WriteHeld(Constant),
}

/// The steps that evaluate all joint matrices of a pose.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub steps: Vec<Step>,
    pub temporary_count: usize,
    pub joint_count: usize,
}

/// Returns the rows of a matrix.
pub(super) fn rows_of(matrix: &DAffine3) -> Constant {
    let DMat3 { x_axis, y_axis, z_axis } = matrix.matrix3;
    [0, 1, 2].map(|row| [x_axis, y_axis, z_axis, matrix.translation].map(|column| column[row] as f32))
}

//! Compiles a model and a clip to the kernel's list of steps. All decisions are made here, once for each clip.
//!
//! * Only the nodes that the clip moves are evaluated, the *movers*. The fixed transforms between a mover and its next
//!   moving ancestor, or between a mover and a joint's mesh space, are multiplied into one matrix in advance. Nodes
//!   that no palette entry depends on are left out.
//! * Tracks whose keys are all equal are not sampled. There are many, because exporters key everything.
//! * Steps are in the palette's order. Each joint matrix follows the movers that it needs, parents first. So matrices
//!   are written in order, and a mover is used while it is in the cache. After its last use, a mover's *temporary* (the
//!   memory of its matrix) is given to another mover, so the temporaries of even large skeletons fit into the L1 cache.

use glam::{DAffine3, DMat3, DQuat, DVec4, Vec3, Vec4};

use super::rows::{AnyTrack, Rows};
use crate::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT};

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

/// A clip of a model, or its rest pose, compiled for the kernel.
#[derive(Debug, Clone)]
pub struct LaneClip {
    pub(super) rows: Rows,
    pub(super) steps: Vec<Step>,
    pub(super) temporary_count: usize,
    pub(super) joint_count: usize,
}

impl LaneClip {
    /// Compiles `clip`, which is one of `model`'s clips, or the rest pose for `None`. Returns `None` if the clip does
    /// not fit into [`Rows`]; use [`evaluate`](crate::animation::evaluate) then.
    #[must_use]
    pub fn compile(model: &Model, clip: Option<&Clip>) -> Option<Self> {
        let mut compiler = Compiler::new(model, clip);
        (0..model.palette.len()).for_each(|entry| compiler.write(entry));
        let Compiler { tracks, mut steps, .. } = compiler;
        let rows = match clip {
            Some(clip) => Rows::new(clip, &tracks)?,
            None => Rows::new(&Clip::default(), &[])?,
        };
        let temporary_count = share_temporaries(&mut steps);
        Some(Self { rows, steps, temporary_count, joint_count: model.palette.len() })
    }
}

/// The fixed transform from a node to its mover: to itself, to its next moving ancestor, or else to the model.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// The mover's number. Movers are numbered in the order of their steps.
    mover: Option<usize>,
    mover_from_node: DAffine3,
}

/// The tracks of one node.
#[derive(Clone, Copy, Default)]
struct NodeTracks<'a> {
    translation: Option<AnyTrack<'a>>,
    rotation: Option<AnyTrack<'a>>,
    scale: Option<AnyTrack<'a>>,
}

struct Compiler<'a> {
    model: &'a Model,
    node_tracks: Vec<NodeTracks<'a>>,
    /// The attachment of each node, once it has been computed.
    attachments: Vec<Option<Attachment>>,
    mover_count: usize,
    /// The tracks that need cells, in the order of their columns.
    tracks: Vec<AnyTrack<'a>>,
    column_count: usize,
    steps: Vec<Step>,
}

impl<'a> Compiler<'a> {
    fn new(model: &'a Model, clip: Option<&'a Clip>) -> Self {
        let mut node_tracks = vec![NodeTracks::default(); model.skeleton.len()];
        if let Some(clip) = clip {
            let nodes = &mut node_tracks;
            clip.translations.iter().for_each(|t| nodes[t.node as usize].translation = Some(AnyTrack::Vector(t)));
            clip.rotations.iter().for_each(|t| nodes[t.node as usize].rotation = Some(AnyTrack::Rotation(t)));
            clip.scales.iter().for_each(|t| nodes[t.node as usize].scale = Some(AnyTrack::Vector(t)));
        }
        Self {
            model,
            node_tracks,
            attachments: vec![None; model.skeleton.len()],
            mover_count: 0,
            tracks: Vec::new(),
            column_count: 0,
            steps: Vec::new(),
        }
    }

    /// Appends the step that writes palette entry `entry`, and before it the steps that it needs.
    fn write(&mut self, entry: usize) {
        let layout = &self.model.palette;
        let Attachment { mover, mover_from_node } = self.attachment(layout.nodes[entry] as usize);
        let matrix = mover_from_node * layout.joint_from_mesh[entry].as_daffine3();
        let constant = rows_of(&matrix);
        self.steps.push(match mover {
            Some(mover) => Step::Write(mover, constant),
            None => Step::WriteHeld(constant),
        });
    }

    /// Returns the attachment of a node. It first computes those of its ancestors, top down and without recursion.
    fn attachment(&mut self, node: usize) -> Attachment {
        let mut missing = vec![];
        let mut next = node as u32;
        while next != NO_PARENT && self.attachments[next as usize].is_none() {
            missing.push(next as usize);
            next = self.model.skeleton.parents[next as usize];
        }
        let model = Attachment { mover: None, mover_from_node: DAffine3::IDENTITY };
        let mut attachment = if next == NO_PARENT { model } else { self.attachments[next as usize].unwrap_or(model) };
        for node in missing.into_iter().rev() {
            attachment = self.attach(node, attachment);
            self.attachments[node] = Some(attachment);
        }
        attachment
    }

    fn attach(&mut self, node: usize, parent: Attachment) -> Attachment {
        let skeleton = &self.model.skeleton;
        if let Ok(fixed) = skeleton.fixed_locals.binary_search_by_key(&(node as u32), |fixed| fixed.node) {
            let parent_from_node = skeleton.fixed_locals[fixed].parent_from_node.as_daffine3();
            return Attachment { mover_from_node: parent.mover_from_node * parent_from_node, ..parent };
        }
        let LocalPose { translations, rotations, scales, .. } = &skeleton.rest;
        let tracks = self.node_tracks[node];
        let translation = self.part(tracks.translation, translations[node].as_dvec3().extend(0.0));
        let rotation = self.part(tracks.rotation, Vec4::from(rotations[node]).as_dvec4());
        let scale = self.part(tracks.scale, scales[node].as_dvec3().extend(0.0));
        if let (Part::Held(translation), Part::Held(rotation), Part::Held(scale)) = (translation, rotation, scale) {
            let [translation, rotation, scale] = [translation, rotation, scale].map(|part| Vec4::from(part).as_dvec4());
            let rotation = DQuat::from_vec4(rotation.normalize_or(DVec4::W));
            let local = DAffine3::from_scale_rotation_translation(scale.truncate(), rotation, translation.truncate());
            return Attachment { mover_from_node: parent.mover_from_node * local, ..parent };
        }
        let mover = Mover {
            parent: parent.mover,
            offset: (parent.mover_from_node != DAffine3::IDENTITY).then(|| rows_of(&parent.mover_from_node)),
            translation,
            rotation,
            scale: (scale != Part::Held(Vec3::ONE.extend(0.0).to_array())).then_some(scale),
            temporary: self.mover_count,
        };
        self.steps.push(Step::Move(mover));
        self.mover_count += 1;
        Attachment { mover: Some(self.mover_count - 1), mover_from_node: DAffine3::IDENTITY }
    }

    /// Returns the part for a track, with new columns if its value changes. Without a track it is `rest`.
    fn part(&mut self, track: Option<AnyTrack<'a>>, rest: DVec4) -> Part {
        let held = |value: DVec4| Part::Held(value.as_vec4().to_array());
        let Some(track) = track else { return held(rest) };
        if let Some(value) = track.constant() {
            return held(value);
        }
        let column = self.column_count;
        self.column_count += track.width();
        self.tracks.push(track);
        if track.interpolation() == Interpolation::CubicSpline { Part::Cubic(column) } else { Part::Straight(column) }
    }
}

fn rows_of(matrix: &DAffine3) -> Constant {
    let DMat3 { x_axis, y_axis, z_axis } = matrix.matrix3;
    [0, 1, 2].map(|row| [x_axis, y_axis, z_axis, matrix.translation].map(|column| column[row] as f32))
}

/// Replaces the numbers of movers by temporaries, which are reused after a mover's last use. Returns the number of
/// temporaries.
fn share_temporaries(steps: &mut [Step]) -> usize {
    let movers = steps.iter().filter(|step| matches!(step, Step::Move(_))).count();
    let mut last_use = vec![0; movers];
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Move(Mover { parent, temporary, .. }) => {
                last_use[*temporary] = at;
                parent.iter().for_each(|&parent| last_use[parent] = at);
            }
            Step::Write(mover, _) => last_use[*mover] = at,
            Step::WriteHeld(_) => {}
        }
    }
    let mut temporaries = vec![0; movers];
    let (mut free, mut count) = (Vec::new(), 0);
    for (at, step) in steps.iter_mut().enumerate() {
        let used = match step {
            Step::Move(Mover { temporary, .. }) => {
                let mover = *temporary;
                // This step reads the parent's temporary, which is therefore released only afterwards.
                temporaries[mover] = free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                });
                *temporary = temporaries[mover];
                Some(mover)
            }
            Step::Write(temporary, _) => {
                let mover = *temporary;
                *temporary = temporaries[mover];
                Some(mover)
            }
            Step::WriteHeld(_) => None,
        };
        let mut release = |mover: usize| {
            if last_use[mover] == at {
                free.push(temporaries[mover]);
            }
        };
        used.into_iter().for_each(&mut release);
        if let Step::Move(Mover { parent, .. }) = step
            && let Some(mover) = *parent
        {
            release(mover);
            *parent = Some(temporaries[mover]);
        }
    }
    count
}

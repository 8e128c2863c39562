//! From a model and a clip to the list of steps that the kernel takes: decided once, so that nothing is left to decide
//! for each instance.
//!
//! * Only nodes that the clip moves are evaluated: *movers*. What stands still between a mover and its next moving
//!   ancestor, or between a mover and a joint's mesh space, is one matrix, multiplied beforehand. Nodes that no palette
//!   entry depends on are left out.
//! * Tracks whose keys are all equal are not sampled. Exporters key everything.
//! * Steps come in the palette's order, each joint matrix after the movers that it needs, parents first: matrices are
//!   written in order, and a mover is used while it is warm. A mover's *slot* is given away after its last use, so that
//!   the slots of even large skeletons fit into the first-level cache.

use glam::{DAffine3, DMat3, DQuat, DVec4, Vec3, Vec4};

use super::rows::{AnyTrack, Rows};
use crate::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT};

/// One third of a local transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// The same at all times.
    Held([f32; 4]),
    /// One cell, at this column.
    Straight(usize),
    /// Two cells, from this column on.
    Cubic(usize),
}

/// Rows of an affine matrix that is the same for all instances.
pub(super) type Constant = [[f32; 4]; 3];

/// A node that moves.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mover {
    /// Slot of the next moving ancestor.
    pub parent: Option<usize>,
    /// From the parent node to the next moving ancestor, or to the model; `None` is the identity.
    pub offset: Option<Constant>,
    pub translation: Part,
    pub rotation: Part,
    /// `None` is no scale.
    pub scale: Option<Part>,
    /// Where `model_from_node` goes.
    pub slot: usize,
}

/// What the kernel does next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Samples and poses a node.
    Move(Mover),
    /// Writes the next joint matrix: a mover's, times the constant.
    Write(usize, Constant),
    /// Writes the next joint matrix, which no mover moves.
    WriteHeld(Constant),
}

/// A clip of a model, or its rest pose, as the kernel takes it.
#[derive(Debug, Clone)]
pub struct LaneClip {
    pub(super) rows: Rows,
    pub(super) steps: Vec<Step>,
    pub(super) slot_count: usize,
    pub(super) joint_count: usize,
}

impl LaneClip {
    /// Compiles `clip`, which is one of `model`'s; `None` is the rest pose. Returns `None` where the clip is not for the
    /// kernel (see [`Rows`]) and [`evaluate`](crate::animation::evaluate) has to do.
    #[must_use]
    pub fn compile(model: &Model, clip: Option<&Clip>) -> Option<Self> {
        let mut compiler = Compiler::new(model, clip);
        (0..model.palette.len()).for_each(|entry| compiler.write(entry));
        let Compiler { tracks, mut steps, .. } = compiler;
        let rows = match clip {
            Some(clip) => Rows::new(clip, &tracks)?,
            None => Rows::new(&Clip::default(), &[])?,
        };
        let slot_count = share_slots(&mut steps);
        Some(Self { rows, steps, slot_count, joint_count: model.palette.len() })
    }
}

/// Where a node is: relative to a mover, or to the model.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number of the mover: its place among the movers, in the order of their steps.
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
    /// Worked out as they are needed.
    places: Vec<Option<Place>>,
    mover_count: usize,
    /// Of the rows, in the order of their columns.
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
            places: vec![None; model.skeleton.len()],
            mover_count: 0,
            tracks: Vec::new(),
            column_count: 0,
            steps: Vec::new(),
        }
    }

    /// Appends the step that writes palette entry `entry`, after those that it needs.
    fn write(&mut self, entry: usize) {
        let layout = &self.model.palette;
        let Place { mover, mover_from_node } = self.place(layout.nodes[entry] as usize);
        let matrix = mover_from_node * layout.joint_from_mesh[entry].as_daffine3();
        let constant = rows_of(&matrix);
        self.steps.push(match mover {
            Some(mover) => Step::Write(mover, constant),
            None => Step::WriteHeld(constant),
        });
    }

    /// The place of a node, once its ancestors have theirs: from the last one that has on, downwards, without recursion.
    fn place(&mut self, node: usize) -> Place {
        let mut waiting = vec![];
        let mut next = node as u32;
        while next != NO_PARENT && self.places[next as usize].is_none() {
            waiting.push(next as usize);
            next = self.model.skeleton.parents[next as usize];
        }
        let model = Place { mover: None, mover_from_node: DAffine3::IDENTITY };
        let mut place = if next == NO_PARENT { model } else { self.places[next as usize].unwrap_or(model) };
        for node in waiting.into_iter().rev() {
            place = self.place_below(place, node);
            self.places[node] = Some(place);
        }
        place
    }

    fn place_below(&mut self, parent: Place, node: usize) -> Place {
        let skeleton = &self.model.skeleton;
        if let Ok(fixed) = skeleton.fixed_locals.binary_search_by_key(&(node as u32), |fixed| fixed.node) {
            let parent_from_node = skeleton.fixed_locals[fixed].parent_from_node.as_daffine3();
            return Place { mover_from_node: parent.mover_from_node * parent_from_node, ..parent };
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
            return Place { mover_from_node: parent.mover_from_node * local, ..parent };
        }
        let mover = Mover {
            parent: parent.mover,
            offset: (parent.mover_from_node != DAffine3::IDENTITY).then(|| rows_of(&parent.mover_from_node)),
            translation,
            rotation,
            scale: (scale != Part::Held(Vec3::ONE.extend(0.0).to_array())).then_some(scale),
            slot: self.mover_count,
        };
        self.steps.push(Step::Move(mover));
        self.mover_count += 1;
        Place { mover: Some(self.mover_count - 1), mover_from_node: DAffine3::IDENTITY }
    }

    /// Gives a track its columns, if it needs any.
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

/// Turns numbers of movers into slots, each given away after its mover's last use; returns how many that takes.
fn share_slots(steps: &mut [Step]) -> usize {
    let movers = steps.iter().filter(|step| matches!(step, Step::Move(_))).count();
    let mut last_use = vec![0; movers];
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Move(Mover { parent, slot, .. }) => {
                last_use[*slot] = at;
                parent.iter().for_each(|&parent| last_use[parent] = at);
            }
            Step::Write(mover, _) => last_use[*mover] = at,
            Step::WriteHeld(_) => {}
        }
    }
    let mut slots = vec![0; movers];
    let (mut free, mut count) = (Vec::new(), 0);
    for (at, step) in steps.iter_mut().enumerate() {
        let used = match step {
            Step::Move(Mover { slot, .. }) => {
                let mover = *slot;
                // Not the parent's, which is still read while this one is written: it is free only after this step.
                slots[mover] = free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                });
                *slot = slots[mover];
                Some(mover)
            }
            Step::Write(slot, _) => {
                let mover = *slot;
                *slot = slots[mover];
                Some(mover)
            }
            Step::WriteHeld(_) => None,
        };
        let mut release = |mover: usize| {
            if last_use[mover] == at {
                free.push(slots[mover]);
            }
        };
        used.into_iter().for_each(&mut release);
        if let Step::Move(Mover { parent, .. }) = step
            && let Some(mover) = *parent
        {
            release(mover);
            *parent = Some(slots[mover]);
        }
    }
    count
}

//! Compiles a model and a clip to the kernel's list of steps. All decisions are made here, once for each clip.
//!
//! * Only the nodes that the clip moves are evaluated, the *movers*. The fixed transforms between a mover and its next
//!   moving ancestor, or between a mover and a joint's mesh space, are multiplied into one matrix in advance. Nodes
//!   that no palette entry depends on are left out.
//! * Tracks whose keys are all equal are not sampled. There are many, because exporters key everything.
//! * Steps are in the palette's order. Each joint matrix follows the movers that it needs, parents first. So matrices
//!   are written in order, and a mover is used while it is in the cache. After its last use, a mover's *temporary* (the
//!   memory of its matrix) is given to another mover, so the temporaries of even large skeletons fit into the L1 cache.
//!
//! A blend of several clips is compiled to one list of steps ([`LaneBlend`]). Its movers are the nodes that any of the clips
//! moves. Nodes that stand still at different places are constant during a frame ([`standing`](super::standing)). The cells
//! are those of the clips, each compiled alone: all lists are made in the same order, so a track has the same column in both.

use glam::{DAffine3, DVec4, Vec3, Vec4};

use super::program::{FurtherParts, Mover, Part, Program, Step, rows_of};
use super::rows::{AnyTrack, Rows};
use super::standing::{HeldParts, Standing, parent_from_node};
use crate::model::{Clip, Interpolation, LocalPose, Model, NO_PARENT};

/// A clip of a model, or its rest pose, compiled for the kernel.
#[derive(Debug, Clone)]
pub struct LaneClip {
    pub(super) rows: Rows,
    pub(super) program: Program,
}

impl LaneClip {
    /// Compiles `clip`, which is one of `model`'s clips, or the rest pose for `None`. Returns `None` if the clip does
    /// not fit into [`Rows`]; use [`evaluate`](crate::animation::evaluate) then.
    #[must_use]
    pub fn compile(model: &Model, clip: Option<&Clip>) -> Option<Self> {
        let Compiled { program, sources, .. } = Compiler::new(model, &[clip]).compiled();
        let tracks = sources.first().map_or(&[][..], |source| &source.tracks);
        let rows = match clip {
            Some(clip) => Rows::new(clip, tracks)?,
            None => Rows::new(&Clip::default(), &[])?,
        };
        Some(Self { rows, program })
    }
}

/// A blend of clips of a model, compiled for the kernel. The clips are compiled, too: they have the cells.
#[derive(Debug, Clone)]
pub struct LaneBlend {
    pub(super) program: Program,
    /// The number of columns of each clip.
    pub(super) columns: Vec<usize>,
    /// The share of each clip, 0 to 1. All clips before it have the rest.
    pub(super) weights: Vec<f32>,
    standing: Standing,
}

impl LaneBlend {
    /// Compiles a blend of `clips` of `model`, in the order of the blend. `None` is the rest pose. All weights are 0: the first
    /// clip is shown.
    #[must_use]
    pub fn compile(model: &Model, clips: &[Option<&Clip>]) -> Self {
        let Compiled { program, sources, standing } = Compiler::new(model, clips).compiled();
        let columns = sources.iter().map(|source| source.column_count).collect();
        let mut blend = Self { program, columns, weights: Vec::new(), standing };
        blend.set_weights(&vec![0.0; clips.len()]);
        blend
    }

    /// Sets the share of each clip, 0 to 1. All clips before it have the rest. The first element has no use. Everything that
    /// depends on the weights alone is computed here, once for all instances. Does not allocate again.
    ///
    /// # Panics
    /// If there is not one weight for each clip.
    pub fn set_weights(&mut self, weights: &[f32]) {
        assert_eq!(weights.len(), self.columns.len(), "a weight for each clip");
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        self.standing.set_weights(weights, &mut self.program.steps);
    }
}

/// The transform from a node to its mover: to itself, to its next moving ancestor, or else to the model. It is fixed, except
/// that it may go by way of a node that stands still in each clip of a blend.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// The mover's number. Movers are numbered in the order of their steps.
    mover: Option<usize>,
    /// The number in [`Standing`] of the nearest node that stands still, from the node itself up to its mover.
    standing: Option<usize>,
    /// The fixed transform to that node, or else to the mover.
    ancestor_from_node: DAffine3,
}

/// The tracks of one node.
#[derive(Clone, Copy, Default)]
struct NodeTracks<'a> {
    translation: Option<AnyTrack<'a>>,
    rotation: Option<AnyTrack<'a>>,
    scale: Option<AnyTrack<'a>>,
}

/// One of the clips that are compiled together.
struct SourceTracks<'a> {
    node_tracks: Vec<NodeTracks<'a>>,
    /// The tracks that need cells, in the order of their columns.
    tracks: Vec<AnyTrack<'a>>,
    column_count: usize,
}

impl<'a> SourceTracks<'a> {
    fn new(model: &Model, clip: Option<&'a Clip>) -> Self {
        let mut node_tracks = vec![NodeTracks::default(); model.skeleton.len()];
        if let Some(clip) = clip {
            let nodes = &mut node_tracks;
            clip.translations.iter().for_each(|t| nodes[t.node as usize].translation = Some(AnyTrack::Vector(t)));
            clip.rotations.iter().for_each(|t| nodes[t.node as usize].rotation = Some(AnyTrack::Rotation(t)));
            clip.scales.iter().for_each(|t| nodes[t.node as usize].scale = Some(AnyTrack::Vector(t)));
        }
        Self { node_tracks, tracks: Vec::new(), column_count: 0 }
    }

    /// Returns translation, rotation and scale of a node.
    fn parts(&mut self, node: usize, rest: &LocalPose) -> [Part; 3] {
        let tracks = self.node_tracks[node];
        [
            self.part(tracks.translation, rest.translations[node].as_dvec3().extend(0.0)),
            self.part(tracks.rotation, Vec4::from(rest.rotations[node]).as_dvec4()),
            self.part(tracks.scale, rest.scales[node].as_dvec3().extend(0.0)),
        ]
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

/// The result of a [`Compiler`].
struct Compiled<'a> {
    program: Program,
    sources: Vec<SourceTracks<'a>>,
    standing: Standing,
}

struct Compiler<'a> {
    model: &'a Model,
    sources: Vec<SourceTracks<'a>>,
    standing: Standing,
    /// The attachment of each node, once it has been computed.
    attachments: Vec<Option<Attachment>>,
    mover_count: usize,
    steps: Vec<Step>,
}

impl<'a> Compiler<'a> {
    fn new(model: &'a Model, clips: &[Option<&'a Clip>]) -> Self {
        Self {
            model,
            sources: clips.iter().map(|clip| SourceTracks::new(model, *clip)).collect(),
            standing: Standing::default(),
            attachments: vec![None; model.skeleton.len()],
            mover_count: 0,
            steps: Vec::new(),
        }
    }

    /// Compiles all palette entries.
    fn compiled(mut self) -> Compiled<'a> {
        let joint_count = self.model.palette.len();
        (0..joint_count).for_each(|entry| self.write(entry));
        let temporary_count = share_temporaries(&mut self.steps);
        let program = Program { steps: self.steps, temporary_count, joint_count };
        Compiled { program, sources: self.sources, standing: self.standing }
    }

    /// Appends the step that writes palette entry `entry`, and before it the steps that it needs.
    fn write(&mut self, entry: usize) {
        let layout = &self.model.palette;
        let Attachment { mover, standing, ancestor_from_node } = self.attachment(layout.nodes[entry] as usize);
        let matrix = ancestor_from_node * layout.joint_from_mesh[entry].as_daffine3();
        let constant = rows_of(&matrix);
        if let Some(node) = standing {
            self.standing.add_matrix(self.steps.len(), node, matrix);
        }
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
        let model = Attachment { mover: None, standing: None, ancestor_from_node: DAffine3::IDENTITY };
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
            return Attachment { ancestor_from_node: parent.ancestor_from_node * parent_from_node, ..parent };
        }
        let parts: Vec<[Part; 3]> = self.sources.iter_mut().map(|source| source.parts(node, &skeleton.rest)).collect();
        let Some(&first) = parts.first() else { return parent };
        if let Some(held) = parts.iter().map(held_parts).collect::<Option<Vec<_>>>() {
            if parts.iter().all(|parts| *parts == first) {
                let ancestor_from_node = parent.ancestor_from_node * parent_from_node(held[0]);
                return Attachment { ancestor_from_node, ..parent };
            }
            let number = self.standing.add_node(parent.standing, parent.ancestor_from_node, held);
            return Attachment { standing: Some(number), ancestor_from_node: DAffine3::IDENTITY, ..parent };
        }
        let step = self.steps.len();
        if let Some(number) = parent.standing {
            self.standing.add_matrix(step, number, parent.ancestor_from_node);
        }
        // A property that stands still in all clips is constant during a frame.
        let stands: [bool; 3] = std::array::from_fn(|property| {
            let values: Option<Vec<DVec4>> = parts.iter().map(|parts| held(parts[property])).collect();
            let is_same = parts.iter().all(|parts| parts[property] == first[property]);
            let stands = values.is_some();
            if let (Some(values), false) = (values, is_same) {
                self.standing.add_part(step, property, values);
            }
            stands
        });
        // A property that stands still in all clips so far, at the same value, needs no blending either.
        let changed = |property: usize, clip: usize| {
            let mut so_far = parts[..=clip].iter().map(|parts| parts[property]);
            let is_new = !matches!(first[property], Part::Held(_)) || so_far.any(|part| part != first[property]);
            (is_new && !stands[property]).then_some(parts[clip][property])
        };
        let further = |clip: usize| FurtherParts {
            translation: changed(0, clip),
            rotation: changed(1, clip),
            scale: changed(2, clip),
        };
        let no_scale = Part::Held(Vec3::ONE.extend(0.0).to_array());
        let has_offset = parent.standing.is_some() || parent.ancestor_from_node != DAffine3::IDENTITY;
        let mover = Mover {
            parent: parent.mover,
            offset: has_offset.then(|| rows_of(&parent.ancestor_from_node)),
            translation: first[0],
            rotation: first[1],
            scale: parts.iter().any(|parts| parts[2] != no_scale).then_some(first[2]),
            further: (1..parts.len()).map(further).collect(),
            temporary: self.mover_count,
        };
        self.steps.push(Step::Move(mover));
        self.mover_count += 1;
        let mover = Some(self.mover_count - 1);
        Attachment { mover, standing: None, ancestor_from_node: DAffine3::IDENTITY }
    }
}

/// Returns the value of a part that stands still.
fn held(part: Part) -> Option<DVec4> {
    match part {
        Part::Held(value) => Some(Vec4::from(value).as_dvec4()),
        Part::Straight(_) | Part::Cubic(_) => None,
    }
}

/// Returns the transform of a node that stands still in a clip.
fn held_parts(parts: &[Part; 3]) -> Option<HeldParts> {
    let [translation, rotation, scale] = parts.map(held);
    Some([translation?, rotation?, scale?])
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

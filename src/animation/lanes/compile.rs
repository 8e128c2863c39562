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
//! A blend of two clips is compiled to one list of steps ([`LaneBlend`]). Its movers are the nodes that either clip moves. The
//! cells are those of the clips, each compiled alone: all lists are made in the same order, so a track has the same column in
//! both.

use glam::{DAffine3, DVec4, Vec3, Vec4};

use super::program::{Curve, HeldProperties, Mover, Program, Standing, StandingNode, Step, parent_from_node, rows_of};
use super::rows::{AnyTrack, Rows, Values};
use crate::model::{Clip, Interpolation, LocalPose, Model};

/// A clip of a model, or its rest pose, compiled for the kernel.
#[derive(Debug, Clone)]
pub struct LaneClip {
    pub(super) rows: Rows,
    pub program: Program,
}

impl LaneClip {
    /// Compiles `clip`, which is one of `model`'s clips, or the rest pose for `None`. Returns `None` if the clip does
    /// not fit into [`Rows`]; use [`evaluate_blend`](crate::animation::evaluate_blend) then.
    pub fn compile(model: &Model, clip: Option<&Clip>) -> Option<Self> {
        let (program, Compiler { first, .. }) = Compiler::new(model, clip, None).compiled();
        let rows = Rows::new(clip.unwrap_or(&Clip::default()), &first.tracks)?;
        Some(Self { rows, program })
    }
}

/// A blend of two clips of a model, compiled for the kernel. The clips are compiled, too: they have the cells.
#[derive(Debug, Clone)]
pub struct LaneBlend {
    pub program: Program,
    pub(super) columns: [usize; 2],
    /// The share of the second clip, 0 to 1.
    pub(super) weight: f32,
    standing: Standing,
}

impl LaneBlend {
    /// Compiles a blend of two clips of `model`. `None` is the rest pose. The weight is 0: the first clip is shown.
    pub fn compile(model: &Model, [first, second]: [Option<&Clip>; 2]) -> Self {
        let (program, compiler) = Compiler::new(model, first, Some(second)).compiled();
        let Compiler { first, second, standing, .. } = compiler;
        let columns = [first.column_count, second.map_or(0, |second| second.column_count)];
        let mut blend = Self { program, columns, weight: 0.0, standing };
        blend.set_weight(0.0);
        blend
    }

    /// Sets the share of the second clip, 0 to 1. Everything that depends on the weight alone is computed here, once for all
    /// instances. Does not allocate.
    pub fn set_weight(&mut self, weight: f32) {
        self.weight = weight;
        self.standing.set_weight(weight, &mut self.program.steps);
    }
}

/// The transform from a node to its mover: to itself, to its next moving ancestor, or else to the model. It is fixed, except
/// that it may go by way of a node that stands still in both clips of a blend.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    /// The mover's number. Movers are numbered in the order of their steps.
    mover: Option<usize>,
    /// The number in [`Standing`] of the nearest node that stands still, from the node itself up to its mover.
    standing: Option<usize>,
    /// The fixed transform to that node, or else to the mover.
    ancestor_from_node: DAffine3,
}

/// The tracks of one node: translation, rotation and scale.
type NodeTracks<'a> = [Option<AnyTrack<'a>>; 3];

/// A clip that is compiled.
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
            clip.translations.iter().for_each(|t| nodes[t.node as usize][0] = Some(AnyTrack::new(t, Values::Vectors)));
            clip.rotations.iter().for_each(|t| nodes[t.node as usize][1] = Some(AnyTrack::new(t, Values::Rotations)));
            clip.scales.iter().for_each(|t| nodes[t.node as usize][2] = Some(AnyTrack::new(t, Values::Vectors)));
        }
        Self { node_tracks, tracks: Vec::new(), column_count: 0 }
    }

    /// Returns translation, rotation and scale of a node.
    fn curves(&mut self, node: usize, rest: &LocalPose) -> [Curve; 3] {
        let [translation, rotation, scale] = self.node_tracks[node];
        [
            self.curve(translation, rest.translations[node].as_dvec3().extend(0.0)),
            self.curve(rotation, Vec4::from(rest.rotations[node]).as_dvec4()),
            self.curve(scale, rest.scales[node].as_dvec3().extend(0.0)),
        ]
    }

    /// Returns the curve of a track, with new columns if its value changes. Without a track it is `rest`.
    fn curve(&mut self, track: Option<AnyTrack<'a>>, rest: DVec4) -> Curve {
        let held = |value: DVec4| Curve::Held(value.as_vec4().to_array());
        let Some(track) = track else { return held(rest) };
        if let Some(value) = track.constant() {
            return held(value);
        }
        let column = self.column_count;
        self.column_count += track.width();
        self.tracks.push(track);
        if track.interpolation == Interpolation::CubicSpline { Curve::Cubic(column) } else { Curve::Straight(column) }
    }
}

struct Compiler<'a> {
    model: &'a Model,
    first: SourceTracks<'a>,
    second: Option<SourceTracks<'a>>,
    standing: Standing,
    /// The attachment of each node, once it has been computed.
    attachments: Vec<Option<Attachment>>,
    mover_count: usize,
    steps: Vec<Step>,
}

impl<'a> Compiler<'a> {
    fn new(model: &'a Model, first: Option<&'a Clip>, second: Option<Option<&'a Clip>>) -> Self {
        Self {
            model,
            first: SourceTracks::new(model, first),
            second: second.map(|second| SourceTracks::new(model, second)),
            standing: Standing::default(),
            attachments: vec![None; model.skeleton.len()],
            mover_count: 0,
            steps: Vec::new(),
        }
    }

    fn compiled(mut self) -> (Program, Self) {
        let ends = (0..self.model.palette.len()).map(|entry| self.write(entry)).collect();
        let temporary_count = share_temporaries(&mut self.steps);
        let steps = std::mem::take(&mut self.steps);
        (Program { steps, temporary_count, ends }, self)
    }

    /// Appends the step that writes palette entry `entry`, and before it the steps that it needs. Returns the number of steps.
    fn write(&mut self, entry: usize) -> usize {
        let layout = &self.model.palette;
        let Attachment { mover, standing, ancestor_from_node } = self.attachment(layout.nodes[entry] as usize);
        let matrix = ancestor_from_node * layout.joint_from_mesh[entry].as_daffine3();
        let constant = rows_of(&matrix);
        if let Some(node) = standing {
            self.standing.matrices.push((self.steps.len(), node, matrix));
        }
        self.steps.push(match mover {
            Some(mover) => Step::Write(mover, constant),
            None => Step::WriteHeld(constant),
        });
        self.steps.len()
    }

    /// Returns the attachment of a node. It first computes those of its ancestors, top down and without recursion.
    fn attachment(&mut self, node: usize) -> Attachment {
        let skeleton = &self.model.skeleton;
        let nodes = std::iter::once(node).chain(skeleton.ancestors(node));
        let missing: Vec<usize> = nodes.take_while(|&node| self.attachments[node].is_none()).collect();
        let known = missing.last().map_or(Some(node), |&top| skeleton.parent(top));
        let of_model = Attachment { mover: None, standing: None, ancestor_from_node: DAffine3::IDENTITY };
        let mut attachment = known.and_then(|node| self.attachments[node]).unwrap_or(of_model);
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
        let first = self.first.curves(node, &skeleton.rest);
        let second = self.second.as_mut().map(|second| second.curves(node, &skeleton.rest));
        let is_blend = second.is_some();
        let second = second.unwrap_or(first);
        if let (Some(held), Some(other)) = (held_properties(&first), held_properties(&second)) {
            if held == other {
                let ancestor_from_node = parent.ancestor_from_node * parent_from_node(held);
                return Attachment { ancestor_from_node, ..parent };
            }
            let standing = Some(self.standing.nodes.len());
            self.standing.nodes.push(StandingNode {
                parent: parent.standing,
                ancestor_from_parent: parent.ancestor_from_node,
                in_clips: [held, other],
                mover_from_node: DAffine3::IDENTITY,
            });
            return Attachment { standing, ancestor_from_node: DAffine3::IDENTITY, ..parent };
        }
        let step = self.steps.len();
        if let Some(number) = parent.standing {
            self.standing.matrices.push((step, number, parent.ancestor_from_node));
        }
        let mut blended = [None; 3];
        for property in 0..3 {
            match (held(first[property]), held(second[property])) {
                // A property that stands still in both clips is constant during a frame.
                (Some(value), Some(other)) if value != other => {
                    self.standing.properties.push((step, property, [value, other]));
                }
                (Some(_), Some(_)) => {}
                _ => blended[property] = is_blend.then_some(second[property]),
            }
        }
        let no_scale = Curve::Held(Vec3::ONE.extend(0.0).to_array());
        let has_offset = parent.standing.is_some() || parent.ancestor_from_node != DAffine3::IDENTITY;
        let mover = Mover {
            parent: parent.mover,
            offset: has_offset.then(|| rows_of(&parent.ancestor_from_node)),
            translation: first[0],
            rotation: first[1],
            scale: [first, second].iter().any(|curves| curves[2] != no_scale).then_some(first[2]),
            second: blended,
            temporary: self.mover_count,
        };
        self.steps.push(Step::Move(mover));
        self.mover_count += 1;
        let mover = Some(self.mover_count - 1);
        Attachment { mover, standing: None, ancestor_from_node: DAffine3::IDENTITY }
    }
}

/// Returns the value of a curve that stands still.
fn held(curve: Curve) -> Option<DVec4> {
    match curve {
        Curve::Held(value) => Some(Vec4::from(value).as_dvec4()),
        Curve::Straight(_) | Curve::Cubic(_) => None,
    }
}

/// Returns the transform of a node that stands still in a clip.
fn held_properties(curves: &[Curve; 3]) -> Option<HeldProperties> {
    let [translation, rotation, scale] = curves.map(held);
    Some([translation?, rotation?, scale?])
}

/// Replaces the numbers of movers by temporaries, which are reused after a mover's last use. Returns the number of temporaries.
fn share_temporaries(steps: &mut [Step]) -> usize {
    let movers = steps.iter().filter(|step| matches!(step, Step::Move(_))).count();
    let (mut last_use, mut temporaries) = (vec![0; movers], vec![0; movers]);
    for (at, step) in steps.iter_mut().enumerate() {
        step.temporaries().for_each(|mover| last_use[*mover] = at);
    }
    let (mut free, mut count) = (Vec::new(), 0);
    for (at, step) in steps.iter_mut().enumerate() {
        // This step reads the parent's temporary, which is therefore released only afterwards.
        if let Step::Move(Mover { temporary, .. }) = step {
            temporaries[*temporary] = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
        }
        for temporary in step.temporaries() {
            let mover = std::mem::replace(temporary, temporaries[*temporary]);
            if last_use[mover] == at {
                free.push(temporaries[mover]);
            }
        }
    }
    count
}

impl Step {
    /// Returns the temporaries that the step uses: its own or that which it reads, and that of a mover's parent.
    fn temporaries(&mut self) -> impl Iterator<Item = &mut usize> {
        let (own, parent) = match self {
            Self::Move(Mover { temporary, parent, .. }) => (Some(temporary), parent.as_mut()),
            Self::Write(mover, _) => (Some(mover), None),
            Self::WriteHeld(_) => (None, None),
        };
        own.into_iter().chain(parent)
    }
}

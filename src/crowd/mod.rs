//! Crowds: many instances of few models, their placement, their clips, their visibility and their joint matrices.
//!
//! In: models and [`CrowdSettings`]. Out, in each frame: visible poses, joint matrices, morph weights and
//! [`InstanceData`](crate::shader_types::InstanceData). A frame makes five calls, and in a steady frame none of them allocates:
//!
//! 1. [`Crowd::move_to`] takes the instances that travel to their places at a time, and ends a crossfade;
//! 2. [`Crowd::cull`] lists the visible instances and their poses, grouped by model and level of detail;
//! 3. [`FramePlan::rebuild`] decides where the data of each visible pose lies;
//! 4. [`Crowd::evaluate`] writes the joint matrices and morph weights of the visible poses there, on all cores;
//! 5. [`Crowd::write_instances`] writes one element for each visible instance, which names its pose.
//!
//! The ground is the plane y = 0 of the world, and each model stands on it with its own floor.
//!
//! [`Crowd::set_clip`] changes the clips at once, and [`Crowd::crossfade`] blends from the clips that are shown.
//!
//! Invariants: instances are sorted by model, by clip, by the clip that they fade out, and by pose. Visible poses are sorted
//! by model, by their levels of detail, and then like the instances. Visible instances are in the order of their poses. The
//! seed decides everything. The same settings give the same bytes on any number of threads, and the same numbers to a few units
//! in the last place on any machine.

#![forbid(unsafe_code)]

mod block;
mod casting;
mod crossfade;
mod evaluate;
mod parts;
mod pick;
mod placement;
mod plan;
mod playback;
mod random;
mod repertoire;
mod scale;
mod scatter;
mod settings;
mod shape;
mod sharing;
mod sight;
mod travel;
mod variety;
mod visible;

use std::sync::Arc;

use glam::Vec3;

use crate::animation::lanes::Processor;
use crate::model::Model;
use crate::view::Bounds;
use block::Scratch;
use crossfade::Crossfade;
use placement::Placement;
use repertoire::Repertoire;
use settings::resolve_clips;
use travel::{GroundOffset, Route};
use visible::Visible;

pub use crossfade::DEFAULT_FADE_SECONDS;
pub use evaluate::thread_pool;
pub use pick::{InstanceState, Picked, ShownInstance};
pub use placement::Layout;
pub use plan::{
    Batch, FramePlan, InstanceRange, LevelSize, PagePlan, PlanError, PoseSize, TANGENT_BYTES, VERTICES_PER_LINE,
};
pub use playback::wrap_seconds;
pub use settings::{ClipChoice, CrowdError, CrowdSettings, PhaseMode};
pub use sharing::SharingError;
pub use sight::{PoseLevels, VisiblePose};

/// The largest number of instances, for the command line as well. The sizes of frames that they need stay far below 2^64, and
/// they take some hundred megabytes on the CPU.
pub const MAX_INSTANCES: u32 = 1_000_000;

#[derive(Debug, Clone)]
struct Instance {
    model: u32,
    /// The rank among all instances, from the centre of the crowd outwards.
    rank: u32,
    /// Index of the clip; `None` is the rest pose.
    clip: Option<u32>,
    /// The clip that the instance fades out; otherwise the same clip.
    clip_before: Option<u32>,
    /// The share of the clip's duration at which the instance starts, 0 to 1.
    phase: f32,
    /// The time in the clip at which the instance starts. It is rounded if poses are shared.
    start_seconds: f64,
    /// Instances with the same number always show the same pose. Numbers ascend in the order of the instances.
    pose: u32,
    /// The placement at the time 0.
    placement: Placement,
    /// The scale, unless the route has its own.
    own_scale: f32,
    route: u32,
    /// The multiplier of the base colour: linear RGBA, four unsigned normalised bytes, red lowest.
    tint_unorm8: u32,
    /// The centre of a sphere that contains the instance throughout its clip, at the time 0.
    center_world: Vec3,
    radius: f32,
}

/// The memory of an instance on the CPU in bytes. Joint matrices are written to GPU memory directly.
pub const INSTANCE_BYTES: usize = size_of::<Instance>();

#[derive(Debug)]
pub struct Crowd {
    models: Arc<[Model]>,
    /// What no other crowd has: in another one, the numbers of instances mean something else.
    pub identity: Arc<()>,
    /// All instances, sorted by model, clip and pose.
    instances: Vec<Instance>,
    index_of_rank: Vec<u32>,
    seed: u64,
    speed: f32,
    layout: Layout,
    variety: f32,
    /// The room of an instance of each model: the distance from a neighbour of the same model.
    widths: Vec<f32>,
    /// The point of each model that stands at the place of an instance.
    stands: Vec<Vec3>,
    /// The scale of each model that brings it to a common size.
    unit_scales: Vec<f32>,
    travel: bool,
    /// The routes of those who travel. The first one stands still.
    routes: Vec<Route>,
    /// The way of the first instance, if the camera follows it.
    ground_offset: Option<GroundOffset>,
    notes: Vec<String>,
    /// The number of poses per second of a clip; `None`: each instance has its own pose.
    share_hz: Option<f64>,
    repertoire: Repertoire,
    crossfade: Crossfade,
    bounds: Bounds,
    visible: Visible,
    processor: Processor,
    /// The memory of each task of an evaluation. Empty after a change of clips.
    scratches: Vec<Scratch>,
}

impl Crowd {
    /// Changes the clips at once. The placements stay, and all instances are visible, in full detail, until the next
    /// [`Crowd::cull`]. [`Crowd::crossfade`] blends instead.
    ///
    /// # Errors
    /// [`CrowdError::UnknownClip`]. The crowd is then unchanged.
    pub fn set_clip(&mut self, choice: &ClipChoice) -> Result<(), CrowdError> {
        let clips = resolve_clips(&self.models, choice, self.instances.len() > self.models.len())?;
        self.crossfade = Crossfade::default();
        self.assign_clips(&clips, None);
        self.show_all();
        Ok(())
    }

    pub fn models(&self) -> &Arc<[Model]> {
        &self.models
    }

    /// Returns the number of instances, visible or not.
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Returns bounds in the world that contain every instance throughout its clip.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }
}

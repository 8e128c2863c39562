//! Many instances of few models: where they stand, what they play, which of them are visible, and their joint matrices
//! and morph weights.
//!
//! A [`Crowd`] is built once from its models and [`CrowdSettings`]. Each frame then takes three calls, of which none
//! allocates once the first frame is over:
//!
//! 1. [`Crowd::cull`] lists the visible instances and their poses, grouped by model, and thereby lays out the palette;
//! 2. [`Crowd::evaluate`] writes the joint matrices and morph weights of the visible poses, on all cores, which
//!    [`with_threads_awake`] has ready for it;
//! 3. [`Crowd::write_instances`] writes one [`InstanceData`](crate::shader_types::InstanceData) for each visible instance.
//!
//! Invariants: instances are sorted by model, by clip and by pose, so a list of instances in ascending order is grouped by
//! all three; the k-th visible pose of a model owns `palette.len()` matrices directly after those of the one before it,
//! and its morph weights likewise. Everything is decided by the seed: same settings, same bytes on any number of threads,
//! and to a few units in the last place the same numbers on any machine.

mod placement;
mod playback;
mod random;
mod scale;
mod settings;
mod threads;
mod update;
mod visible;

use std::ops::Range;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use crate::animation::lanes::Processor;
use crate::animation::{PosedBounds, ground_height};
use crate::model::Model;
use crate::view::Bounds;
use placement::Place;
use playback::{Repertoire, clip_of};
use random::SplitMix64;
use settings::{ModelClips, resolve_clips};
use update::Scratch;
use visible::Visible;

pub use playback::SharingError;
pub use settings::{ClipChoice, CrowdError, CrowdSettings, PhaseMode};
pub use threads::{Work, thread_pool, with_threads_awake};
pub use update::wrap_seconds;

/// Largest crowd: some hundred bytes each keep it below a gigabyte.
pub const MAX_INSTANCES: u32 = 1 << 22;

/// Default spacing as a share of the widest model's footprint: neighbours do not touch, even where jitter and yaw
/// bring them closer.
const SPACING_SHARE: f32 = 1.15;

/// Purposes of chance; each has a stream of its own.
mod stream {
    pub const MODELS: u64 = 1;
    pub const PLACES: u64 = 2;
    pub const PHASES: u64 = 3;
    pub const CLIPS: u64 = 4;
}

/// One instance.
#[derive(Debug, Clone)]
struct Instance {
    model: u32,
    /// Among those of its model, from the middle outwards.
    rank: u32,
    /// Index into the model's clips; `None` is the rest pose.
    clip: Option<u32>,
    /// Share of the clip's duration at which the instance starts, 0 to 1.
    phase: f32,
    /// What that comes to, where poses are shared after rounding.
    start_seconds: f64,
    /// Instances with the same number show the same pose at all times. Ascending.
    pose: u32,
    world_from_model: Affine3A,
    /// Bounding sphere in the world, throughout its clip.
    center_world: Vec3,
    radius: f32,
}

/// What an instance takes on the CPU, in bytes; its joint matrices go straight to the GPU.
pub const INSTANCE_BYTES: usize = size_of::<Instance>();

/// See the module.
#[derive(Debug)]
pub struct Crowd {
    models: Arc<[Model]>,
    /// Sorted by model.
    instances: Vec<Instance>,
    seed: u64,
    speed: f32,
    spacing_metres: f32,
    notes: Vec<String>,
    /// Poses of a clip per second where instances share them.
    share_hz: Option<f64>,
    repertoire: Repertoire,
    bounds: Bounds,
    ground_height: f32,
    visible: Visible,
    processor: Processor,
    /// One for each task of an update; none where something that they depend on has changed.
    scratches: Vec<Scratch>,
}

impl Crowd {
    /// Places the instances. All of them are visible until the first [`Crowd::cull`].
    ///
    /// # Errors
    /// Where the settings make no sense or name a clip that no model has: [`CrowdError`].
    pub fn new(models: Arc<[Model]>, settings: &CrowdSettings) -> Result<Self, CrowdError> {
        check(&models, settings)?;
        let count = settings.instance_count;
        let mut crowd = Self {
            instances: Vec::with_capacity(count as usize),
            seed: settings.seed,
            speed: settings.speed,
            spacing_metres: 0.0,
            notes: Vec::new(),
            share_hz: settings.share_poses_hz,
            repertoire: Repertoire::new(&models),
            ground_height: 0.0,
            bounds: Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5), footprint_radius: 0.5f32.hypot(0.5) },
            visible: Visible::with_capacity(count as usize, &models),
            processor: Processor::detect(),
            scratches: Vec::new(),
            models,
        };
        let scales = crowd.repair_units();
        let clips = resolve_clips(&crowd.models, &settings.clip)?;
        crowd.spacing_metres =
            settings.spacing_metres.unwrap_or_else(|| SPACING_SHARE * crowd.widest_footprint(&clips, &scales));
        crowd.place_instances(count, settings.phase, &scales);
        crowd.assign_clips(&clips);
        crowd.cull(None, None);
        Ok(crowd)
    }

    /// Plays other clips from now on. Nobody moves, and all are visible until the next [`Crowd::cull`].
    ///
    /// # Errors
    /// [`CrowdError::UnknownClip`], and nothing has changed.
    pub fn set_clip(&mut self, choice: &ClipChoice) -> Result<(), CrowdError> {
        let clips = resolve_clips(&self.models, choice)?;
        self.assign_clips(&clips);
        self.cull(None, None);
        Ok(())
    }

    /// The models, as given.
    #[must_use]
    pub fn models(&self) -> &Arc<[Model]> {
        &self.models
    }

    /// Visible or not.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Between neighbours.
    #[must_use]
    pub fn spacing_metres(&self) -> f32 {
        self.spacing_metres
    }

    /// What was decided on the user's behalf, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Holds every instance throughout its clip, in the world.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Height of the ground plane that the crowd stands on.
    #[must_use]
    pub fn ground_height(&self) -> f32 {
        self.ground_height
    }

    /// The lowest of the models' own grounds; a model's own is the middle one of the clips that it plays, so that one
    /// that falls or digs does not leave the others in the air.
    fn find_ground(&self, clips: &[ModelClips]) -> f32 {
        let own = clips.iter().enumerate().filter_map(|(model, clips)| {
            let first = self.instances.get(self.instances_of(model).start)?;
            let scale = first.world_from_model.matrix3.x_axis.length();
            let model = self.models.get(model)?;
            let mut heights: Vec<f32> =
                clips.candidates().map(|clip| scale * ground_height(model, clip_of(model, clip))).collect();
            heights.sort_by(f32::total_cmp);
            heights.get(heights.len() / 2).copied()
        });
        own.reduce(f32::min).unwrap_or(0.0)
    }

    /// Brings models of other units to a common size; returns each model's scale.
    fn repair_units(&mut self) -> Vec<f32> {
        let model_count = self.models.len();
        let rest: Vec<PosedBounds> =
            (0..model_count).map(|model| self.repertoire.bounds(&self.models, model, None)).collect();
        let sizes: Vec<f32> = rest.iter().map(|bounds| 2.0 * bounds.half_extents().max_element()).collect();
        let scales = scale::common_unit_scales(&sizes);
        for ((model, &size), &scale) in self.models.iter().zip(&sizes).zip(&scales) {
            if scale != 1.0 {
                self.notes
                    .push(format!("{}: {size} units tall or wide, scaled by {scale} to fit the others", model.name));
            }
        }
        scales
    }

    /// Horizontal extent of the widest model, where a model's own is the middle one of the clips that it plays: one
    /// clip that leaps about should not push all the others apart.
    fn widest_footprint(&mut self, clips: &[ModelClips], scales: &[f32]) -> f32 {
        let mut widest = 0.0f32;
        for (model, (&clips, &scale)) in clips.iter().zip(scales).enumerate() {
            let half_extents =
                clips.candidates().map(|clip| self.repertoire.bounds(&self.models, model, clip).half_extents());
            let mut widths: Vec<f32> = half_extents.map(|half| 2.0 * half.x.max(half.z) * scale).collect();
            widths.sort_by(f32::total_cmp);
            widest = widest.max(widths.get(widths.len() / 2).copied().unwrap_or(0.0));
        }
        if widest > 0.0 { widest } else { 1.0 }
    }

    /// Deals the models out round-robin, so that they are equally frequent, and shuffles, so that they mix in space.
    fn place_instances(&mut self, count: u32, phase: PhaseMode, scales: &[f32]) {
        let mut model_of_place: Vec<u32> = (0..count).map(|k| k % self.models.len() as u32).collect();
        SplitMix64::new(self.seed, stream::MODELS).shuffle(&mut model_of_place);
        let places = placement::places(count, self.spacing_metres, &mut SplitMix64::new(self.seed, stream::PLACES));
        let mut phases = SplitMix64::new(self.seed, stream::PHASES);
        let mut ranks = vec![0; self.models.len()];
        let mut rank_in = |model: u32| {
            let next = &mut ranks[model as usize];
            *next += 1;
            *next - 1
        };
        let instance = |(model, place): (u32, Place)| Instance {
            model,
            rank: rank_in(model),
            clip: None,
            phase: if phase == PhaseMode::Random { phases.unit() } else { 0.0 },
            world_from_model: Affine3A::from_scale_rotation_translation(
                Vec3::splat(scales[model as usize]),
                place.rotation(),
                place.position,
            ),
            start_seconds: 0.0,
            pose: 0,
            center_world: Vec3::ZERO,
            radius: 0.0,
        };
        self.instances.extend(model_of_place.into_iter().zip(places).map(instance));
    }

    fn instances_of(&self, model: usize) -> Range<usize> {
        let first = |model: usize| self.instances.partition_point(|instance| (instance.model as usize) < model);
        first(model)..first(model + 1)
    }

    fn measure(&mut self) {
        let Self { models, instances, repertoire, .. } = self;
        let world_boxes = instances.iter().map(|instance| {
            let bounds = repertoire.bounds(models, instance.model as usize, instance.clip);
            bounds.transformed(&instance.world_from_model)
        });
        let Some(all) = world_boxes.reduce(|a, b| a.union(&b)) else { return };
        let center = all.center();
        let reach = |instance: &Instance| {
            let offset = instance.center_world - center;
            offset.x.hypot(offset.z) + instance.radius
        };
        let corner = all.half_extents().x.hypot(all.half_extents().z);
        let footprint_radius = instances.iter().map(reach).fold(0.0, f32::max).min(corner);
        self.bounds = Bounds { min: all.min, max: all.max, footprint_radius };
    }
}

fn check(models: &[Model], settings: &CrowdSettings) -> Result<(), CrowdError> {
    let instances = settings.instance_count;
    if models.is_empty() {
        return Err(CrowdError::NoModels);
    }
    if instances > MAX_INSTANCES {
        return Err(CrowdError::TooManyInstances(instances));
    }
    if let Some(spacing) = settings.spacing_metres
        && !(spacing > 0.0 && spacing.is_finite())
    {
        return Err(CrowdError::Spacing(spacing));
    }
    if let Some(hz) = settings.share_poses_hz
        && !(hz > 0.0 && hz.is_finite())
    {
        return Err(CrowdError::SharedPoses(hz));
    }
    if !settings.speed.is_finite() {
        return Err(CrowdError::Speed(settings.speed));
    }
    // Each instance streams so many elements: whichever of the two arrays is longer needs offsets of 32 bits.
    let elements = models.iter().map(|model| model.palette.len().max(model.morph_weight_count()) as u64);
    let joints = elements.max().unwrap_or(0) * u64::from(instances);
    if joints > u64::from(u32::MAX) {
        return Err(CrowdError::TooManyJoints { instances, joints });
    }
    Ok(())
}

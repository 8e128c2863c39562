//! Many instances of few models: where they stand, what they play, which of them are visible, and their joint matrices
//! and morph weights.
//!
//! A [`Crowd`] is built once from its models and [`CrowdSettings`]. Each frame then takes three calls, of which none
//! allocates once the first frame is over:
//!
//! 1. [`Crowd::cull`] lists the visible instances, grouped by model, and thereby lays out the palette;
//! 2. [`Crowd::evaluate`] writes the joint matrices and morph weights of the visible instances, on all cores;
//! 3. [`Crowd::write_instances`] writes one [`InstanceData`](crate::shader_types::InstanceData) for each of them.
//!
//! Invariants: instances are sorted by model, so a list of instances in ascending order is grouped by model; the k-th
//! visible instance of a model owns `palette.len()` matrices directly after those of the one before it, and its morph
//! weights likewise. Everything is
//! decided by the seed: same settings, same bytes, on any platform and any number of threads.

mod placement;
mod random;
mod scale;
mod settings;
mod update;

use std::ops::Range;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use crate::animation::{PoseScratch, PosedBounds, ground_height, posed_bounds};
use crate::camera::{Bounds, Frustum};
use crate::model::Model;
use placement::Place;
use random::SplitMix64;
use settings::{ModelClips, resolve_clips};
use update::Block;

pub use settings::{ClipChoice, CrowdError, CrowdSettings, PhaseMode};
pub use update::{thread_pool, wrap_seconds};

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
    /// Index into the model's clips; `None` is the rest pose.
    clip: Option<u32>,
    /// Share of the clip's duration at which the instance starts, 0 to 1.
    phase: f32,
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
    /// By model: the rest pose, then each clip; computed when first needed.
    posed_bounds: Vec<Vec<Option<PosedBounds>>>,
    bounds: Bounds,
    ground_height: f32,
    /// Indices of the visible instances, ascending.
    visible: Vec<u32>,
    /// By model.
    visible_counts: Vec<u32>,
    /// For each pose the first of its visible instances, and where the last one's end.
    instance_starts: Vec<u32>,
    visible_joint_count: usize,
    visible_morph_weight_count: usize,
    /// Partition of `visible` into runs of one model.
    blocks: Vec<Block>,
    /// One for each task of an update.
    scratches: Vec<PoseScratch>,
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
            posed_bounds: models.iter().map(|model| vec![None; 1 + model.clips.len()]).collect(),
            ground_height: 0.0,
            bounds: Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5), footprint_radius: 0.5f32.hypot(0.5) },
            visible: Vec::with_capacity(count as usize),
            visible_counts: vec![0; models.len()],
            instance_starts: (0..=count).collect(),
            visible_joint_count: 0,
            visible_morph_weight_count: 0,
            blocks: Vec::with_capacity(Block::most(count as usize, models.len())),
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

    /// Plays other clips from now on. Nobody moves, and what is visible changes with the next [`Crowd::cull`].
    ///
    /// # Errors
    /// [`CrowdError::UnknownClip`], and nothing has changed.
    pub fn set_clip(&mut self, choice: &ClipChoice) -> Result<(), CrowdError> {
        let clips = resolve_clips(&self.models, choice)?;
        self.assign_clips(&clips);
        Ok(())
    }

    /// Lists the instances whose bounding spheres the frustum may hold; `None` lists all. With `to_light`, the unit
    /// vector towards the light, also those whose shadow on the ground it may hold. Order and grouping by model are the
    /// same in every frame.
    pub fn cull(&mut self, frustum: Option<&Frustum>, to_light: Option<Vec3>) {
        let ground_height = self.ground_height();
        self.visible.clear();
        self.visible_counts.fill(0);
        for (index, instance) in self.instances.iter().enumerate() {
            let (center, radius) = (instance.center_world, instance.radius);
            let sees = |frustum: &Frustum| match to_light.filter(|to_light| to_light.y > 0.0) {
                None => frustum.intersects_sphere(center, radius),
                Some(to_light) => {
                    let sweep = to_light * ((ground_height - center.y).min(0.0) / to_light.y);
                    frustum.intersects_swept_sphere(center, sweep, radius)
                }
            };
            if frustum.is_none_or(sees) {
                self.visible.push(index as u32);
                self.visible_counts[instance.model as usize] += 1;
            }
        }
        let count_all = |of_model: fn(&Model) -> usize| {
            let visible = self.visible_counts.iter().zip(self.models.iter());
            visible.map(|(&count, model)| count as usize * of_model(model)).sum()
        };
        self.visible_joint_count = count_all(|model| model.palette.len());
        self.visible_morph_weight_count = count_all(Model::morph_weight_count);
        Block::cut(&self.visible_counts, &mut self.blocks);
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

    /// Number of visible instances of each model: how [`Crowd::write_instances`] groups them.
    #[must_use]
    pub fn visible_counts(&self) -> &[u32] {
        &self.visible_counts
    }

    /// Number of visible poses of each model: what [`Crowd::evaluate`] writes. Every instance has a pose of its own.
    #[must_use]
    pub fn pose_counts(&self) -> &[u32] {
        &self.visible_counts
    }

    /// Where the visible instances of each pose begin, over all models in order, and where the last ones end: pose `p`
    /// belongs to the instances `instance_starts()[p]..instance_starts()[p + 1]` of [`Crowd::write_instances`].
    #[must_use]
    pub fn instance_starts(&self) -> &[u32] {
        &self.instance_starts[..=self.visible.len()]
    }

    /// Length of the palette that [`Crowd::evaluate`] writes.
    #[must_use]
    pub fn visible_joint_count(&self) -> usize {
        self.visible_joint_count
    }

    /// Number of morph weights that [`Crowd::evaluate`] writes.
    #[must_use]
    pub fn visible_morph_weight_count(&self) -> usize {
        self.visible_morph_weight_count
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
            let clip_of = |clip: Option<u32>| clip.and_then(|clip| model.clips.get(clip as usize));
            let mut heights: Vec<f32> =
                clips.candidates().map(|clip| scale * ground_height(model, clip_of(clip))).collect();
            heights.sort_by(f32::total_cmp);
            heights.get(heights.len() / 2).copied()
        });
        own.reduce(f32::min).unwrap_or(0.0)
    }

    /// Computed once for each clip that is played.
    fn posed_bounds(&mut self, model: usize, clip: Option<u32>) -> PosedBounds {
        let slot = clip.map_or(0, |clip| clip as usize + 1);
        *self.posed_bounds[model][slot].get_or_insert_with(|| {
            let model = &self.models[model];
            posed_bounds(model, clip.map(|clip| &model.clips[clip as usize]))
        })
    }

    /// Brings models of other units to a common size; returns each model's scale.
    fn repair_units(&mut self) -> Vec<f32> {
        let model_count = self.models.len();
        let rest: Vec<PosedBounds> = (0..model_count).map(|model| self.posed_bounds(model, None)).collect();
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
            let half_extents = clips.candidates().map(|clip| self.posed_bounds(model, clip).half_extents());
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
        let instance = |(model, place): (u32, Place)| Instance {
            model,
            clip: None,
            phase: if phase == PhaseMode::Random { phases.unit() } else { 0.0 },
            world_from_model: Affine3A::from_scale_rotation_translation(
                Vec3::splat(scales[model as usize]),
                place.rotation(),
                place.position,
            ),
            center_world: Vec3::ZERO,
            radius: 0.0,
        };
        self.instances.extend(model_of_place.into_iter().zip(places).map(instance));
        // Stable: from the middle outwards within each model.
        self.instances.sort_by_key(|instance| instance.model);
    }

    fn assign_clips(&mut self, clips: &[ModelClips]) {
        let mut random = SplitMix64::new(self.seed, stream::CLIPS);
        for (model, &clips) in clips.iter().enumerate() {
            let range = self.instances_of(model);
            let mut deal: Vec<Option<u32>> = clips.candidates().cycle().take(range.len()).collect();
            random.shuffle(&mut deal);
            for (index, clip) in range.zip(deal) {
                let bounds = self.posed_bounds(model, clip);
                let instance = &mut self.instances[index];
                let scale = instance.world_from_model.matrix3.x_axis.length();
                instance.clip = clip;
                instance.center_world = instance.world_from_model.transform_point3(bounds.center());
                instance.radius = bounds.radius() * scale;
            }
        }
        self.measure();
        self.ground_height = self.find_ground(clips);
    }

    fn instances_of(&self, model: usize) -> Range<usize> {
        let first = |model: usize| self.instances.partition_point(|instance| (instance.model as usize) < model);
        first(model)..first(model + 1)
    }

    fn measure(&mut self) {
        let Self { instances, posed_bounds, .. } = self;
        let world_boxes = instances.iter().filter_map(|instance| {
            let slot = instance.clip.map_or(0, |clip| clip as usize + 1);
            posed_bounds[instance.model as usize][slot].map(|bounds| bounds.transformed(&instance.world_from_model))
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

//! Crowds: many instances of few models, their placement, their clips, their visibility and their joint matrices.
//!
//! In: models and [`CrowdSettings`]. Out, in each frame: visible poses, joint matrices, morph weights and
//! [`InstanceData`](crate::shader_types::InstanceData). A frame makes five calls, and in a steady frame none of them
//! allocates:
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

mod crossfade;
mod evaluate;
mod parts;
mod pick;
mod placement;
mod plan;
mod playback;
mod random;
mod scale;
mod scatter;
mod settings;
mod shape;
mod sight;
mod travel;
mod variety;
mod visible;

use std::ops::Range;
use std::sync::Arc;

use glam::{Vec2, Vec3};

use crate::animation::lanes::Processor;
use crate::measure::{PosedBounds, floor_height};
use crate::model::Model;
use crate::view::Bounds;
use crossfade::Crossfade;
use evaluate::Scratch;
use placement::{Placement, line, placements};
use playback::Repertoire;
use random::{SplitMix64, stream};
use settings::{ModelClips, resolve_clips};
use travel::Ring;
use variety::Variation;
use visible::Visible;

pub use crossfade::DEFAULT_FADE_SECONDS;
pub use evaluate::thread_pool;
pub use pick::{InstanceState, Picked, ShownInstance};
pub use placement::Layout;
pub use plan::{
    Batch, FramePlan, InstanceRange, LevelSize, PagePlan, PlanError, PoseSize, TANGENT_BYTES, VERTICES_PER_LINE,
};
pub use playback::{SharingError, wrap_seconds};
pub use settings::{ClipChoice, CrowdError, CrowdSettings, PhaseMode};
pub use sight::{PoseLevels, VisiblePose};

/// The largest number of instances, for the command line as well. The sizes of frames that they need stay far below 2^64, and
/// they take some hundred megabytes on the CPU.
pub const MAX_INSTANCES: u32 = 1_000_000;

/// The room of an instance as a multiple of its model's footprint. Neighbours rarely touch, even after jitter and yaw.
const SPACING_SHARE: f32 = 1.15;

/// One instance.
#[derive(Debug, Clone)]
struct Instance {
    /// Index of the model.
    model: u32,
    /// The rank among all instances, from the centre of the crowd outwards.
    rank: u32,
    /// Index of the clip; `None` is the rest pose.
    clip: Option<u32>,
    /// The share of the clip's duration at which the instance starts, 0 to 1.
    phase: f32,
    /// The time in the clip at which the instance starts. It is rounded if poses are shared.
    start_seconds: f64,
    /// Instances with the same number always show the same pose. Numbers ascend in the order of the instances.
    pose: u32,
    /// The placement at the time 0.
    placement: Placement,
    /// The scale, unless the ring has its own.
    own_scale: f32,
    /// Index of the ring that moves the instance.
    ring: u32,
    /// The multiplier of the base colour: linear RGBA, four unsigned normalised bytes, red lowest.
    tint_unorm8: u32,
    /// The centre of a sphere that contains the instance throughout its clip, at the time 0.
    center_world: Vec3,
    /// The radius of that sphere.
    radius: f32,
}

/// The memory of an instance on the CPU in bytes. Joint matrices are written to GPU memory directly.
pub const INSTANCE_BYTES: usize = size_of::<Instance>();

/// A crowd. See the module.
#[derive(Debug)]
pub struct Crowd {
    models: Arc<[Model]>,
    /// What no other crowd has: in another one, the numbers of instances mean something else.
    pub identity: Arc<()>,
    /// All instances, sorted by model, clip and pose.
    instances: Vec<Instance>,
    /// The index of the instance of each rank.
    index_of_rank: Vec<u32>,
    seed: u64,
    speed: f32,
    layout: Layout,
    variety: f32,
    /// The room of an instance of each model: the distance from a neighbour of the same model.
    widths: Vec<f32>,
    /// The scale of each model that brings it to a common size.
    unit_scales: Vec<f32>,
    travel: bool,
    /// The rings, from the centre outwards. The first one stands still.
    rings: Vec<Ring>,
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
    /// Creates a crowd and places its instances. All of them are visible, in full detail, until the
    /// first [`Crowd::cull`].
    ///
    /// # Errors
    /// There is no model, a setting is out of range, or no model has the clip.
    pub fn new(models: Arc<[Model]>, settings: &CrowdSettings) -> Result<Self, CrowdError> {
        check(&models, settings)?;
        let count = settings.instance_count;
        let mut crowd = Self {
            identity: Arc::default(),
            instances: Vec::with_capacity(count as usize),
            index_of_rank: vec![0; count as usize],
            seed: settings.seed,
            speed: settings.speed,
            layout: settings.layout,
            variety: if settings.layout == Layout::Line { 0.0 } else { settings.variety },
            widths: Vec::new(),
            unit_scales: Vec::new(),
            travel: settings.travel && !settings.in_model_space && settings.layout != Layout::Line,
            rings: travel::standing(),
            notes: Vec::new(),
            share_hz: settings.share_poses_hz,
            repertoire: Repertoire::new(&models),
            crossfade: Crossfade::default(),
            bounds: Bounds { min: Vec3::splat(-0.5), max: Vec3::splat(0.5), footprint_radius: 0.5f32.hypot(0.5) },
            visible: Visible::with_capacity(count as usize, &models),
            processor: Processor::detect(),
            scratches: Vec::new(),
            models,
        };
        crowd.unit_scales = crowd.unit_scales(settings.height_metres);
        let clips = resolve_clips(&crowd.models, &settings.clip)?;
        crowd.notes.extend(settings.clip.substitutes(&crowd.models));
        if settings.travel && settings.layout == Layout::Line {
            crowd.notes.push("instances in a line do not travel; those of other layouts do".to_owned());
        }
        crowd.widths = match settings.spacing_metres {
            Some(metres) => vec![metres; crowd.models.len()],
            None => {
                let share = SPACING_SHARE * variety::largest_size(crowd.variety);
                crowd.footprints(&clips).into_iter().map(|footprint| share * footprint).collect()
            }
        };
        crowd.place_instances(settings, &clips);
        if settings.in_model_space {
            crowd.instances.iter_mut().for_each(|instance| instance.placement = Placement::ORIGIN);
        }
        crowd.assign_clips(&clips, None);
        crowd.show_all();
        Ok(crowd)
    }

    /// Changes the clips at once. The placements stay, and all instances are visible, in full detail, until the next
    /// [`Crowd::cull`]. [`Crowd::crossfade`] blends instead.
    ///
    /// # Errors
    /// [`CrowdError::UnknownClip`]. The crowd is then unchanged.
    pub fn set_clip(&mut self, choice: &ClipChoice) -> Result<(), CrowdError> {
        let clips = resolve_clips(&self.models, choice)?;
        self.crossfade = Crossfade::default();
        self.assign_clips(&clips, None);
        self.show_all();
        Ok(())
    }

    /// Returns the models, in the given order.
    #[must_use]
    pub fn models(&self) -> &Arc<[Model]> {
        &self.models
    }

    /// Returns the number of instances, visible or not.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// Returns the distance between neighbours of the same model in metres, for each model.
    #[must_use]
    pub fn widths_metres(&self) -> &[f32] {
        &self.widths
    }

    /// Returns the layout.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the decisions that the user should know about, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns bounds in the world that contain every instance throughout its clip.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Places the instances. Models are assigned in turn, so that they are equally frequent, and then shuffled, but for a line.
    fn place_instances(&mut self, settings: &CrowdSettings, clips: &[ModelClips]) {
        let count = settings.instance_count;
        let seed = self.seed;
        let random = |stream| SplitMix64::new(seed, stream);
        let mut model_of_rank: Vec<u32> = (0..count).map(|k| k % self.models.len() as u32).collect();
        let places = if settings.layout == Layout::Line {
            let reaches = match settings.spacing_metres {
                Some(metres) => vec![Vec2::splat(0.5 * metres); self.models.len()],
                None => self.reaches(clips),
            };
            line(model_of_rank.iter().map(|&model| reaches[model as usize]))
        } else {
            random(stream::MODELS).shuffle(&mut model_of_rank);
            let widths: Vec<f32> = model_of_rank.iter().map(|&model| self.widths[model as usize]).collect();
            placements(settings.layout, &widths, &mut random(stream::PLACEMENTS))
        };
        // Each model's floor lies on the ground.
        let floors: Vec<f32> = self.models.iter().map(floor_height).collect();
        let (mut phases, mut variations) = (random(stream::PHASES), random(stream::VARIETY));
        let instance = |((rank, model), place): ((u32, u32), Placement)| {
            let Variation { size, tint_unorm8 } = Variation::new(self.variety, &mut variations);
            let own_scale = size * self.unit_scales[model as usize];
            let position = place.position - Vec3::Y * (own_scale * floors[model as usize]);
            Instance {
                model,
                rank,
                clip: None,
                phase: if settings.phase == PhaseMode::Random { phases.unit() } else { 0.0 },
                placement: Placement { position, scale: own_scale, ..place },
                own_scale,
                ring: Ring::STANDING,
                tint_unorm8,
                start_seconds: 0.0,
                pose: 0,
                center_world: Vec3::ZERO,
                radius: 0.0,
            }
        };
        self.instances.extend((0..count).zip(model_of_rank).zip(places).map(instance));
    }

    fn instances_of(&self, model: usize) -> Range<usize> {
        let first = |model: usize| self.instances.partition_point(|instance| (instance.model as usize) < model);
        first(model)..first(model + 1)
    }

    /// Computes the bounds of each instance and of the crowd. The bounding sphere of an instance that blends is around the
    /// boxes of both clips. A blended limb may leave both boxes on its way from one to the other, but not the sphere, which
    /// reaches farther than the boxes in all directions but those of their corners.
    fn measure(&mut self) {
        let Self { models, instances, repertoire, crossfade, .. } = self;
        let world_boxes = instances.iter_mut().map(|instance| {
            let shown = crossfade.clips(instance);
            let [from, to] = [shown.from, shown.to].map(|clip| repertoire.bounds(models, shown.model as usize, clip));
            let bounds = from.union(&to);
            let world_from_model = instance.placement.world_from_model();
            instance.center_world = world_from_model.transform_point3(bounds.center());
            instance.radius = bounds.radius() * instance.placement.scale;
            let placed = bounds.transformed(&world_from_model);
            match instance.ring {
                Ring::STANDING => placed,
                // A ring turns about the origin, and takes its instances everywhere along a circle.
                _ => {
                    let reach = instance.center_world.x.hypot(instance.center_world.z) + instance.radius;
                    let (low, high) = (placed.min.y, placed.max.y);
                    PosedBounds { min: Vec3::new(-reach, low, -reach), max: Vec3::new(reach, high, reach) }
                }
            }
        });
        let Some(all) = world_boxes.reduce(|a, b| a.union(&b)) else { return };
        let center = all.center();
        let reach = |instance: &Instance| {
            let offset = match instance.ring {
                Ring::STANDING => instance.center_world - center,
                // The farthest point of the circle.
                _ => instance.center_world.abs() + center.abs(),
            };
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
    for (what, metres) in [("spacing", settings.spacing_metres), ("height", settings.height_metres)] {
        if let Some(metres) = metres.filter(|metres| !(*metres > 0.0 && metres.is_finite())) {
            return Err(CrowdError::Metres(what, metres));
        }
    }
    if let Some(hz) = settings.share_poses_hz
        && !(hz > 0.0 && hz.is_finite())
    {
        return Err(CrowdError::SharedPoses(hz));
    }
    if !(0.0..=1.0).contains(&settings.variety) {
        return Err(CrowdError::Variety(settings.variety));
    }
    if !settings.speed.is_finite() {
        return Err(CrowdError::Speed(settings.speed));
    }
    // The palette and the morph weights need 32-bit indices, so the longer array decides.
    let elements = models.iter().map(|model| model.palette.len().max(model.morph_weight_count()) as u64);
    let joints = elements.max().unwrap_or(0) * u64::from(instances);
    if joints > u64::from(u32::MAX) {
        return Err(CrowdError::TooManyJoints { instances, joints });
    }
    Ok(())
}

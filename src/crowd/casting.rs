//! How a crowd comes into being: which model each instance has, where it stands, and how large it and the crowd are.
//!
//! In: models and [`CrowdSettings`]. Out: a [`Crowd`]. All of it runs once, or after a change of clips; frames do not use it.

use std::sync::Arc;

use glam::{Vec2, Vec3};

use super::crossfade::Crossfade;
use super::placement::{Layout, Placement, line, placements};
use super::random::{SplitMix64, stream};
use super::repertoire::Repertoire;
use super::settings::{CrowdError, CrowdSettings, ModelClips, PhaseMode, resolve_clips};
use super::travel::{self, GroundOffset, Route};
use super::visible::Visible;
use super::{Crowd, Instance, MAX_INSTANCES, variety};
use crate::animation::lanes::Processor;
use crate::measure::{PosedBounds, standing_point};
use crate::model::Model;
use crate::view::Bounds;

/// The room of an instance as a multiple of its model's footprint. Neighbours rarely touch, even after jitter and yaw.
const SPACING_SHARE: f32 = 1.15;

impl Crowd {
    /// Creates a crowd and places its instances. All of them are visible, in full detail, until the first [`Crowd::cull`].
    ///
    /// # Errors
    /// There is no model, a setting is out of range, or no model has the clip.
    pub fn new(models: Arc<[Model]>, settings: &CrowdSettings) -> Result<Self, CrowdError> {
        check(&models, settings)?;
        let count = settings.instance_count;
        // One character stands where its file has it, if it does not walk around.
        let is_in_place = count == 1 && !settings.travel;
        let stand = |point: Vec3| if is_in_place { Vec3::Y * point.y } else { point };
        let mut crowd = Self {
            identity: Arc::default(),
            instances: Vec::with_capacity(count as usize),
            index_of_rank: vec![0; count as usize],
            seed: settings.seed,
            speed: settings.speed,
            layout: settings.layout,
            variety: if settings.layout == Layout::Line { 0.0 } else { settings.variety },
            widths: Vec::new(),
            stands: models.iter().map(|model| stand(standing_point(model))).collect(),
            unit_scales: Vec::new(),
            travel: !settings.in_model_space
                && (settings.layout == Layout::March || settings.travel && settings.layout != Layout::Line),
            routes: travel::standing(),
            ground_offset: settings.follow.then(GroundOffset::default),
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
        let clips = resolve_clips(&crowd.models, &settings.clip, count as usize > crowd.models.len())?;
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

    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the decisions that the user should know about, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Changes the morph weights that the models hold ([`Skeleton::hold_morph`](crate::model::Skeleton::hold_morph)). Nothing
    /// is copied unless someone else has the models, too. All instances are visible, in full detail, until the next
    /// [`Crowd::cull`].
    pub fn hold_morphs(&mut self, hold: impl FnOnce(&mut [Model])) {
        hold(Arc::make_mut(&mut self.models));
        self.repertoire.forget_morphs();
        self.measure();
        self.show_all();
    }

    /// Places the instances. Models are assigned in turn, by their shares, and then shuffled, but for a line.
    fn place_instances(&mut self, settings: &CrowdSettings, clips: &[ModelClips]) {
        let count = settings.instance_count;
        let random = |stream| SplitMix64::new(settings.seed, stream);
        let shares = |(model, index): (&Model, u32)| std::iter::repeat_n(index, model.source.casting.shares as usize);
        let mut model_of_rank: Vec<u32> =
            self.models.iter().zip(0..).flat_map(shares).cycle().take(count as usize).collect();
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
        let colorfulness: Vec<f32> = self.models.iter().map(variety::colorfulness).collect();
        let (mut phases, mut variations) = (random(stream::PHASES), random(stream::VARIETY));
        let instance = |((rank, model), place): ((u32, u32), Placement)| {
            let own_scale = variety::size(self.variety, &mut variations) * self.unit_scales[model as usize];
            Instance {
                model,
                rank,
                clip: None,
                clip_before: None,
                phase: if settings.phase == PhaseMode::Random { phases.unit() } else { 0.0 },
                placement: place.standing(self.stands[model as usize], own_scale),
                own_scale,
                route: Route::STANDING,
                tint_unorm8: variety::tint_unorm8(self.variety, colorfulness[model as usize], &mut variations),
                start_seconds: 0.0,
                pose: 0,
                center_world: Vec3::ZERO,
                radius: 0.0,
            }
        };
        self.instances.extend((0..count).zip(model_of_rank).zip(places).map(instance));
    }

    /// Computes the bounds of each instance and of the crowd. The bounding sphere of an instance that blends is around the
    /// boxes of both clips. A blended limb may leave both boxes on its way from one to the other, but not the sphere, which
    /// reaches farther than the boxes in all directions but those of their corners.
    pub(super) fn measure(&mut self) {
        let Self { models, instances, repertoire, routes, .. } = self;
        let world_boxes = instances.iter_mut().map(|instance| {
            let shown = instance.clips();
            let [from, to] = [shown.from, shown.to].map(|clip| repertoire.bounds(models, shown.model as usize, clip));
            let bounds = from.union(&to);
            let world_from_model = instance.placement.world_from_model();
            instance.center_world = world_from_model.transform_point3(bounds.center());
            instance.radius = bounds.radius() * instance.placement.scale;
            let placed = bounds.transformed(&world_from_model);
            let reach = routes[instance.route as usize].reach(instance) + instance.radius;
            match instance.route {
                Route::STANDING => placed,
                _ => PosedBounds { min: (-reach).with_y(placed.min.y), max: reach.with_y(placed.max.y) },
            }
        });
        let Some(all) = world_boxes.reduce(|a, b| a.union(&b)) else { return };
        let center = all.center();
        let reach = |instance: &Instance| {
            let offset = match instance.route {
                Route::STANDING => instance.center_world - center,
                // The farthest point of the way.
                _ => routes[instance.route as usize].reach(instance) + center.abs(),
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
    let refused = |setting: String, range| Err(CrowdError::OutOfRange(setting, range));
    let is_positive = |number: f64| number > 0.0 && number.is_finite();
    for (what, metres) in [("spacing", settings.spacing_metres), ("height", settings.height_metres)] {
        if let Some(metres) = metres.filter(|metres| !is_positive((*metres).into())) {
            return refused(format!("a {what} of {metres} metres"), "positive number");
        }
    }
    if let Some(hz) = settings.share_poses_hz.filter(|hz| !is_positive(*hz)) {
        return refused(format!("{hz} shared poses a second"), "positive number");
    }
    if !(0.0..=1.0).contains(&settings.variety) {
        return refused(format!("a variety of {}", settings.variety), "number from 0 to 1");
    }
    if !settings.speed.is_finite() {
        return refused(format!("a speed of {}", settings.speed), "finite number");
    }
    // The palette and the morph weights need 32-bit indices, so the longer array decides.
    let elements = models.iter().map(|model| model.palette.len().max(model.morph_weight_count()) as u64);
    let joints = elements.max().unwrap_or(0) * u64::from(instances);
    if joints > u64::from(u32::MAX) {
        return Err(CrowdError::TooManyJoints { instances, joints });
    }
    Ok(())
}

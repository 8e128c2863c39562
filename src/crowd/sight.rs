//! What the views of a frame see of one instance, and the elements of the lists that follow from it.
//!
//! In: an instance and the [`Views`]. Out: a [`Sight`], which says whether the camera or the light shows the instance, and in
//! which level of detail.

use glam::Vec4;

use super::playback::ClipPair;
use super::{Instance, Route};
use crate::view::{Detail, Frustum};

/// The coarsest level that a [`Sight`] can name. Models have far fewer levels.
pub(super) const COARSEST: usize = 254;

/// The levels of detail in which the instances of a pose are drawn; 0 is full detail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoseLevels {
    pub camera: u32,
    /// The level in the shadow map.
    pub light: u32,
}

impl PoseLevels {
    /// Returns the finer one of both levels. Its vertices are skinned, and those of the other level are among them.
    pub fn finest(self) -> u32 {
        self.camera.min(self.light)
    }
}

/// Returns the coarsest level whose error, times the scale of the instance, is allowed. `errors` are those of the coarser levels
/// in units of model space, in ascending order, four at a time, filled up with NaN. If no error is allowed, the level is 0,
/// although another level may be exact. There is no branch on the errors, because it would be mispredicted.
fn coarsest_within(errors: &[Vec4], scale: f32, allowed_metres: f32) -> u8 {
    let are_within = |errors: &Vec4| (errors * scale).cmple(Vec4::splat(allowed_metres));
    let count: u32 = errors.iter().map(|errors| are_within(errors).bitmask().trailing_ones()).sum();
    if allowed_metres > 0.0 { count as u8 } else { 0 }
}

/// A pose that at least one visible instance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisiblePose {
    pub model: u32,
    pub levels: PoseLevels,
    /// The number of its instances that the camera may see.
    pub seen_count: u32,
    /// The number of its instances of which only the shadow may be visible.
    pub shadow_only_count: u32,
    /// Whether a morph target may be active. Other poses have no morph weights.
    pub has_morphs: bool,
    /// The first of its visible instances. Clip and start time are those of the pose.
    pub(super) instance: u32,
    pub(super) run: u32,
}

impl VisiblePose {
    /// Returns a pose in full detail, for a frame plan without a crowd. [`Crowd::evaluate`](super::Crowd::evaluate) does not
    /// accept it.
    pub fn new(model: u32, seen_count: u32, shadow_only_count: u32) -> Self {
        let levels = PoseLevels::default();
        Self { model, levels, seen_count, shadow_only_count, has_morphs: true, instance: u32::MAX, run: u32::MAX }
    }

    pub fn with_levels(self, camera: u32, light: u32) -> Self {
        Self { levels: PoseLevels { camera, light }, ..self }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VisibleInstance {
    pub instance: u32,
    /// Index of its pose among the visible poses.
    pub pose: u32,
}

/// Consecutive instances of one model that show the same clips.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub clips: ClipPair,
    pub end: u32,
    pub has_morphs: bool,
}

/// The part of an instance that the views decide: whether it is visible, and in which levels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight {
    pub pose: u32,
    /// The levels that the instance needs in the camera's view and in the light's; 255 if the view does not show it; the
    /// pose then takes the level of the other view.
    pub levels: [u8; 2],
    /// Whether the camera may see the instance.
    pub is_seen: bool,
    /// Whether the camera may see the instance or its shadow.
    pub is_visible: bool,
}

/// The views of a frame, and the instances before them.
pub(super) struct Views<'a> {
    pub instances: &'a [Instance],
    pub routes: &'a [Route],
    pub errors: &'a [Vec<Vec4>],
    pub frustum: Option<&'a Frustum>,
    /// The frustum, and all that may shade a point of it.
    pub casters: Option<Frustum>,
    pub has_shadows: bool,
    pub detail: &'a Detail,
}

impl Views<'_> {
    #[inline]
    pub fn sight(&self, instance: &Instance) -> Sight {
        let center = self.routes[instance.route as usize].moved(instance.center_world, &instance.placement);
        let (radius, errors) = (instance.radius, &self.errors[instance.model as usize]);
        let is_seen = self.frustum.is_none_or(|frustum| frustum.intersects_sphere(center, radius));
        let reach = radius + self.detail.shadow_reach_metres;
        let is_visible =
            is_seen || self.casters.as_ref().is_some_and(|casters| casters.intersects_sphere(center, reach));
        let level = |is_shown: bool, allowed_metres: f32| {
            if is_shown { coarsest_within(errors, instance.placement.scale, allowed_metres) } else { u8::MAX }
        };
        let camera = level(is_seen, self.detail.error_metres_in_view(center, radius));
        let light = level(is_visible && self.has_shadows, self.detail.shadow_error_metres);
        Sight { pose: instance.pose, levels: [camera, light], is_seen, is_visible }
    }
}

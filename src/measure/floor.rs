//! The floor of a model: the height, in model space, that belongs on the ground; and the point on it that belongs at the place
//! of an instance.
//!
//! glTF has no floor. Most authors put the soles of their characters at y = 0 of the scene, so y = 0 is the first
//! choice, and the lowest point of the rest pose is the second. A clip never decides alone, because a character may jump
//! in it, fall, or swing a weapon below its feet. So a model has one floor, and it does not move when the clip changes.
//!
//! y = 0 is the floor if one of these holds:
//!
//! 1. The rest pose ends there, within [`NEAR_SHARE`] of its height.
//! 2. The rest pose goes below it with an attachment only: with a small part of its surface and of its joints
//!    ([`ATTACHMENT_SHARE`]), while more surface faces down at y = 0 than at the lowest point. A sword below the feet is such a
//!    part. The feet of a model that was moved down are not, since no soles are left at y = 0. Nor are thin legs, which have
//!    many joints.
//! 3. The rest pose ends above it, and some clip comes down to it: a drone that hovers, and lands.
//! 4. The clips come closer to it than to the lowest point of the rest pose, as the median of their lowest points.
//!
//! Otherwise the lowest point of the rest pose is the floor. One exception remains: if all clips, at all times, sink into
//! that floor with more than an attachment, the floor is the median of their lowest points.
//!
//! Feet may still sink into the floor in a clip. In some files the joints themselves go there: for a few frames of a run by 4
//! to 12 % of the height, and in a leap by up to a third. The floor does not follow: the same feet stand on it at other times.

use glam::Vec3;

use super::{PosedBounds, box_around, extent, posed_triangles, rest_positions};
use crate::animation::{PoseScratch, pose_model, skinned_positions};
use crate::model::{Clip, Model};

/// The largest distance between a floor and a sole on it, as a share of the height of the rest pose.
const NEAR_SHARE: f32 = 0.01;
/// The largest share of the surface that attachments below the floor may have, and of the joints, unless it is one joint.
const ATTACHMENT_SHARE: f32 = 0.1;
/// The number of times at which each clip is sampled, first and last included.
const SAMPLES: u32 = 8;
/// The largest number of vertices that are skinned for one model. Clips are left out evenly to stay below.
const MAX_VERTICES: usize = 4_000_000;

/// Returns the height of the floor of `model` in model space. It is finite, and 0 if there is nothing to draw.
pub fn floor_height(model: &Model) -> f32 {
    let mut surface = PosedSurface::new(model);
    surface.pose(None, 0.0);
    let (lowest, highest) = extent(&surface.positions);
    let near = NEAR_SHARE * (highest - lowest);
    if !(lowest.is_finite() && near.is_finite()) {
        return 0.0;
    }
    let is_origin = lowest.abs() <= near
        || lowest < 0.0
            && surface.only_attachments_below(-near)
            && surface.support(0.0, near) > surface.support(lowest, near)
        || {
            let clips = surface.lowest_of_clips();
            lowest > 0.0 && clips.iter().any(|height| height.abs() <= near)
                || median(clips).is_some_and(|median| median.abs() < (median - lowest).abs())
        };
    let floor = if is_origin { 0.0 } else { lowest };
    if surface.every_clip_sinks_below(floor - near) {
        median(surface.lowest_of_clips()).filter(|height| height.is_finite()).unwrap_or(floor)
    } else {
        floor
    }
}

/// The largest distance of a sole from the floor in the rest pose, as a share of the height of the rest pose.
pub(super) const SOLE_SHARE: f32 = 0.05;

/// Returns the point of `model`, in model space, that belongs at the place of an instance, which turns around it: on the floor,
/// in the middle of what stands there in the rest pose, or of the whole body if nothing does. The origin of the file is this
/// point if it is near that middle or that of the body, because its author put it there.
pub fn standing_point(model: &Model) -> Vec3 {
    let floor = floor_height(model);
    let positions = rest_positions(model);
    let Some(body) = box_around(&positions) else { return Vec3::Y * floor };
    let near = SOLE_SHARE * (body.max.y - body.min.y);
    let stands = box_around(positions.iter().filter(|position| (position.y - floor).abs() <= near)).unwrap_or(body);
    let is_origin_near = |part: PosedBounds| {
        let (center, room) = (part.center().abs(), 0.5 * part.half_extents() + near);
        center.x <= room.x && center.z <= room.z
    };
    let is_origin = is_origin_near(stands) || is_origin_near(body) || !stands.center().is_finite();
    if is_origin { Vec3::Y * floor } else { stands.center().with_y(floor) }
}

/// Returns the middle value; of an even number, the greater one of the middle two.
fn median(mut values: Vec<f32>) -> Option<f32> {
    values.sort_unstable_by(f32::total_cmp);
    values.get(values.len() / 2).copied()
}

/// The surface of a model in one pose at a time.
struct PosedSurface<'m> {
    model: &'m Model,
    scratch: PoseScratch,
    /// The heights of the joints, and of the nodes of rigid meshes, in the current pose.
    joints: Vec<f32>,
    /// The vertices in the current pose, in model space. Those of a tail are not below all others.
    positions: Vec<Vec3>,
    /// Whether a vertex follows a tail.
    is_tail: Vec<bool>,
}

impl<'m> PosedSurface<'m> {
    fn new(model: &'m Model) -> Self {
        let Model { skeleton, palette, geometry, .. } = model;
        let is_named =
            |node: usize| skeleton.names.get(node).is_some_and(|name| name.to_ascii_lowercase().contains("tail"));
        let mut is_tail = vec![false; skeleton.len()];
        for node in 0..is_tail.len() {
            is_tail[node] = is_named(node) || skeleton.parent(node).is_some_and(|parent| is_tail[parent]);
        }
        let strongest = |&first: &u32| palette.nodes.get(geometry.influences.get(first as usize)?.joint as usize);
        let follows = |first| strongest(first).is_some_and(|&node| is_tail[node as usize]);
        let is_tail = geometry.influence_starts.iter().take(geometry.vertex_count()).map(follows).collect();
        let scratch = PoseScratch::for_model(model);
        Self { model, scratch, joints: Vec::new(), positions: Vec::new(), is_tail }
    }

    fn pose(&mut self, clip: Option<&Clip>, time_seconds: f64) {
        let pose = pose_model(self.model, clip, time_seconds, &mut self.scratch);
        self.joints.clear();
        let height = |&node: &u32| pose.model_from_node[node as usize].translation.y;
        self.joints.extend(self.model.palette.nodes.iter().map(height));
        skinned_positions(self.model, pose, &mut self.positions);
        let others = self.positions.iter().zip(&self.is_tail).filter(|(_, is_tail)| !**is_tail);
        let lowest = others.map(|(position, _)| position.y).fold(f32::INFINITY, f32::min);
        for (position, _) in self.positions.iter_mut().zip(&self.is_tail).filter(|(_, is_tail)| **is_tail) {
            position.y = if lowest.is_finite() { position.y.max(lowest) } else { position.y };
        }
    }

    fn clips(&self) -> impl Iterator<Item = &'m Clip> + use<'m> {
        let most = (MAX_VERTICES / (SAMPLES as usize * self.model.geometry.vertex_count().max(1))).max(1);
        self.model.clips.iter().step_by(self.model.clips.len().div_ceil(most).max(1))
    }

    fn lowest_of_clips(&mut self) -> Vec<f32> {
        let clips = self.clips();
        let lowest = |clip: &Clip| {
            sample_times(clip).fold(f32::INFINITY, |lowest, time_seconds| {
                self.pose(Some(clip), time_seconds);
                lowest.min(extent(&self.positions).0)
            })
        };
        clips.map(lowest).collect()
    }

    /// Returns whether more than attachments are below `height` at all times of all clips; no, if there is no clip.
    fn every_clip_sinks_below(&mut self, height: f32) -> bool {
        let mut clips = self.clips().peekable();
        clips.peek().is_some()
            && clips.all(|clip| {
                sample_times(clip).all(|time_seconds| {
                    self.pose(Some(clip), time_seconds);
                    !self.only_attachments_below(height)
                })
            })
    }

    /// Returns whether the part of the surface below `height` is small and has few joints. A triangle is where its centroid is.
    fn only_attachments_below(&self, height: f32) -> bool {
        let joints_below = self.joints.iter().filter(|joint| **joint < height).count() as f32;
        if joints_below > (ATTACHMENT_SHARE * self.joints.len() as f32).max(1.0) {
            return false;
        }
        let (mut all, mut below) = (0.0, 0.0);
        for [a, b, c] in posed_triangles(&self.model.geometry, &self.positions) {
            let area = (b - a).cross(c - a).length();
            all += area;
            below += if (a.y + b.y + c.y) / 3.0 < height { area } else { 0.0 };
        }
        below <= ATTACHMENT_SHARE * all
    }

    /// Returns the area, projected onto the ground, of the triangles that face down and lie within `near` of `height`.
    fn support(&self, height: f32, near: f32) -> f32 {
        let lies_there = |corner: &Vec3| (corner.y - height).abs() <= near;
        let triangles =
            posed_triangles(&self.model.geometry, &self.positions).filter(|triangle| triangle.iter().all(lies_there));
        triangles.map(|[a, b, c]| (-0.5 * (b - a).cross(c - a).y).max(0.0)).sum()
    }
}

fn sample_times(clip: &Clip) -> impl Iterator<Item = f64> + use<> {
    let duration_seconds = f64::from(clip.duration_seconds);
    (0..SAMPLES).map(move |sample| duration_seconds * f64::from(sample) / f64::from(SAMPLES - 1))
}

//! Travel: instances that walk go along concentric rings around the crowd's centre, at the speed that their feet imply.
//!
//! In: the clip of each instance. Out: places on rings, and in each frame one rotation for each ring. A position is a
//! function of the time alone, so frames can be drawn in any order. In a crossfade the rings change their speed, if all
//! instances can stay on them. Otherwise the instances are placed again.
//!
//! Each ring has one model, one clip and one size. All of its instances are therefore equally fast, the ring turns as a
//! whole, and no instance overtakes another one. Slow rings lie inside, and instances whose clip goes nowhere stand in the
//! centre, in the crowd's layout.
//!
//! A body that walks along a circle turns, and its feet, which stand next to the circle or ahead of its centre, slide a
//! little. The slide is inversely proportional to the radius, so the innermost ring is large ([`RADIUS_BY_STANCE`]).

use std::f64::consts::TAU;

use glam::{DVec2, Vec2, Vec3, Vec3Swizzles};

use super::placement::{Placement, on_ring, placements, ring_capacity, turned};
use super::playback::clip_of;
use super::random::{SplitMix64, stream};
use super::{Crowd, Instance, variety};
use crate::measure::Gait;

/// The smallest radius of a ring as a multiple of the distance between the feet and the line of travel. A foot then slides
/// less than 1 % of a stride.
const RADIUS_BY_STANCE: f32 = 100.0;
/// The largest radius of the innermost ring in spacings. A model that straddles gets no larger one, although it slides.
const MAX_INNER_RADIUS: f32 = 10.0;

/// A ring of instances that move together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    /// Turns about +Y for each unit of model space that the gait goes.
    turns_per_unit: f64,
    /// The direction of the gait in model space, for which the instances were placed.
    forward: Vec2,
    pace: Pace,
    /// The cosine and the sine of the current turn.
    pub turn: Vec2,
}

/// The turn of a ring as a function of the time. Its speed may change, evenly for a while, so the turn has no jump.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// The time at which the speed begins to change, and the turns at that time.
    start_seconds: f64,
    turns: f64,
    /// The duration of the change.
    change_seconds: f64,
    /// Turns for each second, before and after the change.
    before: f64,
    after: f64,
}

impl Pace {
    /// Returns the turns until a time.
    fn turns_at(&self, time_seconds: f64) -> f64 {
        let elapsed = time_seconds - self.start_seconds;
        // The mean speed of the change is reached in its middle.
        let changing = elapsed.clamp(0.0, self.change_seconds);
        let share = if self.change_seconds > 0.0 { changing / self.change_seconds } else { 1.0 };
        let mean = self.before + 0.5 * share * (self.after - self.before);
        let steady = if elapsed < 0.0 { self.before * elapsed } else { self.after * (elapsed - changing) };
        self.turns + mean * changing + steady
    }

    fn speed_at(&self, time_seconds: f64) -> f64 {
        let elapsed = time_seconds - self.start_seconds;
        let share = if self.change_seconds > 0.0 { (elapsed / self.change_seconds).clamp(0.0, 1.0) } else { 1.0 };
        if elapsed < 0.0 { self.before } else { self.before + share * (self.after - self.before) }
    }
}

/// The way over the ground of a body that the camera follows: its clip carries it away ([`Clip::drift`](crate::model::Clip)).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct GroundOffset {
    start_seconds: f64,
    start_metres: DVec2,
    /// Metres of x and z for each second.
    velocity: DVec2,
}

impl Ring {
    /// The index of the ring of all instances that stand.
    pub const STANDING: u32 = 0;

    fn new(turns_per_unit: f64, forward: Vec2, turns_per_second: f64) -> Self {
        let pace = Pace { before: turns_per_second, after: turns_per_second, ..Pace::default() };
        Self { turns_per_unit, forward, pace, turn: Vec2::X }
    }

    /// Turns the ring to its place at a time.
    fn turn_to(&mut self, time_seconds: f64) {
        let turns = self.pace.turns_at(time_seconds);
        // Whole turns are dropped before the number is rounded to 32 bits. Infinite times stand still.
        let radians = if turns.is_finite() { (turns - turns.floor()) * TAU } else { 0.0 };
        self.turn = DVec2::from_angle(radians).as_vec2();
    }

    /// Whether instances with another gait can stay where they are: they stand, or go in the same direction.
    fn fits(&self, gait: Gait) -> bool {
        /// The largest sine between the directions.
        const LARGEST_SINE: f32 = 0.05;
        let velocity = gait.velocity;
        let is_ahead = velocity.dot(self.forward) > 0.0
            && velocity.perp_dot(self.forward).abs() <= LARGEST_SINE * velocity.length();
        velocity == Vec2::ZERO || is_ahead
    }
}

/// Returns the ring of those that stand, alone.
pub(super) fn standing() -> Vec<Ring> {
    vec![Ring::new(0.0, Vec2::ZERO, 0.0)]
}

impl Crowd {
    /// Moves the instances that travel to their places at a time since the start. Without [`travel`] nothing moves.
    /// Also forgets a crossfade that has ended at this time: all instances are then visible until the next [`Crowd::cull`].
    /// Call it before [`Crowd::cull`].
    ///
    /// [`travel`]: super::CrowdSettings::travel
    pub fn move_to(&mut self, time_seconds: f64) {
        self.end_crossfade(time_seconds);
        self.rings.iter_mut().for_each(|ring| ring.turn_to(time_seconds));
    }

    /// Returns how far the body that the camera follows has gone over the ground at a time: x and z. It stays where it is, and
    /// the ground goes by.
    pub fn ground_metres(&self, time_seconds: f64) -> DVec2 {
        let GroundOffset { start_seconds, start_metres, velocity } = self.ground_offset.unwrap_or_default();
        start_metres + velocity * (time_seconds - start_seconds)
    }

    /// Notes the clip of the body that the camera follows, from a time on.
    pub(super) fn follow(&mut self, start_seconds: f64) {
        let (Some(_), Some(instance)) = (self.ground_offset, self.instances.first()) else { return };
        let start_metres = self.ground_metres(start_seconds);
        let clip = clip_of(&self.models[instance.model as usize], instance.clip);
        let velocity = clip.map_or(Vec2::ZERO, |clip| clip.drift / clip.duration_seconds);
        let velocity = turned(Vec3::new(velocity.x, 0.0, velocity.y), instance.placement.heading);
        let velocity = (velocity.xz() * instance.placement.scale).as_dvec2() * f64::from(self.speed);
        self.ground_offset = Some(GroundOffset {
            start_seconds,
            start_metres,
            velocity: velocity.map(|v| if v.is_finite() { v } else { 0.0 }),
        });
    }

    /// Places the instances by their clips: those that walk on rings, and the others in the layout.
    pub(super) fn arrange(&mut self) {
        let Self { models, instances, repertoire, .. } = self;
        instances.sort_unstable_by_key(|instance| instance.rank);
        let mut gait_of = |instance: &Instance| repertoire.gait(models, instance.model as usize, instance.clip);
        let gaits = instances.iter().enumerate().map(|(index, instance)| (gait_of(instance), index));
        let (standing, mut moving): (Vec<_>, Vec<_>) = gaits.partition(|(gait, _)| gait.velocity == Vec2::ZERO);

        let mut random = SplitMix64::new(self.seed, stream::PLACEMENTS);
        let width = |index: usize| self.widths[self.instances[index].model as usize];
        let widths: Vec<f32> = standing.iter().map(|&(_, index)| width(index)).collect();
        let places = placements(self.layout, &widths, &mut random);
        // The outer edge of what is placed.
        let mut edge = 0.0f32;
        for (((_, index), place), width) in standing.into_iter().zip(places).zip(widths) {
            edge = edge.max(place.position.length() + 0.5 * width);
            let scale = self.instances[index].own_scale;
            self.put(index, place, scale, Ring::STANDING);
        }

        self.rings = self::standing();
        let unit_scales = std::mem::take(&mut self.unit_scales);
        let key = |&(gait, index): &(Gait, usize)| {
            let Instance { model, clip, rank, .. } = self.instances[index];
            (f64::from(unit_scales[model as usize] * gait.velocity.length()).to_bits(), model, clip, rank)
        };
        moving.sort_by_cached_key(key);
        let mut random = SplitMix64::new(self.seed, stream::RINGS);
        let clip = |&(_, index): &(Gait, usize)| (self.instances[index].model, self.instances[index].clip);
        let of_one_clip: Vec<&[(Gait, usize)]> = moving.chunk_by(|a, b| clip(a) == clip(b)).collect();
        for instances in of_one_clip {
            let (gait, first) = instances[0];
            let unit_scale = unit_scales[self.instances[first].model as usize];
            let stance = gait.stance * unit_scale * variety::largest_size(self.variety);
            let spacing = self.widths[self.instances[first].model as usize];
            let least = (RADIUS_BY_STANCE * stance).min(MAX_INNER_RADIUS * spacing);
            let mut radius = (edge + 0.5 * spacing).max(least).max(spacing);
            let mut left = instances;
            for count in shares(instances.len(), radius, spacing) {
                let (own, rest) = left.split_at(count);
                left = rest;
                let scale = unit_scale * variety::size(self.variety, &mut random);
                // Neighbouring rings go opposite ways.
                let way = if self.rings.len().is_multiple_of(2) { 1.0 } else { -1.0 };
                let turns_per_unit = f64::from(way * scale) / (TAU * f64::from(radius));
                let speed = turns_per_unit * f64::from(gait.velocity.length()) * f64::from(self.speed);
                let ring = self.rings.len() as u32;
                self.rings.push(Ring::new(turns_per_unit, gait.velocity.normalize_or_zero(), speed));
                let forward = gait.velocity.x.atan2(gait.velocity.y);
                let yaw_radians = way * std::f32::consts::FRAC_PI_2 - forward;
                let first_radians = random.unit() * TAU as f32;
                for (&(_, index), place) in own.iter().zip(on_ring(count, radius, first_radians, yaw_radians)) {
                    self.put(index, place, scale, ring);
                }
                edge = radius + 0.5 * spacing;
                radius += spacing;
            }
        }
        self.unit_scales = unit_scales;
    }

    /// Changes the speed of each ring to the gait of the clip that its instances have now, evenly for `change_seconds`, so
    /// that no instance jumps. Returns `false`, and changes nothing, if the instances cannot stay on their rings: those of
    /// one ring play clips with different gaits, turn elsewhere, or stood and now walk.
    pub(super) fn change_pace(&mut self, time_seconds: f64, change_seconds: f64) -> bool {
        let Self { models, instances, repertoire, rings, speed, .. } = self;
        let mut gaits: Vec<Option<Gait>> = vec![None; rings.len()];
        for instance in instances {
            let ring = instance.ring as usize;
            let gait = repertoire.gait(models, instance.model as usize, instance.clip);
            if !rings[ring].fits(gait) || gaits[ring].is_some_and(|known| known != gait) {
                return false;
            }
            gaits[ring] = Some(gait);
        }
        for (ring, gait) in rings.iter_mut().zip(gaits) {
            let gait = gait.unwrap_or_default();
            ring.pace = Pace {
                start_seconds: time_seconds,
                turns: ring.pace.turns_at(time_seconds),
                change_seconds,
                before: ring.pace.speed_at(time_seconds),
                after: ring.turns_per_unit * f64::from(gait.velocity.length()) * f64::from(*speed),
            };
        }
        true
    }

    fn put(&mut self, index: usize, place: Placement, scale: f32, ring: u32) {
        let instance = &mut self.instances[index];
        instance.placement = place.standing(self.stands[instance.model as usize], scale);
        instance.ring = ring;
    }
}

/// Divides instances among rings, the first of which has this radius: as few rings as possible, equally dense.
fn shares(count: usize, radius: f32, spacing: f32) -> Vec<usize> {
    let mut capacities = Vec::new();
    let mut all = 0;
    while all < count {
        capacities.push(ring_capacity(radius + capacities.len() as f32 * spacing, spacing));
        all += capacities[capacities.len() - 1];
    }
    let (mut before, mut dealt) = (0, 0);
    let share = |capacity| {
        before += capacity;
        let until = (before as u64 * count as u64 / all as u64) as usize;
        until - std::mem::replace(&mut dealt, until)
    };
    capacities.into_iter().map(share).collect()
}

//! Travel: instances that walk go along routes, at the speed that their feet imply: concentric rings around the crowd's centre, or
//! the rows of a street.
//!
//! In: the clip of each instance. Out: places on routes, and in each frame one turn and one way for each route. A position is a
//! function of the time alone, so frames can be drawn in any order. In a crossfade the routes change their speed, if all
//! instances can stay on them. Otherwise the instances are placed again.
//!
//! Each route has one model, one clip and one size. All of its instances are therefore equally fast, the route moves as a
//! whole, and no instance overtakes another one. Of each model, slow rings lie inside, the rings of several models alternate,
//! and instances whose clip goes nowhere stand in the centre, in the crowd's layout. An instance that leaves a street at one
//! end enters it at the other one.
//!
//! A body that walks along a circle turns, and its feet, which stand next to the circle or ahead of its centre, slide a
//! little. The slide is inversely proportional to the radius, so the innermost ring is large ([`RADIUS_BY_STANCE`]).

use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, PI};
use std::f64::consts::TAU;

use glam::{DVec2, Vec2, Vec3, Vec3Swizzles};

use super::placement::{JITTER, Layout, Placement, on_ring, placements, ring_capacity, turned};
use super::playback::clip_of;
use super::random::{SplitMix64, stream};
use super::{Crowd, Instance, variety};
use crate::measure::Gait;

/// The smallest radius of a ring as a multiple of the distance between the feet and the line of travel. A foot then slides
/// less than 1 % of a stride.
const RADIUS_BY_STANCE: f32 = 100.0;
/// The largest radius of the innermost ring in spacings. A model that straddles gets no larger one, although it slides.
const MAX_INNER_RADIUS: f32 = 10.0;

/// The largest length of a street as a multiple of its width.
const STREET_SHARE: f32 = 3.0;

/// A ring or a row of instances that move together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    /// Turns about +Y, or lengths of the street, for each unit of model space that the gait goes.
    laps_per_unit: f64,
    /// The direction of the gait in model space, for which the instances were placed.
    forward: Vec2,
    pace: Pace,
    /// The cosine and the sine of the current turn.
    turn: Vec2,
    /// The length of the street, and how far along it, to +Z, the row has gone. Both are 0 for a ring.
    length_metres: f32,
    way_metres: f32,
}

/// The laps of a route as a function of the time. Its speed may change, evenly for a while, so no place jumps.
#[derive(Debug, Clone, Copy, Default)]
struct Pace {
    /// The time at which the speed begins to change, and the laps at that time.
    start_seconds: f64,
    laps: f64,
    change_seconds: f64,
    /// Laps for each second, before and after the change.
    before: f64,
    after: f64,
}

impl Pace {
    fn laps_at(&self, time_seconds: f64) -> f64 {
        let elapsed = time_seconds - self.start_seconds;
        // The mean speed of the change is reached in its middle.
        let changing = elapsed.clamp(0.0, self.change_seconds);
        let share = if self.change_seconds > 0.0 { changing / self.change_seconds } else { 1.0 };
        let mean = self.before + 0.5 * share * (self.after - self.before);
        let steady = if elapsed < 0.0 { self.before * elapsed } else { self.after * (elapsed - changing) };
        self.laps + mean * changing + steady
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

impl Route {
    /// The index of the route of all instances that stand.
    pub const STANDING: u32 = 0;

    /// Returns a ring, or with a length the row of a street, whose instances go by a velocity in model space, with a scale.
    fn new(laps_per_unit: f64, velocity: Vec2, speed: f32, length_metres: f32) -> Self {
        let laps_per_second = laps_per_unit * f64::from(velocity.length()) * f64::from(speed);
        let pace = Pace { before: laps_per_second, after: laps_per_second, ..Pace::default() };
        let forward = velocity.normalize_or_zero();
        Self { laps_per_unit, forward, pace, turn: Vec2::X, length_metres, way_metres: 0.0 }
    }

    fn move_to(&mut self, time_seconds: f64) {
        let laps = self.pace.laps_at(time_seconds);
        // Whole laps are dropped before the number is rounded to 32 bits. Infinite times stand still.
        let lap = if laps.is_finite() { laps - laps.floor() } else { 0.0 };
        if self.length_metres > 0.0 {
            self.way_metres = lap as f32 * self.length_metres;
        } else {
            self.turn = DVec2::from_angle(lap * TAU).as_vec2();
        }
    }

    /// Returns where a point of an instance is, from where it is at the time 0.
    #[inline]
    pub fn moved(&self, point: Vec3, placement: &Placement) -> Vec3 {
        let turned = turned(point, self.turn);
        let end = 0.5 * self.length_metres;
        // Less than a length from one end of the street to the other.
        let has_left = placement.position.z + self.way_metres > end;
        turned.with_z(turned.z + (self.way_metres - if has_left { self.length_metres } else { 0.0 }))
    }

    /// Returns the placement of an instance, from the one at the time 0.
    #[inline]
    pub fn placed(&self, placement: Placement) -> Placement {
        Placement { position: self.moved(placement.position, &placement), ..placement.turned(self.turn) }
    }

    /// Returns how far from the origin the centre of an instance may come, along each axis.
    pub fn reach(&self, instance: &Instance) -> Vec3 {
        let center = instance.center_world;
        match self.length_metres {
            0.0 => Vec3::new(center.x.hypot(center.z), center.y.abs(), center.x.hypot(center.z)),
            length => center.abs().with_z(0.5 * length + (center.z - instance.placement.position.z).abs()),
        }
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
pub(super) fn standing() -> Vec<Route> {
    vec![Route::new(0.0, Vec2::ZERO, 0.0, 0.0)]
}

impl Crowd {
    /// Moves the instances that travel to their places at a time since the start. Without [`travel`] nothing moves.
    /// Also forgets a crossfade that has ended at this time: all instances are then visible until the next [`Crowd::cull`].
    /// Call it before [`Crowd::cull`].
    ///
    /// [`travel`]: super::CrowdSettings::travel
    pub fn move_to(&mut self, time_seconds: f64) {
        self.end_crossfade(time_seconds);
        self.routes.iter_mut().for_each(|route| route.move_to(time_seconds));
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

    /// Places the instances by their clips: those that walk on routes, and the others in the layout.
    pub(super) fn arrange(&mut self) {
        let Self { models, instances, repertoire, unit_scales, layout, .. } = self;
        instances.sort_unstable_by_key(|instance| instance.rank);
        let mut gait_of = |instance: &Instance| repertoire.gait(models, instance.model as usize, instance.clip);
        let gaits = instances.iter().enumerate().map(|(index, instance)| (gait_of(instance), index));
        let (mut standing, mut moving): (Vec<_>, Vec<_>) = gaits.partition(|(gait, _)| gait.velocity == Vec2::ZERO);
        let key = |&(gait, index): &(Gait, usize)| {
            let Instance { model, clip, rank, .. } = instances[index];
            (f64::from(unit_scales[model as usize] * gait.velocity.length()).to_bits(), model, clip, rank)
        };
        moving.sort_by_cached_key(key);
        if *layout == Layout::March {
            standing.sort_by_cached_key(key);
        }
        self.routes = self::standing();
        let mut groups = self.groups(&moving);
        self.note_assumed(&groups);
        if self.layout == Layout::March {
            groups.extend(self.groups(&standing));
            return self.march(&groups);
        }

        let mut random = SplitMix64::new(self.seed, stream::PLACEMENTS);
        let width = |index: usize| self.widths[self.instances[index].model as usize];
        let widths: Vec<f32> = standing.iter().map(|&(_, index)| width(index)).collect();
        let places = placements(self.layout, &widths, &mut random);
        // The outer edge of what is placed.
        let mut edge = 0.0f32;
        for (((_, index), place), width) in standing.into_iter().zip(places).zip(widths) {
            edge = edge.max(place.position.length() + 0.5 * width);
            let scale = self.instances[index].own_scale;
            self.put(index, place, scale, Route::STANDING);
        }
        let mut random = SplitMix64::new(self.seed, stream::RINGS);
        let mut left: Vec<&[usize]> = groups.iter().map(|group| &group.instances[..]).collect();
        for (group, radius, count) in rings(&groups, edge) {
            let (own, rest) = left[group].split_at(count);
            left[group] = rest;
            let Group { gait, unit_scale, .. } = groups[group];
            let scale = unit_scale * variety::size(self.variety, &mut random);
            // Neighbouring rings go opposite ways.
            let way = if self.routes.len().is_multiple_of(2) { 1.0 } else { -1.0 };
            let laps_per_unit = f64::from(way * scale) / (TAU * f64::from(radius));
            let route = self.routes.len() as u32;
            self.routes.push(Route::new(laps_per_unit, gait.velocity, self.speed, 0.0));
            let yaw_radians = way * FRAC_PI_2 - forward_radians(gait);
            let first_radians = random.unit() * TAU as f32;
            for (&index, place) in own.iter().zip(on_ring(count, radius, first_radians, yaw_radians)) {
                self.put(index, place, scale, route);
            }
        }
    }

    /// Places all groups in the rows of a street.
    fn march(&mut self, groups: &[Group]) {
        let mut random = SplitMix64::new(self.seed, stream::RINGS);
        let area: f32 = groups.iter().map(|group| group.instances.len() as f32 * group.spacing.powi(2)).sum();
        let widest = groups.iter().map(|group| group.spacing).fold(0.0, f32::max);
        let length_metres = (STREET_SHARE * area).sqrt().max(2.0 * widest);
        let in_rows = groups.iter().flat_map(|group| {
            let rows = (group.instances.len() as f32 * group.spacing / length_metres).ceil().max(1.0) as usize;
            group.instances.chunks(group.instances.len().div_ceil(rows)).map(move |row| (group, row))
        });
        let (mut rows, edges): (Vec<_>, Vec<_>) = in_rows.partition(|(group, _)| group.gait.velocity != Vec2::ZERO);
        random.shuffle(&mut rows);
        let first_edge = edges.len() / 2;
        rows.splice(0..0, edges[..first_edge].iter().copied());
        rows.extend(&edges[first_edge..]);
        let width: f32 = rows.iter().map(|(group, _)| group.spacing).sum();
        let mut x = -0.5 * width;
        for (group, row) in rows {
            x += 0.5 * group.spacing;
            // The left side comes.
            let comes = x < 0.0;
            let way = if comes { 1.0 } else { -1.0 };
            let scale = group.unit_scale * variety::size(self.variety, &mut random);
            let laps_per_unit = f64::from(way * scale / length_metres);
            let route = self.routes.len() as u32;
            self.routes.push(Route::new(laps_per_unit, group.gait.velocity, self.speed, length_metres));
            let yaw_radians = match group.gait.velocity {
                // Those who stand look at the street.
                Vec2::ZERO => way * FRAC_PI_2,
                _ if comes => -forward_radians(group.gait),
                _ => PI - forward_radians(group.gait),
            };
            let step = length_metres / row.len() as f32;
            let first = random.unit();
            for (&index, rank) in row.iter().zip(0u32..) {
                let mut jitter = || random.signed_unit() * JITTER * group.spacing;
                let z = (rank as f32 + first) * step - 0.5 * length_metres;
                let place = Placement::new(Vec2::new(x + jitter(), z + jitter()), yaw_radians);
                self.put(index, place, scale, route);
            }
            x += 0.5 * group.spacing;
        }
    }

    /// Says which clips go somewhere by their names only.
    fn note_assumed(&mut self, groups: &[Group]) {
        for Group { model, gait, unit_scale, instances, .. } in groups.iter().filter(|group| group.gait.is_assumed) {
            let model = &self.models[*model as usize];
            let clip = clip_of(model, self.instances[instances[0]].clip).and_then(|clip| clip.name.as_deref());
            let (name, clip, speed) = (&model.name, clip.unwrap_or_default(), unit_scale * gait.velocity.length());
            let note = format!("{name}: the feet of {clip:?} show no speed; it goes at {speed:.1} m/s, by its name");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// Divides sorted instances by their clips.
    fn groups(&self, instances: &[(Gait, usize)]) -> Vec<Group> {
        let clip = |&(_, index): &(Gait, usize)| (self.instances[index].model, self.instances[index].clip);
        let group = |instances: &[(Gait, usize)]| {
            let ((gait, _), (model, _)) = (instances[0], clip(&instances[0]));
            let unit_scale = self.unit_scales[model as usize];
            let stance = gait.stance * unit_scale * variety::largest_size(self.variety);
            let spacing = self.widths[model as usize];
            let least_radius = (RADIUS_BY_STANCE * stance).min(MAX_INNER_RADIUS * spacing).max(spacing);
            let instances = instances.iter().map(|&(_, index)| index).collect();
            Group { model, gait, unit_scale, spacing, least_radius, instances }
        };
        instances.chunk_by(|a, b| clip(a) == clip(b)).map(group).collect()
    }

    /// Changes the speed of each route to the gait of the clip that its instances have now, evenly for `change_seconds`, so
    /// that no instance jumps. Returns `false`, and changes nothing, if the instances cannot stay on their routes: those of
    /// one route play clips with different gaits, turn elsewhere, or stood and now walk.
    pub(super) fn change_pace(&mut self, time_seconds: f64, change_seconds: f64) -> bool {
        let Self { models, instances, repertoire, routes, speed, .. } = self;
        let mut gaits: Vec<Option<Gait>> = vec![None; routes.len()];
        for instance in instances {
            let route = instance.route as usize;
            let gait = repertoire.gait(models, instance.model as usize, instance.clip);
            if !routes[route].fits(gait) || gaits[route].is_some_and(|known| known != gait) {
                return false;
            }
            gaits[route] = Some(gait);
        }
        for (route, gait) in routes.iter_mut().zip(gaits) {
            let gait = gait.unwrap_or_default();
            route.pace = Pace {
                start_seconds: time_seconds,
                laps: route.pace.laps_at(time_seconds),
                change_seconds,
                before: route.pace.speed_at(time_seconds),
                after: route.laps_per_unit * f64::from(gait.velocity.length()) * f64::from(*speed),
            };
        }
        true
    }

    fn put(&mut self, index: usize, place: Placement, scale: f32, route: u32) {
        let instance = &mut self.instances[index];
        instance.placement = place.standing(self.stands[instance.model as usize], scale);
        instance.route = route;
    }
}

/// Instances of one model that play one clip.
struct Group {
    model: u32,
    gait: Gait,
    unit_scale: f32,
    /// The distance between neighbours.
    spacing: f32,
    least_radius: f32,
    /// Their indices, in the order of their ranks.
    instances: Vec<usize>,
}

/// Returns the angle of a gait's direction from +Z, about +Y.
fn forward_radians(gait: Gait) -> f32 {
    gait.velocity.x.atan2(gait.velocity.y)
}

/// Divides groups among rings from an inner edge outwards: as few rings as possible, those of a group equally dense. Returns the
/// index of the group, the radius and the number of instances of each ring. The rings of several models alternate by the shares
/// of their instances that are left.
fn rings(groups: &[Group], mut edge: f32) -> Vec<(usize, f32, usize)> {
    let mut all: BTreeMap<u32, usize> = BTreeMap::new();
    groups.iter().for_each(|group| *all.entry(group.model).or_default() += group.instances.len());
    let mut left: Vec<usize> = groups.iter().map(|group| group.instances.len()).collect();
    let mut left_of_model = all.clone();
    let share = |model: &u32, left: usize| left as f32 / all[model] as f32;
    let mut rings: Vec<(usize, f32, usize)> = Vec::new();
    let mut capacities = vec![0u64; groups.len()];
    while let Some((&model, _)) = left_of_model
        .iter()
        .filter(|(_, left)| **left > 0)
        .reduce(|a, b| if share(b.0, *b.1) > share(a.0, *a.1) { b } else { a })
        && let Some(group) = (0..groups.len()).find(|&group| groups[group].model == model && left[group] > 0)
    {
        let Group { spacing, least_radius, .. } = groups[group];
        let radius = (edge + 0.5 * spacing).max(least_radius);
        let capacity = ring_capacity(radius, spacing);
        capacities[group] += capacity as u64;
        let taken = capacity.min(left[group]);
        left[group] -= taken;
        left_of_model.entry(model).and_modify(|left| *left -= taken);
        rings.push((group, radius, capacity));
        edge = radius + 0.5 * spacing;
    }
    let mut before = vec![(0u64, 0usize); groups.len()];
    for (group, _, count) in &mut rings {
        let (capacity, dealt) = &mut before[*group];
        *capacity += *count as u64;
        let until = (*capacity * groups[*group].instances.len() as u64 / capacities[*group]) as usize;
        *count = until - std::mem::replace(dealt, until);
    }
    rings
}

//! Bodies that sit, lie, kneel or fall: what touches the floor in the source touches it in every other body.

use glam::{Affine3A, Quat};
use throng::model::{Clip, Model, Role};
use throng::retarget::contact::{BACK, Body, ELBOW, FOOT, HAND, HEAD, KNEE, PARTS, SEAT, kind, parts, skin};
use throng::retarget::rig::Rig;
use throng::retarget::standing::rotation_of;
use throng::retarget::{Way, borrow_clips, humanoid_of};

use super::pairs::BODIES;
use crate::common::assets::{WALKER, asset, sample};
use crate::common::pose::posed;

const NAMES: [&str; 7] = ["seat", "back", "head", "elbow", "hand", "knee", "foot"];
/// Each kind of clips, with words of their names.
const KINDS: [(&str, &[&str]); 3] =
    [("sits", &["Sit_Floor", "Robot_Sitting"]), ("lies", &["Lie_"]), ("deaths", &["Death", "Die"])];
const TIMES: u32 = 24;
/// A part of a source that is lower than this, as a share of the body's height, touches.
const TOUCHES: f32 = 0.01;

struct Skin<'r> {
    rig: &'r Rig<'r>,
    parts: Vec<Option<usize>>,
    floor: f32,
    height: f32,
}

impl<'r> Skin<'r> {
    fn new(rig: &'r Rig<'r>) -> Self {
        let standing = parts(rig).unwrap();
        let lowest = |is: &dyn Fn(usize) -> bool| {
            let heights = standing.iter().filter(|(_, part)| part.is_some_and(is)).map(|(place, _)| place.y);
            heights.fold(f32::INFINITY, f32::min)
        };
        let floor = lowest(&|part| kind(part) == FOOT);
        let top = standing.iter().filter(|(_, part)| part.is_some()).map(|(place, _)| place.y).fold(0.0, f32::max);
        Self { rig, parts: standing.into_iter().map(|(_, part)| part).collect(), floor, height: top - floor }
    }

    /// Returns the height of the lowest vertex of each part above the floor, as a share of the body's height.
    fn heights(&self, body_from_model: Quat, matrices: &[Affine3A]) -> [f32; PARTS] {
        let mut heights = [f32::INFINITY; PARTS];
        for (place, part) in skin(self.rig, body_from_model, matrices).iter().zip(&self.parts) {
            if let Some(part) = *part {
                heights[part] = heights[part].min((place.y - self.floor) / self.height);
            }
        }
        heights
    }

    fn pose(&self, clip: &Clip, seconds: f64, body_from_model: Quat) -> Pose {
        let (matrices, _) = posed(self.rig.model, Some(clip), seconds);
        let turn = |node: usize| body_from_model * rotation_of(&matrices[node]) * self.rig.reference[node].inverse();
        let turns = Role::all().map(|role| self.rig.node(role).map(turn)).collect();
        Pose { seconds, heights: self.heights(body_from_model, &matrices), turns }
    }

    /// Returns the poses of a clip in which more than feet touch the floor.
    fn contacts(&self, clip: &Clip) -> Vec<Pose> {
        let at = |time: u32| f64::from(clip.duration_seconds) * f64::from(time) / f64::from(TIMES);
        let poses = (0..=TIMES).map(|time| self.pose(clip, at(time), self.rig.body_from_model));
        poses.filter(|pose| (0..PARTS).any(|part| kind(part) != FOOT && pose.heights[part] < TOUCHES)).collect()
    }
}

/// The heights of the parts of a body, and the turns of its roles.
struct Pose {
    seconds: f64,
    heights: [f32; PARTS],
    turns: Vec<Option<Quat>>,
}

/// Returns the largest angle between the turns of a role.
fn angle(a: &[Option<Quat>], b: &[Option<Quat>]) -> f32 {
    a.iter().zip(b).filter_map(|(a, b)| Some(a.as_ref()?.angle_between((*b)?).to_degrees())).fold(0.0, f32::max)
}

#[derive(Debug, Clone, Default)]
struct Worst(f32, String);

impl Worst {
    fn at_most(&mut self, figure: f32, place: impl Fn() -> String) {
        if figure > self.0 {
            *self = Self(figure, place());
        }
    }
}

/// Compares the poses of a clip: by how much parts that touch are too high or too low, by how much others are too deep, how far
/// the pelvis turns, how far anything but fingers does, and how much further anything turns from one pose to the next.
fn compare(poses: &[Pose], target: &Skin, clip: &Clip, worst: &mut [Worst; 5]) {
    let mut before: Option<(&Pose, Pose)> = None;
    for source in poses {
        let pose = target.pose(clip, source.seconds, target.rig.body_from_posed);
        for part in 0..PARTS {
            let (a, b) = (source.heights[part], pose.heights[part]);
            let (name, clip) = (NAMES[kind(part)], clip.name.as_deref().unwrap_or(""));
            let place = || format!("{name} {clip} {:.2} s: {:.1} {:.1}", source.seconds, 100.0 * a, 100.0 * b);
            if a < TOUCHES && b.is_finite() {
                worst[0].at_most((a - b).abs(), place);
            }
            worst[1].at_most(a.min(0.0) - b, place);
        }
        worst[2].at_most(angle(&source.turns[..1], &pose.turns[..1]), String::new);
        let place = || format!("{} {:.2} s", clip.name.as_deref().unwrap_or(""), source.seconds);
        worst[3].at_most(angle(&source.turns, &pose.turns), place);
        if let Some((a, b)) = &before {
            worst[4].at_most(angle(&b.turns, &pose.turns) - angle(&a.turns, &source.turns), place);
        }
        before = Some((source, pose));
    }
}

/// Returns how far the heights of a pair may differ, as a share of the body, how far turns may, and how much further bones may
/// turn from one pose to the next.
fn most(kind: &str, from: &str, to: &str) -> (f32, f32, f32) {
    match kind {
        "sits" => (0.01, 60.0, 8.0),
        "deaths" if from == "Knight" && !["mannequiny", "Elf", "robot", "walker"].contains(&to) => (0.02, 60.0, 20.0),
        // While a body falls or rolls over, the limits of turns leave parts of other shapes too high or too low.
        "deaths" => (if from == "Knight" { 0.06 } else { 0.16 }, 75.0, 45.0),
        // A pose may be a roll after the one before it.
        "lies" => (0.06, 60.0, 60.0),
        _ => (f32::INFINITY, 75.0, f32::INFINITY),
    }
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn what_touches_the_floor_touches_it_in_every_body() {
    assert_eq!([SEAT, BACK, HEAD, ELBOW, HAND, KNEE, FOOT], [0, 1, 2, 3, 4, 5, 6]);
    let mut models: Vec<(&str, Model)> = BODIES.map(|(name, path)| (name, sample(path))).into();
    models.push(("walker", asset(WALKER)));
    let mut failures = Vec::new();
    println!("| from | to | clips | contact | too deep | pelvis | turns | jumps |");
    for (from, source) in models.iter().filter(|(_, source)| !source.clips.is_empty()) {
        let of_source = humanoid_of(source).unwrap();
        let rig = Rig::new(source, &of_source).unwrap();
        let poses = source.clips.iter().map(|clip| Skin::new(&rig).contacts(clip));
        let (clips, poses): (Vec<Clip>, Vec<Vec<Pose>>) =
            source.clips.iter().cloned().zip(poses).filter(|(_, poses)| !poses.is_empty()).unzip();
        if clips.is_empty() {
            continue;
        }
        let source = Model { clips, ..source.clone() };
        for (to, target) in models.iter().filter(|(to, _)| to != from) {
            let mut model = target.clone();
            let own = model.clips.len();
            assert_eq!(borrow_clips(&mut model, &source).unwrap().way, Way::Retargeted);
            let of_target = humanoid_of(&model).unwrap();
            let rig = Rig::new(&model, &of_target).unwrap();
            if Body::new(&rig).is_none() {
                continue;
            }
            let of_target = Skin::new(&rig);
            let mut worst: [[Worst; 5]; 4] = Default::default();
            for (poses, clip) in poses.iter().zip(&model.clips[own..]) {
                let name = clip.name.as_deref().unwrap_or("");
                let is_kind = |(_, words): &(&str, &[&str])| words.iter().any(|word| name.contains(word));
                let kind = KINDS.iter().position(is_kind).unwrap_or(3);
                compare(poses, &of_target, clip, &mut worst[kind]);
            }
            for (kind, worst) in ["sits", "lies", "deaths", "others"].iter().zip(&worst) {
                let [contact, deep, pelvis, turns, jumps] = worst;
                if contact.0 == 0.0 && deep.0 == 0.0 {
                    continue;
                }
                println!(
                    "| {from} | {to} | {kind} | {:.1} % ({}) | {:.1} % ({}) | {:.1}° | {:.0}° ({}) | {:.0}° ({}) |",
                    100.0 * contact.0,
                    contact.1,
                    100.0 * deep.0,
                    deep.1,
                    pelvis.0,
                    turns.0,
                    turns.1,
                    jumps.0,
                    jumps.1
                );
                let (share, degrees, jump) = most(kind, from, to);
                if contact.0.max(deep.0) > share || pelvis.0 > 5.0 || turns.0 > degrees || jumps.0 > jump {
                    failures.push(format!("{from} -> {to}: {kind}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

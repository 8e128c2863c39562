//! Every humanoid moves like every other: the figures of all pairs, which stand in `docs/retargeting.md`.

use glam::{Affine3A, Quat, Vec3};
use throng::model::humanoid::{Limb, Side};
use throng::model::{Clip, Humanoid, Model, Role, import};
use throng::retarget::contact::Body;
use throng::retarget::rig::Rig;
use throng::retarget::standing::rotation_of;
use throng::retarget::{Way, borrow_clips, humanoid_of};

use super::is_finger;
use crate::common::assets::{WALKER, asset, sample, sample_path};
use crate::common::pose::posed;

/// The bodies, each with its name in tables. Some have no clips.
pub const BODIES: [(&str, &str); 10] = [
    ("Knight", "KayKit_Knight/Knight.glb"),
    ("mannequiny", "Mannequiny/mannequiny.glb"),
    ("Elf", "Elf_Maya/elf.gltf"),
    ("robot", "RobotExpressive_raylib/robot.glb"),
    ("CesiumMan", "CesiumMan/CesiumMan.glb"),
    ("bitmoji", "avatars/bitmoji/bitmoji.glb"),
    ("male", "avatars/market/male/model.gltf"),
    ("zombie", "avatars/market/zombie-1/model.gltf"),
    ("VRM 1.0", "avatars/vrm/Example.vrm"),
    ("VRM 0.x", "avatars/vrm/armature_transform.vrm"),
];

/// The number of clips of a source that are compared, and of times of each clip.
const CLIPS: usize = 3;
const TIMES: u32 = 8;
/// The number of steps in which sliding feet are measured.
const STEPS: u32 = 48;

/// The largest height of a planted foot, as a share of the leg.
const LOW: f32 = 0.02;

/// A pose of a humanoid in body space.
struct Posed<'r> {
    rig: &'r Rig<'r>,
    matrices: Vec<Affine3A>,
    body_from_model: Quat,
}

impl Posed<'_> {
    fn place(&self, role: Role) -> Option<Vec3> {
        let node = self.rig.humanoid.node(role)?;
        Some(self.body_from_model * Vec3::from(self.matrices[node as usize].translation))
    }

    fn bone(&self, side: Side, [base, tip]: [Limb; 2]) -> Option<Vec3> {
        Some(self.place(Role::limb(side, tip))? - self.place(Role::limb(side, base))?)
    }

    fn turn(&self, role: Role) -> Option<Quat> {
        let node = self.rig.humanoid.node(role)? as usize;
        Some(self.body_from_model * rotation_of(&self.matrices[node]) * self.rig.reference[node].inverse())
    }

    /// Returns how far an ankle is above where it is on the ground, as a share of the leg.
    fn rise(&self, side: Side) -> Option<f32> {
        let foot = Role::limb(side, Limb::Foot);
        Some((self.place(foot)?.y - self.rig.ankle_height) / self.rig.leg_length)
    }

    /// Returns the angle by which a joint bends to the wrong side: an elbow back, a knee forward.
    fn wrong_bend_degrees(&self, side: Side, [upper, lower]: [[Limb; 2]; 2], axis: Vec3) -> Option<f32> {
        let turn = self.turn(Role::limb(side, upper[0]))?.inverse();
        let (above, below) = (turn * self.bone(side, upper)?, turn * self.bone(side, lower)?);
        let bend = above.normalize().cross(below.normalize());
        Some((-bend.dot(axis)).clamp(0.0, 1.0).asin().to_degrees())
    }
}

const UPPER_ARM: [Limb; 2] = [Limb::UpperArm, Limb::LowerArm];
const LOWER_ARM: [Limb; 2] = [Limb::LowerArm, Limb::Hand];
const UPPER_LEG: [Limb; 2] = [Limb::UpperLeg, Limb::LowerLeg];
const LOWER_LEG: [Limb; 2] = [Limb::LowerLeg, Limb::Foot];

fn pose<'r>(rig: &'r Rig<'r>, clip: &Clip, seconds: f64, is_new: bool) -> Posed<'r> {
    let (matrices, _) = posed(rig.model, Some(clip), seconds);
    Posed { rig, matrices, body_from_model: if is_new { rig.body_from_posed } else { rig.body_from_model } }
}

#[derive(Debug, Clone, Copy, Default)]
struct Figures {
    limbs_degrees: f32,      // Between bones of arms and legs.
    turns_degrees: f32,      // Between the turns of hips, head, hands and feet.
    fingers_degrees: f32,    // Between the turns of fingers.
    wrong_bend_degrees: f32, // How much further a knee or an elbow bends to the wrong side than the source's.
    height: f32,             // The difference in height of the lower foot, as a share of the body's height.
    slide: f32,              // How much further a planted foot slides than the source's, as a share of the leg.
    jump_degrees: f32,       // How much further a bone turns in a step than any bone of the source.
}

impl Figures {
    fn compare(&mut self, source: &Posed, target: &Posed) {
        let at_most = |worst: &mut f32, figure: f32| *worst = worst.max(figure);
        for side in Side::BOTH {
            for bone in [UPPER_ARM, LOWER_ARM, UPPER_LEG, LOWER_LEG] {
                let (Some(a), Some(b)) = (source.bone(side, bone), target.bone(side, bone)) else { continue };
                at_most(&mut self.limbs_degrees, a.angle_between(b).to_degrees());
            }
            let elbow = if side == Side::Left { Vec3::NEG_Y } else { Vec3::Y };
            for (bones, axis) in [([UPPER_ARM, LOWER_ARM], elbow), ([UPPER_LEG, LOWER_LEG], Vec3::X)] {
                let bend = |pose: &Posed| pose.wrong_bend_degrees(side, bones, axis);
                let (Some(a), Some(b)) = (bend(source), bend(target)) else { continue };
                at_most(&mut self.wrong_bend_degrees, b - a);
            }
        }
        for role in Role::all() {
            let (Some(a), Some(b)) = (source.turn(role), target.turn(role)) else { continue };
            // The pelvis turns a little around the vertical, so that feet stay in place.
            let is_hips = role == Role::HIPS;
            assert!(!is_hips || a.angle_between(b).to_degrees() <= 5.0, "the pelvis");
            let angle =
                if is_hips { (a * Vec3::Y).angle_between(b * Vec3::Y) } else { a.angle_between(b) }.to_degrees();
            let is_inner = [Role::SPINE, Role::CHEST, Role::UPPER_CHEST, Role::NECK].contains(&role);
            // Trunks and necks of other lengths share the turns.
            if is_finger(role) {
                at_most(&mut self.fingers_degrees, angle);
            } else if !is_inner {
                at_most(&mut self.turns_degrees, angle);
            }
        }
        // Only of bodies that stand: in a leap, or of somebody who lies, feet are anywhere.
        let lower = |pose: &Posed| Side::BOTH.into_iter().filter_map(|side| pose.rise(side)).reduce(f32::min);
        let (of_source, of_target) = (lower(source).filter(|rise| rise.abs() < LOW), lower(target));
        if let (Some(a), Some(b)) = (of_source, of_target) {
            let head = target.rig.place(Role::HEAD).unwrap().y
                - target.rig.standing.iter().map(|place| place.y).fold(f32::INFINITY, f32::min);
            at_most(&mut self.height, (a - b).abs() * target.rig.leg_length / head);
        }
    }

    /// Compares how far bones turn in a step.
    fn compare_jumps(&mut self, source: [&Posed; 2], target: [&Posed; 2]) {
        let most = |[a, b]: [&Posed; 2]| {
            let turned = |role| Some(a.turn(role)?.angle_between(b.turn(role)?).to_degrees());
            Role::all().filter_map(turned).fold(0.0, f32::max)
        };
        self.jump_degrees = self.jump_degrees.max(most(target) - most(source));
    }

    /// Compares the ways of feet while the source's are planted: low, and almost as low in the next step.
    fn compare_steps(&mut self, source: [&Posed; 2], target: [&Posed; 2], slid: &mut [Vec3; 2]) {
        for (side, slid) in Side::BOTH.into_iter().zip(slid) {
            let rises = source.map(|pose| pose.rise(side));
            let way = |poses: [&Posed; 2]| {
                let [a, b] = poses.map(|pose| pose.place(Role::limb(side, Limb::Foot)));
                Some((b? - a?).with_y(0.0) / poses[0].rig.leg_length)
            };
            let is_planted = rises.iter().all(|rise| rise.is_some_and(|rise| rise.abs() < LOW));
            let (Some(a), Some(b)) = (way(source), way(target)) else { continue };
            *slid = if is_planted { *slid + (b - a) } else { Vec3::ZERO };
            self.slide = self.slide.max(slid.length());
        }
    }
}

fn figures(source: &Model, of_source: &Humanoid, target: &Model) -> Figures {
    let mut model = target.clone();
    let own = model.clips.len();
    assert_eq!(borrow_clips(&mut model, source).unwrap().way, Way::Retargeted);
    crate::common::builder::check_invariants(&model);
    let of_target = humanoid_of(&model).unwrap();
    let (from, to) = (Rig::new(source, of_source).unwrap(), Rig::new(&model, &of_target).unwrap());
    // Limbs of bodies that sit or lie turn further: `super::contact`.
    let body = Body::new(&from).unwrap();
    let stands = |pose: &Posed| body.contact(&from, &pose.matrices).strength == 0.0;
    let mut figures = Figures::default();
    let step = source.clips.len().div_ceil(CLIPS);
    for (clip, new) in source.clips.iter().zip(&model.clips[own..]).step_by(step) {
        let both = |seconds: f64| (pose(&from, clip, seconds, false), pose(&to, new, seconds, true));
        let duration = f64::from(clip.duration_seconds);
        for time in 0..TIMES {
            let (a, b) = both(duration * f64::from(time) / (f64::from(TIMES) - 0.7));
            if stands(&a) {
                figures.compare(&a, &b);
            }
        }
        let mut slid = [Vec3::ZERO; 2];
        let poses: Vec<_> = (0..=STEPS).map(|step| both(duration * f64::from(step) / f64::from(STEPS))).collect();
        for pair in poses.windows(2).filter(|pair| pair.iter().all(|(source, _)| stands(source))) {
            figures.compare_jumps([&pair[0].0, &pair[1].0], [&pair[0].1, &pair[1].1]);
            figures.compare_steps([&pair[0].0, &pair[1].0], [&pair[0].1, &pair[1].1], &mut slid);
        }
    }
    figures
}

/// Returns how far planted feet of a pair may slide, as a percentage of the leg. Where hips are much wider for their legs than
/// those of the other body, both feet cannot stay when the pelvis turns between them, unless the legs point elsewhere.
fn most_slide(from: &str, to: &str) -> f32 {
    let is_far = match from {
        "Knight" => ["bitmoji", "VRM 1.0"].contains(&to),
        "mannequiny" => ["Knight", "VRM 0.x"].contains(&to),
        "robot" => true,
        _ => false,
    };
    if is_far { 7.0 } else { 3.0 }
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn every_humanoid_moves_like_every_other() {
    let mut models: Vec<(&str, Model)> = BODIES.map(|(name, path)| (name, sample(path))).into();
    models.push(("walker", asset(WALKER)));
    // The bitmoji moves by its own clips.
    let bitmoji = models.iter_mut().find(|(name, _)| *name == "bitmoji").unwrap();
    for file in ["jump-flip", "walk"] {
        bitmoji.1.clips.clear();
        let source = import::load_clips(&sample_path(&format!("avatars/bitmoji/{file}.glb"))).unwrap();
        assert_eq!(borrow_clips(&mut bitmoji.1, &source).unwrap().way, Way::SameRig);
    }
    println!(
        "| from | to | limbs | hips, head, hands, feet | fingers | wrong bend | feet above ground | feet slide | jumps |"
    );
    let mut failures = Vec::new();
    for (from, source) in models.iter().filter(|(_, source)| !source.clips.is_empty()) {
        let of_source = humanoid_of(source).unwrap_or_else(|| panic!("{from}"));
        for (to, target) in models.iter().filter(|(to, _)| to != from) {
            let figures = figures(source, &of_source, target);
            let Figures { limbs_degrees, turns_degrees, fingers_degrees, wrong_bend_degrees, .. } = figures;
            let Figures { height, slide, jump_degrees, .. } = figures;
            let (height, slide) = (100.0 * height, 100.0 * slide);
            println!(
                "| {from} | {to} | {limbs_degrees:.2}° | {turns_degrees:.2}° | {fingers_degrees:.2}° | {wrong_bend_degrees:.2}° | {height:.2} % | {slide:.1} % | {jump_degrees:.1}° |"
            );
            let is_right = limbs_degrees <= 2.0
                && turns_degrees <= 2.0
                && fingers_degrees <= 5.0
                && wrong_bend_degrees <= 3.0
                && height <= 2.0
                && slide <= most_slide(from, to)
                && jump_degrees <= 1.5;
            if !is_right {
                failures.push(format!("{from} -> {to}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

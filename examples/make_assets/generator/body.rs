//! The walker's shape: about thirty lofts around the skeleton, with the influences of the joints.
//!
//! It is an explorer in a helmet. The big head, mittens and boots make gait and mood visible from far away in a crowd.
//! Weights depend only on the bind-pose position. They pass from one joint to the next over 6 to 20 centimetres at each
//! bend. Hard parts (helmet, visor, backpack) follow one joint.

use glam::{DVec3, dvec3};

use super::loft::{Loft, Mesh, Pull, Station};
use super::skeleton::{Joint, Side, UPPER_ARM_LENGTH, arm_direction};
use super::texture::Swatch;

/// Builds the whole character in its bind pose.
#[must_use]
pub fn body() -> Mesh {
    let mut mesh = Mesh::default();
    add_torso(&mut mesh);
    add_head(&mut mesh);
    add_scarf(&mut mesh);
    add_backpack(&mut mesh);
    for side in Side::BOTH {
        add_ear(&mut mesh, side);
        add_arm(&mut mesh, side);
        add_hand(&mut mesh, side);
        add_leg(&mut mesh, side);
        add_foot(&mut mesh, side);
    }
    mesh
}

/// Rises smoothly from 0 at `start` to 1 at `end`.
#[must_use]
pub fn smooth_step(start: f64, end: f64, x: f64) -> f64 {
    let t = ((x - start) / (end - start)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn station(x: f64, y: f64, z: f64, half_width: f64, half_depth: f64) -> Station {
    Station { center: dvec3(x, y, z), half_width, half_depth }
}

/// Influences of a chain of joints. `handovers[k]` is the share that passes from joint `k` to the joints after it.
fn chain<const N: usize>(joints: [Joint; N], handovers: [f64; N]) -> Pull {
    let mut rest = 1.0;
    let mut pull = Pull::new();
    for (joint, passed) in joints.into_iter().zip(handovers) {
        pull.push((joint, rest * (1.0 - passed)));
        rest *= passed;
    }
    pull
}

/// Moves `share` of the influence of `from` to `to`.
fn give(pull: &mut Pull, from: Joint, to: Joint, share: f64) {
    if let Some(entry) = pull.iter_mut().find(|(joint, _)| *joint == from) {
        let given = entry.1 * share;
        entry.1 -= given;
        pull.push((to, given));
    }
}

fn torso_pull(p: DVec3) -> Pull {
    let handovers = [smooth_step(0.88, 1.01, p.y), smooth_step(1.02, 1.16, p.y), smooth_step(1.27, 1.34, p.y), 0.0];
    let mut pull = chain([Joint::Hips, Joint::Spine, Joint::Chest, Joint::Neck], handovers);
    let side = if p.x > 0.0 { Side::Left } else { Side::Right };
    let outside = smooth_step(0.05, 0.17, p.x.abs());
    give(&mut pull, Joint::Chest, Joint::Shoulder(side), 0.7 * outside * smooth_step(1.08, 1.22, p.y));
    let below = 1.0 - smooth_step(0.78, 0.90, p.y);
    give(&mut pull, Joint::Hips, Joint::Thigh(side), 0.5 * smooth_step(0.0, 0.10, p.x.abs()) * below);
    pull
}

fn add_torso(mesh: &mut Mesh) {
    let stations = vec![
        station(0.0, 0.79, 0.0, 0.115, 0.092),
        station(0.0, 0.85, -0.005, 0.170, 0.122),
        station(0.0, 0.93, 0.0, 0.146, 0.108),
        station(0.0, 1.02, 0.005, 0.146, 0.108),
        station(0.0, 1.12, 0.005, 0.172, 0.122),
        station(0.0, 1.20, 0.0, 0.180, 0.118),
        station(0.0, 1.26, -0.005, 0.140, 0.096),
        station(0.0, 1.31, 0.0, 0.072, 0.068),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Jacket, stations);
    let loft = Loft { squareness: 2.3, segments: 22, cap_lengths: [0.05, 0.03], ..loft };
    mesh.add(&loft, &torso_pull);
}

fn add_head(mesh: &mut Mesh) {
    let head = |_| vec![(Joint::Head, 1.0)];
    let helmet = vec![
        station(0.0, 1.375, 0.0, 0.118, 0.112),
        station(0.0, 1.430, 0.0, 0.168, 0.155),
        station(0.0, 1.500, 0.0, 0.182, 0.168),
        station(0.0, 1.570, 0.0, 0.174, 0.162),
        station(0.0, 1.630, 0.0, 0.128, 0.122),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Helmet, helmet);
    mesh.add(&Loft { squareness: 2.6, segments: 24, cap_lengths: [0.025, 0.045], ..loft }, &head);

    let frame = vec![station(0.0, 1.505, 0.06, 0.150, 0.100), station(0.0, 1.505, 0.150, 0.142, 0.094)];
    let loft = Loft::new(DVec3::Y, Swatch::VisorFrame, frame);
    mesh.add(&Loft { squareness: 3.4, segments: 24, rings_per_stretch: 1, cap_lengths: [0.0, 0.016], ..loft }, &head);

    let visor = vec![station(0.0, 1.505, 0.10, 0.126, 0.078), station(0.0, 1.505, 0.160, 0.124, 0.076)];
    let loft = Loft::new(DVec3::Y, Swatch::Visor, visor);
    mesh.add(&Loft { squareness: 3.0, segments: 24, rings_per_stretch: 1, cap_lengths: [0.0, 0.030], ..loft }, &head);

    for side in Side::BOTH {
        let [back, front] = [0.150, 0.186].map(|z| Station {
            center: side.of(dvec3(0.050, 1.507, z)),
            half_width: 0.019,
            half_depth: 0.031,
        });
        let loft = Loft::new(DVec3::Y, Swatch::Eye, vec![back, front]);
        let loft = Loft { segments: 12, rings_per_stretch: 1, cap_lengths: [0.0, 0.008], ..loft };
        mesh.add(&loft, &|_| vec![(Joint::Eyes, 1.0)]);
    }

    let mast_pull = |p: DVec3| {
        let beyond = smooth_step(1.64, 1.70, p.y);
        chain([Joint::Head, Joint::Antenna], [beyond, 0.0])
    };
    let mast = vec![station(-0.08, 1.62, -0.03, 0.010, 0.010), station(-0.10, 1.75, -0.05, 0.006, 0.006)];
    let loft = Loft::new(DVec3::Z, Swatch::Metal, mast);
    mesh.add(&Loft { segments: 8, rings_per_stretch: 3, cap_lengths: [0.0; 2], ..loft }, &mast_pull);
    let beacon = vec![station(-0.1, 1.758, -0.05, 0.024, 0.024), station(-0.1, 1.760, -0.05, 0.024, 0.024)];
    let loft = Loft::new(DVec3::Z, Swatch::Beacon, beacon);
    let loft = Loft { segments: 12, rings_per_stretch: 1, cap_lengths: [0.024; 2], ..loft };
    mesh.add(&loft, &|_| vec![(Joint::Antenna, 1.0)]);
}

fn add_ear(mesh: &mut Mesh, side: Side) {
    for (x, radius, swatch) in [(0.180, 0.062, Swatch::VisorFrame), (0.198, 0.040, Swatch::Metal)] {
        let [inner, outer] = [0.140, x].map(|x| Station {
            center: side.of(dvec3(x, 1.500, -0.005)),
            half_width: radius,
            half_depth: radius,
        });
        let loft = Loft::new(DVec3::Y, swatch, vec![inner, outer]);
        let loft = Loft { segments: 14, rings_per_stretch: 1, cap_lengths: [0.0, 0.012], ..loft };
        mesh.add(&loft, &|_| vec![(Joint::Head, 1.0)]);
    }
}

fn add_scarf(mesh: &mut Mesh) {
    let collar = (0..8)
        .map(|k| {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 8.0).sin_cos();
            station(0.098 * sin, 1.318 - 0.022 * cos, 0.092 * cos, 0.038, 0.034)
        })
        .collect();
    let loft = Loft::new(DVec3::Y, Swatch::VisorFrame, collar);
    let collar_pull = |_| vec![(Joint::Chest, 0.5), (Joint::Neck, 0.5)];
    mesh.add(&Loft { segments: 10, rings_per_stretch: 3, closed: true, ..loft }, &collar_pull);

    // The tail runs over the shoulder and down the backpack.
    let tail = vec![
        station(0.06, 1.330, -0.075, 0.040, 0.018),
        station(0.08, 1.325, -0.170, 0.042, 0.014),
        station(0.10, 1.275, -0.275, 0.045, 0.013),
        station(0.11, 1.160, -0.325, 0.049, 0.013),
        station(0.12, 1.030, -0.335, 0.054, 0.012),
    ];
    let tail_pull = |p: DVec3| {
        let handovers = [smooth_step(-0.06, -0.16, p.z), smooth_step(1.33, 1.17, p.y), 0.0];
        chain([Joint::Chest, Joint::ScarfUpper, Joint::ScarfLower], handovers)
    };
    let loft = Loft::new(DVec3::Y, Swatch::Scarf, tail);
    let loft = Loft { squareness: 3.0, segments: 10, rings_per_stretch: 3, cap_lengths: [0.0, 0.012], ..loft };
    mesh.add(&loft, &tail_pull);
}

fn add_backpack(mesh: &mut Mesh) {
    let chest = |_| vec![(Joint::Chest, 1.0)];
    let pack = vec![
        station(0.0, 1.005, -0.185, 0.120, 0.078),
        station(0.0, 1.110, -0.192, 0.132, 0.086),
        station(0.0, 1.220, -0.180, 0.118, 0.074),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Backpack, pack);
    mesh.add(&Loft { squareness: 3.6, segments: 20, cap_lengths: [0.035, 0.045], ..loft }, &chest);
    let pocket = vec![station(0.0, 1.025, -0.272, 0.080, 0.028), station(0.0, 1.105, -0.276, 0.080, 0.026)];
    let loft = Loft::new(DVec3::Z, Swatch::Pocket, pocket);
    mesh.add(&Loft { squareness: 3.2, segments: 16, cap_lengths: [0.02, 0.02], ..loft }, &chest);
    let bedroll = vec![station(-0.165, 0.945, -0.185, 0.055, 0.055), station(0.165, 0.945, -0.185, 0.055, 0.055)];
    let loft = Loft::new(DVec3::Y, Swatch::Bedroll, bedroll);
    let roll_pull = |_| vec![(Joint::Chest, 0.6), (Joint::Spine, 0.4)];
    mesh.add(&Loft { segments: 14, rings_per_stretch: 3, cap_lengths: [0.012; 2], ..loft }, &roll_pull);
}

/// Returns the distance from the shoulder along the arm, in metres.
fn along_arm(p: DVec3, side: Side) -> f64 {
    (p - Joint::UpperArm(side).position()).dot(arm_direction(side))
}

fn arm_pull(p: DVec3, side: Side) -> Pull {
    let along = along_arm(p, side);
    let elbow = UPPER_ARM_LENGTH;
    let handovers = [
        smooth_step(-0.06, 0.07, along),
        smooth_step(elbow - 0.085, elbow + 0.085, along),
        smooth_step(0.44, 0.50, along),
        0.0,
    ];
    chain([Joint::Shoulder(side), Joint::UpperArm(side), Joint::Forearm(side), Joint::Hand(side)], handovers)
}

/// Returns a station of the arm: `along` from the shoulder, `inward` to the body, `forward` to +Z.
fn arm_station(side: Side, [along, inward, forward]: [f64; 3], thickness: f64, breadth: f64) -> Station {
    let direction = arm_direction(side);
    let inwards = side.of(dvec3(-1.0, 0.0, 0.0)).reject_from_normalized(direction).normalize();
    let center = Joint::UpperArm(side).position() + direction * along + inwards * inward + DVec3::Z * forward;
    Station { center, half_width: thickness, half_depth: breadth }
}

fn add_arm(mesh: &mut Mesh, side: Side) {
    let radii = [
        (-0.01, 0.066),
        (0.06, 0.064),
        (0.14, 0.057),
        (0.20, 0.052),
        (0.25, 0.050),
        (0.30, 0.051),
        (0.37, 0.051),
        (0.43, 0.046),
    ];
    let stations = radii.iter().map(|&(along, radius)| arm_station(side, [along, 0.0, 0.0], radius, radius)).collect();
    let loft = Loft::new(DVec3::Z, Swatch::Sleeve, stations);
    let loft = Loft { segments: 16, cap_lengths: [0.06, 0.0], ..loft };
    mesh.add(&loft, &|p| arm_pull(p, side));
}

fn add_hand(mesh: &mut Mesh, side: Side) {
    let cuff_and_mitten = vec![
        arm_station(side, [0.405, 0.0, 0.0], 0.057, 0.057),
        arm_station(side, [0.440, 0.0, 0.0], 0.056, 0.057),
        arm_station(side, [0.475, 0.0, 0.0], 0.041, 0.046),
        arm_station(side, [0.525, 0.002, 0.004], 0.041, 0.060),
        arm_station(side, [0.580, 0.008, 0.004], 0.038, 0.058),
        arm_station(side, [0.615, 0.016, 0.002], 0.031, 0.046),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Glove, cuff_and_mitten);
    let loft = Loft { squareness: 2.3, segments: 14, cap_lengths: [0.012, 0.028], ..loft };
    mesh.add(&loft, &|p| arm_pull(p, side));

    let thumb = vec![
        arm_station(side, [0.500, 0.006, 0.030], 0.022, 0.022),
        arm_station(side, [0.528, 0.014, 0.066], 0.022, 0.022),
        arm_station(side, [0.560, 0.018, 0.082], 0.019, 0.019),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Glove, thumb);
    let loft = Loft { segments: 10, rings_per_stretch: 2, cap_lengths: [0.0, 0.018], ..loft };
    mesh.add(&loft, &|_| vec![(Joint::Hand(side), 1.0)]);
}

fn leg_pull(p: DVec3, side: Side) -> Pull {
    let mut pull = chain(
        [Joint::Thigh(side), Joint::Shin(side), Joint::Foot(side)],
        [smooth_step(0.56, 0.36, p.y), smooth_step(0.18, 0.03, p.y), 0.0],
    );
    give(&mut pull, Joint::Thigh(side), Joint::Hips, 0.6 * smooth_step(0.79, 0.91, p.y));
    pull
}

fn add_leg(mesh: &mut Mesh, side: Side) {
    let leg = |y: f64, z: f64, half_width: f64, half_depth: f64| Station {
        center: side.of(dvec3(0.092, y, z)),
        half_width,
        half_depth,
    };
    let trousers = vec![
        leg(0.85, 0.0, 0.070, 0.090),
        leg(0.74, 0.0, 0.083, 0.096),
        leg(0.62, 0.002, 0.077, 0.086),
        leg(0.53, 0.004, 0.068, 0.074),
        leg(0.46, 0.006, 0.064, 0.068),
        leg(0.40, 0.002, 0.063, 0.068),
        leg(0.32, -0.004, 0.064, 0.070),
        leg(0.22, 0.0, 0.056, 0.060),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::Trousers, trousers);
    let loft = Loft { segments: 16, cap_lengths: [0.05, 0.0], ..loft };
    mesh.add(&loft, &|p| leg_pull(p, side));

    let shaft = vec![
        leg(0.290, -0.003, 0.079, 0.083),
        leg(0.262, -0.003, 0.078, 0.082),
        leg(0.235, -0.002, 0.066, 0.070),
        leg(0.160, 0.0, 0.062, 0.066),
        leg(0.080, 0.0, 0.058, 0.066),
    ];
    let loft = Loft::new(DVec3::Z, Swatch::BootShaft, shaft);
    let loft = Loft { segments: 16, cap_lengths: [0.014, 0.0], ..loft };
    mesh.add(&loft, &|p| leg_pull(p, side));
}

fn add_foot(mesh: &mut Mesh, side: Side) {
    let shoe = |y: f64, z: f64, half_width: f64, half_height: f64| Station {
        center: side.of(dvec3(0.096, y, z)),
        half_width,
        half_depth: half_height,
    };
    let stations = vec![
        shoe(0.058, -0.055, 0.055, 0.066),
        shoe(0.063, 0.010, 0.066, 0.072),
        shoe(0.050, 0.070, 0.070, 0.060),
        shoe(0.042, 0.120, 0.074, 0.052),
        shoe(0.038, 0.165, 0.070, 0.046),
    ];
    let loft = Loft::new(DVec3::Y, Swatch::Shoe, stations);
    let loft = Loft { squareness: 2.5, segments: 18, cap_lengths: [0.04, 0.055], floor: 0.0, ..loft };
    mesh.add(&loft, &|p| {
        // The instep is far above the joint about which it bends, so its weights change over a longer distance than the
        // sole's.
        let (start, end) = (0.085 - 0.5 * p.y, 0.145 + 0.5 * p.y);
        let mut pull = chain([Joint::Foot(side), Joint::Toe(side)], [smooth_step(start, end, p.z), 0.0]);
        give(&mut pull, Joint::Foot(side), Joint::Shin(side), smooth_step(0.06, 0.16, p.y) * 0.5);
        pull
    });
}

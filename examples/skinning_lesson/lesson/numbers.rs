//! The calculation of `docs/skinning.md` and its pages, printed step by step.

use glam::{Affine3A, Mat2, Mat3, Mat4, Vec2, Vec3, Vec3A};
use throng::animation::{SampleScratch, sample_clip};
use throng::model::{Clip, Interpolation, LocalPose, Track};

use super::Numbers;
use super::strip::{LOWER, Mistake, Strip, UPPER};

/// The time at which the page works everything out: the upper joint has turned by a right angle.
const TIME_SECONDS: f64 = 1.0;

/// The blocks of the pages, but for that of the tube.
pub fn all(strip: &Strip) -> Vec<Numbers> {
    vec![
        Numbers { name: "sample", text: sample(strip) },
        Numbers { name: "interpolation", text: interpolation() },
        Numbers { name: "hierarchy", text: hierarchy(strip) },
        Numbers { name: "joint", text: joint(strip) },
        Numbers { name: "blend", text: blend(strip) },
        Numbers { name: "morph", text: morph(strip) },
        Numbers { name: "vertices", text: vertices(strip) },
        Numbers { name: "mistakes", text: mistakes(strip) },
        Numbers { name: "normals", text: normals() },
    ]
}

/// A number with four decimals, never with a negative zero.
fn number(x: f32) -> String {
    let rounded = (f64::from(x) * 1e4).round() / 1e4 + 0.0;
    format!("{rounded:.4}")
}

fn numbers<const N: usize>(values: [f32; N]) -> String {
    values.map(|x| format!("{:>8}", number(x))).concat()
}

fn point(p: Vec2) -> String {
    format!("({}, {})", number(p.x), number(p.y))
}

/// The four numbers of each row of an affine matrix. The fourth row is always 0 0 0 1.
fn rows(m: Mat4) -> [String; 3] {
    [0, 1, 2].map(|row| numbers(m.row(row).to_array()))
}

/// Matrices next to each other, each with its title and the sign after it.
fn side_by_side(matrices: &[(&str, Mat4, &str)]) -> String {
    let mut lines = vec![String::new(); 4];
    for (title, matrix, sign) in matrices {
        lines[0] += &format!("  {title:<36}");
        for (row, (line, numbers)) in lines[1..].iter_mut().zip(rows(*matrix)).enumerate() {
            *line += &format!("{numbers}{:^6}", if row == 1 { sign } else { "" });
        }
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn sample(strip: &Strip) -> String {
    let line = |time_seconds: f64| {
        let q = strip.sample(time_seconds).rotations[strip.node(UPPER)];
        let degrees = 2.0 * q.z.atan2(q.w).to_degrees();
        format!("{time_seconds:.2} s: quaternion ({} ), {degrees:.1} degrees\n", numbers(q.to_array()))
    };
    [0.5, 0.75, 1.0].map(line).concat()
}

/// The keys of the lesson on interpolation: a height that goes from 0 to 1 in half a second.
pub const KEYS_SECONDS: [f32; 2] = [0.5, 1.0];
/// The speeds at the two keys, in metres per second.
pub const SPEEDS: [f32; 2] = [4.0, 0.0];
/// The ways to interpolate, as glTF calls them.
pub const WAYS: [(&str, Interpolation); 3] =
    [("STEP", Interpolation::Step), ("LINEAR", Interpolation::Linear), ("CUBICSPLINE", Interpolation::CubicSpline)];

/// The height at a time.
pub fn height_at(interpolation: Interpolation, time_seconds: f64) -> f32 {
    let [low, high] = [Vec3::ZERO, Vec3::Y];
    let [leaving, arriving] = SPEEDS.map(|speed| speed * Vec3::Y);
    let values = match interpolation {
        Interpolation::CubicSpline => vec![Vec3::ZERO, low, leaving, arriving, high, Vec3::ZERO],
        Interpolation::Step | Interpolation::Linear => vec![low, high],
    };
    let track = Track { node: 0, timeline: 0, interpolation, values };
    let clip = Clip { timelines: vec![KEYS_SECONDS.to_vec()], translations: vec![track], ..Clip::default() };
    let mut pose = LocalPose { translations: vec![Vec3::ZERO], ..LocalPose::default() };
    sample_clip(&clip, time_seconds, &mut SampleScratch::default(), &mut pose);
    pose.translations[0].y
}

fn interpolation() -> String {
    let head = WAYS.map(|(name, _)| format!("{name:>13}")).concat();
    let line = |time_seconds: f64| {
        let heights = WAYS.map(|(_, way)| format!("{:>13}", number(height_at(way, time_seconds)))).concat();
        format!("{time_seconds:>5.3} s{heights}\n")
    };
    format!("       {head}\n") + &[0.0, 0.5, 0.625, 0.75, 0.875, 1.0, 2.0].map(line).concat()
}

fn hierarchy(strip: &Strip) -> String {
    let local = strip.sample(TIME_SECONDS);
    let nodes = strip.model_from_nodes(&local);
    let upper = strip.node(UPPER);
    let (scale, rotation, translation) = (local.scales[upper], local.rotations[upper], local.translations[upper]);
    side_by_side(&[
        ("model_from_lower", nodes[strip.node(LOWER)].into(), "*"),
        ("lower_from_upper", Mat4::from_scale_rotation_translation(scale, rotation, translation), "="),
        ("model_from_upper", nodes[upper].into(), ""),
    ])
}

fn joint(strip: &Strip) -> String {
    let nodes = strip.model_from_nodes(&strip.sample(TIME_SECONDS));
    side_by_side(&[
        ("model_from_upper", nodes[strip.node(UPPER)].into(), "*"),
        ("upper_from_mesh", strip.model.palette.joint_from_mesh[UPPER].into(), "="),
        ("joint matrix", strip.joint_matrices(&nodes)[UPPER].into(), ""),
    ])
}

fn blend(strip: &Strip) -> String {
    let joints = joint_matrices(strip);
    let (position, weights) = strip.vertex(5);
    let [lower, upper] = [LOWER, UPPER].map(|joint| Mat4::from(joints[joint]) * weights[joint]);
    let matrices = side_by_side(&[
        (&format!("{} * joint matrix of lower", weights[LOWER]), lower, "+"),
        (&format!("{} * joint matrix of upper", weights[UPPER]), upper, "="),
        ("model_from_mesh", lower + upper, ""),
    ]);
    let skinned = (lower + upper).transform_point3a(position);
    format!("{matrices}\nmodel_from_mesh * {} = {}\n", point(position.truncate()), point(skinned.truncate()))
}

/// A vertex with two morph targets, before the joint `upper` moves it.
fn morph(strip: &Strip) -> String {
    let (position, _) = strip.vertex(9);
    let targets = [(0.5, Vec3A::new(0.0, 0.5, 0.0)), (1.0, Vec3A::new(0.25, 0.0, 0.0))];
    let morphed = targets.iter().fold(position, |position, (weight, delta)| position + *weight * *delta);
    let terms = targets.map(|(weight, delta)| format!(" + {weight} * {}", point(delta.truncate()))).concat();
    let upper = joint_matrices(strip)[UPPER];
    format!("morphed  = {}{terms} = {}\n", point(position.truncate()), point(morphed.truncate()))
        + &format!(
            "skinned  = joint matrix of upper * morphed = {}\n",
            point(upper.transform_point3a(morphed).truncate())
        )
}

fn joint_matrices(strip: &Strip) -> Vec<Affine3A> {
    strip.joint_matrices(&strip.model_from_nodes(&strip.sample(TIME_SECONDS)))
}

fn vertices(strip: &Strip) -> String {
    let joints = joint_matrices(strip);
    let skinned = strip.skin(&joints, |_| 1.0);
    let mut text =
        "vertex  bind position      weights       by lower alone     by upper alone     skinned\n".to_owned();
    for (vertex, skinned) in skinned.iter().enumerate() {
        let (position, weights) = strip.vertex(vertex);
        let by = |joint: usize| point(joints[joint].transform_point3a(position).truncate());
        text += &format!(
            "{vertex:>6}  {:<17}  {:<4} + {:<4}   {:<17}  {:<17}  {}\n",
            point(position.truncate()),
            weights[LOWER],
            weights[UPPER],
            by(LOWER),
            by(UPPER),
            point(*skinned)
        );
    }
    text
}

fn mistakes(strip: &Strip) -> String {
    let local = strip.turned(-30.0, 75.0);
    let line =
        |(what, mistake): (&str, Mistake)| format!("{what:<32}{}\n", point(strip.skin_wrongly(&local, mistake)[9]));
    [
        ("right", Mistake::None),
        ("without inverse binds", Mistake::NoInverseBinds),
        ("children before parents", Mistake::ChildrenFirst),
        ("weights that add up to 0.8", Mistake::WeightsOfLessThanOne),
    ]
    .map(line)
    .concat()
}

/// The matrix of the lesson on normals: twice as wide, half as high.
pub const STRETCH: Vec2 = Vec2::new(2.0, 0.5);

/// The cofactor matrix: the inverse transpose times the determinant.
pub fn cofactors(m: Mat3) -> Mat3 {
    Mat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
}

fn normals() -> String {
    let matrix = Mat3::from_mat2(Mat2::from_diagonal(STRETCH));
    let (tangent, normal) = (Vec3::new(1.0, -1.0, 0.0).normalize(), Vec3::new(1.0, 1.0, 0.0).normalize());
    let skinned_tangent = (matrix * tangent).normalize();
    let line = |what: &str, normal: Vec3| {
        let cosine = skinned_tangent.dot(normal.normalize());
        let degrees = cosine.acos().to_degrees();
        let normal = normal.normalize().truncate();
        format!("{what:<24}{:<20}{degrees:.1} degrees to the tangent\n", point(normal))
    };
    format!("{:<24}{}\n", "skinned tangent", point(skinned_tangent.truncate()))
        + &line("by the matrix", matrix * normal)
        + &line("by the cofactor matrix", cofactors(matrix) * normal)
}

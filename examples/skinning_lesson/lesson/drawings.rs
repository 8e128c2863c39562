//! The drawings of the strip, and the one of normals.

use glam::{Affine3A, Mat2, Mat3, Vec2, Vec3, Vec3A, vec2};
use throng::model::Interpolation;

use super::numbers::{KEYS_SECONDS, SPEEDS, STRETCH, WAYS, cofactors, height_at};
use super::strip::{LOWER, Mistake, Strip, UPPER};
use super::svg::{Panel, Svg};

/// The vertex that all drawings mark: the upper right corner.
const MARKED: usize = 9;

fn panel(x: f32, y: f32) -> Panel {
    Panel { origin: vec2(x, y), pixels_per_metre: 62.0 }
}

fn bind_pose(strip: &Strip) -> Vec<Vec2> {
    (0..10).map(|vertex| strip.vertex(vertex).0.truncate()).collect()
}

/// Marks a vertex and writes its coordinates next to it.
fn mark(svg: &mut Svg, panel: Panel, vertex: Vec2, label_offset: Vec2) {
    let at = panel.pixel(vertex);
    svg.circle(at, 5.0, "mark");
    let [x, y] = vertex.to_array().map(|x| (f64::from(x) * 100.0).round() / 100.0 + 0.0);
    svg.text(at + label_offset, "", &format!("({x}, {y})"));
}

/// A height between two keys, by the three ways to interpolate.
pub fn interpolation() -> String {
    const STEPS: usize = 96;
    const END_SECONDS: f64 = 1.5;
    let mut svg = Svg::new(900.0, 210.0);
    for ((name, way), left) in WAYS.into_iter().zip([50.0, 345.0, 640.0]) {
        let at = |seconds: f64, height: f32| vec2(left + 150.0 * seconds as f32, 165.0 - 100.0 * height);
        svg.text(vec2(left, 25.0), "title", name);
        svg.arrow(at(0.0, 0.0), at(END_SECONDS + 0.1, 0.0), "line");
        for seconds in [0.5, 1.0] {
            svg.line(at(seconds, 0.0), at(seconds, 1.2), "ghost");
            svg.text(at(seconds, -0.2), "mid note", &format!("{seconds} s"));
        }
        let points: Vec<(f64, f32)> = (0..=STEPS)
            .map(|step| END_SECONDS * step as f64 / STEPS as f64)
            .map(|seconds| (seconds, height_at(way, seconds)))
            .collect();
        for pair in points.windows(2) {
            svg.line(at(pair[0].0, pair[0].1), at(pair[1].0, pair[1].1), "x");
        }
        for (seconds, (height, speed)) in KEYS_SECONDS.into_iter().zip([0.0, 1.0].into_iter().zip(SPEEDS)) {
            let key = at(seconds.into(), height);
            if way == Interpolation::CubicSpline {
                let reach = 0.12;
                let tangent = vec2(150.0 * reach, -100.0 * reach * speed);
                let (from, to) = if height == 0.0 { (key, key + tangent) } else { (key - tangent, key) };
                svg.line(from, to, "y");
            }
            svg.circle(key, 4.0, "mark");
        }
    }
    svg.finish()
}

/// One vertex in the four spaces, at 1 s of the clip.
pub fn spaces(strip: &Strip) -> String {
    let mut svg = Svg::new(900.0, 235.0);
    let nodes = strip.model_from_nodes(&strip.sample(1.0));
    let joint_from_mesh = strip.model.palette.joint_from_mesh[UPPER];
    let to = |space: Affine3A, p: Vec2| space.transform_point3a(Vec3A::from(p.extend(0.0))).truncate();
    let bind = bind_pose(strip);
    let skinned = strip.skin(&strip.joint_matrices(&nodes), |_| 1.0);
    let world_from_model = Affine3A::from_translation(Vec3::new(2.0, 0.0, 0.0));

    let mesh = panel(80.0, 180.0);
    mesh.strip(&mut svg, &bind, "right");
    mesh.axes(&mut svg, Affine3A::IDENTITY, 0.8);
    mark(&mut svg, mesh, bind[MARKED], vec2(8.0, -4.0));

    let joint = panel(310.0, 118.0);
    let in_joint: Vec<Vec2> = bind.iter().map(|&p| to(joint_from_mesh, p)).collect();
    joint.strip(&mut svg, &in_joint, "right");
    joint.axes(&mut svg, Affine3A::IDENTITY, 0.8);
    mark(&mut svg, joint, in_joint[MARKED], vec2(8.0, -4.0));

    let model = panel(570.0, 180.0);
    model.strip(&mut svg, &skinned, "right");
    model.axes(&mut svg, Affine3A::IDENTITY, 0.8);
    model.axes(&mut svg, nodes[strip.node(UPPER)], 0.5);
    mark(&mut svg, model, skinned[MARKED], vec2(-30.0, -12.0));

    let world = panel(720.0, 180.0);
    let in_world: Vec<Vec2> = skinned.iter().map(|&p| to(world_from_model, p)).collect();
    world.strip(&mut svg, &in_world, "right");
    world.axes(&mut svg, Affine3A::IDENTITY, 0.8);
    mark(&mut svg, world, in_world[MARKED], vec2(-20.0, -12.0));
    svg.line(vec2(690.0, 180.0), vec2(890.0, 180.0), "axis");

    for (x, title) in
        [(80.0, "mesh space"), (310.0, "joint space of upper"), (540.0, "model space"), (790.0, "world space")]
    {
        svg.text(vec2(x, 22.0), "title mid", title);
    }
    for (x, matrix) in [(195.0, "joint_from_mesh"), (430.0, "model_from_joint"), (668.0, "world_from_model")] {
        svg.arrow(vec2(x - 50.0, 220.0), vec2(x + 50.0, 220.0), "line");
        svg.text(vec2(x, 212.0), "code mid", matrix);
    }
    svg.finish()
}

/// The weights of the rows in the bind pose, and the rows at 1 s.
pub fn weights(strip: &Strip) -> String {
    let mut svg = Svg::new(560.0, 165.0);
    let joints = strip.joint_matrices(&strip.model_from_nodes(&strip.sample(1.0)));
    let (bind, skinned) = (bind_pose(strip), strip.skin(&joints, |_| 1.0));
    for (at, vertices) in [(panel(60.0, 147.0), &bind), (panel(470.0, 147.0), &skinned)] {
        at.strip(&mut svg, vertices, "right");
        for row in 0..5 {
            let [left, right] = [2 * row, 2 * row + 1].map(|vertex| at.pixel(vertices[vertex]));
            svg.line(left, right, "line");
        }
    }
    for row in 0..5 {
        let (position, [lower, upper]) = strip.vertex(2 * row + 1);
        let at = panel(60.0, 147.0).pixel(position.truncate());
        svg.text(at + vec2(12.0, 4.0), "code", &format!("{lower:.2} lower + {upper:.2} upper"));
    }
    svg.finish()
}

/// The strip with both joints turned, once right and three times wrong.
pub fn mistakes(strip: &Strip) -> String {
    let mut svg = Svg::new(920.0, 250.0);
    let local = strip.turned(-30.0, 75.0);
    let right = strip.skin_wrongly(&local, Mistake::None);
    let nodes = strip.model_from_nodes(&local);
    for (k, (mistake, title)) in [
        (Mistake::None, "right"),
        (Mistake::NoInverseBinds, "without inverse binds"),
        (Mistake::ChildrenFirst, "children before parents"),
        (Mistake::WeightsOfLessThanOne, "weights that add up to 0.8"),
    ]
    .into_iter()
    .enumerate()
    {
        let at = panel(80.0 + 225.0 * k as f32, 215.0);
        svg.text(at.origin + vec2(30.0, -193.0), "title mid", title);
        if mistake != Mistake::None {
            at.strip(&mut svg, &right, "ghost");
        }
        let vertices = strip.skin_wrongly(&local, mistake);
        at.strip(&mut svg, &vertices, if mistake == Mistake::None { "right" } else { "wrong" });
        let [lower, upper] = [LOWER, UPPER].map(|joint| nodes[strip.node(joint)].translation.truncate());
        svg.line(at.pixel(lower), at.pixel(upper), "bone");
        mark(&mut svg, at, vertices[MARKED], vec2(-20.0, -12.0));
    }
    svg.finish()
}

/// Bind pose, rest pose and a posed strip, of a file whose rest pose is bent.
pub fn rest(strip: &Strip) -> String {
    let mut svg = Svg::new(720.0, 190.0);
    let poses = [("bind pose", 0.0), ("rest pose", 45.0), ("a clip", -90.0)];
    for (k, (title, degrees)) in poses.into_iter().enumerate() {
        let at = panel(120.0 + 240.0 * k as f32, 155.0);
        let local = strip.turned(0.0, degrees);
        at.strip(&mut svg, &strip.skin_wrongly(&local, Mistake::None), "right");
        at.axes(&mut svg, strip.model_from_nodes(&local)[strip.node(UPPER)], 0.45);
        at.axes(&mut svg, Affine3A::IDENTITY, 0.45);
        svg.text(at.origin + vec2(0.0, 25.0), "title mid", title);
    }
    svg.finish()
}

/// A circle that its joint stretches, with normals by the plain matrix and by the cofactor matrix.
pub fn normals() -> String {
    let mut svg = Svg::new(760.0, 190.0);
    let matrix = Mat3::from_mat2(Mat2::from_diagonal(STRETCH));
    let circle: Vec<Vec3> = (0..24)
        .map(|k| (std::f32::consts::TAU * (k as f32 + 0.5) / 24.0).sin_cos())
        .map(|(sin, cos)| Vec3::new(cos, sin, 0.0))
        .collect();
    let figures = [
        (panel(80.0, 100.0), Mat3::IDENTITY, Mat3::IDENTITY, "right", "bind pose"),
        (panel(320.0, 100.0), matrix, matrix, "wrong", "by the matrix"),
        (panel(605.0, 100.0), matrix, cofactors(matrix), "right", "by the cofactor matrix"),
    ];
    for (at, model_from_mesh, for_normals, class, title) in figures {
        let scaled = Panel { pixels_per_metre: 48.0, ..at };
        let corners: Vec<Vec2> = circle.iter().map(|&p| scaled.pixel((model_from_mesh * p).truncate())).collect();
        svg.polygon(&corners, class);
        for &p in &circle {
            let position = (model_from_mesh * p).truncate();
            let normal = (for_normals * p).normalize().truncate();
            svg.arrow(scaled.pixel(position), scaled.pixel(position + normal * 0.5), "line");
        }
        svg.text(at.origin + vec2(0.0, 4.0), "mid", title);
    }
    svg.finish()
}

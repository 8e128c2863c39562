//! Where the camera stands and what it looks at: `--camera`, `--view`, `--look-at`, `--distance` and `--fov`.
//!
//! In: the options, and a crowd at a time. Out: an [`OrbitCamera`]. Without options it frames the crowd.

use std::f32::consts::PI;

use anyhow::{Result, bail};
use glam::Vec3;

use super::joint::nodes_of_joint;
use crate::cli::{CameraArgs, CameraChoice, Direction, LookAt};
use crate::crowd::{Crowd, Layout};
use crate::model::humanoid::{Limb, Side};
use crate::model::{Model, Role, names};
use crate::retarget::humanoid_of;
use crate::view::{Limits, OrbitCamera, Outline};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// What the options ask for.
    Asked,
    /// The crowd, from where it is seen best.
    Crowd,
    /// The crowd, from the front.
    Front,
}

/// The front, at the angle above the ground from which the crowd is seen best.
const FRONT: Direction = Direction { yaw_degrees: 0.0, pitch_degrees: None, zoom: None };

/// The front of a row of characters, from eye height and from far away: perspective hardly changes their heights.
const ROW: Direction = Direction { yaw_degrees: 0.0, pitch_degrees: Some(4.0), zoom: None };
const ROW_FOV_DEGREES: f32 = 15.0;

/// What the options ask for.
#[derive(Debug)]
pub struct Aim {
    direction: Option<Direction>,
    /// Whether the direction is one of `--camera`, and not a side.
    has_angles: bool,
    /// The angle of the side that counts as the front: half a turn for bodies that face -Z.
    pub(super) front_radians: f32,
    pub(super) target: Option<Target>,
    distance: Option<f32>,
    vertical_fov_radians: Option<f32>,
}

#[derive(Debug)]
pub(super) enum Target {
    /// The node of each model that has the joint.
    Joint(Vec<Option<u32>>),
    /// Metres above the ground.
    Height(f32),
    Point(Vec3),
    /// The node of each model that carries the camera, and the angle of view: that of `--fov`, or the camera's own.
    Camera(Vec<Option<u32>>, Option<f32>),
}

impl Aim {
    pub fn new(models: &[Model], args: &CameraArgs) -> Result<Self> {
        let vertical_fov_radians = args.fov.map(|fov| fov.to_radians() as f32);
        let (mut direction, mut has_angles, mut target) = (args.view, false, None);
        match &args.camera {
            None => {}
            Some(CameraChoice::Angles(angles)) => (direction, has_angles) = (Some(*angles), true),
            Some(CameraChoice::OfFile(wanted)) => target = Some(camera_of_file(models, wanted, vertical_fov_radians)?),
        }
        match &args.look_at {
            None => {}
            Some(LookAt::Height(metres)) => target = Some(Target::Height(*metres)),
            Some(LookAt::Point(point)) => target = Some(Target::Point(*point)),
            Some(LookAt::Joint(name)) => target = Some(Target::Joint(nodes_of_joint(models, "--look-at", name)?)),
        }
        let distance = args.distance.map(|metres| metres as f32);
        let front_radians = if models.iter().all(faces_back) { PI } else { 0.0 };
        Ok(Self { direction, has_angles, front_radians, target, distance, vertical_fov_radians })
    }

    /// Returns whether the camera frames the crowd, because nothing else was asked for.
    pub fn frames_crowd(&self) -> bool {
        self.direction.is_none() && self.target.is_none() && self.distance.is_none()
    }

    /// Returns a camera that shows the outline of a crowd, or what the options ask for.
    pub fn camera(
        &self,
        shows: Shows,
        crowd: &Crowd,
        outline: &Outline,
        time_seconds: f64,
        aspect: f32,
    ) -> OrbitCamera {
        let mut start = OrbitCamera::default();
        let is_row = crowd.layout() == Layout::Line && crowd.instance_count() > 1;
        let usual = if is_row { ROW_FOV_DEGREES.to_radians() } else { start.vertical_fov_radians };
        start.vertical_fov_radians = self.vertical_fov_radians.unwrap_or(usual);
        start = start.facing(outline, aspect);
        let direction = match shows {
            Shows::Asked => self.direction,
            Shows::Crowd => None,
            Shows::Front => Some(FRONT),
        };
        // A row of characters that are compared would have a near and a far end.
        let usual = if is_row { Some(ROW) } else { (crowd.layout() == Layout::Line).then_some(FRONT) };
        let direction = direction.or(usual);
        if let Some(direction) = direction {
            start.yaw_radians = direction.yaw_degrees.to_radians();
            start.pitch_radians = direction.pitch_degrees.map_or(start.pitch_radians, f32::to_radians);
        }
        if shows != Shows::Asked || !self.has_angles {
            start.yaw_radians += self.front_radians;
        }
        let mut camera = start.framed(outline, aspect);
        let zoom = direction.and_then(|direction| direction.zoom).unwrap_or(1.0);
        match self.target.as_ref().filter(|_| shows == Shows::Asked) {
            Some(target) => {
                // The angle counts from the new place, where other limits hold.
                camera.pitch_radians = start.pitch_radians;
                point_at(target, &mut camera, crowd, zoom, time_seconds, aspect);
            }
            None => {
                let middle = camera.target;
                // The point that the camera looks at stays in front of the eye.
                if zoom < 1.0
                    && let Some(depth) = crowd.distance_along(camera.position(), camera.forward(), time_seconds)
                {
                    camera.refocus(depth);
                }
                camera.zoom(zoom);
                // A turntable goes around the crowd or the character, and not around a point on its surface.
                if direction.is_some() {
                    camera.refocus((middle - camera.position()).dot(camera.forward()));
                }
            }
        }
        if let Some(metres) = self.distance.filter(|_| shows == Shows::Asked) {
            camera.limits = Limits::default();
            camera.pitch_radians = start.pitch_radians;
            camera.look_at(camera.target, metres);
        }
        let raised_degrees = camera.pitch_radians.to_degrees();
        if let Some(pitch_degrees) = direction.and_then(|direction| direction.pitch_degrees)
            && self.has_angles
            && (raised_degrees - pitch_degrees).abs() > 0.01
        {
            tracing::warn!(
                "{pitch_degrees} degrees above the ground would show too little of the ground, or lead below it; the camera looks \
                 from {raised_degrees:.1} degrees"
            );
        }
        camera
    }

    /// Moves a camera with the joint that it looks at, or with the node of the file that carries it.
    pub fn follow(&self, camera: &mut OrbitCamera, crowd: &Crowd, time_seconds: f64) {
        match &self.target {
            Some(Target::Joint(nodes)) => {
                if let Some(part) = crowd.part_in_world(nodes, time_seconds) {
                    camera.look_at(part.room.center(), camera.distance);
                }
            }
            Some(Target::Camera(nodes, _)) => stand(camera, nodes, crowd, time_seconds),
            Some(Target::Height(_) | Target::Point(_)) | None => {}
        }
    }
}

/// Returns whether the rest pose of a model is a body that faces -Z.
pub fn faces_back(model: &Model) -> bool {
    let forward = || {
        let (humanoid, places) = (humanoid_of(model)?, model.skeleton.rest_matrices());
        let place = |side, limb| Some(places[humanoid.node(Role::limb(side, limb))? as usize].translation);
        let across = |limb| Some(Vec3::from(place(Side::Left, limb)? - place(Side::Right, limb)?));
        (across(Limb::UpperLeg)? + across(Limb::UpperArm)?).cross(Vec3::Y).try_normalize()
    };
    forward().is_some_and(|forward| forward.z < -0.5)
}

fn point_at(target: &Target, camera: &mut OrbitCamera, crowd: &Crowd, zoom: f32, time_seconds: f64, aspect: f32) {
    /// Room for the shoulders, if the joint is the head.
    const MARGIN: f32 = 1.1;
    let distance = camera.distance * zoom;
    match target {
        Target::Height(metres) => camera.look_at(crowd.bounds().center().with_y(*metres), distance),
        Target::Point(point) => camera.look_at(*point, distance),
        Target::Joint(nodes) => {
            if let Some(part) = crowd.part_in_world(nodes, time_seconds) {
                let framed = camera.framed(&part, aspect);
                // The angle has other limits close to a body.
                camera.limits = Limits::default();
                camera.look_at(framed.target, MARGIN * zoom * framed.distance);
            }
        }
        Target::Camera(nodes, vertical_fov_radians) => {
            camera.vertical_fov_radians = vertical_fov_radians.unwrap_or(camera.vertical_fov_radians);
            stand(camera, nodes, crowd, time_seconds);
        }
    }
}

/// Moves a camera to the node of the file that carries it. It looks along the node's -Z.
fn stand(camera: &mut OrbitCamera, nodes: &[Option<u32>], crowd: &Crowd, time_seconds: f64) {
    let Some((world_from_camera, radius)) = crowd.node_in_world(nodes, time_seconds) else { return };
    let eye = Vec3::from(world_from_camera.translation);
    let forward = Vec3::from(-world_from_camera.matrix3.z_axis).normalize_or(Vec3::NEG_Z);
    let to_middle = (crowd.bounds().center() - eye).dot(forward).max(radius);
    let depth = crowd.distance_along(eye, forward, time_seconds).unwrap_or(to_middle);
    camera.stand_at(eye, forward, depth);
}

fn camera_of_file(models: &[Model], wanted: &str, vertical_fov_radians: Option<f32>) -> Result<Target> {
    let find = |model: &Model| {
        let cameras = &model.source.cameras;
        let named = names::find(cameras.iter().map(|camera| camera.name.as_deref()), wanted);
        let camera = cameras.get(named.or_else(|| wanted.parse().ok())?)?;
        Some((camera.node?, camera.vertical_fov_radians))
    };
    let found: Vec<Option<(u32, Option<f32>)>> = models.iter().map(find).collect();
    let Some(&(_, own_fov_radians)) = found.iter().flatten().next() else {
        let list = |model: &Model| {
            let cameras = model.source.cameras.iter().zip(0..).filter(|(camera, _)| camera.node.is_some());
            let cameras = cameras.map(|(camera, index)| (index, camera.name.as_deref()));
            format!("{} in {}", names::offer(cameras, wanted), model.name)
        };
        let lists = models.iter().map(list).collect::<Vec<String>>().join("; ");
        bail!("--camera {wanted}: neither YAW,PITCH[,ZOOM] nor a camera of the file; cameras are: {lists}");
    };
    let nodes = found.into_iter().map(|found| found.map(|(node, _)| node)).collect();
    Ok(Target::Camera(nodes, vertical_fov_radians.or(own_fov_radians)))
}

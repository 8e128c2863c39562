//! From the arguments of `render` back to a command line, so that a view of the window can be drawn again.
//!
//! In: arguments for one image. Out: words that [`Cli`](super::Cli) parses to the same arguments. Options that have their
//! defaults are left out.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;

use super::{
    CameraArgs, CameraChoice, Cli, ClipArgs, Command, CrowdArgs, CrowdSizeArgs, DeviceArgs, FileSceneArgs, GpuArgs,
    LookArgs, LookAt, MorphArg, QualityArgs, RenderArgs, ShowArgs,
};
use crate::animation::Stage;
use crate::crowd::{ClipChoice, PhaseMode};
use crate::extras::DebugView;
use crate::model::import::SceneChoice;
use crate::renderer::Skinning;
use crate::view::{Background, SunDirection};

impl RenderArgs {
    /// Returns the command line as a shell takes it. `None` if a path is no text.
    #[must_use]
    pub fn shell_line(&self) -> Option<String> {
        let words = self.line();
        shlex::try_join(words.iter().map(|word| word.to_str()).collect::<Option<Vec<_>>>()?).ok()
    }

    /// Returns the arguments that the command line parses to.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn parsed_again(&self) -> Result<Self, clap::Error> {
        match Cli::try_parse_from(self.line())?.command {
            Some(Command::Render(args)) => Ok(args),
            _ => Ok(self.clone()),
        }
    }

    /// Returns the command line for the first image.
    #[must_use]
    pub fn line(&self) -> Vec<OsString> {
        let Self { crowd, count, gpu, out, frames: _, turntable: _, fps: _ } = self;
        let CrowdSizeArgs { instances, threads } = count;
        let mut line = Line(vec!["throng".into(), "render".into()]);
        line.crowd(crowd);
        line.option("--instances", instances.map(|count| count.to_string()));
        line.option("--threads", threads.map(|count| count.to_string()));
        line.gpu(gpu);
        line.option("--out", Some(out));
        line.0
    }
}

struct Line(Vec<OsString>);

impl Line {
    fn option(&mut self, name: &str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            self.0.extend([name.into(), value.into()]);
        }
    }

    /// Adds a number that is not the default.
    fn number(&mut self, name: &str, value: f64, default: f64) {
        self.option(name, (value != default).then(|| value.to_string()));
    }

    fn switch(&mut self, name: &str, value: Option<bool>) {
        self.option(name, value.map(|is_on| if is_on { "on" } else { "off" }));
    }

    fn crowd(&mut self, args: &CrowdArgs) {
        let CrowdArgs { models, clips: ClipArgs { files }, file_scene: FileSceneArgs { scene }, clip, .. } = args;
        let CrowdArgs { morphs, time, speed, phase, seed, spacing, height, layout, variety, travel, .. } = args;
        let CrowdArgs { camera, look, cull, share_poses, show, .. } = args;
        self.0.extend(models.iter().map(|path| file(path)));
        files.iter().for_each(|path| self.option("--clips", Some(path)));
        self.option(
            "--scene",
            scene.as_ref().map(|scene| match scene {
                SceneChoice::Default => String::new(),
                SceneChoice::Index(index) => index.to_string(),
                SceneChoice::Name(name) => name.clone(),
            }),
        );
        let clip = Some(clip).filter(|clip| **clip != ClipChoice::Index(0));
        self.option(
            "--clip",
            clip.map(|clip| match clip {
                ClipChoice::None => "none".to_owned(),
                ClipChoice::All => "all".to_owned(),
                ClipChoice::Index(index) => index.to_string(),
                ClipChoice::Name(name) => name.clone(),
            }),
        );
        for MorphArg { name, weight } in morphs {
            self.option("--morph", Some(format!("{name}={weight}")));
        }
        self.number("--time", *time, 0.0);
        self.number("--speed", *speed, 1.0);
        self.option("--phase", phase.map(|phase| if phase == PhaseMode::Zero { "zero" } else { "random" }));
        self.option("--seed", (*seed != 1).then(|| seed.to_string()));
        for (name, value) in
            [("--spacing", spacing), ("--height", height), ("--variety", variety), ("--share-poses", share_poses)]
        {
            self.option(name, value.map(|value| value.to_string()));
        }
        self.option("--layout", layout.map(|layout| word(&crate::crowd::Layout::ALL, layout)));
        self.switch("--travel", *travel);
        self.switch("--cull", (!cull).then_some(false));
        self.camera(camera);
        self.look(*look);
        self.show(show);
    }

    fn camera(&mut self, CameraArgs { camera, view, look_at, distance, fov }: &CameraArgs) {
        self.option(
            "--camera",
            camera.as_ref().map(|camera| match camera {
                CameraChoice::OfFile(name) => name.clone(),
                CameraChoice::Angles(direction) => direction.to_string(),
            }),
        );
        let side = view.and_then(|view| super::values::SIDES.into_iter().find(|(_, side)| *side == view));
        self.option("--view", side.map(|(name, _)| name));
        self.option(
            "--look-at",
            look_at.as_ref().map(|look_at| match look_at {
                LookAt::Height(metres) => metres.to_string(),
                LookAt::Point(point) => format!("{},{},{}", point.x, point.y, point.z),
                LookAt::Joint(name) => name.clone(),
            }),
        );
        self.option("--distance", distance.map(|metres| metres.to_string()));
        self.option("--fov", fov.map(|degrees| degrees.to_string()));
    }

    fn look(&mut self, LookArgs { background, ground, exposure, sun }: LookArgs) {
        match background {
            Background::Sky => {}
            Background::None => self.option("--background", Some("none")),
            Background::Color([red, green, blue]) => {
                self.option("--background", Some(format!("#{red:02x}{green:02x}{blue:02x}")));
            }
        }
        self.option("--ground", ground.map(|ground| word(&crate::view::Ground::ALL, ground)));
        self.number("--exposure", exposure, 0.0);
        let SunDirection { azimuth_degrees, elevation_degrees } = sun;
        let is_moved = sun != SunDirection::default();
        self.option("--sun", is_moved.then(|| format!("{azimuth_degrees},{elevation_degrees}")));
    }

    fn show(&mut self, ShowArgs { debug_view, joint, skeleton, bind_pose, stage, dual_quaternions }: &ShowArgs) {
        self.option("--debug-view", (*debug_view != DebugView::Lit).then(|| debug_view.name()));
        self.option("--joint", joint.as_ref());
        self.switch("--skeleton", skeleton.then_some(true));
        if *bind_pose {
            self.0.push("--bind-pose".into());
        }
        self.option("--stage", (*stage != Stage::World).then(|| word(&Stage::ALL, *stage)));
        self.option("--blend", dual_quaternions.then_some("dual-quaternion"));
    }

    fn gpu(&mut self, GpuArgs { skinning, upload, size, lod_error, quality, device }: &GpuArgs) {
        let QualityArgs { msaa, shadows } = quality;
        let DeviceArgs { device, validation } = device;
        self.option("--skinning", (*skinning != Skinning::Compute).then(|| skinning.name()));
        self.option("--upload", upload.map(|path| path.name()));
        self.option("--size", Some(format!("{}x{}", size.width, size.height)));
        self.number("--lod-error", *lod_error, 1.0);
        self.option("--msaa", msaa.map(|samples| samples.to_string()));
        self.switch("--shadows", (!shadows).then_some(false));
        self.option("--device", device.as_ref());
        if *validation {
            self.0.push("--validation".into());
        }
    }
}

/// Returns a path that is no option.
fn file(path: &Path) -> OsString {
    let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_option { Path::new(".").join(path).into() } else { path.into() }
}

/// Returns the name of a value.
fn word<T: PartialEq>(all: &[(&'static str, T)], wanted: T) -> &'static str {
    all.iter().find(|(_, value)| *value == wanted).map_or("", |(name, _)| name)
}

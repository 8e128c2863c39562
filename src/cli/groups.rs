//! Groups of arguments that several commands share.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use serde::Serialize;

use super::values::{self, CameraChoice, Direction, LookAt, MorphArg, RootMotion, SamplesChoice, Size, UploadChoice};
use crate::animation::Stage;
use crate::crowd::{ClipChoice, CrowdSettings, Layout, MAX_INSTANCES, PhaseMode};
use crate::extras::DebugView;
use crate::model::Model;
use crate::model::import::SceneChoice;
use crate::renderer::Skinning;
use crate::view::{Background, Ground, Look, SunDirection};

/// The models of a crowd, their animation, the camera and the look of the picture.
#[derive(Debug, Clone, Args, Serialize)]
pub struct CrowdArgs {
    /// Model files (.gltf, .glb, .vrm), or folders of them; several make a mixed crowd. `FILE@1.6` scales one to a height in
    /// metres, and `FILE*5` has five instances for each of the others [default: the bundled character].
    #[serde(skip)]
    pub models: Vec<PathBuf>,
    #[command(flatten)]
    pub clips: ClipArgs,
    /// Leave out the parts whose node, mesh or material has this name; `*` stands for any text. May be repeated; `none` also
    /// shows colliders [default: colliders, by their names].
    #[arg(long, value_name = "PATTERN|none", allow_hyphen_values = true)]
    pub hide: Vec<String>,
    /// Clip to play: a name, an index, `none` for the rest pose, `all` for a mix, several names with a plus sign between them, or
    /// `together` for all clips at once. `auto` is a clip that stands, by its name, otherwise one that walks, one that repeats,
    /// or the first; in a crowd a mix of standing, walking and running; and all clips together, if each moves another part.
    #[arg(long, short = 'c', value_name = "NAME|INDEX|auto|none|all", default_value = "auto", value_parser = values::parse_clip)]
    pub clip: ClipChoice,
    /// Hold a morph target at a weight, also while a clip animates it. May be repeated; `throng inspect` lists the names.
    #[arg(long = "morph", value_name = "NAME=WEIGHT", value_parser = values::parse_morph)]
    pub morphs: Vec<MorphArg>,
    /// Time of the first frame in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub time: f64,
    /// Playback speed; negative plays backwards.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub speed: f64,
    /// Time in its clip at which each instance starts [default: random for a crowd, zero for one instance].
    #[arg(long, value_name = "random|zero", value_parser = values::one_of(values::PHASES))]
    pub phase: Option<PhaseMode>,
    /// Clips that carry the body away: let them, and start again where they began, or keep the body in place [default: in
    /// place, and the ground goes by under a single character].
    #[arg(long, value_name = "keep|in-place", value_parser = values::one_of(RootMotion::ALL))]
    pub root_motion: Option<RootMotion>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1, value_parser = values::whole_number(0..=u64::MAX), allow_negative_numbers = true)]
    pub seed: u64,
    /// Distance between neighbours in metres [default: from the width of each model].
    #[arg(long, value_name = "METRES", value_parser = values::positive(), allow_negative_numbers = true)]
    pub spacing: Option<f64>,
    /// Scale each model so that its rest pose has this height [default: as in the file].
    #[arg(long, value_name = "METRES", value_parser = values::positive(), allow_negative_numbers = true)]
    pub height: Option<f64>,
    /// Places of the instances: a lattice with some jitter, concentric rings, random places that are apart, a line of
    /// characters as their files describe them, or a street with rows that go both ways [default: line for one of each model, otherwise grid].
    #[arg(long, value_name = "grid|ring|scatter|line|march", value_parser = values::one_of(Layout::ALL))]
    pub layout: Option<Layout>,
    /// Variation of size and tint, from 0 (clones) to 1 [default: 0.5 for a crowd, 0 for one instance and in a line].
    #[arg(long, value_name = "0..1", value_parser = values::number(0.0..=1.0, "a number from 0 to 1"), allow_negative_numbers = true)]
    pub variety: Option<f64>,
    /// Let instances that walk go somewhere: along rings, at the speed of their feet or of their clip [default: on in a window for crowds of
    /// 24 and more, off elsewhere].
    #[arg(long, value_name = "on|off", value_parser = values::on_or_off())]
    pub travel: Option<bool>,
    #[command(flatten, next_help_heading = "Camera")]
    pub camera: CameraArgs,
    #[command(flatten, next_help_heading = "Light and background")]
    pub look: LookArgs,
    /// Leave out instances that are not in view and cast no visible shadow, before they are animated.
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub cull: bool,
    /// Share poses between instances of the same model and clip, with at least HZ poses per second of the clip. A large
    /// crowd then has far fewer poses to animate and skin [default: one pose for each instance].
    #[arg(long, value_name = "HZ", value_parser = values::positive(), allow_negative_numbers = true)]
    pub share_poses: Option<f64>,
    #[command(flatten, next_help_heading = "Skinning made visible")]
    pub show: ShowArgs,
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct ShowArgs {
    /// Show data instead of lit surfaces. `weights` is the sum of joint colours times weights, `joints` the colour of the
    /// strongest joint, `influences` the number of joints of each vertex (0 for rigid meshes), `lod` the level of
    /// detail: grey is full detail, then from green to red, the coarsest one.
    #[arg(long, value_name = "VIEW", default_value = "lit", value_parser = values::one_of(DebugView::ALL.map(|view| (view.name(), view))))]
    pub debug_view: DebugView,
    /// Show the weights of one joint: grey is 0, then blue, green (half), yellow and red (1). The index is that of the node
    /// in `throng inspect`.
    #[arg(long, value_name = "NAME|INDEX", conflicts_with = "debug_view")]
    pub joint: Option<String>,
    /// Draw bones and joint axes (x red, y green, z blue) over the characters.
    #[arg(long, value_name = "on|off", default_value = "off", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub skeleton: bool,
    /// Keep the characters in their bind pose: the joints have the inverses of their inverse bind matrices.
    #[arg(long)]
    pub bind_pose: bool,
    /// Stop the product `world_from_model * model_from_joint * joint_from_mesh * position` after one of its factors: in
    /// mesh space (as in the file), joint space (as seen from each joint), model space or world space.
    #[arg(long, value_name = "mesh|joint|model|world", default_value = "world", hide_possible_values = true, value_parser = values::one_of(Stage::ALL))]
    pub stage: Stage,
    /// How the joint matrices of a vertex are blended. glTF prescribes `linear`.
    #[arg(long = "blend", value_name = "linear|dual-quaternion", default_value = "linear", hide_possible_values = true, value_parser = values::one_of(values::BLENDS), action = ArgAction::Set)]
    #[serde(serialize_with = "values::blend")]
    pub dual_quaternions: bool,
}

/// Where the camera stands, and what it looks at.
#[derive(Debug, Clone, Default, Args, Serialize)]
pub struct CameraArgs {
    /// Camera: degrees around the crowd, degrees above the ground, and a factor for the distance; or a camera of the file, by
    /// name or index [default: frame the crowd].
    #[arg(long, value_name = "YAW,PITCH[,ZOOM]|NAME", value_parser = values::parse_camera, allow_hyphen_values = true)]
    pub camera: Option<CameraChoice>,
    /// Camera: front, back, left, right, top or three-quarter. Left is the characters' own left.
    #[arg(long, value_name = "SIDE", conflicts_with = "camera", value_parser = values::one_of(values::SIDES), hide_possible_values = true)]
    pub view: Option<Direction>,
    /// Look at a joint of the character in the middle, from close up, and follow it in a sequence; at a height in metres; or at
    /// a point of the world.
    #[arg(long, value_name = "JOINT|HEIGHT|X,Y,Z", value_parser = values::parse_look_at, allow_hyphen_values = true)]
    pub look_at: Option<LookAt>,
    /// Distance of the camera from what it looks at, in metres [default: so that it fits the image].
    #[arg(long, value_name = "METRES", value_parser = values::positive(), allow_negative_numbers = true)]
    pub distance: Option<f64>,
    /// Angle of view from the lower to the upper edge of the image [default: 40, 15 for a line of
    /// several characters, or that of the file's camera].
    #[arg(long, value_name = "DEGREES", value_parser = values::number(1.0..=120.0, "1 to 120 degrees"), allow_negative_numbers = true)]
    pub fov: Option<f64>,
}

#[derive(Debug, Clone, Copy, Args, Serialize)]
pub struct LookArgs {
    /// Background: sky, none (transparent in .png and .apng files), white, grey, black, or a colour such as #20406f.
    #[arg(long, value_name = "sky|none|COLOUR", default_value = "sky", value_parser = values::parse_background)]
    pub background: Background,
    /// Draw the ground and the shadows on it, without its pattern, or the shadows alone, also in a transparent image [default:
    /// on, or off with --background none or a --stage before world].
    #[arg(long, value_name = "on|plain|shadow|off", value_parser = values::one_of(Ground::ALL), action = ArgAction::Set)]
    pub ground: Option<Ground>,
    /// Exposure in stops, beside the one that fits the sun's height: each stop doubles the brightness. Unlit materials keep
    /// their colours.
    #[arg(long, value_name = "EV", default_value = "0", value_parser = values::number(-16.0..=16.0, "-16 to 16 stops"), allow_negative_numbers = true)]
    pub exposure: f64,
    /// Direction of the sun: degrees around the crowd (0 shines from +Z, 90 from +X) and degrees above the horizon [default:
    /// -48,53, or 132,53 for a crowd that faces -Z].
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = values::parse_sun, allow_hyphen_values = true)]
    pub sun: Option<SunDirection>,
}

/// The clips of other files, and the scene of a model's own file.
#[derive(Debug, Clone, Default, Args, Serialize)]
pub struct ClipArgs {
    /// Add the clips of another file (.gltf, .glb, .vrm, .vrma) to each model that they fit: to the same rig as they are, to
    /// humanoids retargeted, and otherwise by the names of nodes. May be repeated.
    #[arg(long = "clips", value_name = "FILE")]
    #[serde(skip)]
    pub files: Vec<PathBuf>,
    /// Scene to show if the file has several [default: the file's default scene].
    #[arg(long, value_name = "NAME|INDEX", value_parser = values::parse_scene)]
    pub scene: Option<SceneChoice>,
}

/// The size of a crowd, and the threads that animate it.
#[derive(Debug, Clone, Copy, Args, Serialize)]
pub struct CrowdSizeArgs {
    /// Number of instances [default: one of each model, or its share].
    #[arg(long, short = 'n', value_name = "N", value_parser = values::whole_number(1..=MAX_INSTANCES), allow_negative_numbers = true)]
    pub instances: Option<u32>,
    /// Number of threads that animate [default: the number of cores].
    #[arg(long, value_name = "N", value_parser = values::whole_number(1..=MOST_THREADS), allow_negative_numbers = true)]
    pub threads: Option<u32>,
}

impl CrowdSizeArgs {
    /// Returns the number of instances of a crowd of these models.
    pub fn instances(&self, models: &[Model]) -> u32 {
        let shares: u64 = models.iter().map(|model| u64::from(model.source.casting.shares)).sum();
        self.instances.unwrap_or(shares.clamp(1, MAX_INSTANCES.into()) as u32)
    }
}

pub(super) const MOST_THREADS: u32 = 256;

#[derive(Debug, Clone, Args, Serialize)]
pub struct GpuArgs {
    /// Skin vertices once per frame in a compute pass, or in the vertex shader of each pass.
    #[arg(long, value_name = "compute|vertex", default_value = "compute", value_parser = values::skinning())]
    pub skinning: Skinning,
    /// Write joint matrices directly to memory that shaders read, or to a staging buffer that the GPU copies. `auto` chooses
    /// by the device's memory types.
    #[arg(long, value_name = "auto|direct|staged", default_value = "auto", value_parser = values::upload())]
    pub upload: UploadChoice,
    /// Size of the image, or initial size of the window.
    #[arg(long, short = 's', value_name = "WxH", default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Size,
    /// Levels of detail: how much a simplified surface may change the picture, as an error in pixels. 0 is full detail.
    #[arg(long, value_name = "PIXELS", default_value = "1", value_parser = values::number(0.0..=values::MOST, "a number of pixels, 0 or more"), allow_negative_numbers = true)]
    pub lod_error: f64,
    #[command(flatten)]
    pub quality: QualityArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Args, Serialize)]
pub struct QualityArgs {
    /// Samples per pixel. `auto` is 4, and 1 in a window on a software driver.
    #[arg(long, value_name = "auto|1|2|4|8", default_value = "auto", value_parser = values::one_of([("auto", None), ("1", Some(1_u32)), ("2", Some(2)), ("4", Some(4)), ("8", Some(8))]))]
    pub msaa: SamplesChoice,
    /// Draw shadows.
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub shadows: bool,
}

impl QualityArgs {
    /// Returns the number of samples per pixel. The value of `auto` does not depend on the device.
    pub fn samples(self) -> u32 {
        const AUTO: u32 = 4;
        self.msaa.unwrap_or(AUTO)
    }
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct DeviceArgs {
    /// Device: its index in `throng devices`, or a part of its name [default: the best].
    #[arg(long, value_name = "INDEX|NAME")]
    pub device: Option<String>,
    /// Enable the Vulkan validation layers. If they report anything, the exit code is 1.
    #[arg(long)]
    pub validation: bool,
}

impl CrowdArgs {
    /// Returns the look of the picture. Without a background or a world there is no ground, unless the user asks for it.
    pub fn look(&self) -> Look {
        let LookArgs { background, ground, exposure, sun } = self.look;
        let is_in_world = self.show.stage == Stage::World;
        let has_ground = is_in_world && background != Background::None;
        let ground = ground.unwrap_or(if has_ground { Ground::On } else { Ground::Off });
        Look { background, ground, exposure_ev: exposure as f32, sun: sun.unwrap_or_default() }
    }

    /// Returns the settings of a crowd of this size, of so many models.
    pub fn settings(&self, instance_count: u32, models: usize) -> CrowdSettings {
        /// Enough to tell neighbours apart, and not so much that a model looks like another one.
        const VARIETY: f64 = 0.5;
        // A single instance looks as its file describes it.
        let variety = if instance_count == 1 { 0.0 } else { VARIETY };
        // One instance of each model is a line-up.
        let is_line_up = models > 1 && models == instance_count as usize;
        let layout = self.layout.unwrap_or(if is_line_up { Layout::Line } else { Layout::Grid });
        // A single instance at --time 0.4 shows the clip at 0.4 seconds, and characters in a line are compared.
        let is_one = instance_count == 1 || layout == Layout::Line;
        let phase = if is_one { PhaseMode::Zero } else { PhaseMode::Random };
        CrowdSettings {
            instance_count,
            spacing_metres: self.spacing.map(|metres| metres as f32),
            height_metres: self.height.map(|metres| metres as f32),
            layout,
            variety: self.variety.unwrap_or(variety) as f32,
            travel: self.travel.unwrap_or(false),
            follow: instance_count == 1 && self.root_motion.is_none() && self.travel != Some(true),
            seed: self.seed,
            phase: self.phase.unwrap_or(phase),
            clip: self.clip.clone(),
            speed: self.speed as f32,
            share_poses_hz: self.share_poses,
            in_model_space: self.show.stage != Stage::World,
        }
    }
}

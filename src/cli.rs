//! Arguments to typed settings: everything after this module deals in values that make sense.

mod bench;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::crowd::{ClipChoice, PhaseMode};
use crate::model::import::SceneChoice;
use crate::renderer::{Skinning, UploadPath};

pub use bench::{BenchArgs, BenchFiles, SweepArgs};

/// Draws crowds of skinned glTF characters with plain Vulkan 1.3.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  throng                                     the bundled character\n  throng Fox.glb --instances 1000 --clip all\n  throng render Fox.glb --time 0.4 --out fox.png\n  throng bench Fox.glb --instances 1000 --json bench.json"
)]
pub struct Cli {
    /// What to do; `view` if nothing is named.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Arguments of `view` without its name.
    #[command(flatten)]
    pub view: ViewArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the crowd in a window (one image to a file where there is no display).
    ///
    /// Drag with the left button to orbit, with the right one to pan, turn the wheel to zoom, F frames the crowd.
    /// Space pauses, 1 to 9 and [ ] choose the clip, Escape closes.
    #[command(
        after_help = "Examples:\n  throng view\n  throng view Fox.glb --instances 500 --clip all\n  throng view Fox.glb CesiumMan.glb --instances 200 --msaa 1"
    )]
    View(ViewArgs),
    /// Render one image, or a sequence, to PNG files.
    #[command(
        after_help = "Examples:\n  throng render Fox.glb --time 0.4 --out fox.png\n  throng render Fox.glb --instances 100 --frames 48 --fps 24 --out fox_%04d.png"
    )]
    Render(RenderArgs),
    /// Measure frames: offscreen, as fast as they come.
    ///
    /// Options that take a list are swept: one row for each combination, all of them measured in turns, so that a
    /// machine that slows down does so for every row. Times are in milliseconds; what the CPU does adds up to the
    /// frame, and the GPU's passes run at the same time.
    #[command(after_help = bench::EXAMPLES)]
    Bench(BenchArgs),
    /// Say what is in a model file. Needs no GPU.
    #[command(after_help = "Examples:\n  throng inspect Fox.glb\n  throng inspect Fox.glb --json")]
    Inspect(InspectArgs),
    /// Evaluate one instance: node matrices, joint matrices, skinned positions.
    #[command(
        after_help = "Examples:\n  throng pose Fox.glb --clip Run --time 0,0.25,0.5\n  throng pose Fox.glb --clip Run --time 0.4 --on gpu --json > pose.json"
    )]
    Pose(PoseArgs),
    /// List the Vulkan devices and what each offers.
    #[command(after_help = "Example:\n  throng devices")]
    Devices(DevicesArgs),
}

/// What stands in the crowd and how it moves.
#[derive(Debug, Clone, Args)]
pub struct SceneArgs {
    /// Model files (.gltf, .glb); several make a mixed crowd. Without one: the bundled character.
    pub models: Vec<PathBuf>,
    /// Which of the files' scenes; all files must have it.
    #[command(flatten)]
    pub scene: SceneArg,
    /// Clip to play: a name, an index, `none` for the rest pose, or `all` for a mix.
    #[arg(long, value_name = "NAME|INDEX|none|all", default_value = "0", value_parser = values::parse_clip)]
    pub clip: ClipChoice,
    /// Moment to show, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub time: f64,
    /// Playback speed; negative plays backwards.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub speed: f64,
    /// Where in its clip each instance starts [default: random for a crowd, zero for one instance].
    #[arg(long, value_name = "random|zero")]
    pub phase: Option<PhaseArg>,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Distance between neighbours, in metres [default: by the models' size].
    #[arg(long, value_name = "METRES", value_parser = values::parse_positive, allow_negative_numbers = true)]
    pub spacing: Option<f64>,
    /// Camera: degrees round the crowd, degrees above the ground, and a factor on the distance [default: frames the crowd].
    #[arg(long, value_name = "YAW,PITCH[,ZOOM]", value_parser = values::parse_camera, allow_hyphen_values = true)]
    pub camera: Option<CameraArg>,
    /// Whether instances outside the view are left out before they are animated.
    #[arg(long, value_name = "on|off", default_value = "on")]
    pub cull: Switch,
    /// Instances of the same model and clip share poses, at least HZ of them for each second of the clip; far fewer are
    /// animated and skinned [default: each has its own].
    #[arg(long, value_name = "HZ", value_parser = values::parse_positive, allow_negative_numbers = true)]
    pub share_poses: Option<f64>,
}

/// Which scene of a file.
#[derive(Debug, Clone, Args)]
pub struct SceneArg {
    /// Scene of the model to show, where its file has several [default: the one that the file names].
    #[arg(long, value_name = "NAME|INDEX", value_parser = values::parse_scene)]
    pub scene: Option<SceneChoice>,
}

impl SceneArg {
    /// The file's own where nothing is asked for.
    #[must_use]
    pub fn choice(&self) -> SceneChoice {
        self.scene.clone().unwrap_or_default()
    }
}

/// How many characters, and who moves them.
#[derive(Debug, Clone, Copy, Args)]
pub struct CrowdSizeArgs {
    /// Number of characters.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_INSTANCES), allow_negative_numbers = true)]
    pub instances: u32,
    /// Threads that animate [default: all cores].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS))]
    pub threads: Option<u32>,
}

/// More would take the CPU's memory before any limit of a device is met.
const MOST_INSTANCES: i64 = 1_000_000;
const MOST_THREADS: i64 = 256;

/// How it is drawn.
#[derive(Debug, Clone, Args)]
pub struct GpuArgs {
    /// Where vertices are skinned.
    #[arg(long, value_name = "compute|vertex", default_value = "compute")]
    pub skinning: SkinningArg,
    /// How joint matrices reach the GPU.
    #[arg(long, value_name = "auto|direct|staged", default_value = "auto")]
    pub upload: UploadArg,
    /// Size of the image, or of the window at first.
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Size,
    /// The picture.
    #[command(flatten)]
    pub quality: QualityArgs,
    /// Vulkan device.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// What the picture shows.
#[derive(Debug, Clone, Copy, Args)]
pub struct QualityArgs {
    /// Samples per pixel.
    #[arg(long, value_name = "1|2|4|8", default_value = "4", value_parser = values::parse_samples)]
    pub msaa: u32,
    /// Whether characters cast shadows.
    #[arg(long, value_name = "on|off", default_value = "on")]
    pub shadows: Switch,
}

/// Which Vulkan device.
#[derive(Debug, Clone, Args)]
pub struct DeviceArgs {
    /// Device by name (a part will do) or index, see `throng devices` [default: the best].
    #[arg(long, value_name = "NAME|INDEX")]
    pub device: Option<String>,
    /// Run under the Vulkan validation layers; any message makes the exit code 1.
    #[arg(long)]
    pub validation: bool,
}

/// Arguments of `view`.
#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    /// The crowd.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Its size.
    #[command(flatten)]
    pub count: CrowdSizeArgs,
    /// Drawing.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// Close after this many frames.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub frames: Option<u64>,
}

/// Arguments of `render`.
#[derive(Debug, Clone, Args)]
pub struct RenderArgs {
    /// The crowd.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Its size.
    #[command(flatten)]
    pub count: CrowdSizeArgs,
    /// Drawing.
    #[command(flatten)]
    pub gpu: GpuArgs,
    /// PNG file; with several frames it holds `%04d` (or another width), which becomes the frame's number.
    #[arg(long, short, value_name = "FILE.png")]
    pub out: PathBuf,
    /// Number of images.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: u32,
    /// Images per second of animation.
    #[arg(long, value_name = "F", default_value = "30", value_parser = values::parse_positive, allow_negative_numbers = true)]
    pub fps: f64,
}

/// Arguments of `inspect`.
#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// Model file (.gltf, .glb). Without one: the bundled character.
    pub model: Option<PathBuf>,
    /// Which of its scenes.
    #[command(flatten)]
    pub scene: SceneArg,
    /// For tools rather than people.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `pose`.
#[derive(Debug, Clone, Args)]
pub struct PoseArgs {
    /// Model file (.gltf, .glb). Without one: the bundled character.
    pub model: Option<PathBuf>,
    /// Which of its scenes.
    #[command(flatten)]
    pub scene: SceneArg,
    /// Clip: a name, an index, or `none` for the rest pose [default: the first].
    #[arg(long, value_name = "NAME|INDEX|none", value_parser = values::parse_clip)]
    pub clip: Option<ClipChoice>,
    /// Moments in seconds. They are not wrapped: before the first and after the last key the clip stands still.
    #[arg(long, value_name = "S,S…", value_delimiter = ',', default_value = "0", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub time: Vec<f64>,
    /// Who skins the vertices: the CPU twin, or `skin.comp`, read back from the transient vertex buffer.
    #[arg(long, value_name = "cpu|gpu", default_value = "cpu")]
    pub on: OnArg,
    /// For tools rather than people.
    #[arg(long)]
    pub json: bool,
    /// Vulkan device, with `--on gpu`.
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Arguments of `devices`.
#[derive(Debug, Clone, Args)]
pub struct DevicesArgs {
    /// For tools rather than people.
    #[arg(long)]
    pub json: bool,
}

/// `--phase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PhaseArg {
    Random,
    Zero,
}

/// A switch that is spelled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

/// `--skinning`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SkinningArg {
    Compute,
    Vertex,
}

impl From<SkinningArg> for Skinning {
    fn from(arg: SkinningArg) -> Self {
        match arg {
            SkinningArg::Compute => Self::Compute,
            SkinningArg::Vertex => Self::Vertex,
        }
    }
}

/// `--upload`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UploadArg {
    Auto,
    Direct,
    Staged,
}

impl UploadArg {
    /// `None`: by the device's memory types.
    #[must_use]
    pub fn path(self) -> Option<UploadPath> {
        match self {
            Self::Auto => None,
            Self::Direct => Some(UploadPath::Direct),
            Self::Staged => Some(UploadPath::Staged),
        }
    }
}

/// `pose --on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnArg {
    Cpu,
    Gpu,
}

/// An image's size in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// Width over height.
    #[must_use]
    pub fn aspect(self) -> f32 {
        self.width as f32 / self.height.max(1) as f32
    }
}

/// `--camera`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraArg {
    /// 0 looks at the crowd from the front (+Z), 90 from +X.
    pub yaw_degrees: f32,
    /// Above the ground.
    pub pitch_degrees: f32,
    /// Factor on the distance that frames the crowd.
    pub zoom: f32,
}

impl SceneArgs {
    /// Phases of a crowd of this size.
    #[must_use]
    pub fn phase_mode(&self, instance_count: u32) -> PhaseMode {
        match self.phase {
            Some(PhaseArg::Random) => PhaseMode::Random,
            Some(PhaseArg::Zero) => PhaseMode::Zero,
            // A single character at --time 0.4 should be in the pose of 0.4 seconds.
            None if instance_count == 1 => PhaseMode::Zero,
            None => PhaseMode::Random,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_view() {
        let cli = parse("throng Fox.glb Man.glb --instances 300 --clip all").unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.view.scene.models.len(), 2);
        assert_eq!(cli.view.count.instances, 300);
        assert_eq!(cli.view.scene.clip, ClipChoice::All);
        assert_eq!(parse("throng").unwrap().view.count.instances, 1);
    }

    #[test]
    fn values_become_typed() {
        let Ok(Cli { command: Some(Command::Render(args)), .. }) = parse(
            "throng render a.glb --scene Stage --size 640x360 --time -0.5 --clip Run --camera -30,20,1.5 --out x.png",
        ) else {
            panic!("does not parse");
        };
        assert_eq!(args.gpu.size, Size { width: 640, height: 360 });
        assert_eq!(args.scene.scene.choice(), SceneChoice::Name("Stage".to_owned()));
        assert_eq!(args.scene.time, -0.5);
        assert_eq!(args.scene.clip, ClipChoice::Name("Run".to_owned()));
        assert_eq!(args.scene.camera, Some(CameraArg { yaw_degrees: -30.0, pitch_degrees: 20.0, zoom: 1.5 }));
        assert_eq!(args.scene.phase_mode(1), PhaseMode::Zero);
        assert_eq!(args.scene.phase_mode(2), PhaseMode::Random);
    }

    #[test]
    fn wrong_values_are_refused() {
        for line in [
            "throng --instances 0",
            "throng --instances 99999999999",
            "throng --size 0x10",
            "throng --size 10",
            "throng --size 99999x1",
            "throng --time nan",
            "throng --time inf",
            "throng --msaa 3",
            "throng --threads 0",
            "throng --spacing 0",
            "throng --skinning geometry",
            "throng --camera 1",
            "throng render",
            "throng bench --frames 0",
            "throng --threads 1,2",
            "throng --size 64x48,32x24",
            "throng render --out x.png --skinning compute,vertex",
            "throng bench --skinning compute,geometry",
            "throng bench --upload direct,",
            "throng bench --instances 1,,2",
            "throng bench --size 64x48,64",
            "throng bench --threads 1,0",
            "throng --no-such-option",
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}

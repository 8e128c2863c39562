//! The command line: arguments become typed settings, so that all other modules deal with valid values.

#![forbid(unsafe_code)]

mod bench;
pub mod files;
mod groups;
pub mod keys;
mod line;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand};
use serde::Serialize;

use crate::crowd::{ClipChoice, MAX_INSTANCES};

pub use bench::{BenchArgs, SweepArgs};
pub use groups::{
    CameraArgs, ClipArgs, CrowdArgs, CrowdSizeArgs, DeviceArgs, GpuArgs, LookArgs, QualityArgs, ShowArgs,
};
pub use values::{
    CameraChoice, Direction, FrameChoice, LookAt, MOST_FRAMES, MeshFile, MeshFormat, MorphArg, RootMotion,
    SamplesChoice, SheetChoice, Size, UploadChoice,
};

/// Draws crowds of skinned glTF characters with plain Vulkan 1.3.
#[derive(Debug, Parser)]
#[command(
    name = "throng",
    version = env!("THRONG_VERSION"),
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  throng                                     the bundled character\n  throng Fox.glb --instances 1000 --clip all\n  throng render Fox.glb --time 0.4 --out fox.png\n  throng bench Fox.glb --instances 1000 --json bench.json"
)]
pub struct Cli {
    /// The command; `view` if there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub view: ViewArgs,
}

/// Arguments that do not fit together. The exit code is the one of arguments that cannot be parsed.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUsage(pub String);

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a crowd in a window, or write one image if there is no display.
    ///
    /// On a software driver the window starts with one sample per pixel, unless an option says otherwise.
    #[command(
        after_help = keys::help() + "\n\nExamples:\n  throng view\n  throng view Fox.glb --instances 500 --clip all\n  throng view Fox.glb CesiumMan.glb --instances 200 --msaa 1\n  throng view --instances 100 --layout scatter --travel off\n  throng view --debug-view weights --skeleton on"
    )]
    View(ViewArgs),
    /// Render one image, a contact sheet, a sequence of images, or a film.
    ///
    /// The extension of --out decides: .png or .jpg for images, .apng for a film. Without --frames, a film lasts for whole
    /// loops of the clip, about four seconds. The program ffmpeg turns numbered images into films of other formats.
    #[command(
        after_help = "Examples:\n  throng render Fox.glb --time 0.4 --out fox.png\n  throng render Fox.glb --sun 60,12 --exposure 0.5 --out evening.png\n  throng render Fox.glb --background none --turntable --out fox.apng\n  throng render Fox.glb --clip all --sheet auto --out clips.png\n  throng render Fox.glb --instances 100 --frames 48 --fps 24 --out fox_%04d.png\n  throng render Fox.glb --instances 100 --frames 24..48 --fps 24 --out fox_%04d.png"
    )]
    Render(RenderArgs),
    /// Measure frames, drawn offscreen as fast as possible.
    ///
    /// Some options take a list. Each combination of their values is a row of the result. Rows are measured in turns, so that
    /// all of them are slower if the machine slows down. Times are in milliseconds. The CPU's stages add up to the frame;
    /// the GPU's passes run at the same time.
    #[command(after_help = bench::EXAMPLES)]
    Bench(Box<BenchArgs>),
    /// Describe the contents of a model file, or compare several. Needs no GPU.
    #[command(
        after_help = "Examples:\n  throng inspect Fox.glb\n  throng inspect Fox.glb --json\n  throng inspect avatars/*.vrm"
    )]
    Inspect(InspectArgs),
    /// Evaluate one instance: write the posed mesh, or print node matrices, joint matrices and skinned positions.
    ///
    /// The text lists at most 40 matrices of a kind, and positions only if there are at most 40 vertices. --json has all node
    /// matrices, joint matrices and positions. --out writes the posed mesh for other programs and for 3D printers.
    #[command(
        after_help = "Examples:\n  throng pose Fox.glb --clip Run --time 0.4 --out fox.stl\n  throng pose Fox.glb --instances 100 --out crowd.glb\n  throng pose Fox.glb --clip Run --time 0,0.25,0.5\n  throng pose Fox.glb --clip Run --time 0.4 --on gpu --json > pose.json"
    )]
    Pose(PoseArgs),
    /// Print a crowd and its camera as JSON, for other programs. Needs no GPU.
    ///
    /// `camera` frames the crowd as `render` and `bench` do in an image of --size. Each instance has a model, a placement, a
    /// clip and the time in the clip at which it starts. Matrices are column-major, and colours are linear RGB.
    #[command(
        after_help = "Examples:\n  throng crowd Fox.glb --instances 1000 > crowd.json\n  throng crowd Fox.glb --instances 1000 --variety 0 --size 64x64 > crowd.json"
    )]
    Crowd(PrintCrowdArgs),
    /// List the Vulkan devices and their capabilities.
    #[command(after_help = "Example:\n  throng devices")]
    Devices {
        /// Print JSON, for programs.
        #[arg(long)]
        json: bool,
    },
    /// Print a script that completes commands and options in a shell.
    #[command(
        after_help = "Examples:\n  throng completions bash > ~/.local/share/bash-completion/completions/throng\n  throng completions zsh > ~/.zfunc/_throng\n  throng completions fish > ~/.config/fish/completions/throng.fish"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of one command, in the format of `man`.
    #[command(after_help = "Examples:\n  throng man | man -l -\n  throng man render > throng-render.1")]
    Man {
        /// The command [default: all of the program].
        command: Option<String>,
    },
}

#[derive(Debug, Clone, Args)]
pub struct ViewArgs {
    #[command(flatten)]
    pub crowd: CrowdArgs,
    #[command(flatten)]
    pub count: CrowdSizeArgs,
    #[command(flatten, next_help_heading = "Drawing")]
    pub gpu: GpuArgs,
    /// Seconds in which the characters blend from one clip to another when the clip changes. 0 is off.
    #[arg(long, value_name = "S", default_value = "0.25", value_parser = values::number(0.0..=values::MOST, "a number of seconds, 0 or more"), allow_negative_numbers = true)]
    pub fade: f64,
    /// Image to write if there is no display (.png). A file of that name is replaced [default: throng.png, or the next free
    /// name]. In a window P writes images.
    #[arg(long, short, value_name = "FILE.png", value_parser = values::file_ending_with("png"))]
    pub out: Option<PathBuf>,
    /// Load the models again when their files change. A program built with `--features shaderc` also compiles the shaders in
    /// the folder `shaders` again.
    #[arg(long)]
    pub watch: bool,
    /// Show the panel with all controls.
    #[arg(long, value_name = "on|off", default_value = "on", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub panel: bool,
    /// Close the window after N frames.
    #[arg(long, value_name = "N", value_parser = values::whole_number(1..=u64::MAX))]
    pub frames: Option<u64>,
}

#[derive(Debug, Clone, Args, Serialize)]
pub struct RenderArgs {
    #[command(flatten)]
    pub crowd: CrowdArgs,
    #[command(flatten)]
    pub count: CrowdSizeArgs,
    #[command(flatten, next_help_heading = "Drawing")]
    pub gpu: GpuArgs,
    /// File to write. For several images, the name must contain `%04d` (or another width) for the frame's number.
    #[arg(long, short, value_name = "FILE")]
    #[serde(skip)]
    pub out: PathBuf,
    /// Number of frames, or a part of a longer sequence: A..B draws the frames A to B-1, each exactly as in the whole
    /// [default: 1; for a film or a turntable about four seconds].
    #[arg(long, value_name = "N|A..B", value_parser = values::parse_frames)]
    #[serde(skip)]
    pub frames: Option<FrameChoice>,
    /// Let the camera go around the crowd once in N frames [default: --frames N, otherwise about four seconds].
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, value_parser = values::whole_number(1..=MOST_FRAMES), allow_negative_numbers = true)]
    #[serde(skip)]
    pub turntable: Option<Option<u32>>,
    /// Draw a contact sheet: times of the clip in COLUMNSxROWS, with `--clip all` all clips with their names, and of several models
    /// one picture each. `auto` has as many columns and rows as it takes.
    #[arg(long, value_name = "COLUMNSxROWS|auto", conflicts_with_all = ["frames", "turntable"], value_parser = values::parse_sheet)]
    #[serde(skip)]
    pub sheet: Option<SheetChoice>,
    /// Frames per second of animation.
    #[arg(long, value_name = "F", default_value = "30", value_parser = values::positive(), allow_negative_numbers = true)]
    pub fps: f64,
}

#[derive(Debug, Clone, Args)]
pub struct InspectArgs {
    /// Model files (.gltf, .glb, .vrm); several make a table [default: the bundled character].
    pub models: Vec<PathBuf>,
    #[command(flatten)]
    pub clips: ClipArgs,
    /// Build the levels of detail and list them with their errors.
    #[arg(long)]
    pub levels: bool,
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Args)]
pub struct PoseArgs {
    /// Model file (.gltf, .glb, .vrm) [default: the bundled character].
    pub model: Option<PathBuf>,
    #[command(flatten)]
    pub clips: ClipArgs,
    /// Leave out the parts whose node, mesh or material has this name; `*` stands for any text. May be repeated; `none` also
    /// shows colliders [default: colliders, by their names].
    #[arg(long, value_name = "PATTERN|none", allow_hyphen_values = true)]
    pub hide: Vec<String>,
    /// Clip: a name, an index, several with a plus sign between them, `together` for all at once, or `none` for the rest pose
    /// [default: the first, or with --out the one that `render` shows].
    #[arg(long, short = 'c', value_name = "NAME|INDEX|together|none", value_parser = values::parse_clip)]
    pub clip: Option<ClipChoice>,
    /// Hold a morph target at a weight, also while a clip animates it. May be repeated; `throng inspect` lists the names.
    #[arg(long = "morph", value_name = "NAME=WEIGHT", value_parser = values::parse_morph)]
    pub morphs: Vec<MorphArg>,
    /// How the joint matrices of a vertex are blended. glTF prescribes `linear`.
    #[arg(long = "blend", value_name = "linear|dual-quaternion", default_value = "linear", hide_possible_values = true, value_parser = values::one_of(values::BLENDS), action = ArgAction::Set)]
    pub dual_quaternions: bool,
    /// Times in seconds. The clip does not repeat: it stands still before its first key and after its last one.
    #[arg(long, value_name = "S,S…", value_delimiter = ',', default_value = "0", value_parser = values::parse_finite, allow_negative_numbers = true)]
    pub time: Vec<f64>,
    /// Also print the way of each vertex in the last SECONDS before each time.
    #[arg(long = "motion", value_name = "SECONDS", value_parser = values::parse_finite)]
    pub motion_seconds: Option<f64>,
    /// Skin the vertices on the CPU, or on the GPU with `skin.comp`. Matrices always come from the CPU.
    #[arg(long = "on", value_name = "cpu|gpu", default_value = "cpu", value_parser = values::one_of([("cpu", false), ("gpu", true)]), action = ArgAction::Set)]
    pub on_gpu: bool,
    /// Write the posed mesh to a file, without joints and clips: .glb with materials, textures and nodes, .obj with normals and
    /// texture coordinates, .ply with normals and colours, or .stl for 3D printers, in millimetres with +Z up. For several
    /// times the files are numbered.
    #[arg(long, short, value_name = "FILE", value_parser = values::parse_mesh_file)]
    pub out: Option<MeshFile>,
    /// Write a crowd to --out, as `throng render --instances N` places and animates it: a mesh for each pose, and a node for
    /// each instance.
    #[arg(long, short = 'n', value_name = "N", requires = "out", conflicts_with_all = ["json", "motion_seconds", "on_gpu"], value_parser = values::whole_number(1..=MAX_INSTANCES), allow_negative_numbers = true)]
    pub instances: Option<u32>,
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}

#[derive(Debug, Clone, Parser)]
pub struct PrintCrowdArgs {
    #[command(flatten)]
    pub crowd: CrowdArgs,
    #[command(flatten)]
    pub count: CrowdSizeArgs,
    /// Size of the image that the camera frames the crowd for.
    #[arg(long, short = 's', value_name = "WxH", default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Size,
}

impl PoseArgs {
    /// Returns the arguments of `crowd` for a crowd of the same model, with its clips. Without a clip it mixes what crowds mix.
    pub fn as_crowd(&self, instances: u32) -> PrintCrowdArgs {
        let mut args = PrintCrowdArgs::parse_from([""]);
        args.count.instances = Some(instances);
        args.crowd = CrowdArgs {
            models: self.model.iter().cloned().collect(),
            clips: self.clips.clone(),
            hide: self.hide.clone(),
            clip: self.clip.clone().unwrap_or(args.crowd.clip),
            morphs: self.morphs.clone(),
            ..args.crowd
        };
        args.crowd.show.dual_quaternions = self.dual_quaternions;
        args
    }
}

impl Cli {
    /// Gives each option of the values `on` and `off` that stands without one the value `on`, which a person means by it. clap
    /// would take the next argument for the value, and that may be a model's file.
    pub fn with_switch_values(arguments: Vec<OsString>) -> Vec<OsString> {
        let command = Self::command();
        let values = |argument: &clap::Arg| -> Vec<OsString> {
            argument.get_possible_values().iter().map(|value| value.get_name().into()).collect()
        };
        let all = std::iter::once(&command).chain(command.get_subcommands()).flat_map(clap::Command::get_arguments);
        let switches: Vec<(OsString, Vec<OsString>)> = all
            .filter_map(|argument| Some((format!("--{}", argument.get_long()?).into(), values(argument))))
            .filter(|(_, values)| ["on", "off"].iter().all(|word| values.contains(&OsString::from(word))))
            .collect();
        let mut completed = Vec::with_capacity(arguments.len());
        let mut rest = arguments.into_iter().peekable();
        while let Some(argument) = rest.next() {
            let values = switches.iter().find(|(switch, _)| *switch == argument).map(|(_, values)| values);
            completed.push(argument);
            if values.is_some_and(|values| !rest.peek().is_some_and(|next| values.contains(next))) {
                completed.push("on".into());
            }
        }
        completed
    }

    /// Returns the message for a first argument that looks like a command but is neither a command nor a file, or for a
    /// command that is not the first argument. Returns `None` if the arguments can be parsed. Without this, both would be files
    /// of models, and the message would be about a file or about the options after it. `arguments` begin with the name of the
    /// program.
    pub fn wrong_command(arguments: &[OsString]) -> Option<String> {
        /// The least similarity of a suggestion, the same as that of clap.
        const SIMILAR: f64 = 0.7;
        let word = arguments.get(1)?.to_str()?;
        let command = Self::command();
        let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).chain(["help"]).collect();
        if names.contains(&word) {
            return None;
        }
        // The name of a command after models or options would be a model, too. After an option it may be the option's value.
        let mut later = arguments.windows(2).skip(1).filter_map(|pair| Some((pair[0].to_str()?, pair[1].to_str()?)));
        let is_misplaced = |&(before, word): &(&str, &str)| {
            !before.starts_with('-') && names.contains(&word) && !Path::new(word).exists()
        };
        if let Some((_, word)) = later.find(is_misplaced) {
            return Some(format!("{word}: a command is the first argument: throng {word} …"));
        }
        let is_word = word.starts_with(char::is_alphanumeric) && word.chars().all(|c| c.is_alphanumeric() || c == '-');
        if !is_word || Path::new(word).exists() {
            return None;
        }
        let similarity = |name: &&str| strsim::jaro(&word.to_lowercase(), name);
        let best = names.into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        let wish = WISHES.into_iter().find(|(words, _)| words.split(' ').any(|other| other == word.to_lowercase()));
        let advice = match (wish, best.filter(|name| similarity(name) > SIMILAR)) {
            (Some((_, command)), _) => format!("try `{command}`"),
            (None, Some(name)) => format!("did you mean {name}?"),
            (None, None) => "`throng --help` lists the commands".to_owned(),
        };
        Some(format!("{word}: no such command or file; {advice}"))
    }
}

/// Words that newcomers type in place of a command, and the commands that do it.
const WISHES: [(&str, &str); 6] = [
    ("info check show stats list validate", "throng inspect FILE"),
    ("portrait face", "throng render FILE --look-at head --view front --out portrait.png"),
    ("lineup line-up row", "throng render FILE FILE FILE --layout line --out row.png"),
    ("print pose mesh export stl obj ply convert bake", "throng pose FILE --time SECONDS --out posed.stl"),
    ("sheet overview thumbnails contact", "throng render FILE --clip all --sheet auto --out sheet.png"),
    ("turntable film video animate", "throng render FILE --turntable --out film.apng"),
];

//! The arguments of `bench`. Some of its options take a list where those of other commands take one value.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::groups::{CrowdArgs, DeviceArgs, MOST_THREADS, QualityArgs};
use super::values::{self, Size, UploadChoice};
use crate::crowd::MAX_INSTANCES;
use crate::renderer::Skinning;

/// The end of `bench --help`.
pub(super) const EXAMPLES: &str = "\
Examples:
  throng bench Fox.glb --instances 1000
  throng bench Fox.glb --instances 1,10,100,1000 --plot frame.svg
  throng bench Fox.glb --instances 1000 --skinning compute,vertex --serialize on --json bench.json
  throng bench Fox.glb --instances 1000 --against ../before/throng --fail-above 5
  throng bench Fox.glb --fit 33.3 --skinning compute,vertex

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a row is slower than --fail-above allows, 130 a second Ctrl-C. After the
first Ctrl-C, finished rows are reported, marked as partial, and the exit code is 1.";

#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub crowd: CrowdArgs,
    #[command(flatten)]
    pub sweep: SweepArgs,
    #[command(flatten)]
    pub quality: QualityArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Number of frames to measure for each row.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = values::whole_number(1..=100_000_u32), allow_negative_numbers = true)]
    pub frames: u32,
    /// Number of frames to draw first in each turn of a row, which are not measured.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::whole_number(0..=100_000_u32), allow_negative_numbers = true)]
    pub warmup: u32,
    /// Let each pass wait for the pass before it, and each frame for the frame before it, so that the time of a pass is its
    /// own. Otherwise passes may overlap, for example skinning and the fragments of the previous frame. Frames become slower.
    #[arg(long, value_name = "on|off", default_value = "off", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub serialize: bool,
    /// Find the largest crowd whose median frame stays below this many milliseconds, for each combination of the other lists.
    #[arg(long, value_name = "MS", conflicts_with = "instances", value_parser = values::positive(), allow_negative_numbers = true)]
    pub fit: Option<f64>,
    /// Write all results to a JSON file; `-` is standard output, and the table then goes to standard error.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Plot the frame time against the number of instances, with the share of each stage.
    #[arg(long, value_name = "FILE.svg", value_parser = values::file_ending_with("svg"))]
    pub plot: Option<PathBuf>,
    /// Measure another build of this program in turns with this one, and print the ratios. A slow minute hits both programs.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["json", "plot", "fit"])]
    pub against: Option<PathBuf>,
    /// End with exit code 3 if the frames of a row became slower, and by more than this.
    #[arg(long, value_name = "PERCENT", requires = "against", value_parser = values::parse_percent, allow_negative_numbers = true)]
    pub fail_above: Option<f64>,
}

/// The lists of the sweep. There is a row for each combination.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Numbers of instances.
    #[arg(long, short = 'n', value_name = "N,N…", value_delimiter = ',', default_value = "1000", value_parser = values::whole_number(1..=MAX_INSTANCES), allow_negative_numbers = true)]
    pub instances: Vec<u32>,
    /// Skin vertices once per frame in a compute pass, in the vertex shader of each pass, or both for comparison.
    #[arg(long, value_name = "compute,vertex", value_delimiter = ',', default_value = "compute", value_parser = values::skinning())]
    pub skinning: Vec<Skinning>,
    /// Write joint matrices directly to memory that shaders read, to a staging buffer that the GPU copies, or both for
    /// comparison. `auto` is one of the two, by the device's memory types.
    #[arg(long, value_name = "auto,direct,staged", value_delimiter = ',', default_value = "auto", value_parser = values::upload())]
    pub upload: Vec<UploadChoice>,
    /// Numbers of threads that animate [default: the number of cores].
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = values::whole_number(1..=MOST_THREADS), allow_negative_numbers = true)]
    pub threads: Vec<u32>,
    /// Levels of detail: how much a simplified surface may change the picture, as errors in pixels. 0 is full detail.
    #[arg(long, value_name = "PIXELS,PIXELS…", value_delimiter = ',', default_value = "1", value_parser = values::number(0.0..=values::MOST, "a number of pixels, 0 or more"), allow_negative_numbers = true)]
    pub lod_error: Vec<f64>,
    /// Sizes of the image.
    #[arg(long, short = 's', value_name = "WxH,WxH…", value_delimiter = ',', default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Vec<Size>,
}

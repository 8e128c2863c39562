//! The arguments of `bench`. Some of its options take a list where those of other commands take one value.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::groups::{CrowdArgs, DeviceArgs, GpuArgs, MOST_INSTANCES, MOST_THREADS, QualityArgs};
use super::values::{self, Size, UploadChoice};
use crate::renderer::Skinning;

/// The end of `bench --help`.
pub(super) const EXAMPLES: &str = "\
Examples:
  throng bench Fox.glb --instances 1000
  throng bench Fox.glb --instances 1,10,100,1000 --plot frame.svg
  throng bench Fox.glb --instances 1000 --skinning compute,vertex --serialize on --csv bench.csv
  throng bench Fox.glb --instances 1,1000 --json before.json
  throng bench Fox.glb --instances 1,1000 --compare before.json";

/// The arguments of `bench`.
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
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Number of frames to draw first in each turn of a row, which are not measured.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub warmup: u32,
    /// Let each pass wait for the pass before it, and each frame for the frame before it, so that the time of a pass is its
    /// own. Otherwise passes may overlap, for example skinning and the fragments of the previous frame. Frames become slower.
    #[arg(long, value_name = "on|off", default_value = "off", value_parser = values::on_or_off(), action = ArgAction::Set)]
    pub serialize: bool,
    #[command(flatten)]
    pub files: BenchFiles,
}

/// The lists of the sweep. There is a row for each combination.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Numbers of instances.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=MOST_INSTANCES), allow_negative_numbers = true)]
    pub instances: Vec<u32>,
    /// Skin vertices once per frame in a compute pass, in the vertex shader of each pass, or both for comparison.
    #[arg(long, value_name = "compute,vertex", value_delimiter = ',', default_value = "compute", value_parser = values::skinning())]
    pub skinning: Vec<Skinning>,
    /// Write joint matrices directly to memory that shaders read, to a staging buffer that the GPU copies, or both for
    /// comparison. `auto` is one of the two, by the device's memory types.
    #[arg(long, value_name = "auto,direct,staged", value_delimiter = ',', default_value = "auto", value_parser = values::upload())]
    pub upload: Vec<UploadChoice>,
    /// Numbers of threads that animate [default: the number of cores].
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS))]
    pub threads: Vec<u32>,
    /// Sizes of the image.
    #[arg(long, value_name = "WxH,WxH…", value_delimiter = ',', default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Vec<Size>,
}

/// The files of `bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchFiles {
    /// Write all results to a JSON file.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a CSV file with a line for each row. Columns are named after the JSON keys.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Plot the frame time against the number of instances, with the share of each stage.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Compare the results with the --json file of an earlier run.
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
}

impl BenchArgs {
    /// Returns the renderer's settings for one combination.
    #[must_use]
    pub fn gpu(&self, size: Size, skinning: Skinning, upload: UploadChoice) -> GpuArgs {
        let Self { quality, serialize, .. } = *self;
        GpuArgs { skinning, upload, size, lod_error: 1.0, quality, device: self.device.clone(), serialize }
    }
}

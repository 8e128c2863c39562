//! Arguments of `bench`: what other commands take once, it may take as a list.

use std::path::PathBuf;

use clap::Args;

use super::{
    DeviceArgs, GpuArgs, MOST_INSTANCES, MOST_THREADS, QualityArgs, SceneArgs, Size, SkinningArg, UploadArg, values,
};

/// At the end of `bench --help`.
pub(super) const EXAMPLES: &str = "\
Examples:
  throng bench Fox.glb --instances 1000
  throng bench Fox.glb --instances 1,10,100,1000 --plot frame.svg
  throng bench Fox.glb --instances 1000 --skinning compute,vertex --upload direct,staged --csv bench.csv
  throng bench Fox.glb --instances 1,1000 --json before.json
  throng bench Fox.glb --instances 1,1000 --compare before.json";

/// Arguments of `bench`.
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// The crowd.
    #[command(flatten)]
    pub scene: SceneArgs,
    /// What is varied.
    #[command(flatten)]
    pub sweep: SweepArgs,
    /// The picture.
    #[command(flatten)]
    pub quality: QualityArgs,
    /// Vulkan device.
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Frames of each row that are measured.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Frames before them, in each turn, which are not.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub warmup: u32,
    /// What is read and written.
    #[command(flatten)]
    pub files: BenchFiles,
}

/// What is varied: a row for each combination.
#[derive(Debug, Clone, Args)]
pub struct SweepArgs {
    /// Numbers of characters.
    #[arg(long, value_name = "N,N…", value_delimiter = ',', default_value = "1000", value_parser = clap::value_parser!(u32).range(1..=MOST_INSTANCES), allow_negative_numbers = true)]
    pub instances: Vec<u32>,
    /// Where vertices are skinned: `compute`, `vertex` or both.
    #[arg(long, value_name = "compute,vertex", value_delimiter = ',', default_value = "compute")]
    pub skinning: Vec<SkinningArg>,
    /// How joint matrices reach the GPU; `auto` is one of the other two.
    #[arg(long, value_name = "auto,direct,staged", value_delimiter = ',', default_value = "auto")]
    pub upload: Vec<UploadArg>,
    /// Numbers of threads that animate [default: all cores].
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=MOST_THREADS))]
    pub threads: Vec<u32>,
    /// Sizes of the image.
    #[arg(long, value_name = "WxH,WxH…", value_delimiter = ',', default_value = "1280x720", value_parser = values::parse_size)]
    pub size: Vec<Size>,
}

/// Files beside the table on the terminal.
#[derive(Debug, Clone, Args)]
pub struct BenchFiles {
    /// Write everything here, for programs.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a line for each row here, for spreadsheets; columns are named as in the JSON file.
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Draw the frame's time by the number of characters here, with the share of each stage.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Say what has changed since this file was written with --json.
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,
}

impl BenchArgs {
    /// How one combination is drawn.
    #[must_use]
    pub fn gpu(&self, size: Size, skinning: SkinningArg, upload: UploadArg) -> GpuArgs {
        GpuArgs { skinning, upload, size, quality: self.quality, device: self.device.clone() }
    }
}

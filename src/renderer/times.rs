//! The parts of a frame and their times.
//!
//! The CPU's stages follow each other. The GPU's passes run while the CPU prepares the next frame. Everything that measures
//! or shows times iterates over [`CpuStage::ALL`] and [`Pass::ALL`], so a new part is one variant.

use std::time::Instant;

use ash::vk;

/// The stages of a frame on the CPU, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuStage {
    /// Moving the instances that travel, and finding the visible instances and poses.
    Cull,
    /// Building what is missing, waiting until the GPU has finished the slot's last frame, planning this one, and acquiring and
    /// presenting the image of a window.
    Wait,
    /// Evaluating clips to joint matrices in mapped memory.
    Animate,
    /// Writing the instances, recording and submitting.
    Record,
}

/// The passes of a frame on the GPU, in order. Each is a labelled region in captures and has its own timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The copies of the staged path.
    Upload,
    /// `skin.comp`.
    Skin,
    Shadow,
    /// Characters, ground, sky and the resolve of samples.
    Draw,
    /// Tone mapping and, if the frame is captured, the copy for readback.
    Post,
}

/// The time of each stage of a frame in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StageTimes(pub [f64; CpuStage::COUNT]);

/// The time of each pass of a frame in milliseconds, from the end of the pass before. It includes the time that a pass
/// waits, for example for the previous frame's readers of the shadow map.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PassTimes(pub [f64; Pass::COUNT]);

impl CpuStage {
    pub const ALL: [Self; 4] = [Self::Cull, Self::Wait, Self::Animate, Self::Record];
    pub const COUNT: usize = Self::ALL.len();

    pub fn name(self) -> &'static str {
        ["cull", "wait", "animate", "record"][self as usize]
    }
}

impl Pass {
    pub const ALL: [Self; 5] = [Self::Upload, Self::Skin, Self::Shadow, Self::Draw, Self::Post];
    pub const COUNT: usize = Self::ALL.len();

    /// Returns the last pass that ran if the GPU has written so many timestamps: at the start of the frame and after each pass.
    pub fn after_timestamps(written: usize) -> Self {
        Self::ALL[written.saturating_sub(1).min(Self::COUNT - 1)]
    }

    /// Returns the name, as in captures and files.
    pub fn name(self) -> &'static str {
        self.label().to_str().unwrap_or_default()
    }

    pub(super) fn label(self) -> &'static std::ffi::CStr {
        [c"upload", c"skin", c"shadow", c"draw", c"post"][self as usize]
    }

    pub(super) fn last_stage(self) -> vk::PipelineStageFlags2 {
        match self {
            Self::Upload => vk::PipelineStageFlags2::COPY,
            Self::Skin => vk::PipelineStageFlags2::COMPUTE_SHADER,
            Self::Shadow => vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS,
            Self::Draw => vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
            // The copy for readback follows the colour output.
            Self::Post => vk::PipelineStageFlags2::ALL_COMMANDS,
        }
    }
}

// Both lists are complete.
const _: () = assert!(CpuStage::Record as usize + 1 == CpuStage::COUNT && Pass::Post as usize + 1 == Pass::COUNT);

pub(super) struct Stopwatch(Instant);

impl Stopwatch {
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the last call in milliseconds.
    pub fn lap_ms(&mut self) -> f64 {
        let now = Instant::now();
        let elapsed = now - std::mem::replace(&mut self.0, now);
        elapsed.as_secs_f64() * 1e3
    }
}

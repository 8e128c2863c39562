//! The renderer: from the visible poses of a crowd to an image in a window or a file.
//!
//! * [`frame`]: the whole frame, its CPU half and its GPU half; [`extras`]: the places where a program adds to it;
//! * [`passes`]: one file per pass, with shaders of the same name; [`layouts`]: the descriptor sets;
//! * `slot`: one frame in flight, with its streams and its pages of the transient vertex buffer;
//! * [`resident`]: geometry, materials and textures, which are uploaded once, and the light;
//! * [`output`]: the images that a frame draws to;
//! * `assembly`: the struct [`Renderer`], and its construction; [`settings`] and [`shot`]: its input; [`mod@error`];
//! * [`memory`]: the arithmetic of device memory; [`work`] and [`times`]: reports of the last frame.
//!
//! Invariants: the CPU writes a slot's memory only after the GPU has finished the slot's last frame. A steady frame creates
//! no Vulkan object, allocates no memory and writes no descriptor. The renderer sees the plain
//! [`Model`](crate::model::Model), never a file format. It waits for the device once, in its `Drop`.

mod assembly;
pub mod error;
pub mod extras;
pub mod frame;
pub mod layouts;
pub mod memory;
pub mod output;
pub mod passes;
pub mod resident;
pub mod settings;
pub mod shot;
mod slot;
pub mod times;
pub mod work;

pub use assembly::Renderer;
pub use error::{Error, Setting};
pub use extras::Extras;
pub use frame::Frame;
pub use output::Output;
pub use settings::{ByteCounts, FrameOutcome, LimitCaps, RendererSettings, Shadows, Skinning, UploadPath};
pub use shot::Shot;
pub use slot::FrameMemory;
pub use times::{CpuStage, Pass, PassTimes, StageTimes};
pub use work::{DrawCounts, ViewCounts};

pub use crate::vulkan::spirv::ShaderOverride;

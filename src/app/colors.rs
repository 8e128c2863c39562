//! The colours of the parts of a frame in graphs and plots, as sRGB. After Okabe and Ito, so they suit colour-blind readers.

use crate::renderer::{CpuStage, Pass};

/// The colours of the CPU's stages: cull, wait, animate, record.
pub const STAGES: [[u8; 3]; CpuStage::COUNT] =
    [[0x56, 0xb4, 0xe9], [0xb0, 0xb0, 0xb0], [0x00, 0x72, 0xb2], [0xe6, 0x9f, 0x00]];
/// The colours of the GPU's passes: upload, skin, shadow, draw, post.
pub const PASSES: [[u8; 3]; Pass::COUNT] =
    [[0x8c, 0x6b, 0xb1], [0x00, 0x9e, 0x73], [0x6e, 0x7f, 0x94], [0xd5, 0x5e, 0x00], [0xf0, 0xe4, 0x42]];

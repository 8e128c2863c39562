//! The colours of the parts of a frame in graphs and plots, as sRGB. After Okabe and Ito, so they suit colour-blind readers.

use crate::renderer::{CpuStage, Pass};

pub fn of_stage(stage: CpuStage) -> [u8; 3] {
    match stage {
        CpuStage::Cull => [0x56, 0xb4, 0xe9],
        CpuStage::Wait => [0xb0, 0xb0, 0xb0],
        CpuStage::Animate => [0x00, 0x72, 0xb2],
        CpuStage::Record => [0xe6, 0x9f, 0x00],
    }
}

pub fn of_pass(pass: Pass) -> [u8; 3] {
    match pass {
        Pass::Upload => [0x8c, 0x6b, 0xb1],
        Pass::Skin => [0x00, 0x9e, 0x73],
        Pass::Shadow => [0x6e, 0x7f, 0x94],
        Pass::Draw => [0xd5, 0x5e, 0x00],
        Pass::Post => [0xf0, 0xe4, 0x42],
    }
}

//! What several test binaries share.

#![allow(dead_code, unused_macros, unused_imports, reason = "each test binary uses a part")]

pub mod assets;
pub mod builder;
pub mod crowd;
pub mod flip;
#[cfg(feature = "app")]
pub mod gpu;
pub mod invariants;
pub mod lanes;
pub mod levels;
pub mod pose;
pub mod processor_time;
#[cfg(feature = "app")]
pub mod program;
pub mod reference;
#[cfg(feature = "app")]
pub mod scene;
#[cfg(all(feature = "app", target_os = "linux"))]
pub mod screen;
#[cfg(feature = "app")]
pub mod truth;

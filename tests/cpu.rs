//! Everything that needs no device: import, sampling, poses, crowds, levels of detail, and the arithmetic of memory.
//!
//! Without the cargo features `render` and `app` it tests the animation library.

mod common;
mod cpu {
    #[cfg(feature = "app")]
    mod app;
    #[cfg(feature = "app")]
    mod camera;
    mod crowd;
    #[cfg(feature = "render")]
    mod device_memory;
    mod floor;
    #[cfg(feature = "render")]
    mod frame_data;
    mod frame_plan;
    mod import;
    mod lanes;
    mod levels;
    mod model;
    mod palette;
    mod properties;
    mod retarget;
    mod sampling;
    mod shader_types;
    #[cfg(feature = "render")]
    mod skin_runs;
    mod stages;
    mod stepper;
    mod travel;
    mod view;
}

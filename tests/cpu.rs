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
    mod floor;
    mod frame_plan;
    mod import;
    mod lanes;
    mod levels;
    mod model;
    mod palette;
    mod properties;
    #[cfg(feature = "render")]
    mod renderer;
    mod retarget;
    mod sampling;
    mod shader_types;
    mod stages;
    mod stepper;
    mod travel;
    mod view;
}

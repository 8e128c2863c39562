//! Everything that needs no device: import, sampling, poses, crowds, levels of detail, and the arithmetic of memory.
//!
//! Without the cargo features `render` and `app` it tests the animation library.

mod common;
mod cpu {
    #[cfg(feature = "app")]
    mod camera;
    mod crowd;
    #[cfg(feature = "render")]
    mod device_memory;
    mod floor;
    mod frame_plan;
    mod import;
    mod instances;
    mod lanes;
    mod levels;
    mod palette;
    mod properties;
    mod retarget;
    mod sampling;
    mod stages;
    mod stepper;
    mod travel;
    mod view;
}

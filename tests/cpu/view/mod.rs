//! Cameras, framing, the view of the light, and the look of a picture.

mod camera;
mod flight;
mod framing;
mod look;
mod regions;
mod shadow_view;

/// The aspect ratio of a wide image.
const WIDE: f32 = 16.0 / 9.0;

//! Cameras, framing, the view of the light, and the look of a picture.

mod camera;
mod framing;
mod shadow_view;

const WIDE: f32 = 16.0 / 9.0;

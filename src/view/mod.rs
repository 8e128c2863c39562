//! How the crowd is seen: the camera, its frustum, the bounds that it frames, the detail that it needs, the look of the
//! picture, the sky, the view of the shadow map, and the ray through a pixel.
//!
//! In: the crowd's [`Bounds`] and [`Outline`]. Out: matrices for the shaders, and the [`Frustum`] that culls. Everything
//! here is plain arithmetic in world space, in metres.

#![forbid(unsafe_code)]

mod camera;
mod detail;
mod framing;
mod look;
mod regions;
mod shadow_view;
mod sky;

pub use camera::{Limits, OrbitCamera};
pub use detail::Detail;
pub use framing::Outline;
pub use look::{Background, Ground, Look, SunDirection, srgb_from_linear};
pub use regions::{Bounds, Frustum, Ray};
pub use shadow_view::{ShadowScene, ShadowView};
pub use sky::Sky;

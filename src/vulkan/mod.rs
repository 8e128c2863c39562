//! The Vulkan layer: one small owner per object. It knows nothing of models, characters or frames.
//!
//! Each type owns one Vulkan object, or a few that belong together, like an image and its view. It holds its parents in an
//! `Arc`, and destroys its own on drop. Every object has a name, which appears in captures and validation messages. Invariants:
//!
//! * there is one queue, and a lock guards it;
//! * only functions whose names contain `wait` wait for the GPU;
//! * no function panics: a driver's failure becomes an [`Error`];
//! * no safe function takes a raw handle, and the handles of owners cannot be replaced;
//! * a function whose safety depends on a promise about the GPU is `unsafe`, or belongs to a [`recorder::Recorder`], whose
//!   creator has made the promise.
//!
//! Reading order: [`instance`], [`physical_device`], [`device`], then the resources.

pub mod barrier;
pub mod buffer;
pub mod commands;
pub mod descriptors;
pub mod device;
pub mod error;
pub mod image;
pub mod instance;
mod owned;
pub mod physical_device;
pub mod pipeline;
pub mod recorder;
pub mod spirv;
pub mod surface;
pub mod swapchain;
pub mod sync;
pub mod timestamps;

pub use error::{Context, Error, Result};

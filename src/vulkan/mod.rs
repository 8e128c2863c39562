//! Vulkan, one small owner per object: this layer knows nothing of models, characters or frames.
//!
//! Each type owns one Vulkan object (or one that is useless without its companions, like an image and its view), holds
//! what it was made from by `Arc`, and destroys itself on drop. Every object has a name, which shows up in captures and
//! validation messages. Invariants:
//!
//! * one queue, used by whoever holds its lock;
//! * nothing here waits for the GPU behind the caller's back, except [`commands::submit_and_wait`], which says so;
//! * no function panics: what a driver does wrong becomes an [`Error`].
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
pub mod physical_device;
pub mod pipeline;
pub mod pipeline_cache;
pub mod recorder;
pub mod spirv;
pub mod swapchain;
pub mod sync;
pub mod timestamps;

pub use error::{Context, Error, Result};

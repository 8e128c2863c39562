//! Throng draws crowds of skinned glTF characters, each in its own pose, with plain Vulkan 1.3. It is made to be run, to
//! be read as a reference for Vulkan skinning, and to benchmark many animated instances.
//!
//! # The data's journey
//!
//! ```text
//! model file ─import─▶ Model ─┬─ Skeleton, Clips ──────────────┐
//!  .gltf .glb                 └─ GpuModel (bind-pose vertices, │ indices, textures: uploaded once)
//!                                                              ▼
//! Crowd: instances {model, placement, clip, phase} ─ cull (camera ∪ shadow) ─▶ visible instances and their poses
//!                                                              │
//! CPU, all cores, parents before children:                     ▼
//!  Clip × time ▶ LocalPose ▶ model_from_node ▶ × inverse bind ▶ JointMatrix: 3×4 rows, 48 bytes
//!                                                              │ written straight into this frame's
//!                                                              ▼
//!  ONE large palette SSBO ◀─ indexed by ─ InstanceData.palette_offset   (one InstanceData per visible instance)
//!                                                              │
//! GPU, one submission per frame, per-frame descriptor sets:    ▼
//!  upload (only where shaders cannot read mapped memory) ▶ skin.comp ▶ transient vertex buffer
//!                                       ▶ shadow ▶ characters, ground ▶ tone map ▶ present | readback
//! ```
//!
//! # Where to read
//!
//! In the order of the journey:
//!
//! 1. [`model`]: the renderer-neutral description of a character, and [`model::import`], the only code that knows glTF;
//! 2. [`animation`]: sample, pose, palette, one file each; [`animation::lanes`], all three for eight instances at once;
//!    and the CPU twin of `skin.comp`;
//! 3. [`crowd`]: instances, placement, culling, the threaded update; seen through [`view`];
//! 4. [`shader_types`]: the structs that the CPU and the shaders share;
//! 5. [`vulkan`]: one small owner per Vulkan object;
//! 6. [`renderer`]: the frame (`renderer/frame.rs` is the whole of it on one screen), one file per pass;
//! 7. [`app`] and [`cli`]: the commands.
//!
//! Arrows point one way: `animation` → `model`; `crowd` → `animation`, `model`, `view`; `renderer` → `vulkan`, `model`; all of
//! them → `shader_types`; `app` → everything. `tests/architecture.rs` holds them.
//!
//! # Conventions
//!
//! Right-handed, +Y up, metres, seconds, radians. Matrices are column-vector and named destination_from_source.
//! Reversed Z with an infinite far plane. Colour is linear until tone mapping.

// The documentation is read beside the source: `cargo doc --document-private-items`.
#![allow(rustdoc::private_intra_doc_links)]
// Files, drivers and users supply whatever they like: none of it may end the program.
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod animation;
pub mod app;
pub mod cli;
pub mod crowd;
pub mod model;
pub mod renderer;
pub mod shader_types;
pub mod view;
pub mod vulkan;

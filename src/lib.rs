//! Throng draws crowds of skinned glTF characters, each in its own pose, with plain Vulkan 1.3. It is a program to run, a
//! reference for Vulkan skinning, and a benchmark for many animated instances.
//!
//! Without the feature `render` the crate is an animation library: [`model`], [`animation`], [`measure`], [`retarget`],
//! [`levels`], [`crowd`], [`view`] and [`shader_types`]. The feature `app` adds the program.
//!
//! # The path of the data
//!
//! ```text
//! once       model file ─import─▶ Model {skeleton, clips, geometry} ─upload─▶ GpuModel {bind pose, indices, textures}
//!
//! CPU, each  Crowd ─cull─┬─▶ visible poses ─FramePlan─▶ PoseRecord {palette_offset, skinned_vertex_offset, …}
//! frame                  │                                  │ says where
//!                        │                                  ▼
//!                        │   clip × time ▶ LocalPose ▶ model_from_node ▶ × inverse bind ▶ JointMatrix, in the palette
//!                        └─▶ visible instances ▶ InstanceData {placement, index of the pose, tint}
//!
//! GPU, each  PoseRecord + palette + GpuModel ▶ skin.comp ▶ transient vertex buffer
//! frame      transient vertex buffer + InstanceData + GpuModel ▶ shadow ▶ characters ▶ ground, sky ▶ tone map ▶ output
//! ```
//!
//! # The core
//!
//! These files are the reference. `docs/first_evening.md` reads the first part of them in this order, with two examples:
//! `examples/one_character.rs` and `examples/a_crowd.rs`. `cargo test --test repository` holds the list and the length of each
//! file.
//!
//! ```text
//! src/lib.rs                                this list; the words are in docs/glossary.md
//! src/model/skeleton.rs                     the nodes as arrays, and the layout of the palette
//! src/model/clip.rs                         keys and their interpolation
//! src/animation/mod.rs                      the three steps from a clip to joint matrices
//! src/animation/sample.rs                   step 1: clip × time to a local pose
//! src/animation/pose.rs                     step 2: parents before children
//! src/animation/palette.rs                  step 3: joint matrices
//! shaders/shared.glsl                       the structs and the frame set
//! shaders/unpacked.glsl                     a vertex of the bind pose
//! shaders/morph.glsl                        morph targets
//! shaders/blend.glsl                        one matrix of several joint matrices
//! shaders/skinning.glsl                     unpacks, morphs, blends and transforms one vertex
//! shaders/skin.comp                         skins all vertices of all visible poses
//! shaders/instance.glsl                     the placement of an instance
//! shaders/character.glsl                    from model space to clip space
//! shaders/character.vert                    reads a skinned vertex
//! src/renderer/layouts.rs                   the descriptor sets
//! src/renderer/resident/model.rs            the buffers of a model
//! src/crowd/mod.rs                          instances, and the five calls of a frame
//! src/crowd/playback.rs                     the clip and the start time of each instance
//! src/crowd/sight.rs                        what the camera and the light see of an instance
//! src/crowd/visible.rs                      culling, and levels of detail
//! src/crowd/plan.rs                         the offsets of each pose
//! src/crowd/evaluate.rs                     all visible poses, on all cores
//! src/renderer/slot/mod.rs                  the memory of one frame in flight
//! src/renderer/slot/buffers.rs              streams and pages
//! src/renderer/passes/mod.rs                the input of a pass
//! src/renderer/passes/skin_pass.rs          the dispatches
//! src/renderer/passes/crowd_draw.rs         the instanced draws
//! src/renderer/passes/character_pass.rs     the pipelines of characters
//! src/renderer/assembly.rs                  the parts of the renderer
//! src/renderer/extras.rs                    the places where a program adds to a frame
//! src/renderer/frame.rs                     the whole frame, on one page
//! src/vulkan/barrier.rs                     the two sides of a barrier
//!
//! To consult:
//! src/animation/skin.rs                     the CPU twin of skin.comp
//! src/shader_types.rs                       the structs that the CPU and the shaders share
//! src/shader_types/specialization.rs        specialization constants, on the CPU
//! shaders/specialization.glsl               specialization constants, in shaders
//! shaders/varyings.glsl                     from the vertex shader to the fragment shader
//! src/model/mod.rs                          what holds for every model
//! src/model/geometry.rs                     vertices, influences, morph deltas, levels of detail
//! src/renderer/passes/vertex_input.rs       vertex attributes
//! src/renderer/resident/skin_runs.rs        the order of vertices in skin.comp
//! src/renderer/mod.rs                       the contents of the folder
//! ```
//!
//! Everything else stands beside the core:
//!
//! * [`model::import`] is the only code that knows glTF, and [`retarget`] moves a clip from one skeleton to another one.
//! * [`measure`] has the bounds, the floor and the gait of a model in motion, and [`levels`] makes simpler surfaces.
//! * [`animation::lanes`] does the three steps for eight instances at once.
//! * [`view`] has the camera, the frustum, the sky, the view of the shadow map and the look of the picture.
//! * [`vulkan`] has one small owner per Vulkan object.
//! * [`extras`] adds outlines, bones, debug views, motion and the panel to frames. The core names none of them.
//! * [`app`] and [`cli`] are the commands.
//!
//! Dependencies point one way, and `tests/repository/architecture` checks them: `animation` → `model`; `measure`, `levels`
//! and `retarget` → `animation`, `model`; `crowd` → `animation`, `measure`, `model`, `view`; `renderer` → `vulkan`, `crowd`,
//! `animation`, `model`, `view`; `extras` → `renderer`, `vulkan`, `crowd`, `model`; `cli` → `extras`, `renderer`, `crowd`,
//! `animation`, `model`, `view`; `app` → all others. `view`, `animation`, `measure`, `levels`, `crowd`, `renderer` and `extras`
//! also use `shader_types`.
//!
//! # Conventions
//!
//! Coordinates are right-handed with +Y up. Units are metres, seconds and radians. Matrices multiply column vectors, and
//! are named destination_from_source. Depth is reversed, with an infinite far plane. Colour is linear until tone mapping.

// The documentation covers private items too: `cargo doc --document-private-items`.
#![allow(rustdoc::private_intra_doc_links)]
// No file, driver or user may end the program with a panic.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod animation;
#[cfg(feature = "app")]
pub mod app;
#[cfg(feature = "app")]
pub mod cli;
pub mod crowd;
#[cfg(feature = "extras")]
pub mod extras;
pub mod levels;
pub mod measure;
pub mod model;
#[cfg(feature = "render")]
pub mod renderer;
pub mod retarget;
pub mod shader_types;
pub mod view;
#[cfg(feature = "render")]
pub mod vulkan;

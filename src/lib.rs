//! Throng draws crowds of skinned glTF characters, each in its own pose, with plain Vulkan 1.3. It is a program to run, a
//! reference for Vulkan skinning, and a benchmark for many animated instances.
//!
//! Without the feature `render` the crate is an animation library: [`model`], [`animation`], [`measure`], [`retarget`],
//! [`levels`], [`crowd`], [`view`] and [`shader_types`]. The feature `app` adds the program.
//!
//! # The data's journey
//!
//! ```text
//! model file ─import─▶ Model ─┬─ Skeleton, Clips ──────────────┐
//!  .gltf .glb                 └─ GpuModel (bind-pose vertices, │ indices, textures: uploaded once)
//!                                                              ▼
//! Crowd: instances {model, placement, tint, clip, phase} ─ cull (camera ∪ light) ─▶ visible poses and instances, by level
//!                                                              │
//! FramePlan: PoseRecord {palette_offset, skinned_vertex_offset, morph_weight_offset, ...} for each visible pose
//!                                                              │
//! CPU, all cores, parents before children:                     ▼
//!  Clip × time ▶ LocalPose ▶ model_from_node ▶ × inverse bind ▶ JointMatrix: 3×4 rows, 48 bytes
//!                                                              │ written straight into this frame's
//!                                                              ▼
//!  ONE large palette SSBO ◀─ indexed by ─ PoseRecord.palette_offset ◀─ named by ─ InstanceData.pose
//!                                                              │
//! GPU, one queue, per-frame descriptor sets:                   ▼
//!  upload (the copy of the staged path) ▶ skin.comp ▶ transient vertex buffer
//!                                       ▶ shadow ▶ characters, ground, sky ▶ tone map ▶ present | readback
//!  first, if the sky has changed: environment (the light of the surroundings, for characters)
//! ```
//!
//! # Where to read
//!
//! Read [`renderer::frame`] first: it has the whole frame on one page, its CPU half and its GPU half. Then follow the data:
//!
//! 1. [`model`]: the description of a character; [`model::import`], the only code that knows glTF;
//! 2. [`animation`]: the steps sample, pose and palette, one file each; [`animation::Blend`], two clips in one pose;
//!    [`animation::lanes`], all three steps for eight instances at once; [`animation::skin`], the CPU twin of `skin.comp`;
//!    [`measure`], the properties of a model in motion: its bounds, its floor, its gait;
//! 3. [`retarget`]: the clips of other files as clips of this model, for any humanoid;
//! 4. [`levels`]: simpler surfaces for distant characters, each with an error that holds in all poses;
//! 5. [`crowd`]: placement, travel, culling and evaluation on all cores, the frame plan; [`view`]: camera, frustum, sky,
//!    the view of the shadow map, and the look of the picture;
//! 6. [`shader_types`]: the structs that the CPU and the shaders share;
//! 7. [`renderer`]: passes, frame slots, resident data, outputs;
//! 8. [`vulkan`]: one small owner per Vulkan object;
//! 9. [`app`] and [`cli`]: the commands.
//!
//! The next two lists are the routes of a crowd. Each line names a file, and before it the item by which the file above it
//! and this file are connected: one of them defines the item, and the other one uses it. `cargo test --test repository` checks
//! this. A part that begins without an arrow belongs to a file of another part.
//!
//! A **joint**, from the model file to the shader:
//!
//! ```text
//! src/model/import/motion/nodes.rs                         sorts the nodes: parents first
//! ▶ NodeTree        src/model/import/motion/skins.rs       inverse bind matrices
//! ▶ Palette         src/model/import/geometry/builder.rs   the entries that each mesh follows
//! ▶ PaletteLayout   src/model/skeleton.rs
//! ▶ joint_from_mesh src/animation/lanes/compile.rs         the steps that eight instances share
//!
//! src/model/import/decode/accessor.rs                      numbers of the file
//! ▶ Accessor        src/model/import/motion/clips.rs       keys
//! ▶ Track           src/model/clip.rs
//! ▶ Track           src/animation/lanes/rows.rs            keys as rows of cells
//! ▶ Rows            src/animation/lanes/compile.rs
//! ▶ LaneClip        src/crowd/playback.rs                  each clip, compiled once
//! ▶ lane_clip       src/crowd/evaluate.rs                  the visible poses, on all cores
//! ▶ evaluate        src/animation/lanes/mod.rs             eight instances at once
//! ▶ evaluate_group  src/animation/lanes/kernel.rs          sample, hierarchy and inverse bind
//! ▶ write_matrices  src/animation/lanes/simd.rs            stores each joint matrix
//!
//! src/crowd/visible.rs                                     culls
//! ▶ Views           src/crowd/sight.rs                     what camera and light see of an instance
//! ▶ VisiblePose     src/crowd/plan.rs                      the offset of each pose in the palette
//! ▶ FramePlan       src/renderer/slot/mod.rs               the memory of one frame in flight
//! ▶ FrameMemory     src/renderer/frame.rs                  hands it to `Crowd::evaluate`
//! ▶ evaluate        src/crowd/evaluate.rs
//!
//! src/renderer/slot/mod.rs
//! ▶ StreamBuffer    src/renderer/slot/buffers.rs           the mapped buffer
//!
//! src/renderer/slot/mod.rs
//! ▶ record_upload   src/renderer/frame.rs                  the copy, on the staged path
//!
//! src/renderer/slot/mod.rs
//! ▶ PoseRecord      shaders/shared.glsl                    palette and pose records
//! ▶ palette         shaders/skinning.glsl                  blends the joint matrices of a vertex
//! ```
//!
//! A clip that does not fit the lanes takes `src/animation/sample.rs`, `src/animation/pose.rs` and `src/animation/palette.rs`
//! instead. Read these first: they do the same, plainly.
//!
//! A **vertex**, from the model file to its pixel:
//!
//! ```text
//! src/model/import/decode/accessor.rs                            numbers of the file
//! ▶ Accessor        src/model/import/geometry/attributes.rs      positions, normals, …
//! ▶ Attributes      src/model/import/geometry/builder.rs         one primitive
//! ▶ Influences      src/model/import/geometry/influences.rs      its joints and weights
//!
//! src/model/import/geometry/builder.rs
//! ▶ Welder          src/model/import/geometry/weld.rs            without duplicates
//! ▶ Geometry        src/model/geometry.rs
//! ▶ Geometry        src/model/order.rs                           those of coarse levels first
//! ▶ number_by_use   src/levels/mod.rs                            levels of detail
//!
//! src/model/geometry.rs
//! ▶ Geometry        src/animation/skin.rs                        packed
//! ▶ BindPose        src/renderer/resident/skin_runs.rs           sorted for `skin.comp`
//! ▶ SkinOrder       src/renderer/resident/model.rs               buffers and draws of a model
//! ▶ Uploader        src/renderer/resident/upload.rs              the copy to device memory
//!
//! src/renderer/resident/model.rs
//! ▶ GpuModel        src/renderer/passes/skin_pass.rs             one dispatch for each run
//! ▶ SKIN_COMP       shaders/skin.comp                            skins the vertices of a pose
//! ▶ skin_vertex     shaders/skinning.glsl
//!
//! src/renderer/passes/skin_pass.rs
//! ▶ PAGE_SET        src/renderer/layouts.rs
//! ▶ page            src/renderer/slot/buffers.rs                 a page of the transient vertex buffer
//!
//! src/renderer/resident/model.rs
//! ▶ GpuDraw         src/renderer/passes/crowd_draw.rs            one instanced draw for each batch and range
//! ▶ STATIC_BINDING  src/renderer/passes/vertex_input.rs          texture coordinates and colours
//! ▶ CHARACTERS      src/renderer/passes/character_pass.rs
//! ▶ CHARACTER_VERT  shaders/character.vert                       reads the skinned vertex
//! ▶ emit_vertex     shaders/character.glsl                       world and clip space
//! ▶ surface_color   shaders/varyings.glsl
//! ▶ surface_color   shaders/shading.glsl                         the colour of a pixel
//! ▶ sunlight        shaders/shadow.glsl
//!
//! shaders/shading.glsl
//! ▶ reflected_light shaders/lighting.glsl
//! ```
//!
//! `shaders/tone_map.frag` then maps the colour to the range of the display.
//!
//! Dependencies point one way, and `tests/repository/architecture` checks them: `animation` → `model`; `measure`, `levels`
//! and `retarget` → `animation`, `model`; `crowd` → `animation`, `measure`, `model`, `view`; `renderer` → `vulkan`, `crowd`,
//! `animation`, `model`, `view`; `cli` → `renderer`, `crowd`, `animation`, `model`, `view`; `app` → all others. `view`,
//! `animation`, `measure`, `levels`, `crowd` and `renderer` also use `shader_types`.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | pose | one evaluated state of a model: joint matrices, morph weights and skinned vertices |
//! | palette | the array of the joint matrices of all visible poses |
//! | joint matrix | takes a vertex from mesh space to model space: model_from_joint * joint_from_mesh |
//! | influence | a joint that moves a vertex, and its weight |
//! | palette layout | the node and the inverse bind matrix of each joint matrix of a pose; each model has one |
//! | pose record | the offsets of one visible pose's data in the palette, the morph weights and its page, and its level |
//! | instance | one placement of a pose in the world; several instances may show one pose |
//! | visible | in the camera's view, or with a shadow that may be in it |
//! | stream | an array that the CPU writes in each frame: pose records, palette, morph weights or instances |
//! | frame in flight | a frame that the CPU has begun and the GPU has not finished |
//! | slot | everything that one frame in flight owns |
//! | page | a part of the transient vertex buffer that fits into one binding |
//! | batch | poses of one model and the same levels in one page, which are drawn together with all of their instances |
//! | transient vertex buffer | the skinned vertices of all visible poses of one frame in flight, in pages |
//! | run | vertices of a level that one dispatch skins; all have the same number of influences, unless one has more than eight |
//! | draw range | consecutive indices that one draw call draws: they share material, topology and winding |
//! | level of detail, level | a surface of a model: level 0 is the full one, and each coarser one has fewer triangles |
//! | ring | instances around the centre of a crowd, which travel together along a circle |
//! | blend | one local pose made of the local poses of two clips |
//! | crossfade | a blend, for a short time, from the clip that an instance shows to the clip that was chosen |
//! | lane | the place of one of the eight instances that the SIMD code evaluates at once |
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

//! The values of the specialization constant `DEBUG_VIEW`. `shaders/debug_view.glsl` has the same numbers;
//! `tests/repository/shader_layout.rs` compares them.

/// The normals of the skinned vertices.
pub const NORMALS: u32 = 1;
/// The tangents of the skinned vertices.
pub const TANGENTS: u32 = 2;
/// The first pair of texture coordinates.
pub const TEX_COORDS: u32 = 3;
/// The sum of joint colours times weights.
pub const WEIGHTS: u32 = 4;
/// The colour of the strongest joint.
pub const JOINTS: u32 = 5;
/// The number of joints of each vertex.
pub const INFLUENCES: u32 = 6;
/// The weight of one joint.
pub const HEAT: u32 = 7;
/// A colour for each instance.
pub const INSTANCES: u32 = 8;
/// A colour for each pose.
pub const POSES: u32 = 9;
/// The surface below the wires.
pub const CLAY: u32 = 10;
/// The edges of triangles.
pub const WIRES: u32 = 11;
/// A colour for each level of detail.
pub const LOD: u32 = 12;

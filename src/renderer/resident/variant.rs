//! How the vertices of a draw are skinned, as its pipelines must know it.

use crate::renderer::settings::Skinning;
use crate::shader_types::SpecializationConstants;

/// The stage that skins a draw, and the specialization constants of the vertex shaders that skin. `skin.comp` has the first
/// two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkinVariant {
    /// The stage.
    pub skinning: Skinning,
    /// The number of influences of every vertex that the draw uses; 0 if they differ.
    pub influence_count: u32,
    /// Whether the model has morph targets that move a vertex.
    pub has_morphs: bool,
    /// Whether any vertex of the model has a normal.
    pub has_normals: bool,
    /// Whether joints are blended as dual quaternions.
    pub with_dual_quaternions: bool,
}

impl SkinVariant {
    /// The variant of all draws whose vertices `skin.comp` has skinned.
    pub const SKINNED: Self = Self {
        skinning: Skinning::Compute,
        influence_count: 0,
        has_morphs: false,
        has_normals: true,
        with_dual_quaternions: false,
    };

    /// Returns the constants of the shaders that draw this variant.
    pub fn constants(self) -> SpecializationConstants {
        SpecializationConstants {
            influence_count: self.influence_count,
            with_morphs: self.has_morphs.into(),
            with_normals: self.has_normals.into(),
            with_dual_quaternions: self.with_dual_quaternions.into(),
            ..SpecializationConstants::default()
        }
    }
}

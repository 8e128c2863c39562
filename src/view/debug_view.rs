//! The debug views, which show data instead of lit surfaces.

/// How skinning is made visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Visualization {
    /// The data that surfaces show.
    pub view: DebugView,
    /// Whether bones and joint axes are drawn over everything else.
    pub skeleton: bool,
}

/// The data that the surfaces of characters show. All views draw the same skinned vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DebugView {
    /// Materials in the light of sun and sky.
    #[default]
    Lit,
    /// The vertex normals in world space: red is x, green is y, blue is z.
    Normals,
    /// The vertex tangents in world space; grey without tangents.
    Tangents,
    /// The first pair of texture coordinates: red is u, green is v.
    TexCoords,
    /// The colours of the vertices (COLOR_0), times the tint of the instance; white without them.
    Colors,
    /// The sum of joint colours times weights.
    Weights,
    /// The colour of the strongest joint.
    Joints,
    /// The number of joints of each vertex: 0 for rigid meshes.
    Influences,
    /// The weight of one joint of each model, as heat.
    Heat,
    /// A colour for each instance.
    Instances,
    /// A colour for each pose.
    Poses,
    /// The level of detail: grey is full detail, then from green to red, the coarsest one.
    Lod,
    /// The way of each vertex in world space since the last frame: red is x, green is y, blue is z.
    Motion,
    /// The edges of triangles.
    Wireframe,
}

impl DebugView {
    /// All views that need no further choice, in the order in which `view` shows them.
    pub const ALL: [Self; 13] = [
        Self::Lit,
        Self::Weights,
        Self::Joints,
        Self::Influences,
        Self::Normals,
        Self::Tangents,
        Self::TexCoords,
        Self::Colors,
        Self::Instances,
        Self::Poses,
        Self::Lod,
        Self::Motion,
        Self::Wireframe,
    ];

    /// Returns the meaning of the view's colours.
    #[must_use]
    pub fn legend(self) -> Option<&'static str> {
        Some(match self {
            Self::Lit => return None,
            Self::Normals => "x red, y green, z blue; grey is 0",
            Self::Tangents => "x red, y green, z blue; grey: no tangents",
            Self::TexCoords => "u red, v green",
            Self::Colors => "the colours of the vertices; white: none",
            Self::Weights => "the colours of the joints, mixed by weight",
            Self::Joints => "the colour of the strongest joint",
            Self::Influences => "joints: 1 blue, 2 cyan, 3 green, 4 yellow, more red; 0 grey",
            Self::Heat => "grey 0, then blue, green (half), yellow, red 1",
            Self::Instances => "a colour for each instance",
            Self::Poses => "the same colour: the same pose",
            Self::Lod => "grey: full detail, then green to red: coarser",
            Self::Motion => "the way since the last frame: x red, y green, z blue; grey: none; black: not known",
            Self::Wireframe => return None,
        })
    }

    /// Returns the name that options and titles use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Normals => "normals",
            Self::Tangents => "tangents",
            Self::TexCoords => "texcoords",
            Self::Colors => "colors",
            Self::Weights => "weights",
            Self::Joints => "joints",
            Self::Influences => "influences",
            Self::Heat => "heat",
            Self::Instances => "instances",
            Self::Poses => "poses",
            Self::Lod => "lod",
            Self::Motion => "motion",
            Self::Wireframe => "wireframe",
        }
    }

    /// Returns the view after this one, and the first one after the last.
    #[must_use]
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&view| view == self).map_or(0, |at| (at + 1) % Self::ALL.len());
        Self::ALL[at]
    }
}

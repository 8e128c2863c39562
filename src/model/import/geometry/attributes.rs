//! The vertex attributes of one primitive, as plain arrays of equal length.
//!
//! Source: glTF 2.0, 3.7.2.1 (attributes); KHR_mesh_quantization (integers where core glTF has floats).

use glam::{Vec2, Vec3, Vec4};
use gltf::json::accessor::Type;
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;

use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Budget;
use crate::model::import::material::TexCoordSets;

/// Everything but joints and weights.
pub(super) struct Attributes {
    /// Finite.
    pub positions: Vec<Vec3>,
    /// Unit length; `None` where the file has none.
    pub normals: Option<Vec<Vec3>>,
    /// The two sets that the material's textures want, zero where there is none; `None` where there are neither.
    pub tex_coords: Option<Vec<[Vec2; 2]>>,
    /// Linear; `None` means white.
    pub colors: Option<Vec<[u8; 4]>>,
}

/// Reads one primitive's attributes; its positions decide how many vertices it has.
pub(super) struct AttributeReader<'a, 'f> {
    pub document: &'a Document<'f>,
    pub primitive: &'a Primitive,
    /// JSON path of the primitive's `attributes`.
    pub at: &'a str,
}

impl<'a> AttributeReader<'a, '_> {
    /// Whether there is anything to see: without positions there is not (3.7.2.1).
    pub fn has_positions(&self) -> bool {
        self.primitive.attributes.contains_key(&Checked::Valid(Semantic::Positions))
    }

    /// Whether the file leaves it to somebody else to know where the vertices are.
    pub fn lacks_bytes(&self) -> bool {
        let positions = self.primitive.attributes.get(&Checked::Valid(Semantic::Positions));
        positions.is_some_and(|accessor| self.document.lacks_bytes(accessor.value()))
    }

    /// Reads all attributes that are drawn, and pays for the vertices.
    pub fn read(&self, tex_coords: TexCoordSets, budget: &mut Budget, warnings: &mut Warnings) -> Result<Attributes> {
        let accessor = self.open(Semantic::Positions, "POSITION")?;
        let accessor = accessor.ok_or_else(|| Fault::content(self.at, "no POSITION"))?;
        budget.take(accessor.count as u64, &accessor.at)?;
        let positions: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
        if let Some(vertex) = positions.iter().position(|position| !position.is_finite()) {
            return Err(Fault::content(&accessor.at, format_args!("vertex {vertex} is not finite")));
        }
        let count = positions.len();
        Ok(Attributes {
            normals: self.normals(count, warnings)?,
            tex_coords: self.tex_coord_pairs(tex_coords, count, warnings)?,
            colors: self.colors(count)?,
            positions,
        })
    }

    fn open(&self, semantic: Semantic, name: &str) -> Result<Option<Accessor<'a>>> {
        let index = self.primitive.attributes.get(&Checked::Valid(semantic));
        index.map(|index| Accessor::open(self.document, index.value(), format_args!("{}.{name}", self.at))).transpose()
    }

    /// As `open`, for the attributes that have to be as many as the positions.
    fn open_beside_positions(&self, semantic: Semantic, name: &str, count: usize) -> Result<Option<Accessor<'a>>> {
        match self.open(semantic, name)? {
            Some(accessor) if accessor.count != count => {
                Err(Fault::content(&accessor.at, format_args!("{} elements for {count} vertices", accessor.count)))
            }
            opened => Ok(opened),
        }
    }

    fn normals(&self, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec3>>> {
        let Some(accessor) = self.open_beside_positions(Semantic::Normals, "NORMAL", count)? else { return Ok(None) };
        let mut degenerate_count = 0_usize;
        let unit = |normal: [f32; 3]| {
            // In f64, because squares of small or large f32 leave its range.
            let unit = Vec3::from(normal).as_dvec3().try_normalize();
            unit.map(|unit| unit.as_vec3()).unwrap_or_else(|| {
                degenerate_count += 1;
                Vec3::Z
            })
        };
        let normals = accessor.floats::<3>()?.into_iter().map(unit).collect();
        if degenerate_count > 0 {
            warnings.add(&accessor.at, format_args!("{degenerate_count} normals without length are read as +Z"));
        }
        Ok(Some(normals))
    }

    /// Unit length and handedness; `None` where the file has none. Read where a normal map needs them.
    pub fn tangents(&self, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec4>>> {
        let Some(accessor) = self.open_beside_positions(Semantic::Tangents, "TANGENT", count)? else { return Ok(None) };
        let mut degenerate_count = 0_usize;
        let unit = |tangent: [f32; 4]| {
            let tangent = Vec4::from(tangent);
            let unit = tangent.truncate().as_dvec3().try_normalize();
            let unit = unit.map(|unit| unit.as_vec3()).unwrap_or_else(|| {
                degenerate_count += 1;
                Vec3::X
            });
            unit.extend(if tangent.w < 0.0 { -1.0 } else { 1.0 })
        };
        let tangents = accessor.floats::<4>()?.into_iter().map(unit).collect();
        if degenerate_count > 0 {
            warnings.add(&accessor.at, format_args!("{degenerate_count} tangents without length are read as +X"));
        }
        Ok(Some(tangents))
    }

    fn tex_coord_pairs(
        &self,
        sets: TexCoordSets,
        count: usize,
        warnings: &mut Warnings,
    ) -> Result<Option<Vec<[Vec2; 2]>>> {
        let mut pairs: Option<Vec<[Vec2; 2]>> = None;
        for (rank, set) in sets.wanted() {
            let Some(tex_coords) = self.tex_coords(set, count, warnings)? else { continue };
            let pairs = pairs.get_or_insert_with(|| vec![[Vec2::ZERO; 2]; count]);
            for (pair, uv) in pairs.iter_mut().zip(tex_coords) {
                pair[rank] = uv;
            }
        }
        Ok(pairs)
    }

    fn tex_coords(&self, set: u32, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec2>>> {
        let name = format!("TEXCOORD_{set}");
        let Some(accessor) = self.open_beside_positions(Semantic::TexCoords(set), &name, count)? else {
            warnings.add(self.at, format_args!("no {name}, which the material's texture wants"));
            return Ok(None);
        };
        let mut tex_coords: Vec<Vec2> = accessor.floats::<2>()?.into_iter().map(Vec2::from).collect();
        let mut broken_count = 0_usize;
        for uv in tex_coords.iter_mut().filter(|uv| !uv.is_finite()) {
            *uv = Vec2::ZERO;
            broken_count += 1;
        }
        if broken_count > 0 {
            warnings.add(&accessor.at, format_args!("{broken_count} texture coordinates are not finite, read as zero"));
        }
        Ok(Some(tex_coords))
    }

    fn colors(&self, count: usize) -> Result<Option<Vec<[u8; 4]>>> {
        let Some(accessor) = self.open_beside_positions(Semantic::Colors(0), "COLOR_0", count)? else {
            return Ok(None);
        };
        let rgba: Vec<[f32; 4]> = match accessor.shape {
            Type::Vec3 => accessor.floats::<3>()?.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect(),
            _ => accessor.floats::<4>()?,
        };
        // `as` saturates and turns NaN into 0.
        let unorm8 = |value: f32| (value * 255.0).round() as u8;
        Ok(Some(rgba.into_iter().map(|color| color.map(unorm8)).collect()))
    }
}

//! From the accessors of one primitive to its vertex attributes, as plain arrays of equal length.
//!
//! Joints and weights are in `influences`, morph targets in `morphs`.
//!
//! Source: glTF 2.0, 3.7.2.1 (attributes); KHR_mesh_quantization (integers where core glTF has floats).

use std::fmt::Arguments;

use glam::{Vec2, Vec3, Vec4};
use gltf::json::Index;
use gltf::json::accessor::{Accessor as JsonAccessor, Type};
use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::Checked;

use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Counted;
use crate::model::import::material::TexCoordSets;

const TEX_COORDS_0: Checked<Semantic> = Checked::Valid(Semantic::TexCoords(0));

/// The attributes of one primitive, except tangents, influences and morph targets.
pub(super) struct Attributes {
    /// Positions; finite.
    pub positions: Vec<Vec3>,
    /// The vertices whose positions are not finite in the file, and zero here.
    pub broken: Vec<u32>,
    /// Unit normals; `None` if the file has none.
    pub normals: Option<Vec<Vec3>>,
    /// The two sets that the material's textures use, or the first if none. A missing set is zero; `None` if both are missing.
    pub tex_coords: Option<Vec<[Vec2; 2]>>,
    /// Linear colours; `None` means white.
    pub colors: Option<Vec<[u8; 4]>>,
}

/// Reads one primitive. The number of positions is its number of vertices.
pub(super) struct PrimitiveReader<'a, 'f> {
    pub document: &'a Document<'f>,
    pub primitive: &'a Primitive,
    pub at: &'a str,
    pub at_attributes: &'a str,
}

impl<'a> PrimitiveReader<'a, '_> {
    /// Returns the accessor of the positions, or the reason why there is nothing to draw (3.7.2.1).
    pub fn positions(&self) -> Result<Index<JsonAccessor>, &'static str> {
        match self.primitive.attributes.get(&Checked::Valid(Semantic::Positions)) {
            None => Err("no POSITION, so there is nothing to draw"),
            Some(accessor) if self.document.lacks_bytes(accessor.value()) => {
                Err("POSITION is in a buffer without uri or GLB chunk: nothing can be drawn")
            }
            Some(&accessor) => Ok(accessor),
        }
    }

    pub fn attributes(
        &self,
        positions: Index<JsonAccessor>,
        tex_coords: TexCoordSets,
        warnings: &mut Warnings,
    ) -> Result<Attributes> {
        let at = format_args!("{}.POSITION", self.at_attributes);
        let accessor = Accessor::open(self.document, positions.value(), at)?;
        self.document.take(Counted::VERTICES, accessor.count, &accessor.at)?;
        let mut positions: Vec<Vec3> = accessor.floats::<3>()?.into_iter().map(Vec3::from).collect();
        let broken: Vec<u32> =
            (0..).zip(&positions).filter(|(_, position)| !position.is_finite()).map(|(vertex, _)| vertex).collect();
        broken.iter().for_each(|&vertex| positions[vertex as usize] = Vec3::ZERO);
        let count = positions.len();
        let normals = self.normals(count, warnings);
        let tex_coords = self.tex_coord_pairs(tex_coords, count, warnings);
        let colors = self.colors(count);
        Ok(Attributes {
            normals: warnings.leave_out("attribute", normals)?.flatten(),
            tex_coords: warnings.leave_out("attribute", tex_coords)?.flatten(),
            colors: warnings.leave_out("attribute", colors)?.flatten(),
            positions,
            broken,
        })
    }

    /// Opens an attribute that must have `count` elements, as many as the positions.
    pub fn open(&self, semantic: Semantic, name: &str, count: usize) -> Result<Option<Accessor<'a>>> {
        let index = self.primitive.attributes.get(&Checked::Valid(semantic));
        let open = |&index| self.open_for_vertices(index, format_args!("{}.{name}", self.at_attributes), count);
        index.map(open).transpose()
    }

    /// Opens an accessor that must have `count` elements. `at` is the JSON path of the reference to it.
    pub fn open_for_vertices(&self, index: Index<JsonAccessor>, at: Arguments, count: usize) -> Result<Accessor<'a>> {
        let accessor = Accessor::open(self.document, index.value(), at)?;
        if accessor.count != count {
            let problem = format_args!("{} elements for {count} vertices", accessor.count);
            return Err(Fault::content(&accessor.at, problem));
        }
        Ok(accessor)
    }

    fn normals(&self, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec3>>> {
        let Some(accessor) = self.open(Semantic::Normals, "NORMAL", count)? else { return Ok(None) };
        let mut zero_count = 0_usize;
        let normals = accessor.floats::<3>()?.into_iter();
        let normals = normals.map(|normal| unit_or(Vec3::Z, Vec3::from(normal), &mut zero_count)).collect();
        warnings.add_count(&accessor.at, zero_count, "normals without a direction are read as +Z");
        Ok(Some(normals))
    }

    /// Reads tangents: a unit vector and the handedness. `None` if there are none, or if one is broken: then all are generated.
    pub fn tangents(&self, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec4>>> {
        let Some(accessor) = self.open(Semantic::Tangents, "TANGENT", count)? else { return Ok(None) };
        let (mut without_direction, mut without_side) = (0_usize, 0_usize);
        let unit = |[x, y, z, w]: [f32; 4]| {
            // Quantised ones may be off by half a step.
            without_side += usize::from(w.is_nan() || (w.abs() - 1.0).abs() > 0.01);
            unit_or(Vec3::X, Vec3::new(x, y, z), &mut without_direction).extend(1.0_f32.copysign(w))
        };
        let tangents = accessor.floats::<4>()?.into_iter().map(unit).collect();
        let problem = match (without_direction, without_side) {
            (0, 0) => return Ok(Some(tangents)),
            (0, count) => format!("{count} tangents have a w that is neither 1 nor -1"),
            (count, _) => format!("{count} tangents have no direction: they are zero or no numbers"),
        };
        warnings.add(&accessor.at, format_args!("{problem}; all of the primitive are generated instead"));
        Ok(None)
    }

    fn tex_coord_pairs(
        &self,
        sets: TexCoordSets,
        count: usize,
        warnings: &mut Warnings,
    ) -> Result<Option<Vec<[Vec2; 2]>>> {
        let mut pairs: Option<Vec<[Vec2; 2]>> = None;
        // Without a texture the file's first set is kept too, for the view of texture coordinates.
        let unused = sets.iter().next().is_none() && self.primitive.attributes.contains_key(&TEX_COORDS_0);
        for (index, set) in sets.iter().chain(unused.then_some((0, 0))) {
            let Some(tex_coords) = self.tex_coords(set, count, warnings)? else { continue };
            let pairs = pairs.get_or_insert_with(|| vec![[Vec2::ZERO; 2]; count]);
            pairs.iter_mut().zip(tex_coords).for_each(|(pair, uv)| pair[index] = uv);
        }
        Ok(pairs)
    }

    fn tex_coords(&self, set: u32, count: usize, warnings: &mut Warnings) -> Result<Option<Vec<Vec2>>> {
        let name = format!("TEXCOORD_{set}");
        let Some(accessor) = self.open(Semantic::TexCoords(set), &name, count)? else {
            warnings.add(self.at_attributes, format_args!("no {name}, which a texture of the material uses"));
            return Ok(None);
        };
        let mut tex_coords: Vec<Vec2> = accessor.floats::<2>()?.into_iter().map(Vec2::from).collect();
        let broken_count = zero_non_finite(&mut tex_coords, Vec2::is_finite);
        warnings.add_count(&accessor.at, broken_count, "texture coordinates are not finite and are read as zero");
        Ok(Some(tex_coords))
    }

    fn colors(&self, count: usize) -> Result<Option<Vec<[u8; 4]>>> {
        let Some(accessor) = self.open(Semantic::Colors(0), "COLOR_0", count)? else { return Ok(None) };
        let rgba: Vec<[f32; 4]> = match accessor.shape {
            Type::Vec3 => accessor.floats::<3>()?.into_iter().map(|[r, g, b]| [r, g, b, 1.0]).collect(),
            _ => accessor.floats::<4>()?,
        };
        // `as` saturates and turns NaN into 0.
        let unorm8 = |value: f32| (value * 255.0).round() as u8;
        Ok(Some(rgba.into_iter().map(|color| color.map(unorm8)).collect()))
    }
}

/// Sets elements to zero that are not finite. Returns their number.
pub(super) fn zero_non_finite<T: Copy + Default>(list: &mut [T], is_finite: fn(T) -> bool) -> usize {
    let broken = list.iter_mut().filter(|element| !is_finite(**element));
    broken.map(|element| *element = T::default()).count()
}

/// Normalises `vector`. Returns `fallback` and counts it if the vector has no direction.
fn unit_or(fallback: Vec3, vector: Vec3, fallback_count: &mut usize) -> Vec3 {
    // f64, because the squares of small or large f32 are out of range.
    match vector.as_dvec3().try_normalize() {
        Some(unit) => unit.as_vec3(),
        None => {
            *fallback_count += 1;
            fallback
        }
    }
}

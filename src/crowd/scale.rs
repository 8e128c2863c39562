//! The sizes of the models: unit repair, and the room that instances need. glTF requires metres, but some files are in
//! centimetres, such as Fox.glb. That is visible only next to other models.

use glam::Vec2;

use super::Crowd;
use super::settings::ModelClips;
use crate::measure::rest_height;
use crate::model::Model;

/// The scales that repair a unit, with their logarithms: none, centimetres, millimetres, and both the other way around. A tenth
/// is not one of them: no tool works in decimetres, and a fox of 15 metres next to a man would be no repair.
const REPAIRS: [(f32, f32); 5] = [(1.0, 0.0), (0.01, -2.0), (0.001, -3.0), (100.0, 2.0), (1000.0, 3.0)];

/// Returns a scale for each model: the one of [`REPAIRS`] that brings it closest to the median size. It is 1 up to a factor
/// of ten.
///
/// The median of an even number of sizes is the lower one of the middle two, because wrong units usually make models too large.
fn common_unit_scales(sizes: &[f32]) -> Vec<f32> {
    let mut sorted: Vec<f32> = sizes.iter().copied().filter(|&size| size > 0.0).collect();
    sorted.sort_by(f32::total_cmp);
    let Some(&median) = sorted.get(sorted.len().saturating_sub(1) / 2) else {
        return vec![1.0; sizes.len()];
    };
    let scale = |&size: &f32| {
        if size <= 0.0 {
            return 1.0;
        }
        let wanted = (median / size).log10();
        let distance = |(_, exponent): &(f32, f32)| (exponent - wanted).abs();
        let nearest = REPAIRS.into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(1.0, |(scale, _)| scale)
    };
    sizes.iter().map(scale).collect()
}

impl Crowd {
    /// Returns a scale for each model: the one that gives it the wanted height, or otherwise one that brings models with different
    /// units to a common size.
    pub(super) fn unit_scales(&mut self, height_metres: Option<f32>) -> Vec<f32> {
        let ones = || vec![1.0; self.models.len()];
        let scales = if height_metres.is_some() { ones() } else { self.repair_units() };
        let scale = |(model, own): (&Model, f32)| {
            let metres = model.source.casting.height_metres.or(height_metres);
            metres.and_then(|metres| Some(metres / rest_height(model)?)).unwrap_or(own)
        };
        self.models.iter().zip(scales).map(scale).collect()
    }

    fn repair_units(&mut self) -> Vec<f32> {
        let models = 0..self.models.len();
        let rest = models.map(|model| self.repertoire.bounds(&self.models, model, None));
        let sizes: Vec<f32> = rest.map(|bounds| 2.0 * bounds.half_extents().max_element()).collect();
        let scales = common_unit_scales(&sizes);
        for ((model, &size), &scale) in self.models.iter().zip(&sizes).zip(&scales) {
            if scale != 1.0 && model.source.casting.height_metres.is_none() {
                self.notes
                    .push(format!("{}: {size} units tall or wide, scaled by {scale} to fit the others", model.name));
            }
        }
        scales
    }

    /// Returns the horizontal extent of each model: the median over the clips that it plays, so one clip with a large
    /// movement does not push all instances apart, and not much more than at rest.
    pub(super) fn footprints(&mut self, clips: &[ModelClips]) -> Vec<f32> {
        let Self { repertoire, models, unit_scales, .. } = self;
        /// The largest extent as a multiple of the one at rest.
        const MOST: f32 = 1.25;
        let footprint = |((model, clips), &scale): ((usize, &ModelClips), &f32)| {
            let mut width = |clip| {
                let half = repertoire.bounds(models, model, clip).half_extents();
                2.0 * half.x.max(half.z) * scale
            };
            let mut widths: Vec<f32> = clips.iter().map(|&clip| width(clip)).collect();
            widths.sort_by(f32::total_cmp);
            let most = Some(MOST * width(None)).filter(|width| *width > 0.0).unwrap_or(f32::INFINITY);
            widths.get(widths.len() / 2).map(|width| width.min(most)).filter(|width| *width > 0.0).unwrap_or(1.0)
        };
        clips.iter().enumerate().zip(&*unit_scales).map(footprint).collect()
    }

    /// Returns how far each model reaches from its place to -X and to +X, in its first clip.
    pub(super) fn reaches(&mut self, clips: &[ModelClips]) -> Vec<Vec2> {
        let Self { repertoire, models, unit_scales, stands, .. } = self;
        let clips = clips.iter().map(|clips| clips.first().copied().flatten());
        let reach = |((model, clip), &scale): ((usize, Option<u32>), &f32)| {
            let bounds = repertoire.bounds(models, model, clip);
            Vec2::new(stands[model].x - bounds.min.x, bounds.max.x - stands[model].x) * scale
        };
        clips.enumerate().zip(&*unit_scales).map(reach).collect()
    }
}

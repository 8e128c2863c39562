//! The outline of one instance (`outline.vert`, `outline.frag`, `silhouette.vert`, `silhouette_skinning.vert`): how a program
//! shows which character is selected.
//!
//! In: the number of the instance. Out: first its depth alone, in an image of the output's size. Then, over the tone-mapped
//! picture, a line around the pixels that it covers, also where other characters hide it. Both touch only the part that may
//! show it. Everything is built when a program first selects an instance that the camera sees. `render` and `bench` never do.

use ash::vk;
use glam::{Vec2, Vec3};

use crate::crowd::{Batch, Crowd, FramePlan, InstanceRange, ShownInstance};
use crate::model::Topology;
use crate::renderer::error::Result;
use crate::renderer::output::attachments::{DEPTH_BYTES, depth_map};
use crate::renderer::passes::crowd_draw::{self, CrowdPipelines, Eye};
use crate::renderer::passes::shadow_pass::depth_pipelines;
use crate::renderer::passes::tone_map_pass::{SampledImage, output_constants};
use crate::renderer::passes::{Building, PassInput};
use crate::renderer::{Renderer, Shot};
use crate::vulkan;
use crate::vulkan::barrier::{Access, DEPTH_TARGET, ImageBarrier, SAMPLED, discarded};
use crate::vulkan::image::Image;
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline};
use crate::vulkan::recorder::Rendering;
use crate::vulkan::spirv;

/// More than the width of the line.
const MARGIN_PIXELS: f32 = 4.0;

#[derive(Default)]
pub struct Outline {
    /// The index of the instance among those that the camera sees.
    index: Option<u32>,
    seen: Option<(ShownInstance, Shot)>,
    /// A plan that draws this instance alone.
    plan: FramePlan,
    /// `None` before the first outline.
    drawing: Option<Drawing>,
}

struct Drawing {
    /// The depth of the instance.
    silhouette: Image,
    casters: CrowdPipelines,
    line: Pipeline,
    /// The format of the images that the line is drawn to.
    format: vk::Format,
    /// The silhouette, as the line samples it.
    input: SampledImage,
}

impl Outline {
    /// Finds the instance with a number among those that the camera sees.
    pub fn plan(&mut self, crowd: &Crowd, number: Option<u32>, shot: &Shot) {
        self.index = number.and_then(|number| crowd.seen_index(number));
        self.seen = number.and_then(|number| Some((crowd.shown_instance(number, shot.time_seconds)?, *shot)));
    }

    /// Plans the instance, and builds what is missing for the output. Frames in flight may use what it replaces, so it waits.
    pub fn fit(&mut self, renderer: &mut Renderer) -> Result<()> {
        self.plan.batches.clear();
        let (Some(index), Some((extent, format))) = (self.index, renderer.image()) else { return Ok(()) };
        let seen = |first: u32, count: u32| (first..first + count).contains(&index);
        let batch = renderer.plan().batches.iter().find(|batch| seen(batch.seen.first, batch.seen.count));
        let Some(&batch) = batch else { return Ok(()) };
        let seen = InstanceRange { first: index, count: 1 };
        self.plan.batches.push(Batch { seen, shadow_only: InstanceRange::default(), ..batch });
        match &mut self.drawing {
            Some(drawing) if drawing.format == format && drawing.silhouette.info().extent == extent => {}
            Some(drawing) if drawing.format == format => {
                renderer.wait()?;
                drawing.silhouette = depth_map(renderer.device(), "silhouette", extent)?;
                // SAFETY: all frames have finished.
                unsafe { drawing.input.replace(&drawing.silhouette) };
            }
            _ => {
                renderer.wait()?;
                self.drawing = Some(Drawing::new(renderer.building(), extent, format)?);
            }
        }
        Ok(())
    }

    /// Returns what draws this frame's outline.
    fn shown(&self) -> Option<&Drawing> {
        self.drawing.as_ref().filter(|_| !self.plan.batches.is_empty())
    }

    /// Draws the depth of the instance into the cleared image.
    pub fn record_silhouette(&self, input: &PassInput) {
        let Some(Drawing { silhouette, casters, .. }) = self.shown() else { return };
        let barrier = |from, to| input.recorder.image_barriers([ImageBarrier::new(silhouette, from, to)]);
        // The previous frame wrote it (WAW), and its line has sampled it (WAR).
        barrier(discarded(Access::DEPTH_WRITE.and(Access::SAMPLED_READ.finished())), DEPTH_TARGET);
        let part = Some(self.part(2.0 * MARGIN_PIXELS, input.extent));
        let rendering =
            Rendering { depth: Some(silhouette), keeps_depth: true, y_up: true, part, ..Rendering::default() };
        input.recorder.rendering(rendering, || {
            crowd_draw::record(&PassInput { plan: &self.plan, ..*input }, Eye::Camera, casters);
        });
        // The line samples it (RAW).
        barrier(DEPTH_TARGET, SAMPLED);
    }

    /// Draws the line over the picture, inside a rendering.
    pub fn record_line(&self, input: &PassInput) {
        let Some(drawing) = self.shown() else { return };
        drawing.input.bind(input.recorder, &drawing.line);
        input.recorder.set_scissor(self.part(MARGIN_PIXELS, input.extent));
        input.recorder.draw(0..3, (0, 1));
        input.recorder.set_scissor(input.extent.into());
    }

    /// Returns the part of an image that may show the instance, with a margin.
    fn part(&self, margin: f32, extent: vk::Extent2D) -> vk::Rect2D {
        let Some((shown, shot)) = &self.seen else { return extent.into() };
        let size = Vec2::new(extent.width as f32, extent.height as f32);
        let clip_from_world = shot.camera.clip_from_world(size.x / size.y);
        let corners = (0..8u8).map(|corner| {
            let sign = |axis: u8| if corner >> axis & 1 == 1 { shown.radius } else { -shown.radius };
            clip_from_world * (shown.center_world + Vec3::new(sign(0), sign(1), sign(2))).extend(1.0)
        });
        if corners.clone().any(|corner| corner.w <= 0.0 || !corner.is_finite()) {
            return extent.into();
        }
        let pixels = corners.map(|corner| (0.5 + 0.5 * Vec2::new(corner.x, -corner.y) / corner.w) * size);
        let (low, high) = pixels.fold((size, Vec2::ZERO), |(low, high), pixel| (low.min(pixel), high.max(pixel)));
        let low = (low - margin).floor().clamp(Vec2::ZERO, size - 1.0);
        let high = (high + margin).ceil().clamp(low + 1.0, size);
        let (offset, part) = (low.as_ivec2(), (high - low).as_uvec2());
        vk::Rect2D {
            offset: vk::Offset2D { x: offset.x, y: offset.y },
            extent: vk::Extent2D { width: part.x, height: part.y },
        }
    }
}

impl Drawing {
    fn new(building: Building, extent: vk::Extent2D, format: vk::Format) -> vulkan::Result<Self> {
        let Building { builder, skinning, .. } = building;
        let silhouette = depth_map(builder.device(), "silhouette", extent)?;
        let input = SampledImage::new(builder.device(), "outline", &silhouette, (vk::ShaderStageFlags::FRAGMENT, 0))?;
        let line = builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::OUTLINE_FRAG),
            constants: &output_constants(format).words(),
            color_format: Some(format),
            blend: Some(Blend::Premultiplied),
            ..GraphicsPipelineInfo::new("outline", &input.layout, &spirv::OUTLINE_VERT)
        })?;
        let vertex = skinning.choose([&spirv::SILHOUETTE_VERT, &spirv::SILHOUETTE_SKINNING_VERT]);
        let casters = depth_pipelines(building, "silhouette", vertex, |draw| draw.topology == Topology::Triangles)?;
        Ok(Self { silhouette, casters, line, format, input })
    }
}

/// Returns the size of the silhouette in bytes.
pub fn bytes([width, height]: [u32; 2]) -> u64 {
    u64::from(width) * u64::from(height) * DEPTH_BYTES
}

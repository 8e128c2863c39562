//! The two ways to skin the vertices of `pose`: the CPU twin of `skin.comp`, and `skin.comp` itself.

use anyhow::Result;

use crate::animation::lanes::{self, LaneClip, LaneScratch, LaneSource, Processor};
use crate::animation::{BindPose, Pose, PoseStreams, skin_vertex};
use crate::app::gpu::{finish, offscreen_device};
use crate::cli::PoseArgs;
use crate::crowd::VisiblePose;
use crate::model::{Clip, Model};
use crate::renderer::{Output, Renderer, RendererSettings, Shadows};
use crate::shader_types::{InstanceData, JointMatrix, SkinnedVertex};
use crate::view::Look;

/// Skins the vertices of one instance, on the CPU or on the GPU.
pub(super) enum Skinner {
    Cpu(BindPose),
    Gpu { renderer: Box<Renderer>, clip: Option<LaneClip> },
}

impl Skinner {
    /// Creates the renderer for `--on gpu`.
    pub fn new(args: &PoseArgs, model: &Model, clip: Option<&Clip>) -> Result<Self> {
        if !args.on_gpu {
            return Ok(Self::Cpu(BindPose::new(&model.geometry)));
        }
        /// The image is not used: only the skin pass matters.
        const SMALL: ash::vk::Extent2D = ash::vk::Extent2D { width: 16, height: 16 };
        let device = offscreen_device(&args.device)?;
        let output = Output::offscreen(&device, SMALL)?;
        let settings = RendererSettings { samples: 1, shadows: Shadows::Off, ..RendererSettings::default() };
        let renderer = Box::new(Renderer::new(&device, std::slice::from_ref(model), output, settings)?);
        Ok(Self::Gpu { renderer, clip: LaneClip::compile(model, clip) })
    }

    /// Returns the skinned vertices of the model, and their tangents if it has some.
    pub fn skin(&mut self, time_seconds: f64, pose: Pose<'_>) -> Result<(Vec<SkinnedVertex>, Vec<u32>)> {
        match self {
            Self::Cpu(bind_pose) => {
                let wants_tangent = !bind_pose.bind_tangents.is_empty();
                let vertices = 0..bind_pose.vertex_count();
                Ok(vertices.map(|vertex| skin_vertex(bind_pose, vertex, pose, wants_tangent)).unzip())
            }
            Self::Gpu { renderer, clip } => {
                let Pose { palette, morph_weights, .. } = pose;
                // One instance shows one pose.
                let mut frame = renderer.begin_frame(&[VisiblePose::new(0, 1, 0)])?;
                let (memory, _) = frame.memory();
                match clip {
                    // Crowds are evaluated by these lanes as well.
                    Some(clip) => {
                        let (processor, mut scratch) = (Processor::detect(), LaneScratch::default());
                        let PoseStreams { palette, memory, .. } = memory.streams;
                        let source = LaneSource { clip, times_seconds: &[time_seconds] };
                        lanes::evaluate(processor, source, None, &mut scratch, memory, palette);
                    }
                    None => memory.streams.palette.iter_mut().zip(palette).for_each(|(to, &joint)| _ = to.write(joint)),
                }
                for (to, &weight) in memory.streams.morph_weights.iter_mut().zip(morph_weights) {
                    to.write(weight);
                }
                for instance in memory.instances {
                    instance.write(InstanceData {
                        world_from_model: JointMatrix::IDENTITY,
                        pose: 0,
                        tint_unorm8: u32::MAX,
                        numbers: [0; 2],
                    });
                }
                // The image does not matter, so neither do the camera and the light.
                frame.submit(bytemuck::Zeroable::zeroed(), Look::default(), false, &mut ())?;
                Ok((renderer.read_skinned_vertices(0)?, renderer.read_skinned_tangents(0)?))
            }
        }
    }

    /// Ends the renderer.
    pub fn finish(self) -> Result<()> {
        match self {
            Self::Cpu(_) => Ok(()),
            Self::Gpu { renderer, .. } => finish(renderer),
        }
    }
}

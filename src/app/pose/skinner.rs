//! The two ways to skin the vertices of `pose`: the CPU twin of `skin.comp`, and `skin.comp` itself.

use anyhow::Result;

use crate::animation::lanes::{self, LaneClip, LaneScratch, LaneSource, Processor};
use crate::animation::{BindPose, ModelPose, Pose, PoseStreams, joint_matrices};
use crate::app::export::PosedMesh;
use crate::app::gpu::offscreen_device;
use crate::cli::PoseArgs;
use crate::crowd::VisiblePose;
use crate::model::{Clip, Model};
use crate::renderer::{Output, Renderer, RendererSettings, Shadows};
use crate::shader_types::{InstanceData, JointMatrix};
use crate::view::Look;

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

    pub fn skin<'m>(&mut self, model: &'m Model, time_seconds: f64, pose: ModelPose<'_>) -> Result<PosedMesh<'m>> {
        let (renderer, clip) = match self {
            Self::Cpu(bind_pose) => return Ok(PosedMesh::skinned(model, bind_pose, pose)),
            Self::Gpu { renderer, clip } => (renderer, clip),
        };
        let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();
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
            None => memory.streams.palette.iter_mut().zip(&palette).for_each(|(to, &joint)| _ = to.write(joint)),
        }
        for (to, &weight) in memory.streams.morph_weights.iter_mut().zip(pose.morph_weights) {
            to.write(weight);
        }
        let (world_from_model, tint_unorm8) = (JointMatrix::IDENTITY, u32::MAX);
        for instance in memory.instances {
            instance.write(InstanceData { world_from_model, pose: 0, tint_unorm8, numbers: [0; 2] });
        }
        // The image does not matter, so neither do the camera and the light.
        frame.submit(bytemuck::Zeroable::zeroed(), Look::default(), false, &mut ())?;
        let skinned = (renderer.read_skinned_vertices(0)?, renderer.read_skinned_tangents(0)?);
        let pose = Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() };
        Ok(PosedMesh::new(model, pose, skinned))
    }
}

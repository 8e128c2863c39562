//! Draws a crowd of one character, each instance in its own pose: one palette, one dispatch, one instanced draw per material, and
//! two frames in flight.
//!
//! `cargo run --release --example a_crowd -- [MODEL.glb [OUT.png]]`
//!
//! `one_character.rs` shows one pose and one image. This is what a crowd adds, and no more: the arrays of all poses with their
//! offsets, and the memory that the CPU writes while the GPU still draws the frame before. The program's frame
//! (`src/renderer/frame.rs`) does the same, for what the camera sees, of many models in many levels of detail. The picture is
//! that of `throng render --instances 100 --clip all --seed 0 --variety 0 --shadows off --ground off --background '#000000'
//! --msaa 1 --lod-error 0 --time 1 --size 512x512 MODEL.glb`.
//!
//! With N instances of a model of V vertices, J joints and W morph weights:
//!
//! | array | elements | size | written |
//! |---|---|---|---|
//! | placements ([`InstanceData`]) | N | 64 N | once |
//! | pose records ([`PoseRecord`]) | N | 20 N | once, because all poses are visible |
//! | palette ([`JointMatrix`]) | N J | 48 N J | by the CPU in each frame, in that frame's slot |
//! | morph weights | N W | 4 N W | the same |
//! | skinned vertices ([`SkinnedVertex`]) | N V | 16 N V | by the GPU in each frame, in that frame's slot |
//! | skinned tangents | N V | 4 N V | the same |
//!
//! A *slot* is what one frame in flight owns. With two slots the CPU writes one palette while the GPU reads the other. What never
//! changes is shared, and so are the images of the frame, because frames draw one after the other: barriers order them.

use std::error::Error;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use ash::vk;
use throng::animation::{PoseScratch, pose_model, write_palette};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, PoseSize, wrap_seconds};
use throng::model::{Model, import};
use throng::renderer::layouts::{FRAME_SET, LIGHT_SET, Layouts, MATERIAL_SET, MODEL_SET, PAGE_SET, VERTICES_SET};
use throng::renderer::output::attachments::{Attachments, DEPTH_FORMAT, HDR_FORMAT};
use throng::renderer::passes::vertex_input::{CHARACTERS, INSTANCE_BINDING, STATIC_BINDING, primitive};
use throng::renderer::passes::{character_pass::fragment_shader, tone_map_pass::ToneMapPass};
use throng::renderer::resident::lighting::Lighting;
use throng::renderer::resident::model::{GpuModel, IndexRange};
use throng::renderer::resident::texture::Samplers;
use throng::renderer::{Output, Skinning};
use throng::shader_types::{
    FrameData, InstanceData, JointMatrix, PoseRecord, SkinConstants, SkinnedVertex, SpecializationConstants,
    VERTICES_PER_GROUP,
};
use throng::view::{Background, Ground, Look, OrbitCamera};
use throng::vulkan::barrier::{Access, COLOR_TARGET, DEPTH_TARGET, ImageBarrier, SAMPLED, discarded};
use throng::vulkan::buffer::{Buffer, BufferMemory};
use throng::vulkan::commands::CommandPool;
use throng::vulkan::descriptors::{Binding, DescriptorSet};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;
use throng::vulkan::pipeline::{GraphicsPipelineInfo, PipelineBuilder};
use throng::vulkan::sync::Fence;
use throng::vulkan::{Result, recorder::Recorder, spirv};

pub const EXTENT: vk::Extent2D = vk::Extent2D { width: 512, height: 512 };
pub const INSTANCES: u32 = 100;
/// The last frame shows the time 1 s.
pub const FRAMES: u32 = 25;
const FRAMES_PER_SECOND: f64 = 24.0;
const FRAMES_IN_FLIGHT: usize = 2;
/// A work group of `skin.comp` reads a vertex once and skins it for this many poses.
const POSES_PER_GROUP: u32 = 4;

const STORAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::STORAGE_BUFFER;

/// What one frame in flight owns.
struct Slot {
    /// The joint matrices of all poses, in mapped memory: the CPU writes them, and `skin.comp` reads them there.
    palette: Buffer,
    morph_weights: Buffer,
    /// The frame set: frame data, pose records, palette, morph weights.
    frame_set: DescriptorSet,
    /// The page set: the skinned vertices and tangents of all poses.
    page_set: DescriptorSet,
    commands: CommandPool,
    /// Signalled when the GPU has finished the slot's frame.
    finished: Fence,
    is_in_flight: bool,
    _page: [Buffer; 2],
}

impl Slot {
    fn new(device: &Arc<Device>, layouts: &Layouts, size: &PoseSize, shared: [&Buffer; 3]) -> Result<Self> {
        let of_poses = |name: &str, count: u32, element_bytes: usize, memory| {
            let size_bytes = u64::from(INSTANCES) * u64::from(count) * element_bytes as u64;
            Buffer::new(device, name, size_bytes, STORAGE, memory)
        };
        let level = size.level(0);
        let palette = of_poses("palette", level.joint_count, size_of::<JointMatrix>(), BufferMemory::Upload)?;
        let morph_weights = of_poses("morph weights", size.morph_weight_count, size_of::<f32>(), BufferMemory::Upload)?;
        let vertices = of_poses("page", level.vertex_count, size_of::<SkinnedVertex>(), BufferMemory::Device)?;
        let tangents = of_poses("tangents", level.vertex_count, size_of::<u32>(), BufferMemory::Device)?;
        let [frame_data, records, instances] = shared;
        let frame = [frame_data, records, &palette, &morph_weights, instances].map(Binding::Buffer);
        Ok(Self {
            frame_set: DescriptorSet::new(device, "frame set", &layouts.frame, &frame)?,
            page_set: DescriptorSet::new(
                device,
                "page set",
                &layouts.page,
                &[&vertices, &tangents].map(Binding::Buffer),
            )?,
            palette,
            morph_weights,
            commands: CommandPool::new(device, "frame")?,
            finished: Fence::new(device, "frame finished")?,
            is_in_flight: false,
            _page: [vertices, tangents],
        })
    }

    /// Waits until the GPU has finished the slot's last frame. Only then may the CPU write its memory.
    fn wait(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_in_flight) {
            self.finished.wait_and_reset()?;
        }
        Ok(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // An error means that the device is lost. Then nothing is in use any more.
        let _ = self.wait();
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model_path = arguments.next().unwrap_or_else(|| "assets/walker.glb".to_owned());
    let image_path = arguments.next().unwrap_or_else(|| "a_crowd.png".to_owned());
    let instance = Instance::new(InstanceOptions { validation: false, surface_extensions: &[] })?;
    let physical = PhysicalDevice::choose(&instance, None, None)?;
    let device = Device::new(&instance, physical, false)?;
    draw(&device, model_path.as_ref(), image_path.as_ref())
}

/// Draws [`FRAMES`] frames of a crowd of a model and writes the last one as a PNG.
pub fn draw(device: &Arc<Device>, path: &Path, image_path: &Path) -> std::result::Result<(), Box<dyn Error>> {
    // 1. Where the instances stand, and at which time of the clip each of them starts. The library's crowd decides that here, and
    //    nothing else.
    let models: Arc<[Model]> = [import::load(path)?].into();
    let model = &models[0];
    let settings = CrowdSettings { instance_count: INSTANCES, clip: ClipChoice::All, ..CrowdSettings::default() };
    let crowd = Crowd::new(Arc::clone(&models), &settings)?;
    // Sorted by model; here there is one.
    let states: Vec<_> = crowd.instance_states().collect();
    let (size, weight_count) = (PoseSize::of(model), model.morph_weight_count());
    let vertex_count = size.level(0).vertex_count;
    let joint_count = size.level(0).joint_count as usize;

    // 2. What does not change. Pose k has its joint matrices, weights and vertices at k times their number, and instance k shows
    //    pose k.
    let layouts = Layouts::new(device, Skinning::Compute)?;
    let gpu_model = GpuModel::new(device, &layouts, &mut Samplers::default(), model, false)?;
    let record = |k: u32| PoseRecord {
        palette_offset: k * joint_count as u32,
        skinned_vertex_offset: k * vertex_count,
        morph_weight_offset: k * weight_count as u32,
        morph_weight_count: weight_count as u32,
        ..PoseRecord::default()
    };
    let records = Buffer::filled(device, "pose records", STORAGE, &(0..INSTANCES).map(record).collect::<Vec<_>>())?;
    let placements = (0..).zip(&states).map(|(pose, state)| InstanceData {
        world_from_model: state.world_from_model.into(),
        pose,
        tint_unorm8: u32::MAX,
        numbers: [0; 2],
    });
    let usage = STORAGE | vk::BufferUsageFlags::VERTEX_BUFFER;
    let instances = Buffer::filled(device, "instances", usage, &placements.collect::<Vec<_>>())?;
    let look = Look { background: Background::Color([0; 3]), ground: Ground::Off, ..Look::default() };
    let camera = OrbitCamera::framing(&crowd.outline(f64::from(FRAMES - 1) / FRAMES_PER_SECOND), 1.0);
    let frame_data = FrameData::new(&camera, 1.0, &look);
    let frame_buffer = Buffer::filled(device, "frame data", vk::BufferUsageFlags::UNIFORM_BUFFER, &[frame_data])?;

    // 3. The pipelines, and the images, which all frames draw to in turn.
    let builder = PipelineBuilder::new(device, &[]);
    let constants = SpecializationConstants {
        with_tangents: size.has_tangents.into(),
        poses_per_group: POSES_PER_GROUP,
        ..SpecializationConstants::default()
    };
    let skin = builder.compute("skin", (&spirv::SKIN_COMP, &constants.words()[..]), &layouts.skin)?;
    let pipelines = gpu_model.draws.iter().map(|draw| {
        let features = draw.features;
        builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(fragment_shader(features)),
            constants: &SpecializationConstants { features, ..SpecializationConstants::default() }.words(),
            vertex_input: CHARACTERS,
            topology: primitive(draw.topology),
            color_format: Some(HDR_FORMAT),
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            ..GraphicsPipelineInfo::new("character", &layouts.scene, &spirv::CHARACTER_VERT)
        })
    });
    let pipelines = pipelines.collect::<Result<Vec<_>>>()?;
    let lighting = Lighting::new(&builder, &layouts, 1)?;
    let attachments = Attachments::new(device, EXTENT, vk::SampleCountFlags::TYPE_1)?;
    let output = Output::offscreen(device, EXTENT)?;
    let image = output.image(0).ok_or("there is no image")?;
    let tone_map = ToneMapPass::new(&builder, image.info().format, false, &attachments.hdr)?;

    let record_frame = |recorder: Recorder, slot: &Slot, number: u32| {
        // Each dispatch covers the vertices along x and the poses along y: here one dispatch for all.
        if number == 0 {
            lighting.environment.record(recorder, frame_data.sky);
        }
        recorder.bind_pipeline(&skin);
        for (number, set) in [(FRAME_SET, &slot.frame_set), (MODEL_SET, &gpu_model.set), (PAGE_SET, &slot.page_set)] {
            recorder.bind_set(&layouts.skin, number, set);
        }
        let constants = SkinConstants { first: 0, end: vertex_count, first_pose: 0, end_pose: INSTANCES };
        recorder.push_constants(&layouts.skin, &constants);
        recorder.dispatch([vertex_count.div_ceil(VERTICES_PER_GROUP), INSTANCES.div_ceil(POSES_PER_GROUP)]);

        // Vertex shaders read the skinned vertices (RAW). The slot's last frame, which read them, has finished: no WAR.
        recorder.memory_barrier(Access::COMPUTE_WRITE, Access::VERTEX_READ);
        // The frame before wrote both images (WAW), and its tone mapping has read the colour (WAR). The CPU has not waited for it.
        let color_uses = discarded(Access::COLOR_WRITE.and(Access::SAMPLED_READ.finished()));
        recorder.image_barriers([
            ImageBarrier::new(&attachments.hdr, color_uses, COLOR_TARGET),
            ImageBarrier::new(&attachments.depth, discarded(Access::DEPTH_WRITE), DEPTH_TARGET),
        ]);
        if number == 0 {
            // Nothing reads the map without shadows, but its set says that it can be sampled.
            recorder.image_barriers([ImageBarrier::new(&lighting.shadow_map, discarded(Access::NOTHING), SAMPLED)]);
        }
        attachments.rendering(recorder, look.clear_color(), || {
            for (number, set) in
                [(FRAME_SET, &slot.frame_set), (VERTICES_SET, &slot.page_set), (LIGHT_SET, &lighting.set)]
            {
                recorder.bind_set(&layouts.scene, number, set);
            }
            recorder.bind_vertex_buffer(INSTANCE_BINDING, &instances);
            recorder.bind_vertex_buffer(STATIC_BINDING, &gpu_model.static_vertices);
            recorder.bind_index_buffer(&gpu_model.indices, gpu_model.index_type);
            for (draw, pipeline) in gpu_model.draws.iter().zip(&pipelines) {
                recorder.bind_pipeline(pipeline);
                recorder.bind_set(&layouts.scene, MATERIAL_SET, &gpu_model.materials.sets[draw.material]);
                recorder.set_culling(draw.cull_mode, draw.front_face);
                let IndexRange { first, count } = draw.indices(0);
                // All instances at once: the pose of each is an attribute, and leads to its vertices.
                recorder.draw_indexed((first, count), 0, (0, INSTANCES));
            }
        });
        // Tone mapping reads the HDR colour (RAW). The output's image has barriers of its own.
        recorder.image_barriers([ImageBarrier::new(&attachments.hdr, COLOR_TARGET, SAMPLED)]);
        output.begin(recorder, image);
        tone_map.record(recorder, image, frame_data.exposure, || {});
        output.finish(recorder, image, number + 1 == FRAMES);
    };

    // 4. The frames, with the memory of two of them. The slots are made last, so an error drops them first, and that waits.
    let slot = |_| Slot::new(device, &layouts, &size, [&frame_buffer, &records, &instances]);
    let mut slots = (0..FRAMES_IN_FLIGHT).map(slot).collect::<Result<Vec<_>>>()?;
    let mut scratch = PoseScratch::for_model(model);
    for number in 0..FRAMES {
        let slot = &mut slots[number as usize % FRAMES_IN_FLIGHT];
        slot.wait()?;
        let seconds = f64::from(number) / FRAMES_PER_SECOND;
        let poses = states.len();
        // SAFETY: the wait above. The GPU reads the memory again after the submission below.
        let (palette, weights): (&mut [MaybeUninit<JointMatrix>], &mut [MaybeUninit<f32>]) = unsafe {
            (
                slot.palette.mapped_for_writing(poses * joint_count),
                slot.morph_weights.mapped_for_writing(poses * weight_count),
            )
        };
        // Clip × time ▶ local pose ▶ model pose ▶ joint matrices, at the pose's offset.
        for (k, state) in states.iter().enumerate() {
            let clip = state.clip.and_then(|clip| model.clips.get(clip as usize));
            let duration = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
            let pose = pose_model(model, clip, wrap_seconds(state.start_seconds + seconds, duration), &mut scratch);
            write_palette(&model.palette, pose.model_from_node, &mut palette[k * joint_count..][..joint_count]);
            weights[k * weight_count..][..weight_count].write_copy_of_slice(pose.morph_weights);
        }
        // SAFETY: the slot's last frame has finished. All objects live until the slots are dropped, which waits, and validation checks
        // the commands in a test.
        let recorder = unsafe { slot.commands.begin() }?;
        record_frame(recorder, slot, number);
        // SAFETY: recording has begun above.
        unsafe { slot.commands.end() }?;
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(slot.commands.raw())];
        let submits = [vk::SubmitInfo2::default().command_buffer_infos(&commands)];
        // The submission makes the CPU's writes visible to the GPU. The CPU goes on with the other slot meanwhile.
        // SAFETY: as for the recording. The guard locks the queue.
        unsafe { device.raw.queue_submit2(*device.queue(), &submits, slot.finished.raw()) }?;
        slot.is_in_flight = true;
    }
    slots.iter_mut().try_for_each(Slot::wait)?;
    // SAFETY: no frame is in flight.
    let pixels = unsafe { output.pixels() };
    image::save_buffer(image_path, pixels, EXTENT.width, EXTENT.height, image::ExtendedColorType::Rgba8)?;
    println!("{}: {INSTANCES} instances of {}, {FRAMES} frames", image_path.display(), model.name);
    Ok(())
}

//! Draws one skinned character, from the model file to a PNG, with every step of GPU skinning on one page.
//!
//! `cargo run --release --example one_character -- [MODEL.glb [OUT.png]]`
//!
//! It draws the picture of `throng render --shadows off --ground off --background '#000000' --msaa 1 --lod-error 0 --phase zero
//! --time 0.4 --size 512x512 MODEL.glb`, with the steps of the program's frame (`src/renderer/frame.rs`) for one instance and one
//! image.
//!
//! 1. import the model, place it, and evaluate its first clip at one time on the CPU;
//! 2. put its joint matrices into the palette, and describe the pose in a `PoseRecord`;
//! 3. dispatch `skin.comp`, which writes the skinned vertices;
//! 4. draw them with `character.vert` and `character.frag`;
//! 5. read the image back.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use ash::vk;
use throng::animation::{PoseScratch, joint_matrices, pose_model};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, PhaseMode, PoseSize};
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
use throng::vulkan::commands::submit_and_wait;
use throng::vulkan::descriptors::{Binding, DescriptorSet};
use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions};
use throng::vulkan::physical_device::PhysicalDevice;
use throng::vulkan::pipeline::{GraphicsPipelineInfo, PipelineBuilder};
use throng::vulkan::{Result, recorder::Recorder, spirv};

pub const EXTENT: vk::Extent2D = vk::Extent2D { width: 512, height: 512 };
pub const TIME_SECONDS: f64 = 0.4;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let model_path = arguments.next().unwrap_or_else(|| "assets/walker.glb".to_owned());
    let image_path = arguments.next().unwrap_or_else(|| "one_character.png".to_owned());
    let instance = Instance::new(InstanceOptions { validation: false, surface_extensions: &[] })?;
    let physical = PhysicalDevice::choose(&instance, None, None)?;
    let device = Device::new(&instance, physical, false)?;
    draw(&device, model_path.as_ref(), image_path.as_ref())
}

/// Draws the first clip of a model at [`TIME_SECONDS`] and writes the image as a PNG.
pub fn draw(device: &Arc<Device>, path: &Path, image_path: &Path) -> std::result::Result<(), Box<dyn Error>> {
    // 1. The CPU side: a crowd of one, and clip × time ▶ model_from_node ▶ × inverse bind matrix.
    let models: Arc<[Model]> = [import::load(path)?].into();
    let model = &models[0];
    let (clip, phase) = (ClipChoice::Index(0), PhaseMode::Zero);
    let crowd = Crowd::new(Arc::clone(&models), &CrowdSettings { clip, phase, ..CrowdSettings::default() })?;
    let placement = crowd.instance_states().next().ok_or("the crowd is empty")?.world_from_model;
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, model.clips.first(), TIME_SECONDS, &mut scratch);
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();

    // Upload bind-pose vertices, influences, indices, materials and textures.
    let layouts = Layouts::new(device, Skinning::Compute)?;
    let gpu_model = GpuModel::new(device, &layouts, &mut Samplers::default(), model, false)?;

    // 2. The data that changes in each frame: one pose, one instance that shows it, camera and light.
    let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let morph_weight_count = pose.morph_weights.len() as u32;
    let records =
        Buffer::filled(device, "pose records", storage, &[PoseRecord { morph_weight_count, ..PoseRecord::default() }])?;
    let palette = Buffer::filled(device, "palette", storage, &palette)?;
    let morph_weights = Buffer::filled(device, "morph weights", storage, pose.morph_weights)?;
    let instance = InstanceData { world_from_model: placement.into(), pose: 0, tint_unorm8: u32::MAX, numbers: [0; 2] };
    let usage = vk::BufferUsageFlags::VERTEX_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
    let instances = Buffer::filled(device, "instances", usage, &[instance])?;
    let look = Look { background: Background::Color([0; 3]), ground: Ground::Off, ..Look::default() };
    let camera = OrbitCamera::framing(&crowd.outline(TIME_SECONDS), 1.0);
    let frame = FrameData::new(&camera, 1.0, &look);
    let frame_data = Buffer::filled(device, "frame data", vk::BufferUsageFlags::UNIFORM_BUFFER, &[frame])?;
    let builder = PipelineBuilder::new(device, &[]);
    let bindings = [&frame_data, &records, &palette, &morph_weights, &instances].map(Binding::Buffer);
    let frame_set = DescriptorSet::new(device, "frame set", &layouts.frame, &bindings)?;
    // A shadow map of one texel, which nothing reads without shadows.
    let lighting = Lighting::new(&builder, &layouts, 1)?;

    // 3. The transient vertex buffer: one page for the skinned vertices, and one for their tangents.
    let size = PoseSize::of(model);
    let vertex_count = size.level(0).vertex_count;
    let page = |bytes: usize| {
        Buffer::new(device, "page", bytes as u64 * u64::from(vertex_count), storage, BufferMemory::Device)
    };
    let (vertices, tangents) = (page(size_of::<SkinnedVertex>())?, page(size_of::<u32>())?);
    let page_set = DescriptorSet::new(device, "page set", &layouts.page, &[&vertices, &tangents].map(Binding::Buffer))?;
    // The other constants have defaults that allow any number of influences, and morph targets.
    let constants =
        SpecializationConstants { with_tangents: size.has_tangents.into(), ..SpecializationConstants::default() };
    let skin = builder.compute("skin", (&spirv::SKIN_COMP, &constants.words()[..]), &layouts.skin)?;

    // 4. One pipeline for each draw, HDR colour and depth, and the image that tone mapping writes.
    let pipelines = gpu_model.draws.iter().map(|draw| {
        let features = draw.features;
        builder.graphics(&GraphicsPipelineInfo {
            name: "character",
            vertex: &spirv::CHARACTER_VERT,
            fragment: Some(fragment_shader(features)),
            constants: &SpecializationConstants { features, ..SpecializationConstants::default() }.words(),
            vertex_input: CHARACTERS,
            topology: primitive(draw.topology),
            polygon_mode: vk::PolygonMode::FILL,
            layout: &layouts.scene,
            color_format: Some(HDR_FORMAT),
            // Reversed Z: greater is nearer.
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            samples: vk::SampleCountFlags::TYPE_1,
            blend: None,
            depth_bias: None,
        })
    });
    let pipelines = pipelines.collect::<Result<Vec<_>>>()?;
    let attachments = Attachments::new(device, EXTENT, vk::SampleCountFlags::TYPE_1)?;
    let output = Output::offscreen(device, EXTENT)?;
    let image = output.image(0).ok_or("there is no image")?;
    let tone_map = ToneMapPass::new(&builder, image.info().format, false, &attachments.hdr)?;

    let record = |recorder: Recorder| {
        // Computes the light of the surroundings once, with its own barriers.
        lighting.environment.record(recorder, frame.sky);
        recorder.bind_pipeline(&skin);
        for (number, set) in [(FRAME_SET, &frame_set), (MODEL_SET, &gpu_model.set), (PAGE_SET, &page_set)] {
            recorder.bind_set(&layouts.skin, number, set);
        }
        // The skin order begins with all vertices in full detail.
        let constants = SkinConstants { first: 0, end: vertex_count, first_pose: 0, end_pose: 1 };
        recorder.push_constants(&layouts.skin, &constants);
        recorder.dispatch([vertex_count.div_ceil(VERTICES_PER_GROUP), 1]);

        // Vertex shaders read the skinned vertices (RAW). The images are new, so their barriers wait for nothing.
        recorder.memory_barrier(Access::COMPUTE_WRITE, Access::VERTEX_READ);
        let new = discarded(Access::NOTHING);
        recorder.image_barriers([
            ImageBarrier::new(&attachments.hdr, new, COLOR_TARGET),
            ImageBarrier::new(&attachments.depth, new, DEPTH_TARGET),
            ImageBarrier::new(&lighting.shadow_map, new, SAMPLED),
        ]);
        attachments.rendering(recorder, look.clear_color(), || {
            for (number, set) in [(FRAME_SET, &frame_set), (VERTICES_SET, &page_set), (LIGHT_SET, &lighting.set)] {
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
                recorder.draw_indexed((first, count), 0, (0, 1));
            }
        });
        // Tone mapping reads the HDR colour (RAW).
        recorder.image_barriers([ImageBarrier::new(&attachments.hdr, COLOR_TARGET, SAMPLED)]);
        output.begin(recorder, image);
        tone_map.record(recorder, image, frame.exposure, || {});
        // 5. The image is copied, with its barriers.
        output.finish(recorder, image, true);
        Ok(())
    };
    // SAFETY: all objects above outlive the call. Validation checks the commands in a test.
    unsafe { submit_and_wait(device, "one character", record) }?;
    // SAFETY: the copy has finished.
    let pixels = unsafe { output.pixels() };
    image::save_buffer(image_path, pixels, EXTENT.width, EXTENT.height, image::ExtendedColorType::Rgba8)?;
    println!("{}: {} at {TIME_SECONDS} s", image_path.display(), model.name);
    Ok(())
}

//! Proves that the validation gate of the GPU tests can fail.
//!
//! Each case uses the program's Vulkan layer twice. The first work is deliberately wrong, and [`Gpu`] must refuse it
//! with a message of the right kind. The second has the one barrier (or number) that repairs it, and must pass. So a
//! missing layer or an ineffective switch fails here, instead of letting all other tests pass unchecked.
//!
//! No message is excused, so each other GPU test proves that the layer does not report correct work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ash::vk;
use throng::shader_types::SkinConstants;
use throng::vulkan::barrier::{
    Access, COLOR_TARGET, ImageBarrier, ImageUse, TRANSFER_SOURCE, TRANSFER_TARGET, discarded,
};
use throng::vulkan::buffer::{Buffer, BufferMemory};
use throng::vulkan::commands::CommandPool;
use throng::vulkan::descriptors::DescriptorSetLayout;
use throng::vulkan::device::Device;
use throng::vulkan::image::{Image, ImageInfo};
use throng::vulkan::pipeline::{PipelineBuilder, PipelineLayout};
use throng::vulkan::recorder::{Recorder, Rendering};
use throng::vulkan::spirv;

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::gpu::loader::{VALIDATION_LAYER, system};

list_gpu_tests![
    hazards_of_copies_are_seen,
    mistakes_in_commands_are_seen,
    a_pipeline_layout_that_does_not_fit_the_shader_is_seen,
    what_is_left_behind_is_seen,
    resources_that_outlive_the_gate_are_refused,
    a_message_fails_the_test,
];

/// Returns the message of the gate about `work`, or `None` if the work passes.
fn verdict(device: &TestDevice, work: impl FnOnce(&Arc<Device>)) -> Option<String> {
    let mut gpu = Gpu::from(device);
    work(gpu.device());
    gpu.close().err()
}

/// Asserts that the wrong `work` is refused with a message that contains `expected`, and that the right one passes.
fn assert_gate(device: &TestDevice, what: &str, expected: &str, work: impl Fn(&Arc<Device>, Work)) {
    let message = verdict(device, |device| work(device, Work::Wrong)).unwrap_or_else(|| panic!("{what}: it passed"));
    assert!(message.contains(expected), "{what}: no {expected} in: {message}");
    assert_eq!(verdict(device, |device| work(device, Work::Right)), None, "{what}");
}

/// Returns whether the layer sees hazards that layers before 1.3.290 let pass.
fn layer_is_recent() -> bool {
    // SAFETY: the loader is loaded.
    let layers = unsafe { system().enumerate_instance_layer_properties() }.unwrap();
    let layer = layers.iter().find(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
    layer.expect("the layer of every test").spec_version >= vk::make_api_version(0, 1, 3, 290)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Wrong,
    Right,
}

impl Work {
    fn pick<T>(self, wrong: T, right: T) -> T {
        if self == Self::Wrong { wrong } else { right }
    }
}

const SIZE_BYTES: u64 = 256;

fn buffers(device: &Arc<Device>) -> [Buffer; 3] {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    ["a", "b", "c"].map(|name| Buffer::new(device, name, SIZE_BYTES, usage, BufferMemory::Device).unwrap())
}

type FromTo = (usize, usize);

fn copy(recorder: Recorder, buffers: &[Buffer; 3], (from, to): FromTo, size: u64) {
    recorder.copy_buffer(&buffers[from], &buffers[to], vk::BufferCopy { src_offset: 0, dst_offset: 0, size });
}

const COPY_WRITE: Access = Access::new(vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
const COPY_READ: Access = Access::new(vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);

const EXTENT: vk::Extent2D = vk::Extent2D { width: 4, height: 4 };

/// Creates an image of 64 bytes to copy to and from and to draw to.
fn image(device: &Arc<Device>) -> Image {
    let usage =
        vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    Image::new(device, "image", ImageInfo::color(vk::Format::R8G8B8A8_UNORM, EXTENT, usage)).unwrap()
}

fn texels() -> vk::BufferImageCopy {
    let subresource =
        vk::ImageSubresourceLayers { aspect_mask: vk::ImageAspectFlags::COLOR, layer_count: 1, ..Default::default() };
    vk::BufferImageCopy::default().image_subresource(subresource).image_extent(EXTENT.into())
}

fn change(recorder: Recorder, image: &Image, from: ImageUse, to: ImageUse) {
    recorder.image_barriers([ImageBarrier::new(image, from, to)]);
}

const WRITE_AFTER_WRITE: &str = "SYNC-HAZARD-WRITE-AFTER-WRITE";
const WRITE_AFTER_READ: &str = "SYNC-HAZARD-WRITE-AFTER-READ";
const READ_AFTER_WRITE: &str = "SYNC-HAZARD-READ-AFTER-WRITE";

type Barrier = (Access, Access);

/// Two copies from buffer to buffer, the hazard between them, and a barrier that does not order them, or none.
const COPIES: [(&str, [FromTo; 2], &str, Option<Barrier>); 7] = [
    ("two writes", [(0, 2), (1, 2)], WRITE_AFTER_WRITE, None),
    ("a write and a read", [(0, 1), (1, 2)], READ_AFTER_WRITE, None),
    ("a read and a write", [(0, 1), (2, 0)], WRITE_AFTER_READ, None),
    ("another stage first", [(0, 1), (1, 2)], READ_AFTER_WRITE, Some((Access::COMPUTE_WRITE, COPY_READ))),
    ("no access first", [(0, 1), (1, 2)], READ_AFTER_WRITE, Some((COPY_WRITE.finished(), COPY_READ))),
    ("another stage second", [(0, 1), (1, 2)], READ_AFTER_WRITE, Some((COPY_WRITE, Access::COMPUTE_READ))),
    ("no access second", [(0, 1), (1, 2)], READ_AFTER_WRITE, Some((COPY_WRITE, COPY_READ.finished()))),
];

type Record = fn(Recorder, &Image, &[Buffer; 3], Work);

/// Commands with one mistake, and its message. Layers before 1.3.290 do not see the last two.
const MISTAKES: [(&str, &str, Record); 5] = [
    ("two copies to an image", WRITE_AFTER_WRITE, |recorder, image, buffers, work| {
        change(recorder, image, discarded(Access::NOTHING), TRANSFER_TARGET);
        recorder.copy_buffer_to_image(&buffers[0], image, texels());
        if work == Work::Right {
            change(recorder, image, TRANSFER_TARGET, TRANSFER_TARGET);
        }
        recorder.copy_buffer_to_image(&buffers[1], image, texels());
    }),
    // A change of layout is a write.
    ("a change of layout that does not wait", WRITE_AFTER_WRITE, |recorder, image, buffers, work| {
        change(recorder, image, discarded(Access::NOTHING), TRANSFER_TARGET);
        recorder.copy_buffer_to_image(&buffers[0], image, texels());
        let last_use = work.pick(Access::NOTHING, Access::TRANSFER_WRITE);
        change(recorder, image, (last_use, vk::ImageLayout::TRANSFER_DST_OPTIMAL), TRANSFER_SOURCE);
        recorder.copy_image_to_buffer(image, &buffers[1], texels());
    }),
    ("a copy of no bytes", "VUID-VkBufferCopy-size-01988", |recorder, _, buffers, work| {
        copy(recorder, buffers, (0, 1), work.pick(0, SIZE_BYTES));
    }),
    // A fill is no copy: it belongs to the stage `CLEAR`.
    ("a fill that a barrier for copies does not order", READ_AFTER_WRITE, |recorder, _, buffers, work| {
        recorder.fill_buffer(&buffers[0], 7);
        recorder.memory_barrier(work.pick(COPY_WRITE, Access::TRANSFER_WRITE), COPY_READ);
        copy(recorder, buffers, (0, 1), SIZE_BYTES);
    }),
    // The barrier waits for copies, but a rendering has written the image.
    ("a readback that does not wait for the rendering", WRITE_AFTER_WRITE, |recorder, image, buffers, work| {
        change(recorder, image, discarded(Access::NOTHING), COLOR_TARGET);
        let clear = Rendering { color: Some(image), clear_color: Some([0.0; 4]), ..Rendering::default() };
        recorder.rendering(clear, || ());
        let last_use = work.pick(Access::TRANSFER_WRITE, Access::COLOR_WRITE);
        change(recorder, image, (last_use, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL), TRANSFER_SOURCE);
        recorder.copy_image_to_buffer(image, &buffers[0], texels());
    }),
];

/// Records each of these parts, submits them one after the other, and waits for their end.
fn submit(device: &Arc<Device>, parts: &[&dyn Fn(Recorder)]) {
    let record = |record: &&dyn Fn(Recorder)| {
        let pool = CommandPool::new(device, "commands").unwrap();
        // SAFETY: the buffer is new, and what the commands use lives until the wait below.
        record(unsafe { pool.begin() }.unwrap());
        // SAFETY: recording has begun above.
        unsafe { pool.end() }.unwrap();
        pool
    };
    let pools: Vec<CommandPool> = parts.iter().map(record).collect();
    for pool in &pools {
        let infos = [vk::CommandBufferSubmitInfo::default().command_buffer(pool.raw())];
        let submit = vk::SubmitInfo2::default().command_buffer_infos(&infos);
        // SAFETY: one thread uses the queue; the commands live until the wait below.
        unsafe { device.raw.queue_submit2(*device.queue(), &[submit], vk::Fence::null()) }.unwrap();
    }
    device.wait_idle().unwrap();
}

/// Hazards between submissions have their own switch. Without it, the layer misses a frame that overwrites a buffer while the
/// previous frame still reads it.
fn hazards_of_copies_are_seen(device: &TestDevice) {
    for (what, [first, second], hazard, weak_barrier) in COPIES {
        let splits: &[bool] = if weak_barrier.is_none() { &[false, true] } else { &[false] };
        for &is_split in splits {
            assert_gate(device, what, hazard, |device, work| {
                let buffers = buffers(device);
                let begin = |recorder: Recorder| copy(recorder, &buffers, first, SIZE_BYTES);
                let end = |recorder: Recorder| {
                    let right = Some((COPY_WRITE, COPY_READ.and(COPY_WRITE)));
                    if let Some((from, to)) = work.pick(weak_barrier, right) {
                        recorder.memory_barrier(from, to);
                    }
                    copy(recorder, &buffers, second, SIZE_BYTES);
                };
                let both = |recorder: Recorder| {
                    begin(recorder);
                    end(recorder);
                };
                if is_split { submit(device, &[&begin, &end]) } else { submit(device, &[&both]) }
            });
        }
    }
}

fn mistakes_in_commands_are_seen(device: &TestDevice) {
    let seen_count = if layer_is_recent() { MISTAKES.len() } else { MISTAKES.len() - 2 };
    for (number, (what, message, record)) in MISTAKES.iter().enumerate() {
        let submit = |device: &Arc<Device>, work| {
            let (buffers, image) = (buffers(device), image(device));
            submit(device, &[&|recorder: Recorder| record(recorder, &image, &buffers, work)]);
        };
        if number < seen_count {
            assert_gate(device, what, message, submit);
        } else {
            assert_eq!(verdict(device, |device| submit(device, Work::Wrong)), None, "{what}");
        }
    }
}

/// The layer checks that pipeline layouts have their shaders' resources. `tests/repository/shader_layout.rs` does not.
fn a_pipeline_layout_that_does_not_fit_the_shader_is_seen(device: &TestDevice) {
    assert_gate(device, "a wrong layout", "VUID-VkComputePipelineCreateInfo-layout", |device, work| {
        use vk::DescriptorType as Type;
        let palette = work.pick(Type::UNIFORM_BUFFER, Type::STORAGE_BUFFER);
        let frame =
            [Type::UNIFORM_BUFFER, Type::STORAGE_BUFFER, palette, Type::STORAGE_BUFFER, Type::COMBINED_IMAGE_SAMPLER];
        let layout = |types: &[Type]| {
            let bindings: Vec<_> = types.iter().map(|&kind| (kind, vk::ShaderStageFlags::COMPUTE)).collect();
            DescriptorSetLayout::new(device, "set layout", &bindings).unwrap()
        };
        let sets = [layout(&frame), layout(&[Type::STORAGE_BUFFER; 8]), layout(&[Type::STORAGE_BUFFER; 2])];
        let (stage, constants_bytes) = (vk::ShaderStageFlags::COMPUTE, size_of::<SkinConstants>());
        let layout = PipelineLayout::new(device, "layout", stage, &sets.each_ref(), constants_bytes).unwrap();
        // The driver may refuse it too. Only the layer's message counts here.
        let pipeline = PipelineBuilder::new(device, &[]).compute("skin", (&spirv::SKIN_COMP, &[]), &layout);
        assert!(work == Work::Wrong || pipeline.is_ok());
    });
}

fn leaked_buffer(device: &Device) -> vk::Buffer {
    let info = vk::BufferCreateInfo::default().size(SIZE_BYTES).usage(vk::BufferUsageFlags::TRANSFER_SRC);
    // SAFETY: the create info is valid.
    unsafe { device.raw.create_buffer(&info, None) }.unwrap()
}

fn what_is_left_behind_is_seen(device: &TestDevice) {
    assert_gate(device, "a buffer", "VUID-vkDestroyDevice-device-", |device, work| {
        let buffer = leaked_buffer(device);
        if work == Work::Right {
            // SAFETY: the buffer was never used.
            unsafe { device.raw.destroy_buffer(buffer, None) };
        }
    });
}

fn resources_that_outlive_the_gate_are_refused(device: &TestDevice) {
    let mut outliving = None;
    let message = verdict(device, |device| outliving = Some(buffers(device))).expect("nobody noticed");
    assert!(message.contains("outlive"), "{message}");
}

/// Tests do not close their device. Its drop fails them.
fn a_message_fails_the_test(device: &TestDevice) {
    println!("the panic of this test is expected:");
    let wrong = || leaked_buffer(Gpu::from(device).device());
    assert!(catch_unwind(AssertUnwindSafe(wrong)).is_err());
}

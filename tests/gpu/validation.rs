//! Proves that the validation gate of the GPU tests can fail.
//!
//! Each case uses the program's Vulkan layer twice. The first work is deliberately wrong, and [`Gpu`] must refuse it
//! with a message of the right kind. The second has the one barrier (or number) that repairs it, and must pass. So a
//! missing layer or an ineffective switch fails here, instead of letting all other tests pass unchecked. Hazards within
//! a command buffer are one switch, hazards between submissions another; core checks and leak checks need only the
//! layer.
//!
//! Correct work that looks wrong must pass too, so no message is excused: [`Gpu`] has no list of allowed messages, neither
//! for layer 1.3.239 nor for 1.4.364.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ash::vk;
use throng::vulkan::barrier::{
    Access, COLOR_TARGET, ImageBarrier, ImageUse, TRANSFER_SOURCE, TRANSFER_TARGET, discarded,
};
use throng::vulkan::buffer::{Buffer, BufferMemory};
use throng::vulkan::commands::{CommandPool, submit_and_wait};
use throng::vulkan::descriptors::DescriptorSetLayout;
use throng::vulkan::device::Device;
use throng::vulkan::image::{Image, ImageInfo};
use throng::vulkan::pipeline::{PipelineBuilder, PipelineLayout};
use throng::vulkan::recorder::{Recorder, Rendering};
use throng::vulkan::spirv;

use crate::common::gpu::{Gpu, Test, TestDevice, gpu_tests};

pub fn tests() -> Vec<Test> {
    gpu_tests![
        a_write_after_a_write_is_seen,
        a_read_after_a_write_is_seen,
        a_write_after_a_read_is_seen,
        hazards_between_submissions_are_seen,
        barriers_that_are_too_weak_are_seen,
        a_fill_is_not_ordered_by_a_barrier_for_copies,
        two_copies_to_an_image_are_seen,
        a_layout_change_that_does_not_wait_is_seen,
        a_readback_that_does_not_wait_for_the_rendering_is_seen,
        correct_work_is_not_reported,
        core_errors_are_seen,
        a_pipeline_layout_that_does_not_fit_the_shader_is_seen,
        what_is_left_behind_is_seen,
        resources_that_outlive_the_gate_are_refused,
        a_message_fails_the_test,
    ]
}

/// Returns the message of the gate about `work`, or `None` if the work passes.
fn verdict(device: &TestDevice, work: impl FnOnce(&Arc<Device>)) -> Option<String> {
    let mut gpu = Gpu::new(device);
    work(gpu.device());
    gpu.close().err()
}

/// Asserts that the wrong `work` is refused with a message that contains each of `expected`, and that the right one
/// passes.
fn assert_gate(test_device: &TestDevice, expected: &[&str], work: impl Fn(&Arc<Device>, Work)) {
    let message = verdict(test_device, |device| work(device, Work::Wrong)).expect("the wrong work passed");
    for part in expected {
        assert!(message.contains(part), "no {part} in: {message}");
    }
    assert_eq!(verdict(test_device, |device| work(device, Work::Right)), None);
}

/// Does the same as [`assert_gate`] for a hazard that layers before 1.3.290 do not see. They let the wrong work pass.
fn assert_gate_of_recent_layers(test_device: &TestDevice, expected: &[&str], work: impl Fn(&Arc<Device>, Work)) {
    const RECENT: u32 = vk::make_api_version(0, 1, 3, 290);
    let gpu = Gpu::new(test_device);
    // SAFETY: the loader is loaded.
    let layers = unsafe { gpu.device().instance().entry().enumerate_instance_layer_properties() }.unwrap();
    drop(gpu);
    let validation = |layer: &&vk::LayerProperties| layer.layer_name_as_c_str() == Ok(c"VK_LAYER_KHRONOS_validation");
    if layers.iter().find(validation).expect("the layer of every test").spec_version >= RECENT {
        return assert_gate(test_device, expected, work);
    }
    for choice in [Work::Wrong, Work::Right] {
        assert_eq!(verdict(test_device, |device| work(device, choice)), None);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Wrong,
    Right,
}

const SIZE_BYTES: u64 = 256;

/// Creates three buffers to copy between.
fn buffers(device: &Arc<Device>) -> [Buffer; 3] {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    ["a", "b", "c"].map(|name| Buffer::new(device, name, SIZE_BYTES, usage, BufferMemory::Device).unwrap())
}

fn copy(recorder: Recorder, from: &Buffer, to: &Buffer, size: u64) {
    recorder.copy_buffer(from, to, vk::BufferCopy { src_offset: 0, dst_offset: 0, size });
}

const COPY_WRITE: Access = Access::new(vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
const COPY_READ: Access = Access::new(vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);

fn copy_barrier(recorder: Recorder) {
    recorder.memory_barrier(COPY_WRITE, COPY_READ.and(COPY_WRITE));
}

/// Records two copies from buffer to buffer in one command buffer. The right work has a barrier between them.
fn assert_hazard_within_commands(device: &TestDevice, hazard: &str, first: (usize, usize), second: (usize, usize)) {
    assert_gate(device, &[hazard], |device, work| {
        let buffers = buffers(device);
        let copies = |recorder: Recorder| {
            copy(recorder, &buffers[first.0], &buffers[first.1], SIZE_BYTES);
            if work == Work::Right {
                copy_barrier(recorder);
            }
            copy(recorder, &buffers[second.0], &buffers[second.1], SIZE_BYTES);
            Ok(())
        };
        // SAFETY: the buffers outlive the call. The wrong work lacks a barrier, which harms only their contents.
        unsafe { submit_and_wait(device, "two copies", copies) }.unwrap();
    });
}

fn a_write_after_a_write_is_seen(device: &TestDevice) {
    assert_hazard_within_commands(device, "SYNC-HAZARD-WRITE-AFTER-WRITE", (0, 2), (1, 2));
}

fn a_read_after_a_write_is_seen(device: &TestDevice) {
    assert_hazard_within_commands(device, "SYNC-HAZARD-READ-AFTER-WRITE", (0, 1), (1, 2));
}

fn a_write_after_a_read_is_seen(device: &TestDevice) {
    assert_hazard_within_commands(device, "SYNC-HAZARD-WRITE-AFTER-READ", (0, 1), (2, 0));
}

/// This check has its own switch. Without it, the layer misses a frame that overwrites a buffer while the previous frame
/// still reads it.
fn hazards_between_submissions_are_seen(device: &TestDevice) {
    let first_and_second = [
        ((0, 2), (1, 2), "WRITE-AFTER-WRITE"),
        ((0, 1), (2, 0), "WRITE-AFTER-READ"),
        ((0, 1), (1, 2), "READ-AFTER-WRITE"),
    ];
    for (first, second, hazard) in first_and_second {
        assert_gate(device, &[hazard, "vkQueueSubmit"], |device, work| {
            let buffers = buffers(device);
            let pools = [(first, false), (second, work == Work::Right)].map(|((from, to), ordered)| {
                let pool = CommandPool::new(device, "one copy").unwrap();
                // SAFETY: the buffer is new, and the buffers live until the wait below.
                let recorder = unsafe { pool.begin() }.unwrap();
                if ordered {
                    copy_barrier(recorder);
                }
                copy(recorder, &buffers[from], &buffers[to], SIZE_BYTES);
                // SAFETY: recording has begun above.
                unsafe { pool.end() }.unwrap();
                pool
            });
            for pool in &pools {
                let infos = [vk::CommandBufferSubmitInfo::default().command_buffer(pool.raw())];
                let submit = vk::SubmitInfo2::default().command_buffer_infos(&infos);
                // SAFETY: one thread uses the queue; the commands live until the wait below.
                unsafe { device.raw.queue_submit2(*device.queue(), &[submit], vk::Fence::null()) }.unwrap();
            }
            device.wait_idle().unwrap();
        });
    }
}

/// A barrier that orders something else is no barrier.
fn barriers_that_are_too_weak_are_seen(device: &TestDevice) {
    let weak = [
        // The source has another stage, or no access.
        (Access::COMPUTE_WRITE, COPY_READ),
        (COPY_WRITE.finished(), COPY_READ),
        // The destination has another stage, or no access.
        (COPY_WRITE, Access::COMPUTE_READ),
        (COPY_WRITE, COPY_READ.finished()),
    ];
    for wrong in weak {
        assert_gate(device, &["SYNC-HAZARD-READ-AFTER-WRITE"], |device, work| {
            let buffers = buffers(device);
            let (from, to) = if work == Work::Right { (COPY_WRITE, COPY_READ) } else { wrong };
            let copies = |recorder: Recorder| {
                copy(recorder, &buffers[0], &buffers[1], SIZE_BYTES);
                recorder.memory_barrier(from, to);
                copy(recorder, &buffers[1], &buffers[2], SIZE_BYTES);
                Ok(())
            };
            // SAFETY: the buffers outlive the call. The wrong barrier harms only their contents.
            unsafe { submit_and_wait(device, "two copies", copies) }.unwrap();
        });
    }
}

/// A fill is no copy: it belongs to the stage `CLEAR`.
fn a_fill_is_not_ordered_by_a_barrier_for_copies(device: &TestDevice) {
    assert_gate_of_recent_layers(device, &["SYNC-HAZARD-READ-AFTER-WRITE"], |device, work| {
        let buffers = buffers(device);
        let record = |recorder: Recorder| {
            recorder.fill_buffer(&buffers[0], 7);
            recorder.memory_barrier(if work == Work::Right { Access::TRANSFER_WRITE } else { COPY_WRITE }, COPY_READ);
            copy(recorder, &buffers[0], &buffers[1], SIZE_BYTES);
            Ok(())
        };
        // SAFETY: the buffers outlive the call.
        unsafe { submit_and_wait(device, "a fill and a copy", record) }.unwrap();
    });
}

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

/// Clears the image as a colour attachment.
fn clear(recorder: Recorder, image: &Image) {
    let rendering = Rendering { color: Some(image), clear_color: Some([0.0; 4]), ..Rendering::default() };
    recorder.rendering(rendering, || ());
}

/// Records work with an image and submits it. The wrong work lacks the last use of the image in one barrier.
fn submit_image_work(device: &Arc<Device>, record: impl FnOnce(Recorder, &Image, &[Buffer; 3])) {
    let (buffers, image) = (buffers(device), image(device));
    let record = |recorder: Recorder| {
        record(recorder, &image, &buffers);
        Ok(())
    };
    // SAFETY: the image and the buffers outlive the call. The wrong work harms only their contents.
    unsafe { submit_and_wait(device, "work with an image", record) }.unwrap();
}

fn change(recorder: Recorder, image: &Image, from: ImageUse, to: ImageUse) {
    recorder.image_barriers([ImageBarrier::new(image, from, to)]);
}

fn two_copies_to_an_image_are_seen(device: &TestDevice) {
    assert_gate(device, &["SYNC-HAZARD-WRITE-AFTER-WRITE"], |device, work| {
        submit_image_work(device, |recorder, image, buffers| {
            change(recorder, image, discarded(Access::NOTHING), TRANSFER_TARGET);
            recorder.copy_buffer_to_image(&buffers[0], image, texels());
            if work == Work::Right {
                change(recorder, image, TRANSFER_TARGET, TRANSFER_TARGET);
            }
            recorder.copy_buffer_to_image(&buffers[1], image, texels());
        });
    });
}

/// A change of layout is a write.
fn a_layout_change_that_does_not_wait_is_seen(device: &TestDevice) {
    assert_gate(device, &["SYNC-HAZARD-WRITE-AFTER-WRITE"], |device, work| {
        submit_image_work(device, |recorder, image, buffers| {
            change(recorder, image, discarded(Access::NOTHING), TRANSFER_TARGET);
            recorder.copy_buffer_to_image(&buffers[0], image, texels());
            let last_use = if work == Work::Right { Access::TRANSFER_WRITE } else { Access::NOTHING };
            change(recorder, image, (last_use, vk::ImageLayout::TRANSFER_DST_OPTIMAL), TRANSFER_SOURCE);
            recorder.copy_image_to_buffer(image, &buffers[1], texels());
        });
    });
}

/// The barrier waits for copies, but a rendering has written the image.
fn a_readback_that_does_not_wait_for_the_rendering_is_seen(device: &TestDevice) {
    assert_gate_of_recent_layers(device, &["SYNC-HAZARD-WRITE-AFTER-WRITE"], |device, work| {
        submit_image_work(device, |recorder, image, buffers| {
            change(recorder, image, discarded(Access::NOTHING), COLOR_TARGET);
            clear(recorder, image);
            let last_use = if work == Work::Right { Access::COLOR_WRITE } else { Access::TRANSFER_WRITE };
            change(recorder, image, (last_use, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL), TRANSFER_SOURCE);
            recorder.copy_image_to_buffer(image, &buffers[0], texels());
        });
    });
}

/// Correct work that a too strict check would report.
fn correct_work_is_not_reported(device: &TestDevice) {
    type Record = fn(Recorder, &[Buffer; 3]);
    let correct: [(&str, &[Record]); 5] = [
        (
            "a write after a read needs an order and no access",
            &[|recorder, buffers| {
                copy(recorder, &buffers[0], &buffers[1], SIZE_BYTES);
                recorder.memory_barrier(COPY_READ.finished(), COPY_WRITE.finished());
                copy(recorder, &buffers[2], &buffers[0], SIZE_BYTES);
            }],
        ),
        (
            "two commands write two parts of one buffer",
            &[|recorder, buffers| {
                let half = SIZE_BYTES / 2;
                for (from, offset) in [(&buffers[0], 0), (&buffers[1], half)] {
                    let region = vk::BufferCopy { src_offset: offset, dst_offset: offset, size: half };
                    recorder.copy_buffer(from, &buffers[2], region);
                }
            }],
        ),
        (
            "two commands read one buffer",
            &[|recorder, buffers| {
                copy(recorder, &buffers[0], &buffers[1], SIZE_BYTES);
                copy(recorder, &buffers[0], &buffers[2], SIZE_BYTES);
            }],
        ),
        (
            "two barriers form a chain",
            &[|recorder, buffers| {
                copy(recorder, &buffers[0], &buffers[1], SIZE_BYTES);
                recorder.memory_barrier(COPY_WRITE, Access::COMPUTE_READ);
                recorder.memory_barrier(Access::COMPUTE_READ, COPY_READ);
                copy(recorder, &buffers[1], &buffers[2], SIZE_BYTES);
            }],
        ),
        (
            "the CPU waits between two submissions",
            &[
                |recorder, buffers| copy(recorder, &buffers[0], &buffers[2], SIZE_BYTES),
                |recorder, buffers| copy(recorder, &buffers[1], &buffers[2], SIZE_BYTES),
            ],
        ),
    ];
    for (what, submissions) in correct {
        let message = verdict(device, |device| {
            let buffers = buffers(device);
            for record in submissions {
                let record = |recorder: Recorder| {
                    record(recorder, &buffers);
                    Ok(())
                };
                // SAFETY: the buffers outlive the call.
                unsafe { submit_and_wait(device, what, record) }.unwrap();
            }
        });
        assert_eq!(message, None, "{what}");
    }
}

fn core_errors_are_seen(device: &TestDevice) {
    assert_gate(device, &["VUID-VkBufferCopy-size-01988"], |device, work| {
        let buffers = buffers(device);
        let size = if work == Work::Right { SIZE_BYTES } else { 0 };
        let record = |recorder: Recorder| {
            copy(recorder, &buffers[0], &buffers[1], size);
            Ok(())
        };
        // SAFETY: the buffers outlive the call. The wrong work copies no bytes.
        unsafe { submit_and_wait(device, "a copy", record) }.unwrap();
    });
}

/// The layer checks that every pipeline layout has the resources of its shaders, which `tests/repository/shader_layout.rs` does
/// not.
fn a_pipeline_layout_that_does_not_fit_the_shader_is_seen(device: &TestDevice) {
    assert_gate(device, &["VUID-VkComputePipelineCreateInfo-layout"], |device, work| {
        use vk::DescriptorType as Type;
        let palette = if work == Work::Right { Type::STORAGE_BUFFER } else { Type::UNIFORM_BUFFER };
        let layout = |types: &[Type]| {
            let bindings: Vec<_> = types.iter().map(|&kind| (kind, vk::ShaderStageFlags::COMPUTE)).collect();
            DescriptorSetLayout::new(device, "set layout", &bindings).unwrap()
        };
        let sets = [
            layout(&[
                Type::UNIFORM_BUFFER,
                Type::STORAGE_BUFFER,
                palette,
                Type::STORAGE_BUFFER,
                Type::COMBINED_IMAGE_SAMPLER,
            ]),
            layout(&[Type::STORAGE_BUFFER; 8]),
            layout(&[Type::STORAGE_BUFFER; 2]),
        ];
        let constants = Some((vk::ShaderStageFlags::COMPUTE, size_of::<throng::shader_types::SkinConstants>()));
        let layout =
            PipelineLayout::new(device, "pipeline layout", vk::PipelineBindPoint::COMPUTE, &sets.each_ref(), constants)
                .unwrap();
        // The driver may refuse it too. Only the layer's message counts here.
        let pipeline = PipelineBuilder::new(device, &[]).compute("skin", (&spirv::SKIN_COMP, &[]), &layout);
        assert!(work == Work::Wrong || pipeline.is_ok());
    });
}

fn what_is_left_behind_is_seen(device: &TestDevice) {
    assert_gate(device, &["VUID-vkDestroyDevice-device-"], |device, work| {
        let info = vk::BufferCreateInfo::default().size(SIZE_BYTES).usage(vk::BufferUsageFlags::TRANSFER_SRC);
        // SAFETY: a valid create info; the buffer is not used.
        let buffer = unsafe { device.raw.create_buffer(&info, None) }.unwrap();
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
    let wrong = || {
        let gpu = Gpu::new(device);
        let info = vk::BufferCreateInfo::default().size(SIZE_BYTES).usage(vk::BufferUsageFlags::TRANSFER_SRC);
        // SAFETY: a valid create info. The buffer is not used, and left behind.
        unsafe { gpu.device().raw.create_buffer(&info, None) }.unwrap();
    };
    assert!(catch_unwind(AssertUnwindSafe(wrong)).is_err());
}

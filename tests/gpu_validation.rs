//! The gate that every GPU test stands behind can fail.
//!
//! Each case records work through the program's own Vulkan layer twice: once deliberately wrong, which [`Gpu`] must
//! refuse with a message of the right kind, and once with the one barrier (or the right number) that mends it, which
//! must pass. So a layer that is missing, or a switch that it did not understand, fails here rather than letting all
//! other tests pass unseen: hazards within a command buffer are one switch, hazards between submissions another, core
//! checks and teardown the layer itself.

#[path = "common/gpu.rs"]
mod gpu;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ash::vk;
use gpu::Gpu;
use throng::vulkan::barrier::Access;
use throng::vulkan::buffer::{Buffer, BufferMemory};
use throng::vulkan::commands::{CommandPool, submit_and_wait};
use throng::vulkan::descriptors::DescriptorSetLayout;
use throng::vulkan::device::Device;
use throng::vulkan::pipeline::{Pipeline, PipelineLayout};
use throng::vulkan::pipeline_cache::PipelineCache;
use throng::vulkan::recorder::Recorder;
use throng::vulkan::spirv;

/// What the gate says to `work`: `None` if it lets it pass.
fn verdict(work: impl FnOnce(&Arc<Device>)) -> Option<String> {
    let gated = || {
        let gpu = Gpu::new();
        work(gpu.device());
    };
    let payload = catch_unwind(AssertUnwindSafe(gated)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.expect("assertions panic with a string"))
}

/// `work` must be refused with each of `expected` in the message when wrong, and pass when right.
fn assert_gate(expected: &[&str], work: impl Fn(&Arc<Device>, Work)) {
    let message = verdict(|device| work(device, Work::Wrong)).expect("the wrong work passed");
    for part in expected {
        assert!(message.contains(part), "no {part} in: {message}");
    }
    assert_eq!(verdict(|device| work(device, Work::Right)), None);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Wrong,
    Right,
}

const SIZE_BYTES: u64 = 256;

/// Three buffers to copy between.
fn buffers(device: &Arc<Device>) -> [Buffer; 3] {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    ["a", "b", "c"].map(|name| Buffer::new(device, name, SIZE_BYTES, usage, BufferMemory::Device).unwrap())
}

fn copy(recorder: Recorder, from: &Buffer, to: &Buffer, size: u64) {
    recorder.copy_buffer(from, to, vk::BufferCopy { src_offset: 0, dst_offset: 0, size });
}

fn copy_barrier(recorder: Recorder) {
    let accesses = vk::AccessFlags2::TRANSFER_READ | vk::AccessFlags2::TRANSFER_WRITE;
    let from = Access::new(vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
    recorder.memory_barrier(from, Access::new(vk::PipelineStageFlags2::COPY, accesses));
}

/// Two copies in one command buffer, each from buffer to buffer; right with a barrier between them.
fn assert_hazard_within_commands(hazard: &str, first: (usize, usize), second: (usize, usize)) {
    assert_gate(&[hazard], |device, work| {
        let buffers = buffers(device);
        submit_and_wait(device, "two copies", |recorder| {
            copy(recorder, &buffers[first.0], &buffers[first.1], SIZE_BYTES);
            if work == Work::Right {
                copy_barrier(recorder);
            }
            copy(recorder, &buffers[second.0], &buffers[second.1], SIZE_BYTES);
            Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_write_after_a_write_is_seen() {
    assert_hazard_within_commands("SYNC-HAZARD-WRITE-AFTER-WRITE", (0, 2), (1, 2));
}

#[test]
fn a_read_after_a_write_is_seen() {
    assert_hazard_within_commands("SYNC-HAZARD-READ-AFTER-WRITE", (0, 1), (1, 2));
}

#[test]
fn a_write_after_a_read_is_seen() {
    assert_hazard_within_commands("SYNC-HAZARD-WRITE-AFTER-READ", (0, 1), (2, 0));
}

/// The switch that only the environment sets on older layers: without it, a frame that overwrites what the frame
/// before still reads goes unnoticed.
#[test]
fn hazards_between_submissions_are_seen() {
    let first_and_second = [((0, 2), (1, 2), "WRITE-AFTER-WRITE"), ((0, 1), (2, 0), "WRITE-AFTER-READ")];
    for (first, second, hazard) in first_and_second {
        assert_gate(&[hazard, "vkQueueSubmit"], |device, work| {
            let buffers = buffers(device);
            let pools = [(first, false), (second, work == Work::Right)].map(|((from, to), ordered)| {
                let pool = CommandPool::new(device, "one copy").unwrap();
                // SAFETY: the buffer is new, and the buffers live until the wait below.
                let recorder = unsafe { pool.begin() }.unwrap();
                if ordered {
                    copy_barrier(recorder);
                }
                copy(recorder, &buffers[from], &buffers[to], SIZE_BYTES);
                pool.end().unwrap();
                pool
            });
            for pool in &pools {
                let infos = [vk::CommandBufferSubmitInfo::default().command_buffer(pool.commands)];
                let submit = vk::SubmitInfo2::default().command_buffer_infos(&infos);
                // SAFETY: one thread uses the queue; the commands live until the wait below.
                unsafe { device.raw.queue_submit2(*device.queue(), &[submit], vk::Fence::null()) }.unwrap();
            }
            device.wait_idle().unwrap();
        });
    }
}

#[test]
fn core_errors_are_seen() {
    assert_gate(&["VUID-VkBufferCopy-size-01988"], |device, work| {
        let buffers = buffers(device);
        let size = if work == Work::Right { SIZE_BYTES } else { 0 };
        submit_and_wait(device, "a copy", |recorder| {
            copy(recorder, &buffers[0], &buffers[1], size);
            Ok(())
        })
        .unwrap();
    });
}

/// What `tests/shader_layout.rs` leaves to the layer: that every pipeline's layout has what its shaders bind.
#[test]
fn a_pipeline_layout_that_does_not_fit_the_shader_is_seen() {
    assert_gate(&["VUID-VkComputePipelineCreateInfo-layout"], |device, work| {
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
            layout(&[Type::STORAGE_BUFFER; 5]),
            layout(&[Type::STORAGE_BUFFER; 2]),
        ];
        let constants = Some((vk::ShaderStageFlags::COMPUTE, size_of::<throng::shader_types::SkinConstants>()));
        let layout =
            PipelineLayout::new(device, "pipeline layout", vk::PipelineBindPoint::COMPUTE, &sets.each_ref(), constants)
                .unwrap();
        let cache = PipelineCache::new(device, None).unwrap();
        // A driver may refuse what the layer reports; only the layer's word counts here.
        let pipeline = Pipeline::compute(device, &cache, "skin", (&spirv::SKIN_COMP, &[]), &layout);
        assert!(work == Work::Wrong || pipeline.is_ok());
    });
}

#[test]
fn what_is_left_behind_is_seen() {
    assert_gate(&["VUID-vkDestroyDevice-device-00378"], |device, work| {
        let info = vk::BufferCreateInfo::default().size(SIZE_BYTES).usage(vk::BufferUsageFlags::TRANSFER_SRC);
        // SAFETY: a valid create info; the buffer is not used.
        let buffer = unsafe { device.raw.create_buffer(&info, None) }.unwrap();
        if work == Work::Right {
            // SAFETY: just made, never used.
            unsafe { device.raw.destroy_buffer(buffer, None) };
        }
    });
}

#[test]
fn resources_that_outlive_the_gate_are_refused() {
    let mut outliving = None;
    let message = verdict(|device| outliving = Some(buffers(device))).expect("nobody noticed");
    assert!(message.contains("outlive"), "{message}");
}

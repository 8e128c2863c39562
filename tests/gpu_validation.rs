//! Proves that the validation gate of the GPU tests can fail.
//!
//! Each case uses the program's Vulkan layer twice. The first work is deliberately wrong, and [`Gpu`] must refuse it
//! with a message of the right kind. The second has the one barrier (or number) that repairs it, and must pass. So a
//! missing layer or an ineffective switch fails here, instead of letting all other tests pass unchecked. Hazards within
//! a command buffer are one switch, hazards between submissions another; core checks and leak checks need only the
//! layer.

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

/// Returns the message of the gate about `work`, or `None` if the work passes.
fn verdict(work: impl FnOnce(&Arc<Device>)) -> Option<String> {
    let gated = || {
        let gpu = Gpu::new();
        work(gpu.device());
    };
    let payload = catch_unwind(AssertUnwindSafe(gated)).err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.expect("assertions panic with a string"))
}

/// Asserts that the wrong `work` is refused with a message that contains each of `expected`, and that the right one
/// passes.
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

/// Creates three buffers to copy between.
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

/// Records two copies from buffer to buffer in one command buffer. The right work has a barrier between them.
fn assert_hazard_within_commands(hazard: &str, first: (usize, usize), second: (usize, usize)) {
    assert_gate(&[hazard], |device, work| {
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

/// This check has its own switch. Without it, the layer misses a frame that overwrites a buffer while the previous frame
/// still reads it.
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
                // SAFETY: recording has begun above.
                unsafe { pool.end() }.unwrap();
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
        let record = |recorder: Recorder| {
            copy(recorder, &buffers[0], &buffers[1], size);
            Ok(())
        };
        // SAFETY: the buffers outlive the call. The wrong work copies no bytes.
        unsafe { submit_and_wait(device, "a copy", record) }.unwrap();
    });
}

/// The layer checks that every pipeline layout has the resources of its shaders, which `tests/shader_layout.rs` does
/// not.
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
        // The driver may refuse it too. Only the layer's message counts here.
        let pipeline = Pipeline::compute(device, &cache, "skin", (&spirv::SKIN_COMP, &[]), &layout);
        assert!(work == Work::Wrong || pipeline.is_ok());
    });
}

#[test]
fn what_is_left_behind_is_seen() {
    assert_gate(&["VUID-vkDestroyDevice-device-"], |device, work| {
        let info = vk::BufferCreateInfo::default().size(SIZE_BYTES).usage(vk::BufferUsageFlags::TRANSFER_SRC);
        // SAFETY: a valid create info; the buffer is not used.
        let buffer = unsafe { device.raw.create_buffer(&info, None) }.unwrap();
        if work == Work::Right {
            // SAFETY: the buffer was never used.
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

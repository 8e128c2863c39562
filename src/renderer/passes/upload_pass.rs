//! Upload: the staged path's copies of what the CPU streams into device memory. Nothing to do on the direct path.

use ash::vk;

use crate::renderer::slot::FrameSlot;
use crate::vulkan::device::Device;

/// Copies what this frame wrote.
pub fn cmd_upload(device: &Device, commands: vk::CommandBuffer, slot: &FrameSlot) {
    let streams = [&slot.palette, &slot.morph_weights, &slot.instances];
    for (from, to, size) in streams.into_iter().filter_map(|stream| stream.pending_copy()) {
        let regions = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        // SAFETY: both buffers are alive and that large; the CPU's writes happen before the submission.
        unsafe { device.raw.cmd_copy_buffer(commands, from, to, &regions) };
    }
}

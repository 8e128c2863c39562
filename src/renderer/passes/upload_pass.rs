//! Upload: copies the streams of the staged path from mapped to device memory. The direct path has nothing to copy.

use ash::vk;

use super::PassInput;

/// Copies the data of this frame.
pub fn record(input: &PassInput) {
    for (from, to, size) in input.slot.streams().into_iter().filter_map(|stream| stream.pending_copy()) {
        input.recorder.copy_buffer(from, to, vk::BufferCopy { src_offset: 0, dst_offset: 0, size });
    }
}

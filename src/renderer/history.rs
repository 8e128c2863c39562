//! How the next frame finds the last position of each vertex, for the motion view.
//!
//! In: the crowd and the plan of a frame. Out: sets and push constants with which `motion.vert` reads the pages of this frame
//! in the next one. Nothing is copied. All that a frame adds is a list of the place of each instance's vertices, by its
//! number.
//!
//! Invariant: nobody writes the slot before the next frame has finished. So there is one slot more than frames in flight as
//! soon as motion was shown, and [`begin_frame`](super::Renderer::begin_frame) waits for the slot after its own, too.

use std::sync::Arc;

use ash::vk;

use super::error::Result;
use super::layouts::Layouts;
use super::settings::UploadPath;
use super::slot::FrameSlot;
use super::slot::buffers::{History, StreamBuffer, StreamInfo, ensure_pages};
use crate::crowd::{Crowd, FramePlan, PagePlan};
use crate::shader_types::{InstanceHistory, MotionConstants};
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;

/// A page of the last frame.
pub type LastPage<'a> = (&'a DescriptorSet, MotionConstants);

/// Keeps the places of all vertices of a crowd in a slot, after [`FrameSlot::prepare`].
///
/// # Errors
/// No memory, or more than the device allows.
pub fn keep(
    slot: &mut FrameSlot,
    (device, layouts): (&Arc<Device>, &Layouts),
    (plan, storage_bytes): (&FramePlan, u64),
    (crowd, time_seconds): (&Crowd, f64),
) -> Result<()> {
    slot.assert_finished();
    let mut is_new = slot.history.is_none();
    let mut instances = match slot.history.take() {
        Some(history) => history.instances,
        None => StreamBuffer::new(
            device,
            StreamInfo {
                name: "instance history".to_owned(),
                // Written and read once a frame, so a copy to device memory would not pay.
                path: UploadPath::Direct,
                usage: vk::BufferUsageFlags::STORAGE_BUFFER,
                limit: "maxStorageBufferRange",
                limit_bytes: storage_bytes,
            },
        )?,
    };
    let count = crowd.instance_count();
    is_new |= instances.ensure(device, (count * size_of::<InstanceHistory>()) as u64, count as u32)?;
    // A frame that shows nothing has a page as well.
    if slot.pages.is_empty() {
        ensure_pages(&mut slot.pages, device, layouts, (0, &[PagePlan::default()], 0))?;
    }
    for page in &mut slot.pages {
        if (is_new || page.last_page_set.is_none())
            && let Some(instances) = instances.binding()
        {
            let bindings = [instances, Binding::Buffer(&page.vertices)];
            page.last_page_set = Some(DescriptorSet::new(device, "last page set", &layouts.last_page, &bindings)?);
        }
    }
    // SAFETY: the slot's last frame and the frame after it, which have read the buffer, have finished.
    crowd.write_history(plan, unsafe { instances.elements() });
    let (bounds, crowd) = (crowd.bounds(), Arc::downgrade(&crowd.identity));
    let crowd_height_metres = bounds.max.y - bounds.min.y;
    slot.history = Some(History { instances, crowd, time_seconds, crowd_height_metres });
    Ok(())
}

/// Returns the pages of the frame with this number, counted from 1. Unless it shows the motion of the same crowd, the present
/// frame in `slot` takes its place: nothing has moved.
pub fn last_pages<'s>(slot: &'s FrameSlot, slots: &'s [FrameSlot], number: u64) -> impl Iterator<Item = LastPage<'s>> {
    let before = &slots[(number.wrapping_sub(1) % slots.len() as u64) as usize];
    slot.history.iter().flat_map(move |present| {
        let past = before.history.as_ref().filter(|past| past.crowd.ptr_eq(&present.crowd));
        let (slot, past) = past.map_or((slot, present), |past| (before, past));
        // The colours show speeds, because the time between two frames of a window is never the same.
        let seconds = (present.time_seconds - past.time_seconds).abs() as f32;
        let half_way_metres = (seconds * present.crowd_height_metres).max(f32::MIN_POSITIVE);
        let sets = slot.pages.iter().filter_map(|page| page.last_page_set.as_ref());
        (0..).zip(sets).map(move |(page, set)| (set, MotionConstants { page, half_way_metres }))
    })
}

//! The frame before, for the motion view: how a frame finds the last position of each vertex.
//!
//! In: the crowd and the plan of each frame that shows motion. Out: the pages of the frame before, as sets and push constants of
//! `motion.vert`.
//!
//! Nothing is copied. The skinned vertices of the last frame are in the pages of its slot, next to its instances. All that a frame
//! adds is a list with the place of each instance's vertices ([`InstanceVertices`](crate::shader_types::InstanceVertices)), by the
//! number of the instance, which does not change as long as the crowd exists.
//!
//! Invariant: nobody writes the slot of a frame before the next frame has finished. So there is one slot more than frames in
//! flight as soon as motion was shown, and [`begin_frame`](super::Renderer::begin_frame) waits for the slot after its own, too.

use std::sync::Arc;

use super::error::Result;
use super::layouts::Layouts;
use super::passes::crowd_draw::LastPage;
use super::slot::FrameSlot;
use crate::crowd::{Crowd, FramePlan};
use crate::shader_types::MotionConstants;
use crate::vulkan::device::Device;

/// The last frame and the present one, if they show motion.
#[derive(Default)]
pub(super) struct History {
    past: Option<Kept>,
    present: Option<Kept>,
}

/// A frame whose vertices the next one can find.
struct Kept {
    slot: usize,
    /// At least one. Instances that were not visible are drawn with the first page.
    page_count: usize,
    crowd: Arc<()>,
    time_seconds: f64,
    /// The height of the crowd.
    height_metres: f32,
}

impl History {
    /// Notes that the present frame does not show motion.
    pub fn keep_nothing(&mut self) {
        self.present = None;
    }

    /// Notes where the present frame, in this slot, has the vertices of each instance.
    ///
    /// # Errors
    /// No memory, or more than the device allows.
    pub fn keep(
        &mut self,
        (slot, number): (&mut FrameSlot, usize),
        (device, layouts): (&Arc<Device>, &Layouts),
        plan: &FramePlan,
        (crowd, time_seconds): (&Crowd, f64),
    ) -> Result<()> {
        self.present = None;
        crowd.write_instance_vertices(plan, slot.prepare_for_next(device, layouts, crowd.instance_count())?);
        let (page_count, bounds) = (plan.pages.len().max(1), crowd.bounds());
        let height_metres = bounds.max.y - bounds.min.y;
        let crowd = Arc::clone(crowd.identity());
        self.present = Some(Kept { slot: number, page_count, crowd, time_seconds, height_metres });
        Ok(())
    }

    /// Notes that the present frame was submitted.
    pub fn submitted(&mut self) {
        self.past = self.present.take();
    }

    /// Returns the pages of the frame before. Without one of the same crowd, the present frame takes its place: nothing has moved.
    pub fn last_pages<'s>(&self, slots: &'s [FrameSlot]) -> impl Iterator<Item = LastPage<'s>> {
        let present = self.present.as_ref();
        let is_same = |past: &&Kept| present.is_some_and(|present| Arc::ptr_eq(&past.crowd, &present.crowd));
        let frames = self.past.as_ref().filter(is_same).or(present).zip(present);
        frames.into_iter().flat_map(|(past, present)| {
            // The colours show speeds, because the time between two frames of a window is never the same.
            let seconds = (present.time_seconds - past.time_seconds).abs() as f32;
            let half_way_metres = (seconds * present.height_metres).max(f32::MIN_POSITIVE);
            let pages = slots[past.slot].pages.iter().take(past.page_count);
            let sets = pages.filter_map(|page| page.last_page_set.as_ref());
            (0..).zip(sets).map(move |(page, set)| (set, MotionConstants { page, half_way_metres }))
        })
    }
}

//! The frame plan: where the data of each visible pose lies. All offsets are computed here and nowhere else.
//!
//! In: the visible poses, in order, and the size of each model. Out: a [`PoseRecord`] for each pose, for the shaders and
//! for [`Crowd::evaluate`](super::Crowd::evaluate), and the [`Batch`]es that the passes dispatch and draw. Pure
//! arithmetic, without Vulkan.
//!
//! A *pose* is evaluated and skinned: it owns joint matrices, morph weights and skinned vertices. An *instance* is drawn:
//! it places a pose in the world. Several instances may show one pose.
//!
//! The transient vertex buffer consists of pages, because one binding can be no larger than `maxStorageBufferRange` (128
//! MiB on some drivers). A pose lies in one page. A *batch* is a run of poses of one model in one page, with all of their
//! instances: one dispatch per run of vertices, and one draw per material.

use super::visible::VisiblePose;
use crate::model::Model;
use crate::shader_types::{PoseRecord, SkinnedVertex};

/// The size of a packed tangent in bytes.
pub const TANGENT_BYTES: u64 = size_of::<u32>() as u64;

/// The size of one pose of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PoseSize {
    /// The number of skinned vertices.
    pub vertex_count: u32,
    /// Whether the vertices have tangents.
    pub has_tangents: bool,
    /// The number of joint matrices in the palette.
    pub joint_count: u32,
    /// The number of morph weights.
    pub morph_weight_count: u32,
}

impl PoseSize {
    /// Returns the size of one pose of `model`.
    #[must_use]
    pub fn of(model: &Model) -> Self {
        Self {
            vertex_count: model.geometry.vertex_count() as u32,
            has_tangents: !model.geometry.tangents.is_empty(),
            joint_count: model.palette.len() as u32,
            morph_weight_count: model.morph_weight_count() as u32,
        }
    }

    /// Returns the number of bytes that `skin.comp` writes for one pose.
    #[must_use]
    pub fn skinned_bytes(self) -> u64 {
        let tangent_bytes = if self.has_tangents { TANGENT_BYTES } else { 0 };
        u64::from(self.vertex_count) * (size_of::<SkinnedVertex>() as u64 + tangent_bytes)
    }
}

/// A range of the instance buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceRange {
    /// Index of the first instance.
    pub first: u32,
    /// The number of instances.
    pub count: u32,
}

/// Poses of one model in one page, and their instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Index of the model.
    pub model: u32,
    /// Index of the page.
    pub page: u32,
    /// Index of the first pose.
    pub first_pose: u32,
    /// The number of poses, at least 1.
    pub pose_count: u32,
    /// The instances that the camera and the light draw.
    pub seen: InstanceRange,
    /// The instances that only the light draws.
    pub shadow_only: InstanceRange,
}

/// One page of the transient vertex buffer, as a frame uses it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagePlan {
    /// The number of vertices in the page.
    pub vertex_count: u32,
    /// Whether any pose in the page has tangents. The page then has room for a tangent per vertex.
    pub has_tangents: bool,
}

/// A frame that cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// One pose of a model is larger than a page.
    #[error(
        "one instance of model {model} ({vertex_count} vertices) takes {size_bytes} bytes, but a page of skinned \
         vertices holds {page_bytes}; use a model with fewer vertices, or --skinning vertex"
    )]
    PoseLargerThanPage {
        /// Index of the model.
        model: u32,
        /// The number of vertices of the model.
        vertex_count: u32,
        /// The size of its skinned vertices.
        size_bytes: u64,
        /// The size of a page.
        page_bytes: u64,
    },
    /// The joint matrices, morph weights or instances of the frame need indices of more than 32 bits.
    #[error("the crowd needs indices of more than 32 bits; use fewer --instances, or --share-poses HZ")]
    TooManyElements,
}

/// The plan of one frame. It is rebuilt in place each frame and allocates only while it grows.
#[derive(Debug, Default)]
pub struct FramePlan {
    /// One record for each visible pose, in the order of the poses.
    pub records: Vec<PoseRecord>,
    /// All poses, as runs of one model in one page.
    pub batches: Vec<Batch>,
    /// The pages of the transient vertex buffer.
    pub pages: Vec<PagePlan>,
    /// The number of joint matrices of all poses.
    pub joint_count: u32,
    /// The number of morph weights of all poses.
    pub morph_weight_count: u32,
    /// The number of visible instances.
    pub instance_count: u32,
}

impl FramePlan {
    /// Lays out `poses`. Instances are in the order of their poses: first those that the camera sees, then those that only
    /// the light draws. A page holds at most `page_bytes` of vertices, tangents not counted.
    ///
    /// # Errors
    /// One pose is larger than a page, or an offset needs more than 32 bits.
    ///
    /// # Panics
    /// If a pose belongs to none of `models`.
    pub fn rebuild(&mut self, models: &[PoseSize], poses: &[VisiblePose], page_bytes: u64) -> Result<(), PlanError> {
        let Self { records, batches, pages, .. } = self;
        records.clear();
        batches.clear();
        pages.clear();
        let seen_count: u64 = poses.iter().map(|pose| u64::from(pose.seen_count)).sum();
        let mut next_record = PoseRecord::default();
        let mut next_seen = 0u32;
        let mut next_shadow_only = u32::try_from(seen_count).map_err(|_| PlanError::TooManyElements)?;
        for (index, pose) in poses.iter().enumerate() {
            let size = models[pose.model as usize];
            let page = take_vertices(pages, size, page_bytes).ok_or_else(|| PlanError::PoseLargerThanPage {
                model: pose.model,
                vertex_count: size.vertex_count,
                size_bytes: u64::from(size.vertex_count) * size_of::<SkinnedVertex>() as u64,
                page_bytes,
            })?;
            next_record.skinned_vertex_offset = pages[page].vertex_count - size.vertex_count;
            records.push(next_record);
            let advance = |offset: u32, count: u32| offset.checked_add(count).ok_or(PlanError::TooManyElements);
            next_record.palette_offset = advance(next_record.palette_offset, size.joint_count)?;
            next_record.morph_weight_offset = advance(next_record.morph_weight_offset, size.morph_weight_count)?;

            let continues = |batch: &&mut Batch| (batch.model, batch.page) == (pose.model, page as u32);
            match batches.last_mut().filter(continues) {
                Some(batch) => {
                    batch.pose_count += 1;
                    batch.seen.count += pose.seen_count;
                    batch.shadow_only.count += pose.shadow_only_count;
                }
                None => batches.push(Batch {
                    model: pose.model,
                    page: page as u32,
                    first_pose: index as u32,
                    pose_count: 1,
                    seen: InstanceRange { first: next_seen, count: pose.seen_count },
                    shadow_only: InstanceRange { first: next_shadow_only, count: pose.shadow_only_count },
                }),
            }
            next_seen += pose.seen_count;
            next_shadow_only = advance(next_shadow_only, pose.shadow_only_count)?;
        }
        self.joint_count = next_record.palette_offset;
        self.morph_weight_count = next_record.morph_weight_offset;
        self.instance_count = next_shadow_only;
        Ok(())
    }

    /// Returns the batch of a pose, or `None` if the plan has no such pose.
    #[must_use]
    pub fn batch_of(&self, pose: u32) -> Option<&Batch> {
        let batch = self.batches.get(self.batches.partition_point(|batch| batch.first_pose <= pose).checked_sub(1)?)?;
        (pose - batch.first_pose < batch.pose_count).then_some(batch)
    }
}

/// Adds the vertices of one pose to the last page, or to a new page if the last one is full. Returns the index of the page,
/// or `None` if the pose is larger than a page.
fn take_vertices(pages: &mut Vec<PagePlan>, size: PoseSize, page_bytes: u64) -> Option<usize> {
    let capacity = u32::try_from(page_bytes / size_of::<SkinnedVertex>() as u64).unwrap_or(u32::MAX);
    let has_room = |page: &PagePlan| capacity - page.vertex_count >= size.vertex_count;
    if !pages.last().is_some_and(has_room) {
        if size.vertex_count > capacity {
            return None;
        }
        pages.push(PagePlan::default());
    }
    let index = pages.len() - 1;
    pages[index].vertex_count += size.vertex_count;
    pages[index].has_tangents |= size.has_tangents;
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTEX_BYTES: u64 = size_of::<SkinnedVertex>() as u64;

    fn size(vertex_count: u32, has_tangents: bool) -> PoseSize {
        PoseSize { vertex_count, has_tangents, joint_count: vertex_count + 1, morph_weight_count: vertex_count / 2 }
    }

    #[test]
    fn every_pose_has_its_own_vertices_within_a_page() {
        let models = [size(7, false), size(30, true), size(1, false)];
        let model_of = |pose: u32| [0, 1, 2][usize::from(pose >= 20) + usize::from(pose >= 25)];
        // Pose p is shown by p % 3 instances, and by one more whose shadow alone is visible.
        let poses: Vec<VisiblePose> = (0..38).map(|pose| VisiblePose::new(model_of(pose), pose % 3, 1)).collect();
        let seen_count: u32 = poses.iter().map(|pose| pose.seen_count).sum();
        for page_vertices in [30, 31, 64, 100, 1_000_000] {
            let mut plan = FramePlan::default();
            plan.rebuild(&models, &poses, page_vertices * VERTEX_BYTES).unwrap();
            assert_eq!(plan.instance_count, seen_count + 38);
            let mut taken = std::collections::HashSet::new();
            let (mut joint, mut morph_weight) = (0, 0);
            for (pose, record) in (0..).zip(&plan.records) {
                let size = models[model_of(pose) as usize];
                let batch = plan.batch_of(pose).unwrap();
                assert_eq!(batch.model, model_of(pose));
                assert_eq!((record.palette_offset, record.morph_weight_offset), (joint, morph_weight));
                joint += size.joint_count;
                morph_weight += size.morph_weight_count;
                let page = plan.pages[batch.page as usize];
                assert!(page.has_tangents || !size.has_tangents);
                for vertex in record.skinned_vertex_offset..record.skinned_vertex_offset + size.vertex_count {
                    assert!(u64::from(vertex) < page_vertices && vertex < page.vertex_count);
                    assert!(taken.insert((batch.page, vertex)), "pose {pose} overlaps");
                }
            }
            assert_eq!((plan.joint_count, plan.morph_weight_count), (joint, morph_weight));
            assert_eq!((plan.records.len(), taken.len()), (38, 20 * 7 + 5 * 30 + 13));
            assert!(page_vertices > 64 || !plan.pages[0].has_tangents, "a page with the first model only");
            let (mut next_pose, mut next_seen, mut next_shadow_only) = (0, 0, seen_count);
            for batch in &plan.batches {
                let own = &poses[next_pose as usize..(next_pose + batch.pose_count) as usize];
                let count = |of: fn(&VisiblePose) -> u32| own.iter().map(of).sum();
                let seen = InstanceRange { first: next_seen, count: count(|pose| pose.seen_count) };
                let shadow_only =
                    InstanceRange { first: next_shadow_only, count: count(|pose| pose.shadow_only_count) };
                assert!(batch.pose_count >= 1);
                assert_eq!((batch.first_pose, batch.seen, batch.shadow_only), (next_pose, seen, shadow_only));
                next_pose += batch.pose_count;
                next_seen += seen.count;
                next_shadow_only += shadow_only.count;
            }
            assert_eq!((next_pose, next_shadow_only), (38, plan.instance_count));
        }
    }

    #[test]
    fn a_model_larger_than_a_page_is_refused_with_the_figures() {
        let poses = [VisiblePose::new(0, 1, 0)];
        let error = FramePlan::default().rebuild(&[size(11, false)], &poses, 10 * VERTEX_BYTES).unwrap_err();
        assert!(error.to_string().contains("(11 vertices) takes 176 bytes"), "{error}");
    }

    #[test]
    fn a_crowd_whose_offsets_need_more_than_32_bits_is_refused() {
        let model = PoseSize { joint_count: u32::MAX / 2, ..size(3, false) };
        let poses = [VisiblePose::new(0, 1, 0); 3];
        let error = FramePlan::default().rebuild(&[model], &poses, u64::MAX).unwrap_err();
        assert_eq!(error, PlanError::TooManyElements);
    }
}

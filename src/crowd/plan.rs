//! The frame plan: where the data of each visible pose lies. All offsets are computed here and nowhere else.
//!
//! In: the visible poses, in order, and the size of each model. Out: a [`PoseRecord`] for each pose, for the shaders and
//! for [`Crowd::evaluate`](super::Crowd::evaluate), and the [`Batch`]es that the passes dispatch and draw. Pure
//! arithmetic, without Vulkan.
//!
//! A *pose* is evaluated and skinned: it owns joint matrices, morph weights and skinned vertices. An *instance* is drawn:
//! it places a pose in the world. Several instances may show one pose.
//!
//! The transient vertex buffer consists of pages, because one binding can be no larger than `maxStorageBufferRange` (128 MiB on
//! some drivers). A pose lies in one page and begins at a line of memory, with the vertices of the finest level of detail that
//! the camera or the light needs. A *batch* is consecutive poses of one model and the same levels in one page, with all of
//! their instances. It takes one dispatch for each run of vertices, and one draw for each draw range of the model.

use super::sight::{PoseLevels, VisiblePose};
use crate::animation::skin::level_starts;
use crate::model::Model;
use crate::shader_types::{PoseRecord, SkinnedVertex};

pub const TANGENT_BYTES: u64 = size_of::<u32>() as u64;

/// The number of skinned vertices in a line of memory, as caches have it: 64 bytes.
pub const VERTICES_PER_LINE: u32 = 64 / size_of::<SkinnedVertex>() as u32;

/// The size of one pose in a level of detail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelSize {
    pub vertex_count: u32,
    /// The number of joint matrices: a prefix of the palette.
    pub joint_count: u32,
    pub bind_vertex_offset: u32,
}

/// The size of one pose of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PoseSize {
    /// Each level of detail, finest first.
    pub levels: Vec<LevelSize>,
    pub has_tangents: bool,
    pub morph_weight_count: u32,
}

impl PoseSize {
    pub fn of(model: &Model) -> Self {
        let geometry = &model.geometry;
        let coarser = geometry.coarser_levels.iter().map(|level| (level.vertex_count, level.joint_count));
        let full = (geometry.vertex_count() as u32, model.palette.len() as u32);
        let level = |((vertex_count, joint_count), bind_vertex_offset)| LevelSize {
            vertex_count,
            joint_count,
            bind_vertex_offset,
        };
        Self {
            levels: std::iter::once(full).chain(coarser).zip(level_starts(geometry)).map(level).collect(),
            has_tangents: !geometry.tangents.is_empty(),
            morph_weight_count: model.morph_weight_count() as u32,
        }
    }

    /// Returns the size in a level of detail. Levels beyond the coarsest one are equal to it.
    pub fn level(&self, level: u32) -> LevelSize {
        self.levels.get(level as usize).or(self.levels.last()).copied().unwrap_or_default()
    }

    /// Returns the number of bytes that `skin.comp` writes for this number of vertices.
    pub fn skinned_bytes(&self, vertex_count: u32) -> u64 {
        let tangent_bytes = if self.has_tangents { TANGENT_BYTES } else { 0 };
        u64::from(vertex_count) * (size_of::<SkinnedVertex>() as u64 + tangent_bytes)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceRange {
    pub first: u32,
    pub count: u32,
}

/// Poses of one model and the same levels of detail in one page, all with or all without active morph targets, and their
/// instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    pub model: u32,
    pub page: u32,
    pub levels: PoseLevels,
    pub has_morphs: bool,
    /// The number of skinned vertices of each pose: those of the finest level.
    pub vertex_count: u32,
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
         vertices holds {page_bytes}"
    )]
    PoseLargerThanPage { model: u32, vertex_count: u32, size_bytes: u64, page_bytes: u64 },
    /// The joint matrices, morph weights or instances of the frame need indices of more than 32 bits.
    #[error("the crowd needs indices of more than 32 bits")]
    TooManyElements,
}

/// The plan of one frame. It is rebuilt in place each frame and allocates only while it grows.
#[derive(Debug, Default)]
pub struct FramePlan {
    /// Whether poses have all joint matrices in all levels of detail. Otherwise a pose has those that its level needs.
    /// [`rebuild`](Self::rebuild) reads it.
    pub all_joints: bool,
    /// One record for each visible pose, in the order of the poses.
    pub records: Vec<PoseRecord>,
    /// All poses, grouped by model, levels, morphs and page.
    pub batches: Vec<Batch>,
    pub pages: Vec<PagePlan>,
    pub joint_count: u32,
    pub morph_weight_count: u32,
    /// The number of visible instances.
    pub instance_count: u32,
}

impl FramePlan {
    /// Lays out `poses`. Instances are in the order of their poses: first those that the camera sees, then those that only
    /// the light draws. A page holds at most `page_bytes` of vertices; tangents are extra. Without a GPU, pass `u64::MAX`.
    ///
    /// # Errors
    /// One pose is larger than a page, or an offset needs more than 32 bits.
    ///
    /// # Panics
    /// If a pose belongs to none of `models`.
    pub fn rebuild(&mut self, models: &[PoseSize], poses: &[VisiblePose], page_bytes: u64) -> Result<(), PlanError> {
        let Self { records, batches, pages, all_joints, .. } = self;
        records.clear();
        batches.clear();
        pages.clear();
        // The levels in use change with the camera. With room for all pairs, only a growing crowd allocates.
        batches.reserve(models.iter().map(|size| 2 * size.levels.len().pow(2)).sum());
        records.reserve(poses.len());
        let advance =
            |offset: u32, count: u64| u32::try_from(u64::from(offset) + count).map_err(|_| PlanError::TooManyElements);
        let key = |pose: &VisiblePose| (pose.model, pose.levels, pose.has_morphs);
        let (mut next, mut next_seen, mut next_shadow_only) = (PoseRecord::default(), 0, 0);
        // Each turn makes a batch of as many poses as are alike and fit into the page. Their data follow one another.
        let mut rest = poses;
        while let Some(first) = rest.first() {
            let &VisiblePose { model, levels, has_morphs, .. } = first;
            let size = &models[model as usize];
            let LevelSize { vertex_count, joint_count, bind_vertex_offset } = size.level(levels.finest());
            let joint_count = if *all_joints { size.level(0).joint_count } else { joint_count };
            let room =
                Room::in_last_page(pages, vertex_count, page_bytes).ok_or_else(|| PlanError::PoseLargerThanPage {
                    model,
                    vertex_count,
                    size_bytes: u64::from(vertex_count) * size_of::<SkinnedVertex>() as u64,
                    page_bytes,
                })?;
            next.skinned_vertex_offset = room.first_vertex;
            next.bind_vertex_offset = bind_vertex_offset;
            next.morph_weight_count = if has_morphs { size.morph_weight_count } else { 0 };
            let first_pose = records.len();
            let (mut record, mut seen, mut shadow_only) = (next, 0, 0);
            for pose in rest.iter().take(room.pose_count).take_while(|pose| key(pose) == key(first)) {
                records.push(record);
                record.skinned_vertex_offset = record.skinned_vertex_offset.wrapping_add(room.stride);
                record.palette_offset = record.palette_offset.wrapping_add(joint_count);
                record.morph_weight_offset = record.morph_weight_offset.wrapping_add(record.morph_weight_count);
                seen += u64::from(pose.seen_count);
                shadow_only += u64::from(pose.shadow_only_count);
            }
            let count = records.len() - first_pose;
            let all = |each: u32| count as u64 * u64::from(each);
            rest = &rest[count..];
            next.palette_offset = advance(next.palette_offset, all(joint_count))?;
            next.morph_weight_offset = advance(next.morph_weight_offset, all(next.morph_weight_count))?;
            let instances = |next: &mut u32, count: u64| {
                let first = std::mem::replace(next, advance(*next, count)?);
                Ok(InstanceRange { first, count: *next - first })
            };
            batches.push(Batch {
                model,
                page: room.take(pages, count, size.has_tangents),
                levels,
                has_morphs,
                vertex_count,
                first_pose: first_pose as u32,
                pose_count: count as u32,
                seen: instances(&mut next_seen, seen)?,
                shadow_only: instances(&mut next_shadow_only, shadow_only)?,
            });
        }
        // They follow all instances that the camera sees.
        for batch in batches {
            batch.shadow_only.first = advance(batch.shadow_only.first, next_seen.into())?;
        }
        self.joint_count = next.palette_offset;
        self.morph_weight_count = next.morph_weight_offset;
        self.instance_count = advance(next_shadow_only, next_seen.into())?;
        Ok(())
    }

    /// Returns the batch of a pose, or `None` if the plan has no such pose.
    pub fn batch_of(&self, pose: u32) -> Option<&Batch> {
        let batch = self.batches.get(self.batches.partition_point(|batch| batch.first_pose <= pose).checked_sub(1)?)?;
        (pose - batch.first_pose < batch.pose_count).then_some(batch)
    }
}

/// The room that the last page has for poses with the same number of vertices. Each pose begins at a line of memory.
struct Room {
    first_vertex: u32,
    /// The number of poses for which there is room, at least one.
    pose_count: usize,
    /// The number of vertices from one pose to the next.
    stride: u32,
    /// The largest number of vertices in a page.
    capacity: u32,
}

impl Room {
    /// Adds a page if the last one has no room for a pose. Returns `None` if a pose is larger than a page.
    fn in_last_page(pages: &mut Vec<PagePlan>, vertex_count: u32, page_bytes: u64) -> Option<Self> {
        let capacity = u32::try_from(page_bytes / size_of::<SkinnedVertex>() as u64).unwrap_or(u32::MAX);
        let stride = u64::from(vertex_count).next_multiple_of(u64::from(VERTICES_PER_LINE));
        let poses = |page: &PagePlan| {
            // The last pose of a page needs no whole line.
            let free = u64::from(capacity - page.vertex_count) + (stride - u64::from(vertex_count));
            free.checked_div(stride).map_or(usize::MAX, |poses| poses as usize)
        };
        if pages.last().is_none_or(|last| poses(last) == 0) {
            pages.push(PagePlan::default());
        }
        let last = pages.last()?;
        let room = Self {
            first_vertex: last.vertex_count,
            pose_count: poses(last),
            // A page with a longer stride has one pose.
            stride: u32::try_from(stride).unwrap_or(u32::MAX),
            capacity,
        };
        (room.pose_count > 0).then_some(room)
    }

    /// Adds poses to the last page. Returns its index.
    fn take(self, pages: &mut [PagePlan], pose_count: usize, has_tangents: bool) -> u32 {
        if let Some(page) = pages.last_mut() {
            let end = u64::from(self.first_vertex) + pose_count as u64 * u64::from(self.stride);
            page.vertex_count = end.min(self.capacity.into()) as u32;
            page.has_tangents |= has_tangents;
        }
        pages.len() as u32 - 1
    }
}

//! Where each visible pose's skinned vertices go: pages, batches, offsets. Pure arithmetic, no Vulkan.
//!
//! A *pose* is what is evaluated and skinned: a range of the palette, morph weights, and the vertices that `skin.comp`
//! makes of them. An *instance* is what is drawn: a placement of a pose. Several instances may show one pose.
//!
//! The transient vertex buffer is made of pages, because one binding can be no larger than `maxStorageBufferRange`
//! (128 MiB on some drivers). A pose never straddles pages, and models follow each other without gaps. A *batch* is a
//! run of poses of one model in one page, with all their instances: one dispatch and one draw per material. What
//! belongs to a pose (joint matrices, morph weights, vertices) lies at offsets that are linear in its place in the
//! batch, so that a dispatch needs no table of them.
//!
//! The same limit holds for palette and morph weights: each is one buffer of any size, of which a batch sees a *window*
//! that is no larger. Most crowds fit into the first one, which begins at 0.

use crate::shader_types::{JointMatrix, SkinnedVertex, StreamWindow};
use crate::vulkan::{Error, Result};

/// What the plan needs to know of a model: what each pose of it takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelSize {
    /// In a page.
    pub vertex_count: u32,
    /// Its vertices have tangents.
    pub has_tangents: bool,
    /// In the palette.
    pub joint_count: u32,
    /// In the buffer of all morph weights.
    pub morph_weight_count: u32,
}

/// Bytes of one vertex's tangent, packed.
pub const TANGENT_BYTES: u64 = size_of::<u32>() as u64;

impl ModelSize {
    /// Bytes that `skin.comp` writes for one pose.
    #[must_use]
    pub fn skinned_bytes(self) -> u64 {
        let tangent_bytes = if self.has_tangents { TANGENT_BYTES } else { 0 };
        u64::from(self.vertex_count) * (size_of::<SkinnedVertex>() as u64 + tangent_bytes)
    }
}

/// What a frame shows: poses grouped by model, instances grouped by pose.
#[derive(Debug, Clone, Copy)]
pub struct VisiblePoses<'a> {
    /// Number of poses of each model.
    pub pose_counts: &'a [u32],
    /// One element for each pose, and one more: pose `p`, counted over all models in order, is shown to the camera by the
    /// instances `seen_starts[p]..seen_starts[p + 1]`. Counts up from 0 where every instance has a pose of its own.
    pub seen_starts: &'a [u32],
    /// As `seen_starts`, for instances that only the light draws; they come after all others.
    pub shadow_starts: &'a [u32],
}

/// A run of the instance buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InstanceRange {
    /// First element.
    pub first: u32,
    /// Number of elements.
    pub count: u32,
}

impl InstanceRange {
    /// Of the poses from `first_pose` to before `end_pose`.
    fn new(starts: &[u32], first_pose: u32, end_pose: u32) -> Self {
        let start = |pose: u32| starts.get(pose as usize).copied().unwrap_or(0);
        Self { first: start(first_pose), count: start(end_pose).saturating_sub(start(first_pose)) }
    }
}

/// Poses of one model that share a page, and their instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Index of the model.
    pub model: u32,
    /// Index of the page.
    pub page: u32,
    /// Counted over all models.
    pub first_pose: u32,
    /// At least 1.
    pub pose_count: u32,
    /// Instances that camera and light draw.
    pub seen: InstanceRange,
    /// Instances that only the light draws.
    pub shadows_only: InstanceRange,
    /// First vertex of the first pose within the page.
    pub first_vertex: u32,
    /// First joint matrix of the first pose in the palette.
    pub first_joint: u32,
    /// First morph weight of the first pose in the buffer of all morph weights.
    pub first_morph_weight: u32,
    /// What is bound of both. Begins no later than the first pose's part, and holds that of the last.
    pub window: StreamWindow,
}

/// Limits that the plan keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Of one page.
    pub page_bytes: u64,
    /// Of one window: `maxStorageBufferRange`.
    pub window_bytes: u64,
    /// A window begins at a multiple of it: `minStorageBufferOffsetAlignment`, a power of two.
    pub window_alignment_bytes: u64,
}

/// The windows of a stream of elements of one size.
#[derive(Debug, Clone, Copy)]
struct Windows {
    /// Elements that fit into one.
    capacity: u64,
    /// A window begins at a multiple of so many elements.
    granule: u32,
}

impl Windows {
    fn new(element_bytes: u64, limits: PlanLimits) -> Self {
        let alignment = limits.window_alignment_bytes.max(1);
        // The least number of elements that takes a multiple of the alignment, which is a power of two.
        let common = 1 << element_bytes.trailing_zeros().min(alignment.trailing_zeros());
        Self { capacity: limits.window_bytes / element_bytes, granule: (alignment / common) as u32 }
    }

    /// The window for poses of `pose_size` elements each from `first` on: the one that begins at `current`, where one
    /// pose fits into that. With it, how many fit.
    fn place(self, current: u32, first: u32, pose_size: u32) -> (u32, u64) {
        let fits = |start: u32| {
            let room = self.capacity.saturating_sub(u64::from(first - start));
            room.checked_div(u64::from(pose_size)).unwrap_or(u64::MAX)
        };
        if fits(current) > 0 {
            return (current, fits(current));
        }
        let start = first - first % self.granule;
        (start, fits(start))
    }
}

/// The plan of one frame; rebuilt in place each frame without allocating, once it has grown.
#[derive(Debug, Default)]
pub struct FramePlan {
    /// In the order of models, then poses.
    pub batches: Vec<Batch>,
    /// Vertices used in each page.
    pub page_vertices: Vec<u32>,
    /// Whether the vertices of each page have tangents: if those of one pose in it do, there is room for all.
    pub page_tangents: Vec<bool>,
    /// All visible instances.
    pub instance_count: u32,
    vertex_counts: Vec<u32>,
    first_batches: Vec<u32>,
    first_poses: Vec<u32>,
}

/// What all poses before one take.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    poses: u32,
    joints: u32,
    morph_weights: u32,
}

impl Before {
    /// Behind `count` more poses of a model; `None` where 32 bits do not suffice.
    fn after(self, count: u32, size: ModelSize) -> Option<Self> {
        Some(Self {
            poses: self.poses.checked_add(count)?,
            joints: self.joints.checked_add(count.checked_mul(size.joint_count)?)?,
            morph_weights: self.morph_weights.checked_add(count.checked_mul(size.morph_weight_count)?)?,
        })
    }
}

impl FramePlan {
    /// Lays out all that is visible.
    ///
    /// # Errors
    /// One pose of a model does not fit into a page, or there are so many that offsets need more than 32 bits.
    ///
    /// # Panics
    /// If either list of starts does not have one element more than there are poses.
    pub fn rebuild(&mut self, models: &[ModelSize], visible: VisiblePoses<'_>, limits: PlanLimits) -> Result<()> {
        let page_capacity = u32::try_from(limits.page_bytes / size_of::<SkinnedVertex>() as u64).unwrap_or(u32::MAX);
        let pose_count: u64 = visible.pose_counts.iter().copied().map(u64::from).sum();
        let starts = [visible.seen_starts.len(), visible.shadow_starts.len()];
        assert_eq!(starts.map(|count| count as u64), [pose_count + 1; 2], "starts of the instances of each pose");
        self.batches.clear();
        self.page_vertices.clear();
        self.page_tangents.clear();
        self.vertex_counts.clear();
        self.first_batches.clear();
        self.first_poses.clear();
        self.instance_count = visible.shadow_starts.last().copied().unwrap_or(0);
        let joints = Windows::new(size_of::<JointMatrix>() as u64, limits);
        let morph_weights = Windows::new(size_of::<f32>() as u64, limits);
        let (mut before, mut window) = (Before::default(), StreamWindow::default());
        for (model, (&size, &count)) in models.iter().zip(visible.pose_counts).enumerate() {
            self.vertex_counts.push(size.vertex_count);
            self.first_batches.push(self.batches.len() as u32);
            self.first_poses.push(before.poses);
            if size.vertex_count > page_capacity {
                return Err(Error::OverLimit {
                    what: format!("one instance of model {model} ({} vertices)", size.vertex_count),
                    size_bytes: u64::from(size.vertex_count) * size_of::<SkinnedVertex>() as u64,
                    limit: "maxStorageBufferRange",
                    limit_bytes: limits.page_bytes,
                    advice: "use a model with fewer vertices, or --skinning vertex".to_owned(),
                });
            }
            let end = before.after(count, size).ok_or_else(too_large)?;
            while before.poses < end.poses {
                let (first_joint, joints_fit) = joints.place(window.first_joint, before.joints, size.joint_count);
                let (first_morph_weight, weights_fit) =
                    morph_weights.place(window.first_morph_weight, before.morph_weights, size.morph_weight_count);
                window = StreamWindow { first_joint, first_morph_weight };
                let most_poses = u64::from(end.poses - before.poses).min(joints_fit).min(weights_fit) as u32;
                if most_poses == 0 {
                    return Err(too_many_joints(model, size, limits));
                }
                let (page, first_vertex, pose_count) = self.take_vertices(size, most_poses, page_capacity);
                let after = before.after(pose_count, size).ok_or_else(too_large)?;
                self.batches.push(Batch {
                    model: model as u32,
                    page,
                    first_pose: before.poses,
                    pose_count,
                    seen: InstanceRange::new(visible.seen_starts, before.poses, after.poses),
                    shadows_only: InstanceRange::new(visible.shadow_starts, before.poses, after.poses),
                    first_vertex,
                    first_joint: before.joints,
                    first_morph_weight: before.morph_weights,
                    window,
                });
                before = after;
            }
        }
        Ok(())
    }

    /// Takes the vertices of up to `most_poses` poses, as many as fit into the last page, or into a new one; returns the
    /// page, the first vertex in it and the number of poses.
    fn take_vertices(&mut self, size: ModelSize, most_poses: u32, page_capacity: u32) -> (u32, u32, u32) {
        let vertex_count = size.vertex_count.max(1);
        let page = match self.page_vertices.last() {
            Some(&used) if page_capacity - used >= vertex_count => self.page_vertices.len() - 1,
            _ => {
                self.page_vertices.push(0);
                self.page_tangents.push(false);
                self.page_vertices.len() - 1
            }
        };
        let first_vertex = self.page_vertices[page];
        let pose_count = ((page_capacity - first_vertex) / vertex_count).min(most_poses);
        self.page_vertices[page] += pose_count * vertex_count;
        self.page_tangents[page] |= size.has_tangents;
        (page as u32, first_vertex, pose_count)
    }

    /// First vertex, within its page, of the `k`-th visible pose of a model. 0 for what is not in the plan.
    #[must_use]
    pub fn skinned_vertex_offset(&self, model: usize, k: u32) -> u32 {
        let place = |batch: &Batch| {
            let vertex_count = self.vertex_counts.get(model).copied().unwrap_or(0);
            let pose = self.first_poses.get(model).copied().unwrap_or(0) + k;
            batch.first_vertex + (pose - batch.first_pose) * vertex_count
        };
        self.batch_of(model, k).map_or(0, place)
    }

    /// The batch that holds the `k`-th visible pose of a model.
    #[must_use]
    pub fn batch_of(&self, model: usize, k: u32) -> Option<&Batch> {
        let pose = self.first_poses.get(model)?.checked_add(k)?;
        let first = *self.first_batches.get(model)? as usize;
        let end = self.first_batches.get(model + 1).map_or(self.batches.len(), |&next| next as usize);
        let batches = self.batches.get(first..end)?;
        let batch = batches.get(batches.partition_point(|batch| batch.first_pose <= pose).checked_sub(1)?)?;
        (pose - batch.first_pose < batch.pose_count).then_some(batch)
    }
}

fn too_many_joints(model: usize, size: ModelSize, limits: PlanLimits) -> Error {
    let joint_bytes = u64::from(size.joint_count) * size_of::<JointMatrix>() as u64;
    let weight_bytes = u64::from(size.morph_weight_count) * size_of::<f32>() as u64;
    Error::OverLimit {
        what: format!("one pose of model {model} (joint matrices or morph weights)"),
        size_bytes: joint_bytes.max(weight_bytes),
        limit: "maxStorageBufferRange",
        limit_bytes: limits.window_bytes,
        advice: "use a model with fewer joints or morph targets".to_owned(),
    }
}

fn too_large() -> Error {
    Error::OverLimit {
        what: "the crowd".to_owned(),
        size_bytes: u64::MAX,
        limit: "number of joint matrices",
        limit_bytes: u64::from(u32::MAX),
        advice: "use fewer --instances".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTEX_BYTES: u64 = size_of::<SkinnedVertex>() as u64;
    const WIDE: PlanLimits = PlanLimits { page_bytes: 1 << 27, window_bytes: 1 << 27, window_alignment_bytes: 16 };

    fn size(vertex_count: u32, has_tangents: bool) -> ModelSize {
        ModelSize { vertex_count, has_tangents, joint_count: vertex_count + 1, morph_weight_count: vertex_count / 2 }
    }

    #[test]
    fn every_pose_has_its_own_vertices_within_a_page() {
        let models = [size(7, false), size(30, true), size(1, false)];
        let pose_counts = [20, 5, 13];
        // Pose p is shown by p % 3 instances, and by one more of which only the shadow is seen.
        let seen_starts: Vec<u32> = (0..=38).map(|pose| (0..pose).map(|before| before % 3).sum()).collect();
        let shadow_starts: Vec<u32> = (0..=38).map(|pose| seen_starts[38] + pose).collect();
        let visible =
            VisiblePoses { pose_counts: &pose_counts, seen_starts: &seen_starts, shadow_starts: &shadow_starts };
        for page_vertices in [30, 31, 64, 100, 1_000_000] {
            let limits = PlanLimits { page_bytes: page_vertices * VERTEX_BYTES, ..WIDE };
            let mut plan = FramePlan::default();
            plan.rebuild(&models, visible, limits).unwrap();
            assert_eq!(plan.instance_count, seen_starts[38] + 38);
            let mut taken = std::collections::HashSet::new();
            let (mut pose, mut joint, mut morph_weight) = (0, 0, 0);
            for (model, &count) in pose_counts.iter().enumerate() {
                for k in 0..count {
                    let offset = plan.skinned_vertex_offset(model, k);
                    let batch = plan.batch_of(model, k).unwrap();
                    let place = pose - batch.first_pose;
                    assert_eq!(batch.first_joint + place * models[model].joint_count, joint);
                    assert_eq!(batch.first_morph_weight + place * models[model].morph_weight_count, morph_weight);
                    pose += 1;
                    joint += models[model].joint_count;
                    morph_weight += models[model].morph_weight_count;
                    let page = batch.page;
                    assert!(plan.page_tangents[page as usize] || !models[model].has_tangents);
                    for vertex in offset..offset + models[model].vertex_count {
                        assert!(u64::from(vertex) < page_vertices);
                        assert!(vertex < plan.page_vertices[page as usize]);
                        assert!(taken.insert((page, vertex)), "{model} {k} overlaps");
                    }
                }
            }
            assert_eq!(taken.len(), 20 * 7 + 5 * 30 + 13);
            assert_eq!(plan.page_tangents.len(), plan.page_vertices.len());
            assert!(page_vertices > 64 || !plan.page_tangents[0], "a page of the first model alone");
            let mut next_pose = 0;
            for batch in &plan.batches {
                assert!(batch.pose_count >= 1);
                assert_eq!(batch.first_pose, next_pose);
                next_pose += batch.pose_count;
                let range = |starts: &[u32]| starts[batch.first_pose as usize]..starts[next_pose as usize];
                assert_eq!(batch.seen.first..batch.seen.first + batch.seen.count, range(&seen_starts));
                let InstanceRange { first, count } = batch.shadows_only;
                assert_eq!(first..first + count, range(&shadow_starts));
            }
            assert_eq!(next_pose, 38);
        }
    }

    #[test]
    fn a_model_larger_than_a_page_is_refused_with_the_numbers() {
        let limits = PlanLimits { page_bytes: 10 * VERTEX_BYTES, ..WIDE };
        let visible = VisiblePoses { pose_counts: &[1], seen_starts: &[0, 1], shadow_starts: &[1, 1] };
        let error = FramePlan::default().rebuild(&[size(11, false)], visible, limits).unwrap_err();
        assert!(error.to_string().contains("(11 vertices) takes 176 bytes"), "{error}");
    }

    #[test]
    fn windows_are_aligned_and_hold_what_their_batches_read() {
        let models = [size(7, false), size(30, true), size(1, false)];
        let seen_starts: Vec<u32> = (0..=380).collect();
        let visible =
            VisiblePoses { pose_counts: &[200, 50, 130], seen_starts: &seen_starts, shadow_starts: &[380; 381] };
        for (window_bytes, window_alignment_bytes) in [(4096, 256), (2500, 64), (1 << 20, 16), (1600, 4)] {
            let limits = PlanLimits { window_bytes, window_alignment_bytes, ..WIDE };
            let mut plan = FramePlan::default();
            plan.rebuild(&models, visible, limits).unwrap();
            assert_eq!(plan.batches.iter().map(|batch| batch.pose_count).sum::<u32>(), 380);
            for batch in &plan.batches {
                let size = models[batch.model as usize];
                let streams = [
                    (48, batch.window.first_joint, batch.first_joint, size.joint_count),
                    (4, batch.window.first_morph_weight, batch.first_morph_weight, size.morph_weight_count),
                ];
                for (element_bytes, start, first, pose_size) in streams {
                    assert_eq!(u64::from(start) * element_bytes % window_alignment_bytes, 0);
                    let end = first + batch.pose_count * pose_size;
                    assert!(start <= first && u64::from(end - start) * element_bytes <= window_bytes);
                }
            }
            let used_bytes = (200 * 8 + 50 * 31 + 130 * 2) * 48;
            assert_eq!(plan.batches.len() == 3, used_bytes <= window_bytes);
        }
        let limits = PlanLimits { window_bytes: 1000, ..WIDE };
        let error = FramePlan::default().rebuild(&models, visible, limits).unwrap_err();
        assert!(error.to_string().contains("one pose of model 1"), "{error}");
    }

    #[test]
    fn a_crowd_whose_offsets_need_more_than_32_bits_is_refused() {
        let limits = PlanLimits { window_bytes: u64::MAX, ..WIDE };
        let model = ModelSize { joint_count: u32::MAX / 2, ..size(3, false) };
        let visible = |pose_counts| VisiblePoses { pose_counts, seen_starts: &[0, 1, 2, 3], shadow_starts: &[3; 4] };
        let error = FramePlan::default().rebuild(&[model], visible(&[3]), limits).unwrap_err();
        assert!(error.to_string().contains("joint matrices"), "{error}");
    }
}

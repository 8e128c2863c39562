//! Skin (`skin.comp`): bind-pose vertices and joint matrices become this frame's transient vertex buffer.
//!
//! In: the pose records, the palette, the morph weights and the models' bind-pose vertices. Out: the skinned vertices of
//! every visible pose, up to its finest level of detail. Each batch takes one dispatch per run of vertices ([`SkinRun`]): x
//! counts groups of vertices, y counts groups of poses. Each kind of run has its own pipeline, built once. The shader of a run
//! has no code for absent morph targets, normals or tangents, and it unrolls the loop over influences if all vertices have
//! the same number of them.

use std::collections::btree_map::{BTreeMap, Entry};

use super::{Building, PassInput};
use crate::crowd::Batch;
use crate::renderer::layouts::{FRAME_SET, MODEL_SET, PAGE_SET};
use crate::renderer::resident::model::GpuModel;
use crate::renderer::resident::skin_runs::SkinRun;
use crate::shader_types::{SkinConstants, SpecializationConstants, VERTICES_PER_GROUP};
use crate::vulkan::Result;
use crate::vulkan::pipeline::Pipeline;
use crate::vulkan::spirv;

/// The number of poses that a work group skins, one after the other. A vertex and its influences are read once for all of
/// them. More poses would leave a GPU too few work groups.
const POSES_PER_GROUP: u32 = 4;

/// Returns the specialization constants of the pipeline that skins a run, for poses with or without active morph targets.
fn constants_of(model: &GpuModel, run: &SkinRun, has_morphs: bool) -> SpecializationConstants {
    SpecializationConstants {
        influence_count: run.influence_count.unwrap_or(0),
        with_morphs: if has_morphs { model.skinning.with_morphs } else { 0 },
        with_tangents: model.size.has_tangents.into(),
        poses_per_group: POSES_PER_GROUP,
        ..model.skinning
    }
}

pub struct SkinPass {
    pipelines: BTreeMap<SpecializationConstants, Pipeline>,
    /// The largest number of work groups in a dispatch, x and y.
    max_groups: [u32; 2],
}

impl SkinPass {
    /// Builds the pipelines that the models need. No dispatch has more than `max_groups` work groups, x and y.
    pub fn new(building: Building, max_groups: [u32; 2]) -> Result<Self> {
        let Building { builder, layouts, models, .. } = building;
        let mut pipelines = BTreeMap::new();
        for model in models {
            let kinds = [false, true].map(|has_morphs| model.skin_order.all_runs().map(move |run| (run, has_morphs)));
            for (run, has_morphs) in kinds.into_iter().flatten() {
                let constants = constants_of(model, run, has_morphs);
                if let Entry::Vacant(entry) = pipelines.entry(constants) {
                    let name = format!("skin: {constants:?}");
                    entry.insert(builder.compute(&name, (&spirv::SKIN_COMP, &constants.words()[..]), &layouts.skin)?);
                }
            }
        }
        Ok(Self { pipelines, max_groups })
    }

    pub fn record(&self, input: &PassInput) {
        let PassInput { recorder, layouts, models, plan, slot, .. } = *input;
        recorder.bind_set(&layouts.skin, FRAME_SET, &slot.set);
        for batch in &plan.batches {
            let (Some(model), Some(page)) = (models.get(batch.model as usize), slot.pages.get(batch.page as usize))
            else {
                continue;
            };
            recorder.bind_set(&layouts.skin, MODEL_SET, &model.set);
            recorder.bind_set(&layouts.skin, PAGE_SET, &page.set);
            for &run in model.skin_order.runs(batch.levels.finest()) {
                let Some(pipeline) = self.pipelines.get(&constants_of(model, &run, batch.has_morphs)) else { continue };
                recorder.bind_pipeline(pipeline);
                self.dispatch(input, run, batch);
            }
        }
    }

    /// Skins one run of vertices for all poses of a batch, by more than one dispatch if a limit of the device requires it.
    fn dispatch(&self, input: &PassInput, run: SkinRun, batch: &Batch) {
        let [max_groups, max_pose_groups] = self.max_groups;
        let max_vertices = max_groups.saturating_mul(VERTICES_PER_GROUP);
        let max_poses = max_pose_groups.saturating_mul(POSES_PER_GROUP);
        let end_of_batch = batch.first_pose + batch.pose_count;
        for first_pose in (batch.first_pose..end_of_batch).step_by(max_poses as usize) {
            let end_pose = end_of_batch.min(first_pose.saturating_add(max_poses));
            for first in (run.first..run.end).step_by(max_vertices as usize) {
                let end = run.end.min(first.saturating_add(max_vertices));
                let constants = SkinConstants { first, end, first_pose, end_pose };
                input.recorder.push_constants(&input.layouts.skin, &constants);
                let groups =
                    [(end - first).div_ceil(VERTICES_PER_GROUP), (end_pose - first_pose).div_ceil(POSES_PER_GROUP)];
                input.recorder.dispatch(groups);
            }
        }
    }
}

//! The frame plan: every pose has its own data, in one page, and batches cover all poses.

use std::collections::HashSet;

use throng::crowd::{Batch, FramePlan, InstanceRange, LevelSize, PlanError, PoseSize, VERTICES_PER_LINE, VisiblePose};
use throng::shader_types::SkinnedVertex;

const VERTEX_BYTES: u64 = size_of::<SkinnedVertex>() as u64;

fn size(vertex_count: u32, has_tangents: bool) -> PoseSize {
    PoseSize { levels: levels([vertex_count, vertex_count / 2]), has_tangents, morph_weight_count: vertex_count / 2 }
}

/// Levels with one joint more than vertices.
fn levels(vertex_counts: impl IntoIterator<Item = u32>) -> Vec<LevelSize> {
    let level = |count| LevelSize { vertex_count: count, joint_count: count + 1, bind_vertex_offset: 100 - count };
    vertex_counts.into_iter().map(level).collect()
}

#[test]
fn every_pose_has_its_own_vertices_within_a_page() {
    let models = [size(7, false), size(30, true), size(1, false)];
    let model_of = |pose: u32| [0, 1, 2][usize::from(pose >= 20) + usize::from(pose >= 25)];
    // Pose p is shown by p % 3 instances, and by one more whose shadow alone is visible.
    let mut poses: Vec<VisiblePose> = (0..38).map(|pose| VisiblePose::new(model_of(pose), pose % 3, 1)).collect();
    // Some poses have no active morph target.
    poses[3..9].iter_mut().for_each(|pose| pose.has_morphs = false);
    let seen_count: u32 = poses.iter().map(|pose| pose.seen_count).sum();
    for page_vertices in [30, 31, 64, 100, 1_000_000] {
        let mut plan = FramePlan::default();
        plan.rebuild(&models, &poses, page_vertices * VERTEX_BYTES).unwrap();
        assert_eq!(plan.instance_count, seen_count + 38);
        let mut taken = HashSet::new();
        let (mut joint, mut morph_weight) = (0, 0);
        for (pose, record) in (0..).zip(&plan.records) {
            let size = &models[model_of(pose) as usize];
            let batch = plan.batch_of(pose).unwrap();
            assert_eq!(batch.model, model_of(pose));
            assert_eq!((record.palette_offset, record.morph_weight_offset), (joint, morph_weight));
            joint += size.level(0).joint_count;
            let has_morphs = poses[pose as usize].has_morphs;
            assert_eq!(record.morph_weight_count, if has_morphs { size.morph_weight_count } else { 0 });
            assert_eq!(batch.has_morphs, has_morphs);
            morph_weight += record.morph_weight_count;
            let page = plan.pages[batch.page as usize];
            assert!(page.has_tangents || !size.has_tangents);
            assert_eq!(record.skinned_vertex_offset % VERTICES_PER_LINE, 0, "a pose begins at a line of memory");
            for vertex in record.skinned_vertex_offset..record.skinned_vertex_offset + size.level(0).vertex_count {
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
            let shadow_only = InstanceRange { first: next_shadow_only, count: count(|pose| pose.shadow_only_count) };
            assert!(batch.pose_count >= 1);
            assert_eq!((batch.first_pose, batch.seen, batch.shadow_only), (next_pose, seen, shadow_only));
            next_pose += batch.pose_count;
            next_seen += seen.count;
            next_shadow_only += shadow_only.count;
        }
        assert_eq!((next_pose, next_shadow_only), (38, plan.instance_count));
    }
}

/// A pose has the vertices of the finest level that the camera or the light needs. Batches differ in their levels.
#[test]
fn poses_take_the_vertices_of_their_levels() {
    let model = PoseSize { levels: levels([20, 10, 3]), ..size(20, false) };
    let poses = [(0, 0), (0, 2), (1, 2), (1, 2), (2, 1), (2, 2), (7, 9)]
        .map(|(camera, light)| VisiblePose::new(0, 2, 1).with_levels(camera, light));
    let mut plan = FramePlan::default();
    plan.rebuild(std::slice::from_ref(&model), &poses, 44 * VERTEX_BYTES).unwrap();
    assert!(plan.records.iter().map(|record| record.skinned_vertex_offset).eq([0, 20, 0, 12, 24, 36, 40]));
    let batches = plan.batches.iter();
    let batches = batches.map(|b| (b.page, b.levels.camera, b.levels.light, b.vertex_count, b.pose_count));
    // Levels beyond the coarsest one are equal to it.
    let expected =
        [(0, 0, 0, 20, 1), (0, 0, 2, 20, 1), (1, 1, 2, 10, 2), (1, 2, 1, 10, 1), (1, 2, 2, 3, 1), (1, 7, 9, 3, 1)];
    assert_eq!(batches.collect::<Vec<_>>(), expected);
    assert_eq!(plan.pages.iter().map(|page| page.vertex_count).collect::<Vec<_>>(), [40, 44]);
    let joints = |plan: &FramePlan| -> Vec<u32> { plan.records.iter().map(|record| record.palette_offset).collect() };
    assert_eq!((joints(&plan), plan.joint_count), (vec![0, 21, 42, 53, 64, 75, 79], 83));
    assert!(plan.records.iter().map(|record| record.bind_vertex_offset).eq([80, 80, 90, 90, 90, 97, 97]));
    assert_eq!(plan.batches[3].seen, InstanceRange { first: 8, count: 2 });
    assert_eq!(plan.batches[3].shadow_only, InstanceRange { first: 14 + 4, count: 1 });
    plan.all_joints = true;
    plan.rebuild(&[model], &poses, 44 * VERTEX_BYTES).unwrap();
    assert_eq!(joints(&plan), [0, 21, 42, 63, 84, 105, 126]);
}

/// The figure "Where is my vertex?" shows the plan of six foxes, of which two and two share a pose.
#[test]
fn the_frame_of_the_figure_is_a_plan() {
    let text = std::fs::read(crate::common::assets::path_of("docs/figures/frame.json")).unwrap();
    let frame: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let shown = |list: &str, names: &str| -> Vec<u32> {
        let rows = frame[list].as_array().unwrap().iter();
        rows.flat_map(|row| names.split(' ').map(|name| row.pointer(name).unwrap().as_u64().unwrap() as u32)).collect()
    };
    let levels = [(434, 24, 0), (334, 20, 434), (248, 18, 768), (183, 16, 1016), (128, 16, 1199)];
    let level = |(vertex_count, joint_count, start)| LevelSize { vertex_count, joint_count, bind_vertex_offset: start };
    let fox = PoseSize { levels: levels.map(level).to_vec(), has_tangents: false, morph_weight_count: 0 };
    let pose = |(seen, level)| VisiblePose::new(0, seen, 0).with_levels(level, level);
    let mut plan = FramePlan::default();
    plan.rebuild(&[fox], &[(2, 0), (1, 0), (2, 4), (1, 4)].map(pose), u64::MAX).unwrap();
    let names = "/palette_offset /skinned_vertex_offset /morph_weight_offset /morph_weight_count /bind_vertex_offset";
    assert_eq!(shown("poses", names), bytemuck::cast_slice::<_, u32>(&plan.records));
    let of_batch = |b: &Batch| [b.first_pose, b.pose_count, b.vertex_count, b.seen.first, b.seen.count];
    let batches: Vec<u32> = plan.batches.iter().flat_map(of_batch).collect();
    assert_eq!(shown("batches", "/first_pose /pose_count /vertex_count /seen/first /seen/count"), batches);
    assert!(frame["joints"] == plan.joint_count && frame["page_vertices"] == plan.pages[0].vertex_count);
}

#[test]
fn models_larger_than_a_page_and_offsets_of_more_than_32_bits_are_refused() {
    let pose = VisiblePose::new(0, 1, 0);
    let error = FramePlan::default().rebuild(&[size(11, false)], &[pose], 10 * VERTEX_BYTES).unwrap_err();
    assert!(error.to_string().contains("(11 vertices) takes 176 bytes"), "{error}");
    let mut model = size(3, false);
    model.levels[0].joint_count = u32::MAX / 2;
    let error = FramePlan::default().rebuild(&[model], &[pose; 3], u64::MAX).unwrap_err();
    assert_eq!(error, PlanError::TooManyElements);
}

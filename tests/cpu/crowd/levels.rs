//! Levels of detail: which one each instance gets, and the order of poses and instances that follows from it.

use std::collections::HashSet;

use throng::measure::posed_bounds;

use super::*;
use crate::common::levels::give_levels;

const HEIGHT_PIXELS: u32 = 720;
const ASPECT: f32 = 16.0 / 9.0;
const TO_LIGHT: Vec3 = Vec3::new(0.48, 0.8, 0.36);

/// The mixed models with coarser levels: three, one and none.
fn models() -> Arc<[Model]> {
    let mut models = mixed().to_vec();
    for (model, errors) in models.iter_mut().zip([&[0.004, 0.015, 0.06][..], &[0.01], &[]]) {
        give_levels(model, 1, errors);
    }
    Arc::from(models)
}

fn camera(distance: f32) -> OrbitCamera {
    OrbitCamera { distance, pitch_radians: 0.3, ..OrbitCamera::default() }
}

fn errors_of(model: &Model) -> Vec<f32> {
    std::iter::once(0.0).chain(model.geometry.coarser_levels.iter().map(|level| level.error)).collect()
}

fn scale_of(instance: &InstanceData) -> f32 {
    let [x, y, z] = instance.world_from_model.rows.map(|row| row[0]);
    Vec3::new(x, y, z).length()
}

/// Returns how many pixels a length is wide, parallel to the image, at an instance's nearest point. `None` at the eye's plane.
fn pixels_in_view(camera: &OrbitCamera, model: &Model, instance: &InstanceData, metres: f32) -> Option<f32> {
    let bounds = posed_bounds(model, model.clips.first());
    let center = instance.world_from_model.transform_point(bounds.center());
    let depth = (center - camera.position()).dot(camera.forward()) - bounds.radius() * scale_of(instance);
    let point = camera.position() + depth * camera.forward();
    let up = camera.view_from_world().transpose().y_axis.truncate();
    let [low, high] = [point, point + up * metres].map(|point| camera.clip_from_world(ASPECT).project_point3(point).y);
    (depth > 0.0).then_some((high - low) * 0.5 * HEIGHT_PIXELS as f32)
}

fn assert_coarsest(errors: &[f32], level: u32, limit: f32, size_of: impl Fn(f32) -> f32) {
    let size = size_of(errors[level as usize]);
    assert!(level == 0 || size <= limit * 1.0001, "level {level} of {errors:?}: {size} of {limit}");
    if let Some(&coarser) = errors.get(level as usize + 1) {
        let size = size_of(coarser);
        assert!(size > limit * 0.9999, "level {level} of {errors:?}: the next one has {size} of {limit}");
    }
}

/// Instances that share a pose share the level that the nearest and largest one needs.
#[test]
fn each_pose_has_the_coarsest_level_that_pixels_and_texels_allow() {
    let models = models();
    let variety = CrowdSettings { variety: 1.0, clip: ClipChoice::Index(0), ..settings(600) };
    let texel_metres = 0.02;
    for (distance, error_pixels, share_poses_hz) in [
        (3.0, 1.0, None),
        (12.0, 1.0, None),
        (40.0, 1.0, None),
        (40.0, 0.25, None),
        (12.0, 6.0, None),
        (25.0, 1.0, Some(2.0)),
    ] {
        let mut crowd = Crowd::new(Arc::clone(&models), &CrowdSettings { share_poses_hz, ..variety.clone() }).unwrap();
        let camera = camera(distance);
        let detail = Detail::new(&camera, HEIGHT_PIXELS, error_pixels).with_shadow_texels(texel_metres, error_pixels);
        cull(&mut crowd, &camera, ASPECT, Some(TO_LIGHT), &detail);
        let instances = instances_of(&crowd);
        let mut levels = HashSet::new();
        for (index, pose) in (0..).zip(crowd.visible_poses()) {
            let model = &models[pose.model as usize];
            let is_own = |instance: &&InstanceData| instance.pose == index;
            let most = |of: &[InstanceData], size: &dyn Fn(&InstanceData) -> f32| {
                of.iter().filter(is_own).map(size).fold(0.0, f32::max)
            };
            assert_coarsest(&errors_of(model), pose.levels.light, error_pixels, |error| {
                most(&instances, &|instance| error * scale_of(instance) / texel_metres)
            });
            if pose.seen_count > 0 {
                let seen = &instances[..seen_count_of(&crowd)];
                assert_coarsest(&errors_of(model), pose.levels.camera, error_pixels, |error| {
                    let pixels =
                        |instance: &InstanceData| pixels_in_view(&camera, model, instance, error * scale_of(instance));
                    most(seen, &|instance| pixels(instance).unwrap_or(f32::INFINITY))
                });
                levels.insert(pose.levels.camera);
            } else {
                assert_eq!(pose.levels.camera, pose.levels.light, "a pose that only casts a shadow");
            }
        }
        assert!(levels.len() >= 2, "{distance} m, {error_pixels} pixels: {levels:?}");
    }
}

#[test]
fn poses_and_instances_are_grouped_by_model_and_levels_which_are_full_without_an_error() {
    for share_poses_hz in [None, Some(3.0)] {
        let shared = CrowdSettings { share_poses_hz, variety: 1.0, ..settings(800) };
        let mut crowd = Crowd::new(models(), &shared).unwrap();
        let camera = camera(15.0);
        // Shadows reach as far as with an error of one texel of 0.015 m.
        let full_detail = Detail::FULL.with_shadow_texels(0.017, 0.0);
        cull(&mut crowd, &camera, ASPECT, Some(TO_LIGHT), &full_detail);
        let visible = |crowd: &Crowd| {
            let mut numbers: Vec<u32> = instances_of(crowd).iter().map(|instance| instance.numbers[0]).collect();
            numbers.sort_unstable();
            (numbers, crowd.visible_counts().to_vec(), crowd.pose_counts().to_vec())
        };
        let (in_full_detail, full) = (visible(&crowd), crowd.visible_poses().to_vec());
        assert!(full.iter().all(|pose| pose.levels.camera == 0 && pose.levels.light == 0));
        let no_error = Detail::new(&camera, HEIGHT_PIXELS, 0.0).with_shadow_texels(0.017, 0.0);
        cull(&mut crowd, &camera, ASPECT, Some(TO_LIGHT), &no_error);
        assert_eq!(crowd.visible_poses(), full);
        let detail = Detail::new(&camera, HEIGHT_PIXELS, 1.0).with_shadow_texels(0.015, 1.0);
        cull(&mut crowd, &camera, ASPECT, Some(TO_LIGHT), &detail);
        assert_eq!(visible(&crowd), in_full_detail, "levels hide nobody");

        assert!(crowd.visible_poses().is_sorted_by_key(|pose| (pose.model, pose.levels)));
        assert_numbers_find_places(&crowd);
        let plan = plan_of(&crowd);
        assert!(plan.batches.windows(2).all(|pair| (pair[0].model, pair[0].levels) < (pair[1].model, pair[1].levels)));
        assert!(plan.batches.len() > 4, "{} batches", plan.batches.len());
        let instances = instances_of(&crowd);
        for batch in &plan.batches {
            let poses = batch.first_pose..batch.first_pose + batch.pose_count;
            for range in [batch.seen, batch.shadow_only] {
                let of_batch = &instances[range.first as usize..(range.first + range.count) as usize];
                assert!(of_batch.is_sorted_by_key(|instance| (instance.pose, instance.numbers[0])));
                assert!(of_batch.iter().all(|instance| poses.contains(&instance.pose)));
            }
        }
    }
}

/// Whether clips fit the lanes or not, whether one clip is played or several, and however many threads there are.
#[test]
fn a_pose_has_the_first_joint_matrices_as_many_as_its_level_needs() {
    let mut models = models().to_vec();
    for model in &mut models {
        (1..).zip(&mut model.geometry.coarser_levels).for_each(|(number, level)| level.joint_count -= number);
    }
    let models: Arc<[Model]> = Arc::from(models);
    let pool = thread_pool(Some(1)).unwrap();
    for clip in [ClipChoice::All, ClipChoice::Index(0), ClipChoice::None] {
        let mut crowd = Crowd::new(Arc::clone(&models), &CrowdSettings { clip, ..settings(300) }).unwrap();
        let camera = camera(12.0);
        cull(&mut crowd, &camera, ASPECT, None, &Detail::new(&camera, HEIGHT_PIXELS, 1.0));
        let sizes: Vec<PoseSize> = models.iter().map(PoseSize::of).collect();
        let mut whole = FramePlan { all_joints: true, ..FramePlan::default() };
        whole.rebuild(&sizes, crowd.visible_poses(), u64::MAX).unwrap();
        let (all, all_weights) = planned_streams(&mut crowd, &pool, 0.7, &whole, MemoryKind::Cached);
        let plan = plan_of(&crowd);
        assert!(plan.joint_count < whole.joint_count);
        for threads in [1, 3] {
            let (palette, weights) = streams_of(&mut crowd, threads, 0.7);
            assert_eq!(weights, all_weights);
            for ((pose, own), record) in crowd.visible_poses().iter().zip(&plan.records).zip(&whole.records) {
                let count = sizes[pose.model as usize].level(pose.levels.finest()).joint_count as usize;
                let (own, first) = (own.palette_offset as usize, record.palette_offset as usize);
                assert_eq!(palette[own..own + count], all[first..first + count]);
            }
        }
    }
}

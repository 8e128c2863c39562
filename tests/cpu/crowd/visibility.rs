//! Visible instances and poses: culling, sharing, and their order.

use rayon::ThreadPool;
use throng::crowd::SharingError;
use throng::view::SunDirection;

use super::*;
use crate::common::pose::palette;

#[test]
fn culling_never_loses_a_visible_vertex_or_shadow() {
    let model = chain("A.glb", 5, 1.8, &["Idle"]);
    let mut crowd = crowd_of([model.clone()], &settings(400));
    let all = instances_of(&crowd);
    for step in 0..12 {
        let mut camera = OrbitCamera { distance: 4.0, ..OrbitCamera::default() };
        camera.orbit(step as f32 * 0.5, step as f32 * 0.05 - 0.3);
        let elevation_degrees = [6.0, 9.0, 20.0, 45.0][step % 4];
        let to_light = SunDirection { azimuth_degrees: step as f32 * 77.0, elevation_degrees }.to_light();
        let clip_from_world = camera.clip_from_world(1.5);
        cull(&mut crowd, &camera, 1.5, Some(to_light), &Detail::FULL.with_shadow_texels(0.2, 0.0));
        let (visible, seen_count) = (positions(&crowd), seen_count_of(&crowd));
        let is_in_view = |world: Vec3| {
            let clip = clip_from_world * world.extend(1.0);
            clip.x.abs() <= clip.w && clip.y.abs() <= clip.w && clip.z <= clip.w
        };
        for time in [0.0, 0.5, 1.1] {
            let palette = palette(&model, model.clips.first(), time);
            for instance in &all {
                let place = instance.world_from_model.transform_point(Vec3::ZERO);
                let number = visible.iter().position(|visible| *visible == place);
                for (joint, &position) in palette.iter().zip(&model.geometry.positions) {
                    let world = instance.world_from_model.transform_point(joint.transform_point(position));
                    // On the ground, and on characters above it, up to seven texels beside the ray.
                    let casts_shadow =
                        [(1.0, 0.0), (0.7, 1.45), (0.3, -1.45), (0.9, -1.45)].into_iter().any(|(fall, aside)| {
                            let sideways = aside * Vec3::Y.cross(to_light).normalize();
                            is_in_view(world + sideways - to_light * (fall * world.y.max(0.0) / to_light.y))
                        });
                    let is_seen = number.is_some_and(|number| number < seen_count);
                    assert!(is_seen || !is_in_view(world), "step {step}: the one at {place} is missing");
                    assert!(number.is_some() || !casts_shadow, "step {step}: the shadow from {place} is missing");
                }
            }
        }
        assert!(visible.len() < 400, "step {step} culls no instance");
    }
}

/// The number of an instance is its own, also after a change of clips has sorted the instances again.
#[test]
fn numbers_find_their_instances() {
    let models = [chain("A.glb", 5, 1.8, &["Idle", "Walk"]), chain("B.glb", 3, 1.2, &["Walk"])];
    let mut crowd = crowd_of(models.clone(), &CrowdSettings { share_poses_hz: Some(8.0), ..settings(400) });
    let placements = |crowd: &Crowd| {
        let mut instances = instances_of(crowd);
        instances.sort_unstable_by_key(|instance| instance.numbers[0]);
        instances.into_iter().map(|instance| instance.world_from_model).collect::<Vec<_>>()
    };
    let all = placements(&crowd);
    for choice in [ClipChoice::All, ClipChoice::Index(0), ClipChoice::None] {
        crowd.set_clip(&choice).unwrap();
        assert_eq!(placements(&crowd), all, "{choice:?}");
        cull(&mut crowd, &OrbitCamera { distance: 4.0, ..OrbitCamera::default() }, 1.5, Some(Vec3::Y), &Detail::FULL);
        let instances = instances_of(&crowd);
        assert!((50..300).contains(&instances.len()), "{}", instances.len());
        assert!(crowd.visible_instances().eq(instances.iter().copied()), "the same instances, one at a time");
        for data in &instances {
            assert_eq!(data.world_from_model, all[data.numbers[0] as usize], "{choice:?}");
        }
        assert_numbers_find_places(&crowd);
    }
    // A search through all instances for each of them would take minutes.
    assert_numbers_find_places(&crowd_of(models, &settings(200_000)));
}

#[test]
fn shared_poses_are_few_and_near_enough() {
    let own = crowd_of([chain("A.glb", 5, 1.8, &["Idle", "Walk"]), chain("B.glb", 3, 1.2, &["Walk"])], &settings(1000));
    let models = own.models();
    assert_eq!((own.pose_counts(), own.visible_counts()), (&[500, 500][..], &[500, 500][..]));
    assert_eq!(own.sharing_error(), None);
    let mut last_error = f32::INFINITY;
    for (hz, poses_of_clip) in [(1.0, 2), (4.0, 6), (20.0, 30)] {
        let shared = CrowdSettings { share_poses_hz: Some(hz), ..settings(1000) };
        let mut crowd = Crowd::new(Arc::clone(models), &shared).unwrap();
        // Two clips of 1.5 seconds for the first model, one for the second.
        assert_eq!(crowd.pose_counts(), [2 * poses_of_clip, poses_of_clip], "{hz} Hz");
        assert_eq!(crowd.visible_counts(), [500, 500]);
        assert_eq!(crowd.visible_poses().len(), 3 * poses_of_clip as usize);
        assert!(crowd.visible_poses().iter().all(|pose| pose.shadow_only_count == 0));
        assert_eq!(palette_of(&mut crowd, 2, 0.4).len(), 5 * 2 * poses_of_clip as usize + 3 * poses_of_clip as usize);
        // All instances of a pose name it, and none is missing.
        let instances = instances_of(&crowd);
        assert_eq!(instances.len(), 1000);
        let mut next = 0;
        for (index, pose) in crowd.visible_poses().iter().enumerate() {
            let of_pose = &instances[next..next + pose.seen_count as usize];
            assert!(!of_pose.is_empty() && of_pose.iter().all(|instance| instance.pose as usize == index), "{index}");
            next += of_pose.len();
        }
        assert_eq!(next, 1000);
        let error = crowd.sharing_error().unwrap().metres;
        assert!(error > 0.0 && error < 0.6 * last_error, "{hz} Hz: {error} m after {last_error} m");
        last_error = error;
    }
    // Five joints of 0.36 m turn by 0.4 rad in half a second: at 20 Hz the tip errs by at most 1.8 m · 0.8 rad/s · 5 · 1/40 s.
    assert!(last_error < 0.18, "{last_error}");
    let zero = CrowdSettings { share_poses_hz: Some(30.0), phase: PhaseMode::Zero, ..settings(100) };
    let crowd = Crowd::new(Arc::clone(models), &zero).unwrap();
    assert_eq!((crowd.pose_counts(), crowd.sharing_error()), (&[2, 1][..], Some(SharingError::default())));
    let refused = CrowdSettings { share_poses_hz: Some(0.0), ..settings(1) };
    assert!(matches!(Crowd::new(Arc::clone(models), &refused), Err(CrowdError::OutOfRange(..))));
}

#[test]
fn instances_seen_by_their_shadow_only_follow_the_others() {
    for share_poses_hz in [None, Some(8.0)] {
        let models = [chain("A.glb", 5, 1.8, &["Idle"]), chain("B.glb", 3, 1.2, &["Walk"])];
        let mut crowd = crowd_of(models, &CrowdSettings { share_poses_hz, ..settings(400) });
        let camera = OrbitCamera { distance: 6.0, ..OrbitCamera::default() };
        let bits = |crowd: &Crowd, range: std::ops::Range<usize>| -> Vec<[u32; 3]> {
            positions(crowd)[range].iter().map(|place| place.to_array().map(f32::to_bits)).collect()
        };
        cull(&mut crowd, &camera, 1.5, None, &Detail::FULL);
        let seen_count = seen_count_of(&crowd);
        assert_eq!(crowd.visible_counts().iter().sum::<u32>() as usize, seen_count);
        let mut seen = bits(&crowd, 0..seen_count);

        cull(&mut crowd, &camera, 1.5, Some(Vec3::new(0.8, 0.3, 0.2).normalize()), &Detail::FULL);
        let all_count = crowd.visible_counts().iter().sum::<u32>() as usize;
        assert_eq!(seen_count_of(&crowd), seen_count, "the light hides no instance");
        assert_eq!(plan_of(&crowd).instance_count as usize, all_count);
        assert!(all_count > seen_count + 5, "a low sun throws long shadows: {all_count} of {seen_count}");
        let mut seen_first = bits(&crowd, 0..seen_count);
        seen.sort_unstable();
        seen_first.sort_unstable();
        assert_eq!(seen, seen_first);
        let others = bits(&crowd, seen_count..all_count);
        assert!(others.iter().all(|place| seen.binary_search(place).is_err()));
    }
}

#[test]
fn any_number_of_threads_sees_the_same() {
    // More instances than a task takes.
    let models = [chain("A.glb", 5, 1.8, &["Idle", "Walk"]), chain("B.glb", 3, 1.2, &["Walk"])];
    for share_poses_hz in [None, Some(4.0)] {
        let mut crowd = crowd_of(models.clone(), &CrowdSettings { share_poses_hz, ..settings(5000) });
        let mut camera = OrbitCamera { distance: 20.0, ..OrbitCamera::default() };
        camera.orbit(0.4, 0.3);
        let frustum = Frustum::from_clip_from_world(camera.clip_from_world(1.5));
        let detail = Detail::new(&camera, 720, 1.0);
        let to_light = Some(Vec3::new(0.4, 0.8, 0.3).normalize());
        let mut cull = |pool: Option<&ThreadPool>| {
            crowd.cull(pool, Some(&frustum), to_light, &detail);
            (crowd.visible_poses().to_vec(), instances_of(&crowd))
        };
        let expected = cull(None);
        assert!(expected.1.len() > 100 && expected.1.len() < 5000, "{}", expected.1.len());
        for threads in [1, 3] {
            let pool = thread_pool(Some(threads)).unwrap();
            assert!(cull(Some(&pool)) == expected, "{threads} threads, {share_poses_hz:?}");
        }
    }
}

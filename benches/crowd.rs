//! What a crowd costs the CPU in each frame: `cargo bench --bench crowd`.
//!
//! Before criterion's figures it prints what a second thread brings, all ways interleaved.

mod common;

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{interleaved, measures, model_paths, timed_ns};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::Vec3;
use rayon::ThreadPool;
use throng::animation::PoseStreams;
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, thread_pool, with_threads_awake};
use throng::model::Model;
use throng::model::import::load;
use throng::shader_types::{InstanceData, JointMatrix};
use throng::view::{Frustum, OrbitCamera};

fn crowd(model: &Model, instance_count: u32, share_poses_hz: Option<f64>) -> Crowd {
    let models = Arc::from([model.clone()]);
    let settings =
        CrowdSettings { instance_count, clip: ClipChoice::Index(0), share_poses_hz, ..CrowdSettings::default() };
    Crowd::new(models, &settings).unwrap()
}

/// A frame's joint matrices.
fn evaluate(crowd: &mut Crowd, pool: &ThreadPool, palette: &mut [MaybeUninit<JointMatrix>]) {
    let mut morph_weights = vec![MaybeUninit::uninit(); crowd.visible_morph_weight_count()];
    crowd.evaluate(pool, 0.7, PoseStreams { palette, morph_weights: &mut morph_weights });
}

fn palette(crowd: &Crowd) -> Vec<MaybeUninit<JointMatrix>> {
    vec![MaybeUninit::new(JointMatrix { rows: [[0.0; 4]; 3] }); crowd.visible_joint_count()]
}

/// A frame of `crowd` on two threads that both wait for the GPU first, as frames do; returns the nanoseconds that joint
/// matrices take thereafter.
fn evaluate_awake_ns(crowd: &mut Crowd, pool: &ThreadPool, palette: &mut [MaybeUninit<JointMatrix>]) -> f64 {
    const GPU_TIME: Duration = Duration::from_micros(500);
    let gpu_done = Instant::now() + GPU_TIME;
    let wait = || std::thread::sleep(gpu_done.saturating_duration_since(Instant::now()));
    with_threads_awake(pool, usize::MAX, wait, |work| {
        wait();
        crowd.cull(None, None);
        work.begins();
        let started = Instant::now();
        evaluate(crowd, pool, palette);
        started.elapsed().as_secs_f64() * 1e9
    })
}

/// See the module.
fn threads(models: &[Model], one: &ThreadPool, two: &ThreadPool) {
    println!(
        "ns per joint, medians; two threads, of which the second is woken when there is work, or by the frame's start"
    );
    println!("                           one thread   two, woken  ratio   two, awake  ratio");
    for model in models {
        for count in [1_000, 10_000] {
            let mut crowds: [Crowd; 3] = std::array::from_fn(|_| crowd(model, count, None));
            let mut palettes = crowds.each_ref().map(palette);
            let ([a, b, c], [palette_a, palette_b, palette_c]) = (&mut crowds, &mut palettes);
            let joints = palette_a.len() as f64;
            let mut on_one = || timed_ns(|| evaluate(a, one, palette_a));
            let mut on_two = || timed_ns(|| evaluate(b, two, palette_b));
            let mut on_two_awake = || evaluate_awake_ns(c, two, palette_c);
            let [one, woken, awake] = interleaved([&mut on_one, &mut on_two, &mut on_two_awake]).map(|ns| ns / joints);
            let ratios = [woken, awake].map(|two| format!("{two:>12.1} {:>6.2}", one / two)).join(" ");
            println!("{:>20} {count:>6} {one:>9.1} {ratios}", model.name);
        }
    }
}

fn frames(criterion: &mut Criterion) {
    let models: Vec<Model> = model_paths().iter().map(|path| load(path).unwrap()).collect();
    // The first one takes this thread in, so it must be the one with several.
    let [two, one] = [2, 1].map(|threads| thread_pool(Some(threads)).unwrap());
    if measures() {
        threads(&models, &one, &two);
    }
    for model in &models {
        const INSTANCES: u32 = 1_000;
        let mut group = criterion.benchmark_group(&model.name);
        group.throughput(Throughput::Elements(INSTANCES.into()));
        let mut all = crowd(model, INSTANCES, None);
        let mut camera = OrbitCamera::framing(&all.bounds(), 16.0 / 9.0);
        camera.zoom(0.5);
        let frustum = Frustum::from_clip_from_world(camera.clip_from_world(16.0 / 9.0));
        let to_light = Vec3::new(0.4, 0.8, 0.3).normalize();
        group.bench_function("cull", |bencher| {
            bencher.iter(|| all.cull(black_box(Some(&frustum)), black_box(Some(to_light))));
        });
        all.cull(None, None);
        let mut out = palette(&all);
        group.bench_function("evaluate on two threads", |bencher| {
            bencher.iter(|| evaluate(&mut all, &two, black_box(&mut out)));
        });
        let mut instances: Vec<MaybeUninit<InstanceData>> = vec![MaybeUninit::uninit(); INSTANCES as usize];
        group.bench_function("write instances", |bencher| {
            bencher.iter(|| all.write_instances(black_box(&mut instances), |_, rank| rank));
        });
        let mut shared = crowd(model, INSTANCES, Some(10.0));
        let mut out = palette(&shared);
        group.bench_function("evaluate poses shared at 10 Hz", |bencher| {
            bencher.iter(|| evaluate(&mut shared, &two, black_box(&mut out)));
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = frames
}
criterion_main!(benches);

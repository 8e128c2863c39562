//! The time that a crowd takes on the CPU in each frame: `cargo bench --bench crowd`.
//!
//! Before criterion's figures it prints the stages of a frame of 10,000 and 100,000 characters on one and on two threads, and
//! how long picking takes. With [`FRAMES_VARIABLE`] it only draws frames, for `benches/instructions.py`.

mod common;

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use common::{measures, model_paths, timed_ns};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::{Vec2, Vec3};
use rayon::ThreadPool;
use throng::animation::{MemoryKind, PoseStreams};
use throng::crowd::{ClipChoice, Crowd, CrowdSettings, FramePlan, PoseSize, thread_pool};
use throng::levels::build;
use throng::model::Model;
use throng::model::import::load;
use throng::shader_types::{InstanceData, JointMatrix};
use throng::view::{Detail, Frustum, OrbitCamera, Ray};

/// The number of frames to draw on one thread, without any measurement.
const FRAMES_VARIABLE: &str = "THRONG_BENCH_FRAMES";
/// The number of characters in these frames, and the file of their model.
const CROWD_VARIABLES: [&str; 2] = ["THRONG_BENCH_CHARACTERS", "THRONG_BENCH_MODEL"];

fn with_levels(path: &Path) -> Model {
    let mut model = load(path).unwrap();
    build(&mut model);
    model
}

fn crowd(model: &Model, instance_count: u32, share_poses_hz: Option<f64>) -> Crowd {
    let models = Arc::from([model.clone()]);
    let settings =
        CrowdSettings { instance_count, clip: ClipChoice::Index(0), share_poses_hz, ..CrowdSettings::default() };
    Crowd::new(models, &settings).unwrap()
}

fn plan(crowd: &Crowd) -> FramePlan {
    let sizes: Vec<PoseSize> = crowd.models().iter().map(PoseSize::of).collect();
    let mut plan = FramePlan::default();
    plan.rebuild(&sizes, crowd.visible_poses(), 1 << 27).unwrap();
    plan
}

/// Evaluates the joint matrices of a frame.
fn evaluate(crowd: &mut Crowd, pool: &ThreadPool, plan: &FramePlan, palette: &mut [MaybeUninit<JointMatrix>]) {
    let mut morph_weights = vec![MaybeUninit::uninit(); plan.morph_weight_count as usize];
    let streams = PoseStreams { palette, morph_weights: &mut morph_weights, memory: MemoryKind::Cached };
    crowd.evaluate(pool, 0.7, plan, streams);
}

fn palette(plan: &FramePlan) -> Vec<MaybeUninit<JointMatrix>> {
    vec![MaybeUninit::new(JointMatrix { rows: [[0.0; 4]; 3] }); plan.joint_count as usize]
}

/// The stages of a frame on the CPU, in order.
const STAGES: [&str; 4] = ["cull", "plan", "evaluate", "write"];

/// The CPU half of frames: a crowd in levels of detail, and memory in the place of the GPU's.
struct Frames<'p> {
    crowd: Crowd,
    pool: &'p ThreadPool,
    sizes: Vec<PoseSize>,
    plan: FramePlan,
    frustum: Frustum,
    detail: Detail,
    palette: Vec<MaybeUninit<JointMatrix>>,
    instances: Vec<MaybeUninit<InstanceData>>,
}

impl<'p> Frames<'p> {
    fn new(model: &Model, instance_count: u32, pool: &'p ThreadPool) -> Self {
        let crowd = crowd(model, instance_count, None);
        let camera = OrbitCamera::framing(&crowd.outline(0.0), 16.0 / 9.0);
        let plan = plan(&crowd);
        Self {
            sizes: crowd.models().iter().map(PoseSize::of).collect(),
            frustum: Frustum::from_clip_from_world(camera.clip_from_world(16.0 / 9.0)),
            detail: Detail::new(&camera, 720, 1.0),
            palette: palette(&plan),
            instances: vec![MaybeUninit::new(bytemuck::Zeroable::zeroed()); instance_count as usize],
            crowd,
            pool,
            plan,
        }
    }

    /// Returns the milliseconds of each stage.
    fn draw(&mut self) -> [f64; STAGES.len()] {
        let Self { crowd, pool, sizes, plan, frustum, detail, palette, instances } = self;
        let cull = timed_ns(|| crowd.cull(Some(pool), Some(frustum), None, detail));
        let planned = timed_ns(|| plan.rebuild(sizes, crowd.visible_poses(), 1 << 27).unwrap());
        let palette = &mut palette[..plan.joint_count as usize];
        let evaluated = timed_ns(|| evaluate(crowd, pool, plan, palette));
        let written = timed_ns(|| crowd.write_instances(pool, &mut instances[..plan.instance_count as usize]));
        [cull, planned, evaluated, written].map(|ns| ns / 1e6)
    }
}

/// Prints the time of each stage on one and on two threads. By Amdahl's law a share of `2 T2 / T1 - 1` stays on one thread.
fn stages(models: &[Model], pools: [&ThreadPool; 2]) {
    const ROUNDS: usize = 15;
    println!("ms of a frame without a GPU, all in view, levels of one pixel: medians of {ROUNDS} rounds in turns");
    println!("{:>20} characters threads {:>8} {:>8} {:>8} {:>8}      all", "", "cull", "plan", "evaluate", "write");
    for (model, count) in models.iter().flat_map(|model| [10_000, 100_000].map(|count| (model, count))) {
        let mut frames = pools.map(|pool| Frames::new(model, count, pool));
        let mut samples = [const { [const { Vec::new() }; STAGES.len() + 1] }; 2];
        for _ in 0..ROUNDS {
            for (frames, samples) in frames.iter_mut().zip(&mut samples) {
                let [cull, plan, evaluate, write] = frames.draw();
                let all = cull + plan + evaluate + write;
                samples.iter_mut().zip([cull, plan, evaluate, write, all]).for_each(|(samples, ms)| samples.push(ms));
            }
        }
        let medians = samples.map(|samples| {
            samples.map(|mut samples| {
                samples.sort_by(f64::total_cmp);
                samples[ROUNDS / 2]
            })
        });
        for (threads, medians) in (1..).zip(&medians) {
            let columns: String = medians.iter().map(|ms| format!(" {ms:>8.3}")).collect();
            println!("{:>20} {count:>10} {threads:>7}{columns}", model.name);
        }
        let serial = 2.0 * medians[1][STAGES.len()] / medians[0][STAGES.len()] - 1.0;
        println!("{:>20} {count:>10} {:.0} % stays on one thread", model.name, 100.0 * serial);
    }
}

/// Prints how long it takes to pick a character in a crowd of 10,000, through 100 pixels of the first picture.
fn picks(models: &[Model]) {
    println!("us for picking one of 10,000: median, worst, hits of 100");
    for model in models {
        let crowd = crowd(model, 10_000, None);
        let camera = OrbitCamera::framing(&crowd.outline(0.7), 16.0 / 9.0);
        let place = |k: u32| (k as f32 + 0.5) / 10.0;
        let rays = (0..100).map(|k| Ray::through(&camera, 16.0 / 9.0, Vec2::new(place(k % 10), place(k / 10))));
        let mut hits = 0;
        let mut times: Vec<f64> = rays
            .map(|ray| {
                hits += usize::from(crowd.pick(&ray, 0.7).is_some());
                let once = || timed_ns(|| _ = black_box(crowd.pick(black_box(&ray), 0.7)));
                // The best of some, because other programs interrupt.
                (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{:>20} {:>8.0} {:>8.0} {hits:>4}", model.name, times[50] / 1e3, times[99] / 1e3);
    }
}

fn frames(criterion: &mut Criterion) {
    let models: Vec<Model> = model_paths().iter().map(|path| with_levels(path)).collect();
    // The first one takes this thread in, so it must be the one with several.
    let [two, one] = [2, 1].map(|threads| thread_pool(Some(threads)).unwrap());
    if let Ok(count) = std::env::var(FRAMES_VARIABLE) {
        let [characters, file] = CROWD_VARIABLES.map(|variable| std::env::var(variable).unwrap());
        let mut frames = Frames::new(&with_levels(Path::new(&file)), characters.parse().unwrap(), &one);
        (0..count.parse().unwrap()).for_each(|_| _ = frames.draw());
        return;
    }
    if measures() {
        stages(&models, [&one, &two]);
        picks(&models);
    }
    for model in &models {
        const INSTANCES: u32 = 1_000;
        let mut group = criterion.benchmark_group(&model.name);
        group.throughput(Throughput::Elements(INSTANCES.into()));
        let mut all = crowd(model, INSTANCES, None);
        let mut camera = OrbitCamera::framing(&all.outline(0.0), 16.0 / 9.0);
        camera.zoom(0.5);
        let frustum = Frustum::from_clip_from_world(camera.clip_from_world(16.0 / 9.0));
        let to_light = Vec3::new(0.4, 0.8, 0.3).normalize();
        group.bench_function("cull on two threads", |bencher| {
            bencher.iter(|| all.cull(Some(&two), black_box(Some(&frustum)), black_box(Some(to_light)), &Detail::FULL));
        });
        all.cull(None, None, None, &Detail::FULL);
        let plan_of_all = plan(&all);
        let mut out = palette(&plan_of_all);
        let sizes: Vec<PoseSize> = all.models().iter().map(PoseSize::of).collect();
        let mut planned = FramePlan::default();
        group.bench_function("plan", |bencher| {
            bencher.iter(|| planned.rebuild(&sizes, black_box(all.visible_poses()), 1 << 27));
        });
        group.bench_function("evaluate on two threads", |bencher| {
            bencher.iter(|| evaluate(&mut all, &two, &plan_of_all, black_box(&mut out)));
        });
        let mut instances: Vec<MaybeUninit<InstanceData>> = vec![MaybeUninit::uninit(); INSTANCES as usize];
        group.bench_function("write instances on two threads", |bencher| {
            bencher.iter(|| all.write_instances(&two, black_box(&mut instances)));
        });
        let mut shared = crowd(model, INSTANCES, Some(10.0));
        let plan_of_shared = plan(&shared);
        let mut out = palette(&plan_of_shared);
        group.bench_function("evaluate poses shared at 10 Hz", |bencher| {
            bencher.iter(|| evaluate(&mut shared, &two, &plan_of_shared, black_box(&mut out)));
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

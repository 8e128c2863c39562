//! How long evaluating instances takes, step by step and whole: `cargo bench --bench animation`.
//!
//! Before criterion's figures it prints a table: nanoseconds for each joint matrix of a crowd on one thread, beside what
//! writing the same bytes to memory takes, both interleaved in the same seconds, because machines drift. Each instance
//! is at a time of its own.

mod common;

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Duration;

use common::{interleaved, measures, model_paths, timed_ns};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use throng::animation::lanes::{LaneClip, LaneScratch, Processor};
use throng::animation::{
    PoseScratch, PoseStreams, SampleScratch, evaluate, lanes, model_from_nodes, pose_model, sample_clip, write_palette,
};
use throng::model::import::load;
use throng::model::{Clip, Model};
use throng::shader_types::JointMatrix;

fn models() -> Vec<Model> {
    model_paths().iter().map(|path| load(path).unwrap()).collect()
}

/// The longest clip: that one has the most keys.
fn clip_of(model: &Model) -> &Clip {
    model.clips.iter().max_by(|a, b| a.duration_seconds.total_cmp(&b.duration_seconds)).unwrap()
}

/// Spread over the clip without order, as in a crowd.
fn times(clip: &Clip, count: usize) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * 0.618_033_988_75).fract() * f64::from(clip.duration_seconds)).collect()
}

type Palette = Vec<MaybeUninit<JointMatrix>>;

fn palette(model: &Model, count: usize) -> Palette {
    vec![MaybeUninit::new(JointMatrix { rows: [[0.0; 4]; 3] }); model.palette.len() * count]
}

/// The table of the module's head.
fn side_by_side() {
    println!("ns per joint, one thread, medians      evaluated  portable  one by one    written  ratio");
    for model in models() {
        let clip = clip_of(&model);
        let Some(compiled) = LaneClip::compile(&model, Some(clip)) else { continue };
        for count in [1_000, 10_000] {
            let times = times(clip, count);
            let joints = model.palette.len() * count;
            let (mut a, mut b, mut c, mut d) =
                (palette(&model, count), palette(&model, count), palette(&model, count), palette(&model, count));
            let (mut scratch, mut scratch_portable) = (LaneScratch::default(), LaneScratch::default());
            let mut pose_scratch = PoseScratch::for_model(&model);
            let processor = Processor::detect();
            let mut fast = || timed_ns(|| lanes::evaluate(processor, &compiled, &times, &mut scratch, &mut a));
            let mut portable =
                || timed_ns(|| lanes::evaluate(Processor::Portable, &compiled, &times, &mut scratch_portable, &mut b));
            let mut one_by_one = || {
                timed_ns(|| {
                    for (time_seconds, palette) in times.iter().zip(c.chunks_exact_mut(model.palette.len())) {
                        let out = PoseStreams { palette, morph_weights: &mut [] };
                        evaluate(&model, Some(clip), *time_seconds, &mut pose_scratch, out);
                    }
                })
            };
            let matrix = black_box(JointMatrix { rows: [[1.0; 4]; 3] });
            let mut write = || timed_ns(|| d.iter_mut().for_each(|element| _ = black_box(element).write(matrix)));
            let figures = interleaved([&mut fast, &mut portable, &mut one_by_one, &mut write]);
            let [fast, portable, one_by_one, written] = figures.map(|ns| ns / joints as f64);
            println!(
                "{:>16} {:>6} x {:>3} joints     {fast:>8.1}  {portable:>8.1}    {one_by_one:>8.1}   {written:>8.1}  {:>5.1}",
                model.name,
                count,
                model.palette.len(),
                fast / written
            );
        }
    }
}

fn steps(criterion: &mut Criterion) {
    if measures() {
        side_by_side();
    }
    for model in models() {
        let clip = clip_of(&model);
        let mut group = criterion.benchmark_group(&model.name);
        group.throughput(Throughput::Elements(model.palette.len() as u64));
        let mut local = model.skeleton.rest.clone();
        let mut sample_scratch = SampleScratch::with_capacity(clip.timelines.len());
        let mut moments = times(clip, 1_000).into_iter().cycle();
        group.bench_function("sample", |bencher| {
            bencher.iter(|| sample_clip(clip, moments.next().unwrap(), &mut sample_scratch, black_box(&mut local)));
        });
        let mut model_from_node = vec![glam::Affine3A::IDENTITY; model.skeleton.len()];
        group.bench_function("hierarchy", |bencher| {
            bencher.iter(|| model_from_nodes(&model.skeleton, black_box(&local), black_box(&mut model_from_node)));
        });
        let mut out = palette(&model, 1);
        group.bench_function("palette", |bencher| {
            bencher.iter(|| write_palette(&model.palette, black_box(&model_from_node), black_box(&mut out)));
        });
        let mut scratch = PoseScratch::for_model(&model);
        group.bench_function("all three", |bencher| {
            bencher.iter(|| {
                let pose = pose_model(&model, Some(clip), moments.next().unwrap(), &mut scratch);
                write_palette(&model.palette, pose.model_from_node, black_box(&mut out));
            });
        });
        if let Some(compiled) = LaneClip::compile(&model, Some(clip)) {
            let eight: Vec<f64> = times(clip, lanes::GROUP_INSTANCES);
            let mut scratch = LaneScratch::default();
            let mut out = palette(&model, eight.len());
            group.throughput(Throughput::Elements((model.palette.len() * eight.len()) as u64));
            group.bench_function("all three, eight instances", |bencher| {
                bencher.iter(|| {
                    lanes::evaluate(
                        Processor::detect(),
                        &compiled,
                        black_box(&eight),
                        &mut scratch,
                        black_box(&mut out),
                    );
                });
            });
            group.bench_function("compile", |bencher| {
                bencher.iter(|| LaneClip::compile(black_box(&model), Some(clip)));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800));
    targets = steps
}
criterion_main!(benches);

//! The time that evaluating instances takes, in total and step by step: `cargo bench --bench animation`.
//!
//! First it prints a table of nanoseconds for each joint matrix of a crowd, on one thread. Its columns are the ways of
//! evaluation, from the textbook to the lanes: matrices by recursion for each joint, one loop over sorted nodes (the
//! plain functions), and lanes without AVX2, with it, and block by block as for write-combined memory. The last column
//! only writes the same number of bytes. All columns are interleaved, because machines drift. Each instance has a
//! different time. A second table compares instances in a crossfade of two clips with instances that play one of them.

mod common;

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Duration;

use common::{interleaved, measures, model_paths, timed_ns};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use glam::Affine3A;
use throng::animation::lanes::{LaneBlend, LaneClip, LaneScratch, LaneSource, Processor};
use throng::animation::{
    MemoryKind, PoseScratch, SampleScratch, lanes, model_from_nodes, pose_model, sample_clip, write_palette,
};
use throng::model::import::load;
use throng::model::{Clip, LocalPose, Model, NO_PARENT, Skeleton};
use throng::shader_types::JointMatrix;

fn models() -> Vec<Model> {
    model_paths().iter().map(|path| load(path).unwrap()).collect()
}

/// Returns the longest clip, which has the most keys.
fn clip_of(model: &Model) -> &Clip {
    model.clips.iter().max_by(|a, b| a.duration_seconds.total_cmp(&b.duration_seconds)).unwrap()
}

/// Returns times that are spread over the clip without order, as in a crowd.
fn times(clip: &Clip, count: usize) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * 0.618_033_988_75).fract() * f64::from(clip.duration_seconds)).collect()
}

type Palette = Vec<MaybeUninit<JointMatrix>>;

fn palette(model: &Model, count: usize) -> Palette {
    vec![MaybeUninit::new(JointMatrix { rows: [[0.0; 4]; 3] }); model.palette.len() * count]
}

/// The textbook way: the matrix of a node is that of its parent, by recursion up to the root, times its own.
fn model_from_node(skeleton: &Skeleton, local: &LocalPose, node: u32) -> Affine3A {
    let fixed = skeleton.fixed_locals.binary_search_by_key(&node, |fixed| fixed.node);
    let parent_from_node = match (fixed, node as usize) {
        (Ok(fixed), _) => skeleton.fixed_locals[fixed].parent_from_node,
        (Err(_), node) => Affine3A::from_scale_rotation_translation(
            local.scales[node],
            local.rotations[node],
            local.translations[node],
        ),
    };
    match skeleton.parents[node as usize] {
        NO_PARENT => parent_from_node,
        parent => model_from_node(skeleton, local, parent) * parent_from_node,
    }
}

/// Prints the table that the module describes.
fn side_by_side() {
    println!("ns per joint, one thread, medians    recursive  one by one  portable     lanes    blocks   written");
    for model in models() {
        let clip = clip_of(&model);
        let Some(compiled) = LaneClip::compile(&model, Some(clip)) else { continue };
        for count in [1_000, 10_000] {
            let times = times(clip, count);
            let joints = model.palette.len();
            let mut outs: [Palette; 6] = std::array::from_fn(|_| palette(&model, count));
            let [a, b, c, d, e, f] = &mut outs;
            let (mut local, mut sampled) = (model.skeleton.rest.clone(), SampleScratch::default());
            let mut recursive = || {
                timed_ns(|| {
                    for (time_seconds, palette) in times.iter().zip(a.chunks_exact_mut(joints)) {
                        sample_clip(clip, *time_seconds, &mut sampled, &mut local);
                        let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
                        for (out, (&node, joint_from_mesh)) in palette.iter_mut().zip(entries) {
                            let model_from_joint = model_from_node(&model.skeleton, &local, node);
                            out.write((model_from_joint * *joint_from_mesh).into());
                        }
                    }
                })
            };
            let mut scratch = PoseScratch::for_model(&model);
            let mut one_by_one = || {
                timed_ns(|| {
                    for (time_seconds, palette) in times.iter().zip(b.chunks_exact_mut(joints)) {
                        let pose = pose_model(&model, Some(clip), *time_seconds, &mut scratch);
                        write_palette(&model.palette, pose.model_from_node, palette);
                    }
                })
            };
            let in_lanes = |processor, memory, out: &mut Palette| {
                let mut scratch = LaneScratch::default();
                let source = LaneSource { clip: &compiled, times_seconds: &times };
                timed_ns(|| lanes::evaluate(processor, source, None, &mut scratch, memory, out))
            };
            let mut portable = || in_lanes(Processor::PORTABLE, MemoryKind::Cached, c);
            let mut fast = || in_lanes(Processor::detect(), MemoryKind::Cached, d);
            let mut blocks = || in_lanes(Processor::detect(), MemoryKind::WriteCombined, e);
            let matrix = black_box(JointMatrix { rows: [[1.0; 4]; 3] });
            let mut write = || timed_ns(|| f.iter_mut().for_each(|element| _ = black_box(element).write(matrix)));
            let figures =
                interleaved([&mut recursive, &mut one_by_one, &mut portable, &mut fast, &mut blocks, &mut write]);
            let figures: Vec<String> =
                figures.iter().map(|ns| format!("{:>10.1}", ns / (joints * count) as f64)).collect();
            println!("{:>16} {count:>6} x {joints:>3} joints {}", model.name, figures.join(""));
        }
    }
}

/// Prints what a crossfade of the two longest clips costs in lanes, or of the only clip with itself.
fn crossfades() {
    println!("ns per joint, one thread, medians  longest clip  next one  crossfade  of the mean");
    for model in models() {
        let mut clips: Vec<&Clip> = model.clips.iter().collect();
        clips.sort_by(|a, b| b.duration_seconds.total_cmp(&a.duration_seconds));
        let pair = [clips[0], clips[1 % clips.len()]];
        let [Some(a), Some(b)] = pair.map(|clip| LaneClip::compile(&model, Some(clip))) else { continue };
        let mut blend = LaneBlend::compile(&model, pair.map(Some));
        for count in [1_000, 10_000] {
            let times = pair.map(|clip| times(clip, count));
            let mut outs: [Palette; 3] = std::array::from_fn(|_| palette(&model, count));
            let [out_a, out_b, out_blend] = &mut outs;
            let (processor, memory) = (Processor::detect(), MemoryKind::Cached);
            let one = |clip: &LaneClip, times_seconds: &[f64], out: &mut Palette| {
                let mut scratch = LaneScratch::default();
                timed_ns(|| {
                    lanes::evaluate(processor, LaneSource { clip, times_seconds }, None, &mut scratch, memory, out)
                })
            };
            let mut longest = || one(&a, &times[0], out_a);
            let mut next = || one(&b, &times[1], out_b);
            let mut both = || {
                let source = |clip, times_seconds| LaneSource { clip, times_seconds };
                let (first, second) = (source(&a, &times[0]), source(&b, &times[1]));
                let mut scratch = LaneScratch::default();
                timed_ns(|| {
                    blend.set_weight(0.4);
                    lanes::evaluate(processor, first, Some((&blend, second)), &mut scratch, memory, out_blend);
                })
            };
            let joints = (model.palette.len() * count) as f64;
            let [a, b, both] = interleaved([&mut longest, &mut next, &mut both]).map(|ns| ns / joints);
            let ratio = 2.0 * both / (a + b);
            println!("{:>27} {count:>6} {a:>13.1} {b:>9.1} {both:>10.1} {ratio:>8.2} x", model.name);
        }
    }
}

fn steps(criterion: &mut Criterion) {
    if measures() {
        side_by_side();
        crossfades();
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
        let mut model_from_node = vec![Affine3A::IDENTITY; model.skeleton.len()];
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
                        LaneSource { clip: &compiled, times_seconds: black_box(&eight) },
                        None,
                        &mut scratch,
                        MemoryKind::Cached,
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

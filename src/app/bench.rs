//! `bench`: frames as fast as they come, offscreen, and what each stage of them costs.
//!
//! Nothing is measured while pipelines are built or pages fault in: the warm-up frames see to that. All figures are in
//! milliseconds; GPU times come from timestamps around each pass, CPU times from the monotonic clock. The rate of a
//! device-to-device copy, measured in the same process, gives the skin pass a yardstick.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use ash::vk;

use super::bench_report::{Bytes, CpuSummary, GpuSummary, Run, Summary, as_text, report, write_json};
use super::gpu::{FRAMES_IN_FLIGHT, finish, offscreen_renderer};
use super::render::progress_bar;
use super::scene::{CpuTimes, Scene, load_models};
use crate::cli::{BenchArgs, Switch};
use crate::model::Model;
use crate::renderer::{ByteCounts, GpuTimes, Renderer, Skinning};
use crate::vulkan::barrier::{Access, cmd_memory_barrier};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::PhysicalDevice;

/// Runs the command.
///
/// # Errors
/// What loading, rendering or writing says.
pub fn run(args: &BenchArgs) -> Result<()> {
    let models = load_models(&args.scene.models, &args.scene.scene)?;
    if let Some(path) = &args.json {
        // Before anything is measured, rather than after.
        let probe = std::fs::OpenOptions::new().append(true).create(true).open(path);
        probe.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut device = None;
    let mut runs = Vec::new();
    let mut failure = None;
    for &instances in &args.instances {
        match measure_one(args, &models, instances) {
            Ok((run, physical)) => {
                runs.push(run);
                device = Some(physical);
            }
            Err(error) => {
                let several = args.instances.len() > 1;
                failure = Some(if several {
                    error.context(format!("the run of {instances} instances failed"))
                } else {
                    error
                });
                break;
            }
        }
    }
    // What was measured before a failure is not lost.
    if let Some(device) = device {
        super::print(&as_text(&device, &runs))?;
        if let Some(path) = &args.json {
            write_json(path, &report(&device, runs)).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    failure.map_or(Ok(()), Err)
}

fn measure_one(args: &BenchArgs, models: &Arc<[Model]>, instances: u32) -> Result<(Run, PhysicalDevice)> {
    let mut renderer = offscreen_renderer(&args.gpu, models, FRAMES_IN_FLIGHT)?;
    let copy_bytes_per_second = copy_rate(renderer.device())?;
    let run = measure(args, models, instances, &mut renderer, copy_bytes_per_second)?;
    let physical = renderer.device().physical.clone();
    finish(renderer)?;
    Ok((run, physical))
}

fn measure(
    args: &BenchArgs,
    models: &Arc<[Model]>,
    instances: u32,
    renderer: &mut Renderer,
    copy_bytes_per_second: f64,
) -> Result<Run> {
    let size = args.gpu.size;
    let mut scene = Scene::new(Arc::clone(models), &args.scene, instances, size.aspect())?;
    let progress = progress_bar(u64::from(args.warmup + args.frames), "measuring");
    let mut frame_ms = Vec::with_capacity(args.frames as usize);
    let mut cpu: Vec<CpuTimes> = Vec::with_capacity(args.frames as usize);
    let mut gpu: Vec<GpuTimes> = Vec::with_capacity(args.frames as usize);
    let mut time_seconds = args.scene.time;
    let lag = renderer.frames_in_flight();
    let (first, end) = (args.warmup as usize, (args.warmup + args.frames) as usize);
    let mut last_return = Instant::now();
    // The queue stays full from the first measured frame to the last: a frame's time is the interval between two
    // returns, so the GPU's part counts for the frame that waits for it. Its own times come `lag` frames later.
    for frame in 0..end + lag {
        let (_, times) = scene.draw(renderer, time_seconds, size.aspect(), false)?;
        let now = Instant::now();
        if (first..end).contains(&frame) {
            frame_ms.push((now - last_return).as_secs_f64() * 1e3);
            cpu.push(times);
        }
        if frame >= first + lag {
            gpu.extend(renderer.gpu_times());
        }
        last_return = now;
        // A fixed step: every run animates the same moments, however fast it is.
        time_seconds += 1.0 / 60.0;
        progress.inc(1);
    }
    renderer.wait()?;
    progress.finish_and_clear();

    let counts = scene.crowd.visible_counts();
    let visible: u32 = counts.iter().sum();
    let per_instance = |of: fn(&Model) -> usize| {
        let total: f64 = models.iter().zip(counts).map(|(model, &count)| of(model) as f64 * f64::from(count)).sum();
        total / f64::from(visible.max(1))
    };
    let joints = per_instance(|model| model.palette.len());
    let vertices = per_instance(|model| model.geometry.vertex_count());
    let summary = |of: fn(&CpuTimes) -> f64| Summary::new(cpu.iter().map(of).collect());
    let gpu_summary = |of: fn(&GpuTimes) -> f64| Summary::new(gpu.iter().map(of).collect());
    let cpu_ms = CpuSummary {
        cull: summary(|times| times.cull_ms),
        animate: summary(|times| times.animate_ms),
        record: summary(|times| times.record_ms),
        wait: summary(|times| times.wait_ms),
    };
    let gpu_ms = (!gpu.is_empty()).then(|| GpuSummary {
        upload: gpu_summary(|times| times.upload_ms),
        skin: gpu_summary(|times| times.skin_ms),
        shadow: gpu_summary(|times| times.shadow_ms),
        draw: gpu_summary(|times| times.draw_ms),
        post: gpu_summary(|times| times.post_ms),
    });
    let ByteCounts { palette, skinned_vertices, static_data, total_device } = renderer.byte_counts();
    let per_second = |amount: f64, ms: f64| amount / (ms * 1e-3).max(1e-9);
    let skin_ms = gpu_ms.as_ref().map(|gpu| gpu.skin.median).filter(|&ms| ms > 0.0 && skinned_vertices > 0);
    Ok(Run {
        models: models.iter().map(|model| model.name.clone()).collect(),
        instances,
        visible,
        unique_poses: visible,
        joints,
        vertices,
        triangles: per_instance(|model| model.geometry.triangle_count()),
        width: size.width,
        height: size.height,
        msaa: args.gpu.msaa,
        shadows: args.gpu.shadows == Switch::On,
        skinning: Skinning::from(args.gpu.skinning).name(),
        upload: renderer.upload_path().name(),
        threads: scene.thread_count(),
        frames: args.frames,
        warmup: args.warmup,
        frame_ms: Summary::new(frame_ms),
        joints_per_second: per_second(joints * f64::from(visible), cpu_ms.animate.median),
        skinned_vertices_per_second: skin_ms.map(|ms| per_second(vertices * f64::from(visible), ms)),
        skin_bytes_per_second: skin_ms.map(|ms| per_second(skinned_vertices as f64, ms)),
        cpu_ms,
        gpu_ms,
        bytes: Bytes { palette, skinned_vertices, static_data, total_device },
        copy_bytes_per_second,
    })
}

/// Bytes per second of device-to-device buffer copies, many to a submission so that submitting does not count: the
/// median of a few tries.
fn copy_rate(device: &Arc<Device>) -> Result<f64> {
    const SIZE_BYTES: u64 = 64 << 20;
    const COPIES: u32 = 8;
    const TRIES: usize = 5;
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let from = Buffer::new(device, "copy source", SIZE_BYTES, usage, BufferMemory::Device)?;
    let to = Buffer::new(device, "copy destination", SIZE_BYTES, usage, BufferMemory::Device)?;
    submit_and_wait(device, "fill", |commands| {
        // SAFETY: the buffer is alive; a multiple of four bytes is filled.
        unsafe { device.raw.cmd_fill_buffer(commands, from.raw, 0, vk::WHOLE_SIZE, 0x3f80_0000) };
        Ok(())
    })?;
    let mut rates = Vec::new();
    for _ in 0..TRIES {
        let started = Instant::now();
        submit_and_wait(device, "copy", |commands| {
            let regions = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: SIZE_BYTES }];
            for _ in 0..COPIES {
                // Each copy overwrites what the one before wrote (WAW); the first also reads what was filled in (RAW).
                cmd_memory_barrier(
                    device,
                    commands,
                    Access::TRANSFER_WRITE,
                    Access::TRANSFER_WRITE.and(Access::TRANSFER_READ),
                );
                // SAFETY: both buffers are alive and that large; every submission is waited for.
                unsafe { device.raw.cmd_copy_buffer(commands, from.raw, to.raw, &regions) };
            }
            Ok(())
        })?;
        rates.push(f64::from(COPIES) * SIZE_BYTES as f64 / started.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates[TRIES / 2])
}

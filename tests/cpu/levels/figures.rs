//! Figures of all sample models, for people.

use throng::levels;
use throng::model::{Clip, Model, import};

use super::measure::{distance_of_level, positions};
use super::samples::paths;
use crate::common::processor_time::of_this_process;

fn height(model: &Model) -> f64 {
    let posed = positions(model, None, 0.0);
    let ys = || posed.iter().map(|position| position.y);
    ys().fold(f64::NEG_INFINITY, f64::max) - ys().fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "prints figures"]
fn figures() {
    let only = std::env::var("ONLY").unwrap_or_default();
    let moments_per_clip: usize = std::env::var("DENSE").map_or(0, |text| text.parse().unwrap());
    let runs: usize = std::env::var("RUNS").map_or(1, |text| text.parse().unwrap());
    let mut ratios = Vec::new();
    let bundled = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/walker.glb"));
    for path in std::iter::once(bundled).chain(paths()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if !only.split(',').any(|part| name.contains(part)) {
            continue;
        }
        let mut times = Vec::new();
        let mut model = None;
        for _ in 0..runs {
            let (started, clock) = (of_this_process(), std::time::Instant::now());
            let Ok(mut loaded) = import::load(&path) else { break };
            let import_ms = (of_this_process() - started).as_secs_f64() * 1e3;
            let import_wall_ms = clock.elapsed().as_secs_f64() * 1e3;
            let (started, clock) = (of_this_process(), std::time::Instant::now());
            levels::build(&mut loaded);
            let wall_ms = clock.elapsed().as_secs_f64() * 1e3;
            times.push([import_ms, import_wall_ms, (of_this_process() - started).as_secs_f64() * 1e3, wall_ms]);
            model = Some(loaded);
        }
        let Some(model) = model else { continue };
        if model.geometry.coarser_levels.is_empty() && model.geometry.triangle_count() < 32 {
            continue;
        }
        let median = |of: usize| {
            let mut list: Vec<f64> = times.iter().map(|times| times[of]).collect();
            list.sort_by(f64::total_cmp);
            list[list.len() / 2]
        };
        let height = height(&model);
        println!(
            "{name}: {} triangles, {} vertices, {} ranges, {} clips, {} joints; import {:.1} ms, {:.1} of the processor, levels {:.1} ms, {:.1} of the processor",
            model.geometry.triangle_count(),
            model.geometry.vertex_count(),
            model.geometry.draw_ranges.len(),
            model.clips.len(),
            model.palette.len(),
            median(1),
            median(0),
            median(3),
            median(2),
        );
        let mut posed = vec![positions(&model, None, 0.0)];
        let clips: Vec<&Clip> = model.clips.iter().collect();
        for clip in &clips {
            posed.extend((0..moments_per_clip).map(|k| {
                let share = (k as f64 + 0.37) / moments_per_clip as f64;
                positions(&model, Some(clip), share * f64::from(clip.duration_seconds))
            }));
        }
        for (index, level) in model.geometry.coarser_levels.iter().enumerate() {
            let triangles: u32 = level.ranges.iter().map(|range| range.end - range.start).sum::<u32>() / 3;
            let mut measured = 0.0;
            if moments_per_clip > 0 {
                for posed in &posed {
                    measured = distance_of_level(&model, index + 1, posed, measured);
                }
                ratios.push(f64::from(level.error) / measured);
            }
            println!(
                "  {}: {triangles} triangles, {} vertices, error {:.5} ({:.2} % of the height), measured {:.5}, ratio {:.3}",
                index + 1,
                level.vertex_count,
                level.error,
                100.0 * f64::from(level.error) / height,
                measured,
                f64::from(level.error) / measured,
            );
        }
    }
    ratios.sort_by(f64::total_cmp);
    if let [least, .., most] = ratios[..] {
        println!("stated / measured: least {least:.3}, median {:.3}, most {most:.3}", ratios[ratios.len() / 2]);
    }
}

//! Measures the time to import a model, compared with the time to decode its images only, and the time to build its levels
//! of detail: `cargo bench --bench import`.
//!
//! Import and images use the same decoder with the same settings, so the difference is the cost of JSON, geometry, clips
//! and the checks of an untrusted file. The goal is at most 1.5 times the time of the images, or 20 ms. The goal for the
//! levels of detail is the time of import, or 50 ms.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::model_paths;
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::Value;
use throng::levels;
use throng::model::import::load;

/// Returns the encoded images of a GLB that its base colours use, which are those that import decodes.
fn drawn_images(glb: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let json_bytes = word(12);
    let json: Value = serde_json::from_slice(&glb[20..20 + json_bytes]).unwrap();
    let binary = &glb[28 + json_bytes..];
    let texture = |material: &Value| material["pbrMetallicRoughness"]["baseColorTexture"]["index"].as_u64();
    let materials = json["materials"].as_array().into_iter().flatten();
    let mut images: Vec<u64> = materials
        .filter_map(texture)
        .filter_map(|texture| json["textures"][texture as usize]["source"].as_u64())
        .collect();
    images.sort_unstable();
    images.dedup();
    let bytes = |image: u64| {
        let view = &json["bufferViews"][json["images"][image as usize]["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
        binary[start..start + view["byteLength"].as_u64().unwrap() as usize].to_vec()
    };
    images.into_iter().map(bytes).collect()
}

fn import(criterion: &mut Criterion) {
    for path in model_paths() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let images = drawn_images(&std::fs::read(&path).unwrap());
        let mut group = criterion.benchmark_group(name);
        group.bench_function("import", |bencher| bencher.iter(|| black_box(load(black_box(&path)).unwrap())));
        group.bench_function("images", |bencher| {
            bencher.iter(|| {
                for image in &images {
                    black_box(image::load_from_memory(black_box(image)).unwrap().into_rgba8());
                }
            });
        });
        let model = load(&path).unwrap();
        group.bench_function("levels", |bencher| {
            bencher.iter_batched_ref(|| model.clone(), levels::build, BatchSize::PerIteration);
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    // Models take one to a hundred milliseconds. Ten samples of both are enough for a ratio.
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = import
}
criterion_main!(benches);

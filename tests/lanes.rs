use std::mem::MaybeUninit;
use throng::animation::lanes::{self, LaneClip, LaneScratch, Processor};
use throng::animation::{PoseScratch, PoseStreams, evaluate};
use throng::model::import::load;
use throng::shader_types::JointMatrix;
#[test]
fn quick() {
    let dir = std::env::var("THRONG_SAMPLE_MODELS").unwrap();
    let mut stack = vec![std::path::PathBuf::from(dir)];
    let (mut clips, mut general) = (0, 0);
    while let Some(p) = stack.pop() {
        if p.is_dir() {
            stack.extend(std::fs::read_dir(p).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        if !matches!(p.extension().and_then(|e| e.to_str()), Some("glb" | "gltf")) {
            continue;
        }
        let Ok(model) = load(&p) else { continue };
        let n = model.palette.len();
        if n == 0 {
            continue;
        }
        let mut worst = [0.0f32; 2];
        for clip in model.clips.iter().map(Some).chain([None]) {
            clips += 1;
            let Some(c) = LaneClip::compile(&model, clip) else {
                general += 1;
                println!("{} general", p.display());
                continue;
            };
            let d = clip.map_or(0.0, |c| f64::from(c.duration_seconds));
            let mut times: Vec<f64> = (0..21).map(|k| k as f64 / 20.0 * d).collect();
            if let Some(clip) = clip {
                times.extend(clip.timelines.iter().flatten().take(50).map(|t| f64::from(*t)));
            }
            let mut scale = 1e-6f32;
            let mut expect = vec![MaybeUninit::<JointMatrix>::uninit(); n * times.len()];
            let mut ps = PoseScratch::for_model(&model);
            let mut w = vec![MaybeUninit::uninit(); model.morph_weight_count()];
            for (t, o) in times.iter().zip(expect.chunks_mut(n)) {
                evaluate(&model, clip, *t, &mut ps, PoseStreams { palette: o, morph_weights: &mut w });
            }
            for (which, pr) in [Processor::detect(), Processor::Portable].into_iter().enumerate() {
                let mut out = vec![MaybeUninit::<JointMatrix>::uninit(); n * times.len()];
                lanes::evaluate(pr, &c, &times, &mut LaneScratch::default(), &mut out);
                let e: Vec<JointMatrix> = expect.iter().map(|m| unsafe { m.assume_init() }).collect();
                let o: Vec<JointMatrix> = out.iter().map(|m| unsafe { m.assume_init() }).collect();
                for (a, b) in e.iter().zip(&o) {
                    for (x, y) in a.rows.as_flattened().iter().zip(b.rows.as_flattened()) {
                        scale = scale.max(x.abs());
                        worst[which] = worst[which].max((x - y).abs() / scale.max(1.0));
                    }
                }
            }
        }
        println!("{:60} {n:4} joints  {:e} {:e}", p.file_name().unwrap().to_string_lossy(), worst[0], worst[1]);
    }
    println!("{clips} clips, {general} general");
}

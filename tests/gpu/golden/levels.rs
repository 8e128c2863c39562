//! Levels of detail: a picture with levels is hardly farther from the truth than one in full detail.

use throng::levels;
use throng::model::Model;

use crate::common::assets::sample;
use crate::common::gpu::{Gpu, TestDevice, note};
use crate::common::scene::{self, JELLY, STRIP, WALKER};
use crate::common::truth;

/// The largest accepted distance from the truth with the default of `--lod-error`, compared with full detail, and the number of
/// samples. With four samples full detail is nearer to the truth, so the same difference is a larger share.
const MOST_RATIOS: [(f32, u32); 2] = [(1.05, 1), (1.15, 4)];

/// Draws a crowd of about 30 pixels each, with one sample and with four.
fn see(device: &TestDevice, models: &mut [Model]) {
    models.iter_mut().for_each(levels::build);
    for (most_ratio, samples) in MOST_RATIOS {
        let gpu = Gpu::new(device);
        let options = format!("--clip all --instances 100 --time 0.7 --size 320x180 --shadows off --msaa {samples}");
        let mut scene = scene::scene(models, &options);
        let settings = truth::settings(gpu.device(), &mut scene, &scene::arguments(&options), &[0.0, 1.0], 1).unwrap();
        drop(scene);
        let [full, levels] = [0, 1].map(|index| settings[index].mean_flip);
        note!("{}, {samples} samples: {full} and {levels}, {}", models[0].name, levels / full);
        assert!(levels <= most_ratio * full && levels != full, "{samples} samples: {full} and {levels}");
    }
}

pub fn nobody_sees_the_levels_of_a_mixed_crowd(device: &TestDevice) {
    see(device, &mut [WALKER, JELLY, WALKER, STRIP].map(scene::asset));
}

pub fn nobody_sees_the_levels_of_foxes(device: &TestDevice) {
    see(device, &mut [sample("Fox/Fox.glb")]);
}

pub fn nobody_sees_the_levels_of_knights(device: &TestDevice) {
    see(device, &mut [sample("KayKit_Knight/Knight.glb")]);
}

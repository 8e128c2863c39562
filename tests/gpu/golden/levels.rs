//! Levels of detail: nobody sees an error of one pixel.

use std::path::Path;

use throng::levels;
use throng::model::{Model, import};

use super::draw_on;
use crate::common::flip::Flip;
use crate::common::gpu::{Gpu, TestDevice, note};
use crate::common::scene::{self, JELLY, STRIP, WALKER};

/// The largest accepted mean difference from a picture in full detail. Approved images may differ by three times as much.
const MOST_MEAN: f32 = 0.01;

/// Draws a crowd with an allowed error of one pixel, and without. Checks and returns the mean difference.
fn seen(device: &TestDevice, models: &mut [Model], options: &str) -> f32 {
    let gpu = Gpu::new(device);
    models.iter_mut().for_each(levels::build);
    let [full, levels] = [0, 1].map(|error| draw_on(&gpu, models, &format!("{options} --lod-error {error}")));
    let mean = Flip::between(&full, &levels).statistics().mean;
    note!("{options}: {mean}");
    assert!(mean <= MOST_MEAN, "{options}: {mean}");
    mean
}

pub fn nobody_sees_the_levels_of_a_mixed_crowd(device: &TestDevice) {
    let mut models = [WALKER, JELLY, WALKER, STRIP].map(scene::asset);
    let means = ["--camera 25,14", "--camera -40,8,0.3"].map(|camera| {
        seen(device, &mut models, &format!("--clip all --instances 1000 --time 0.7 --size 1280x720 {camera}"))
    });
    assert!(means[0] > 0.0, "there are coarser levels");
}

pub fn nobody_sees_the_levels_of_a_thousand_foxes(device: &TestDevice) {
    see_a_thousand(device, "Fox/Fox.glb");
}

pub fn nobody_sees_the_levels_of_a_thousand_knights(device: &TestDevice) {
    see_a_thousand(device, "KayKit_Knight/Knight.glb");
}

fn see_a_thousand(device: &TestDevice, file: &str) {
    let folder = std::env::var_os("THRONG_SAMPLE_MODELS").expect("the build has seen it");
    let mut models = [import::load(&Path::new(&folder).join(file)).unwrap()];
    let mean = seen(device, &mut models, "--clip all --instances 1000 --time 0.7 --size 1280x720");
    assert!(mean > 0.0, "there are coarser levels");
}

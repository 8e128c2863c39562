//! `--skinning vertex` shows what `--skinning compute` shows, in all debug views.

use throng::view::DebugView;

use super::draw::{JELLY, MIRRORED_AND_BLENDED, STRIP, WALKER, draw_on};
use super::flip::{Flip, Statistics};
use crate::common::gpu::{Gpu, TestDevice, note};
use crate::common::scene;

/// The two ways are different shaders, whose multiply-adds a driver may contract differently.
const LIMITS: Statistics = Statistics { mean: 0.01, worst_window: 0.03 };

/// Draws both ways and compares the images.
fn assert_same(gpu: &Gpu, models: &[&str], options: &str) {
    let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
    let [compute, vertex] =
        ["compute", "vertex"].map(|way| draw_on(gpu, &models, &format!("{options} --skinning {way}")));
    let statistics = Flip::between(&compute, &vertex).statistics();
    note!("{options}: {statistics:?}");
    assert!(statistics.within(LIMITS), "{options}: {statistics:?}");
}

pub fn both_ways_to_skin_give_the_same_image(device: &TestDevice) {
    let gpu = Gpu::new(device);
    assert_same(&gpu, &[WALKER], "--clip Run --time 0.3 --sun 40,20 --camera 30,10");
    assert_same(&gpu, &[MIRRORED_AND_BLENDED], "--camera 20,30,1.3");
    assert_same(&gpu, &[WALKER], "--clip Walk --time 0.3 --skeleton on --instances 4 --camera 30,10");
}

pub fn both_ways_to_skin_give_the_same_debug_views(device: &TestDevice) {
    const CROWD: &str = "--clip all --instances 12 --time 0.8 --camera 30,20";
    let gpu = Gpu::new(device);
    for view in DebugView::ALL {
        assert_same(&gpu, &[WALKER, JELLY, STRIP], &format!("{CROWD} --debug-view {}", view.name()));
    }
    assert_same(&gpu, &[WALKER, STRIP], &format!("{CROWD} --joint upper"));
}

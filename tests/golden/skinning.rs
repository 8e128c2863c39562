//! `--skinning vertex` shows what `--skinning compute` shows.

use crate::draw::{JELLY, MIRRORED_AND_BLENDED, STRIP, WALKER, both_ways, draw_on};
use crate::flip::{Flip, Statistics};
use crate::gpu::Gpu;
use crate::scene;

/// The two ways are different shaders, whose multiply-adds a driver may contract differently.
const LIMITS: Statistics = Statistics { mean: 0.01, worst_window: 0.03 };

#[test]
fn both_ways_to_skin_give_the_same_image() {
    let gpu = Gpu::new();
    for (models, options) in [
        (&[WALKER, JELLY, STRIP][..], "--clip all --instances 30 --time 0.8 --camera 30,20"),
        (&[WALKER], "--clip Run --time 0.3 --sun 40,20 --camera 30,10"),
        (&[MIRRORED_AND_BLENDED], "--camera 20,30,1.3"),
    ] {
        let models: Vec<_> = models.iter().map(|name| scene::asset(name)).collect();
        let [compute, vertex] = both_ways().map(|way| draw_on(&gpu, &models, &format!("{options} --skinning {way}")));
        let statistics = Flip::between(&compute, &vertex).statistics();
        println!("{options}: {statistics:?}");
        assert!(statistics.within(LIMITS), "{options}: {statistics:?}");
    }
}

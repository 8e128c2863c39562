//! `examples/animate.rs` poses and skins the bundled walker.

#[path = "../../examples/animate.rs"]
#[allow(dead_code, reason = "its main is not called")]
mod animate;

use std::path::Path;

use animate::animate;

#[test]
fn the_example_poses_and_skins_the_walker() {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/walker.glb");
    let model = throng::model::import::load(&walker).unwrap();
    let (report, obj) = animate(&walker, 0.5).unwrap();
    assert!(report.starts_with("walker.glb at 0.5 s\n"), "{report}");
    assert_eq!(report.lines().count(), model.skeleton.len() + 2, "{report}");
    let count = |start: &str| obj.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("v "), count("f ")), (model.geometry.vertex_count(), model.geometry.triangle_count()));
    assert_ne!(report, animate(&walker, 0.25).unwrap().0, "the walker moves");
    assert!(animate(Path::new("missing.glb"), 0.0).is_err());
}

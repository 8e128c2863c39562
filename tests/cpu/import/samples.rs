//! Tests of real models.

use throng::model::DrawRange;

use crate::common::assets::{sample, sample_path};
use crate::common::builder::check_invariants;

/// The numbers of nodes, joints of the first skin, clips, vertices in the file and after welding, and triangles.
fn figures(path: &str) -> [usize; 6] {
    let model = sample(path);
    let geometry = &model.geometry;
    [
        model.skeleton.len(),
        model.skins.first().map_or(0, |skin| skin.joints.len()),
        model.clips.len(),
        geometry.source_primitives.iter().map(|primitive| primitive.vertices.len()).sum(),
        geometry.vertex_count(),
        geometry.triangle_count(),
    ]
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn known_models_have_their_known_contents() {
    assert_eq!(figures("Fox/Fox.glb"), [26, 24, 3, 1728, 434, 576]);
    assert_eq!(figures("CesiumMan/CesiumMan.glb"), [22, 19, 1, 3273, 3273, 4672]);
    assert_eq!(figures("RiggedFigure/RiggedFigure.glb"), [22, 19, 1, 370, 365, 256]);
    assert_eq!(figures("SimpleSkin/SimpleSkin.gltf"), [3, 2, 1, 10, 10, 8]);
    assert_eq!(figures("KayKit_Knight/Knight.glb"), [57, 41, 76, 7024, 7024, 6952]);
    assert_eq!(figures("RobotExpressive_raylib/robot.glb"), [58, 43, 14, 7218, 7214, 3238]);
    assert_eq!(figures("Mannequiny/mannequiny.glb"), [48, 45, 10, 12_597, 10_995, 13_832]);
    assert_eq!(figures("derived/Fox-gltfpack-quantized.glb"), [27, 24, 3, 434, 434, 576]);
    let fox = sample("Fox/Fox.glb");
    let clips = fox.clips.iter().map(|clip| (clip.name.as_deref(), clip.duration_seconds, clip.timelines.len()));
    let expected = [(Some("Survey"), 3.416_666_7, 1), (Some("Walk"), 0.708_333_3, 1), (Some("Run"), 1.158_333_3, 1)];
    assert_eq!(clips.collect::<Vec<_>>(), expected);
    assert_eq!((fox.images[0].width, fox.images[0].height), (1024, 1024));
    assert!(fox.geometry.draw_ranges[0].flat_shaded);
    assert!(fox.warnings.is_empty(), "{:?}", fox.warnings);
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn every_core_model_loads_and_keeps_the_models_promises() {
    let list = std::fs::read_to_string(sample_path("core.txt")).unwrap();
    assert!(list.lines().count() >= 52);
    for path in list.lines() {
        let model = sample(path);
        assert!(model.geometry.triangle_count() > 0, "{path}");
        check_invariants(&model);
    }
}

/// The number of transformed vertices per triangle, with a cache of 16, depends only on the order. In the order of the
/// file it is 1.98 (Fox), 2.08 (CesiumMan), 2.69 (RiggedFigure) and 1.62 (Knight).
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn the_order_of_triangles_suits_caches() {
    for (path, most) in [
        ("Fox/Fox.glb", 0.81),
        ("CesiumMan/CesiumMan.glb", 0.84),
        ("RiggedFigure/RiggedFigure.glb", 1.45),
        ("KayKit_Knight/Knight.glb", 1.05),
    ] {
        let geometry = sample(path).geometry;
        let transformed = |range: &DrawRange| {
            let indices = &geometry.indices[range.first_index as usize..][..range.index_count as usize];
            meshopt::analyze_vertex_cache(indices, geometry.vertex_count(), 16, 0, 0).vertices_transformed
        };
        let transformed: u32 = geometry.draw_ranges.iter().map(transformed).sum();
        let acmr = transformed as f32 / geometry.triangle_count() as f32;
        assert!(acmr <= most, "{path}: {acmr}");
    }
}

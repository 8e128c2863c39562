//! Posed meshes as files, read back by readers of a few lines, and by the importer.

use std::path::{Path, PathBuf};

use glam::{Affine2, DAffine3, DVec3, Quat, Vec2, Vec3};
use tempfile::TempDir;
use throng::animation::{BindPose, PoseScratch, pose_model};
use throng::app::export::{PosedMesh, PosedScene};
use throng::cli::MeshFormat;
use throng::measure::posed_triangles;
use throng::model::{Model, import};

use crate::common::assets::{JELLY, STRIP, WALKER, asset, sample, wild_path};
use crate::common::pose::skinned;

type Triangle = [DVec3; 3];

fn read(path: &Path, format: MeshFormat) -> Vec<Triangle> {
    let bytes = std::fs::read(path).unwrap();
    let numbers = |text: &str| text.split(' ').skip(1).map(|word| word.parse().unwrap()).collect::<Vec<f64>>();
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let f32_at = |at: usize| f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    match format {
        MeshFormat::Glb => {
            let model = import::load(path).unwrap();
            assert_eq!((&model.warnings[..], model.clips.len(), model.skins.len()), (&[][..], 0, 0));
            let positions = skinned(&model, None, 0.0);
            let origin = model.source.origin.as_dvec3();
            let all = posed_triangles(&model.geometry, &positions);
            triangles.extend(all.map(|corners| corners.map(|corner| corner.as_dvec3() + origin)));
        }
        MeshFormat::Obj => {
            for line in std::str::from_utf8(&bytes).unwrap().lines() {
                match line.split(' ').next() {
                    Some("v") => points.push(DVec3::from_slice(&numbers(line))),
                    Some("f") => {
                        let corner = |word: &str| points[word.split('/').next().unwrap().parse::<usize>().unwrap() - 1];
                        triangles.push(std::array::from_fn(|rank| corner(line.split(' ').nth(rank + 1).unwrap())));
                    }
                    _ => {}
                }
            }
        }
        MeshFormat::Ply => {
            let end = b"end_header\n";
            let header = bytes.windows(end.len()).position(|window| window == end).unwrap() + end.len();
            let text = std::str::from_utf8(&bytes[..header]).unwrap();
            let count = |what: &str| -> usize {
                text.lines().find_map(|line| line.strip_prefix(what)).unwrap().parse().unwrap()
            };
            let (vertices, faces) = (count("element vertex "), count("element face "));
            let (vertex_bytes, face_bytes) = (3 * 8 + 3 * 4 + 4, 1 + 3 * 4);
            assert_eq!(bytes.len(), header + vertices * vertex_bytes + faces * face_bytes);
            let f64_at = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            for at in (0..vertices).map(|vertex| header + vertex * vertex_bytes) {
                points.push(DVec3::from([0, 8, 16].map(|axis| f64_at(at + axis))));
                let normal = DVec3::from([24, 28, 32].map(|axis| f32_at(at + axis)));
                assert!((normal.length() - 1.0).abs() < 1e-3, "{normal}");
            }
            for at in (0..faces).map(|face| header + vertices * vertex_bytes + face * face_bytes) {
                let index = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
                triangles.push([1, 5, 9].map(|corner| points[index(at + corner)]));
            }
        }
        MeshFormat::Stl => {
            let count = u32::from_le_bytes(bytes[80..84].try_into().unwrap()) as usize;
            assert_eq!(bytes.len(), 84 + 50 * count);
            let at = |at: usize| DVec3::new(f32_at(at), f32_at(at + 8), -f32_at(at + 4)) / 1000.0;
            triangles.extend((0..count).map(|triangle| [12, 24, 36].map(|corner| at(84 + 50 * triangle + corner))));
        }
    }
    triangles
}

/// Sorts triangles by their corners, of which the lowest comes first, so that lists in any order are the same.
fn sorted(triangles: Vec<Triangle>) -> Vec<f64> {
    let key = |point: &DVec3| point.to_array();
    let by = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).unwrap();
    let turn = |triangle: Triangle| {
        let lowest = (0..3).min_by(|&a, &b| by(&key(&triangle[a]), &key(&triangle[b]))).unwrap();
        std::array::from_fn(|rank| triangle[(lowest + rank) % 3])
    };
    let mut all: Vec<Triangle> = triangles.into_iter().map(turn).collect();
    all.sort_by(|a, b| a.map(|p| key(&p)).partial_cmp(&b.map(|p| key(&p))).unwrap());
    all.into_iter().flatten().flat_map(|point| point.to_array()).collect()
}

/// Returns six times the volume, and the bounds.
fn measures(triangles: &[Triangle], origin: DVec3) -> [DVec3; 3] {
    let volume: f64 = triangles.iter().map(|t| (t[0] - origin).dot((t[1] - origin).cross(t[2] - origin))).sum();
    let all = || triangles.iter().flatten().copied();
    [DVec3::splat(volume), all().reduce(DVec3::min).unwrap(), all().reduce(DVec3::max).unwrap()]
}

fn posed(model: &Model, seconds: f64) -> PosedScene<'_> {
    let mut scratch = PoseScratch::for_model(model);
    let pose = pose_model(model, model.clips.first(), seconds, &mut scratch);
    let mesh = PosedMesh::skinned(model, &BindPose::new(&model.geometry), pose);
    PosedScene::of_model(mesh, model.source.origin.as_dvec3(), false)
}

/// Writes the pose at a time of the first clip, and reads it again.
fn reopened(model: &Model, seconds: f64) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let file = formats(&folder)[0].clone();
    posed(model, seconds).write(&file).unwrap();
    import::load(&file.0).unwrap()
}

fn formats(folder: &TempDir) -> [(PathBuf, MeshFormat); 4] {
    [MeshFormat::Glb, MeshFormat::Obj, MeshFormat::Ply, MeshFormat::Stl]
        .map(|format| (folder.path().join(format!("x.{format:?}").to_lowercase()), format))
}

#[test]
fn all_formats_hold_the_posed_triangles() {
    let files = ["Fox/Fox.glb", "CesiumMan/CesiumMan.glb", "AnimatedMorphCube/AnimatedMorphCube.glb"].map(sample);
    let own = [WALKER, STRIP, JELLY, "assets/conformance/negative_scale.gltf"].map(asset);
    let far = import::load(&wild_path("w25b_utm.gltf")).unwrap();
    for model in files.into_iter().chain(own).chain([far]) {
        let folder = tempfile::tempdir().unwrap();
        let (seconds, origin) = (0.37, model.source.origin.as_dvec3());
        let scene = posed(&model, seconds);
        let positions = skinned(&model, model.clips.first(), seconds);
        let expected: Vec<Triangle> = posed_triangles(&model.geometry, &positions)
            .map(|corners| corners.map(|corner| corner.as_dvec3() + origin))
            .collect();
        let [volume, min, max] = measures(&expected, origin);
        let size = (max - min).max_element();
        for file in formats(&folder) {
            scene.write(&file).unwrap();
            let mut found = read(&file.0, file.1);
            if file.1 == MeshFormat::Stl {
                found.iter_mut().flatten().for_each(|corner| *corner += origin);
            }
            assert_eq!(found.len(), expected.len(), "{} {:?}", model.name, file.1);
            let [found_volume, found_min, found_max] = measures(&found, origin);
            let bounds = (found_min - min).abs().max((found_max - max).abs()).max_element();
            assert!(bounds <= 1e-6 * size, "{} {:?}: {bounds}", model.name, file.1);
            // A mirrored body is not inside out.
            let off = (found_volume.x.abs() - volume.x.abs()).abs();
            assert!(off <= 1e-5 * size.powi(3), "{} {:?}: {off}", model.name, file.1);
            if file.1 != MeshFormat::Stl && model.geometry.draw_ranges.iter().all(|range| !range.mirrored) {
                let pairs = sorted(found).into_iter().zip(sorted(expected.clone()));
                let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart <= 1e-6 * size, "{} {:?}: {apart}", model.name, file.1);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "a file was left");
    }
}

#[test]
fn a_reopened_file_has_the_same_materials_images_and_names() {
    for name in ["CesiumMan/CesiumMan.glb", "KayKit_Knight/Knight.glb", "MorphPrimitivesTest/MorphPrimitivesTest.gltf"]
    {
        let model = sample(name);
        let reopened = reopened(&model, 0.5);
        assert_eq!(reopened.materials, model.materials, "{name}");
        let bytes = |model: &Model| model.images.iter().map(|image| image.encoded_bytes().to_vec()).collect::<Vec<_>>();
        assert!(bytes(&reopened) == bytes(&model), "{name}: images");
        let named = |model: &Model| -> Vec<String> {
            let nodes = model.geometry.source_primitives.iter().map(|primitive| primitive.node);
            let index = |node| model.skeleton.source_nodes.iter().position(|&other| other == node).unwrap();
            nodes.map(|node| model.skeleton.names[index(node)].clone()).collect()
        };
        assert_eq!(named(&reopened), named(&model), "{name}");
        assert_eq!(reopened.source.copyright, model.source.copyright);
        let sums = |Model { geometry, .. }: &Model| {
            let corners = || geometry.indices.iter().map(|&at| at as usize);
            let colors: u64 = corners().flat_map(|at| geometry.colors[at]).map(u64::from).sum();
            let uv: f64 = corners().map(|at| f64::from(geometry.tex_coords[at][0].element_sum())).sum();
            (colors, (uv * 1e3).round())
        };
        assert_eq!(sums(&reopened), sums(&model), "{name}");
    }
}

#[test]
fn materials_survive_with_all_that_is_drawn_of_them() {
    use throng::model::{AlphaMode, Filter, Material, MaterialTexture, Texture, TextureSampler, Wrap};
    let mut model = asset(WALKER);
    let sampler = TextureSampler {
        wrap_u: Wrap::MirroredRepeat,
        wrap_v: Wrap::ClampToEdge,
        mag: Filter::Nearest,
        min: Filter::Linear,
        mipmap: Some(Filter::Nearest),
    };
    let transform = Affine2::from_scale_angle_translation(Vec2::new(2.0, -0.5), 0.7, Vec2::new(0.25, 3.0));
    let texture = |tex_coords, texture_from_vertex| {
        Some(MaterialTexture { texture: Texture { image: 0, sampler }, tex_coords, texture_from_vertex })
    };
    model.materials[0] = Material {
        base_color_factor: glam::Vec4::new(0.1, 0.2, 0.3, 0.4),
        base_color_texture: texture(0, transform),
        emissive_texture: texture(1, Affine2::IDENTITY),
        emission: Vec3::new(4.0, 0.5, 0.0),
        dielectric_reflectance: Vec3::new(0.02, 0.03, 0.04),
        grazing_reflectance: 0.5,
        alpha_mode: AlphaMode::Mask(0.25),
        unlit: true,
        double_sided: true,
        ..model.materials[0].clone()
    };
    let reopened = reopened(&model, 0.0);
    let (found, wanted) = (&reopened.materials[0], &model.materials[0]);
    let (a, b) = (found.base_color_texture.unwrap(), wanted.base_color_texture.unwrap());
    assert!(a.texture_from_vertex.abs_diff_eq(b.texture_from_vertex, 1e-5), "{a:?}");
    assert!(found.emission.abs_diff_eq(wanted.emission, 1e-5), "{}", found.emission);
    assert!(found.dielectric_reflectance.abs_diff_eq(wanted.dielectric_reflectance, 1e-6), "{found:?}");
    let same = Material {
        base_color_texture: wanted.base_color_texture,
        emission: wanted.emission,
        dielectric_reflectance: wanted.dielectric_reflectance,
        ..found.clone()
    };
    assert_eq!((&same, reopened.warnings.len()), (wanted, 0));
}

#[test]
fn nodes_are_placed_and_hostile_names_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let model = asset(STRIP);
    let mut scene = posed(&model, 0.0);
    let turn = glam::Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), Quat::from_rotation_y(1.0), Vec3::X);
    scene.nodes[0].name = "a\nv 0 0 0 \\".to_owned();
    scene.nodes[0].world_from_model = DAffine3::from_mat4(glam::Mat4::from(turn).as_dmat4());
    let measured = |file: &(PathBuf, MeshFormat)| {
        scene.write(file).unwrap();
        measures(&read(&file.0, file.1), DVec3::ZERO)
    };
    let all: Vec<[DVec3; 3]> = formats(&folder)[..3].iter().map(measured).collect();
    for found in &all[1..] {
        assert!(found.iter().zip(&all[0]).all(|(a, b)| a.abs_diff_eq(*b, 1e-5)), "{all:?}");
    }
    assert!(std::fs::read_to_string(folder.path().join("x.obj")).unwrap().starts_with("g a_v_0_0_0__\n"));
    let number = |name: &str| import::load(&folder.path().join(name)).unwrap().skeleton.names[0].clone();
    assert_eq!(number("x.glb"), "a\nv 0 0 0 \\");
    // What cannot be written leaves no file.
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    let before = names();
    scene.meshes[0].vertices[0].position[0] = f32::INFINITY;
    for file in [folder.path().join("y.glb"), folder.path().join("no/y.glb")] {
        assert!(scene.write(&(file, MeshFormat::Glb)).is_err());
    }
    assert_eq!(names(), before);
}

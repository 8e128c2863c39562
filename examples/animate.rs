//! Animates a character on the CPU, without a GPU. All arguments are optional. In your own project, name a model, because the
//! default is a file of this package. OUT.obj is a mesh for any 3D program:
//!
//!     cargo run --no-default-features --example animate -- [MODEL [SECONDS [OUT.obj]]]

use std::path::Path;

use glam::Vec3;
use throng::animation::{BindPose, Pose, PoseScratch, joint_matrices, pose_model, skin_vertices};
use throng::model::Topology;
use throng::model::import::{ImportError, load};
use throng::shader_types::{JointMatrix, SkinnedVertex};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let walker = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/walker.glb");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let file = arguments.first().map_or(walker, String::as_str);
    let time_seconds = arguments.get(1).map_or("0.5", String::as_str).parse()?;
    let (report, obj) = animate(Path::new(file), time_seconds)?;
    print!("{report}");
    arguments.get(2).map_or(Ok(()), |out| std::fs::write(out, obj))?;
    Ok(())
}

/// Poses a model at a time of its first clip. Returns a report and the skinned mesh as Wavefront OBJ.
pub fn animate(file: &Path, time_seconds: f64) -> Result<(String, String), ImportError> {
    // Import the model: a skeleton in which parents come before children, clips of keyframes, and the vertices.
    let model = load(file)?;

    // Sample the clip, then multiply each node's matrix by its parent's. The scratch memory holds the result. The time is
    // clamped to the clip's keys: `throng::crowd::wrap_seconds` makes it repeat.
    let mut scratch = PoseScratch::for_model(&model);
    let pose = pose_model(&model, model.clips.first(), time_seconds, &mut scratch);

    // Compute the palette: model_from_joint * joint_from_mesh (the inverse bind matrix) for each joint of each skin.
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, pose.model_from_node).collect();

    // Skin each vertex with the weighted sum of its joint matrices. This is the CPU twin of the shader `skin.comp`.
    let bind_pose = BindPose::new(&model.geometry);
    let unset = SkinnedVertex { position: [0.0; 3], normal_octahedral: 0 };
    let mut vertices = vec![unset; model.geometry.vertex_count()];
    skin_vertices(
        &bind_pose,
        Pose { palette: &palette, morph_weights: pose.morph_weights, ..Pose::default() },
        &mut vertices,
    );

    // All results are in model space: metres, +Y up. A node's position is the last column of its matrix.
    let mut report = format!("{} at {time_seconds} s\n", model.name);
    for (name, model_from_node) in model.skeleton.names.iter().zip(pose.model_from_node) {
        report += &format!("{:8.3} {name}\n", model_from_node.translation);
    }
    let positions = || vertices.iter().map(|vertex| Vec3::from(vertex.position));
    let (min, max) = (positions().fold(Vec3::MAX, Vec3::min), positions().fold(Vec3::MIN, Vec3::max));
    report += &format!("{} vertices from {min:.3} to {max:.3}\n", vertices.len());

    let mut obj: String =
        positions().map(|position| format!("v {} {} {}\n", position.x, position.y, position.z)).collect();
    for range in model.geometry.draw_ranges.iter().filter(|range| range.topology == Topology::Triangles) {
        let indices = &model.geometry.indices[range.first_index as usize..][..range.index_count as usize];
        // OBJ counts vertices from 1.
        obj.extend(indices.chunks(3).map(|face| format!("f {} {} {}\n", face[0] + 1, face[1] + 1, face[2] + 1)));
    }
    Ok((report, obj))
}

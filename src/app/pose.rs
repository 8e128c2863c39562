//! `pose`: one instance at given moments, in numbers: what a second implementation can be held against.
//!
//! Matrices come from the same functions that feed the palette. Positions are skinned by the CPU twin or, with
//! `--on gpu`, by `skin.comp` and read back from the transient vertex buffer. Times are not wrapped.
//!
//! What is printed has several times the bytes of the skinned vertices, so primitives are put into the file's order one
//! at a time, while they are written.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result, bail};
use glam::{Affine3A, Mat4, Vec3};
use serde::{Serialize, Serializer};

use super::gpu::{finish, offscreen_device};
use super::scene::load_model;
use crate::animation::lanes::{self, LaneClip, LaneScratch, Processor};
use crate::animation::{
    BindPose, ModelPose, Pose, PoseScratch, PoseStreams, joint_matrices, pose_model, skin_vertices,
};
use crate::cli::{OnArg, PoseArgs};
use crate::crowd::{ClipChoice, VisiblePose};
use crate::model::{Clip, Model, SourcePrimitive};
use crate::renderer::{Renderer, RendererSettings, Target};
use crate::shader_types::{FrameData, InstanceData, JointMatrix, SkinnedVertex, unpack_octahedral};

/// Everything that the command prints.
#[derive(Debug, Serialize)]
pub struct PoseReport<'m> {
    model: String,
    clip: Option<ClipReport>,
    on: &'static str,
    frames: Vec<FrameReport<'m>>,
}

#[derive(Debug, Serialize)]
struct ClipReport {
    index: usize,
    name: Option<String>,
    duration: f64,
}

/// One moment.
#[derive(Debug, Serialize)]
struct FrameReport<'m> {
    time: f64,
    /// World matrix by glTF node index, column-major; null outside the default scene.
    nodes: Vec<Option<[f32; 16]>>,
    /// Per skin, per joint.
    skins: Vec<Vec<[f32; 16]>>,
    /// Morph weights by node.
    weights: BTreeMap<String, Vec<f32>>,
    primitives: Primitives<'m>,
}

/// A list of [`PrimitiveReport`]s, each made when it is written.
#[derive(Debug)]
struct Primitives<'m> {
    sources: &'m [SourcePrimitive],
    /// Of the whole model.
    vertices: Vec<SkinnedVertex>,
}

impl Serialize for Primitives<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sources.iter().map(|source| primitive(source, &self.vertices)))
    }
}

impl Primitives<'_> {
    fn positions(&self) -> impl Iterator<Item = Vec3> {
        self.sources.iter().flat_map(|source| skinned(source, &self.vertices)).map(|vertex| vertex.position.into())
    }
}

#[derive(Debug, Serialize)]
struct PrimitiveReport {
    node: u32,
    mesh: u32,
    primitive: u32,
    /// Which of the node's placements (EXT_mesh_gpu_instancing): each is listed, and the mesh at the node itself is not,
    /// since it is not drawn. Left out where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<u32>,
    skin: Option<u32>,
    indices: Vec<u32>,
    positions: Vec<[f32; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    normals: Vec<[f32; 3]>,
}

/// Runs the command.
///
/// # Errors
/// What loading or the GPU says, or a clip that the model does not have.
pub fn run(args: &PoseArgs) -> Result<()> {
    let model = load_model(args.model.as_ref(), &args.scene)?;
    for warning in &model.warnings {
        tracing::warn!("{}: {warning}", model.name);
    }
    let clip = choose_clip(&model, args.clip.as_ref())?;
    let mut skinner = Skinner::new(args, &model, clip.map(|(_, clip)| clip))?;
    let mut frames = Vec::new();
    for &time_seconds in &args.time {
        frames.push(evaluate(&model, clip.map(|(_, clip)| clip), time_seconds, &mut skinner)?);
    }
    skinner.finish()?;
    let report = PoseReport {
        model: model.name.clone(),
        clip: clip.map(|(index, clip)| ClipReport {
            index,
            name: clip.name.clone(),
            duration: f64::from(clip.duration_seconds),
        }),
        on: match args.on {
            OnArg::Cpu => "cpu",
            OnArg::Gpu => "gpu",
        },
        frames,
    };
    if args.json {
        let mut out = BufWriter::new(std::io::stdout().lock());
        return serde_json::to_writer(&mut out, &report)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out).and_then(|()| out.flush()))
            .or_else(|error| if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
            .context("cannot write to standard output");
    }
    super::print(&as_text(&model, &report))
}

fn choose_clip<'m>(model: &'m Model, wanted: Option<&ClipChoice>) -> Result<Option<(usize, &'m Clip)>> {
    let found = match wanted {
        None => return Ok(model.clips.first().map(|clip| (0, clip))),
        Some(ClipChoice::None) => return Ok(None),
        Some(ClipChoice::All) => bail!("pose shows one clip; name it with --clip NAME, INDEX or none"),
        Some(ClipChoice::Index(index)) => model.clips.get(*index).map(|clip| (*index, clip)),
        Some(ClipChoice::Name(name)) => {
            model.clips.iter().enumerate().find(|(_, clip)| clip.name.as_deref() == Some(name))
        }
    };
    found.map(Some).with_context(|| {
        let names: Vec<String> = model
            .clips
            .iter()
            .enumerate()
            .map(|(index, clip)| format!("{index} {}", clip.name.as_deref().unwrap_or("(unnamed)")))
            .collect();
        format!("{} has no such clip; it has: none, {}", model.name, names.join(", "))
    })
}

fn evaluate<'m>(
    model: &'m Model,
    clip: Option<&Clip>,
    time_seconds: f64,
    skinner: &mut Skinner,
) -> Result<FrameReport<'m>> {
    let mut scratch = PoseScratch::for_model(model);
    let ModelPose { model_from_node, morph_weights } = pose_model(model, clip, time_seconds, &mut scratch);

    let mut nodes = vec![None; model.skeleton.source_node_count as usize];
    for (node, &matrix) in model_from_node.iter().enumerate() {
        if model.skeleton.in_scene[node]
            && let Some(place) = nodes.get_mut(model.skeleton.source_nodes[node] as usize)
        {
            *place = Some(columns(matrix));
        }
    }
    let skins = model
        .skins
        .iter()
        .map(|skin| {
            let inverse_binds = skin.joint_from_mesh.iter().zip(&skin.inverse_bind_w);
            skin.joints
                .iter()
                .zip(inverse_binds)
                .map(|(&joint, (&joint_from_mesh, &w))| {
                    let mut inverse_bind = Mat4::from(joint_from_mesh);
                    inverse_bind.w_axis.w = w;
                    (Mat4::from(model_from_node[joint as usize]) * inverse_bind).to_cols_array()
                })
                .collect()
        })
        .collect();
    let weights = model.skeleton.morphed_nodes.iter().map(|morphed| {
        let first = morphed.first_weight as usize;
        let source = model.skeleton.source_nodes[morphed.node as usize];
        (source.to_string(), morph_weights[first..first + morphed.weight_count as usize].to_vec())
    });
    let palette: Vec<JointMatrix> = joint_matrices(&model.palette, model_from_node).collect();
    let vertices = skinner.skin(model, time_seconds, Pose { palette: &palette, morph_weights })?;
    let primitives = Primitives { sources: &model.geometry.source_primitives, vertices };
    Ok(FrameReport { time: time_seconds, nodes, skins, weights: weights.collect(), primitives })
}

/// A primitive in the file's own vertex order.
fn primitive(source: &SourcePrimitive, vertices: &[SkinnedVertex]) -> PrimitiveReport {
    PrimitiveReport {
        node: source.node,
        mesh: source.mesh,
        primitive: source.primitive,
        instance: source.placement,
        skin: source.skin,
        indices: (0..source.vertices.len() as u32).collect(),
        positions: skinned(source, vertices).map(|vertex| vertex.position).collect(),
        normals: if source.has_normals {
            skinned(source, vertices).map(|vertex| unpack_octahedral(vertex.normal_octahedral).to_array()).collect()
        } else {
            Vec::new()
        },
    }
}

/// What became of a primitive's vertices, in the file's own order.
fn skinned<'v>(source: &'v SourcePrimitive, vertices: &'v [SkinnedVertex]) -> impl Iterator<Item = &'v SkinnedVertex> {
    source.vertices.iter().filter_map(|&vertex| vertices.get(vertex as usize))
}

fn columns(matrix: Affine3A) -> [f32; 16] {
    Mat4::from(matrix).to_cols_array()
}

/// Who skins the vertices.
enum Skinner {
    Cpu,
    Gpu { renderer: Box<Renderer>, clip: Option<LaneClip> },
}

impl Skinner {
    fn new(args: &PoseArgs, model: &Model, clip: Option<&Clip>) -> Result<Self> {
        if args.on == OnArg::Cpu {
            return Ok(Self::Cpu);
        }
        /// Nobody looks at the picture: only the skin pass counts.
        const SMALL: ash::vk::Extent2D = ash::vk::Extent2D { width: 16, height: 16 };
        let device = offscreen_device(&args.device)?;
        let target = Target::offscreen(&device, SMALL)?;
        let settings = RendererSettings { samples: 1, shadow_map_size: None, ..RendererSettings::default() };
        let renderer = Box::new(Renderer::new(&device, std::slice::from_ref(model), target, settings)?);
        Ok(Self::Gpu { renderer, clip: LaneClip::compile(model, clip) })
    }

    fn skin(&mut self, model: &Model, time_seconds: f64, pose: Pose<'_>) -> Result<Vec<SkinnedVertex>> {
        match self {
            Self::Cpu => {
                let mut out = vec![bytemuck::Zeroable::zeroed(); model.geometry.vertex_count()];
                skin_vertices(&BindPose::new(&model.geometry), pose, &mut out);
                Ok(out)
            }
            Self::Gpu { renderer, clip } => {
                let Pose { palette, morph_weights } = pose;
                // One pose, which one instance shows.
                let mut frame = renderer.begin_frame(&[VisiblePose::new(0, 1, 0)])?;
                let (memory, _) = frame.memory();
                match clip {
                    // As crowds are evaluated, so that this is what it says of them, too.
                    Some(clip) => {
                        let (processor, mut scratch) = (Processor::detect(), LaneScratch::default());
                        let PoseStreams { palette, memory, .. } = memory.streams;
                        lanes::evaluate(processor, clip, &[time_seconds], &mut scratch, memory, palette);
                    }
                    None => memory.streams.palette.iter_mut().zip(palette).for_each(|(to, &joint)| _ = to.write(joint)),
                }
                for (to, &weight) in memory.streams.morph_weights.iter_mut().zip(morph_weights) {
                    to.write(weight);
                }
                for instance in memory.instances {
                    instance.write(InstanceData { world_from_model: JointMatrix::IDENTITY, pose: 0, padding: [0; 3] });
                }
                frame.submit(looking_at_nothing(), false)?;
                Ok(renderer.read_skinned_vertices(0)?)
            }
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Cpu => Ok(()),
            Self::Gpu { renderer, .. } => finish(*renderer),
        }
    }
}

fn looking_at_nothing() -> FrameData {
    FrameData {
        clip_from_world: Mat4::IDENTITY.to_cols_array_2d(),
        world_from_clip: Mat4::IDENTITY.to_cols_array_2d(),
        camera_position: [0.0; 4],
        to_light: Vec3::Y.extend(0.0).to_array(),
        light_color: [1.0; 4],
        ground: [0.0, 1.0, 1.0, 0.0],
        shadow_from_world: Mat4::IDENTITY.to_cols_array_2d(),
        shadow: [1.0, 1.0, 0.0, 0.0],
    }
}

fn as_text(model: &Model, report: &PoseReport<'_>) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    let clip = report.clip.as_ref().map_or("rest pose".to_owned(), |clip| {
        format!("clip {} {}, {:.3} s", clip.index, clip.name.as_deref().unwrap_or("(unnamed)"), clip.duration)
    });
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}: {clip}, on the {}", report.model, report.on);
    for frame in &report.frames {
        let positions = || frame.primitives.positions();
        let (min, max) = positions()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(min, max), point| (min.min(point), max.max(point)));
        let _ = writeln!(text, "\ntime {} s", frame.time);
        if positions().next().is_some() {
            let _ = writeln!(text, "  {} vertices, from {min:.4} to {max:.4}", positions().count());
        }
        for (node, name) in model.skeleton.names.iter().enumerate() {
            let source = model.skeleton.source_nodes[node] as usize;
            if let Some(Some(m)) = frame.nodes.get(source) {
                let _ = writeln!(text, "  node {source:>3}  {:>10.4} {:>10.4} {:>10.4}  {name}", m[12], m[13], m[14]);
            }
        }
    }
    text
}

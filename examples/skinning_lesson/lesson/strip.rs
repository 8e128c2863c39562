//! The strip in any pose, with the steps of the library, and the mistakes of the lesson.

use std::error::Error;
use std::path::Path;

use glam::{Affine3A, Quat, Vec2, Vec3A};
use throng::animation::{SampleScratch, joint_matrices, model_from_nodes, sample_clip};
use throng::model::{LocalPose, Model, import};

/// The indices of the two joints in the strip's skin, and so in its palette.
pub const LOWER: usize = 0;
pub const UPPER: usize = 1;

/// A step that [`Strip::skin_wrongly`] gets wrong.
#[derive(Clone, Copy, PartialEq)]
pub enum Mistake {
    None,
    /// The joint matrix is `model_from_joint` alone.
    NoInverseBinds,
    /// A child is evaluated before its parent and uses the parent's old matrix, here the identity.
    ChildrenFirst,
    /// The weights of the upper rows add up to 0.8.
    WeightsOfLessThanOne,
}

/// The bundled two-joint strip.
pub struct Strip {
    pub model: Model,
}

impl Strip {
    pub fn load() -> Result<Self, Box<dyn Error>> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/simple_strip.gltf");
        Ok(Self { model: import::load(&path)? })
    }

    /// The skeleton's node of a joint.
    pub fn node(&self, joint: usize) -> usize {
        self.model.palette.nodes[joint] as usize
    }

    /// The local pose at a time of the clip.
    pub fn sample(&self, time_seconds: f64) -> LocalPose {
        let (clip, mut local) = (&self.model.clips[0], self.model.skeleton.rest.clone());
        sample_clip(clip, time_seconds, &mut SampleScratch::with_capacity(clip.timelines.len()), &mut local);
        local
    }

    /// The rest pose with both joints turned about +Z.
    pub fn turned(&self, lower_degrees: f32, upper_degrees: f32) -> LocalPose {
        let mut local = self.model.skeleton.rest.clone();
        for (joint, degrees) in [(LOWER, lower_degrees), (UPPER, upper_degrees)] {
            local.rotations[self.node(joint)] = Quat::from_rotation_z(degrees.to_radians());
        }
        local
    }

    /// The matrices of all nodes in a local pose.
    pub fn model_from_nodes(&self, local: &LocalPose) -> Vec<Affine3A> {
        let mut model_from_node = vec![Affine3A::IDENTITY; local.translations.len()];
        model_from_nodes(&self.model.skeleton, local, &mut model_from_node);
        model_from_node
    }

    /// The joint matrices of a pose.
    pub fn joint_matrices(&self, model_from_node: &[Affine3A]) -> Vec<Affine3A> {
        joint_matrices(&self.model.palette, model_from_node).map(Affine3A::from).collect()
    }

    /// The bind-pose position of a vertex, and its weights for the two joints. Vertices have the file's order.
    pub fn vertex(&self, vertex: usize) -> (Vec3A, [f32; 2]) {
        let vertex = self.model.geometry.source_primitives[0].vertices[vertex] as usize;
        let mut weights = [0.0; 2];
        for influence in self.model.geometry.influences_of(vertex) {
            weights[influence.joint as usize] += influence.weight;
        }
        (self.model.geometry.positions[vertex].into(), weights)
    }

    /// The positions of the ten vertices: each is the weighted sum of its joints' matrices times the bind position.
    pub fn skin(&self, joint_matrices: &[Affine3A], weight_scale: impl Fn(usize) -> f32) -> Vec<Vec2> {
        (0..10)
            .map(|vertex| {
                let (position, weights) = self.vertex(vertex);
                let by = |joint: usize| weights[joint] * joint_matrices[joint].transform_point3a(position);
                (weight_scale(vertex) * (by(LOWER) + by(UPPER))).truncate()
            })
            .collect()
    }

    /// The positions in a local pose, with a mistake.
    pub fn skin_wrongly(&self, local: &LocalPose, mistake: Mistake) -> Vec<Vec2> {
        let mut nodes = self.model_from_nodes(local);
        if mistake == Mistake::ChildrenFirst {
            let upper = self.node(UPPER);
            nodes[upper] = Affine3A::from_rotation_translation(local.rotations[upper], local.translations[upper]);
        }
        let joints = match mistake {
            Mistake::NoInverseBinds => [LOWER, UPPER].map(|joint| nodes[self.node(joint)]).to_vec(),
            _ => self.joint_matrices(&nodes),
        };
        let short = mistake == Mistake::WeightsOfLessThanOne;
        self.skin(&joints, |vertex| if short && vertex >= 4 { 0.8 } else { 1.0 })
    }
}

//! The instances of a crowd, as the vertex shader gets them.

use std::mem::MaybeUninit;

use glam::Vec3;
use throng::crowd::Crowd;
use throng::shader_types::InstanceData;
use throng::view::{Detail, Frustum, OrbitCamera};

use crate::common::lanes::written;

/// Returns the data of all visible instances.
pub fn instances_of(crowd: &Crowd) -> Vec<InstanceData> {
    let count = crowd.visible_counts().iter().sum::<u32>() as usize;
    let mut out = vec![MaybeUninit::new(bytemuck::Zeroable::zeroed()); count];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    crowd.write_instances(&pool, &mut out);
    written(&out)
}

/// Returns where the visible instances stand, in metres.
pub fn positions(crowd: &Crowd) -> Vec<Vec3> {
    instances_of(crowd).iter().map(|instance| instance.world_from_model.transform_point(Vec3::ZERO)).collect()
}

/// Leaves what the camera and the light see, in an image of this aspect ratio.
pub fn cull(crowd: &mut Crowd, camera: &OrbitCamera, aspect: f32, to_light: Option<Vec3>, detail: &Detail) {
    let frustum = Frustum::from_clip_from_world(camera.clip_from_world(aspect));
    crowd.cull(None, Some(&frustum), to_light, detail);
}

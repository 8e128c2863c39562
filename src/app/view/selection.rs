//! The selected character, in words, and the joint under the cursor.
//!
//! In: the number of an instance, and the scene at a time. Out: lines for the panel, and names for the picture.

use glam::Vec2;

use crate::app::joint::joints;
use crate::app::scene::Scene;
use crate::app::text::counted;
use crate::crowd::ShownInstance;

/// Describes an instance.
pub fn describe(scene: &Scene, shown: &ShownInstance) -> Vec<String> {
    let Some(model) = scene.models.get(shown.model as usize) else { return Vec::new() };
    let clip = shown.clip.and_then(|index| Some((index, model.clips.get(index as usize)?)));
    let playing = match clip {
        Some((index, clip)) => {
            let name = clip.name.clone().unwrap_or_else(|| format!("clip {index}"));
            format!("{name}\nat {:.2} of {:.2} s, phase {:.2}", shown.clip_seconds, clip.duration_seconds, shown.phase)
        }
        None => "rest pose".to_owned(),
    };
    let level = match shown.level {
        Some(0) => "full detail".to_owned(),
        Some(level) => format!("level of detail {level}"),
        None => "out of view".to_owned(),
    };
    let joint_count = counted(joints(model).len(), "joint");
    vec![
        format!("{}, instance {}", model.name, shown.number),
        playing,
        format!("pose {}, {joint_count}, {level}", shown.pose),
    ]
}

/// Returns the name of the joint of an instance whose place in the image is nearest to a point, if it is near. The point is
/// in pixels.
pub fn joint_at(
    scene: &Scene,
    shown: &ShownInstance,
    time_seconds: f64,
    point_pixels: Vec2,
    size_pixels: Vec2,
) -> Option<String> {
    const NEAR_PIXELS: f32 = 14.0;
    let model = scene.models.get(shown.model as usize)?;
    let mut positions = Vec::new();
    scene.crowd.node_positions(shown.number, time_seconds, &mut positions);
    let clip_from_world = scene.camera.clip_from_world(size_pixels.x / size_pixels.y);
    let distance = |node: u32| {
        let clip = clip_from_world * positions.get(node as usize)?.extend(1.0);
        let at = Vec2::new(0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w) * size_pixels;
        (clip.w > 0.0).then(|| (at.distance(point_pixels), node))
    };
    let near = joints(model).into_iter().filter_map(distance).filter(|&(distance, _)| distance < NEAR_PIXELS);
    let (_, node) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
    model.skeleton.names.get(node as usize).cloned()
}

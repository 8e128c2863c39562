//! The options that select the animation and the view, as the results keep them.

use serde::{Deserialize, Serialize};

use crate::app::text::name;
use crate::cli::CrowdArgs;
use crate::crowd::{ClipChoice, PhaseMode};

/// The options with these names, which select the animation and the view.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SceneSettings {
    pub(super) clip: String,
    pub(super) phase: String,
    pub(super) speed: f64,
    /// The time of the first frame in seconds.
    pub(super) time: f64,
    pub(super) seed: u64,
    /// The distance between neighbours in metres, or `None` if it follows from the models' size.
    pub(super) spacing: Option<f64>,
    /// Degrees around the crowd, degrees above the ground, and a factor on the distance. `None` frames the crowd.
    pub(super) camera: Option<[f32; 3]>,
    pub(super) cull: bool,
    /// The name or index of the scene in the model files.
    pub(super) scene: Option<String>,
}

impl SceneSettings {
    pub(super) fn new(args: &CrowdArgs, instance_count: u32) -> Self {
        let phase = match args.phase_mode(instance_count) {
            PhaseMode::Random => "random",
            PhaseMode::Zero => "zero",
        };
        Self {
            clip: match &args.clip {
                ClipChoice::None => "none".to_owned(),
                ClipChoice::All => "all".to_owned(),
                ClipChoice::Index(index) => index.to_string(),
                ClipChoice::Name(name) => name.clone(),
            },
            phase: phase.to_owned(),
            speed: args.speed,
            time: args.time,
            seed: args.seed,
            spacing: args.spacing,
            camera: args.camera.map(|camera| [camera.yaw_degrees, camera.pitch_degrees, camera.zoom]),
            cull: args.cull,
            scene: args.file_scene.scene.as_ref().map(ToString::to_string),
        }
    }

    /// Describes the settings. Those with their usual value are left out.
    pub(super) fn in_words(&self) -> String {
        let mut words = format!("clip {}, {} phase", name(&self.clip), name(&self.phase));
        let mut add = |differs: bool, word: String| {
            if differs {
                words += &format!(", {word}");
            }
        };
        add(self.speed != 1.0, format!("speed {}", self.speed));
        add(self.time != 0.0, format!("from {} s on", self.time));
        add(self.seed != 1, format!("seed {}", self.seed));
        add(self.spacing.is_some(), format!("spacing {} m", self.spacing.unwrap_or_default()));
        let [yaw, pitch, zoom] = self.camera.unwrap_or_default();
        add(self.camera.is_some(), format!("camera {yaw},{pitch},{zoom}"));
        add(!self.cull, "cull off".to_owned());
        add(self.scene.is_some(), format!("scene {}", name(self.scene.as_deref().unwrap_or_default())));
        words
    }
}

//! What a crowd is asked to be, and why it may be refused.

use crate::model::Model;

/// Where in its clip each instance starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PhaseMode {
    /// Anywhere, by seed.
    #[default]
    Random,
    /// All at the beginning.
    Zero,
}

/// Which clip the instances play.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClipChoice {
    /// The rest pose.
    None,
    /// Each instance one of its model's clips, evenly mixed by seed.
    #[default]
    All,
    /// The clip with this glTF index; models that have fewer play their first one. Index 0, what is played unless
    /// something else is asked for, is the rest pose where no model has a clip.
    Index(usize),
    /// The clip of this name; models that have none of that name play their first one.
    Name(String),
}

/// How to build a [`Crowd`](super::Crowd).
#[derive(Debug, Clone, PartialEq)]
pub struct CrowdSettings {
    /// Over all models together.
    pub instance_count: u32,
    /// Between neighbours; by default wide enough for the models.
    pub spacing_metres: Option<f32>,
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// Where in its clip each instance starts.
    pub phase: PhaseMode,
    /// Which clip the instances play.
    pub clip: ClipChoice,
    /// Seconds of the clip per second; negative plays backwards.
    pub speed: f32,
    /// Instances of the same model and clip share poses, of which there are at least so many for each second of the
    /// clip; `None`: each has its own.
    pub share_poses_hz: Option<f64>,
}

impl Default for CrowdSettings {
    fn default() -> Self {
        Self {
            instance_count: 1,
            spacing_metres: None,
            seed: 0,
            phase: PhaseMode::default(),
            clip: ClipChoice::default(),
            speed: 1.0,
            share_poses_hz: None,
        }
    }
}

/// Why a crowd cannot be built or a clip not be played.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CrowdError {
    /// There is nothing to build a crowd of.
    #[error("a crowd needs at least one model")]
    NoModels,
    /// No model has the clip.
    #[error("no clip {wanted}; there are {allowed}")]
    UnknownClip {
        /// Name (quoted) or index.
        wanted: String,
        /// All clips of all models, or a statement that there are none.
        allowed: String,
    },
    /// Zero, negative or not a number.
    #[error("a spacing of {0} metres: it must be a positive number")]
    Spacing(f32),
    /// Not a number, or infinite.
    #[error("a speed of {0}: it must be a finite number")]
    Speed(f32),
    /// Zero, negative or not a number.
    #[error("{0} shared poses a second: it must be a positive number")]
    SharedPoses(f64),
    /// More than [`MAX_INSTANCES`](super::MAX_INSTANCES).
    #[error("{0} instances: at most {max} are supported", max = super::MAX_INSTANCES)]
    TooManyInstances(u32),
    /// Palette offsets are 32 bits wide.
    #[error("{instances} instances with {joints} joint matrices in all: at most 4,294,967,295 can be addressed")]
    TooManyJoints {
        /// As asked for.
        instances: u32,
        /// All instances' joint matrices.
        joints: u64,
    },
}

/// The clips among which an instance of one model chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelClips {
    /// Rest pose.
    None,
    /// All of them, this many, at least one.
    All(u32),
    /// This one.
    One(u32),
}

impl ModelClips {
    /// Never empty; `None` stands for the rest pose.
    pub(super) fn candidates(self) -> impl Iterator<Item = Option<u32>> + Clone {
        let (rest_pose, clips) = match self {
            Self::None => (Some(None), 0..0),
            Self::All(count) => (None, 0..count),
            Self::One(clip) => (None, clip..clip + 1),
        };
        rest_pose.into_iter().chain(clips.map(Some))
    }
}

/// What `choice` means for each model.
pub(super) fn resolve_clips(models: &[Model], choice: &ClipChoice) -> Result<Vec<ModelClips>, CrowdError> {
    let has_wanted = |model: &Model| match choice {
        ClipChoice::None | ClipChoice::All => None,
        ClipChoice::Index(index) => (*index < model.clips.len()).then_some(*index),
        ClipChoice::Name(name) => model.clips.iter().position(|clip| clip.name.as_ref() == Some(name)),
    };
    let wanted = match choice {
        ClipChoice::None | ClipChoice::All => None,
        ClipChoice::Index(index) => Some(index.to_string()),
        ClipChoice::Name(name) => Some(format!("{name:?}")),
    };
    if let Some(wanted) = wanted
        && !models.iter().any(|model| has_wanted(model).is_some())
        && !(*choice == ClipChoice::Index(0) && models.iter().all(|model| model.clips.is_empty()))
    {
        return Err(CrowdError::UnknownClip { wanted, allowed: allowed_clips(models) });
    }
    let resolve = |model: &Model| match choice {
        _ if model.clips.is_empty() => ModelClips::None,
        ClipChoice::None => ModelClips::None,
        ClipChoice::All => ModelClips::All(model.clips.len() as u32),
        ClipChoice::Index(_) | ClipChoice::Name(_) => ModelClips::One(has_wanted(model).unwrap_or(0) as u32),
    };
    Ok(models.iter().map(resolve).collect())
}

/// `0 "Survey", 1 "Walk", 2`, for each model that has clips.
fn allowed_clips(models: &[Model]) -> String {
    let of_model = |model: &Model| {
        let clips = model.clips.iter().enumerate().map(|(index, clip)| match &clip.name {
            Some(name) => format!("{index} {name:?}"),
            None => index.to_string(),
        });
        let clips = clips.collect::<Vec<_>>().join(", ");
        if models.len() == 1 { clips } else { format!("{clips} in {}", model.name) }
    };
    let all: Vec<String> = models.iter().filter(|model| !model.clips.is_empty()).map(of_model).collect();
    if all.is_empty() { "none".to_owned() } else { all.join("; ") }
}

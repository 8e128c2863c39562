//! The settings of a crowd, and the errors that they can cause.

use super::placement::Layout;
use crate::model::{Clip, Model, names};

/// The time in its clip at which each instance starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PhaseMode {
    /// A random time, by seed.
    #[default]
    Random,
    /// The start of the clip.
    Zero,
}

/// The clip that the instances play.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ClipChoice {
    /// The rest pose.
    None,
    /// The clips that are shown without a choice ([`Model::first_clips`]).
    Auto,
    /// Each instance plays one of its model's clips. The seed mixes the clips evenly. Clips that are parts of one take are played
    /// together.
    #[default]
    All,
    /// The clip with this glTF index. Models with fewer clips play what [`Self::Auto`] does. If no model has a clip, index 0
    /// (the program's default) is the rest pose.
    Index(usize),
    /// The clip with this name, or one that is like it ([`names::find`]). Models without it play one whose name contains it, or
    /// what [`Self::Auto`] does.
    Name(String),
}

impl ClipChoice {
    /// Returns the index of the clip in a model that has it. `None` for the rest pose and the mix.
    pub fn index_in(&self, model: &Model) -> Option<usize> {
        match self {
            Self::None | Self::All => None,
            Self::Auto => Some(model.first_clips.first().map_or(0, |&first| first as usize)),
            Self::Index(index) => Some(*index).filter(|index| *index < model.clips.len()),
            Self::Name(name) => names::find(model.clips.iter().map(|clip| clip.name.as_deref()), name),
        }
    }

    /// Returns the index of the clip that a model plays which does not have this one.
    fn substitute_in(&self, model: &Model) -> usize {
        let word = if let Self::Name(name) = self { name.to_lowercase() } else { String::new() };
        let has_word = |clip: &Clip| clip.name.as_ref().is_some_and(|name| name.to_lowercase().contains(&word));
        let named = model.clips.iter().position(has_word).filter(|_| !word.is_empty());
        named.or(Self::Auto.index_in(model)).unwrap_or(0)
    }

    /// Returns a sentence for each model that plays another clip because it does not have this one.
    pub(super) fn substitutes<'m>(&'m self, models: &'m [Model]) -> impl Iterator<Item = String> {
        let wanted = self.wanted();
        models.iter().filter_map(move |model| {
            let wanted = wanted.as_ref()?;
            let played = if self.index_in(model).is_none() { self.substitute_in(model) } else { return None };
            let name = model.clips.get(played)?.name.clone().unwrap_or_else(|| played.to_string());
            Some(format!("{} has no clip {wanted} and plays {name:?}", model.name))
        })
    }

    /// Returns the name in quotes or the index of the clip that all instances should play.
    fn wanted(&self) -> Option<String> {
        match self {
            Self::Auto | Self::None | Self::All => None,
            Self::Index(index) => Some(index.to_string()),
            Self::Name(name) => Some(format!("{name:?}")),
        }
    }

    /// Returns the clips of each model that are most like this one, for a message.
    pub fn offers(&self, models: &[Model]) -> String {
        let word = if let Self::Name(name) = self { name } else { "" };
        let of_model = |model: &Model| {
            let clips = model.clips.iter().zip(0..).map(|(clip, index)| (index, clip.name.as_deref()));
            let clips = names::offer(clips, word);
            if models.len() == 1 { clips } else { format!("{clips} in {}", model.name) }
        };
        let all: Vec<String> = models.iter().filter(|model| !model.clips.is_empty()).map(of_model).collect();
        if all.is_empty() { "none".to_owned() } else { all.join("; ") }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CrowdSettings {
    /// The number of instances of all models together.
    pub instance_count: u32,
    /// The distance between neighbours. `None`: each model needs its own width.
    pub spacing_metres: Option<f32>,
    /// If set, the height to which each model is scaled.
    pub height_metres: Option<f32>,
    pub layout: Layout,
    /// How much the instances differ in size and tint, 0 (not at all) to 1. Those in a line never do.
    pub variety: f32,
    /// Whether instances that walk go somewhere: along rings, at the speed of their feet. Those in a line never do, and
    /// those that march always.
    pub travel: bool,
    /// Whether the ground goes by under a single instance whose clips carry it away, as if the camera followed it.
    pub follow: bool,
    pub seed: u64,
    pub phase: PhaseMode,
    pub clip: ClipChoice,
    /// Seconds of the clip for each second of time. A negative speed plays backwards.
    pub speed: f32,
    /// If set, instances of the same model and clip share poses, at least this many for each second of the clip.
    pub share_poses_hz: Option<f64>,
    /// If set, instances are not placed: all of them stand at the origin of model space.
    pub in_model_space: bool,
}

impl Default for CrowdSettings {
    fn default() -> Self {
        Self {
            instance_count: 1,
            spacing_metres: None,
            height_metres: None,
            layout: Layout::default(),
            variety: 0.0,
            travel: false,
            follow: false,
            seed: 0,
            phase: PhaseMode::default(),
            clip: ClipChoice::default(),
            speed: 1.0,
            share_poses_hz: None,
            in_model_space: false,
        }
    }
}

/// The reason why a crowd cannot be built or a clip cannot be played.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CrowdError {
    #[error("a crowd needs at least one model")]
    NoModels,
    #[error("no clip {wanted}; the clips are: {allowed}")]
    UnknownClip {
        /// The requested name (quoted) or index.
        wanted: String,
        /// The clips of each model that are most like it, or `none`.
        allowed: String,
    },
    /// A setting with its value, and the numbers that it may have.
    #[error("{0}: it must be a {1}")]
    OutOfRange(String, &'static str),
    #[error("{0} instances: at most {max} are supported", max = super::MAX_INSTANCES)]
    TooManyInstances(u32),
    #[error(
        "{instances} instances with {joints} joint matrices or morph weights in all: at most 4,294,967,295 can be addressed"
    )]
    TooManyJoints {
        instances: u32,
        /// The number of joint matrices or morph weights of all instances, whichever is greater.
        joints: u64,
    },
}

/// The clips that instances of one model play, at least one. `None` stands for the rest pose.
pub(super) type ModelClips = Vec<Option<u32>>;

/// Resolves `choice` for each model, of which a crowd has several instances.
pub(super) fn resolve_clips(
    models: &[Model],
    choice: &ClipChoice,
    is_crowd: bool,
) -> Result<Vec<ModelClips>, CrowdError> {
    if let Some(wanted) = choice.wanted()
        && !models.iter().any(|model| choice.index_in(model).is_some())
        && !(*choice == ClipChoice::Index(0) && models.iter().all(|model| model.clips.is_empty()))
    {
        return Err(CrowdError::UnknownClip { wanted, allowed: choice.offers(models) });
    }
    let resolve = |model: &Model| match choice {
        _ if model.clips.is_empty() => vec![None],
        ClipChoice::None => vec![None],
        ClipChoice::Auto if is_crowd && !model.first_clips.is_empty() => {
            model.first_clips.iter().map(|&clip| Some(clip)).collect()
        }
        ClipChoice::All if model.take().is_some() => vec![model.take()],
        ClipChoice::All => (0..model.clips.len() as u32).map(Some).collect(),
        ClipChoice::Auto | ClipChoice::Index(_) | ClipChoice::Name(_) => {
            vec![Some(choice.index_in(model).unwrap_or_else(|| choice.substitute_in(model)) as u32)]
        }
    };
    Ok(models.iter().map(resolve).collect())
}

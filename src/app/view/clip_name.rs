//! The names of clips, as the title and the panel show them.

use crate::crowd::ClipChoice;
use crate::model::Model;

/// Returns the name of the clip that a crowd plays.
pub fn clip_name(models: &[Model], choice: &ClipChoice) -> String {
    match choice {
        ClipChoice::None => "rest pose".to_owned(),
        ClipChoice::All => "all clips".to_owned(),
        ClipChoice::Name(name) => name.clone(),
        ClipChoice::Index(index) => {
            let clip = models.iter().find_map(|model| model.clips.get(*index));
            clip.and_then(|clip| clip.name.clone()).unwrap_or_else(|| format!("clip {index}"))
        }
    }
}

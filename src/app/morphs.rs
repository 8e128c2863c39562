//! `--morph`: from the name of a morph target to its weights in each model, which then stay at one value.

use std::collections::HashSet;

use anyhow::{Result, bail};

use crate::cli::MorphArg;
use crate::model::{Model, names};

/// Holds the weights that the options name, whatever a clip says.
pub fn hold_morphs(models: &mut [Model], morphs: &[MorphArg]) -> Result<()> {
    for MorphArg { name, weight } in morphs {
        if !hold_morph(models, name, Some(*weight)) {
            let offer = |model: &Model| {
                let list = (0..).zip(names_of_morphs(model).into_iter().map(Some));
                format!("{} in {}", names::offer(list, name), model.name)
            };
            let lists: Vec<String> = models.iter().map(offer).collect();
            bail!("--morph {name}: no such morph target; there are: {}", lists.join("; "));
        }
    }
    Ok(())
}

/// Holds the morph targets with a name at a weight, or lets them go. Returns whether a model has any.
pub fn hold_morph(models: &mut [Model], name: &str, weight: Option<f32>) -> bool {
    let mut found = false;
    for model in models {
        for index in weights_of_morph(model, name) {
            model.skeleton.hold_morph(index, weight);
            found = true;
        }
    }
    found
}

/// Returns the names of a model's morph targets, each once. Targets without names have their index in their mesh.
pub fn names_of_morphs(model: &Model) -> Vec<&str> {
    let mut seen = HashSet::new();
    model.skeleton.morph_names.iter().map(AsRef::as_ref).filter(|name| seen.insert(*name)).collect()
}

/// Returns the indices of all weights with a name, or with the name of this index among the names: several meshes of a
/// character may have a target of this name.
pub fn weights_of_morph(model: &Model, wanted: &str) -> Vec<u32> {
    let names = names_of_morphs(model);
    let found = names::find(names.iter().copied().map(Some), wanted).or_else(|| wanted.parse().ok());
    let Some(name) = found.and_then(|index| names.get(index)) else { return Vec::new() };
    (0..).zip(&model.skeleton.morph_names).filter(|(_, other)| ***other == **name).map(|(index, _)| index).collect()
}

//! The generator of `assets/`. In reading order:
//!
//! * [`document`] writes numbers into glTF files. [`strip`] uses it for ten vertices, [`tube`] for an arm, [`jelly`] for a
//!   ball with morph targets, lines and points.
//! * [`skeleton`] has the walker's joints. [`loft`] sweeps sections along paths into closed skins, [`body`] dresses the
//!   skeleton with lofts and weights, [`texture`] paints them.
//! * [`pose`] turns joints and solves legs, [`gait`] walks and runs, [`stand`] idles and waves, [`clips`] samples them
//!   into keyframes.
//! * [`walker`] assembles the character's file.
//! * [`conformance`] has variations of a small rig, each for one rule.
//!
//! The bytes are the same on every machine. All arithmetic is in f64, and every number is snapped to a binary grid
//! before it is written ([`document::snap`]). Only `sin` and `cos` may differ between platforms, in the last bit (1e-16),
//! or by 1e-13 where slopes are differences. The finest grid is 2^-22, or 2.4e-7. Such a difference shows only if it
//! straddles the middle between two grid lines, which is possible but very unlikely.

mod body;
mod clips;
mod conformance;
mod document;
mod gait;
mod jelly;
mod loft;
mod pose;
mod skeleton;
mod stand;
mod strip;
mod texture;
mod tube;
mod walker;

/// A file of `assets/`.
pub struct Asset {
    /// The file name in `assets`.
    pub file_name: String,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

/// Generates every model of `assets/`.
///
/// # Errors
/// If an image or a JSON document cannot be encoded.
pub fn assets() -> anyhow::Result<Vec<Asset>> {
    let models = [
        ("jelly.gltf".to_owned(), jelly::jelly()?),
        ("simple_strip.gltf".to_owned(), strip::simple_strip()?),
        ("tube.gltf".to_owned(), tube::tube()?),
        ("walker.glb".to_owned(), walker::walker()?),
    ];
    let all = models.into_iter().chain(conformance::files()?);
    Ok(all.map(|(file_name, bytes)| Asset { file_name, bytes }).collect())
}

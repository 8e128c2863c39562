//! Everything behind `assets/`: in reading order
//!
//! * [`document`] puts numbers into glTF files, and [`strip`] shows on ten vertices how it is used, [`jelly`] on a
//!   ball what morph targets, lines and points look like;
//! * [`skeleton`] says where the walker's joints are, [`loft`] sweeps sections along paths into closed skins, [`body`]
//!   dresses the skeleton with lofts and weights, [`texture`] paints them;
//! * [`pose`] turns joints and solves legs, [`gait`] walks and runs, [`stand`] idles and waves,
//!   [`clips`] samples them into keyframes;
//! * [`walker`] puts the character's file together.
//!
//! The same bytes everywhere: all arithmetic is in f64, and every number is snapped to a binary grid before it is
//! written ([`document::snap`]). `sin` and `cos` come from the platform's libm and may differ in their last bit, about
//! 1e-16, or 1e-13 where slopes are taken by differences; the finest grid is 2^-22 or 2.4e-7. To be seen, such a
//! difference would have to straddle the middle between two grid lines, which is not excluded but very unlikely.

mod body;
mod clips;
mod document;
mod gait;
mod jelly;
mod loft;
mod pose;
mod skeleton;
mod stand;
mod strip;
mod texture;
mod walker;

/// One file of `assets/`.
pub struct Asset {
    /// Without folder.
    pub file_name: &'static str,
    /// The whole file.
    pub bytes: Vec<u8>,
}

/// Every model of `assets/`.
///
/// # Errors
/// If an image or a JSON document cannot be encoded.
pub fn assets() -> anyhow::Result<Vec<Asset>> {
    Ok(vec![
        Asset { file_name: "jelly.gltf", bytes: jelly::jelly()? },
        Asset { file_name: "simple_strip.gltf", bytes: strip::simple_strip()? },
        Asset { file_name: "walker.glb", bytes: walker::walker()? },
    ])
}

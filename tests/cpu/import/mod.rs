//! Tests of import: each rule of `throng::model::import` on a file built for it, then real models.

mod accessors;
mod clips;
mod compression;
mod draco;
mod far;
mod faults;
mod files;
mod geometry;
mod materials;
mod morphs;
mod order;
mod samples;
mod skins;
#[cfg(feature = "app")]
mod wild;

//! Import: each rule of `throng::model::import` on a file built for it, then real models.

mod accessors;
mod builder;
mod clips;
mod files;
mod geometry;
mod morphs;
mod samples;
mod skins;
mod surfaces;

//! From materials, textures and images to the materials that the renderer draws, with their images.
//!
//! A texture that cannot be read is left out with a warning, because the model can be shown without it. Images are decoded on
//! other threads while `motion` is read; that changes the time, but never the result or the order of messages.
//!
//! Reading order: `materials` reads the parameters, and `textures` the references to images, with their samplers and
//! coordinates. `images` collects the images in use, some decoded ahead, and [`image`](crate::model::image) decodes one.

#![forbid(unsafe_code)]

mod images;
mod materials;
mod textures;

pub use images::while_decoding;
pub use materials::Materials;
pub use textures::TexCoordSets;

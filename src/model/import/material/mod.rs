//! Materials with their textures and images.

mod decode_ahead;
mod image_decoder;
mod images;
mod materials;
mod textures;

pub use decode_ahead::while_decoding;
pub use materials::Materials;
pub use textures::TexCoordSets;

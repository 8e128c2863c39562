//! The bundled models.

use std::path::PathBuf;

use throng::model::{Model, import};

pub const WALKER: &str = "assets/walker.glb";
pub const STRIP: &str = "assets/simple_strip.gltf";
pub const JELLY: &str = "assets/jelly.gltf";

pub fn models() -> [Model; 3] {
    [WALKER, STRIP, JELLY].map(asset)
}

pub fn asset(name: &str) -> Model {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    import::load(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

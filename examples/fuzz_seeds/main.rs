//! Writes the seeds of the fuzz target `import`: small files, one for each thing that import knows, all of them made
//! here. The fuzzer mixes them; without them it would have to find out by chance what a glTF file looks like.
//!
//! ```sh
//! cargo run --example fuzz_seeds -- FOLDER
//! ```
//!
//! Each file is written twice where it makes a difference: as JSON text with data URIs and as a GLB. fuzz/README.md says
//! what to do with them.

#[path = "../../tests/import/builder.rs"]
#[allow(dead_code, reason = "the tests of import use the rest of it")]
mod builder;
mod compressed;
mod features;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: cargo run --example fuzz_seeds -- FOLDER");
        std::process::exit(2);
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (name, gltf) in features::all().into_iter().chain(compressed::all()) {
        // Panics where it is refused: such a seed would teach the fuzzer no more than how to be refused.
        let model = gltf.model();
        println!("{name}: {} vertices, {} clips", model.geometry.vertex_count(), model.clips.len());
        std::fs::write(folder.join(format!("{name}.gltf")), gltf.text())?;
        std::fs::write(folder.join(format!("{name}.glb")), gltf.glb())?;
    }
    std::fs::write(folder.join("simple_strip.gltf"), include_bytes!("../../assets/simple_strip.gltf"))
}

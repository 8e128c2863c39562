//! Writes the seeds of the fuzz target `import`: small files, one for each feature of import. The fuzzer combines them;
//! without them it would have to discover the structure of a glTF file by chance.
//!
//! ```sh
//! cargo run --example fuzz_seeds -- FOLDER
//! ```
//!
//! Files with a buffer are written twice, as JSON text with data URIs and as a GLB. fuzz/README.md describes their use.

#[path = "../../tests/common/builder.rs"]
#[allow(dead_code, reason = "the tests use the rest of it")]
mod builder;
mod compressed;
mod features;
#[path = "../../tests/common/invariants.rs"]
mod invariants;

use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: cargo run --example fuzz_seeds -- FOLDER");
        std::process::exit(2);
    };
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    for (name, gltf) in features::all().into_iter().chain(compressed::all()) {
        // A seed that import refuses is useless to the fuzzer, so it panics here.
        let model = gltf.model();
        println!("{name}: {} vertices, {} clips", model.geometry.vertex_count(), model.clips.len());
        std::fs::write(folder.join(format!("{name}.gltf")), gltf.text())?;
        std::fs::write(folder.join(format!("{name}.glb")), gltf.glb())?;
    }
    std::fs::write(folder.join("simple_strip.gltf"), include_bytes!("../../assets/simple_strip.gltf"))
}

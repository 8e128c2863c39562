//! `cargo run --example make_assets` writes the models in `assets/`. No artist drew them: each one is a program.
//!
//! A program can be read, discussed and changed by one number, and its licence is beyond doubt. Its ground truth is
//! known too, which no downloaded file offers: joint positions, walking speed, where the feet touch the ground.
//! `tests/repository/assets.rs` proves that the checked-in files equal the output of this program, byte for byte.

mod generator;

use std::path::Path;

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for asset in generator::assets()? {
        let path = folder.join(&asset.file_name);
        std::fs::write(&path, &asset.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {} bytes", path.display(), asset.bytes.len());
    }
    Ok(())
}

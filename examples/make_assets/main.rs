//! `cargo run --example make_assets` writes the models in `assets/`, which nobody drew: each is a program.
//!
//! A model that is a program can be read, argued with and changed by one number; its licence is beyond doubt; and
//! its ground truth (joint positions, walking speed, where the feet stand) is known, which no downloaded file offers.
//! `tests/assets.rs` proves that the checked-in files are what this program writes, byte for byte.

mod generator;

use std::path::Path;

use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    for asset in generator::assets()? {
        let path = folder.join(asset.file_name);
        std::fs::write(&path, &asset.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}: {} bytes", path.display(), asset.bytes.len());
    }
    Ok(())
}

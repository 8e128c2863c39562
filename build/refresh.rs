//! Implements `THRONG_SPIRV`: compares the checked-in SPIR-V with the compiler's output, or replaces it.

use std::fs;
use std::path::Path;

use super::manifest::{MANIFEST_FILE, Manifest, Record, out_of_date_message, spirv_path, superfluous_spirv};
use super::sources::{CompiledShader, ShaderSource};

const HEADER: &str = "\
# Which sources the .spv files here were compiled from; build.rs refuses to embed others.
# Written by: THRONG_SPIRV=refresh cargo check --features shaderc
# shader, SHA-256 of its source, includes and compile options, SHA-256 of its .spv
";

/// Returns an error that lists every checked-in file that differs from the compiler's output.
pub fn check(sources: &[ShaderSource], shaders: &[CompiledShader], spirv_folder: &Path) -> Result<(), String> {
    let checked_in = Manifest::read(spirv_folder)?;
    // `findings` reports every `.spv` file that differs from its hash, so comparing hashes is enough below.
    let mut findings = checked_in.findings(sources, spirv_folder)?;
    for (file_name, compiled) in compiled_manifest(sources, shaders).records {
        if checked_in.records.get(&file_name).is_some_and(|record| record.spirv_sha256 != compiled.spirv_sha256) {
            findings.entry(file_name).or_insert("compiles to other bytes than its .spv has");
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(out_of_date_message(&findings)) }
}

/// Makes `spirv_folder` hold exactly the compiled shaders. Files that are already right keep their modification time.
pub fn refresh(sources: &[ShaderSource], shaders: &[CompiledShader], spirv_folder: &Path) -> Result<(), String> {
    fs::create_dir_all(spirv_folder).map_err(|error| format!("{}: {error}", spirv_folder.display()))?;
    for shader in shaders {
        write_if_changed(&spirv_path(spirv_folder, &shader.file_name), &shader.spirv)?;
    }
    for file_name in superfluous_spirv(sources, spirv_folder)? {
        let path = spirv_folder.join(file_name);
        fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let manifest = manifest_text(&compiled_manifest(sources, shaders));
    write_if_changed(&spirv_folder.join(MANIFEST_FILE), manifest.as_bytes())
}

fn compiled_manifest(sources: &[ShaderSource], shaders: &[CompiledShader]) -> Manifest {
    let record = |(source, shader): (&ShaderSource, &CompiledShader)| {
        (source.file_name.clone(), Record::new(source, &shader.spirv))
    };
    Manifest { records: sources.iter().zip(shaders).map(record).collect() }
}

fn manifest_text(manifest: &Manifest) -> String {
    let mut text = HEADER.to_owned();
    for (file_name, record) in &manifest.records {
        text += &format!("{file_name} {} {}\n", record.source_sha256, record.spirv_sha256);
    }
    text
}

fn write_if_changed(path: &Path, content: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

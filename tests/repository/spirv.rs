//! The embedded SPIR-V belongs to the GLSL in `shaders/`, and `build.rs` detects when it does not.
//!
//! The second part runs the code that stops a build, `build/manifest.rs` and `build/refresh.rs`, on a folder of small
//! shaders. That code compares content hashes, so the "SPIR-V" there is invented and no compiler is needed.

#[path = "../../build/manifest.rs"]
mod manifest;
#[path = "../../build/refresh.rs"]
mod refresh;
#[path = "../../build/sources.rs"]
mod sources;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use manifest::{Findings, Manifest, out_of_date_message};
use rspirv::dr::Operand;
use rspirv::spirv::ExecutionModel;
use sources::{CompiledShader, ShaderSource};
use tempfile::TempDir;
use throng::vulkan::spirv::ALL;

use super::files::path_of;
use super::reflect::Reflection;
use super::uniform_branches::uniform_branches;

#[test]
fn every_embedded_shader_is_a_module_for_its_stage_and_suits_the_drivers() {
    let folder = TempDir::new().unwrap();
    for shader in ALL {
        let file_name = shader.file_name;
        let reflection = Reflection::new(shader);
        let module = &reflection.module;
        let version = module.header.as_ref().expect("a header").version();
        assert!(version <= (1, 6), "{file_name} has version {version:?}");
        let stage = match file_name.rsplit('.').next() {
            Some("vert") => ExecutionModel::Vertex,
            Some("frag") => ExecutionModel::Fragment,
            Some("comp") => ExecutionModel::GLCompute,
            _ => panic!("{file_name} is no entry point"),
        };
        let entry_points: Vec<&Operand> = module.entry_points.iter().map(|entry| &entry.operands[0]).collect();
        assert_eq!(entry_points, [&stage.into()], "{file_name}");
        // With such a branch, each frame on lavapipe took another 150 KB, and three times as long. `tests/gpu/memory.rs`
        // measures it for the passes of a plain frame; this test names the shader, of any pass.
        assert_eq!(uniform_branches(module), [""; 0], "{file_name} branches on uniforms alone: use a select");
        // MoltenVK copies an array of such a length out of bounds.
        assert_eq!(reflection.specialized_varyings(), [""; 0], "{file_name} has varyings of a specialized length");
        // MoltenVK converts shaders to Metal's language with the library of this program. Some systems have no package of it.
        let path = folder.path().join(file_name);
        fs::write(&path, bytemuck::cast_slice(shader.words)).unwrap();
        let output = Command::new("spirv-cross").args(["--msl", "--msl-version", "20300"]).arg(&path).output();
        let may_be_missing = std::env::var_os("THRONG_SAMPLE_MODELS").is_none();
        let is_converted = output.as_ref().map_or(may_be_missing, |output| output.status.success());
        assert!(is_converted, "{file_name}: {output:?}; ./setup.sh installs spirv-cross");
    }
}

#[test]
fn the_program_and_the_manifest_have_exactly_the_shaders_that_are_there() {
    let sources = sources::read(&path_of("shaders")).unwrap();
    assert!(sources.iter().any(|source| source.file_name == "skin.comp"));
    assert!(sources.iter().map(|source| &*source.file_name).eq(ALL.iter().map(|shader| shader.file_name)), "{ALL:?}");
    // Nothing is found only if each source has a record, and each record a source.
    let spirv = path_of("shaders/spirv");
    let findings = Manifest::read(&spirv).unwrap().findings(&sources, &spirv).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

/// Holds `skin.comp` ← `skinning.glsl` ← `shared.glsl` → `character.vert`, and `ground.frag` without includes, compiled.
struct ShaderFolder(TempDir);

impl ShaderFolder {
    fn new() -> Self {
        let shaders = Self(TempDir::new().unwrap());
        shaders.write("shared.glsl", "#ifndef SHARED\n#define SHARED\nstruct Joint { vec4 rows[3]; };\n#endif\n");
        shaders.write("skinning.glsl", "#include \"shared.glsl\"\nvec3 skin() { return vec3(0.0); }\n");
        shaders.write("skin.comp", "#version 460\n#include \"skinning.glsl\"\nvoid main() {}\n");
        shaders.write("character.vert", "#version 460\n  # include \"shared.glsl\"\nvoid main() {}\n");
        shaders.write("ground.frag", "#version 460\nvoid main() {}\n");
        shaders.refresh();
        shaders
    }

    fn path(&self, file_name: &str) -> PathBuf {
        self.0.path().join(file_name)
    }

    fn write(&self, file_name: &str, text: &str) {
        fs::write(self.path(file_name), text).unwrap();
    }

    fn edit(&self, file_name: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.path(file_name)).unwrap();
        assert!(text.contains(old), "{file_name} has no {old:?}");
        self.write(file_name, &text.replace(old, new));
    }

    fn sources(&self) -> Vec<ShaderSource> {
        sources::read(self.0.path()).unwrap()
    }

    /// Imitates a compiler: different text gives different bytes.
    fn compiled(&self) -> Vec<CompiledShader> {
        let compile = |source: ShaderSource| {
            let includes: String = source.includes.into_values().collect();
            CompiledShader { file_name: source.file_name, spirv: (source.text + &includes).into_bytes() }
        };
        self.sources().into_iter().map(compile).collect()
    }

    fn refresh(&self) {
        refresh::refresh(&self.sources(), &self.compiled(), &self.path("spirv")).unwrap();
    }

    fn findings(&self) -> Findings {
        let spirv = self.path("spirv");
        Manifest::read(&spirv).unwrap().findings(&self.sources(), &spirv).unwrap()
    }

    fn assert_findings(&self, expected: &[(&str, &str)]) {
        let findings = self.findings();
        assert_eq!(findings.iter().map(|(file, finding)| (&**file, *finding)).collect::<Vec<_>>(), expected);
    }
}

const CHANGED: &str = "has changed since it was compiled (itself, an include, or the compile options)";

#[test]
fn a_changed_include_names_the_shaders_that_include_it_and_no_others() {
    let shaders = ShaderFolder::new();
    shaders.assert_findings(&[]);
    shaders.edit("skinning.glsl", "vec3(0.0)", "vec3(1.0)");
    shaders.assert_findings(&[("skin.comp", CHANGED)]);
    let message = out_of_date_message(&shaders.findings());
    assert!(message.contains("    skin.comp has changed"), "{message}");
    assert!(message.contains("cargo build --features shaderc\n"), "{message}");
    assert!(message.ends_with("THRONG_SPIRV=refresh cargo check --features shaderc"), "{message}");
    shaders.edit("skinning.glsl", "vec3(1.0)", "vec3(0.0)");
    shaders.assert_findings(&[]);
    shaders.edit("shared.glsl", "rows[3]", "rows[4]");
    shaders.assert_findings(&[("character.vert", CHANGED), ("skin.comp", CHANGED)]);
    shaders.refresh();
    shaders.assert_findings(&[]);
    // Line ends do not matter.
    for file_name in ["shared.glsl", "skinning.glsl", "skin.comp"] {
        shaders.edit(file_name, "\n", "\r\n");
    }
    shaders.assert_findings(&[]);
}

#[test]
fn a_changed_new_deleted_or_damaged_file_is_named() {
    let shaders = ShaderFolder::new();
    shaders.edit("ground.frag", "main() {}", "main() { }");
    shaders.write("sky.frag", "#version 460\nvoid main() {}\n");
    fs::remove_file(shaders.path("skin.comp")).unwrap();
    shaders.assert_findings(&[
        ("ground.frag", CHANGED),
        ("skin.comp", "is in the manifest, but its source is gone"),
        ("sky.frag", "has not been compiled yet"),
        ("spirv/skin.comp.spv", "belongs to no shader"),
    ]);
    shaders.refresh();
    shaders.assert_findings(&[]);
    assert!(!shaders.path("spirv/skin.comp.spv").exists());
    fs::remove_file(shaders.path("spirv/ground.frag.spv")).unwrap();
    shaders.edit("spirv/sky.frag.spv", "void", "vord");
    let damaged = "has a .spv other than the one in the manifest";
    shaders.assert_findings(&[("ground.frag", "has no .spv"), ("sky.frag", damaged)]);
}

#[test]
fn checked_in_files_that_differ_from_what_was_compiled_fail_the_check() {
    let shaders = ShaderFolder::new();
    let mut compiled = shaders.compiled();
    let check = |compiled: &[CompiledShader]| refresh::check(&shaders.sources(), compiled, &shaders.path("spirv"));
    assert_eq!(check(&compiled), Ok(()));
    compiled[0].spirv[0] ^= 1;
    let message = check(&compiled).unwrap_err();
    assert!(message.contains("    character.vert compiles to other bytes than its .spv has\n"), "{message}");
    assert!(!message.contains("skin.comp") && !message.contains("ground.frag"), "{message}");
}

#[test]
fn errors_in_sources_and_manifest_say_where() {
    let shaders = ShaderFolder::new();
    fs::remove_file(shaders.path("shared.glsl")).unwrap();
    let message = sources::read(shaders.0.path()).err().unwrap();
    assert!(message.starts_with("shaders/character.vert:2: error: #include \"shared.glsl\": "), "{message}");
    shaders.write("spirv/manifest.txt", "# head\nskin.comp 00\n");
    let message = Manifest::read(&shaders.path("spirv")).unwrap_err();
    assert!(message.ends_with("manifest.txt:2: expected a shader and two hashes, found \"skin.comp 00\""), "{message}");
}

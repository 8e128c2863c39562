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
use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::{Findings, Manifest, out_of_date_message, spirv_path};
use rspirv::spirv::ExecutionModel;
use sources::CompiledShader;
use tempfile::TempDir;
use throng::vulkan::spirv::ALL;

use super::uniform_branches::uniform_branches;

#[test]
fn every_embedded_shader_is_a_module_for_its_stage() {
    assert!(ALL.iter().any(|shader| shader.file_name == "skin.comp"), "{ALL:?}");
    for shader in ALL {
        let file_name = shader.file_name;
        let module = rspirv::dr::load_words(shader.words).unwrap_or_else(|error| panic!("{file_name}: {error}"));
        let version = module.header.as_ref().expect("a header").version();
        assert!(version <= (1, 6), "{file_name} has version {version:?}");
        let expected_stage = match file_name.rsplit('.').next() {
            Some("vert") => ExecutionModel::Vertex,
            Some("frag") => ExecutionModel::Fragment,
            Some("comp") => ExecutionModel::GLCompute,
            _ => panic!("{file_name} is no entry point"),
        };
        let entry_points: Vec<_> = module.entry_points.iter().map(|entry| entry.operands[0].clone()).collect();
        assert_eq!(entry_points, [rspirv::dr::Operand::ExecutionModel(expected_stage)], "{file_name}");
    }
}

#[test]
fn the_manifest_lists_exactly_the_shaders_that_are_there() {
    let shader_folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut present: Vec<String> = fs::read_dir(&shader_folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| [".vert", ".frag", ".comp"].iter().any(|extension| name.ends_with(extension)))
        .collect();
    present.sort();
    let spirv_folder = shader_folder.join("spirv");
    let manifest = Manifest::read(&spirv_folder).unwrap();
    assert_eq!(manifest.records.keys().cloned().collect::<Vec<_>>(), present);
    assert_eq!(ALL.iter().map(|shader| shader.file_name).collect::<Vec<_>>(), present);
    let findings = manifest.findings(&sources::read(&shader_folder).unwrap(), &spirv_folder).unwrap();
    assert!(findings.is_empty(), "{findings:?}");
}

/// With such a branch, each frame on lavapipe took another 150 KB, and three times as long. `tests/gpu/memory.rs` measures it
/// for the passes of a plain frame; this test names the shader, of any pass.
#[test]
fn no_shader_branches_on_uniforms_alone() {
    for shader in ALL {
        let module = rspirv::dr::load_words(shader.words).unwrap();
        assert_eq!(uniform_branches(&module), [""; 0], "{}: use a select", shader.file_name);
    }
}

/// MoltenVK converts shaders to Metal's language with the library of this program. Systems without a package of it leave
/// the test out.
#[test]
fn every_shader_can_be_converted_to_metal() {
    let folder = TempDir::new().unwrap();
    for shader in ALL {
        let path = folder.path().join(shader.file_name);
        fs::write(&path, bytemuck::cast_slice(shader.words)).unwrap();
        let output = Command::new("spirv-cross").args(["--msl", "--msl-version", "20300"]).arg(&path).output();
        match output {
            Ok(output) => assert!(output.status.success(), "{}: {output:?}", shader.file_name),
            Err(error) => {
                assert!(std::env::var_os("THRONG_SAMPLE_MODELS").is_none(), "spirv-cross: {error}; run ./setup.sh");
                return;
            }
        }
    }
}

/// Writes `skin.comp` ← `skinning.glsl` ← `shared.glsl` → `character.vert`, and `ground.frag` without includes, and
/// compiles them.
struct ShaderFolder {
    folder: TempDir,
}

impl ShaderFolder {
    fn new() -> Self {
        let shaders = Self { folder: TempDir::new().unwrap() };
        shaders.write("shared.glsl", "#ifndef SHARED\n#define SHARED\nstruct Joint { vec4 rows[3]; };\n#endif\n");
        shaders.write("skinning.glsl", "#include \"shared.glsl\"\nvec3 skin() { return vec3(0.0); }\n");
        shaders.write("skin.comp", "#version 460\n#include \"skinning.glsl\"\nvoid main() {}\n");
        shaders.write("character.vert", "#version 460\n  # include \"shared.glsl\"\nvoid main() {}\n");
        shaders.write("ground.frag", "#version 460\nvoid main() {}\n");
        shaders.refresh();
        shaders
    }

    fn path(&self, file_name: &str) -> PathBuf {
        self.folder.path().join(file_name)
    }

    fn spirv(&self) -> PathBuf {
        self.path("spirv")
    }

    fn write(&self, file_name: &str, text: &str) {
        fs::write(self.path(file_name), text).unwrap();
    }

    /// Replaces text in a file, which must contain it.
    fn edit(&self, file_name: &str, old: &str, new: &str) {
        let text = fs::read_to_string(self.path(file_name)).unwrap();
        assert!(text.contains(old), "{file_name} has no {old:?}");
        self.write(file_name, &text.replace(old, new));
    }

    fn sources(&self) -> Vec<sources::ShaderSource> {
        sources::read(self.folder.path()).unwrap()
    }

    /// Imitates a compiler: different text gives different bytes.
    fn compiled(&self) -> Vec<CompiledShader> {
        let compile = |source: sources::ShaderSource| {
            let includes: String = source.includes.into_values().collect();
            CompiledShader { file_name: source.file_name, spirv: (source.text + &includes).into_bytes() }
        };
        self.sources().into_iter().map(compile).collect()
    }

    fn refresh(&self) {
        refresh::refresh(&self.sources(), &self.compiled(), &self.spirv()).unwrap();
    }

    /// Returns the findings that stop a plain build, by file.
    fn findings(&self) -> Findings {
        let manifest = Manifest::read(&self.spirv()).unwrap();
        manifest.findings(&self.sources(), &self.spirv()).unwrap()
    }

    fn assert_findings(&self, expected: &[(&str, &str)]) {
        let findings = self.findings();
        assert_eq!(findings.iter().map(|(file, finding)| (&**file, &**finding)).collect::<Vec<_>>(), expected);
    }

    fn stale_shaders(&self) -> Vec<String> {
        self.findings().into_keys().collect()
    }
}

#[test]
fn refreshed_files_are_accepted() {
    let shaders = ShaderFolder::new();
    shaders.assert_findings(&[]);
    assert_eq!(refresh::check(&shaders.sources(), &shaders.compiled(), &shaders.spirv()), Ok(()));
}

#[test]
fn a_changed_include_names_the_shaders_that_include_it_and_no_others() {
    let shaders = ShaderFolder::new();
    shaders.edit("skinning.glsl", "vec3(0.0)", "vec3(1.0)");
    assert_eq!(shaders.stale_shaders(), ["skin.comp"]);
    shaders.edit("skinning.glsl", "vec3(1.0)", "vec3(0.0)");
    assert_eq!(shaders.stale_shaders(), [""; 0]);
    shaders.edit("shared.glsl", "rows[3]", "rows[4]");
    assert_eq!(shaders.stale_shaders(), ["character.vert", "skin.comp"]);
    shaders.refresh();
    assert_eq!(shaders.stale_shaders(), [""; 0]);
}

#[test]
fn a_changed_new_or_deleted_shader_is_named() {
    let shaders = ShaderFolder::new();
    shaders.edit("ground.frag", "main() {}", "main() { }");
    shaders.write("sky.frag", "#version 460\nvoid main() {}\n");
    fs::remove_file(shaders.path("skin.comp")).unwrap();
    let changed = "has changed since it was compiled (itself, an include, or the compile options)";
    shaders.assert_findings(&[
        ("ground.frag", changed),
        ("skin.comp", "is in the manifest, but its source is gone"),
        ("sky.frag", "has not been compiled yet"),
        ("spirv/skin.comp.spv", "belongs to no shader"),
    ]);
    shaders.refresh();
    shaders.assert_findings(&[]);
    assert!(!spirv_path(&shaders.spirv(), "skin.comp").exists());
}

#[test]
fn a_damaged_or_missing_spv_is_named() {
    let shaders = ShaderFolder::new();
    let damaged = spirv_path(&shaders.spirv(), "skin.comp");
    let mut bytes = fs::read(&damaged).unwrap();
    bytes[7] ^= 1;
    fs::write(&damaged, bytes).unwrap();
    fs::remove_file(spirv_path(&shaders.spirv(), "ground.frag")).unwrap();
    shaders.assert_findings(&[
        ("ground.frag", "has no .spv"),
        ("skin.comp", "has a .spv other than the one in the manifest"),
    ]);
}

#[test]
fn checked_in_files_that_differ_from_what_was_compiled_fail_the_check() {
    let shaders = ShaderFolder::new();
    let mut compiled = shaders.compiled();
    compiled[0].spirv[0] ^= 1;
    let message = refresh::check(&shaders.sources(), &compiled, &shaders.spirv()).unwrap_err();
    assert!(message.contains("    character.vert compiles to other bytes than its .spv has\n"), "{message}");
    assert!(!message.contains("skin.comp") && !message.contains("ground.frag"), "{message}");
}

#[test]
fn the_message_names_the_shader_and_both_ways_out() {
    let shaders = ShaderFolder::new();
    shaders.edit("skinning.glsl", "0.0", "0.5");
    let message = out_of_date_message(&shaders.findings());
    assert!(message.contains("    skin.comp has changed"), "{message}");
    assert!(message.contains("cargo build --features shaderc\n"), "{message}");
    assert!(message.ends_with("THRONG_SPIRV=refresh cargo check --features shaderc"), "{message}");
}

#[test]
fn line_ends_do_not_matter() {
    let shaders = ShaderFolder::new();
    for file_name in ["shared.glsl", "skinning.glsl", "skin.comp"] {
        shaders.edit(file_name, "\n", "\r\n");
    }
    shaders.assert_findings(&[]);
}

#[test]
fn errors_in_sources_and_manifest_say_where() {
    let shaders = ShaderFolder::new();
    fs::remove_file(shaders.path("shared.glsl")).unwrap();
    let message = sources::read(shaders.folder.path()).err().unwrap();
    assert!(message.starts_with("shaders/character.vert:2: error: #include \"shared.glsl\": "), "{message}");
    fs::write(shaders.spirv().join(manifest::MANIFEST_FILE), "# head\nskin.comp 00\n").unwrap();
    let message = Manifest::read(&shaders.spirv()).unwrap_err();
    assert!(message.ends_with("manifest.txt:2: expected a shader and two hashes, found \"skin.comp 00\""), "{message}");
}

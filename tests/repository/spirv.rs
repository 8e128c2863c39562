//! The embedded SPIR-V belongs to the GLSL in `shaders/`, and `build.rs` detects when it does not.
//!
//! The second part checks that no shader branches on uniforms alone. The third part runs the code that stops a build,
//! `build/manifest.rs` and `build/refresh.rs`, on a folder of small shaders. That code compares content hashes, so the
//! "SPIR-V" there is invented and no compiler is needed.

#[path = "../../build/manifest.rs"]
mod manifest;
#[path = "../../build/refresh.rs"]
mod refresh;
#[path = "../../build/sources.rs"]
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use manifest::{Manifest, out_of_date_message, spirv_path};
use rspirv::dr::{Builder, Module};
use rspirv::spirv::{Decoration, ExecutionModel, FunctionControl, LoopControl, SelectionControl, StorageClass, Word};
use sources::CompiledShader;
use tempfile::TempDir;
use throng::vulkan::spirv::ALL;

use super::uniform_branches::uniform_branches;

const SPIRV_MAGIC: u32 = 0x0723_0203;
const SPIRV_1_6: u32 = 0x0001_0600;

#[test]
fn every_embedded_shader_is_a_module_for_its_stage() {
    assert!(ALL.iter().any(|shader| shader.file_name == "skin.comp"), "{ALL:?}");
    for shader in ALL {
        let file_name = shader.file_name;
        assert_eq!(shader.words[0], SPIRV_MAGIC, "{file_name}");
        assert!(shader.words[1] <= SPIRV_1_6, "{file_name} has version {:#x}", shader.words[1]);
        let module = rspirv::dr::load_words(shader.words).unwrap_or_else(|error| panic!("{file_name}: {error}"));
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

/// With such a branch, each frame on lavapipe took another 150 KB, and three times as long.
#[test]
fn no_shader_branches_on_uniforms_alone() {
    for shader in ALL {
        let module = rspirv::dr::load_words(shader.words).unwrap();
        assert_eq!(uniform_branches(&module), [""; 0], "{}: use a select", shader.file_name);
    }
}

/// The values that a test's shader may use: floats, except the specialization constant, which is a condition.
struct Values {
    zero: Word,
    uniform: Word,
    push_constant: Word,
    varying: Word,
    specialization_constant: Word,
    /// A pointer to a variable of the function.
    local: Word,
}

/// Returns a shader with the function body that `build` writes.
fn shader(build: impl FnOnce(&mut Builder, &Values)) -> Module {
    let mut b = Builder::new();
    let (void, float) = (b.type_void(), b.type_float(32, None));
    let block = b.type_struct([float]);
    b.decorate(block, Decoration::Block, []);
    let (int, bool) = (b.type_int(32, 0), b.type_bool());
    let zero = b.constant_bit32(float, 0);
    let first_member = b.constant_bit32(int, 0);
    let specialization_constant = b.spec_constant_true(bool);
    let variable = |b: &mut Builder, class, pointee| {
        let pointer = b.type_pointer(None, class, pointee);
        b.variable(pointer, None, class, None)
    };
    let uniform = variable(&mut b, StorageClass::Uniform, block);
    let push_constant = variable(&mut b, StorageClass::PushConstant, block);
    let varying = variable(&mut b, StorageClass::Input, float);
    let member = [StorageClass::Uniform, StorageClass::PushConstant].map(|class| b.type_pointer(None, class, float));
    let function = b.type_function(void, []);
    b.begin_function(void, None, FunctionControl::NONE, function).unwrap();
    b.begin_block(None).unwrap();
    let local = variable(&mut b, StorageClass::Function, float);
    let [uniform, push_constant] = [(uniform, member[0]), (push_constant, member[1])].map(|(variable, pointer)| {
        let member = b.access_chain(pointer, None, variable, [first_member]).unwrap();
        b.load(float, None, member, None, []).unwrap()
    });
    let varying = b.load(float, None, varying, None, []).unwrap();
    build(&mut b, &Values { zero, uniform, push_constant, varying, specialization_constant, local });
    b.ret().unwrap();
    b.end_function().unwrap();
    b.module()
}

fn is_less(b: &mut Builder, left: Word, right: Word) -> Word {
    let bool = b.type_bool();
    b.f_ord_less_than(bool, None, left, right).unwrap()
}

/// Writes `if (condition) {}`.
fn branch(b: &mut Builder, condition: Word) {
    let (body, end) = (b.id(), b.id());
    b.selection_merge(end, SelectionControl::NONE).unwrap();
    b.branch_conditional(condition, body, end, []).unwrap();
    b.begin_block(Some(body)).unwrap();
    b.branch(end).unwrap();
    b.begin_block(Some(end)).unwrap();
}

/// Returns a shader that branches on the condition that the sum of two values is positive.
fn branches_on(left: fn(&Values) -> Word, right: fn(&Values) -> Word) -> Module {
    shader(|b, values| {
        let float = b.type_float(32, None);
        let sum = b.f_add(float, None, left(values), right(values)).unwrap();
        let condition = is_less(b, values.zero, sum);
        branch(b, condition);
    })
}

#[test]
fn branches_on_uniforms_alone_are_found() {
    let count = |module: &Module| uniform_branches(module).len();
    assert_eq!(count(&branches_on(|values| values.uniform, |values| values.zero)), 1);
    assert_eq!(count(&branches_on(|values| values.push_constant, |values| values.uniform)), 1);
    let through_a_variable = shader(|b, values| {
        let float = b.type_float(32, None);
        b.store(values.local, values.uniform, None, []).unwrap();
        let loaded = b.load(float, None, values.local, None, []).unwrap();
        let condition = is_less(b, values.zero, loaded);
        branch(b, condition);
    });
    assert_eq!(count(&through_a_variable), 1);
    let switch = shader(|b, values| {
        let (int, end) = (b.type_int(32, 0), b.id());
        let selector = b.convert_f_to_u(int, None, values.push_constant).unwrap();
        b.selection_merge(end, SelectionControl::NONE).unwrap();
        b.switch(selector, end, []).unwrap();
        b.begin_block(Some(end)).unwrap();
    });
    assert_eq!(count(&switch), 1);
}

/// The loop is `for (x = 0; x < uniform; x += x) {}`.
#[test]
fn a_loop_whose_bound_is_a_uniform_is_found() {
    let module = shader(|b, values| {
        let float = b.type_float(32, None);
        let [before, head, body, next, end, x, sum] = std::array::from_fn(|_| b.id());
        b.branch(before).unwrap();
        b.begin_block(Some(before)).unwrap();
        b.branch(head).unwrap();
        b.begin_block(Some(head)).unwrap();
        b.phi(float, Some(x), [(values.zero, before), (sum, next)]).unwrap();
        let condition = is_less(b, x, values.uniform);
        b.loop_merge(end, next, LoopControl::NONE, []).unwrap();
        b.branch_conditional(condition, body, end, []).unwrap();
        b.begin_block(Some(body)).unwrap();
        b.branch(next).unwrap();
        b.begin_block(Some(next)).unwrap();
        b.f_add(float, Some(sum), x, x).unwrap();
        b.branch(head).unwrap();
        b.begin_block(Some(end)).unwrap();
    });
    assert_eq!(uniform_branches(&module).len(), 1);
}

#[test]
fn selects_and_other_branches_are_left_alone() {
    let none = [""; 0];
    assert_eq!(uniform_branches(&branches_on(|values| values.uniform, |values| values.varying)), none);
    assert_eq!(uniform_branches(&shader(|b, values| branch(b, values.specialization_constant))), none);
    let select = shader(|b, values| {
        let float = b.type_float(32, None);
        let condition = is_less(b, values.zero, values.uniform);
        b.select(float, None, condition, values.uniform, values.push_constant).unwrap();
    });
    assert_eq!(uniform_branches(&select), none);
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

    /// Returns the findings that stop a plain build, as `(file, finding)`.
    fn findings(&self) -> Vec<(String, &'static str)> {
        let manifest = Manifest::read(&self.spirv()).unwrap();
        manifest.findings(&self.sources(), &self.spirv()).unwrap().into_iter().collect()
    }

    fn stale_shaders(&self) -> Vec<String> {
        self.findings().into_iter().map(|(file_name, _)| file_name).collect()
    }
}

#[test]
fn refreshed_files_are_accepted() {
    let shaders = ShaderFolder::new();
    assert_eq!(shaders.findings(), []);
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
    assert_eq!(
        shaders.findings(),
        [
            (
                "ground.frag".to_owned(),
                "has changed since it was compiled (itself, an include, or the compile options)"
            ),
            ("skin.comp".to_owned(), "is in the manifest, but its source is gone"),
            ("sky.frag".to_owned(), "has not been compiled yet"),
            ("spirv/skin.comp.spv".to_owned(), "belongs to no shader"),
        ]
    );
    shaders.refresh();
    assert_eq!(shaders.findings(), []);
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
    assert_eq!(
        shaders.findings(),
        [
            ("ground.frag".to_owned(), "has no .spv"),
            ("skin.comp".to_owned(), "has a .spv other than the one in the manifest"),
        ]
    );
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
    let findings = Manifest::read(&shaders.spirv()).unwrap().findings(&shaders.sources(), &shaders.spirv()).unwrap();
    let message = out_of_date_message(&findings);
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
    assert_eq!(shaders.findings(), []);
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

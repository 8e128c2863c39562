//! GLSL to SPIR-V with shaderc. The text of this file is part of every shader's hash in the manifest, since it is
//! where the compile options stand.
//!
//! The optimiser strips all names, and the test of the struct layouts needs those of the members; the option that
//! keeps them, debug information, embeds the source as well, so that a capture in RenderDoc can be stepped through.

use shaderc::{CompileOptions, Compiler, EnvVersion, OptimizationLevel, ResolvedInclude, ShaderKind, TargetEnv};

use super::sources::{CompiledShader, ShaderSource};

/// Compiles every shader; the error holds the messages of all that do not compile, each as `shader:line: message`.
pub fn all(sources: &[ShaderSource]) -> Result<Vec<CompiledShader>, String> {
    let compiler = Compiler::new().map_err(|error| format!("shaderc does not start: {error}"))?;
    let (mut shaders, mut messages) = (Vec::new(), Vec::new());
    for source in sources {
        match one(&compiler, source) {
            Ok(spirv) => shaders.push(CompiledShader { file_name: source.file_name.clone(), spirv }),
            Err(message) => messages.push(message),
        }
    }
    if messages.is_empty() { Ok(shaders) } else { Err(messages.join("\n")) }
}

fn one(compiler: &Compiler, source: &ShaderSource) -> Result<Vec<u8>, String> {
    let kind = match source.file_name.rsplit('.').next() {
        Some("vert") => ShaderKind::Vertex,
        Some("frag") => ShaderKind::Fragment,
        _ => ShaderKind::Compute,
    };
    let options = options(source).map_err(|error| format!("shaders/{}: {error}", source.file_name))?;
    // The path is part of the debug information: relative, so that the bytes are the same on every machine.
    let path = format!("shaders/{}", source.file_name);
    let artifact = compiler.compile_into_spirv(&source.text, kind, &path, "main", Some(&options));
    match artifact {
        Ok(artifact) => Ok(artifact.as_binary().iter().flat_map(|word| word.to_le_bytes()).collect()),
        Err(shaderc::Error::CompilationError(_, messages)) => Err(messages.trim_end().to_owned()),
        Err(error) => Err(format!("{path}: {error}")),
    }
}

fn options(source: &ShaderSource) -> shaderc::Result<CompileOptions<'_>> {
    let mut options = CompileOptions::new()?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_3 as u32);
    options.set_target_spirv(shaderc::SpirvVersion::V1_6);
    options.set_optimization_level(OptimizationLevel::Performance);
    options.set_generate_debug_info();
    options.set_warnings_as_errors();
    options.set_include_callback(|included_name, _, _, _| {
        // Only what was read for the hash: the compiler sees nothing that the manifest does not cover.
        let content = source.includes.get(included_name).ok_or("no such file in shaders/")?;
        Ok(ResolvedInclude { resolved_name: format!("shaders/{included_name}"), content: content.clone() })
    });
    Ok(options)
}

//! The registers that each shader takes on real GPUs. RADV compiles all pipelines of all sample models, without a GPU
//! ([`null_device`]), and reports figures through VK_KHR_pipeline_executable_properties.
//!
//! No shader may spill registers to memory, and the skinning kernels must leave room for many groups. This command prints the
//! tables of `docs/registers.md`:
//!
//! ```text
//! cargo test --test gpu registers -- --nocapture
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use ash::{khr, vk};
use throng::extras::{DebugView, Show};
use throng::model::{AlphaMode, Model};
use throng::renderer::{RendererSettings, Skinning};
use throng::shader_types::{
    BindVertex, GpuInfluence, SkinnedVertex, SpecializationConstants, StaticVertex, material_features,
};
use throng::vulkan::instance::{Instance, InstanceOptions};

use crate::common::assets;
use crate::common::gpu::{Test, TestDevice, gpu_tests, in_own_processes, note};
use crate::common::levels;
use crate::common::scene::{self, Shown};
use crate::gpu::loader::{P, above_validation, list, next, null_device, replacements};

const DRIVER: &str = "/usr/share/vulkan/icd.d/radeon_icd.x86_64.json";
const FAMILY_VARIABLE: &str = "RADV_FORCE_FAMILY";
/// The GPUs, by names that old drivers know too.
const FAMILIES: [(&str, &str); 2] = [("gfx1100", "RDNA 3"), ("navi21", "RDNA 2")];

/// The most vector registers of a skinning kernel. With 48, RDNA 3 holds as many subgroups as it can, and RDNA 2 holds 20 of
/// 32, which suffice to hide the latency of memory.
const MOST_SKIN_REGISTERS: u64 = 48;
/// The most of one that blends dual quaternions.
const MOST_DUAL_QUATERNION_REGISTERS: u64 = 64;

/// Fewer would mean that pipelines were missed.
const LEAST_SHADERS: usize = 800;

pub fn tests() -> Vec<Test> {
    // Where apt installs packages, `setup.sh` has installed the driver.
    let is_expected = cfg!(target_arch = "x86_64") && Path::new("/usr/bin/apt-get").exists();
    let has_driver = is_expected || Path::new(DRIVER).exists();
    // The second name of the variable is older.
    let variables = [
        ("VK_DRIVER_FILES", DRIVER),
        ("VK_ICD_FILENAMES", DRIVER),
        (FAMILY_VARIABLE, FAMILIES[0].0),
        ("MESA_SHADER_CACHE_DISABLE", "true"),
    ];
    let test = gpu_tests![shaders_fit_into_registers [ignored if !has_driver || cfg!(not(sample_models))]];
    in_own_processes(&variables, test)
}

#[derive(Debug, Clone)]
struct Shader {
    pipeline: vk::Pipeline,
    stage: vk::ShaderStageFlags,
    file_name: String,
    constants: SpecializationConstants,
    /// The driver's figures, by their names.
    figures: BTreeMap<String, u64>,
}

thread_local! {
    static SHADERS: RefCell<Vec<Shader>> = RefCell::default();
    static MODULES: RefCell<BTreeMap<u64, String>> = RefCell::default();
}

fn shaders_fit_into_registers(device: &TestDevice) {
    assert!(Path::new(DRIVER).exists(), "{DRIVER} is missing; run ./setup.sh");
    let mut models = assets::samples();
    models.extend(assets::models());
    // No sample has holes or dual quaternions.
    let mut walkers = [assets::WALKER; 2].map(assets::asset);
    walkers[0].materials.iter_mut().for_each(|material| material.alpha_mode = AlphaMode::Mask(0.5));
    walkers[1].geometry.with_dual_quaternions = true;
    levels::give_levels(&mut walkers[0], 8, &[0.1]);
    models.extend(walkers);
    let mut wrong = Vec::new();
    for (family, architecture) in FAMILIES {
        // SAFETY: the other threads of this process wait, and do not read the environment.
        unsafe { std::env::set_var(FAMILY_VARIABLE, family) };
        let skinnings = [Skinning::Compute, Skinning::Vertex];
        let shaders = skinnings.map(|skinning| compile(device, &models, skinning)).concat();
        note!("## {architecture} (`{family}`)\n\n{}", table(&shaders));
        assert!(shaders.len() >= LEAST_SHADERS, "only {} shaders were compiled for {family}", shaders.len());
        for Shader { file_name, constants, figures, .. } in shaders {
            let spilled = ["Spilled VGPRs", "Spilled SGPRs", "Scratch size"].map(|name| figures[name]);
            let most = match (&*file_name, constants.with_dual_quaternions) {
                ("skin.comp", 0) => MOST_SKIN_REGISTERS,
                ("skin.comp", _) => MOST_DUAL_QUATERNION_REGISTERS,
                _ => u64::MAX,
            };
            if spilled != [0; 3] || figures["VGPRs"] > most {
                wrong.push(format!("{family} {file_name} {constants:?}: {figures:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compiles all pipelines of the models: those of a renderer, of a frame with an overlay and an outline, and of all views.
fn compile(device: &TestDevice, models: &[Model], skinning: Skinning) -> Vec<Shader> {
    let entry = above_validation(|name| replacement(name).or_else(|| null_device::functions(name)));
    let instance = Instance::with_entry(entry, InstanceOptions::default()).expect("an instance");
    let device = device.open_on(&instance).expect("a device");
    let settings = RendererSettings { skinning, copies: Some(true), ..RendererSettings::default() };
    let Shown { mut scene, mut renderer } = Shown::new(&device, models, "--size 64x64", settings);
    scene.show.outlined = Some(0);
    scene::draw_triangle_over(&mut renderer).expect("an atlas");
    scene.draw(&mut renderer, 0.0, false).expect("a frame");
    let has_view = |view: &DebugView| skinning == Skinning::Compute || *view != DebugView::Motion;
    for view in DebugView::ALL.into_iter().chain([DebugView::Heat]).filter(has_view) {
        renderer.try_show(&scene.crowd, &Show { view, bones: true, ..Show::default() }).expect("a view");
    }
    let functions = khr::pipeline_executable_properties::Device::new(&instance.raw, &device.raw);
    let mut shaders = SHADERS.take();
    shaders.iter_mut().for_each(|shader| shader.figures = figures(&functions, shader));
    shaders
}

fn figures(functions: &khr::pipeline_executable_properties::Device, shader: &Shader) -> BTreeMap<String, u64> {
    let info = vk::PipelineInfoKHR::default().pipeline(shader.pipeline);
    // SAFETY: the pipeline is alive, and the device has the extension.
    let executables = unsafe { functions.get_pipeline_executable_properties(&info) }.expect("executables");
    let index = executables.iter().position(|executable| executable.stages.contains(shader.stage));
    let info = vk::PipelineExecutableInfoKHR::default()
        .pipeline(shader.pipeline)
        .executable_index(index.expect("a shader for each stage") as u32);
    // SAFETY: as above, and the pipeline was created for statistics.
    let statistics = unsafe { functions.get_pipeline_executable_statistics(&info) }.expect("statistics");
    let figures = statistics.iter().filter(|one| one.format == vk::PipelineExecutableStatisticFormatKHR::UINT64);
    let name =
        |one: &vk::PipelineExecutableStatisticKHR| one.name_as_c_str().unwrap_or(c"").to_string_lossy().into_owned();
    // SAFETY: the format says that the value is this one.
    figures.map(|one| (name(one), unsafe { one.value.u64 })).collect()
}

/// Stores the shaders of a new pipeline.
///
/// # Safety
/// The create infos are valid.
unsafe fn store(pipeline: vk::Pipeline, stages: &[vk::PipelineShaderStageCreateInfo]) {
    for stage in stages {
        let file_name = MODULES.with_borrow(|modules| modules[&vk::Handle::as_raw(stage.module)].clone());
        // SAFETY: every pipeline has specialization constants, perhaps none.
        let bytes = unsafe {
            let info = &*stage.p_specialization_info;
            std::slice::from_raw_parts(info.p_data.cast::<u8>(), info.data_size)
        };
        let constants = bytemuck::try_pod_read_unaligned(bytes).unwrap_or_default();
        let shader = Shader { pipeline, stage: stage.stage, file_name, constants, figures: BTreeMap::new() };
        SHADERS.with_borrow_mut(|shaders| shaders.push(shader));
    }
}

const STATISTICS: vk::PipelineCreateFlags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;

replacements! {
    |next|
    vkCreateDevice(
        physical: P, info: *const vk::DeviceCreateInfo<'_>, allocator: P, made: *mut vk::Device
    ) -> vk::Result {
        let names = list((*info).pp_enabled_extension_names, (*info).enabled_extension_count);
        let names = [names, &[khr::pipeline_executable_properties::NAME.as_ptr()]].concat();
        let mut feature =
            vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
        next(physical, &(*info).enabled_extension_names(&names).push_next(&mut feature), allocator, made)
    }
    vkCreateComputePipelines(
        device: P, cache: u64, count: u32, info: *const vk::ComputePipelineCreateInfo<'_>, allocator: P,
        made: *mut vk::Pipeline
    ) -> vk::Result {
        assert_eq!(count, 1);
        let result = next(device, cache, count, &(*info).flags((*info).flags | STATISTICS), allocator, made);
        store(*made, &[(*info).stage]);
        result
    }
    vkCreateGraphicsPipelines(
        device: P, cache: u64, count: u32, info: *const vk::GraphicsPipelineCreateInfo<'_>, allocator: P,
        made: *mut vk::Pipeline
    ) -> vk::Result {
        assert_eq!(count, 1);
        let result = next(device, cache, count, &(*info).flags((*info).flags | STATISTICS), allocator, made);
        store(*made, list((*info).p_stages, (*info).stage_count));
        result
    }
    vkSetDebugUtilsObjectNameEXT(_device: P, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>) -> vk::Result {
        if let (vk::ObjectType::SHADER_MODULE, Some(name)) = ((*info).object_type, (*info).object_name_as_c_str()) {
            let name = name.to_string_lossy().into_owned();
            MODULES.with_borrow_mut(|modules| modules.insert((*info).object_handle, name));
        }
        vk::Result::SUCCESS
    }
}

/// The bytes that a shader reads and writes for a vertex of an instance, from the strides of the structs. A work group of
/// `skin.comp` reads a vertex once for several poses. Matrices and morph deltas are left out: vertices share them.
fn bytes_per_vertex(file_name: &str, constants: &SpecializationConstants) -> Option<usize> {
    let (skinned, fixed, number) = (size_of::<SkinnedVertex>(), size_of::<StaticVertex>(), size_of::<u32>());
    let bind = size_of::<BindVertex>() + constants.influence_count as usize * size_of::<GpuInfluence>();
    let with_tangents = constants.with_tangents as usize * number;
    let fixed = if file_name.starts_with("shadow") && constants.features == 0 { 0 } else { fixed };
    match file_name {
        "skin.comp" => {
            let read = number + bind + with_tangents;
            Some(read.div_ceil(constants.poses_per_group as usize) + skinned + with_tangents)
        }
        "shadow.vert" | "character.vert" => Some(skinned + fixed),
        "shadow_skinning.vert" | "character_skinning.vert" if constants.influence_count > 0 => Some(bind + fixed),
        _ => None,
    }
}

/// Returns what distinguishes a row of the table from others of the same shader.
fn variant(file_name: &str, constants: &SpecializationConstants) -> String {
    let mut words = Vec::new();
    if file_name == "skin.comp" || file_name.ends_with("_skinning.vert") {
        words.push(match constants.influence_count {
            0 => "any number of joints".to_owned(),
            1 => "1 joint".to_owned(),
            count => format!("{count} joints"),
        });
        let others = [
            (constants.with_morphs, "morphs"),
            (constants.with_tangents, "tangents"),
            (constants.with_dual_quaternions, "dual quaternions"),
        ];
        words.extend(others.into_iter().filter(|&(has, _)| has != 0).map(|(_, word)| word.to_owned()));
    }
    if constants.features & material_features::COPIES != 0 && file_name.ends_with(".vert") {
        words.push("copies".to_owned());
    }
    if file_name.starts_with("character") && file_name.ends_with(".frag") {
        words.push(if constants.features & material_features::UNLIT == 0 { "lit" } else { "unlit" }.to_owned());
    }
    words.join(", ")
}

/// Returns a table of all shaders, in Markdown. Shaders that differ in their materials alone share a row.
fn table(shaders: &[Shader]) -> String {
    const FIGURES: [&str; 5] = ["VGPRs", "SGPRs", "Subgroups per SIMD", "Instructions", "Code size"];
    let mut rows: BTreeMap<(String, String), Vec<[Option<u64>; 6]>> = BTreeMap::new();
    for Shader { file_name, constants, figures, .. } in shaders {
        let [a, b, c, d, e] = FIGURES.map(|name| figures.get(name).copied());
        let bytes = bytes_per_vertex(file_name, constants).map(|bytes| bytes as u64);
        rows.entry((file_name.clone(), variant(file_name, constants))).or_default().push([a, b, c, d, e, bytes]);
    }
    let mut text = String::from(
        "| shader | variant | VGPRs | SGPRs | subgroups per SIMD | instructions | bytes of code | bytes per vertex |\n\
         |---|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for ((file_name, variant), rows) in rows {
        let _ = write!(text, "| `{file_name}` | {variant} |");
        for column in 0..FIGURES.len() + 1 {
            let values = || rows.iter().filter_map(|row| row[column]);
            let _ = match (values().min(), values().max()) {
                (Some(least), Some(most)) if least < most => write!(text, " {least}–{most} |"),
                (Some(least), _) => write!(text, " {least} |"),
                _ => write!(text, " |"),
            };
        }
        text.push('\n');
    }
    text
}

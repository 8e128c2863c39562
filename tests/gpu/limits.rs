//! Devices with small limits. The driver claims them below the validation layer ([`claims`]). The picture is the same as with
//! the driver's own limits, or the program refuses the device and names the limit, and the layer reports nothing.

use ash::vk;
use throng::model::Model;
use throng::renderer::{RendererSettings, Shadows, UploadPath};
use throng::vulkan::descriptors::DescriptorSetLayout;
use throng::vulkan::pipeline::PipelineLayout;

use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::scene::{self, Shown};
use crate::gpu::loader::claims::{self, Change, Claims, open};
use crate::gpu::loader::null_device::discrete_memory;

list_gpu_tests![
    no_claim_changes_the_picture,
    small_ranges_divide_the_skinned_vertices,
    too_few_storage_buffers_are_refused,
    the_layer_judges_by_the_claims,
];

const TIMES_SECONDS: [f64; 2] = [0.0, 0.4];
const CROWD: &str = "--size 96x64 --instances 12 --clip all --seed 7";

fn settings() -> RendererSettings<'static> {
    RendererSettings { samples: 1, shadows: Shadows::Map(256), ..RendererSettings::default() }
}

fn opened(device: &TestDevice, claims: Claims) -> Gpu {
    open(device, claims).expect("a device")
}

fn picture(gpu: &Gpu, models: &[Model], settings: RendererSettings, options: &str) -> Vec<u8> {
    Shown::new(gpu.device(), models, options, settings).draw_at(&TIMES_SECONDS)
}

fn twelve_storage_buffers(device: &mut vk::PhysicalDeviceProperties) {
    device.limits.max_per_stage_descriptor_storage_buffers = 12;
}

/// Types as on many mobile GPUs, of which one is cached but not coherent. Vulkan guarantees a coherent one as well.
fn mobile_memory(memory: &mut vk::PhysicalDeviceMemoryProperties) {
    use vk::MemoryPropertyFlags as Flags;
    memory.memory_heap_count = 1;
    memory.memory_heaps[0] = vk::MemoryHeap { size: 2 << 30, flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
    memory.memory_type_count = 3;
    memory.memory_types[0].property_flags = Flags::DEVICE_LOCAL;
    memory.memory_types[1].property_flags = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_CACHED;
    memory.memory_types[2].property_flags = Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
}

fn no_claim_changes_the_picture(device: &TestDevice) {
    let models = scene::models();
    let expected = picture(&opened(device, Claims::NONE), &models, settings(), CROWD);
    let direct = RendererSettings { upload: Some(UploadPath::Direct), ..settings() };
    let small_ranges = Claims::properties(|device| device.limits.max_storage_buffer_range = 128 << 20);
    // Processors have no anisotropy in any case.
    let gpu_without_anisotropy = Claims {
        properties: |device| device.device_type = vk::PhysicalDeviceType::DISCRETE_GPU,
        features: |features| features.sampler_anisotropy = vk::FALSE,
        ..Claims::NONE
    };
    let no_edges = Claims { features: |features| features.fill_mode_non_solid = vk::FALSE, ..Claims::NONE };
    let one_queue = Claims { family: |family| family.queue_count = 1, presents: false, ..Claims::NONE };
    // The types of a discrete GPU, of whose mapped memory the system has left nothing.
    let exhausted_memory = Claims::memory(|memory| {
        discrete_memory(memory);
        memory.memory_heaps[2].size = 1;
    });
    for (what, claims, settings, used_types) in [
        ("12 storage buffers in a stage", Claims::properties(twelve_storage_buffers), settings(), 0),
        ("ranges of 128 MiB", small_ranges, settings(), 0),
        ("a GPU without anisotropy", gpu_without_anisotropy, settings(), 0),
        ("no edges of triangles", no_edges, settings(), 0),
        ("one family with one queue, which does not present", one_queue, settings(), 0),
        ("256 MiB of mapped device memory", Claims::memory(discrete_memory), settings(), 0b1101),
        ("the same, used for streams", Claims::memory(discrete_memory), direct, 0b1101),
        ("the same, exhausted", exhausted_memory, direct, 0b1011),
        ("memory that is not coherent", Claims::memory(mobile_memory), settings(), 0b101),
    ] {
        assert!(picture(&opened(device, claims), &models, settings, CROWD) == expected, "{what}: another picture");
        assert_eq!(claims::used_memory_types(), used_types, "{what}: the types of claimed memory as bits");
    }
    let [none, few]: [Change<vk::QueueFamilyProperties>; 2] =
        [|family| family.timestamp_valid_bits = 0, |family| family.timestamp_valid_bits = 36];
    for (family, has_times) in [(none, false), (few, true)] {
        let gpu = opened(device, Claims { family, ..Claims::NONE });
        // The times of a slot arrive after its next frame.
        let settings = RendererSettings { frames_in_flight: 1, ..settings() };
        let mut shown = Shown::new(gpu.device(), &models, CROWD, settings);
        assert!(shown.draw_at(&TIMES_SECONDS) == expected, "another picture");
        shown.draw_at(&TIMES_SECONDS);
        assert_eq!(shown.renderer.gpu_times().is_some(), has_times);
    }
}

/// Vulkan guarantees ranges of 128 MiB, which would take a large crowd to fill.
fn small_ranges_divide_the_skinned_vertices(device: &TestDevice) {
    const RANGE_BYTES: u32 = 1 << 20;
    let (models, crowd) = (scene::models(), "--size 96x64 --instances 300 --clip all --seed 7");
    let expected = picture(&opened(device, Claims::NONE), &models, settings(), crowd);
    let claims = Claims::properties(|device| device.limits.max_storage_buffer_range = RANGE_BYTES);
    let gpu = opened(device, claims);
    let mut shown = Shown::new(gpu.device(), &models, crowd, settings());
    assert!(shown.draw_at(&TIMES_SECONDS) == expected, "another picture");
    let vertex_bytes = shown.renderer.byte_counts().skinned_vertices;
    assert!(vertex_bytes > u64::from(RANGE_BYTES), "{vertex_bytes} bytes fit into one range");
}

/// A layout with one storage buffer too many.
fn the_layer_judges_by_the_claims(device: &TestDevice) {
    let mut gpu = opened(device, Claims::properties(twelve_storage_buffers));
    let binding = (vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE);
    let set = DescriptorSetLayout::new(gpu.device(), "set layout", &[binding; 13]).expect("a set layout");
    let stage = vk::ShaderStageFlags::COMPUTE;
    let layout = PipelineLayout::new(gpu.device(), "layout", stage, &[&set], 0).expect("a layout");
    drop((set, layout));
    let message = gpu.close().expect_err("a message");
    assert!(message.contains("VUID-VkPipelineLayoutCreateInfo-descriptorType-03018"), "{message}");
}

fn too_few_storage_buffers_are_refused(device: &TestDevice) {
    let claims = Claims::properties(|device| device.limits.max_per_stage_descriptor_storage_buffers = 8);
    let refusal = open(device, claims).err().expect("a refusal").to_string();
    assert!(refusal.contains("has 8 storage buffers in a shader stage, but 12 are needed"), "{refusal}");
}

//! A device without hardware: RADV compiles for an absent GPU (`RADV_FORCE_FAMILY`), and these functions do what it cannot.
//!
//! It has no memory, and it crashes when it should create images, record commands or wait. So the heaps are invented,
//! images and synchronisation are numbers, commands are ignored, and every submission has finished at once. Nothing is drawn.
//! The driver still allocates memory that can be mapped, creates buffers, and compiles pipelines with its real compiler.
//!
//! The validation layer would judge the inventions, so it is not used here.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;

use ash::vk;

use super::{P, next, replacements};

thread_local! {
    static HANDLE: Cell<u64> = const { Cell::new(0) };
    /// The size of each image.
    static IMAGES: RefCell<BTreeMap<u64, u64>> = RefCell::default();
}

pub fn functions(name: &str) -> Option<*const c_void> {
    const MADE: [&str; 4] = ["Fence", "ImageView", "QueryPool", "Semaphore"];
    const DONE: &str = "vkBeginCommandBuffer vkBindImageMemory vkDeviceWaitIdle vkEndCommandBuffer vkGetQueryPoolResults \
        vkQueueSubmit2 vkQueueWaitIdle vkResetCommandPool vkResetFences vkWaitForFences vkWaitSemaphores";
    let is_made = |kind: &str| kind == "Image" || MADE.contains(&kind);
    // The caller removes the arguments from the stack, so a function that reads none has the type of each of these.
    if name.strip_prefix("vkCreate").is_some_and(|kind| MADE.contains(&kind)) {
        Some(make as *const c_void)
    } else if DONE.split(' ').any(|done| done == name) {
        Some(succeed as *const c_void)
    } else if name.strip_prefix("vkDestroy").is_some_and(is_made)
        || name == "vkUpdateDescriptorSets"
        || name.starts_with("vkCmd")
    {
        Some(ignore as *const c_void)
    } else {
        replacement(name)
    }
}

fn new_handle() -> u64 {
    HANDLE.set(HANDLE.get() + 1);
    HANDLE.get()
}

/// # Safety
/// `made` has room for a handle.
unsafe extern "system" fn make(_device: P, _info: P, _allocator: P, made: *mut u64) -> vk::Result {
    // SAFETY: the caller makes the promise.
    unsafe { *made = new_handle() };
    vk::Result::SUCCESS
}

extern "system" fn succeed() -> vk::Result {
    vk::Result::SUCCESS
}

extern "system" fn ignore() {}

pub fn discrete_memory(memory: &mut vk::PhysicalDeviceMemoryProperties) {
    use vk::MemoryPropertyFlags as Flags;
    let (device, upload) = (Flags::DEVICE_LOCAL, Flags::HOST_VISIBLE | Flags::HOST_COHERENT);
    let types = [(device, 0), (upload, 1), (device | upload, 2), (upload | Flags::HOST_CACHED, 1)];
    // The last heap is the part of the device's memory that processors see through the bus.
    let heaps = [(2 << 30, true), (2 << 30, false), (256 << 20, true)];
    *memory = vk::PhysicalDeviceMemoryProperties::default();
    memory.memory_type_count = types.len() as u32;
    for (memory_type, (property_flags, heap_index)) in memory.memory_types.iter_mut().zip(types) {
        *memory_type = vk::MemoryType { property_flags, heap_index };
    }
    memory.memory_heap_count = heaps.len() as u32;
    for (heap, (size, is_local)) in memory.memory_heaps.iter_mut().zip(heaps) {
        let flags = if is_local { vk::MemoryHeapFlags::DEVICE_LOCAL } else { vk::MemoryHeapFlags::empty() };
        *heap = vk::MemoryHeap { size, flags };
    }
}

const ALL_TYPES: u32 = 0b1111;

replacements! {
    |next|
    vkGetPhysicalDeviceMemoryProperties(_physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties) {
        discrete_memory(&mut *memory);
    }
    vkGetPhysicalDeviceMemoryProperties2(physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties2<'_>) {
        next(physical, memory);
        discrete_memory(&mut (*memory).memory_properties);
    }
    vkGetBufferMemoryRequirements(device: P, buffer: u64, requirements: *mut vk::MemoryRequirements) {
        next(device, buffer, requirements);
        (*requirements).memory_type_bits = ALL_TYPES;
    }
    vkGetImageMemoryRequirements(_device: P, image: u64, requirements: *mut vk::MemoryRequirements) {
        let size = IMAGES.with_borrow(|images| images[&image]);
        *requirements = vk::MemoryRequirements { size, alignment: 64 << 10, memory_type_bits: ALL_TYPES };
    }
    vkCreateImage(_device: P, info: *const vk::ImageCreateInfo<'_>, _allocator: P, made: *mut u64) -> vk::Result {
        const MOST_BYTES_PER_TEXEL: u64 = 8;
        *made = new_handle();
        let vk::Extent3D { width, height, depth } = (*info).extent;
        let texels = [width, height, depth, (*info).samples.as_raw()].map(u64::from).iter().product::<u64>();
        // All levels together have less than twice the texels of the first one.
        let bytes = (2 * texels * MOST_BYTES_PER_TEXEL).next_multiple_of(64 << 10);
        IMAGES.with_borrow_mut(|images| images.insert(*made, bytes));
        vk::Result::SUCCESS
    }
    vkGetSemaphoreCounterValue(_device: P, _semaphore: u64, value: *mut u64) -> vk::Result {
        // Every submission has finished.
        *value = u64::MAX;
        vk::Result::SUCCESS
    }
}

//! A driver that claims less than it has: smaller limits, fewer features, other memory, or a portability subset.
//!
//! In: [`Claims`]. Out: an [`ash::Entry`] whose functions stand below the validation layer, so the layer judges the program by
//! the claims. The driver refuses a device with features that it does not claim, and otherwise does what it is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

use ash::{khr, vk};
use throng::vulkan::error::Result;
use throng::vulkan::instance::{Instance, InstanceOptions};

use super::{P, below_validation, list, next as driver, replacements};
use crate::common::gpu::{Gpu, TestDevice};

/// A function that changes what the driver says.
pub type Change<T> = fn(&mut T);

#[derive(Clone, Copy)]
pub struct Claims {
    pub properties: Change<vk::PhysicalDeviceProperties>,
    pub features: Change<vk::PhysicalDeviceFeatures>,
    pub family: Change<vk::QueueFamilyProperties>,
    /// Replaces the driver's one type of memory.
    pub memory: Option<Change<vk::PhysicalDeviceMemoryProperties>>,
    /// Whether there is a portability subset, and whether it has the features of MoltenVK or none.
    pub portability: Option<Portability>,
    pub presents: bool,
}

/// The features of VK_KHR_portability_subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Portability {
    MoltenVk,
    NoFeatures,
}

impl Claims {
    /// The driver's own claims.
    pub const NONE: Self =
        Self { properties: |_| (), features: |_| (), family: |_| (), memory: None, portability: None, presents: true };

    pub fn properties(properties: Change<vk::PhysicalDeviceProperties>) -> Self {
        Self { properties, ..Self::NONE }
    }

    pub fn memory(memory: Change<vk::PhysicalDeviceMemoryProperties>) -> Self {
        Self { memory: Some(memory), ..Self::NONE }
    }
}

thread_local! {
    static CLAIMS: Cell<Claims> = const { Cell::new(Claims::NONE) };
    static MEMORY: RefCell<Memory> = RefCell::default();
}

#[derive(Default)]
struct Memory {
    /// The types of which memory was allocated, as bits.
    used_types: u32,
    allocations: BTreeMap<u64, (u32, u64)>,
}

/// Returns a loader whose driver makes these claims. It forgets the use of memory.
pub fn entry(claims: Claims) -> ash::Entry {
    CLAIMS.set(claims);
    MEMORY.take();
    below_validation(replacement)
}

/// Opens a device that makes these claims, under validation, if the program supports it.
pub fn open(device: &TestDevice, claims: Claims) -> Result<Gpu> {
    let instance = Instance::with_entry(entry(claims), InstanceOptions { validation: true, surface_extensions: &[] })?;
    let opened = device.open_on(&instance);
    assert_eq!(instance.validation_messages.all(), [""; 0]);
    Ok(Gpu::with_device(opened?))
}

/// Returns the types of memory that were allocated since [`entry`], as bits.
pub fn used_memory_types() -> u32 {
    MEMORY.with_borrow(|memory| memory.used_types)
}

fn claimed_memory() -> Option<vk::PhysicalDeviceMemoryProperties> {
    let claim = CLAIMS.get().memory?;
    let mut memory = vk::PhysicalDeviceMemoryProperties::default();
    claim(&mut memory);
    Some(memory)
}

fn allow_all_types(requirements: &mut vk::MemoryRequirements) {
    if let Some(memory) = claimed_memory() {
        requirements.memory_type_bits = (1 << memory.memory_type_count) - 1;
    }
}

/// Returns the structure of this type in a chain.
///
/// # Safety
/// The chain is valid, and nothing else uses it.
unsafe fn find<'c, T: vk::TaggedStructure>(chain: *mut c_void) -> Option<&'c mut T> {
    // SAFETY: the caller makes the promise, and every structure says its type.
    unsafe {
        let first = NonNull::new(chain.cast::<vk::BaseOutStructure>());
        let mut links = std::iter::successors(first, |link| NonNull::new(link.as_ref().p_next));
        links.find(|link| link.as_ref().s_type == T::STRUCTURE_TYPE).map(|link| link.cast::<T>().as_mut())
    }
}

replacements! {
    |driver|
    vkGetPhysicalDeviceProperties(physical: P, properties: *mut vk::PhysicalDeviceProperties) {
        driver(physical, properties);
        (CLAIMS.get().properties)(&mut *properties);
    }
    vkGetPhysicalDeviceProperties2(physical: P, properties: *mut vk::PhysicalDeviceProperties2<'_>) {
        driver(physical, properties);
        (CLAIMS.get().properties)(&mut (*properties).properties);
        if let Some(subset) = find::<vk::PhysicalDevicePortabilitySubsetPropertiesKHR>((*properties).p_next) {
            subset.min_vertex_input_binding_stride_alignment = 4;
        }
    }
    vkGetPhysicalDeviceFeatures(physical: P, features: *mut vk::PhysicalDeviceFeatures) {
        driver(physical, features);
        (CLAIMS.get().features)(&mut *features);
    }
    vkGetPhysicalDeviceFeatures2(physical: P, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
        driver(physical, features);
        (CLAIMS.get().features)(&mut (*features).features);
        if let Some(subset) = find::<vk::PhysicalDevicePortabilitySubsetFeaturesKHR>((*features).p_next) {
            let has = (CLAIMS.get().portability == Some(Portability::MoltenVk)).into();
            subset.constant_alpha_color_blend_factors = has;
            subset.events = has;
            subset.image_view_format_swizzle = has;
            subset.mutable_comparison_samplers = has;
            subset.separate_stencil_mask_ref = has;
            subset.vertex_attribute_access_beyond_stride = has;
        }
    }
    vkGetPhysicalDeviceQueueFamilyProperties(
        physical: P, count: *mut u32, families: *mut vk::QueueFamilyProperties
    ) {
        driver(physical, count, families);
        // Without a list, only the count is written.
        if !families.is_null() {
            std::slice::from_raw_parts_mut(families, *count as usize).iter_mut().for_each(CLAIMS.get().family);
        }
    }
    vkGetPhysicalDeviceMemoryProperties(physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties) {
        driver(physical, memory);
        *memory = claimed_memory().unwrap_or(*memory);
    }
    vkGetPhysicalDeviceMemoryProperties2(physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties2<'_>) {
        driver(physical, memory);
        (*memory).memory_properties = claimed_memory().unwrap_or((*memory).memory_properties);
    }
    vkGetBufferMemoryRequirements(device: P, buffer: u64, requirements: *mut vk::MemoryRequirements) {
        driver(device, buffer, requirements);
        allow_all_types(&mut *requirements);
    }
    vkGetImageMemoryRequirements(device: P, image: u64, requirements: *mut vk::MemoryRequirements) {
        driver(device, image, requirements);
        allow_all_types(&mut *requirements);
    }
    vkAllocateMemory(device: P, info: *const vk::MemoryAllocateInfo<'_>, allocator: P, made: *mut u64) -> vk::Result {
        let Some(claimed) = claimed_memory() else { return driver(device, info, allocator, made) };
        let mut info = *info;
        let index = std::mem::take(&mut info.memory_type_index);
        let heap = claimed.memory_types[index as usize].heap_index;
        let used: u64 = MEMORY.with_borrow(|memory| {
            memory.allocations.values().filter(|allocation| allocation.0 == heap).map(|allocation| allocation.1).sum()
        });
        if used + info.allocation_size > claimed.memory_heaps[heap as usize].size {
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        let result = driver(device, &info, allocator, made);
        MEMORY.with_borrow_mut(|memory| {
            memory.used_types |= 1 << index;
            memory.allocations.insert(*made, (heap, info.allocation_size));
        });
        result
    }
    vkFreeMemory(device: P, memory: u64, allocator: P) {
        MEMORY.with_borrow_mut(|used| used.allocations.remove(&memory));
        driver(device, memory, allocator);
    }
    vkEnumerateDeviceExtensionProperties(
        physical: P, layer: *const c_char, count: *mut u32, properties: *mut vk::ExtensionProperties
    ) -> vk::Result {
        let claims_subset = layer.is_null() && CLAIMS.get().portability.is_some();
        let has_list = claims_subset && !properties.is_null();
        // The list has room for `count` elements, the last of which is ours.
        *count -= u32::from(has_list);
        let result = driver(physical, layer, count, properties);
        if has_list {
            let name = khr::portability_subset::NAME.to_bytes_with_nul();
            let subset = &mut *properties.add(*count as usize);
            *subset = vk::ExtensionProperties::default();
            subset.extension_name.iter_mut().zip(name).for_each(|(to, &from)| *to = from as c_char);
        }
        *count += u32::from(claims_subset);
        result
    }
    vkCreateDevice(physical: P, info: *const vk::DeviceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
        let mut claimed = vk::PhysicalDeviceFeatures::default();
        vkGetPhysicalDeviceFeatures(physical, &raw mut claimed);
        let chained = find::<vk::PhysicalDeviceFeatures2>((*info).p_next.cast_mut());
        let enabled = chained.map(|chained| chained.features).or((*info).p_enabled_features.as_ref().copied());
        if enabled.is_some_and(|enabled| words(enabled).iter().zip(words(claimed)).any(|(&a, b)| a > b)) {
            return vk::Result::ERROR_FEATURE_NOT_PRESENT;
        }
        let names = list((*info).pp_enabled_extension_names, (*info).enabled_extension_count);
        let is_real = |name: &&*const c_char| CStr::from_ptr(**name) != khr::portability_subset::NAME;
        let names: Vec<_> = names.iter().filter(is_real).copied().collect();
        driver(physical, &(*info).enabled_extension_names(&names), allocator, made)
    }
    vkGetPhysicalDeviceSurfaceSupportKHR(physical: P, family: u32, surface: u64, supported: *mut vk::Bool32) -> vk::Result {
        let result = driver(physical, family, surface, supported);
        *supported &= vk::Bool32::from(CLAIMS.get().presents);
        result
    }
}

fn words(features: vk::PhysicalDeviceFeatures) -> [vk::Bool32; 55] {
    // SAFETY: the structure has these members alone, and the sizes are the same.
    unsafe { std::mem::transmute(features) }
}

//! A driver that claims less than it has: smaller limits, fewer features, other memory, or a portability subset.
//!
//! In: [`Claims`]. Out: an [`ash::Entry`] whose functions stand below the validation layer, so the layer judges the program by
//! the claims. The driver refuses a device with features that it does not claim, and otherwise does what it is told.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};

use ash::{khr, vk};

use super::{P, below_validation, list, next, replacements};

/// A function that changes what the driver says.
pub type Change<T> = fn(&mut T);

/// The claims of a driver.
#[derive(Clone, Copy)]
pub struct Claims {
    pub properties: Change<vk::PhysicalDeviceProperties>,
    pub features: Change<vk::PhysicalDeviceFeatures>,
    pub family: Change<vk::QueueFamilyProperties>,
    /// Replaces the driver's one type of memory.
    pub memory: Option<Change<vk::PhysicalDeviceMemoryProperties>>,
    /// Whether there is a portability subset, and whether it has the features of MoltenVK or none.
    pub portability: Option<Portability>,
    /// Whether the driver presents to any window.
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
}

thread_local! {
    static CLAIMS: Cell<Claims> = const { Cell::new(Claims::NONE) };
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// The claimed memory and its use.
#[derive(Default)]
struct Memory {
    /// The types of which memory was allocated, as bits.
    used_types: u32,
    /// The heap and the size of each allocation.
    allocations: BTreeMap<u64, (u32, u64)>,
}

/// Returns a loader whose driver makes these claims. It forgets the use of memory.
pub fn entry(claims: Claims) -> ash::Entry {
    CLAIMS.set(claims);
    MEMORY.take();
    below_validation(replacement)
}

/// Returns the types of memory that were allocated since [`entry`], as bits.
pub fn used_memory_types() -> u32 {
    MEMORY.with_borrow(|memory| memory.used_types)
}

/// Returns the claimed types and heaps, if they are not the driver's.
fn claimed_memory() -> Option<vk::PhysicalDeviceMemoryProperties> {
    let claim = CLAIMS.get().memory?;
    let mut memory = vk::PhysicalDeviceMemoryProperties::default();
    claim(&mut memory);
    Some(memory)
}

/// Lets a resource have all claimed types.
fn allow_all_types(requirements: &mut vk::MemoryRequirements) {
    if let Some(memory) = claimed_memory() {
        requirements.memory_type_bits = (1 << memory.memory_type_count) - 1;
    }
}

/// Returns the structure of this type in a chain.
///
/// # Safety
/// The chain is valid, and nothing else uses it.
unsafe fn find<'c, T: vk::TaggedStructure>(mut chain: *mut c_void) -> Option<&'c mut T> {
    while !chain.is_null() {
        let link = chain.cast::<vk::BaseOutStructure>();
        // SAFETY: the caller makes the promise.
        if unsafe { (*link).s_type } == T::STRUCTURE_TYPE {
            // SAFETY: every structure says its type.
            return Some(unsafe { &mut *chain.cast::<T>() });
        }
        // SAFETY: the caller makes the promise.
        chain = unsafe { (*link).p_next }.cast();
    }
    None
}

/// Calls the driver's function.
///
/// # Safety
/// The function has these arguments, no result, and the caller keeps its promises.
unsafe fn call<A>(name: &str, handle: P, argument: *mut A) {
    // SAFETY: the caller makes the promise.
    unsafe { next::<unsafe extern "system" fn(P, *mut c_void)>(name)(handle, argument.cast()) };
}

// The driver has each of the functions, the caller keeps their promises, and the driver writes what the claims then change.
replacements! {
    vkGetPhysicalDeviceProperties(physical: P, properties: *mut vk::PhysicalDeviceProperties) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceProperties", physical, properties);
            (CLAIMS.get().properties)(&mut *properties);
        }
    }
    vkGetPhysicalDeviceProperties2(physical: P, properties: *mut vk::PhysicalDeviceProperties2<'_>) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceProperties2", physical, properties);
            (CLAIMS.get().properties)(&mut (*properties).properties);
            if let Some(subset) = find::<vk::PhysicalDevicePortabilitySubsetPropertiesKHR>((*properties).p_next) {
                subset.min_vertex_input_binding_stride_alignment = 4;
            }
        }
    }
    vkGetPhysicalDeviceFeatures(physical: P, features: *mut vk::PhysicalDeviceFeatures) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceFeatures", physical, features);
            (CLAIMS.get().features)(&mut *features);
        }
    }
    vkGetPhysicalDeviceFeatures2(physical: P, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceFeatures2", physical, features);
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
    }
    vkGetPhysicalDeviceQueueFamilyProperties(
        physical: P, count: *mut u32, families: *mut vk::QueueFamilyProperties
    ) {
        let name = "vkGetPhysicalDeviceQueueFamilyProperties";
        // SAFETY: see above. Without a list, only the count is written.
        unsafe {
            next::<unsafe extern "system" fn(P, *mut u32, *mut vk::QueueFamilyProperties)>(name)(physical, count, families);
            if !families.is_null() {
                std::slice::from_raw_parts_mut(families, *count as usize).iter_mut().for_each(CLAIMS.get().family);
            }
        }
    }
    vkGetPhysicalDeviceMemoryProperties(physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceMemoryProperties", physical, memory);
            *memory = claimed_memory().unwrap_or(*memory);
        }
    }
    vkGetPhysicalDeviceMemoryProperties2(physical: P, memory: *mut vk::PhysicalDeviceMemoryProperties2<'_>) {
        // SAFETY: see above.
        unsafe {
            call("vkGetPhysicalDeviceMemoryProperties2", physical, memory);
            (*memory).memory_properties = claimed_memory().unwrap_or((*memory).memory_properties);
        }
    }
    vkGetBufferMemoryRequirements(device: P, buffer: u64, requirements: *mut vk::MemoryRequirements) {
        // SAFETY: see above.
        unsafe {
            next::<unsafe extern "system" fn(P, u64, P)>("vkGetBufferMemoryRequirements")(device, buffer, requirements.cast());
            allow_all_types(&mut *requirements);
        }
    }
    vkGetImageMemoryRequirements(device: P, image: u64, requirements: *mut vk::MemoryRequirements) {
        // SAFETY: see above.
        unsafe {
            next::<unsafe extern "system" fn(P, u64, P)>("vkGetImageMemoryRequirements")(device, image, requirements.cast());
            allow_all_types(&mut *requirements);
        }
    }
    vkAllocateMemory(device: P, info: *const vk::MemoryAllocateInfo<'_>, allocator: P, made: *mut u64) -> vk::Result {
        // SAFETY: see above.
        let mut info = unsafe { *info };
        let Some(claimed) = claimed_memory() else {
            // SAFETY: see above.
            return unsafe { allocate(device, info, allocator, made) };
        };
        let index = std::mem::take(&mut info.memory_type_index);
        let heap = claimed.memory_types[index as usize].heap_index;
        let used: u64 = MEMORY.with_borrow(|memory| {
            memory.allocations.values().filter(|allocation| allocation.0 == heap).map(|allocation| allocation.1).sum()
        });
        if used + info.allocation_size > claimed.memory_heaps[heap as usize].size {
            return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        }
        // SAFETY: see above. A successful call has written the handle.
        let (result, handle) = unsafe { (allocate(device, info, allocator, made), *made) };
        MEMORY.with_borrow_mut(|memory| {
            memory.used_types |= 1 << index;
            memory.allocations.insert(handle, (heap, info.allocation_size));
        });
        result
    }
    vkFreeMemory(device: P, memory: u64, allocator: P) {
        MEMORY.with_borrow_mut(|used| used.allocations.remove(&memory));
        // SAFETY: see above.
        unsafe { next::<unsafe extern "system" fn(P, u64, P)>("vkFreeMemory")(device, memory, allocator) };
    }
    vkEnumerateDeviceExtensionProperties(
        physical: P, layer: *const c_char, count: *mut u32, properties: *mut vk::ExtensionProperties
    ) -> vk::Result {
        let name = "vkEnumerateDeviceExtensionProperties";
        type Next = unsafe extern "system" fn(P, *const c_char, *mut u32, *mut vk::ExtensionProperties) -> vk::Result;
        // SAFETY: see above.
        let next = unsafe { next::<Next>(name) };
        if !layer.is_null() || CLAIMS.get().portability.is_none() {
            // SAFETY: see above.
            return unsafe { next(physical, layer, count, properties) };
        }
        let mut subset = vk::ExtensionProperties::default();
        let name = khr::portability_subset::NAME.to_bytes_with_nul();
        subset.extension_name.iter_mut().zip(name).for_each(|(to, &from)| *to = from as c_char);
        // SAFETY: see above. The list has room for `count` elements, the last of which is ours.
        unsafe {
            if properties.is_null() {
                let result = next(physical, layer, count, properties);
                *count += 1;
                return result;
            }
            *count -= 1;
            let result = next(physical, layer, count, properties);
            *properties.add(*count as usize) = subset;
            *count += 1;
            result
        }
    }
    vkCreateDevice(physical: P, info: *const vk::DeviceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
        // SAFETY: see above. The names are C strings.
        unsafe {
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
            let info = (*info).enabled_extension_names(&names);
            let create = next::<unsafe extern "system" fn(P, *const c_void, P, P) -> vk::Result>("vkCreateDevice");
            create(physical, (&raw const info).cast(), allocator, made)
        }
    }
    vkGetPhysicalDeviceSurfaceSupportKHR(physical: P, family: u32, surface: u64, supported: *mut vk::Bool32) -> vk::Result {
        let name = "vkGetPhysicalDeviceSurfaceSupportKHR";
        // SAFETY: see above.
        unsafe {
            let result = next::<unsafe extern "system" fn(P, u32, u64, P) -> vk::Result>(name)(
                physical, family, surface, supported.cast(),
            );
            *supported &= vk::Bool32::from(CLAIMS.get().presents);
            result
        }
    }
}

/// Returns the features one by one.
fn words(features: vk::PhysicalDeviceFeatures) -> [vk::Bool32; 55] {
    // SAFETY: the structure has these members alone, and the sizes are the same.
    unsafe { std::mem::transmute(features) }
}

/// Calls the driver's `vkAllocateMemory`.
///
/// # Safety
/// That of the function.
unsafe fn allocate(device: P, info: vk::MemoryAllocateInfo, allocator: P, made: *mut u64) -> vk::Result {
    type Next = unsafe extern "system" fn(P, *const c_void, P, *mut u64) -> vk::Result;
    // SAFETY: the caller makes the promise.
    unsafe { next::<Next>("vkAllocateMemory")(device, (&raw const info).cast(), allocator, made) }
}

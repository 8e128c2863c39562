//! Plays the loader for the validation layer.
//!
//! A layer finds the functions below it in the create info of the instance and of the device: a chained structure links to
//! them (`vk_layer.h`). So the program calls the layer, the layer calls the functions of the test, and those call the system's
//! loader, which has no layer.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::{transmute, transmute_copy};
use std::ptr::null;
use std::sync::OnceLock;

use ash::{ext, vk};

use super::{P, get_device_proc_addr, list, replacements, system, text};

/// `VkLayerInstanceLink` or `VkLayerDeviceLink`.
#[repr(C)]
struct Link {
    /// There is no further layer.
    next: *const Link,
    get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    /// An instance's link has `vkGetPhysicalDeviceProcAddr` here, for extensions that the loader does not know.
    get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
}

/// `VkLayerInstanceCreateInfo` or `VkLayerDeviceCreateInfo`.
#[repr(C)]
struct LinkInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    /// `VK_LAYER_LINK_INFO`.
    function: i32,
    link: *const Link,
    /// Other functions have a larger union.
    _padding: usize,
}

impl LinkInfo {
    fn new(s_type: vk::StructureType, p_next: *const c_void, link: &Link) -> Self {
        Self { s_type, p_next, function: 0, link, _padding: 0 }
    }

    /// Returns the rest of a chain that begins with this structure.
    ///
    /// # Safety
    /// The chain is valid.
    unsafe fn after(chain: *const c_void, s_type: vk::StructureType) -> *const c_void {
        // SAFETY: the layer passes on what the functions below have put first.
        let first = unsafe { &*chain.cast::<vk::BaseInStructure>() };
        assert_eq!(first.s_type, s_type, "the layer has changed the chain");
        first.p_next.cast()
    }
}

/// Returns `vkGetInstanceProcAddr` of the layer, which is never unloaded.
fn layer() -> vk::PFN_vkGetInstanceProcAddr {
    static LAYER: OnceLock<vk::PFN_vkGetInstanceProcAddr> = OnceLock::new();
    *LAYER.get_or_init(|| {
        const FILE: &str = "libVkLayer_khronos_validation.so";
        let folder = std::env::var("VK_LAYER_PATH").map_or_else(|_| String::new(), |folder| folder + "/");
        let path = CString::new(folder + FILE).expect("a path");
        // SAFETY: the library is the validation layer.
        let address = unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            assert!(!library.is_null(), "{path:?} cannot be loaded");
            libc::dlsym(library, c"vkGetInstanceProcAddr".as_ptr())
        };
        assert!(!address.is_null(), "{path:?} is not a layer");
        // SAFETY: every layer exports the function.
        unsafe { transmute::<*mut c_void, vk::PFN_vkGetInstanceProcAddr>(address) }
    })
}

thread_local! {
    static INSTANCE: Cell<vk::Instance> = const { Cell::new(vk::Instance::null()) };
}

/// Returns a function that a `vkGetInstanceProcAddr` finds.
///
/// # Safety
/// `F` is the type of the Vulkan function with this name.
unsafe fn find<F>(get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr, name: &str) -> F {
    let instance = if name == "vkCreateInstance" { vk::Instance::null() } else { INSTANCE.get() };
    let c_name = CString::new(name).expect("a name");
    // SAFETY: the instance is that of this thread.
    let function = unsafe { get_instance_proc_addr(instance, c_name.as_ptr()) };
    // SAFETY: the caller makes the promise.
    unsafe { transmute_copy(&function.expect(name)) }
}

/// `vkGetInstanceProcAddr` for the program.
///
/// # Safety
/// That of `vkGetInstanceProcAddr`.
pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // The system lists the layers and their extensions.
    let is_of_system = instance == vk::Instance::null();
    let next = if is_of_system { system().static_fn().get_instance_proc_addr } else { layer() };
    // SAFETY: the program passes a C string, every replacement is a function, and the caller keeps the promises.
    unsafe { above::replacement(text(name)).map_or_else(|| next(instance, name), |ours| transmute(ours)) }
}

/// `vkGetInstanceProcAddr` for the layer.
///
/// # Safety
/// That of `vkGetInstanceProcAddr`.
unsafe extern "system" fn get_below(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the layer passes a C string, every replacement is a function, and the caller keeps the promises.
    unsafe {
        match text(name) {
            "vkGetInstanceProcAddr" => transmute::<*const c_void, vk::PFN_vkVoidFunction>(get_below as *const c_void),
            name_below => below::replacement(name_below)
                .map_or_else(|| super::get_instance_proc_addr(instance, name), |ours| transmute(ours)),
        }
    }
}

/// The functions that the program calls.
mod above {
    use super::*;

    /// # Safety
    /// As [`find`].
    unsafe fn next<F>(name: &str) -> F {
        // SAFETY: the caller makes the promise.
        unsafe { find(layer(), name) }
    }

    replacements! {
        |next|
        vkCreateInstance(info: *const vk::InstanceCreateInfo<'_>, allocator: P, made: *mut vk::Instance) -> vk::Result {
            let link = Link { next: null(), get_instance_proc_addr: get_below, get_device_proc_addr: None };
            let link = LinkInfo::new(vk::StructureType::LOADER_INSTANCE_CREATE_INFO, (*info).p_next, &link);
            let result = next(&vk::InstanceCreateInfo { p_next: (&raw const link).cast(), ..*info }, allocator, made);
            if result == vk::Result::SUCCESS {
                INSTANCE.set(*made);
            }
            result
        }
        vkCreateDevice(physical: P, info: *const vk::DeviceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
            // The query stores the function that `get_device_proc_addr` replaces.
            get_below(INSTANCE.get(), c"vkGetDeviceProcAddr".as_ptr());
            let get_device_proc_addr = Some(get_device_proc_addr as vk::PFN_vkGetDeviceProcAddr);
            let link = Link { next: null(), get_instance_proc_addr: get_below, get_device_proc_addr };
            let link = LinkInfo::new(vk::StructureType::LOADER_DEVICE_CREATE_INFO, (*info).p_next, &link);
            next(physical, &vk::DeviceCreateInfo { p_next: (&raw const link).cast(), ..*info }, allocator, made)
        }
    }
}

/// The functions that the layer calls. They leave out its links.
mod below {
    use super::*;

    /// # Safety
    /// As [`find`].
    unsafe fn next<F>(name: &str) -> F {
        // SAFETY: the caller makes the promise.
        unsafe { find(crate::gpu::loader::get_instance_proc_addr, name) }
    }

    replacements! {
        |next|
        vkCreateInstance(info: *const vk::InstanceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
            let of_layer = [ext::validation_features::NAME, ext::layer_settings::NAME];
            let mut extensions = list((*info).pp_enabled_extension_names, (*info).enabled_extension_count).to_vec();
            extensions.retain(|&name| !of_layer.contains(&CStr::from_ptr(name)));
            let mut info = (*info).enabled_extension_names(&extensions).enabled_layer_names(&[]);
            info.p_next = LinkInfo::after(info.p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO);
            next(&info, allocator, made)
        }
        vkCreateDevice(physical: P, info: *const vk::DeviceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
            let p_next = LinkInfo::after((*info).p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO);
            next(physical, &vk::DeviceCreateInfo { p_next, ..*info }, allocator, made)
        }
    }
}

//! Plays the loader for the validation layer.
//!
//! A layer finds the functions below it in the create info of the instance and of the device: a chained structure links to
//! them (`vk_layer.h`). So the program calls the layer, the layer calls the functions of the test, and those call the system's
//! loader, which has no layer.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::mem::{transmute, transmute_copy};
use std::sync::OnceLock;

use ash::{ext, vk};

use super::{get_device_proc_addr, list, system};

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
        let path = std::ffi::CString::new(folder + FILE).expect("a path");
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

/// `vkGetInstanceProcAddr` for the program.
///
/// # Safety
/// That of `vkGetInstanceProcAddr`.
pub unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the program passes a C string.
    let ours = match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkCreateInstance" => create_instance as *const c_void,
        b"vkCreateDevice" => create_device as *const c_void,
        // SAFETY: the caller keeps the promises. The system lists the layers and their extensions.
        _ if instance == vk::Instance::null() => unsafe {
            return (system().static_fn().get_instance_proc_addr)(instance, name);
        },
        // SAFETY: as above.
        _ => return unsafe { layer()(instance, name) },
    };
    // SAFETY: both are functions.
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(ours) }
}

thread_local! {
    /// The present instance.
    static INSTANCE: Cell<vk::Instance> = const { Cell::new(vk::Instance::null()) };
}

/// Returns a function of the layer.
///
/// # Safety
/// `F` is the type of the Vulkan function with this name.
unsafe fn of_layer<F>(instance: vk::Instance, name: &CStr) -> F {
    // SAFETY: the instance is that of this thread.
    let function = unsafe { layer()(instance, name.as_ptr()) }.expect("a function of the layer");
    // SAFETY: the caller makes the promise.
    unsafe { transmute_copy(&function) }
}

/// # Safety
/// That of `vkCreateInstance`.
unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the program passes a valid create info, and the layer has the function.
    let (mut info, create) =
        unsafe { (*info, of_layer::<vk::PFN_vkCreateInstance>(vk::Instance::null(), c"vkCreateInstance")) };
    let link = Link { next: std::ptr::null(), get_instance_proc_addr: below, get_device_proc_addr: None };
    let mut link = LinkInfo::new(vk::StructureType::LOADER_INSTANCE_CREATE_INFO, info.p_next, &link);
    info.p_next = (&raw mut link).cast();
    // SAFETY: the create info is valid, and what it links to lives until the call returns.
    let result = unsafe { create(&info, allocator, instance) };
    if result == vk::Result::SUCCESS {
        // SAFETY: a successful call has written the instance.
        INSTANCE.set(unsafe { *instance });
    }
    result
}

/// # Safety
/// That of `vkCreateDevice`.
unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the program passes a valid create info, and the layer has the function.
    let (mut info, create) = unsafe { (*info, of_layer::<vk::PFN_vkCreateDevice>(INSTANCE.get(), c"vkCreateDevice")) };
    // SAFETY: the instance is alive. The query stores the function that `get_device_proc_addr` replaces.
    unsafe { below(INSTANCE.get(), c"vkGetDeviceProcAddr".as_ptr()) };
    let link = Link {
        next: std::ptr::null(),
        get_instance_proc_addr: below,
        get_device_proc_addr: Some(get_device_proc_addr),
    };
    let mut link = LinkInfo::new(vk::StructureType::LOADER_DEVICE_CREATE_INFO, info.p_next, &link);
    info.p_next = (&raw mut link).cast();
    // SAFETY: the create info is valid, and what it links to lives until the call returns.
    unsafe { create(physical, &info, allocator, device) }
}

/// `vkGetInstanceProcAddr` for the layer.
///
/// # Safety
/// That of `vkGetInstanceProcAddr`.
unsafe extern "system" fn below(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the layer passes a C string.
    let ours = match unsafe { CStr::from_ptr(name) }.to_bytes() {
        b"vkGetInstanceProcAddr" => below as *const c_void,
        b"vkCreateInstance" => create_instance_below as *const c_void,
        b"vkCreateDevice" => create_device_below as *const c_void,
        // SAFETY: the caller keeps the promises.
        _ => return unsafe { super::get_instance_proc_addr(instance, name) },
    };
    // SAFETY: every one of them is a function.
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(ours) }
}

/// Creates the instance without the layer, its extensions and its link.
///
/// # Safety
/// That of `vkCreateInstance`.
unsafe extern "system" fn create_instance_below(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    let of_layer = [ext::validation_features::NAME, ext::layer_settings::NAME];
    // SAFETY: the layer passes a valid create info with a list of C strings.
    let (mut info, mut extensions) =
        unsafe { (*info, list((*info).pp_enabled_extension_names, (*info).enabled_extension_count).to_vec()) };
    // SAFETY: as above.
    extensions.retain(|&name| !of_layer.contains(&unsafe { CStr::from_ptr(name) }));
    info = info.enabled_extension_names(&extensions).enabled_layer_names(&[]);
    // SAFETY: `create_instance` has put the link first. The system has the function, and the create info is valid.
    unsafe {
        info.p_next = LinkInfo::after(info.p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO);
        let create = super::get_instance_proc_addr(vk::Instance::null(), c"vkCreateInstance".as_ptr());
        transmute::<vk::PFN_vkVoidFunction, vk::PFN_vkCreateInstance>(create)(&info, allocator, instance)
    }
}

/// Creates the device without the layer's link.
///
/// # Safety
/// That of `vkCreateDevice`.
unsafe extern "system" fn create_device_below(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: `create_device` has put the link first. The system has the function, and the create info is valid.
    unsafe {
        let mut info = *info;
        info.p_next = LinkInfo::after(info.p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO);
        let create = super::get_instance_proc_addr(INSTANCE.get(), c"vkCreateDevice".as_ptr());
        transmute::<vk::PFN_vkVoidFunction, vk::PFN_vkCreateDevice>(create)(physical, &info, allocator, device)
    }
}

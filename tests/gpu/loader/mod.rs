//! A Vulkan loader whose functions are a test's own.
//!
//! In: [`Functions`], which take the place of Vulkan's. Out: an [`ash::Entry`] for
//! [`Instance::with_entry`](throng::vulkan::instance::Instance::with_entry). The program loads every Vulkan function by name,
//! so a function of ours can take the place of each one, and calls the one that it replaces.
//!
//! The functions stand above the validation layer or below it. Above, they see the calls of the program, and they may answer
//! in the driver's place. Below, they are the driver: the layer judges the program by what they claim ([`layer`]).
//!
//! Vulkan passes no user data to its functions, so the state is the thread's. All Vulkan calls of a test come from its thread,
//! which has one entry of ours at a time.

pub mod claims;
mod layer;
pub mod null_device;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::{transmute, transmute_copy};
use std::sync::OnceLock;

use ash::vk;

/// Returns the function that takes the place of the one with this name.
pub type Functions = fn(name: &str) -> Option<*const c_void>;

pub type P = *mut c_void;

/// A function of Vulkan. Its name says which type it has.
type AnyFunction = unsafe extern "system" fn();

thread_local! {
    static OURS: Cell<Functions> = const { Cell::new(|_| None) };
    /// The functions that ours replace. Each query of a function stores its address again.
    static NEXT: RefCell<BTreeMap<String, AnyFunction>> = RefCell::default();
}

/// Returns a loader with these functions between the program and the validation layer.
pub fn above_validation(functions: Functions) -> ash::Entry {
    OURS.set(functions);
    // SAFETY: the functions call those of the system's loader, which is never unloaded.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

/// Returns a loader with these functions between the validation layer and the driver. Instances need validation.
pub fn below_validation(functions: Functions) -> ash::Entry {
    OURS.set(functions);
    // SAFETY: the functions call those of the layer, which is never unloaded.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: layer::get_instance_proc_addr }) }
}

/// Returns the function that ours replaces.
///
/// # Safety
/// `F` is the type of the Vulkan function with this name.
pub unsafe fn next<F: Copy>(name: &str) -> F {
    assert_eq!(size_of::<F>(), size_of::<AnyFunction>());
    // SAFETY: the caller makes the promise, and the sizes are the same.
    NEXT.with_borrow(|functions| unsafe { transmute_copy(&functions[name]) })
}

/// # Safety
/// That of `vkGetInstanceProcAddr`.
unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller keeps the promises.
    unsafe { replaced(name, (system().static_fn().get_instance_proc_addr)(instance, name)) }
}

/// # Safety
/// That of `vkGetDeviceProcAddr`.
unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the function was stored before the program got this one, and the caller keeps the promises.
    unsafe { replaced(name, next::<vk::PFN_vkGetDeviceProcAddr>("vkGetDeviceProcAddr")(device, name)) }
}

pub fn system() -> &'static ash::Entry {
    static LOADER: OnceLock<ash::Entry> = OnceLock::new();
    // SAFETY: the library is a Vulkan loader, and a static is never dropped.
    LOADER.get_or_init(|| unsafe { ash::Entry::load() }.expect("a Vulkan loader"))
}

/// Stores a function that the system has, and returns the one that takes its place.
///
/// # Safety
/// `name` is the name of a Vulkan function, and `next` its address.
unsafe fn replaced(name: *const c_char, next: vk::PFN_vkVoidFunction) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller makes the promise.
    let name = unsafe { text(name) };
    let ours = match name {
        "vkGetInstanceProcAddr" => Some(get_instance_proc_addr as *const c_void),
        "vkGetDeviceProcAddr" => Some(get_device_proc_addr as *const c_void),
        _ => OURS.get()(name),
    };
    let Some(ours) = ours else { return next };
    NEXT.with_borrow_mut(|functions| Some(functions.insert(name.to_owned(), next?)))?;
    // SAFETY: every one of them is a function.
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(ours) }
}

/// Returns the name of a function, or an empty one.
///
/// # Safety
/// The name is a C string for as long as it is used.
unsafe fn text<'n>(name: *const c_char) -> &'n str {
    // SAFETY: the caller makes the promise.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("")
}

/// Returns a list of a Vulkan structure. An empty one may have no address.
///
/// # Safety
/// The structure is valid for as long as the list is used.
pub unsafe fn list<'l, T>(first: *const T, count: u32) -> &'l [T] {
    // SAFETY: the caller makes the promise.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(first, count as usize) } }
}

/// Returns whether the installed validation layer has settings: versions since 1.3.272. Without a layer, other tests fail.
pub fn layer_has_settings() -> bool {
    // SAFETY: the entry is loaded, and the name is that of the layer.
    let extensions = unsafe { system().enumerate_instance_extension_properties(Some(VALIDATION_LAYER)) };
    let name = Ok(ash::ext::layer_settings::NAME);
    extensions.is_ok_and(|all| all.iter().any(|extension| extension.extension_name_as_c_str() == name))
}

pub const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Defines functions that take the place of Vulkan's, and `replacement`, which finds them by name. `$next` finds the functions that
/// they replace, and in their bodies it is that function. The bodies are unsafe code, for which the callers keep the promises of
/// Vulkan: what is passed is valid, has room for the results, and is used by nothing else during the call.
macro_rules! replacements {
    (|$next:ident| $($name:ident ( $($argument:ident: $ty:ty),* $(,)? ) $(-> $result:ty)? $body:block)*) => {
        pub fn replacement(name: &str) -> Option<*const std::ffi::c_void> {
            match name {
                $(stringify!($name) => Some($name as *const std::ffi::c_void),)*
                _ => None,
            }
        }

        $(
            /// # Safety
            /// That of the Vulkan function, which the loader has returned to us.
            #[allow(non_snake_case, unused_variables, reason = "the names of Vulkan, and not all call the next function")]
            unsafe extern "system" fn $name($($argument: $ty),*) $(-> $result)? {
                type Next = unsafe extern "system" fn($($ty),*) $(-> $result)?;
                // SAFETY: the next function has the type of ours, and the caller keeps the promises of both.
                unsafe {
                    let $next = $next::<Next>(stringify!($name));
                    $body
                }
            }
        )*
    };
}
pub(crate) use replacements;

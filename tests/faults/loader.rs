//! A Vulkan loader whose functions fail when a test wants them to.
//!
//! In: a [`Fault`], which names a function, the number of a call, and the result that this call returns. Out: an
//! [`ash::Entry`] for [`Instance::with_entry`](throng::vulkan::instance::Instance::with_entry), and a [`Report`] of what
//! was called, made and left behind.
//!
//! The program loads every Vulkan function by name, so a function of ours can take the place of each one that may fail.
//! It counts the call, and then either calls the driver's function or returns the result of the fault. The program's own
//! code is the same as without faults.
//!
//! Invariants: one [`live`] at a time, because Vulkan passes no user data to its functions, so the state is global. Waits
//! and presentation are carried out before they report a failure: a lost device executes nothing more, and a failed
//! presentation still waits for its semaphore (VK_KHR_swapchain).

use std::collections::{BTreeMap, HashSet};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;

/// A call that fails.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub function: Function,
    /// The number of the call of this function, from 0.
    pub call: usize,
    pub result: vk::Result,
    /// Whether later calls of the same instance fail too: after a lost device, all functions that can report it. Otherwise,
    /// this function.
    pub lasts: bool,
    /// The number of instances, one after the other, that have the fault.
    pub instances: usize,
}

/// The calls and the objects of a life.
#[derive(Debug, Default)]
pub struct Report {
    /// The calls that may fail, in order.
    pub calls: Vec<Function>,
    /// The number of instances in which the fault was reached.
    pub failures: usize,
    /// The objects of a device at its destruction, and all objects that were left at the end.
    pub leaks: Vec<String>,
}

/// Calls `life`, whose Vulkan functions come from [`entry`], with or without a fault.
pub fn live<T>(fault: Option<Fault>, life: impl FnOnce() -> T) -> (T, Report) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    *state() = State { fault, ..State::default() };
    let value = life();
    let State { mut report, objects, .. } = std::mem::take(&mut *state());
    report.leaks.extend(objects.iter().map(|(kind, _)| format!("{kind:?} at the end")));
    (value, report)
}

/// Returns a loader whose functions are those of this module.
pub fn entry() -> ash::Entry {
    // SAFETY: the functions call those of the system's loader, which is never unloaded.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

/// Whether surfaces say that the program decides their size, as on Wayland.
pub static HAS_NO_SIZE: AtomicBool = AtomicBool::new(false);

/// # Safety
/// That of the Vulkan function, which the loader has returned to us.
unsafe extern "system" fn surface_capabilities(physical: P, surface: u64, capabilities: P) -> vk::Result {
    // SAFETY: the caller keeps the promises of the function.
    let result = unsafe { interposers::vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical, surface, capabilities) };
    if result == vk::Result::SUCCESS && HAS_NO_SIZE.load(Ordering::Relaxed) {
        // SAFETY: the program passes room for them, and the driver has written them.
        let capabilities = unsafe { &mut *capabilities.cast::<vk::SurfaceCapabilitiesKHR>() };
        capabilities.current_extent = vk::Extent2D { width: u32::MAX, height: u32::MAX };
    }
    result
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    /// The calls of the present instance.
    counts: BTreeMap<Function, usize>,
    instances: usize,
    /// Whether the present instance has reached the fault.
    has_failed: bool,
    objects: HashSet<(Kind, u64)>,
    report: Report,
}

static STATE: OnceLock<Mutex<State>> = OnceLock::new();

fn state() -> MutexGuard<'static, State> {
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Counts a call, and returns the result with which it fails.
    fn count(&mut self, function: Function) -> Option<vk::Result> {
        if function == Function::vkCreateInstance {
            self.instances += 1;
            if self.instances > 1 {
                self.counts.clear();
                self.has_failed = false;
            }
        }
        let count = self.counts.entry(function).or_default();
        let call = *count;
        *count += 1;
        self.report.calls.push(function);
        let fault = self.fault.filter(|fault| self.instances <= fault.instances)?;
        let is_this = fault.function == function && fault.call == call;
        let loses_device = fault.result == vk::Result::ERROR_DEVICE_LOST;
        let is_later = fault.lasts
            && self.has_failed
            && if loses_device { function.results().contains(&fault.result) } else { fault.function == function };
        if is_this {
            self.has_failed = true;
            self.report.failures += 1;
        }
        (is_this || is_later).then_some(fault.result)
    }

    fn make(&mut self, kind: Kind, handle: u64) {
        self.objects.insert((kind, handle));
    }

    fn destroy(&mut self, kind: Kind, handle: u64) {
        if handle != 0 && !self.objects.remove(&(kind, handle)) {
            self.report.leaks.push(format!("{kind:?} was destroyed twice"));
        }
        if kind == Kind::Device {
            let of_instance = [Kind::Instance, Kind::Messenger, Kind::Surface];
            let left = self.objects.iter().filter(|(kind, _)| !of_instance.contains(kind));
            self.report.leaks.extend(left.map(|(kind, _)| format!("{kind:?} at vkDestroyDevice")));
        }
    }
}

/// A pointer that is passed on.
type P = *mut c_void;

/// The place of a handle that the function makes.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Made(*mut u64);

/// The place of a handle that another object frees.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Lent(*mut u64);

trait Argument: Copy {
    /// Returns the handle that a successful call made.
    unsafe fn made(self) -> Option<u64> {
        None
    }
    /// Writes what a failed call writes.
    unsafe fn failed(self) {}
}

impl Argument for P {}
impl Argument for u32 {}
impl Argument for u64 {}
impl Argument for usize {}
impl Argument for Made {
    unsafe fn made(self) -> Option<u64> {
        // SAFETY: the driver has written a handle.
        Some(unsafe { *self.0 })
    }
    unsafe fn failed(self) {
        // SAFETY: the program passes room for a handle.
        unsafe { *self.0 = 0 };
    }
}
impl Argument for Lent {
    unsafe fn failed(self) {
        // SAFETY: the program passes room for a handle.
        unsafe { *self.0 = 0 };
    }
}

/// The errors of nearly every function.
const MEMORY: &[vk::Result] = &[vk::Result::ERROR_OUT_OF_HOST_MEMORY, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY];

macro_rules! functions {
    ($($name:ident ( $($argument:ident: $ty:ty),* ) $(makes $kind:ident)? [$($result:ident)*];)*) => {
        /// The functions that may fail.
        #[allow(non_camel_case_types, reason = "the names of Vulkan")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Function { $($name),* }

        impl Function {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),* }
            }

            /// The results other than success to try: those that the specification lists for the function, apart from
            /// those that belong to no single one, like `ERROR_UNKNOWN`.
            pub fn results(self) -> Vec<vk::Result> {
                let own: &[vk::Result] = match self { $(Self::$name => &[$(vk::Result::$result),*]),* };
                let memory = if self == Self::vkResetFences { &MEMORY[1..] } else { MEMORY };
                memory.iter().chain(own).copied().collect()
            }

            fn interposer(self) -> *const c_void {
                match self { $(Self::$name => interposers::$name as *const c_void),* }
            }
        }

        #[allow(non_snake_case, reason = "the names of Vulkan")]
        mod interposers {
            use super::*;
            $(
                /// # Safety
                /// That of the Vulkan function, which the loader has returned to us.
                pub unsafe extern "system" fn $name($($argument: $ty),*) -> vk::Result {
                    type Next = unsafe extern "system" fn($($ty),*) -> vk::Result;
                    let next = NEXT[Function::$name as usize].load(Ordering::Relaxed);
                    // SAFETY: the pointer is that of the function with this signature.
                    let next = unsafe { transmute::<*mut c_void, Next>(next) };
                    // SAFETY: the caller keeps the promises of the function.
                    let result = answer(Function::$name, || unsafe { next($($argument),*) });
                    let kinds: &[Kind] = &[$(Kind::$kind)?];
                    if result == vk::Result::SUCCESS
                        && let [kind] = kinds
                    {
                        // SAFETY: the call was successful.
                        let handles = unsafe { [$($argument.made()),*] };
                        handles.into_iter().flatten().for_each(|handle| state().make(*kind, handle));
                    }
                    if result.as_raw() < 0 {
                        // SAFETY: the program passes valid places.
                        unsafe { $($argument.failed();)* }
                    }
                    result
                }
            )*
        }
    };
}

/// Answers a call: with the result of the fault, or that of the driver.
fn answer(function: Function, call: impl FnOnce() -> vk::Result) -> vk::Result {
    use Function::*;
    // The lock must not be held during the call.
    let failure = state().count(function);
    let Some(result) = failure else { return call() };
    let is_carried_out = result == vk::Result::SUBOPTIMAL_KHR
        || result == vk::Result::INCOMPLETE
        || matches!(
            function,
            vkQueueWaitIdle | vkDeviceWaitIdle | vkWaitSemaphores | vkWaitForFences | vkQueuePresentKHR
        );
    if is_carried_out {
        let real = call();
        if real.as_raw() < 0 {
            return real;
        }
    }
    result
}

functions! {
    vkEnumerateInstanceExtensionProperties(layer: P, count: P, properties: P) [INCOMPLETE ERROR_LAYER_NOT_PRESENT];
    vkEnumerateInstanceLayerProperties(count: P, properties: P) [INCOMPLETE];
    vkCreateInstance(info: P, allocator: P, made: Made) makes Instance
        [ERROR_INITIALIZATION_FAILED ERROR_LAYER_NOT_PRESENT ERROR_EXTENSION_NOT_PRESENT ERROR_INCOMPATIBLE_DRIVER];
    vkCreateDebugUtilsMessengerEXT(instance: P, info: P, allocator: P, made: Made) makes Messenger [];
    vkEnumeratePhysicalDevices(instance: P, count: P, devices: P) [INCOMPLETE ERROR_INITIALIZATION_FAILED];
    vkEnumerateDeviceExtensionProperties(physical: P, layer: P, count: P, properties: P)
        [INCOMPLETE ERROR_LAYER_NOT_PRESENT];
    vkCreateDevice(physical: P, info: P, allocator: P, made: Made) makes Device
        [ERROR_INITIALIZATION_FAILED ERROR_EXTENSION_NOT_PRESENT ERROR_FEATURE_NOT_PRESENT ERROR_TOO_MANY_OBJECTS
         ERROR_DEVICE_LOST];
    vkSetDebugUtilsObjectNameEXT(device: P, info: P) [];

    vkAllocateMemory(device: P, info: P, allocator: P, made: Made) makes Memory [ERROR_TOO_MANY_OBJECTS];
    vkMapMemory(device: P, memory: u64, offset: u64, size: u64, flags: u32, data: P) [ERROR_MEMORY_MAP_FAILED];
    vkBindBufferMemory(device: P, buffer: u64, memory: u64, offset: u64) [];
    vkBindImageMemory(device: P, image: u64, memory: u64, offset: u64) [];
    vkCreateBuffer(device: P, info: P, allocator: P, made: Made) makes Buffer [];
    vkCreateImage(device: P, info: P, allocator: P, made: Made) makes Image [];
    vkCreateImageView(device: P, info: P, allocator: P, made: Made) makes ImageView [];
    vkCreateSampler(device: P, info: P, allocator: P, made: Made) makes Sampler [ERROR_TOO_MANY_OBJECTS];

    vkCreateShaderModule(device: P, info: P, allocator: P, made: Made) makes ShaderModule [];
    vkCreatePipelineLayout(device: P, info: P, allocator: P, made: Made) makes PipelineLayout [];
    vkCreateGraphicsPipelines(device: P, cache: u64, count: u32, infos: P, allocator: P, made: Made) makes Pipeline [];
    vkCreateComputePipelines(device: P, cache: u64, count: u32, infos: P, allocator: P, made: Made) makes Pipeline [];
    vkCreateDescriptorSetLayout(device: P, info: P, allocator: P, made: Made) makes DescriptorSetLayout [];
    vkCreateDescriptorPool(device: P, info: P, allocator: P, made: Made) makes DescriptorPool [ERROR_FRAGMENTATION];
    vkAllocateDescriptorSets(device: P, info: P, set: Lent) [ERROR_FRAGMENTED_POOL ERROR_OUT_OF_POOL_MEMORY];

    vkCreateCommandPool(device: P, info: P, allocator: P, made: Made) makes CommandPool [];
    vkAllocateCommandBuffers(device: P, info: P, commands: Lent) [];
    vkResetCommandPool(device: P, pool: u64, flags: u32) [];
    vkBeginCommandBuffer(commands: P, info: P) [];
    vkEndCommandBuffer(commands: P) [];
    vkQueueSubmit2(queue: P, count: u32, submits: P, fence: u64) [ERROR_DEVICE_LOST];
    vkQueueWaitIdle(queue: P) [ERROR_DEVICE_LOST];
    vkDeviceWaitIdle(device: P) [ERROR_DEVICE_LOST];
    vkCreateSemaphore(device: P, info: P, allocator: P, made: Made) makes Semaphore [];
    vkWaitSemaphores(device: P, info: P, timeout: u64) [TIMEOUT ERROR_DEVICE_LOST];
    vkGetSemaphoreCounterValue(device: P, semaphore: u64, value: P) [ERROR_DEVICE_LOST];
    vkCreateFence(device: P, info: P, allocator: P, made: Made) makes Fence [];
    vkWaitForFences(device: P, count: u32, fences: P, all: u32, timeout: u64) [TIMEOUT ERROR_DEVICE_LOST];
    vkResetFences(device: P, count: u32, fences: P) [];
    vkGetQueryPoolResults(
        device: P, pool: u64, first: u32, count: u32, size: usize, data: P, stride: u64, flags: u32
    ) [ERROR_DEVICE_LOST];
    vkCreateQueryPool(device: P, info: P, allocator: P, made: Made) makes QueryPool [];

    vkCreateXcbSurfaceKHR(instance: P, info: P, allocator: P, made: Made) makes Surface [];
    vkGetPhysicalDeviceSurfaceSupportKHR(physical: P, family: u32, surface: u64, supported: P) [ERROR_SURFACE_LOST_KHR];
    vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical: P, surface: u64, capabilities: P) [ERROR_SURFACE_LOST_KHR];
    vkGetPhysicalDeviceSurfaceFormatsKHR(physical: P, surface: u64, count: P, formats: P)
        [INCOMPLETE ERROR_SURFACE_LOST_KHR];
    vkCreateSwapchainKHR(device: P, info: P, allocator: P, made: Made) makes Swapchain
        [ERROR_DEVICE_LOST ERROR_SURFACE_LOST_KHR ERROR_NATIVE_WINDOW_IN_USE_KHR ERROR_INITIALIZATION_FAILED];
    vkGetSwapchainImagesKHR(device: P, swapchain: u64, count: P, images: P) [INCOMPLETE];
    vkAcquireNextImageKHR(device: P, swapchain: u64, timeout: u64, semaphore: u64, fence: u64, index: P)
        [TIMEOUT NOT_READY SUBOPTIMAL_KHR ERROR_DEVICE_LOST ERROR_OUT_OF_DATE_KHR ERROR_SURFACE_LOST_KHR];
    vkQueuePresentKHR(queue: P, info: P)
        [SUBOPTIMAL_KHR ERROR_DEVICE_LOST ERROR_OUT_OF_DATE_KHR ERROR_SURFACE_LOST_KHR];
}

macro_rules! destroyers {
    ($($name:ident ( $($argument:ident: $ty:ty),* ) destroys $object:ident, a $kind:ident;)*) => {
        #[allow(non_snake_case, reason = "the names of Vulkan")]
        mod destruction {
            use super::*;
            $(
                /// # Safety
                /// That of the Vulkan function, which the loader has returned to us.
                pub unsafe extern "system" fn $name($($argument: $ty),*) {
                    type Next = unsafe extern "system" fn($($ty),*);
                    let next = DESTROY[Kind::$kind as usize].load(Ordering::Relaxed);
                    state().destroy(Kind::$kind, $object as u64);
                    // SAFETY: the pointer is that of the function with this signature, whose promises the caller keeps.
                    unsafe { transmute::<*mut c_void, Next>(next)($($argument),*) };
                }
            )*
        }

        /// The kinds of objects that the program destroys.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        enum Kind { $($kind),* }

        const DESTROYERS: &[(&str, Kind, *const c_void)] =
            &[$((stringify!($name), Kind::$kind, destruction::$name as *const c_void)),*];
    };
}

destroyers! {
    vkDestroyInstance(object: P, allocator: P) destroys object, a Instance;
    vkDestroyDebugUtilsMessengerEXT(instance: P, object: u64, allocator: P) destroys object, a Messenger;
    vkDestroySurfaceKHR(instance: P, object: u64, allocator: P) destroys object, a Surface;
    vkDestroyDevice(object: P, allocator: P) destroys object, a Device;
    vkFreeMemory(device: P, object: u64, allocator: P) destroys object, a Memory;
    vkDestroyBuffer(device: P, object: u64, allocator: P) destroys object, a Buffer;
    vkDestroyImage(device: P, object: u64, allocator: P) destroys object, a Image;
    vkDestroyImageView(device: P, object: u64, allocator: P) destroys object, a ImageView;
    vkDestroySampler(device: P, object: u64, allocator: P) destroys object, a Sampler;
    vkDestroyShaderModule(device: P, object: u64, allocator: P) destroys object, a ShaderModule;
    vkDestroyPipelineLayout(device: P, object: u64, allocator: P) destroys object, a PipelineLayout;
    vkDestroyPipeline(device: P, object: u64, allocator: P) destroys object, a Pipeline;
    vkDestroyDescriptorSetLayout(device: P, object: u64, allocator: P) destroys object, a DescriptorSetLayout;
    vkDestroyDescriptorPool(device: P, object: u64, allocator: P) destroys object, a DescriptorPool;
    vkDestroyCommandPool(device: P, object: u64, allocator: P) destroys object, a CommandPool;
    vkDestroySemaphore(device: P, object: u64, allocator: P) destroys object, a Semaphore;
    vkDestroyFence(device: P, object: u64, allocator: P) destroys object, a Fence;
    vkDestroyQueryPool(device: P, object: u64, allocator: P) destroys object, a QueryPool;
    vkDestroySwapchainKHR(device: P, object: u64, allocator: P) destroys object, a Swapchain;
}

/// The driver's functions, by [`Function`] and by [`Kind`]. Each query of a function stores its address again.
static NEXT: [AtomicPtr<c_void>; Function::ALL.len()] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; Function::ALL.len()];
static DESTROY: [AtomicPtr<c_void>; DESTROYER_COUNT] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; DESTROYER_COUNT];
const DESTROYER_COUNT: usize = Kind::Swapchain as usize + 1;
static NEXT_GET_DEVICE_PROC_ADDR: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// # Safety
/// That of `vkGetInstanceProcAddr`.
unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    static LOADER: OnceLock<ash::Entry> = OnceLock::new();
    // SAFETY: the library is a Vulkan loader, and a static is never dropped.
    let loader = LOADER.get_or_init(|| unsafe { ash::Entry::load() }.expect("a Vulkan loader"));
    // SAFETY: the caller keeps the promises.
    unsafe { interposed(name, (loader.static_fn().get_instance_proc_addr)(instance, name)) }
}

/// # Safety
/// That of `vkGetDeviceProcAddr`.
unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    let next = NEXT_GET_DEVICE_PROC_ADDR.load(Ordering::Relaxed);
    // SAFETY: the pointer was stored before the program got this function. The caller keeps the promises.
    unsafe { interposed(name, transmute::<*mut c_void, vk::PFN_vkGetDeviceProcAddr>(next)(device, name)) }
}

/// Stores the driver's function, and returns the one that takes its place.
///
/// # Safety
/// `name` is the name of a Vulkan function, and `next` its address.
unsafe fn interposed(name: *const c_char, next: vk::PFN_vkVoidFunction) -> vk::PFN_vkVoidFunction {
    let next = next? as *mut c_void;
    // SAFETY: the program passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or("");
    let ours = if name == "vkGetInstanceProcAddr" {
        get_instance_proc_addr as *const c_void
    } else if name == "vkGetDeviceProcAddr" {
        NEXT_GET_DEVICE_PROC_ADDR.store(next, Ordering::Relaxed);
        get_device_proc_addr as *const c_void
    } else if let Some(&function) = Function::ALL.iter().find(|function| function.name() == name) {
        NEXT[function as usize].store(next, Ordering::Relaxed);
        match function {
            Function::vkGetPhysicalDeviceSurfaceCapabilitiesKHR => surface_capabilities as *const c_void,
            function => function.interposer(),
        }
    } else if let Some(&(_, kind, ours)) = DESTROYERS.iter().find(|(destroyer, ..)| *destroyer == name) {
        DESTROY[kind as usize].store(next, Ordering::Relaxed);
        ours
    } else {
        next
    };
    // SAFETY: every one of them is a function.
    unsafe { transmute::<*const c_void, vk::PFN_vkVoidFunction>(ours) }
}

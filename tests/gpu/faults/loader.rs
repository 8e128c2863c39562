//! Vulkan functions that fail when a test wants them to.
//!
//! In: a [`Fault`], which names a function, the number of a call, and the result that this call returns. Out: an [`ash::Entry`]
//! for [`Instance::with_entry`](throng::vulkan::instance::Instance::with_entry), and a [`Report`] of calls, objects and leaks.
//!
//! A function of ours takes the place of each one that may fail ([`loader`](crate::gpu::loader)). It counts the call, and then
//! either calls the driver's function or returns the result of the fault. All Vulkan calls of a [`live`] come from its thread.
//!
//! Waits and presentation are carried out before they report a failure: a lost device executes nothing more,
//! and a failed presentation still waits for its semaphore (VK_KHR_swapchain).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

use ash::vk;

use crate::gpu::loader::{P, above_validation, next, replacements};

#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub function: Function,
    /// The number of the call of this function, from 0.
    pub call: usize,
    pub result: vk::Result,
    /// Whether later calls of the instance fail too: those of this function, or all that can report a lost device.
    pub lasts: bool,
    /// The number of instances, one after the other, that have the fault.
    pub instances: usize,
}

impl Fault {
    pub fn once(function: Function, call: usize, result: vk::Result) -> Self {
        Self { function, call, result, lasts: false, instances: 1 }
    }
}

#[derive(Debug, Default)]
pub struct Report {
    /// The calls that may fail, in order.
    pub calls: Vec<Function>,
    /// The number of calls until [`end_construction`].
    pub construction: usize,
    /// The number of instances in which the fault was reached.
    pub failures: usize,
    /// The objects of a device at its destruction, and all objects that were left at the end.
    pub leaks: Vec<String>,
}

/// Calls `life`, whose Vulkan functions come from [`entry`], with or without a fault.
pub fn live<T>(fault: Option<Fault>, life: impl FnOnce() -> T) -> (T, Report) {
    STATE.set(State { fault, ..State::default() });
    let value = life();
    let State { mut report, objects, .. } = STATE.take();
    report.leaks.extend(objects.iter().map(|(kind, _)| format!("{kind} at the end")));
    (value, report)
}

pub fn entry() -> ash::Entry {
    above_validation(replacement)
}

/// Says that the renderer of this life is made. What follows are its frames.
pub fn end_construction() {
    STATE.with_borrow_mut(|state| state.report.construction = state.report.calls.len());
}

/// Lets the surfaces of this life say that the program decides their size, as on Wayland.
pub fn take_size_from_surfaces() {
    STATE.with_borrow_mut(|state| state.has_no_size = true);
}

/// Does what [`take_size_from_surfaces`] says.
///
/// # Safety
/// `capabilities` is valid, and initialised after a success.
unsafe fn hide_size(capabilities: *mut vk::SurfaceCapabilitiesKHR, result: vk::Result) {
    if result == vk::Result::SUCCESS && STATE.with_borrow(|state| state.has_no_size) {
        // SAFETY: the caller makes the promise.
        unsafe { (*capabilities).current_extent = vk::Extent2D { width: u32::MAX, height: u32::MAX } };
    }
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    counts: BTreeMap<Function, usize>,
    instances: usize,
    has_failed: bool,
    objects: HashSet<(&'static str, u64)>,
    has_no_size: bool,
    report: Report,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
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

    /// Counts a call of the function that destroys objects of a kind, which is the end of its name.
    fn destroy(&mut self, destroyer: &'static str, handle: u64) {
        let kind = destroyer.trim_start_matches("vkDestroy").trim_start_matches("vkFree");
        if handle != 0 && !self.objects.remove(&(kind, handle)) {
            self.report.leaks.push(format!("{kind} was destroyed twice"));
        }
        if kind == "Device" {
            let of_instance = ["Instance", "DebugUtilsMessengerEXT", "SurfaceKHR"];
            let left = self.objects.iter().filter(|(kind, _)| !of_instance.contains(kind));
            self.report.leaks.extend(left.map(|(kind, _)| format!("{kind} at vkDestroyDevice")));
        }
    }
}

const MEMORY: &[vk::Result] = &[vk::Result::ERROR_OUT_OF_DEVICE_MEMORY, vk::Result::ERROR_OUT_OF_HOST_MEMORY];

macro_rules! functions {
    (
        destroyers: $($destroyer:ident)*; of roots: $($of_root:ident)*;
        $(
            $name:ident ( $($argument:ident: $ty:ty),* )
            $(makes $kind:ident at $made:ident)? $(tells the size at $capabilities:ident)? [$($result:ident)*];
        )*
    ) => {
        #[allow(non_camel_case_types, reason = "the names of Vulkan")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Function { $($name),* }

        impl Function {
            /// The results other than success to try: those that the specification lists for the function, apart from
            /// those that belong to no single one, like `ERROR_UNKNOWN`. The first is that of a lack of device memory.
            pub fn results(self) -> Vec<vk::Result> {
                let own: &[vk::Result] = match self { $(Self::$name => &[$(vk::Result::$result),*]),* };
                let memory = if self == Self::vkResetFences { &MEMORY[..1] } else { MEMORY };
                memory.iter().chain(own).copied().collect()
            }
        }

        replacements! {
            |next|
            $($name($($argument: $ty),*) -> vk::Result {
                let result = answer(Function::$name, || next($($argument),*));
                $(take_note(stringify!($kind), $made.cast(), result);)?
                $(hide_size($capabilities.cast(), result);)?
                result
            })*
            $($destroyer(owner: P, object: u64, allocator: P) {
                STATE.with_borrow_mut(|state| state.destroy(stringify!($destroyer), object));
                next(owner, object, allocator);
            })*
            $($of_root(object: P, allocator: P) {
                STATE.with_borrow_mut(|state| state.destroy(stringify!($of_root), object as u64));
                next(object, allocator);
            })*
        }
    };
}

/// Counts an object that a call has made. A call that failed has made none, and says so.
///
/// # Safety
/// `handle` is valid, and initialised after a success.
unsafe fn take_note(kind: &'static str, handle: *mut u64, result: vk::Result) {
    if result == vk::Result::SUCCESS {
        // SAFETY: the caller makes the promise.
        let handle = unsafe { *handle };
        STATE.with_borrow_mut(|state| state.objects.insert((kind, handle)));
    } else {
        // SAFETY: the caller makes the promise.
        unsafe { *handle = 0 };
    }
}

/// Answers a call: with the result of the fault, or that of the driver.
fn answer(function: Function, call: impl FnOnce() -> vk::Result) -> vk::Result {
    use Function::*;
    let failure = STATE.with_borrow_mut(|state| state.count(function));
    let Some(result) = failure else { return call() };
    let is_partial = [vk::Result::SUBOPTIMAL_KHR, vk::Result::INCOMPLETE].contains(&result);
    let is_wait = matches!(function, vkQueueWaitIdle | vkDeviceWaitIdle | vkWaitSemaphores | vkWaitForFences);
    if is_partial || is_wait || function == vkQueuePresentKHR {
        let real = call();
        if real.as_raw() < 0 {
            return real;
        }
    }
    result
}

functions! {
    destroyers:
        vkFreeMemory vkDestroyBuffer vkDestroyImage vkDestroyImageView vkDestroySampler vkDestroyShaderModule
        vkDestroyPipelineLayout vkDestroyPipeline vkDestroyDescriptorSetLayout vkDestroyDescriptorPool vkDestroyCommandPool
        vkDestroySemaphore vkDestroyFence vkDestroyQueryPool vkDestroySwapchainKHR vkDestroySurfaceKHR
        vkDestroyDebugUtilsMessengerEXT;
    of roots: vkDestroyDevice vkDestroyInstance;

    vkEnumerateInstanceExtensionProperties(layer: P, count: P, properties: P) [INCOMPLETE ERROR_LAYER_NOT_PRESENT];
    vkEnumerateInstanceLayerProperties(count: P, properties: P) [INCOMPLETE];
    vkCreateInstance(info: P, allocator: P, made: P) makes Instance at made
        [ERROR_INITIALIZATION_FAILED ERROR_LAYER_NOT_PRESENT ERROR_EXTENSION_NOT_PRESENT ERROR_INCOMPATIBLE_DRIVER];
    vkCreateDebugUtilsMessengerEXT(instance: P, info: P, allocator: P, made: P) makes DebugUtilsMessengerEXT at made [];
    vkEnumeratePhysicalDevices(instance: P, count: P, devices: P) [INCOMPLETE ERROR_INITIALIZATION_FAILED];
    vkEnumerateDeviceExtensionProperties(physical: P, layer: P, count: P, properties: P)
        [INCOMPLETE ERROR_LAYER_NOT_PRESENT];
    vkCreateDevice(physical: P, info: P, allocator: P, made: P) makes Device at made
        [ERROR_INITIALIZATION_FAILED ERROR_EXTENSION_NOT_PRESENT ERROR_FEATURE_NOT_PRESENT ERROR_TOO_MANY_OBJECTS
         ERROR_DEVICE_LOST];
    vkSetDebugUtilsObjectNameEXT(device: P, info: P) [];

    vkAllocateMemory(device: P, info: P, allocator: P, made: P) makes Memory at made [ERROR_TOO_MANY_OBJECTS];
    vkMapMemory(device: P, memory: u64, offset: u64, size: u64, flags: u32, data: P) [ERROR_MEMORY_MAP_FAILED];
    vkBindBufferMemory(device: P, buffer: u64, memory: u64, offset: u64) [];
    vkBindImageMemory(device: P, image: u64, memory: u64, offset: u64) [];
    vkCreateBuffer(device: P, info: P, allocator: P, made: P) makes Buffer at made [];
    vkCreateImage(device: P, info: P, allocator: P, made: P) makes Image at made [];
    vkCreateImageView(device: P, info: P, allocator: P, made: P) makes ImageView at made [];
    vkCreateSampler(device: P, info: P, allocator: P, made: P) makes Sampler at made [ERROR_TOO_MANY_OBJECTS];

    vkCreateShaderModule(device: P, info: P, allocator: P, made: P) makes ShaderModule at made [];
    vkCreatePipelineLayout(device: P, info: P, allocator: P, made: P) makes PipelineLayout at made [];
    vkCreateGraphicsPipelines(device: P, cache: u64, count: u32, infos: P, allocator: P, made: P) makes Pipeline at made [];
    vkCreateComputePipelines(device: P, cache: u64, count: u32, infos: P, allocator: P, made: P) makes Pipeline at made [];
    vkCreateDescriptorSetLayout(device: P, info: P, allocator: P, made: P) makes DescriptorSetLayout at made [];
    vkCreateDescriptorPool(device: P, info: P, allocator: P, made: P) makes DescriptorPool at made [ERROR_FRAGMENTATION];
    vkAllocateDescriptorSets(device: P, info: P, set: P) [ERROR_FRAGMENTED_POOL ERROR_OUT_OF_POOL_MEMORY];

    vkCreateCommandPool(device: P, info: P, allocator: P, made: P) makes CommandPool at made [];
    vkAllocateCommandBuffers(device: P, info: P, commands: P) [];
    vkResetCommandPool(device: P, pool: u64, flags: u32) [];
    vkBeginCommandBuffer(commands: P, info: P) [];
    vkEndCommandBuffer(commands: P) [];
    vkQueueSubmit2(queue: P, count: u32, submits: P, fence: u64) [ERROR_DEVICE_LOST];
    vkQueueWaitIdle(queue: P) [ERROR_DEVICE_LOST];
    vkDeviceWaitIdle(device: P) [ERROR_DEVICE_LOST];
    vkCreateSemaphore(device: P, info: P, allocator: P, made: P) makes Semaphore at made [];
    vkWaitSemaphores(device: P, info: P, timeout: u64) [TIMEOUT ERROR_DEVICE_LOST];
    vkGetSemaphoreCounterValue(device: P, semaphore: u64, value: P) [ERROR_DEVICE_LOST];
    vkCreateFence(device: P, info: P, allocator: P, made: P) makes Fence at made [];
    vkWaitForFences(device: P, count: u32, fences: P, all: u32, timeout: u64) [TIMEOUT ERROR_DEVICE_LOST];
    vkResetFences(device: P, count: u32, fences: P) [];
    vkGetQueryPoolResults(device: P, pool: u64, first: u32, count: u32, size: usize, data: P, stride: u64, flags: u32)
        [ERROR_DEVICE_LOST];
    vkCreateQueryPool(device: P, info: P, allocator: P, made: P) makes QueryPool at made [];

    vkCreateXcbSurfaceKHR(instance: P, info: P, allocator: P, made: P) makes SurfaceKHR at made [];
    vkGetPhysicalDeviceSurfaceSupportKHR(physical: P, family: u32, surface: u64, supported: P) [ERROR_SURFACE_LOST_KHR];
    vkGetPhysicalDeviceSurfaceCapabilitiesKHR(physical: P, surface: u64, capabilities: P)
        tells the size at capabilities [ERROR_SURFACE_LOST_KHR];
    vkGetPhysicalDeviceSurfaceFormatsKHR(physical: P, surface: u64, count: P, formats: P)
        [INCOMPLETE ERROR_SURFACE_LOST_KHR];
    vkCreateSwapchainKHR(device: P, info: P, allocator: P, made: P) makes SwapchainKHR at made
        [ERROR_DEVICE_LOST ERROR_SURFACE_LOST_KHR ERROR_NATIVE_WINDOW_IN_USE_KHR ERROR_INITIALIZATION_FAILED];
    vkGetSwapchainImagesKHR(device: P, swapchain: u64, count: P, images: P) [INCOMPLETE];
    vkAcquireNextImageKHR(device: P, swapchain: u64, timeout: u64, semaphore: u64, fence: u64, index: P)
        [TIMEOUT NOT_READY SUBOPTIMAL_KHR ERROR_DEVICE_LOST ERROR_OUT_OF_DATE_KHR ERROR_SURFACE_LOST_KHR];
    vkQueuePresentKHR(queue: P, info: P)
        [SUBOPTIMAL_KHR ERROR_DEVICE_LOST ERROR_OUT_OF_DATE_KHR ERROR_SURFACE_LOST_KHR];
}

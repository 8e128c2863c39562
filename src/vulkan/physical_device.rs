//! The physical devices: their features and limits, and the choice of one.

use ash::{ext, khr, vk};

use super::error::{Context, Error, Result};
use super::instance::{Instance, has_extension};
use super::surface::Surface;

/// The storage buffers that our layouts have in a shader stage (`renderer::layouts` asserts it). Vulkan guarantees four.
pub const STORAGE_BUFFERS_PER_STAGE: u32 = 12;

/// One Vulkan device, with the features and limits that matter to the program.
#[derive(Clone)]
pub struct PhysicalDevice {
    /// The handle, which lives as long as the instance.
    pub(super) raw: vk::PhysicalDevice,
    /// The index in the list of devices, for `--device INDEX`.
    pub index: usize,
    pub name: String,
    /// The name and version of the driver.
    pub driver: String,
    /// The limits, type and version.
    pub properties: vk::PhysicalDeviceProperties,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    /// `maxMemoryAllocationSize`.
    pub max_allocation_bytes: u64,
    /// `maxBufferSize`.
    pub max_buffer_bytes: u64,
    /// The queue family for graphics, compute and transfer, if there is one. That of a chosen device presents to its surface.
    pub(super) queue_family: Option<u32>,
    families: Vec<vk::QueueFamilyProperties>,
    /// Whether anisotropic filtering is supported and worth its cost.
    pub sampler_anisotropy: bool,
    /// Whether the edges of triangles can be drawn, for wireframes.
    pub fill_mode_non_solid: bool,
    /// Whether `VK_EXT_memory_budget` reports how much memory is free.
    pub has_memory_budget: bool,
    /// Whether presentation can signal fences (`VK_EXT_swapchain_maintenance1`), if the instance allows it.
    pub has_present_fences: bool,
    /// Whether the device needs `VK_KHR_portability_subset` (MoltenVK).
    pub is_portability: bool,
    swapchain: bool,
    has_depth_format: bool,
    missing_features: Vec<&'static str>,
}

impl PhysicalDevice {
    /// Returns all devices, in the order of the driver.
    pub fn enumerate(instance: &Instance) -> Result<Vec<Self>> {
        // SAFETY: the instance is alive.
        let handles = unsafe { instance.raw.enumerate_physical_devices() }.context("vkEnumeratePhysicalDevices")?;
        handles.into_iter().enumerate().map(|(index, raw)| Self::query(instance, index, raw)).collect()
    }

    fn query(instance: &Instance, index: usize, raw: vk::PhysicalDevice) -> Result<Self> {
        let vk_instance = &instance.raw;
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut maintenance4 = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut driver)
            .push_next(&mut maintenance3)
            .push_next(&mut maintenance4);
        let mut vulkan12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default();
        // SAFETY: `raw` came from this instance. A device below 1.3 ignores the structures it does not know, whose
        // fields then stay at their defaults.
        let (memory, families, extensions) = unsafe {
            vk_instance.get_physical_device_properties2(raw, &mut properties);
            let extensions = vk_instance
                .enumerate_device_extension_properties(raw)
                .context("vkEnumerateDeviceExtensionProperties")?;
            (
                vk_instance.get_physical_device_memory_properties(raw),
                vk_instance.get_physical_device_queue_family_properties(raw),
                extensions,
            )
        };
        let properties = properties.properties;
        let has = |name| has_extension(&extensions, name);
        let mut swapchain_maintenance = vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut vulkan12).push_next(&mut vulkan13);
        if has(ext::swapchain_maintenance1::NAME) {
            features = features.push_next(&mut swapchain_maintenance);
        }
        // SAFETY: as above.
        unsafe { vk_instance.get_physical_device_features2(raw, &mut features) };
        let features = features.features;

        let needed_features = [
            (vulkan12.timeline_semaphore, "timelineSemaphore"),
            (vulkan12.separate_depth_stencil_layouts, "separateDepthStencilLayouts"),
            (vulkan13.synchronization2, "synchronization2"),
            (vulkan13.dynamic_rendering, "dynamicRendering"),
            (vulkan13.maintenance4, "maintenance4"),
            (vulkan13.shader_demote_to_helper_invocation, "shaderDemoteToHelperInvocation"),
        ];
        let missing_features = needed_features.into_iter().filter(|(have, _)| *have == vk::FALSE);
        // SAFETY: as above.
        let depth_format = unsafe { vk_instance.get_physical_device_format_properties(raw, vk::Format::D32_SFLOAT) };
        let depth_use = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT | vk::FormatFeatureFlags::SAMPLED_IMAGE;
        let queue_family = draw_families(&families).next();
        let text = |chars: Result<&std::ffi::CStr, _>| {
            chars.map_or_else(|_: std::ffi::FromBytesUntilNulError| String::new(), |c| c.to_string_lossy().into_owned())
        };
        Ok(Self {
            raw,
            index,
            name: text(properties.device_name_as_c_str()),
            driver: format!("{} {}", text(driver.driver_name_as_c_str()), text(driver.driver_info_as_c_str())),
            memory,
            max_allocation_bytes: maintenance3.max_memory_allocation_size,
            max_buffer_bytes: maintenance4.max_buffer_size,
            queue_family,
            families,
            fill_mode_non_solid: features.fill_mode_non_solid == vk::TRUE,
            // Every sample costs a processor as much as the first, and Mesa's loop over those of a thin triangle may never end.
            sampler_anisotropy: features.sampler_anisotropy == vk::TRUE
                && properties.device_type != vk::PhysicalDeviceType::CPU,
            has_memory_budget: has(ext::memory_budget::NAME),
            has_present_fences: swapchain_maintenance.swapchain_maintenance1 == vk::TRUE
                && instance.has_surface_maintenance,
            is_portability: has(khr::portability_subset::NAME),
            swapchain: has(khr::swapchain::NAME),
            has_depth_format: depth_format.optimal_tiling_features.contains(depth_use),
            missing_features: missing_features.map(|(_, name)| name).collect(),
            properties,
        })
    }

    /// Returns the device that `wanted` names (an index in digits, or part of a name in any case), or the best device. With
    /// `surface` the device must be able to present to it.
    ///
    /// # Errors
    /// No device matches, or no matching device can run the program. The error lists the devices.
    pub fn choose(instance: &Instance, wanted: Option<&str>, surface: Option<&Surface>) -> Result<Self> {
        let all = Self::enumerate(instance)?;
        let available: Vec<String> = all.iter().map(|device| format!("{} {}", device.index, device.name)).collect();
        // A number is an index and nothing else: `5` is no part of the name `RTX 5090`.
        let is_named = |device: &Self, wanted: &str| match wanted.bytes().all(|byte| byte.is_ascii_digit()) {
            true => wanted.parse() == Ok(device.index),
            false => device.name.to_lowercase().contains(&wanted.to_lowercase()),
        };
        let is_candidate = |device: &&Self| wanted.is_none_or(|wanted| is_named(device, wanted));
        let candidates: Vec<&Self> = all.iter().filter(is_candidate).collect();
        if let Some(wanted) = wanted.filter(|_| candidates.is_empty()) {
            return Err(Error::NoSuchDevice { wanted: wanted.to_owned(), available });
        }
        let (mut suitable, mut reasons) = (Vec::new(), Vec::new());
        for device in candidates {
            match device.family_for(surface) {
                Ok(family) => suitable.push(Self { queue_family: Some(family), ..device.clone() }),
                Err(reason) => reasons.push(format!("{}: {reason}", device.name)),
            }
        }
        // Of several best ones, the first.
        let best = suitable.into_iter().rev().max_by_key(|device| rank(device.properties.device_type));
        best.ok_or(Error::NoSuitableDevice(reasons))
    }

    /// Returns why the device cannot draw images, or `None` if it can.
    pub fn obstacle(&self) -> Option<String> {
        self.family_for(None).err()
    }

    /// Returns the queue family that draws and, with `surface`, presents to it. The error says why the device is unfit.
    fn family_for(&self, surface: Option<&Surface>) -> Result<u32, String> {
        let version = self.properties.api_version;
        if version < vk::API_VERSION_1_3 {
            return Err(format!(
                "Vulkan {}.{}, but 1.3 is needed (a newer driver may help)",
                vk::api_version_major(version),
                vk::api_version_minor(version)
            ));
        }
        if !self.missing_features.is_empty() {
            return Err(format!("lacks {}", self.missing_features.join(", ")));
        }
        let storage_buffers = self.properties.limits.max_per_stage_descriptor_storage_buffers;
        if storage_buffers < STORAGE_BUFFERS_PER_STAGE {
            return Err(format!(
                "has {storage_buffers} storage buffers in a shader stage, but {STORAGE_BUFFERS_PER_STAGE} are needed"
            ));
        }
        if !self.has_depth_format {
            return Err("cannot sample D32_SFLOAT depth images".to_owned());
        }
        let first = self.queue_family.ok_or("has no queue for both graphics and compute")?;
        let Some(Surface { loader, raw, .. }) = surface else { return Ok(first) };
        if !self.swapchain {
            return Err("cannot present (no VK_KHR_swapchain)".to_owned());
        }
        for family in draw_families(&self.families) {
            // SAFETY: device and surface belong to the same, living instance; the family exists.
            let presents = unsafe { loader.get_physical_device_surface_support(self.raw, family, *raw) };
            let presents = presents.context("vkGetPhysicalDeviceSurfaceSupportKHR");
            if presents.map_err(|error| format!("cannot present to this window ({error})"))? {
                return Ok(family);
            }
        }
        Err("cannot present to this window".to_owned())
    }

    /// Returns the number of valid bits of a timestamp on the queue family; 0: no timestamps.
    pub fn timestamp_valid_bits(&self) -> u32 {
        let family = self.queue_family.and_then(|family| self.families.get(family as usize));
        family.map_or(0, |family| family.timestamp_valid_bits)
    }

    /// Returns `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub fn kind(&self) -> &'static str {
        KINDS[rank(self.properties.device_type)].1
    }

    /// Returns whether the device is the processor itself: a driver in software.
    pub fn is_cpu(&self) -> bool {
        self.properties.device_type == vk::PhysicalDeviceType::CPU
    }

    /// Returns the Vulkan version as `major.minor.patch`.
    pub fn api_version(&self) -> String {
        let version = self.properties.api_version;
        format!(
            "{}.{}.{}",
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        )
    }

    /// Returns the sample counts that both colour and depth attachments support.
    pub fn sample_counts(&self) -> vk::SampleCountFlags {
        let limits = &self.properties.limits;
        limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts
    }

    /// Returns whether the CPU can write device-local memory that is large enough for a palette. Integrated GPUs, software
    /// drivers and discrete GPUs with a resizable BAR have such memory. The 256 MiB BAR of other discrete GPUs does not count:
    /// it is small, and drivers use it themselves.
    pub fn has_large_mappable_device_memory(&self) -> bool {
        let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT;
        const SMALL_BAR_BYTES: u64 = 256 << 20;
        self.memory.memory_types_as_slice().iter().any(|memory_type| {
            let heap = self.memory.memory_heaps_as_slice().get(memory_type.heap_index as usize);
            memory_type.property_flags.contains(wanted) && heap.is_some_and(|heap| heap.size > SMALL_BAR_BYTES)
        })
    }

    /// Of the memory types in the bit set `types`, those of the host; all of them where that leaves none that can be
    /// mapped (integrated GPUs, processors). Staging in device memory would copy it there twice.
    pub fn host_memory_types(&self, types: u32) -> u32 {
        let mapped = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        self.types_with(types, |flags| flags.contains(mapped) && !flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL))
    }

    /// Of the memory types that an image may have, those that are only backed when a tile does not suffice; all of them where
    /// there are none. Vulkan offers such types to attachments without contents after a pass alone, on GPUs that draw in tiles.
    pub fn image_memory_types(&self, types: u32) -> u32 {
        self.types_with(types, |flags| flags.contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED))
    }

    /// Returns the `wanted` ones of the memory types in the bit set `types`, or all of them if none is wanted.
    fn types_with(&self, types: u32, wanted: impl Fn(vk::MemoryPropertyFlags) -> bool) -> u32 {
        let all = self.memory.memory_types_as_slice().iter().enumerate();
        let found = all.filter(|(index, memory_type)| types & (1 << index) != 0 && wanted(memory_type.property_flags));
        match found.fold(0, |bits, (index, _)| bits | 1 << index) {
            0 => types,
            bits => bits,
        }
    }

    /// Returns the size of the largest device-local heap, and how much of it is free if the driver reports it.
    pub fn device_memory(&self, instance: &Instance) -> (u64, Option<u64>) {
        let heaps = self.memory.memory_heaps_as_slice().iter().enumerate();
        let local = heaps.filter(|(_, heap)| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        let Some((index, heap)) = local.max_by_key(|(_, heap)| heap.size) else { return (0, None) };
        if !self.has_memory_budget {
            return (heap.size, None);
        }
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the device belongs to this instance and knows the structure.
        unsafe { instance.raw.get_physical_device_memory_properties2(self.raw, &mut memory) };
        let left = budget.heap_budget.get(index).zip(budget.heap_usage.get(index));
        (heap.size, left.map(|(budget, usage)| budget.saturating_sub(*usage)))
    }

    pub fn wanted_extensions(&self, present: bool) -> Vec<&'static std::ffi::CStr> {
        let extensions = [
            (present, khr::swapchain::NAME),
            (present && self.has_present_fences, ext::swapchain_maintenance1::NAME),
            (self.is_portability, khr::portability_subset::NAME),
            (self.has_memory_budget, ext::memory_budget::NAME),
        ];
        extensions.into_iter().filter_map(|(is_wanted, name)| is_wanted.then_some(name)).collect()
    }
}

/// Returns the queue families for graphics and compute, in the driver's order. Each of them can transfer too.
pub fn draw_families(families: &[vk::QueueFamilyProperties]) -> impl Iterator<Item = u32> {
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    (0..).zip(families).filter(move |(_, family)| family.queue_flags.contains(wanted)).map(|(index, _)| index)
}

/// The kinds of devices with their names, the best one last. Devices of type OTHER are GPUs behind a layer that hides their kind.
const KINDS: [(vk::PhysicalDeviceType, &str); 5] = [
    (vk::PhysicalDeviceType::CPU, "cpu"),
    (vk::PhysicalDeviceType::OTHER, "other"),
    (vk::PhysicalDeviceType::VIRTUAL_GPU, "virtual"),
    (vk::PhysicalDeviceType::INTEGRATED_GPU, "integrated"),
    (vk::PhysicalDeviceType::DISCRETE_GPU, "discrete"),
];

/// Returns the rank of a kind of device: the best one has the greatest. Unknown kinds count as OTHER.
pub fn rank(kind: vk::PhysicalDeviceType) -> usize {
    KINDS.iter().position(|(other, _)| *other == kind).unwrap_or(1)
}

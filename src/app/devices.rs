//! `devices`: lists the Vulkan devices and their capabilities.

use anyhow::Result;
use ash::vk;

use super::advice::{DRIVER, how_to_install};
use super::fact::{Fact, page};
use super::output::{print, print_json};
use super::text::page_columns;
use crate::renderer::UploadPath;
use crate::vulkan::instance::{Instance, InstanceOptions};
use crate::vulkan::physical_device::PhysicalDevice;

pub fn run(json: bool) -> Result<()> {
    let instance = Instance::new(InstanceOptions::default())?;
    let facts: Vec<Fact> = PhysicalDevice::enumerate(&instance)?.iter().map(facts).collect();
    if json {
        return print_json(&facts, true);
    }
    if facts.is_empty() {
        return print(format!("There is no Vulkan device; {}\n", how_to_install(DRIVER)));
    }
    print(facts.iter().map(|device| page(device, page_columns())).collect::<Vec<_>>().join("\n"))
}

fn facts(device: &PhysicalDevice) -> Fact {
    let limits = &device.properties.limits;
    let counts = device.sample_counts();
    let counts = [1, 2, 4, 8].into_iter().filter(|&count| counts.contains(vk::SampleCountFlags::from_raw(count)));
    let heaps = device.memory.memory_heaps_as_slice().iter();
    let heaps = heaps.map(|heap| {
        let is_local = heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
        [("bytes", heap.size.into()), ("device_local", is_local.into())]
    });
    Fact::from([
        ("index", (device.index as u32).into()),
        ("name", device.name.as_str().into()),
        ("type", device.kind().into()),
        ("driver", device.driver.as_str().into()),
        ("api", device.api_version().as_str().into()),
        // Why the program cannot use it.
        ("obstacle", device.obstacle().as_deref().into()),
        ("heaps", heaps.collect()),
        // In bytes.
        ("max_storage_buffer_range", u64::from(limits.max_storage_buffer_range).into()),
        ("upload", UploadPath::best_for(device).name().into()),
        ("msaa", counts.collect()),
        ("timestamps", (device.timestamp_valid_bits() > 0).into()),
    ])
}

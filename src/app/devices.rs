//! `devices`: lists the Vulkan devices and their capabilities.

use anyhow::Result;
use ash::vk;
use serde_json::json;

use super::output::{print, print_json};
use super::text::{aligned, page_columns};
use crate::cli::DevicesArgs;
use crate::renderer::UploadPath;
use crate::vulkan::physical_device::{PhysicalDevice, list_devices};

/// Runs the command.
///
/// # Errors
/// There is no Vulkan loader or no driver.
pub fn run(args: &DevicesArgs) -> Result<()> {
    let (_instance, devices) = list_devices(false)?;
    if args.json {
        return print_json(&devices.iter().map(as_json).collect::<Vec<_>>(), true);
    }
    if devices.is_empty() {
        return print("There is no Vulkan device. On Linux, ./setup.sh installs Mesa's software driver.\n");
    }
    print(&devices.iter().map(as_text).collect::<Vec<_>>().join("\n"))
}

fn sample_counts(device: &PhysicalDevice) -> Vec<u32> {
    let counts = device.sample_counts();
    [1, 2, 4, 8].into_iter().filter(|&count| counts.contains(vk::SampleCountFlags::from_raw(count))).collect()
}

/// Returns the size of each heap, and whether it is local to the device.
fn heaps(device: &PhysicalDevice) -> impl Iterator<Item = (u64, bool)> {
    let heaps = device.memory.memory_heaps_as_slice().iter();
    heaps.map(|heap| (heap.size, heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL)))
}

fn as_text(device: &PhysicalDevice) -> String {
    const MEBIBYTE: u64 = 1 << 20;
    let storage_range = u64::from(device.properties.limits.max_storage_buffer_range);
    let heap = |(size, local)| format!("{} MiB{}", size / MEBIBYTE, if local { " device-local" } else { "" });
    let rows = [
        ("type", device.kind().to_owned()),
        ("driver", device.driver.clone()),
        ("Vulkan", device.api_version()),
        ("usable", device.obstacle(None).map_or_else(|| "yes".to_owned(), |reason| format!("no: {reason}"))),
        ("memory", heaps(device).map(heap).collect::<Vec<_>>().join(", ")),
        ("storage range", format!("{} MiB", storage_range / MEBIBYTE)),
        ("upload path", UploadPath::best_for(device).name().to_owned()),
        ("msaa", sample_counts(device).iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        ("GPU times", if device.timestamp_valid_bits > 0 { "yes" } else { "no" }.to_owned()),
    ];
    let rows = rows.map(|(title, value)| [title.to_owned(), value]);
    format!("{} {}\n{}", device.index, device.name, aligned(page_columns(), 2, rows))
}

fn as_json(device: &PhysicalDevice) -> serde_json::Value {
    let heaps = heaps(device).map(|(bytes, local)| json!({ "bytes": bytes, "device_local": local }));
    json!({
        "index": device.index,
        "name": device.name,
        "type": device.kind(),
        "driver": device.driver,
        "api": device.api_version(),
        "obstacle": device.obstacle(None),
        "heaps": heaps.collect::<Vec<_>>(),
        "max_storage_buffer_range": device.properties.limits.max_storage_buffer_range,
        "upload": UploadPath::best_for(device).name(),
        "msaa": sample_counts(device),
        "timestamps": device.timestamp_valid_bits > 0,
    })
}

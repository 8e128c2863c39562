//! `devices`: the Vulkan devices and what each offers.

use anyhow::Result;
use ash::vk;
use serde_json::json;

use crate::cli::DevicesArgs;
use crate::renderer::UploadPath;
use crate::vulkan::physical_device::{PhysicalDevice, list_devices};

/// Runs the command.
///
/// # Errors
/// No loader or no driver.
pub fn run(args: &DevicesArgs) -> Result<()> {
    let (_instance, devices) = list_devices(false)?;
    if args.json {
        let list: Vec<_> = devices.iter().map(as_json).collect();
        return super::print(&format!("{:#}\n", json!(list)));
    }
    if devices.is_empty() {
        return super::print("There is no Vulkan device. On Linux, ./setup.sh installs Mesa's software driver.\n");
    }
    super::print(&devices.iter().map(as_text).collect::<Vec<_>>().join("\n"))
}

fn sample_counts(device: &PhysicalDevice) -> Vec<u32> {
    let counts = device.sample_counts();
    [1, 2, 4, 8].into_iter().filter(|&count| counts.contains(vk::SampleCountFlags::from_raw(count))).collect()
}

fn as_text(device: &PhysicalDevice) -> String {
    const MEBIBYTE: u64 = 1 << 20;
    let limits = &device.properties.limits;
    let heaps: Vec<String> = device
        .memory
        .memory_heaps_as_slice()
        .iter()
        .map(|heap| {
            let local = heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
            format!("{} MiB{}", heap.size / MEBIBYTE, if local { " device-local" } else { "" })
        })
        .collect();
    let usable = match device.obstacle(None) {
        None => "yes".to_owned(),
        Some(reason) => format!("no: {reason}"),
    };
    let samples: Vec<String> = sample_counts(device).iter().map(u32::to_string).collect();
    format!(
        "{} {}\n  type           {}\n  driver         {}\n  Vulkan         {}\n  usable         {usable}\n  memory         \
         {}\n  storage range  {} MiB\n  upload path    {}\n  msaa           {}\n  GPU times      {}\n",
        device.index,
        device.name,
        device.kind(),
        device.driver,
        device.api_version(),
        heaps.join(", "),
        u64::from(limits.max_storage_buffer_range) / MEBIBYTE,
        UploadPath::best_for(device).name(),
        samples.join(", "),
        if device.timestamp_valid_bits > 0 { "yes" } else { "no" },
    )
}

fn as_json(device: &PhysicalDevice) -> serde_json::Value {
    let limits = &device.properties.limits;
    let heaps: Vec<_> = device
        .memory
        .memory_heaps_as_slice()
        .iter()
        .map(|heap| {
            json!({ "bytes": heap.size, "device_local": heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL) })
        })
        .collect();
    json!({
        "index": device.index,
        "name": device.name,
        "type": device.kind(),
        "driver": device.driver,
        "api": device.api_version(),
        "obstacle": device.obstacle(None),
        "heaps": heaps,
        "max_storage_buffer_range": limits.max_storage_buffer_range,
        "upload": UploadPath::best_for(device).name(),
        "msaa": sample_counts(device),
        "timestamps": device.timestamp_valid_bits > 0,
    })
}

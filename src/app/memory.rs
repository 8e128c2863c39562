//! Memory, said beforehand: how much a crowd will take on the device, and what helps where that is too much.
//!
//! What cannot be is an error before anything is allocated. What may not suffice is a warning only: heap sizes are what
//! drivers say, and a software driver's is often less than the machine has.

use anyhow::{Result, bail};

use super::inspect::{bytes, gpu_static_bytes};
use crate::cli::{GpuArgs, Switch};
use crate::model::Model;
use crate::renderer::memory::{Demand, MemoryLimits, MemoryPlan, ModelDemand};
use crate::renderer::slot::plan::ModelSize;
use crate::renderer::slot::stream_buffer::LARGEST_BYTES;
use crate::renderer::{RendererSettings, Skinning, UploadPath};
use crate::vulkan::device::Device;

/// What is drawn of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibleCount {
    /// Visible instances.
    pub instances: u32,
    /// Different poses among them.
    pub poses: u32,
}

/// Adds up what frames of this crowd take, and warns where the device may not have it. `visible` is by model.
///
/// # Errors
/// Where something is larger than the device allows, or all of it by far.
pub fn check(
    device: &Device,
    args: &GpuArgs,
    models: &[Model],
    visible: &[VisibleCount],
    frames_in_flight: usize,
) -> Result<MemoryPlan> {
    let demand = demand(device, args, models, visible, frames_in_flight);
    let limits = limits(device, &demand);
    if let Some(too_large) = demand.too_large(limits) {
        let (whose, advice) = match too_large.most_instances {
            Some(most) => (
                format!(" of {} visible instances", demand.instances()),
                format!("at most {most} visible --instances fit, more with --share-poses HZ"),
            ),
            None => (String::new(), "a smaller --size or --msaa 1 takes less".to_owned()),
        };
        bail!(
            "the {}{whose} takes {}, but the device's {} is {}; {advice}",
            too_large.what,
            bytes(too_large.bytes),
            too_large.limit,
            bytes(too_large.limit_bytes),
        );
    }
    let plan = MemoryPlan::new(&demand, limits);
    let (heap_bytes, free_bytes) = device.physical.device_memory(device.instance());
    if let Some(warning) = warning(&plan, &demand, heap_bytes, free_bytes) {
        if is_hopeless(&plan, heap_bytes) {
            bail!("{}: {warning}", device.physical.name);
        }
        tracing::warn!("{}: {warning}", device.physical.name);
    }
    Ok(plan)
}

/// Drivers make do with the machine's memory for a while. What is half as much again as there is would have them lose
/// the device, or the system end the program.
fn is_hopeless(plan: &MemoryPlan, heap_bytes: u64) -> bool {
    plan.total() > heap_bytes.saturating_add(heap_bytes / 2)
}

fn limits(device: &Device, demand: &Demand) -> MemoryLimits {
    let storage_range_bytes = u64::from(device.limits().max_storage_buffer_range);
    let largest_pose = demand.models.iter().map(|model| model.skinned_bytes).max().unwrap_or(0);
    let page_bytes = RendererSettings::default().page_bytes.max(largest_pose).min(storage_range_bytes);
    MemoryLimits {
        storage_range_bytes,
        buffer_bytes: device.physical.max_buffer_bytes.min(LARGEST_BYTES),
        allocation_bytes: device.physical.max_allocation_bytes,
        page_bytes,
    }
}

fn demand(
    device: &Device,
    args: &GpuArgs,
    models: &[Model],
    visible: &[VisibleCount],
    frames_in_flight: usize,
) -> Demand {
    let of_model = |(model, count): (&Model, &VisibleCount)| ModelDemand {
        instances: count.instances.into(),
        poses: count.poses.into(),
        joints: model.palette.len() as u64,
        morph_weights: model.morph_weight_count() as u64,
        skinned_bytes: ModelSize {
            vertex_count: model.geometry.vertex_count() as u32,
            has_tangents: !model.geometry.tangents.is_empty(),
            ..ModelSize::default()
        }
        .skinned_bytes(),
    };
    Demand {
        models: models.iter().zip(visible).map(of_model).collect(),
        static_bytes: models.iter().map(gpu_static_bytes).sum(),
        skinning: args.skinning.into(),
        upload: args.upload.path().unwrap_or_else(|| UploadPath::best_for(&device.physical)),
        frames_in_flight: frames_in_flight as u64,
        extent: [args.size.width.into(), args.size.height.into()],
        samples: args.quality.msaa.into(),
        shadow_map_size: RendererSettings::default().shadow_map_size.filter(|_| args.quality.shadows == Switch::On),
    }
}

/// One line, where there is less than is needed.
fn warning(plan: &MemoryPlan, demand: &Demand, heap_bytes: u64, free_bytes: Option<u64>) -> Option<String> {
    let (available, whose) = match free_bytes {
        Some(free) if free < heap_bytes => (free, "are free"),
        _ => (heap_bytes, "are there"),
    };
    let total = plan.total();
    if total <= available {
        return None;
    }
    let parts = [
        (plan.skinned_vertices, "of skinned vertices"),
        (plan.poses, "of joint matrices"),
        (plan.instances, "of instances"),
        (plan.staging, "of staging buffers"),
        (plan.images, "of images"),
        (plan.static_data, "of models"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(part, _)| part * 100 >= total)
        .map(|(part, what)| format!("{} {what}", bytes(part)))
        .collect();
    Some(format!(
        "about {} of device memory are needed ({}), but only {} {whose}; {}",
        bytes(total),
        parts.join(", "),
        bytes(available),
        advice(plan, demand, available)
    ))
}

/// What takes less, the most effective first.
fn advice(plan: &MemoryPlan, demand: &Demand, available: u64) -> String {
    let fixed = plan.total() - plan.crowd();
    if plan.images > plan.crowd() {
        let msaa = if demand.samples > 1 { "--msaa 1 or " } else { "" };
        return format!("{msaa}a smaller --size takes less");
    }
    let mut advice = Vec::new();
    if demand.skinning == Skinning::Compute && plan.skinned_vertices > 0 {
        advice.push(format!("--skinning vertex takes {} less", bytes(plan.skinned_vertices)));
    }
    advice.push("--share-poses HZ takes less".to_owned());
    let room = available.saturating_sub(fixed);
    let most = u128::from(demand.instances()) * u128::from(room) / u128::from(plan.crowd().max(1));
    if most > 0 {
        advice.push(format!("about {most} visible --instances fit"));
    }
    advice.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(skinning: Skinning, instances: u64, extent: [u64; 2]) -> Demand {
        let model = ModelDemand { instances, poses: instances, joints: 25, morph_weights: 0, skinned_bytes: 84_192 };
        Demand {
            models: vec![model],
            static_bytes: 1 << 20,
            skinning,
            upload: UploadPath::Direct,
            frames_in_flight: 2,
            extent,
            samples: 4,
            shadow_map_size: Some(2048),
        }
    }

    const LIMITS: MemoryLimits = MemoryLimits {
        storage_range_bytes: 128 << 20,
        buffer_bytes: 2 << 30,
        allocation_bytes: 2 << 30,
        page_bytes: 128 << 20,
    };

    fn warned(demand: &Demand, free_bytes: Option<u64>) -> Option<String> {
        warning(&MemoryPlan::new(demand, LIMITS), demand, 2 << 30, free_bytes)
    }

    #[test]
    fn far_too_much_is_no_warning() {
        let plan = |instances| {
            let demand = demand(Skinning::Compute, instances, [1280, 720]);
            MemoryPlan::new(&demand, LIMITS)
        };
        assert_eq!(
            [10_000, 15_000, 20_000].map(|instances| is_hopeless(&plan(instances), 2 << 30)),
            [false, false, true]
        );
    }

    #[test]
    fn a_warning_has_the_numbers_and_what_helps() {
        assert_eq!(warned(&demand(Skinning::Compute, 10_000, [1280, 720]), None), None);
        assert_eq!(
            warned(&demand(Skinning::Compute, 20_000, [1280, 720]), None).unwrap(),
            "about 3.3 GiB of device memory are needed (3.2 GiB of skinned vertices, 68.8 MiB of joint matrices, \
             72.2 MiB of images), but only 2.0 GiB are there; --skinning vertex takes 3.2 GiB less, --share-poses HZ \
             takes less, about 11897 visible --instances fit"
        );
        let vertex = warned(&demand(Skinning::Vertex, 50_000, [1280, 720]), Some(100 << 20)).unwrap();
        assert!(vertex.contains("only 100.0 MiB are free; --share-poses HZ takes less, about"), "{vertex}");
        let large = warned(&demand(Skinning::Compute, 1, [8000, 8000]), None).unwrap();
        assert!(large.ends_with("2.0 GiB are there; --msaa 1 or a smaller --size takes less"), "{large}");
    }
}

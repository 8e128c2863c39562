//! Every Vulkan call that may fail does fail, once in each of many lives of the renderer ([`loader`], [`life`]).
//!
//! A life without faults lists the calls. Then each life has one fault. It must end without a panic and without a hang,
//! with an error that names the call and the object, or with the same image where the program can do without the call. It
//! must destroy everything that it has made, and the validation layer must report nothing. Offscreen, a step that failed is
//! tried again, and then the image must be the same.
//!
//! The short form takes the first call of each function, its first call after the construction of the renderer, and its last
//! one. All calls with all results take some minutes: `cargo test --test gpu faults:: -- --ignored`.

mod life;
mod loader;
#[cfg(target_os = "linux")]
mod window;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ash::vk;
use throng::app::rebuild::Losses;

use self::life::{Outcome, Setting};
use self::loader::{Fault, Function, Report, live};
use crate::common::gpu::{Test, TestDevice, gpu_tests, note};
use crate::common::scene;

pub fn tests() -> Vec<Test> {
    #[allow(unused_mut, reason = "other systems have no window here")]
    let mut tests = gpu_tests![
        every_function_may_fail,
        every_call_may_fail_with_every_result [ignored if true],
        after_lost_devices_the_image_is_the_same,
        after_a_hundred_lost_devices_the_image_is_the_same [ignored if true],
        samplers_and_pools_do_not_grow_with_materials,
        frames_wait_for_nothing_but_their_slot,
        the_third_loss_within_a_minute_ends_the_program
    ];
    #[cfg(target_os = "linux")]
    tests.extend(window::tests());
    tests
}

/// Returns the failing calls of a function, and their results. `before` of its `count` calls come during the construction.
type Choice = fn(function: Function, before: usize, count: usize) -> Vec<(usize, vk::Result)>;

fn all(function: Function, _before: usize, count: usize) -> Vec<(usize, vk::Result)> {
    let results = function.results();
    (0..count).flat_map(|call| results.iter().map(move |&result| (call, result))).collect()
}

/// Chooses each result once, and a lack of memory where the frame can be drawn again.
fn few(function: Function, before: usize, count: usize) -> Vec<(usize, vk::Result)> {
    let mut later = vec![before.min(count - 1), count - 1];
    later.dedup();
    let later = later.into_iter().filter(|&call| call > 0).map(|call| (call, function.results()[0]));
    all(function, before, 1).into_iter().skip((count > 1).into()).chain(later).collect()
}

fn count_by_function(calls: &[Function]) -> BTreeMap<Function, usize> {
    let mut counts = BTreeMap::new();
    calls.iter().for_each(|&function| *counts.entry(function).or_default() += 1);
    counts
}

fn is_dispensable(function: Function, result: vk::Result) -> bool {
    use Function::*;
    match function {
        // Names, and the last wait before the destruction of a renderer.
        vkSetDebugUtilsObjectNameEXT | vkDeviceWaitIdle => true,
        // The allocator tries another memory type or a smaller block.
        vkAllocateMemory | vkMapMemory => true,
        // The window is skipped for a frame, or gets a new swapchain.
        vkAcquireNextImageKHR => result == vk::Result::ERROR_OUT_OF_DATE_KHR || result.as_raw() >= 0,
        vkQueuePresentKHR => result == vk::Result::ERROR_OUT_OF_DATE_KHR || result.as_raw() >= 0,
        // A list that has grown is read again.
        _ => result == vk::Result::INCOMPLETE,
    }
}

fn flaw_of_message(fault: Fault, message: &str) -> Option<&'static str> {
    use Function::*;
    let name = format!("{:?}", fault.function);
    let call = match fault.function {
        vkAllocateMemory | vkMapMemory => "no memory for ",
        vkCreateXcbSurfaceKHR => "vkCreateSurfaceKHR",
        vkCreateInstance if fault.result == vk::Result::ERROR_LAYER_NOT_PRESENT => "validation layer",
        _ => &name,
    };
    if !message.contains(call) {
        return Some("does not name the call");
    }
    let has_object = match fault.function {
        vkCreateInstance | vkCreateDebugUtilsMessengerEXT | vkCreateDevice | vkCreateXcbSurfaceKHR => false,
        vkCreateSwapchainKHR | vkAllocateMemory | vkResetFences => false,
        vkQueueSubmit2 | vkQueueWaitIdle => true,
        _ => ["vkAllocate", "vkBegin", "vkBind", "vkCreate", "vkEnd", "vkReset"]
            .iter()
            .any(|verb| name.starts_with(verb)),
    };
    (has_object && !message.contains(" for '")).then_some("does not name the object")
}

fn flaws(fault: Fault, reference: &(Vec<u8>, usize), calls: usize, life: impl FnOnce() -> Outcome) -> Vec<String> {
    let (outcome, report) = live(Some(fault), || catch_unwind(AssertUnwindSafe(life)));
    let Report { calls: made, failures, leaks: mut flaws, .. } = report;
    let Ok(Outcome { failure, result, messages }) = outcome else {
        return vec!["panicked".to_owned()];
    };
    flaws.extend(messages);
    if failures == 0 {
        flaws.push("the call was not reached".to_owned());
    }
    if made.len() > 2 * calls {
        flaws.push(format!("{} calls instead of {calls}", made.len()));
    }
    if result.as_ref().is_ok_and(|end| end != reference) {
        flaws.push("another image".to_owned());
    }
    if let (Some(_), Err(error), false) = (&failure, &result, fault.lasts) {
        flaws.push(format!("a second failure: {error:#}"));
    }
    if let Some(error) = failure.or(result.err()) {
        let message = format!("{error:#}");
        if fault.result.as_raw() >= 0 && fault.result != vk::Result::TIMEOUT {
            flaws.push(format!("no failure, but: {message}"));
        }
        flaws.extend(flaw_of_message(fault, &message).map(|flaw| format!("{flaw}: {message}")));
    } else if !is_dispensable(fault.function, fault.result) {
        flaws.push("the failure was lost".to_owned());
    }
    flaws
}

/// Lives without faults, and asserts that nothing is wrong. Returns the result.
fn live_well(life: impl FnOnce() -> Outcome) -> ((Vec<u8>, usize), Report) {
    let (Outcome { result, messages, .. }, report) = live(None, life);
    let end = result.expect("a life without faults");
    assert!(report.leaks.is_empty() && messages.is_empty(), "{:?} {messages:?}", report.leaks);
    (end, report)
}

/// Lets each of the chosen calls fail, and asserts that nothing is wrong.
fn sweep(choice: Choice, wanted: fn(Function) -> bool, mut life: impl FnMut() -> Outcome) {
    let (end, report) = live_well(&mut life);
    let (mut cases, mut wrong) = (0, Vec::new());
    let counts = count_by_function(&report.calls);
    let before = count_by_function(&report.calls[..report.construction]);
    for (&function, &count) in counts.iter().filter(|(function, _)| wanted(**function)) {
        for (call, result) in choice(function, before.get(&function).copied().unwrap_or_default(), count) {
            // A list is read in two calls. The first one asks for its length, and is never incomplete.
            let call = if result == vk::Result::INCOMPLETE { call | 1 } else { call };
            let lasts = result == vk::Result::ERROR_DEVICE_LOST;
            let fault = Fault { lasts, ..Fault::once(function, call, result) };
            let flaws = flaws(fault, &end, report.calls.len(), &mut life);
            cases += 1;
            wrong.extend(flaws.into_iter().map(|flaw| format!("{function:?} {call} {result:?}: {flaw}")));
        }
    }
    note!("{} functions, {} calls in a life, {cases} faults", counts.len(), report.calls.len());
    assert!(wrong.is_empty(), "{} of {cases} faults:\n{}", wrong.len(), wrong.join("\n"));
}

fn every_function_may_fail(device: &TestDevice) {
    let mut setting = Setting::new(device);
    sweep(few, |_| true, || setting.offscreen());
}

fn every_call_may_fail_with_every_result(device: &TestDevice) {
    let mut setting = Setting::new(device);
    sweep(all, |_| true, || setting.offscreen());
}

/// Losses of which each comes half a minute after the last one.
fn slow_losses() -> Losses<'static> {
    let mut now = Instant::now();
    Losses::new(move || {
        now += Duration::from_secs(30);
        now
    })
}

fn after_lost_devices_the_image_is_the_same(device: &TestDevice) {
    lose_devices(device, 3);
}

fn after_a_hundred_lost_devices_the_image_is_the_same(device: &TestDevice) {
    lose_devices(device, 25);
}

/// A device is lost, some times in a row, in the upload of each of two models, in the first submission and in its wait.
fn lose_devices(device: &TestDevice, instances: usize) {
    use Function::*;
    let mut setting = Setting::new(device);
    let (end, _) = live_well(|| setting.rebuilding(slow_losses()));
    for (function, call) in [(vkQueueWaitIdle, 0), (vkQueueWaitIdle, 1), (vkQueueSubmit2, 2), (vkWaitSemaphores, 0)] {
        let fault = Fault { lasts: true, instances, ..Fault::once(function, call, vk::Result::ERROR_DEVICE_LOST) };
        let (outcome, report) = live(Some(fault), || setting.rebuilding(slow_losses()));
        let again = outcome.result.unwrap_or_else(|error| panic!("{fault:?}: {error:#}"));
        assert_eq!((report.failures, report.leaks), (instances, Vec::new()), "{fault:?}");
        assert!(again == end, "{fault:?}: another image");
    }
}

fn the_third_loss_within_a_minute_ends_the_program(device: &TestDevice) {
    let (mut setting, now) = (Setting::new(device), Instant::now());
    let losses = Losses::new(move || now);
    // The wait for the first frame fails after the frame has ended.
    let fault = Fault::once(Function::vkWaitSemaphores, 0, vk::Result::ERROR_DEVICE_LOST);
    let fault = Fault { instances: usize::MAX, ..fault };
    let (outcome, report) = live(Some(fault), || setting.rebuilding(losses));
    assert_eq!((report.failures, report.leaks), (3, Vec::new()));
    let message = format!("{:#}", outcome.result.expect_err("too many losses"));
    let expected = "the device was lost 3 times within a minute; the pass 'post' ran last: vkWaitSemaphores failed";
    assert!(message.starts_with(expected), "{message}");
}

/// Vulkan guarantees 4000 samplers, so textures of one state share one. A model has one pool for the sets of all of its materials.
fn samplers_and_pools_do_not_grow_with_materials(device: &TestDevice) {
    let made = |material_count: u32| {
        let mut model = scene::asset("assets/walker.glb");
        let (material, image) = (model.materials[0].clone(), model.images[0].clone());
        model.images = vec![image; material_count as usize];
        model.materials.extend((0..material_count).map(|index| {
            let mut material = material.clone();
            material.base_color_texture.as_mut().expect("a texture").texture.image = index;
            material
        }));
        let (_, report) = live_well(|| Setting::with_models(device, vec![model], 1).offscreen());
        let counts = count_by_function(&report.calls);
        [Function::vkCreateSampler, Function::vkCreateDescriptorPool].map(|function| counts[&function])
    };
    assert_eq!(made(1), made(20));
}

/// Though the sun moves, only each model's upload, two of the overlay's letters, and the last readback wait for the queue.
fn frames_wait_for_nothing_but_their_slot(device: &TestDevice) {
    let mut setting = Setting::new(device);
    let (_, report) = live_well(|| setting.offscreen());
    assert_eq!(count_by_function(&report.calls)[&Function::vkQueueWaitIdle], setting.models.len() + 2 + 1);
}

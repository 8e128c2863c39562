//! Help, wrong usage, and the list of devices.

use serde_json::Value;

use super::bundled;
use crate::common::program::Place;

const COMMANDS: [&str; 9] = ["view", "render", "bench", "inspect", "pose", "crowd", "devices", "completions", "man"];

#[test]
fn every_command_has_help_with_examples_and_a_page_of_the_manual() {
    let place = Place::new();
    let (help, manual) = (place.succeed("--help"), place.succeed("man"));
    assert!(help.contains("Examples:\n  throng "), "{help}");
    assert!(manual.contains(".TH throng 1 "), "{manual}");
    for command in COMMANDS {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is missing:\n{help}");
        assert!(manual.contains(&format!("throng\\-{command}(1)")), "no {command} in {manual}");
        let of_command = place.succeed(&format!("{command} --help"));
        assert!(of_command.contains(&format!("Usage: throng {command}")), "{of_command}");
        let (_, examples) = of_command.split_once("Example").unwrap_or_else(|| panic!("no example:\n{of_command}"));
        assert!(examples.contains(&format!("throng {command}")), "{of_command}");
        let page = place.succeed(&format!("man {command}"));
        assert!(page.contains(&format!(".TH throng-{command} 1 ")), "{page}");
        let has_options = page.contains("\\-o\\fR, \\fB\\-\\-out\\fR") && page.contains("turntable");
        assert!(has_options || command != "render", "{page}");
    }
    assert!(place.succeed("--version").starts_with(&format!("throng {}", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn shells_complete_all_commands() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&format!("completions {shell}"));
        for word in COMMANDS.into_iter().chain(["instances", "lod-error", "turntable"]) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn wrong_usage_exits_with_2_and_lists_what_is_allowed() {
    let place = Place::new();
    for (arguments, says) in [
        ("render --out x.png --msaa 3", "auto, 1, 2, 4, 8"),
        ("render", "--out <FILE>"),
        ("devices --no-such-option", "unexpected argument '--no-such-option'"),
        ("completions tcsh", "bash, elvish, fish, powershell, zsh"),
        ("rendr Fox.glb --out x.png", "error: rendr: no such command or file; did you mean render?\n"),
        ("man rendr", "error: rendr: no such command; there are: view, render, "),
    ] {
        let message = place.fail(2, arguments);
        assert!(message.starts_with("error: ") && message.contains(says), "throng {arguments}: {message}");
    }
}

pub fn devices(place: &Place) -> Vec<Value> {
    place.json("devices --json").as_array().unwrap().clone()
}

pub fn is_usable(device: &Value) -> bool {
    device["obstacle"].is_null()
}

#[test]
fn devices_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    let (devices, text) = (devices(&place), place.succeed("devices"));
    assert!(devices.iter().any(is_usable), "no Vulkan device can run the program: run ./setup.sh: {devices:#?}");
    for (index, device) in devices.iter().enumerate() {
        assert_eq!(device["index"], index);
        assert!(text.contains(device["name"].as_str().unwrap()), "{text}");
        assert!(device["driver"].as_str().is_some_and(|driver| !driver.is_empty()));
        assert!(["cpu", "integrated", "discrete", "virtual", "other"].contains(&device["type"].as_str().unwrap()));
        assert!(device["obstacle"].is_string() || device["api"].as_str().unwrap() >= "1.3", "{device}");
        // Vulkan guarantees this for every device.
        assert!(device["max_storage_buffer_range"].as_u64().unwrap() >= 1 << 27);
        assert!(device["heaps"].as_array().unwrap().iter().any(|heap| heap["device_local"] == true));
        let samples = device["msaa"].as_array().unwrap();
        assert!(samples.contains(&1.into()) && samples.contains(&4.into()), "{samples:?}");
        assert!(["direct", "staged"].contains(&device["upload"].as_str().unwrap()));
        assert!(device["timestamps"].is_boolean());
    }
}

#[test]
fn an_unsupported_device_option_lists_the_supported_values() {
    let (place, strip) = (Place::new(), bundled("simple_strip.gltf"));
    // A number is an index, even if a name has this number (llvmpipe's name has its LLVM version and 256 bits).
    for device in ["nosuch", "256"] {
        let says = format!("error: no Vulkan device matches '{device}'; there are: 0 ");
        let message = place.fail(1, &format!("render {strip} --device {device} --out x.png"));
        assert!(message.starts_with(&says), "{message}");
    }
    let (devices, mut refused) = (devices(&place), 0);
    for device in devices.iter().filter(|device| is_usable(device)) {
        let samples: Vec<String> = device["msaa"].as_array().unwrap().iter().map(Value::to_string).collect();
        let Some(count) = ["2", "8"].into_iter().find(|count| !samples.iter().any(|sample| sample == count)) else {
            continue;
        };
        let says = format!(
            "{} does not support {count} samples per pixel; it supports: {}\n  advice: use another --msaa\n",
            device["name"].as_str().unwrap(),
            samples.join(", ")
        );
        let options = format!("{strip} --device {} --msaa {count} --size 64x48", device["index"]);
        // A benchmark of several rows names the first one that cannot be drawn.
        let row = "1 of simple_strip.gltf, 64x48, msaa";
        let row = format!("{row} {count}, shadows on, lod 1, compute skinning, direct upload, 1 thread");
        let failed = format!("2 rows failed; the first: {row}\n  caused by: ");
        let several = "bench --upload direct --threads 1 --instances 1,2";
        for (arguments, start) in [("render --out x.png", ""), ("bench --instances 1", ""), (several, &failed)] {
            assert_eq!(place.fail(1, &format!("{arguments} {options}")), format!("error: {start}{says}"));
        }
        refused += 1;
    }
    // A device may support every count. The software driver of CI does not.
    let is_software = |device: &Value| device.to_string().contains("llvmpipe");
    assert!(refused > 0 || !devices.iter().any(is_software), "{devices:#?}");
    assert!(!place.file("x.png").exists());
}

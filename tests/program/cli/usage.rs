//! Help, wrong usage, and the list of devices.

use serde_json::Value;

use crate::common::program::Place;

const COMMANDS: [&str; 9] = ["view", "render", "bench", "inspect", "pose", "crowd", "devices", "completions", "man"];

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    let help = place.succeed("--help");
    for command in COMMANDS {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command} is missing:\n{help}");
        let of_command = place.succeed(&format!("{command} --help"));
        assert!(of_command.contains(&format!("Usage: throng {command}")), "{of_command}");
        let (_, examples) = of_command.split_once("Example").unwrap_or_else(|| panic!("no example:\n{of_command}"));
        assert!(examples.contains(&format!("throng {command}")), "{of_command}");
    }
    assert!(help.contains("Examples:\n  throng "), "{help}");
    assert_eq!(place.succeed("--version"), format!("throng {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_exits_with_2_and_lists_what_is_allowed() {
    let place = Place::new();
    for (arguments, says) in [
        ("render --out x.png --skinning foo", "compute, vertex"),
        ("render --out x.png --msaa 3", "auto, 1, 2, 4, 8"),
        ("render --out x.png --size 10", "such as 1280x720"),
        ("render --out x.png --time soon", "expected a number"),
        ("render --out x.png --lod-error -1", "expected a number of pixels, 0 or more"),
        ("view --fade -1", "expected a number of seconds, 0 or more"),
        ("view --lod-error inf", "expected a number of pixels, 0 or more"),
        ("render --out x.png --instances 0", "expected a whole number from 1 to 1000000, in digits"),
        ("render --out x.png --instances 1e3", "expected a whole number from 1 to 1000000, in digits"),
        ("bench --threads 1,2x", "expected a whole number from 1 to 256, in digits"),
        ("render --out x.png --camera 1,2,3,4", "YAW,PITCH or YAW,PITCH,ZOOM"),
        ("render --out x.png --morph smile", "expected NAME=WEIGHT"),
        ("render", "--out <FILE>"),
        ("pose --on fpga", "cpu, gpu"),
        ("bench --frames 0", "a whole number from 1 to 100000"),
        ("devices --no-such-option", "unexpected argument '--no-such-option'"),
        ("completions tcsh", "bash, elvish, fish, powershell, zsh"),
        ("rendr Fox.glb --out x.png", "error: rendr: no such command or file; did you mean render?\n"),
    ] {
        let message = place.fail(2, arguments);
        assert!(message.starts_with("error: ") && message.contains(says), "throng {arguments}: {message}");
    }
}

#[test]
fn shells_complete_all_commands_and_the_manual_has_all_options() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&format!("completions {shell}"));
        for word in COMMANDS.into_iter().chain(["instances", "lod-error", "turntable"]) {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    let page = place.succeed("man");
    assert!(page.contains(".TH throng 1 "), "{page}");
    for command in COMMANDS {
        assert!(page.contains(&format!("throng\\-{command}(1)")), "no {command} in {page}");
        let page = place.succeed(&format!("man {command}"));
        assert!(page.contains(&format!(".TH throng-{command} 1 ")), "{page}");
    }
    let page = place.succeed("man render");
    assert!(page.contains("\\-o\\fR, \\fB\\-\\-out\\fR") && page.contains("turntable"), "{page}");
    let message = place.fail(2, "man rendr");
    assert!(message.starts_with("error: rendr: no such command; there are: view, render, "), "{message}");
}

#[test]
fn devices_are_listed_for_people_and_for_programs() {
    let place = Place::new();
    let list: Value = serde_json::from_str(&place.succeed("devices --json")).unwrap();
    let devices = list.as_array().unwrap();
    assert!(!devices.is_empty(), "no Vulkan device: run ./setup.sh");
    let text = place.succeed("devices");
    for (index, device) in devices.iter().enumerate() {
        assert_eq!(device["index"], index);
        let name = device["name"].as_str().unwrap();
        assert!(text.contains(name), "{text}");
        assert!(device["driver"].as_str().is_some_and(|driver| !driver.is_empty()));
        assert!(["cpu", "integrated", "discrete", "virtual", "other"].contains(&device["type"].as_str().unwrap()));
        assert!(device["obstacle"].is_string() || device["api"].as_str().unwrap() >= "1.3", "{device}");
        // Vulkan guarantees this for every device.
        assert!(device["max_storage_buffer_range"].as_u64().unwrap() >= 1 << 27);
        assert!(device["heaps"].as_array().unwrap().iter().any(|heap| heap["device_local"] == true));
        let samples: Vec<u64> =
            device["msaa"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
        assert!(samples.contains(&1) && samples.contains(&4), "{samples:?}");
        assert!(["direct", "staged"].contains(&device["upload"].as_str().unwrap()));
        assert!(device["timestamps"].is_boolean());
    }
    assert!(devices.iter().any(|device| device["obstacle"].is_null()), "no device can run the program: {list:#}");
}

#[test]
fn an_unsupported_device_option_lists_the_supported_values() {
    let place = Place::new();
    let message = place.fail(1, "render --device nosuch --out x.png");
    assert!(message.starts_with("error: no Vulkan device matches 'nosuch'; there are: 0 "), "{message}");
    // A number is an index, even if a name has this number (llvmpipe's name has its LLVM version and 256 bits).
    let message = place.fail(1, "render --device 256 --out x.png");
    assert!(message.starts_with("error: no Vulkan device matches '256'; there are: 0 "), "{message}");

    let list: Value = serde_json::from_str(&place.succeed("devices --json")).unwrap();
    let usable = list.as_array().unwrap().iter().filter(|device| device["obstacle"].is_null());
    let mut refused = 0;
    for device in usable {
        let samples: Vec<String> = device["msaa"].as_array().unwrap().iter().map(Value::to_string).collect();
        if let Some(count) = ["2", "8"].into_iter().find(|count| !samples.iter().any(|sample| sample == count)) {
            let message = place.fail(1, &format!("render --device {} --msaa {count} --out x.png", device["index"]));
            let expected = format!(
                "error: {} does not support {count} samples per pixel; it supports: {}\n  advice: use another --msaa\n",
                device["name"].as_str().unwrap(),
                samples.join(", ")
            );
            assert_eq!(message, expected);
            refused += 1;
        }
    }
    // A device may support every count. The software driver of CI does not.
    let software_driver = list.to_string().contains("llvmpipe");
    assert!(refused > 0 || !software_driver, "{list:#}");
    assert!(!place.file("x.png").exists());
}

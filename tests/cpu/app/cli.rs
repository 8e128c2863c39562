//! The command line.

use std::collections::HashSet;
use std::ffi::OsString;

use clap::{CommandFactory, Parser};
use throng::cli::keys::{Action, SHORTCUTS, action};
use throng::cli::{Cli, RenderArgs};

use crate::common::scene::arguments;

#[test]
fn no_key_has_two_actions() {
    let mut seen = HashSet::new();
    for key in SHORTCUTS.iter().flat_map(|(keys, ..)| *keys) {
        assert!(seen.insert(key), "{key}");
    }
    assert_eq!(action("3"), Some((Action::Clip, 2)));
    assert_eq!(action("F12"), Some((Action::Picture, 1)));
    assert_eq!(action("no such key"), None);
}

fn assert_parsed_again(args: &RenderArgs) {
    assert_eq!(format!("{:?}", args.parsed_again().unwrap()), format!("{args:?}"));
}

/// Forms of values that are not in the list of the next test.
#[test]
fn a_command_line_has_the_same_arguments_again() {
    for options in [
        "Fox.glb --hide *_hat --hide -colonly --clips a/walk.glb --clips b.vrma --scene 1 --clip Run --look-at -1,0.25,3 --camera 12.5,-3,0.5",
        "a.glb b.glb --clip none --look-at head --background none --camera Camera.001 --msaa 8 --validation",
        "--morph A=B=0.25 --morph smile=-1 --look-at 1.5 --exposure -0.5 --sun 10,20.5 --ground off",
    ] {
        assert_parsed_again(&arguments(options));
    }
}

#[test]
fn the_command_line_of_a_picture_has_every_option() {
    /// The output, and what makes several images of one.
    const OTHERS: [&str; 4] = ["out", "frames", "turntable", "sheet"];
    const VALUES: &str = "clips=walk.glb hide=Hat* scene=Two clip=all morph=smile=0.5 time=0.25 speed=-2 phase=zero \
        seed=18446744073709551615 spacing=1.5 height=1.7 layout=ring variety=0.125 travel=on camera=10,20 view=back \
        look-at=0,1,-0.5 distance=3 fov=15 background=#204060 ground=shadow exposure=-1 sun=60,12 cull=off share-poses=30 \
        root-motion=keep debug-view=lod joint=hand.L skeleton=on stage=joint blend=dual-quaternion instances=7 threads=2 \
        skinning=vertex upload=direct size=64x48 lod-error=0 msaa=8 shadows=off device=NVIDIA fps=24";
    let plain = arguments("");
    assert_eq!(plain.line(), ["throng", "render", "--out", "unused.png"]);
    let command = Cli::command();
    let render = command.find_subcommand("render").unwrap();
    for long in render.get_arguments().filter_map(clap::Arg::get_long).filter(|long| !OTHERS.contains(long)) {
        let value = VALUES.split(' ').find_map(|value| value.strip_prefix(long)?.strip_prefix('='));
        let options: Vec<String> = std::iter::once(format!("--{long}")).chain(value.map(str::to_owned)).collect();
        let args = arguments(&options.join(" "));
        assert_ne!(format!("{args:?}"), format!("{plain:?}"), "{long} needs a value here that is not its default");
        let line = ["throng", "render"].into_iter().chain(options.iter().map(String::as_str));
        assert!(args.line().into_iter().eq(line.chain(["--out", "unused.png"])), "{:?}", args.line());
        assert_parsed_again(&args);
    }
}

#[test]
fn a_mistyped_command_is_named_as_such() {
    let message = |line: &str| {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Cli::wrong_command(&arguments)
    };
    for (line, expected) in [
        ("throng rendr Fox.glb --out x.png", "rendr: no such command or file; did you mean render?"),
        ("throng benhc", "benhc: no such command or file; did you mean bench?"),
        ("throng Inspect", "Inspect: no such command or file; did you mean inspect?"),
        ("throng info Fox.glb", "info: no such command or file; try `throng inspect FILE`"),
        ("throng fox", "fox: no such command or file; `throng --help` lists the commands"),
        ("throng -n 5 render --out x.png", "render: a command is the first argument: throng render …"),
        ("throng Fox.glb inspect", "inspect: a command is the first argument: throng inspect …"),
    ] {
        assert_eq!(message(line).as_deref(), Some(expected));
    }
    let right =
        ["", "help", "fox.glb", "./rendr", "--instances 3", "src", "--clip render", "render --clip view --out x.png"];
    for arguments in right {
        assert_eq!(message(&format!("throng {arguments}")), None, "{arguments}");
    }
}

#[test]
fn a_switch_without_a_value_is_on() {
    let completed = |line: &str| {
        let arguments = line.split_whitespace().map(OsString::from).collect();
        Cli::with_switch_values(arguments).join(" ".as_ref()).into_string().unwrap()
    };
    for (line, expected) in [
        ("throng --skeleton Fox.glb", "throng --skeleton on Fox.glb"),
        ("throng render --shadows --travel off --ground", "throng render --shadows on --travel off --ground on"),
        ("throng render --shadows off --validation", "throng render --shadows off --validation"),
    ] {
        assert_eq!(completed(line), expected);
    }
}

#[test]
fn short_help_fits_a_terminal_of_80_columns() {
    let mut command = Cli::command();
    command.build();
    for part in std::iter::once(&command).chain(command.get_subcommands()) {
        for argument in part.get_arguments() {
            let usage = argument.to_string();
            assert!(usage.chars().count() <= 40, "{usage}: its description would be one word wide");
        }
    }
}

#[test]
fn wrong_values_are_refused() {
    for (before, values, says) in [
        ("--instances", "0 1e3 99999999999", "expected a whole number from 1 to 1000000, in digits"),
        ("--size", "10 0x10 99999x1", "such as 1280x720"),
        ("--time", "soon nan inf", "expected a number"),
        ("--threads", "0 1,2", ""),
        ("--spacing", "0", ""),
        ("--layout", "square", ""),
        ("--travel", "maybe", ""),
        ("--variety", "1.5 -0.1 nan", ""),
        ("--background", "blue #12345 #+12345", ""),
        ("--exposure", "17", ""),
        ("--sun", "0,0 0,91 30", ""),
        ("--lod-error", "-1 inf", "expected a number of pixels, 0 or more"),
        ("--fade", "-1", "expected a number of seconds, 0 or more"),
        ("--camera", "1,2,3,4", "YAW,PITCH or YAW,PITCH,ZOOM"),
        ("--morph", "smile", "expected NAME=WEIGHT"),
        ("view --size", "64x48,32x24", ""),
        ("render", "--out", ""),
        ("render --out x.png --frames", "0 5..5 5..=7 ..7 0..1000001", ""),
        ("render --out x.png", "--turntable=0", ""),
        ("render --out x.png --skinning", "foo compute,vertex", "compute, vertex"),
        ("pose --on", "fpga", "cpu, gpu"),
        ("bench --skinning", "compute,geometry", ""),
        ("bench --upload", "foo,auto direct,", ""),
        ("bench --frames", "0", "a whole number from 1 to 100000"),
        ("bench --instances", "1,many 1,,2", ""),
        ("bench --size", "64x48,64", ""),
        ("bench --threads", "1,0 1,2x", "expected a whole number from 1 to 256, in digits"),
        ("bench --fit", "0", ""),
        ("bench --fit 16 --instances", "10", ""),
        ("bench --fail-above", "5", ""),
        ("bench --against throng --fail-above", "-1 many", ""),
        ("bench --against throng --json", "a.json", ""),
        ("bench --plot", "frame.png", ""),
    ] {
        for value in values.split(' ') {
            let line = format!("throng {before} {value}");
            let error = Cli::try_parse_from(line.split(' ')).expect_err(&line);
            assert_eq!(error.exit_code(), 2, "{line}");
            assert!(error.to_string().contains(says), "{line}: {error}");
        }
    }
}

//! Files of at most one MiB that take as much memory or time as possible. They use every known way to turn few bytes into many
//! or into long work, up to the limit that bounds it and beyond. None can take more than one GiB or two seconds.

mod clips;
mod content;
mod geometry;
mod structure;
mod writing;

use clips::clip_attacks;
use content::images;
use rayon::prelude::*;

use super::limited;
use crate::common::assets::WALKER;

struct Attack {
    name: String,
    file: Vec<u8>,
    /// A part of the error message for a file that import should refuse.
    refused: Option<&'static str>,
}

/// Returns the attacks of all kinds, except for those of images and of files of clips.
fn attacks() -> Vec<Attack> {
    [structure::attacks(), geometry::attacks(), content::animations()].into_iter().flatten().collect()
}

/// Each attack must be accepted, or refused for the reason that it expects. What is accepted can be posed.
#[test]
fn small_files_take_little() {
    check(&attacks(), &["inspect", "pose --on cpu --json"]);
    // Their models have nothing else, so there is nothing to pose.
    check(&images(), &["inspect"]);
}

/// The same for the clips of another file.
#[test]
fn small_files_of_clips_take_little() {
    let inspect = format!("inspect {WALKER} --clips");
    check(&clip_attacks(), &[&inspect, &format!("pose {WALKER} --on cpu --clip 4 --clips")]);
}

/// Runs the commands on each file. A refused file does not come as far as the second one.
fn check(attacks: &[Attack], commands: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    attacks.par_iter().for_each(|Attack { name, file, refused }| {
        assert!(file.len() <= 1 << 20, "{name} has {} bytes", file.len());
        let path = folder.path().join(name);
        std::fs::write(&path, file).unwrap();
        for command in &commands[..if refused.is_some() { 1 } else { commands.len() }] {
            let ended = limited::run(command, &[&path]);
            println!("{name:32} {command:8.8} {:.150}", ended.stderr.lines().next().unwrap_or(""));
            assert_eq!(ended.code, i32::from(refused.is_some()), "{name}: {}", ended.stderr);
            let why = refused.unwrap_or_default();
            assert!(ended.stderr.contains(why), "{name}: refused for another reason: {}", ended.stderr);
            // `scans.glb` exceeds the decoder's own limit of scans. Any other undecodable image would not be an attack.
            let is_decoded = name == "scans.glb" || !ended.stderr.contains("cannot be decoded");
            assert!(is_decoded, "{name}: {}", ended.stderr);
        }
    });
}

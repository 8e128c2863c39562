//! No file of at most one MiB can take more than one GiB or two seconds.

use std::path::Path;

use rayon::prelude::*;

use super::attacks::{Attack, attacks, clip_attacks};
use super::limited;
use crate::common::assets::WALKER;

const MIB: usize = 1 << 20;

/// Each attack must be accepted, or refused for the reason that it expects. What is accepted can be posed.
#[test]
fn small_files_take_little() {
    let folder = tempfile::tempdir().unwrap();
    // The JSON of `inspect` is the tree that its page is made from.
    let runs = [("inspect", vec![]), ("pose", vec!["--on", "cpu", "--json"])];
    let wrongs = |attack: &Attack| wrongs(attack, folder.path(), &runs);
    let wrong: Vec<String> = attacks().par_iter().flat_map_iter(wrongs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for the clips of another file.
#[test]
fn small_files_of_clips_take_little() {
    let folder = tempfile::tempdir().unwrap();
    let runs = [("inspect --clips", vec![WALKER]), ("pose --clips", vec![WALKER, "--on", "cpu", "--clip", "4"])];
    let wrongs = |attack: &Attack| wrongs(attack, folder.path(), &runs);
    let wrong: Vec<String> = clip_attacks().par_iter().flat_map_iter(wrongs).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns what is wrong with the program's reactions to an attack.
fn wrongs(Attack { name, file, refused }: &Attack, folder: &Path, runs: &[(&str, Vec<&str>)]) -> Vec<String> {
    // A refused file does not come as far as the second command.
    let runs = if refused.is_some() { &runs[..1] } else { runs };
    assert!(file.len() <= MIB, "{name} has {} bytes", file.len());
    let path = folder.join(name);
    std::fs::write(&path, file).unwrap();
    let mut wrong = Vec::new();
    for (command, options) in runs {
        match limited::run(command, &path, options) {
            Err(why) => wrong.push(why),
            Ok(ended) if ended.accepted == refused.is_none() => {
                println!("{name:32} {command:8} {}", first_line(&ended.stderr));
                // `scans.glb` exceeds the decoder's own limit of scans. Any other undecodable image would not be an
                // attack.
                if ended.stderr.contains("cannot be decoded") && *name != "scans.glb" {
                    wrong.push(format!("{name}: {}", ended.stderr));
                }
                if refused.is_some_and(|why| !ended.stderr.contains(why)) {
                    wrong.push(format!("{name}: refused for another reason: {}", ended.stderr));
                }
            }
            Ok(ended) => wrong.push(format!("{name}: accepted: {}, {}", ended.accepted, ended.stderr)),
        }
    }
    wrong
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or("").chars().take(150).collect()
}

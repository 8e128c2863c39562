//! Runs the program, within its limits, on every broken or unusual file in the folder `THRONG_INVALID_MODELS`. A file
//! that `pose` accepts must also be inspected, and no other. A file without an error must be accepted.

use std::path::PathBuf;

use rayon::prelude::*;

use super::limited;
use crate::common::assets::invalid_files;

/// Files that are refused although the Khronos validator finds no error in them, and the reason.
const REFUSED_BY_POLICY: [(&str, &str); 1] =
    [("base/asset/min_version_valid.gltf", "it asks for glTF 2.1 or later (3.2), and 2.0 is what is known here")];

#[test]
#[cfg_attr(not(invalid_models), ignore = "set THRONG_INVALID_MODELS to the folder of invalid models")]
fn every_file_is_accepted_or_refused_within_the_limits() {
    let files = invalid_files();
    let count = files.len();
    let pose = |(path, is_sound): (PathBuf, bool)| {
        let posed = limited::run("pose --on cpu --json", &[&path]);
        let is_accepted = posed.code == 0;
        let is_policy = REFUSED_BY_POLICY.iter().any(|(refused, _)| path.ends_with(refused));
        assert!(is_accepted || is_policy || !is_sound, "{}: {}", path.display(), posed.stderr);
        assert!(!is_accepted || !is_policy, "{} is accepted", path.display());
        (path, is_accepted)
    };
    let (accepted, refused): (Vec<_>, Vec<_>) =
        files.into_par_iter().map(pose).partition(|(_, is_accepted)| *is_accepted);
    println!("{} of {} accepted", accepted.len(), count);
    assert!(accepted.len() > 100 && !refused.is_empty(), "the corpus has both kinds");
    let is_refused = |policy: &str| refused.iter().any(|(path, _)| path.ends_with(policy));
    assert!(REFUSED_BY_POLICY.iter().all(|(policy, _)| is_refused(policy)), "files that are refused by policy");
    // All files together keep the limits of one.
    let inspect = |files: Vec<(PathBuf, bool)>| {
        limited::run("inspect --json", &files.into_iter().map(|(path, _)| path).collect::<Vec<_>>())
    };
    let all = format!("error: {} files cannot be read\n", refused.len());
    let (of_accepted, of_refused) = (inspect(accepted), inspect(refused));
    assert_eq!(of_accepted.code, 0, "{}", of_accepted.stderr);
    assert!(of_refused.stderr.contains(&all), "{}", of_refused.stderr);
}

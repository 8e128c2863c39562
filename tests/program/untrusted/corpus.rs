//! Runs the program, within its limits, on every broken or unusual file in the folder `THRONG_INVALID_MODELS`. A file
//! that `inspect` accepts must also be posed. A file without an error must be accepted.

use std::path::PathBuf;

use serde_json::Value;

use super::limited;

/// Files that are refused although the Khronos validator finds no error in them, and the reason.
const REFUSED_BY_POLICY: [(&str, &str); 1] =
    [("base/asset/min_version_valid.gltf", "it asks for glTF 2.1 or later (3.2), and 2.0 is what is known here")];

#[test]
#[cfg_attr(not(invalid_models), ignore = "set THRONG_INVALID_MODELS to the folder of invalid models")]
fn every_file_is_accepted_or_refused_within_the_limits() {
    let folder = PathBuf::from(std::env::var_os("THRONG_INVALID_MODELS").expect("THRONG_INVALID_MODELS"));
    let list: Vec<Value> = serde_json::from_slice(&std::fs::read(folder.join("index.json")).unwrap()).unwrap();
    assert!(list.len() > 200, "only {} files", list.len());
    let (mut wrong, mut accepted, mut by_policy) = (Vec::new(), 0, 0);
    for entry in &list {
        let path = folder.join(entry["file"].as_str().unwrap());
        let inspected = limited::run("inspect", &path, &["--json"]);
        let posed = limited::run("pose", &path, &["--on", "cpu", "--json"]);
        let (inspected, posed) = match (inspected, posed) {
            (Ok(inspected), Ok(posed)) => (inspected, posed),
            (Err(why), _) | (_, Err(why)) => {
                wrong.push(why);
                continue;
            }
        };
        if inspected.accepted != posed.accepted {
            wrong.push(format!("{}: inspected: {inspected:?}, posed: {posed:?}", path.display()));
        }
        accepted += usize::from(inspected.accepted);
        let is_policy = REFUSED_BY_POLICY.iter().any(|(refused, _)| path.ends_with(refused));
        by_policy += usize::from(is_policy);
        // The number of errors that the Khronos validator finds.
        let is_sound = entry["errors"].as_u64() == Some(0);
        if (is_sound || is_policy) && inspected.accepted == is_policy {
            wrong.push(format!("{}: accepted: {}, {}", path.display(), inspected.accepted, inspected.stderr));
        }
    }
    println!("{accepted} of {} accepted", list.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 100 && accepted < list.len(), "{accepted} accepted: the corpus has both kinds");
    assert_eq!(by_policy, REFUSED_BY_POLICY.len(), "files that are refused by policy");
}

//! Runs the program, within its limits, on every broken or unusual file in the folder `THRONG_INVALID_MODELS`. A file
//! that `inspect` accepts must also be posed.

use std::path::PathBuf;

use serde_json::Value;

use super::limited;

#[test]
#[cfg_attr(not(invalid_models), ignore = "set THRONG_INVALID_MODELS to the folder of invalid models")]
fn every_file_is_accepted_or_refused_within_the_limits() {
    let folder = PathBuf::from(std::env::var_os("THRONG_INVALID_MODELS").expect("THRONG_INVALID_MODELS"));
    let list: Vec<Value> = serde_json::from_slice(&std::fs::read(folder.join("index.json")).unwrap()).unwrap();
    assert!(list.len() > 200, "only {} files", list.len());
    let (mut wrong, mut accepted) = (Vec::new(), 0);
    for entry in &list {
        let path = folder.join(entry["file"].as_str().unwrap());
        let inspected = limited::run("inspect", &path, &["--json"]);
        let posed = limited::run("pose", &path, &["--on", "cpu", "--json"]);
        match (inspected, posed) {
            (Ok(inspected), Ok(posed)) => {
                if inspected.accepted != posed.accepted {
                    wrong.push(format!("{}: inspected: {inspected:?}, posed: {posed:?}", path.display()));
                }
                accepted += usize::from(inspected.accepted);
            }
            (Err(why), _) | (_, Err(why)) => wrong.push(why),
        }
    }
    println!("{accepted} of {} accepted", list.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(accepted > 100 && accepted < list.len(), "{accepted} accepted: the corpus has both kinds");
}

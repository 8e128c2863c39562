//! The routes that `src/lib.rs` prints: each file is connected with the one above it by the item that stands between them.

use std::collections::BTreeSet;

use super::files::{code, is_name, text};

/// Returns the text before and after each use of `item` as a whole word, within its line.
fn places<'c>(code: &'c str, item: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
    code.lines()
        .flat_map(move |line| line.match_indices(item).map(move |(at, _)| (&line[..at], &line[at + item.len()..])))
        .filter(|(before, after)| !before.ends_with(is_name) && !after.starts_with(is_name))
}

/// Returns whether a file of Rust or GLSL defines the item: a function, a type, a constant, a field, a buffer or a varying.
fn defines(code: &str, item: &str) -> bool {
    const KEYWORDS: [&str; 6] = ["fn ", "struct ", "enum ", "trait ", "type ", "const "];
    places(code, item).any(|(before, after)| {
        let is_rust = KEYWORDS.iter().any(|keyword| before.ends_with(keyword));
        let is_field = before.trim_start().starts_with("pub") && after.starts_with(':');
        // `vec3 name(`, `JointMatrix name[` and `layout(location = 0) out vec3 name;`.
        let words = before.split_whitespace().count();
        let is_function = after.starts_with('(') && !before.starts_with(' ') && words == 1;
        let is_buffer = after.starts_with('[') && words == 1;
        let is_varying = before.starts_with("layout(") && after.starts_with(';');
        is_rust || is_field || is_function || is_buffer || is_varying
    })
}

/// Returns the lines of a route: for each one the file above it, the item and the file. Other blocks of text have none.
fn hops(block: &str) -> Vec<(&str, &str, &str)> {
    let (mut hops, mut from) = (Vec::new(), "");
    for line in block.lines() {
        let mut words = line.trim_start_matches("//!").split_whitespace();
        if line.starts_with("//! ▶ ") {
            let (Some(item), Some(to)) = (words.nth(1), words.next()) else { panic!("{line}") };
            hops.push((from, item, to));
            from = to;
        } else {
            from = words.next().unwrap_or("");
        }
    }
    hops
}

#[test]
fn each_file_of_a_route_is_connected_with_the_next() {
    let library = text("src/lib.rs");
    let routes: Vec<_> = library.split("//! ```").map(hops).filter(|hops| !hops.is_empty()).collect();
    assert_eq!(routes.len(), 2, "a joint and a vertex");
    for &(from, item, to) in routes.iter().flatten() {
        let (a, b) = (code(from), code(to));
        // A shader is named by its constant in `vulkan::spirv`.
        let shader = to.rsplit('/').next().unwrap().replace('.', "_").to_uppercase();
        let uses_shader = *item == shader && a.contains(&format!("spirv::{item}"));
        let both = places(&a, item).next().is_some() && places(&b, item).next().is_some();
        let connected = uses_shader || both && (defines(&a, item) || defines(&b, item));
        assert!(connected, "{from} and {to}: {item} is not defined in one of them and used in the other");
    }
    for route in &routes {
        assert!(route.len() > 10, "only {} lines", route.len());
        // All parts of a route are connected.
        let mut reached = BTreeSet::from([route[0].0]);
        for _ in route {
            let hops = route.iter().filter(|(from, _, to)| reached.contains(from) || reached.contains(to));
            reached = hops.flat_map(|&(from, _, to)| [from, to]).collect();
        }
        let apart: Vec<&str> = route.iter().map(|hop| hop.2).filter(|file| !reached.contains(file)).collect();
        assert!(apart.is_empty(), "nothing leads to {apart:?}");
    }
}

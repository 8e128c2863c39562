//! The routes that `src/lib.rs` prints: each file is connected with the one above it by the item that stands between them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::architecture::{is_name, without_comments};

/// A line of a route.
struct Hop<'t> {
    from: &'t str,
    item: &'t str,
    to: &'t str,
}

/// Returns the code of a file, without comments.
fn code(file: &str) -> String {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
    let text = text.unwrap_or_else(|error| panic!("src/lib.rs names {file}: {error}"));
    without_comments(&text)
}

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

/// Returns the hops of each route of `src/lib.rs`, and the files that start one.
fn routes(text: &str) -> Vec<Vec<Hop<'_>>> {
    let blocks = text.split("//! ```").filter_map(|block| block.strip_prefix("text\n"));
    let is_route = |block: &&str| block.lines().any(|line| line.starts_with("//! ▶ "));
    blocks
        .filter(is_route)
        .map(|block| {
            let (mut hops, mut from) = (Vec::new(), None);
            for line in block.lines() {
                let mut words = line.trim_start_matches("//!").split_whitespace();
                from = match (words.next(), from) {
                    (Some("▶"), Some(from)) => {
                        let (Some(item), Some(to)) = (words.next(), words.next()) else { panic!("{line}") };
                        hops.push(Hop { from, item, to });
                        Some(to)
                    }
                    (start, _) => start,
                };
            }
            hops
        })
        .collect()
}

#[test]
fn each_file_of_a_route_is_connected_with_the_next() {
    let library = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let routes = routes(&library);
    assert_eq!(routes.len(), 2, "a joint and a vertex");
    for Hop { from, item, to } in routes.iter().flatten() {
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
        let mut reached = BTreeSet::from([route[0].from]);
        for _ in route {
            let hops = route.iter().filter(|hop| reached.contains(hop.from) || reached.contains(hop.to));
            reached = hops.flat_map(|hop| [hop.from, hop.to]).collect();
        }
        let apart: Vec<&str> = route.iter().map(|hop| hop.to).filter(|file| !reached.contains(file)).collect();
        assert!(apart.is_empty(), "nothing leads to {apart:?}");
    }
}

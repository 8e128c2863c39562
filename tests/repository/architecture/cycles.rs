//! From the sources to the cycles between the entries of a folder: its files and sub-folders.
//!
//! A file names another by a path that starts with `crate`, `super` or `self`, or, in the parent's `mod.rs`, with the
//! child's name. Each path is followed through re-exports to the file that defines the item. The first folder that the
//! two files share gets an edge between the entries that hold them. A `mod.rs` is an entry like the others. Declaring or
//! re-exporting a child does not count as a use.

use std::collections::{BTreeMap, BTreeSet};

use super::is_name;

/// A path in code, split at `::`.
type Path = Vec<String>;

/// The edges between the entries of each folder, by the folder's path below `src`.
pub type Edges = BTreeMap<String, BTreeSet<(String, String)>>;

/// The last element of the path of a folder's own file.
pub const MOD: &str = "mod.rs";

/// A name that a `use` statement introduces.
struct Import {
    name: String,
    path: Path,
    is_public: bool,
}

struct Module {
    imports: Vec<Import>,
    /// The code without imports.
    body: String,
    has_children: bool,
}

/// All modules of the library by their paths below `crate`.
struct Modules(BTreeMap<Path, Module>);

/// Returns all edges. `sources` holds the paths of files below `src`, each with its text without comments.
pub fn edges(sources: &[(String, String)]) -> Edges {
    let modules = Modules::new(sources);
    let mut edges = Edges::new();
    for (path, module) in &modules.0 {
        let from = modules.file_of(path);
        for named in modules.named_by(path, module) {
            let Some(to) = modules.resolve(path, &named, 0) else { continue };
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                edges.entry(from[..shared].join("/")).or_default().insert((a.clone(), b.clone()));
            }
        }
    }
    edges
}

/// Returns the layers that a source names: the first name of each path after `crate`.
pub fn named_layers(text: &str) -> BTreeSet<String> {
    let (imports, body) = split_imports(text);
    let all = imports.into_iter().map(|import| import.path).chain(paths(&body));
    all.filter(|path| path.len() > 1 && path[0] == "crate").map(|mut path| path.swap_remove(1)).collect()
}

/// Returns the entries of a folder that lead to a cycle: those that remain if entries that lead nowhere are taken away,
/// again and again.
pub fn leading_to_cycles(edges: &BTreeSet<(String, String)>) -> BTreeSet<&str> {
    let mut left: Vec<&(String, String)> = edges.iter().collect();
    loop {
        let leading: BTreeSet<&str> = left.iter().map(|(from, _)| from.as_str()).collect();
        let count = left.len();
        left.retain(|(_, to)| leading.contains(to.as_str()));
        if left.len() == count {
            return leading;
        }
    }
}

impl Modules {
    fn new(sources: &[(String, String)]) -> Self {
        let mut modules = BTreeMap::new();
        for (file, text) in sources.iter().filter(|(file, _)| file != "main.rs") {
            let stem = file.strip_suffix(".rs").unwrap_or(file);
            let stem = stem.strip_suffix("/mod").unwrap_or(stem);
            let path: Path = if stem == "lib" { Path::new() } else { stem.split('/').map(str::to_owned).collect() };
            let (imports, body) = split_imports(text);
            modules.insert(path, Module { imports, body, has_children: false });
        }
        let parents: Vec<Path> = modules.keys().filter_map(|path| Some(path.split_last()?.1.to_vec())).collect();
        for parent in parents {
            modules.get_mut(&parent).unwrap_or_else(|| panic!("{parent:?} has no file")).has_children = true;
        }
        Self(modules)
    }

    fn file_of(&self, path: &[String]) -> Path {
        let mut file = path.to_vec();
        if self.0[path].has_children {
            file.push(MOD.to_owned());
        }
        file
    }

    /// Returns the paths in a module's code that may lead to another module.
    fn named_by(&self, path: &[String], module: &Module) -> Vec<Path> {
        let words = module.body.split(|character| !is_name(character));
        let is_used = |import: &&Import| !import.is_public || words.clone().any(|word| word == import.name);
        let imported = module.imports.iter().filter(is_used).map(|import| import.path.clone());
        let starts_path = |name: &str| {
            ["crate", "super", "self"].contains(&name) || self.0.contains_key(&[path, &[name.to_owned()]].concat())
        };
        imported.chain(paths(&module.body).into_iter().filter(|named| starts_path(&named[0]))).collect()
    }

    /// Returns the file that defines the item that the module `from` calls `named`. `None` for items from outside the
    /// crate, for a module's own items, and for the visibility `pub(in crate::…)`.
    fn resolve(&self, from: &[String], named: &[String], depth: usize) -> Option<Path> {
        assert!(depth < 16, "{named:?} in {from:?} leads in circles");
        let mut at = from.to_vec();
        for (index, name) in named.iter().enumerate() {
            let child = [&at[..], std::slice::from_ref(name)].concat();
            match name.as_str() {
                "crate" => at.clear(),
                "super" => at.truncate(at.len() - 1),
                "self" => {}
                _ if self.0.contains_key(&child) => at = child,
                _ => {
                    let import = self.0[&at].imports.iter().find(|import| import.name == *name && index > 0);
                    return match import {
                        Some(import) => self.resolve(&at, &[&import.path, &named[index + 1..]].concat(), depth + 1),
                        None if index == 0 => None,
                        None => Some(self.file_of(&at)),
                    };
                }
            }
        }
        if from.starts_with(&at) { None } else { Some(self.file_of(&at)) }
    }
}

/// Returns the names that `use` statements introduce, and the code without these statements.
fn split_imports(code: &str) -> (Vec<Import>, String) {
    let (mut imports, mut body) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let (before, after) = line.trim_start().split_once("use ").unwrap_or(("none", ""));
        let is_public = before.starts_with("pub") && before.ends_with(' ');
        if !before.is_empty() && !is_public {
            body += line;
            body.push('\n');
            continue;
        }
        let mut tree = after.to_owned();
        while !tree.contains(';') {
            tree += lines.next().expect("a `use` ends with a semicolon").trim();
        }
        for (name, path) in names_of_tree(tree.trim_end_matches(';')) {
            imports.push(Import { name, path, is_public });
        }
    }
    (imports, body)
}

/// Returns the names in the tree of a `use` statement, each with its path.
fn names_of_tree(tree: &str) -> Vec<(String, Path)> {
    let tree = tree.trim();
    if let Some((start, group)) = tree.split_once('{') {
        let start: Path = start.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let named = elements(group.trim_end().strip_suffix('}').unwrap_or(group));
        let name_of = |(name, path): (String, Path)| match name.as_str() {
            "self" => (start.last().cloned().unwrap_or_default(), start.clone()),
            _ => (name, [&start[..], &path].concat()),
        };
        return named.into_iter().flat_map(names_of_tree).map(name_of).collect();
    }
    let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
    let path: Path = path.split("::").map(str::to_owned).filter(|name| name != "*").collect();
    let name = if alias.is_empty() { path.last().cloned().unwrap_or_default() } else { alias.to_owned() };
    vec![(name, path)]
}

/// Returns the elements of a group, given without its braces.
fn elements(group: &str) -> Vec<&str> {
    let mut depth = 0;
    let split_here = |character: char| {
        depth += i32::from(character == '{') - i32::from(character == '}');
        depth == 0 && character == ','
    };
    group.split(split_here).filter(|element| !element.trim().is_empty()).collect()
}

/// Returns all paths of at least two names in code without `use` statements.
fn paths(body: &str) -> Vec<Path> {
    let of_path = |character: char| is_name(character) || character == ':';
    let candidates = body.split(|character| !of_path(character)).filter(|text| text.contains("::"));
    // The colon of `name: path` and the `::` before generic arguments remain at the ends.
    let trimmed = candidates.map(|text| text.trim_matches(':').split("::").map(str::to_owned).collect::<Path>());
    trimmed.filter(|path| path.len() > 1 && path.iter().all(|name| !name.contains(':'))).collect()
}

#[test]
fn imports_are_expanded() {
    let code = "use crate::a::{self, b::{C, D as E},\n    f};\npub(crate) use super::g::*;\nlet x = c::d(crate::e);";
    let (imports, body) = split_imports(code);
    let shown: Vec<String> = imports
        .iter()
        .map(|import| format!("{} {} {}", import.name, import.path.join("::"), import.is_public))
        .collect();
    let expected = ["a crate::a false", "C crate::a::b::C false", "E crate::a::b::D false", "f crate::a::f false"];
    assert_eq!(shown[..4], expected);
    assert_eq!(shown[4], "g super::g true");
    assert_eq!(paths(&body), [vec!["c", "d"], vec!["crate", "e"]]);
    assert_eq!(named_layers(code), BTreeSet::from(["a", "e"].map(str::to_owned)));
}

#[test]
fn cycles_are_found_through_reexports_and_sub_folders() {
    let source = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let sources = [
        source("lib.rs", "pub mod a;"),
        source("a/mod.rs", "mod b;\nmod c;\nmod d;\npub use c::{C, Unused};\nstruct Own(C);"),
        source("a/b.rs", "use super::C;\nuse crate::a::d::e::E;"),
        source("a/c.rs", ""),
        source("a/d/mod.rs", "mod e;\nmod f;\npub use e::E;"),
        source("a/d/e.rs", "use super::f;\nfn g() -> super::super::Own {}"),
        source("a/d/f.rs", "pub(in crate::a) fn f(x: crate::a::b::B, y: super::E) {}"),
    ];
    let edges = edges(&sources);
    let shown = |folder: &str| -> Vec<String> { edges[folder].iter().map(|(a, b)| format!("{a} {b}")).collect() };
    assert_eq!(shown("a"), ["b c", "b d", "d b", "d mod.rs", "mod.rs c"]);
    assert_eq!(shown("a/d"), ["e f", "f e"]);
    assert_eq!(leading_to_cycles(&edges["a"]), BTreeSet::from(["b", "d"]));
}

//! From the sources to the cycles between the entries of a folder: its files and sub-folders.
//!
//! A file names another by a path that starts with `crate`, `super` or `self`, or, in the parent's `mod.rs`, with the
//! child's name. Each path is followed through re-exports to the file that defines the item. The first folder that the
//! two files share gets an edge between the entries that hold them. A `mod.rs` is an entry like the others. Declaring or
//! re-exporting a child does not count as a use.

use std::collections::{BTreeMap, BTreeSet};

use super::super::files::is_name;

/// A path in code, without `self` and `*`, or the path of a module below `crate`.
type Path<'s> = Vec<&'s str>;

type Modules<'s> = BTreeMap<Path<'s>, Names<'s>>;

pub type Edges<'s> = BTreeSet<(&'s str, &'s str)>;

/// The last element of the path of a folder's own file.
pub const MOD: &str = "mod.rs";

struct Import<'s> {
    name: &'s str,
    path: Path<'s>,
    is_public: bool,
}

#[derive(Default)]
pub struct Names<'s> {
    imports: Vec<Import<'s>>,
    /// The paths of at least two names in the code without imports.
    paths_in_body: Vec<Path<'s>>,
    words_in_body: BTreeSet<&'s str>,
}

impl<'s> Names<'s> {
    pub fn of(code: &'s str) -> Self {
        let mut names = Self::default();
        for statement in code.split(';') {
            let line_of = |before: &'s str| before.rsplit('\n').next().unwrap_or(before).trim_start();
            let is_visibility = |line: &str| line.is_empty() || line.starts_with("pub") && line.ends_with(' ');
            let splits = statement.match_indices("use ").map(|(at, _)| statement.split_at(at));
            let mut imports = splits.filter(|(before, _)| is_visibility(line_of(before)));
            let (before, import) = imports.next().unwrap_or((statement, ""));
            let is_public = !line_of(before).is_empty();
            let tree = import.trim_start_matches("use ");
            names.imports.extend(names_of_tree(tree).into_iter().map(|(name, path)| Import { name, path, is_public }));
            let paths = before.split(|character: char| character != ':' && !is_name(character)).map(split_path);
            names.words_in_body.extend(paths.clone().flatten());
            names.paths_in_body.extend(paths.filter(|path| path.len() > 1));
        }
        names
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path<'s>> {
        self.imports.iter().map(|import| &import.path).chain(&self.paths_in_body)
    }

    fn used_paths(&self) -> impl Iterator<Item = &Path<'s>> {
        let is_used = |import: &&Import| !import.is_public || self.words_in_body.contains(import.name);
        self.imports.iter().filter(is_used).map(|import| &import.path).chain(&self.paths_in_body)
    }
}

/// Returns the edges of each folder, by its path below `src`. `sources` holds files by such paths, without comments.
pub fn edges<'s>(sources: &'s [(String, String)]) -> BTreeMap<String, Edges<'s>> {
    let modules: Modules = sources.iter().map(|(file, code)| (module_of(file), Names::of(code))).collect();
    let file_of = |module: &Path<'s>| {
        let has_children = modules.keys().any(|other| other.len() > module.len() && other.starts_with(module));
        module.iter().copied().chain(has_children.then_some(MOD)).collect::<Vec<_>>()
    };
    let mut edges = BTreeMap::<String, Edges<'s>>::new();
    for (module, names) in &modules {
        for target in names.used_paths().filter_map(|path| resolve(&modules, module, path)) {
            let (from, to) = (file_of(module), file_of(&target));
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                edges.entry(from[..shared].join("/")).or_default().insert((a, b));
            }
        }
    }
    edges
}

/// Returns the edges that lead to a cycle. Edges to entries that lead nowhere are taken away, again and again.
pub fn leading_to_cycles(mut edges: Edges<'_>) -> Edges<'_> {
    for _ in 0..edges.len() {
        let leading: BTreeSet<&str> = edges.iter().map(|(from, _)| *from).collect();
        edges.retain(|(_, to)| leading.contains(to));
    }
    edges
}

fn module_of(file: &str) -> Path<'_> {
    file.trim_end_matches(".rs").split('/').filter(|name| !["lib", "mod"].contains(name)).collect()
}

/// Returns the module that defines the item that the module `from` calls `named`. `None` for items from outside the crate,
/// for a module's own items, and for the visibility `pub(in crate::…)`.
fn resolve<'s>(modules: &Modules<'s>, from: &[&'s str], named: &[&'s str]) -> Option<Path<'s>> {
    let mut at = from.to_vec();
    for (index, &name) in named.iter().enumerate() {
        let child = [&at[..], &[name]].concat();
        match name {
            "crate" => at.clear(),
            "super" => at.truncate(at.len() - 1),
            _ if modules.contains_key(&child) => at = child,
            _ if index == 0 => return None,
            _ => {
                let Some(import) = modules[&at].imports.iter().find(|import| import.name == name) else {
                    return Some(at);
                };
                return resolve(modules, &at, &[&import.path, &named[index + 1..]].concat());
            }
        }
    }
    (!from.starts_with(&at)).then_some(at)
}

fn names_of_tree(tree: &str) -> Vec<(&str, Path<'_>)> {
    let mut names = Vec::new();
    // The path before each open brace.
    let mut starts = vec![Path::new()];
    for piece in tree.split_inclusive(['{', ',', '}']) {
        let text = piece.trim_end_matches(['{', ',', '}']).trim();
        let (text, alias) = text.split_once(" as ").unwrap_or((text, ""));
        let path = [starts.last().map_or(&[][..], Path::as_slice), &split_path(text)].concat();
        if piece.ends_with('{') {
            starts.push(path);
        } else if !text.is_empty() {
            names.push((if alias.is_empty() { path.last().unwrap_or(&"") } else { alias }, path));
        }
        if piece.ends_with('}') {
            starts.pop();
        }
    }
    names
}

fn split_path(text: &str) -> Path<'_> {
    // The colon of `name: type` and the `::` before generic arguments remain at the ends.
    text.trim_matches(':').split("::").filter(|name| !["", "*", "self"].contains(name)).collect()
}

#[test]
fn imports_are_expanded() {
    let code = "use crate::a::{self, b::{C, D as E},\n    f};\npub(crate) use super::g::*;\nlet x = c::d(crate::e);";
    let names = Names::of(code);
    let shown = |import: &Import<'_>| format!("{} {} {}", import.name, import.path.join("::"), import.is_public);
    let shown: Vec<String> = names.imports.iter().map(shown).collect();
    let imported = ["a crate::a false", "C crate::a::b::C false", "E crate::a::b::D false", "f crate::a::f false"];
    assert_eq!(shown, [&imported[..], &["g super::g true"]].concat());
    assert_eq!(names.paths().skip(5).collect::<Vec<_>>(), [&["c", "d"], &["crate", "e"]]);
}

#[test]
fn cycles_are_found_through_reexports_and_sub_folders() {
    let sources = [
        ("lib.rs", "pub mod a;"),
        ("a/mod.rs", "mod b;\nmod c;\nmod d;\npub use c::{C, Unused};\nstruct Own(C);"),
        ("a/b.rs", "use super::C;\nuse crate::a::d::e::E;"),
        ("a/c.rs", ""),
        ("a/d/mod.rs", "mod e;\nmod f;\npub use e::E;"),
        ("a/d/e.rs", "use super::f;\nfn g() -> super::super::Own {}"),
        ("a/d/f.rs", "pub(in crate::a) fn f(x: crate::a::b::B, y: super::E) {}"),
    ];
    let sources = sources.map(|(file, code)| (file.to_owned(), code.to_owned()));
    let edges = edges(&sources);
    assert_eq!(edges["a"], [("b", "c"), ("b", "d"), ("d", "b"), ("d", MOD), (MOD, "c")].into());
    assert_eq!(edges["a/d"], [("e", "f"), ("f", "e")].into());
    assert_eq!(leading_to_cycles(edges["a"].clone()), [("b", "d"), ("d", "b")].into());
}

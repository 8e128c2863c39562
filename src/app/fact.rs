//! Facts as a tree, for programs (as JSON) and for people ([`page`]): one value makes both, so both say the same.
//!
//! serde_json's `Value` would sort the keys and write an `f32` with the digits of an `f64`. The page shortens names and escapes
//! what a terminal would obey; the JSON keeps them.

use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::text::{self, aligned, format_bytes};
use crate::model::text::{printable, shortened};

/// Deeper nodes are not indented further.
const MAX_INDENT_LEVELS: usize = 16;
/// The largest number of lines of a list on the page. The JSON has all of them.
const MOST_LISTED: usize = 1000;

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Fact {
    /// `null` in JSON; nothing on the page.
    Absent,
    /// A page shows the name of a flag only if it is true.
    Flag(bool),
    /// A number of things, or of bytes if the key says so.
    Count(u64),
    /// The number of a thing. 0 is the first one.
    Index(u32),
    Number(f32),
    Text(String),
    List(Vec<Fact>),
    Object(#[serde(serialize_with = "as_map")] Vec<(&'static str, Fact)>),
}

fn as_map<S: Serializer>(entries: &[(&'static str, Fact)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, fact)| (key, fact)))
}

macro_rules! facts_from {
    ($($value:ty => $kind:ident),*) => {$(
        impl From<$value> for Fact {
            fn from(value: $value) -> Self {
                Self::$kind(value.into())
            }
        }
    )*};
}

facts_from!(bool => Flag, u64 => Count, u32 => Index, f32 => Number, &str => Text);

impl From<usize> for Fact {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(fact: Option<T>) -> Self {
        fact.map_or(Self::Absent, T::into)
    }
}

impl<T: Into<Fact>> FromIterator<T> for Fact {
    fn from_iter<I: IntoIterator<Item = T>>(facts: I) -> Self {
        Self::List(facts.into_iter().map(T::into).collect())
    }
}

impl<const N: usize> From<[f32; N]> for Fact {
    fn from(numbers: [f32; N]) -> Self {
        Self::from_iter(numbers)
    }
}

impl<const N: usize> From<[(&'static str, Fact); N]> for Fact {
    fn from(entries: [(&'static str, Fact); N]) -> Self {
        Self::Object(entries.into())
    }
}

impl Fact {
    fn entries(&self) -> &[(&'static str, Fact)] {
        if let Self::Object(entries) = self { entries } else { &[] }
    }

    fn get(&self, wanted: &str) -> &Fact {
        self.entries().iter().find(|(key, _)| *key == wanted).map_or(&Self::Absent, |(_, fact)| fact)
    }

    /// Whether there is nothing to say.
    fn is_zero(&self) -> bool {
        match self {
            Self::Absent => true,
            Self::Index(_) => false,
            Self::Flag(flag) => !flag,
            Self::Count(count) => *count == 0,
            Self::Number(number) => *number == 0.0,
            Self::Text(text) => text.is_empty(),
            Self::List(facts) => facts.iter().all(Self::is_zero),
            Self::Object(entries) => entries.iter().all(|(_, fact)| fact.is_zero()),
        }
    }

    fn is_table(&self) -> bool {
        matches!(self, Self::List(facts) if matches!(facts.first(), Some(Self::Object(_))))
    }

    /// Describes the fact in a line. `context` has the names of the facts around it and its own.
    fn line(&self, context: &str) -> String {
        const MOST_ITEMS: usize = 6;
        const MAX_CHARS: usize = 400;
        const ANSWERS: [&str; 3] = ["clips", "morph targets", "warnings"];
        match self {
            Self::Absent => String::new(),
            Self::Flag(flag) => if *flag { "yes" } else { "no" }.to_owned(),
            Self::Index(index) => index.to_string(),
            Self::Count(bytes) if context.contains("bytes") || context == "max_storage_buffer_range" => {
                format_bytes(*bytes)
            }
            Self::Count(count) => count.to_string(),
            Self::Number(number) => digits(*number) + if context.ends_with("duration") { " s" } else { "" },
            Self::Text(text) => shortened(&printable(text), MAX_CHARS),
            Self::List(facts) => {
                let most = if context == "attributes" { usize::MAX } else { MOST_ITEMS };
                let shown = facts.iter().take(most).map(|fact| fact.line(context)).collect::<Vec<_>>().join(" ");
                match facts.len().saturating_sub(most) {
                    0 => shown,
                    more => format!("{shown} and {more} more"),
                }
            }
            Self::Object(entries) => {
                let parts = entries.iter().filter(|(_, fact)| !fact.is_table()).filter_map(|(key, fact)| {
                    let (text, key) = (fact.line(&format!("{context} {key}")), key.replace('_', " "));
                    // Zeros answer nothing, except to what people ask of a character first.
                    let zero_answers = context == "contents" && ANSWERS.contains(&&*key);
                    match fact {
                        Self::Flag(true) => Some(key),
                        Self::Flag(false) => None,
                        Self::Count(0) if !zero_answers => None,
                        _ if text.is_empty() => None,
                        Self::Object(_) => Some(format!("{key} ({text})")),
                        _ => Some(format!("{key}: {text}")),
                    }
                });
                parts.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn digits(number: f32) -> String {
    // -0 becomes 0.
    let number = number + 0.0;
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        return format!("{number:.3e}");
    }
    let decimals = if number == 0.0 { 0 } else { (3 - magnitude.log10().floor() as i32).max(0) as usize };
    let text = format!("{number:.decimals$}");
    if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Describes an object on a page of this width: a line for each fact, then a table for each list.
pub fn page(facts: &Fact, columns: u16) -> String {
    // The names of attributes belong in one line.
    let is_listed = |key: &str, fact: &Fact| match fact {
        Fact::List(facts) if key != "attributes" => {
            facts.iter().any(|fact| matches!(fact, Fact::Object(_) | Fact::Text(_) | Fact::Absent))
        }
        _ => false,
    };
    let lines = facts.entries().iter().filter(|(key, fact)| !is_listed(key, fact));
    let lines = lines.map(|(key, fact)| [title(key), fact.line(key)]).filter(|[_, line]| !line.is_empty());
    let mut page = aligned(columns, 0, lines);

    for (key, fact) in facts.entries().iter().flat_map(|entry| std::iter::once(entry).chain(entry.1.entries())) {
        if let Fact::List(facts) = fact
            && is_listed(key, fact)
        {
            page += &section(key, facts, columns);
        }
    }
    page
}

fn section(key: &str, facts: &[Fact], columns: u16) -> String {
    let listed = facts.get(..MOST_LISTED).unwrap_or(facts);
    let rest = match facts.len() - listed.len() {
        0 => String::new(),
        _ => format!("; only {MOST_LISTED} are listed here, --json has all of them"),
    };
    let lines = match facts.first() {
        Some(Fact::Object(_)) => table(listed, columns),
        _ => aligned(columns, 2, listed.iter().map(|fact| [or_unnamed(fact.line(key))])),
    };
    format!("\n{}: {}{rest}\n{lines}", title(key), facts.len())
}

fn title(key: &str) -> String {
    match key {
        "bounds" => "bounds in metres".to_owned(),
        "by_primitive" => "primitives".to_owned(),
        "odd" => "odd things".to_owned(),
        "cameras" => "cameras (--camera NAME)".to_owned(),
        "lights" => "lights (not used)".to_owned(),
        key => key.replace('_', " "),
    }
}

/// Returns a row for each object and a column for each key that says something. On a narrow page the facts of a row are a line.
fn table(rows: &[Fact], columns: u16) -> String {
    let keys = rows.iter().map(Fact::entries).max_by_key(|entries| entries.len()).unwrap_or_default();
    // Indentation shows the parents. What moves says more than tracks, and triangles more than how they are stored.
    const HIDDEN: &str = "parent timelines translations rotations scales morph_weights \
        interpolations primitive file_vertices normals influence_histogram";
    let says_something = |key: &str| {
        let mut facts = rows.iter().map(|row| row.get(key)).filter(|fact| !fact.is_table());
        key == "name"
            || !HIDDEN.split(' ').any(|hidden| hidden == key)
                && facts.any(|fact| matches!(fact, Fact::Flag(_)) || !fact.is_zero())
    };
    let keys: Vec<&str> = keys.iter().map(|(key, _)| *key).filter(|key| says_something(key)).collect();
    let is_numbered = !matches!(rows.first().and_then(|row| row.entries().first()), Some((_, Fact::Index(_))));
    let number = |index: usize| is_numbered.then(|| index.to_string());
    let indents = indents(rows);
    let cell = |index: usize, key: &str| match key {
        "name" => {
            let name = rows[index].get(key).line(key);
            // Names that people copy are whole: those of morph targets have a weight.
            let is_copied = matches!(rows[index].get("weight"), Fact::Number(_));
            let name = if is_copied { name } else { text::name(&name) };
            format!("{:indent$}{}", "", or_unnamed(name), indent = indents[index])
        }
        key => match rows[index].get(key) {
            Fact::Text(text) => text::name(text),
            fact => fact.line(key),
        },
    };
    let head = is_numbered.then(|| "#".to_owned()).into_iter().chain(keys.iter().map(|key| key.replace('_', "\n")));
    let cells = |index: usize| number(index).into_iter().chain(keys.iter().map(move |key| cell(index, key)));
    let lines = std::iter::once(head.collect::<Vec<_>>()).chain((0..rows.len()).map(|index| cells(index).collect()));
    let wide = aligned(columns, 2, lines);
    if wide.lines().all(|line| line.chars().count() <= columns.into()) {
        return wide;
    }
    let narrow = (0..rows.len()).map(|index| {
        let (names, others): (Vec<_>, Vec<_>) = keys.iter().copied().partition(|key| *key == "name");
        let others = others.into_iter().map(|key| (key, rows[index].get(key).clone())).collect();
        let names = names.into_iter().map(|key| cell(index, key));
        number(index).into_iter().chain(names).chain([Fact::Object(others).line("")]).collect::<Vec<_>>()
    });
    aligned(columns, 2, narrow)
}

/// Returns the number of spaces before the name of each row: two for each ancestor. Parents come before their children.
fn indents(rows: &[Fact]) -> Vec<usize> {
    let mut levels = HashMap::new();
    let level = |row: &Fact| {
        let level = match row.get("parent") {
            Fact::Index(parent) => levels.get(parent).map_or(0, |level| level + 1),
            _ => 0,
        };
        if let Fact::Index(node) = row.get("node") {
            levels.insert(*node, level);
        }
        2 * level.min(MAX_INDENT_LEVELS)
    };
    rows.iter().map(level).collect()
}

fn or_unnamed(text: String) -> String {
    if text.is_empty() { "(unnamed)".to_owned() } else { text }
}

//! From a word that a person types to a clip, a joint, a morph target or a camera of a file.
//!
//! Tools write names that nobody wants to type: `Armature|Idle`, `mixamorig:Head`. So a name also matches in any case of
//! letters, by its last part, and by its end if no other name ends with it. If nothing matches, a message offers the few names
//! that are most like the word.

use super::text::shortened;

/// The characters after which the last part of a name begins.
const SEPARATORS: [char; 3] = ['|', ':', '/'];
/// The number of names that a message offers.
const MOST_OFFERED: usize = 5;

/// Returns the index of the name that a word means: the name itself, otherwise one that differs in the case of letters only,
/// otherwise one whose last part is the word, otherwise the only one that ends with the word. Of several, the first counts.
pub fn find<'n>(names: impl IntoIterator<Item = Option<&'n str>>, word: &str) -> Option<usize> {
    let folded = word.to_lowercase();
    let difference = |name: &str| {
        let last = name.rsplit(SEPARATORS).next().unwrap_or(name);
        let alike = [name == word, name.to_lowercase() == folded, last.to_lowercase() == folded];
        alike.into_iter().position(|is_alike| is_alike)
    };
    let names = names.into_iter().enumerate();
    // The name that ends with the word, and whether there are several.
    let mut ending: Option<(&str, usize)> = None;
    let mut is_ambiguous = false;
    let found = names.filter_map(|(index, name)| {
        let name = name?;
        let before = name.to_lowercase().strip_suffix(&folded).map(str::to_owned);
        if before.is_some_and(|before| before.ends_with(|c: char| !c.is_alphanumeric())) {
            is_ambiguous |= ending.is_some_and(|(other, _)| other != name);
            ending = ending.or(Some((name, index)));
        }
        Some((difference(name)?, index))
    });
    let best = found.min().map(|(_, index)| index);
    best.or(ending.filter(|_| !is_ambiguous).map(|(_, index)| index))
}

/// Returns the words of a name in small letters: `ai_eyeUpperClose_L` has ai, eye, upper, close and l.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_small {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Words that people use for things, and the words that tools use for the same.
const MEANINGS: [(&str, &str); 4] =
    [("blink", "eye close"), ("wink", "eye close"), ("face", "head"), ("talk", "jaw open")];

/// Returns how many words of a wish a name has, or their beginnings of three letters and more.
fn shared_words(wish: &[String], name: &str) -> usize {
    const LEAST: usize = 3;
    let of_name = words(name);
    let is_alike = |a: &str, b: &str| a == b || a.len().min(b.len()) >= LEAST && (a.starts_with(b) || b.starts_with(a));
    wish.iter().filter(|wish| of_name.iter().any(|word| is_alike(wish, word))).count()
}

/// Returns the names that are most like a word, the best first. Each of them stands with its index, for example `3
/// "Walking_A"`. If there are more, their number follows.
pub fn offer<'n>(names: impl IntoIterator<Item = (u32, Option<&'n str>)>, word: &str) -> String {
    const MAX_CHARS: usize = 60;
    let meaning = MEANINGS.iter().find(|(called, _)| called.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning);
    let wish = words(meaning.unwrap_or(word));
    let word = word.to_lowercase();
    let mut names: Vec<(u32, Option<&str>)> = names.into_iter().collect();
    let likeness = |name: Option<&str>| {
        let name = name.unwrap_or_default();
        let shared = shared_words(&wish, name);
        let name = name.to_lowercase();
        let last = name.rsplit(SEPARATORS).next().unwrap_or_default();
        f64::from(u8::from(!word.is_empty() && name.contains(&word)))
            + 2.0 * shared as f64
            + strsim::jaro_winkler(last, &word)
    };
    names.sort_by_cached_key(|(_, name)| std::cmp::Reverse((likeness(*name) * 1e6) as u64));
    let shown = names.iter().take(MOST_OFFERED).map(|(index, name)| match name {
        Some(name) => format!("{index} {:?}", shortened(name, MAX_CHARS)),
        None => index.to_string(),
    });
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MOST_OFFERED {
        shown.push_str(&format!(" and {} more (see `throng inspect`)", names.len() - MOST_OFFERED));
    }
    if shown.is_empty() { "none".to_owned() } else { shown }
}

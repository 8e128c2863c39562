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

/// Words that people use for things, and the words that tools use for the same.
const MEANINGS: [(&str, &str); 4] =
    [("blink", "eye close"), ("wink", "eye close"), ("face", "head"), ("talk", "jaw open")];

fn last_part(name: &str) -> &str {
    name.rsplit(SEPARATORS).next().unwrap_or(name)
}

/// Returns the index of the name that a word means: the name itself, otherwise one that differs in the case of letters only,
/// otherwise one whose last part is the word, otherwise the only one that ends with the word. Of several, the first counts.
pub fn find<'n>(names: impl IntoIterator<Item = Option<&'n str>>, word: &str) -> Option<usize> {
    const IS_END: usize = 3;
    let word_folded = word.to_lowercase();
    let difference = |name: &str| {
        let folded = name.to_lowercase();
        let before = folded.strip_suffix(&word_folded);
        let is_end = before.is_some_and(|before| before.ends_with(|c: char| !c.is_alphanumeric()));
        let alike = [name == word, folded == word_folded, last_part(&folded) == word_folded, is_end];
        alike.into_iter().position(|is_alike| is_alike)
    };
    let names = names.into_iter().enumerate().filter_map(|(index, name)| Some((index, name?)));
    let found: Vec<_> = names.filter_map(|(index, name)| Some((difference(name)?, index, name))).collect();
    let &(difference, index, name) = found.iter().min()?;
    let is_ambiguous = difference == IS_END && found.iter().any(|(.., other)| *other != name);
    (!is_ambiguous).then_some(index)
}

/// Returns the names that are most like a word, the best first. Each of them stands with its index, for example `3
/// "Walking_A"`. If there are more, their number follows.
pub fn offer<'n>(names: impl IntoIterator<Item = (u32, Option<&'n str>)>, word: &str) -> String {
    const MAX_CHARS: usize = 60;
    let meaning = MEANINGS.iter().find(|(called, _)| called.eq_ignore_ascii_case(word));
    let wish = meaning.map_or_else(|| word.to_lowercase(), |(_, meaning)| (*meaning).to_owned());
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        let has_wish = !wish.is_empty() && name.contains(&wish);
        f64::from(u8::from(has_wish)) + strsim::sorensen_dice(last_part(&name), &wish)
    };
    let mut names: Vec<(u32, Option<&str>)> = names.into_iter().collect();
    names.sort_by_cached_key(|(_, name)| std::cmp::Reverse((likeness(name.unwrap_or_default()) * 1e6) as u64));
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

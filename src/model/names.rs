//! From a word that a person types to a clip, a joint, a morph target or a camera of a file.
//!
//! Tools write names that nobody wants to type: `Armature|Idle`, `mixamorig:Head`. So a name also matches in any case of
//! letters, and by its last part. If nothing matches, a message offers the few names that are most like the word.

use super::text::shortened;

/// The characters after which the last part of a name begins.
const SEPARATORS: [char; 3] = ['|', ':', '/'];
/// The number of names that a message offers.
const MOST_OFFERED: usize = 5;

/// Returns the index of the name that a word means: the name itself, otherwise one that differs in the case of letters only,
/// otherwise one whose last part is the word. Of several, the first counts.
pub fn find<'n>(names: impl IntoIterator<Item = Option<&'n str>>, word: &str) -> Option<usize> {
    let folded = word.to_lowercase();
    let difference = |name: &str| {
        let last = name.rsplit(SEPARATORS).next().unwrap_or(name);
        let alike = [name == word, name.to_lowercase() == folded, last.to_lowercase() == folded];
        alike.into_iter().position(|is_alike| is_alike)
    };
    let names = names.into_iter().enumerate();
    let found = names.filter_map(|(index, name)| Some((difference(name?)?, index)));
    found.min().map(|(_, index)| index)
}

/// Returns the names that are most like a word, the best first. Each of them stands with its index, for example `3 "Walking_A"`.
/// If there are more, their number follows.
pub fn offer<'n>(names: impl IntoIterator<Item = (u32, Option<&'n str>)>, word: &str) -> String {
    const MAX_CHARS: usize = 60;
    let word = word.to_lowercase();
    let mut names: Vec<(u32, Option<&str>)> = names.into_iter().collect();
    let likeness = |name: Option<&str>| {
        let name = name.unwrap_or_default().to_lowercase();
        let last = name.rsplit(SEPARATORS).next().unwrap_or_default();
        f64::from(u8::from(!word.is_empty() && name.contains(&word))) + strsim::jaro_winkler(last, &word)
    };
    names.sort_by_cached_key(|(_, name)| std::cmp::Reverse((likeness(*name) * 1e6) as u64));
    let shown = names.iter().take(MOST_OFFERED).map(|(index, name)| match name {
        Some(name) => format!("{index} {:?}", shortened(name, MAX_CHARS)),
        None => index.to_string(),
    });
    let mut shown = shown.collect::<Vec<_>>().join(", ");
    if names.len() > MOST_OFFERED {
        shown.push_str(&format!(" and {} more", names.len() - MOST_OFFERED));
    }
    if shown.is_empty() { "none".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_finds_the_name_that_is_most_like_it() {
        let found = |names: &[&str], word: &str| find(names.iter().copied().map(Some), word);
        let names = ["Armature|Idle", "idle", "IDLE", "mixamorig:Head", "Walking_A", "a/b|C"];
        for (word, expected) in
            [("IDLE", Some(2)), ("Idle", Some(1)), ("head", Some(3)), ("c", Some(5)), ("b|c", None), ("walk", None)]
        {
            assert_eq!(found(&names, word), expected, "{word}");
        }
        assert_eq!(found(&["A|x", "B|X"], "X"), Some(0));
        assert_eq!((find([None, Some("x")], "X"), find([None], "")), (Some(1), None));
    }

    #[test]
    fn few_names_are_offered() {
        let names = ["Run", "Death", "Walking_B", "Walking_A", "Jump", "Talk", "x"];
        let all = names.iter().zip(0..).map(|(name, index)| (index, Some(*name)));
        let offered = offer(all, "walk");
        assert!(offered.starts_with("2 \"Walking_B\", 3 \"Walking_A\", 5 \"Talk\","), "{offered}");
        assert!(offered.ends_with(" and 2 more"), "{offered}");
        assert_eq!((offer([], "x"), offer([(4, None)], "x")), ("none".to_owned(), "4".to_owned()));
    }
}

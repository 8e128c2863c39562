//! From untrusted text to text that is safe to print on a terminal.
//!
//! The model and JSON output keep names, URIs and other strings of a file unchanged. Text for people goes through here:
//! control characters can command a terminal, and format characters, such as those that change the direction of
//! writing, can disguise a line. Both are escaped.

/// Returns `text` with all invisible characters escaped: control and format characters, unassigned ones, and white
/// space other than the plain space.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    // `escape_debug` also escapes quotes and backslashes, which are harmless here and stay as they are.
    for piece in text.split_inclusive(['"', '\'', '\\']) {
        let plain = piece.strip_suffix(['"', '\'', '\\']).unwrap_or(piece);
        shown.extend(plain.escape_debug());
        shown.push_str(&piece[plain.len()..]);
    }
    shown
}

/// Returns `text` if it has at most `max_chars` characters, otherwise its start and end with `…` between.
#[must_use]
pub fn shortened(text: &str, max_chars: usize) -> String {
    let Some(end_chars) = max_chars.checked_sub(1).map(|chars| chars / 3) else { return String::new() };
    // A character has at least one byte, so characters of a short text need not be counted.
    if text.len() <= max_chars || text.chars().nth(max_chars).is_none() {
        return text.to_owned();
    }
    let byte_of = |char_index: usize| text.char_indices().nth(char_index).map_or(text.len(), |(byte, _)| byte);
    let start = &text[..byte_of(max_chars - 1 - end_chars)];
    let end = match end_chars.checked_sub(1) {
        Some(last) => text.char_indices().rev().nth(last).map_or("", |(byte, _)| &text[byte..]),
        None => "",
    };
    format!("{start}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_and_others_kept() {
        for kept in ["", "Fox", "it's \"C:\\x\"", "ノード 1", "é e\u{301}", "Ω😀"] {
            assert_eq!(printable(kept), kept);
        }
        assert_eq!(printable("a\u{1b}[31m\n\u{7f}\u{9b}"), "a\\u{1b}[31m\\n\\u{7f}\\u{9b}");
        for hidden in ['\u{202a}', '\u{202e}', '\u{2066}', '\u{2069}', '\u{200b}', '\u{200f}', '\u{2028}', '\u{feff}'] {
            assert_eq!(printable(&format!("a{hidden}'b")), format!("a\\u{{{:x}}}'b", hidden as u32));
        }
    }

    #[test]
    fn long_text_keeps_its_ends() {
        assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
        assert_eq!(shortened("abcdefghijk", 10), "abcdef…ijk");
        assert_eq!(shortened("ääääääääää", 7), "ääää…ää");
        assert_eq!(
            (shortened("abc", 2), shortened("abc", 1), shortened("abc", 0)),
            ("a…".into(), "…".into(), "".into())
        );
        let long = shortened(&"x".repeat(1 << 20), 400);
        assert_eq!(long.chars().count(), 400);
    }
}

//! From untrusted text to text that is safe to print on a terminal.
//!
//! The model and JSON output keep names, URIs and other strings of a file unchanged. Text for people goes through here:
//! control characters can command a terminal, and format characters, such as those that change the direction of
//! writing, can disguise a line. Both are escaped.

/// Returns `text` with invisible characters escaped: control, format and unassigned ones, and white space but the plain space.
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

//! Aligned columns and wrapped lines for a terminal of a hundred columns.

use std::fmt::Write as _;

use crate::model::text::{printable, shortened};

/// Columns of the page, where it can be kept to.
pub(in crate::app) const PAGE_COLUMNS: usize = 100;

/// Cells of a table, row by row.
pub(super) type Rows = Vec<Vec<String>>;

/// A name from the file, fit for one cell.
pub(in crate::app) fn name(text: &str) -> String {
    const MAX_CHARS: usize = 32;
    shortened(&printable(text), MAX_CHARS)
}

/// What the file says in a line or two.
pub(super) fn sentence(text: &str) -> String {
    const MAX_CHARS: usize = 240;
    shortened(&printable(text), MAX_CHARS)
}

/// As [`name`], where the file may have none.
pub(super) fn name_or_none(text: Option<&str>) -> String {
    text.map_or_else(|| "(unnamed)".to_owned(), name)
}

/// `1 joint`, `2 joints`.
pub(in crate::app) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Bytes in the largest unit that leaves at least one before the point.
pub(in crate::app) fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match UNITS.iter().find(|(shift, _)| count >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => counted(count as usize, "byte"),
    }
}

/// Cells of a column start below each other; the last cell of a row is wrapped below itself.
pub(super) fn push_aligned(text: &mut String, rows: &Rows) {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row.iter().take(row.len().saturating_sub(1))) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for row in rows {
        let Some((last, cells)) = row.split_last() else { continue };
        let mut line = String::from("  ");
        for (cell, width) in cells.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        let indent = line.chars().count();
        for (number, part) in wrapped(last, PAGE_COLUMNS.saturating_sub(indent)).into_iter().enumerate() {
            let start = if number == 0 { line.clone() } else { " ".repeat(indent) };
            text.push_str(format!("{start}{part}").trim_end());
            text.push('\n');
        }
    }
}

/// Lines of at most `columns` characters, broken at spaces; a longer word has a line to itself. Spaces at the start,
/// which indent, stay.
pub(in crate::app) fn wrapped(text: &str, columns: usize) -> Vec<&str> {
    /// Narrower than this, wrapping would read worse than a long line.
    const FEWEST_COLUMNS: usize = 30;
    let columns = columns.max(FEWEST_COLUMNS);
    let (mut lines, mut rest) = (Vec::new(), text);
    // The first character that does not fit, while there is one. A space may be it: it is not shown.
    while let Some((limit, beyond)) = rest.char_indices().nth(columns) {
        let first_word = rest.len() - rest.trim_start().len();
        let space = if beyond == ' ' { Some(limit) } else { rest[..limit].rfind(' ') };
        let space = space.filter(|&at| at > first_word);
        let space = space.or_else(|| rest[limit..].find(' ').map(|at| limit + at));
        let Some(space) = space else { break };
        lines.push(&rest[..space]);
        rest = rest[space..].trim_start();
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(wrapped("one two three four five six se v", 30), ["one two three four five six se", "v"]);
        assert_eq!(wrapped(text, 30), ["one two three four five six", "seven eight nine ten"]);
        assert_eq!(wrapped(&"x".repeat(50), 30), ["x".repeat(50)]);
        assert_eq!(wrapped("", 30), [""]);
        let long_word = format!("  {} end", "ä".repeat(40));
        assert_eq!(wrapped(&long_word, 30), [format!("  {}", "ä".repeat(40)), "end".to_owned()]);
    }

    #[test]
    fn columns_start_below_each_other() {
        let mut text = String::new();
        let row = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
        push_aligned(&mut text, &vec![row(&["a", "name", "x"]), row(&["10", "n", "y"]), row(&["3"])]);
        assert_eq!(text, "  a   name  x\n  10  n     y\n  3\n");
        assert_eq!((bytes(1), bytes(1023), bytes(1536)), ("1 byte".into(), "1023 bytes".into(), "1.5 KiB".into()));
        assert_eq!((bytes(3 << 20), bytes(5 << 30)), ("3.0 MiB".into(), "5.0 GiB".into()));
    }
}

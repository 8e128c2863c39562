//! Right-aligned columns in groups, for a terminal of a hundred columns.

use crate::app::inspect::PAGE_COLUMNS;

/// Between columns.
const GAP: &str = "  ";
/// Between groups.
const RULE: &str = " | ";

/// Columns that belong together.
pub(super) struct Group {
    /// Above them; may be empty.
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
}

/// One column.
pub(super) struct Column {
    pub(super) header: &'static str,
    /// One for each row.
    pub(super) cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.chars().count()).fold(self.header.len(), usize::max)
    }

    /// Right-aligned; `None` is the header.
    fn cell(&self, row: Option<usize>) -> String {
        let text = row.map_or(self.header, |row| self.cells.get(row).map_or("", String::as_str));
        format!("{text:>width$}", width = self.width())
    }
}

impl Group {
    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(Column::width).sum();
        (columns + GAP.len() * self.columns.len().saturating_sub(1)).max(self.title.chars().count())
    }

    fn line(&self, row: Option<usize>) -> String {
        let cells: Vec<String> = self.columns.iter().map(|column| column.cell(row)).collect();
        format!("{:width$}", cells.join(GAP), width = self.width())
    }
}

/// One table of all groups, if the page holds it, or else several; `keys`, which say what a row is, start each.
pub(super) fn as_text(keys: &Group, groups: &[Group]) -> String {
    let mut tables: Vec<Vec<&Group>> = Vec::new();
    for group in groups {
        match tables.last_mut().filter(|table| width(table) + RULE.len() + group.width() <= PAGE_COLUMNS) {
            Some(table) => table.push(group),
            None => tables.push(vec![keys, group]),
        }
    }
    let tables: Vec<String> = tables.iter().map(|groups| table(groups)).collect();
    tables.join("\n")
}

fn width(groups: &[&Group]) -> usize {
    groups.iter().map(|group| group.width()).sum::<usize>() + RULE.len() * groups.len().saturating_sub(1)
}

fn table(groups: &[&Group]) -> String {
    let rows = groups.iter().flat_map(|group| &group.columns).map(|column| column.cells.len()).max().unwrap_or(0);
    let line = |of: &dyn Fn(&Group) -> String| {
        let parts: Vec<String> = groups.iter().map(|group| of(group)).collect();
        format!("{}\n", parts.join(RULE).trim_end())
    };
    let mut text = String::new();
    if groups.iter().any(|group| !group.title.is_empty()) {
        text += &line(&|group| format!("{:width$}", group.title, width = group.width()));
    }
    text += &line(&|group| group.line(None));
    for row in 0..rows {
        text += &line(&|group| group.line(Some(row)));
    }
    text
}

/// Three digits, as many of them after the point as are of use.
pub(super) fn number(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.0995 || value == 0.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// As above; what was not measured is a dash.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(title: &str, headers: &[&'static str], cell: &str) -> Group {
        let column = |&header| Column { header, cells: vec![cell.to_owned(), "1".to_owned()] };
        Group { title: title.to_owned(), columns: headers.iter().map(column).collect() }
    }

    #[test]
    fn groups_stand_side_by_side_where_the_page_holds_them() {
        let (keys, first, second) = (
            group("", &["instances"], "1000"),
            group("CPU", &["cull", "wait"], "1.25"),
            group("GPU", &["skin"], "12.5"),
        );
        assert_eq!(
            as_text(&keys, &[first, second]),
            "          | CPU        | GPU\n\
             instances | cull  wait | skin\n     1000 | 1.25  1.25 | 12.5\n        1 |    1     1 |    1\n"
        );
        let wide = || group("", &["a column of forty characters, or about it"], "0");
        let text = as_text(&group("", &["instances"], "1000"), &[wide(), wide(), wide()]);
        assert_eq!(text.matches("instances").count(), 2);
        assert!(text.lines().all(|line| line.chars().count() <= PAGE_COLUMNS), "{text}");
    }

    #[test]
    fn numbers_have_three_digits() {
        let found = [0.0, 0.001_23, 0.0994, 0.123, 1.234, 9.994, 9.996, 12.34, 99.96, 1234.5, 1e6].map(number);
        assert_eq!(found, ["0.00", "0.001", "0.099", "0.12", "1.23", "9.99", "10.0", "12.3", "100", "1234", "1000000"]);
        assert_eq!(optional(None), "-");
    }
}

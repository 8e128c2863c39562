//! Text for standard output: names and quantities, paragraphs, and tables that comfy-table lays out.
//!
//! Nothing is coloured. Text fits the terminal; in a pipe or a file it fits 100 columns, or 80.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, Row, Table, TableStyle, Width,
};
use indicatif::HumanCount;

use crate::model::text::{printable, shortened};

const GAP: u16 = 2;
/// A wrapped column is at least this wide, even where its lines become longer than the page.
const NARROWEST_COLUMN: Width = Width::Fixed(30);
/// A line under the names of columns.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('-'));
/// Bars between groups of columns.
const BARRED: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction('|'))
    .content_lines(ContentLineStyle::none().junction('|'));

/// Returns the number of columns of the terminal, or those of most text in a pipe or a file.
pub(super) fn page_columns() -> u16 {
    columns_or(100)
}

/// Returns the number of columns of the terminal, or `columns` if standard output is none.
pub(super) fn columns_or(columns: u16) -> u16 {
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    terminal.map_or(columns, |(columns, _)| columns.0.clamp(60, 120))
}

/// Shortens a name from a file for a table cell and escapes what a terminal would obey.
pub(super) fn name(text: &str) -> String {
    const MAX_CHARS: usize = 32;
    shortened(&printable(text), MAX_CHARS)
}

/// Returns `1 joint`, `2 joints`, `3 vertices`.
pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {}", plural(what)) }
}

/// Returns the plural of the nouns that this program counts.
pub(super) fn plural(what: &str) -> String {
    match what.strip_suffix("ex").or(what.strip_suffix("ix")) {
        Some(stem) => format!("{stem}ices"),
        None => format!("{what}{}", if what.ends_with("sh") || what.ends_with("ss") { "es" } else { "s" }),
    }
}

/// Formats a number of bytes in the largest binary unit of which there is at least one.
pub(super) fn format_bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match UNITS.iter().find(|(shift, _)| count >> shift > 0) {
        Some((shift, unit)) => format!("{:.1} {unit}", count as f64 / (1_u64 << shift) as f64),
        None => counted(count as usize, "byte"),
    }
}

/// Returns an integer with its digits in groups of three.
pub(super) fn thousands(value: u64) -> String {
    HumanCount(value).to_string()
}

/// Returns a number with three significant digits, or with all the digits of a larger integer.
pub fn number(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value if value >= 0.0995 || value == 0.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

/// Returns lines of at most `columns` characters, broken between words.
pub fn paragraph(columns: u16, text: &str) -> String {
    aligned(columns, 0, [[text.to_owned()]])
}

/// Returns a table of left-aligned columns, `indent` spaces from the left. The last column is wrapped to fit.
pub fn aligned<R: Into<Row>>(columns: u16, indent: u16, rows: impl IntoIterator<Item = R>) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new()).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns + GAP).add_rows(rows);
    let last = table.column_count().saturating_sub(1);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { indent } else { 0 }, GAP));
        column.set_constraint(match index {
            index if index == last => ColumnConstraint::LowerBoundary(NARROWEST_COLUMN),
            _ => ColumnConstraint::ContentWidth,
        });
    }
    lines(&table)
}

/// Columns of numbers that belong together.
pub struct ColumnGroup {
    /// The title above them; it may be empty.
    pub title: &'static str,
    /// The name and the cells of each column.
    pub columns: Vec<(&'static str, Vec<String>)>,
}

impl ColumnGroup {
    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(RULED).set_header(self.columns.iter().map(|(header, _)| *header));
        let row_count = self.columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
        for row in 0..row_count {
            table.add_row(self.columns.iter().map(|(_, cells)| cells.get(row).map_or("", String::as_str)));
        }
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if index == 0 { 0 } else { GAP }, 0));
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }
}

/// Returns groups of columns next to each other, in as many tables as the page's width demands. `keys` starts each
/// table: its columns say what a row is.
pub fn grouped(columns: u16, keys: &ColumnGroup, groups: &[ColumnGroup]) -> String {
    let (mut tables, mut current) = (Vec::new(), vec![keys]);
    for group in groups {
        let wider: Vec<&ColumnGroup> = current.iter().copied().chain([group]).collect();
        if current.len() > 1 && barred(&wider).lines().any(|line| line.chars().count() > columns.into()) {
            tables.push(barred(&current));
            current = vec![keys, group];
        } else {
            current = wider;
        }
    }
    tables.push(barred(&current));
    tables.join("\n")
}

/// Returns one table whose cells are the tables of the groups.
fn barred(groups: &[&ColumnGroup]) -> String {
    let mut table = Table::new();
    table.load_style(BARRED).add_row(groups.iter().map(|group| group.table().to_string()));
    if groups.iter().any(|group| !group.title.is_empty()) {
        table.set_header(groups.iter().map(|group| group.title));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((0, 1));
    }
    lines(&table)
}

fn lines(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

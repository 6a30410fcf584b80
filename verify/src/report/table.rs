//! Plain tables: columns as wide as their content, without lines, so that they are readable in a terminal, a log and a
//! diff.

use anstyle::{AnsiColor, Style};
use std::fmt;

/// The style of headings.
pub const HEADING: Style = Style::new().bold();
/// The style of correct results.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The style of errors.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub const NOTICE: Style = AnsiColor::Yellow.on_default();
/// The style of secondary text.
pub const FAINT: Style = Style::new().dimmed();

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For text.
    Left,
    /// For numbers.
    Right,
}

/// A cell: text and its style. The style does not count for the width.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text in a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Cell { text: text.into(), style }
    }
}

impl<T: fmt::Display> From<T> for Cell {
    fn from(value: T) -> Self {
        Cell { text: value.to_string(), style: Style::new() }
    }
}

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
    /// The maximum width of each column; longer text continues on the next line.
    most: Vec<usize>,
    headless: bool,
}

impl Table {
    /// A table with these columns.
    pub fn new<'a>(heads: impl IntoIterator<Item = (&'a str, Align)>) -> Self {
        let heads = heads.into_iter().map(|(head, align)| (head.to_string(), align)).collect();
        Table { heads, rows: Vec::new(), indent: 0, most: Vec::new(), headless: false }
    }

    /// Indents every line by this many spaces.
    pub fn indented(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// Sets the maximum widths of the first columns; longer text is broken at spaces.
    pub fn wrapped(mut self, most: &[usize]) -> Self {
        self.most = most.to_vec();
        self
    }

    /// Omits the line of headings.
    pub fn headless(mut self) -> Self {
        self.headless = true;
        self
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let most = |column: usize| self.most.get(column).copied().unwrap_or(usize::MAX);
        let cells = cells.into_iter().enumerate();
        let cells: Vec<(Style, Vec<String>)> =
            cells.map(|(column, cell)| (cell.style, wrap(&cell.text, most(column)))).collect();
        let lines = cells.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        for line in 0..lines {
            let cell = |(style, lines): &(Style, Vec<String>)| match lines.get(line) {
                Some(text) => Cell::styled(text, *style),
                None => "".into(),
            };
            self.rows.push(cells.iter().map(cell).collect());
        }
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize, head: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count());
            cells.chain([head.chars().count()]).max().unwrap_or(0)
        };
        self.heads.iter().enumerate().map(|(column, (head, _))| width(column, head)).collect()
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, widths: &[usize], cells: &[Cell]) -> fmt::Result {
        write!(f, "{:1$}", "", self.indent)?;
        for (column, cell) in cells.iter().enumerate() {
            let gap = widths[column].saturating_sub(cell.text.chars().count());
            let last = cells[column + 1..].iter().all(|cell| cell.text.is_empty());
            let (before, after) = match self.heads[column].1 {
                Align::Right => (gap, 0),
                Align::Left => (0, if last { 0 } else { gap }),
            };
            let style = cell.style;
            write!(f, "{:before$}{style}{}{style:#}{:after$}", "", cell.text, "")?;
            if last {
                break;
            }
            f.write_str("  ")?;
        }
        f.write_str("\n")
    }
}

/// Text in lines of at most this many letters, unless a word is longer; at least one line.
fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let heads: Vec<Cell> = self.heads.iter().map(|(head, _)| Cell::styled(head, HEADING)).collect();
        if !self.headless {
            self.line(f, &widths, &heads)?;
        }
        self.rows.iter().try_for_each(|row| self.line(f, &widths, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new([("name", Align::Left), ("p", Align::Right), ("verdict", Align::Left)]);
        table.row(["ring".into(), 7.into(), Cell::styled("ok", GOOD)]);
        table.row(["sparbit".into(), 1024.into(), "ok".into()]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(plain, "name        p  verdict\nring        7  ok\nsparbit  1024  ok\n");
    }

    #[test]
    fn long_text_goes_on_in_the_next_line() {
        let mut table = Table::new([("name", Align::Left), ("text", Align::Left)]).wrapped(&[8, 10]);
        table.row(["ring".into(), "any p, and a radix".into()]);
        table.row(["recursive-doubling".into(), "p".into()]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(
            plain,
            "name                text\nring                any p, and\n                    a radix\nrecursive-doubling  p\n"
        );
    }
}

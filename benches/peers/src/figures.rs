//! The figures of all cases: printed as tables, written as CSV.

use crate::libs::Library;
use std::fmt::Write as _;

/// A kind of measurement: one table.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The heading of the table.
    pub(crate) title: &'static str,
    pub(crate) digits: usize,
}

pub(crate) struct Figure {
    pub(crate) case: Case,
    /// The row.
    pub(crate) setting: String,
    /// The setting as a number, for a plot.
    pub(crate) x: f64,
    pub(crate) library: &'static str,
    pub(crate) value: f64,
}

#[derive(Default)]
pub(crate) struct Figures(Vec<Figure>);

impl Figures {
    pub(crate) fn add(&mut self, case: Case, setting: &str, x: f64, library: Library, value: f64) {
        eprintln!("{}: {setting}, {}: {value:.*}", case.name, library.name(), case.digits);
        self.0.push(Figure { case, setting: setting.to_owned(), x, library: library.name(), value });
    }

    /// The points of a library in a case, for a plot.
    pub(crate) fn line(&self, case: &str, library: Library) -> Vec<(f64, f64)> {
        let of = |figure: &&Figure| figure.case.name == case && figure.library == library.name();
        self.0.iter().filter(of).map(|figure| (figure.x, figure.value)).collect()
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for figure in &self.0 {
            if !cases.contains(&figure.case) {
                cases.push(figure.case);
            }
        }
        cases
    }

    /// A Markdown table for each case: a row for each setting, a column for each library.
    pub(crate) fn tables(&self) -> String {
        let mut text = String::new();
        for case in self.cases() {
            let figures: Vec<&Figure> = self.0.iter().filter(|figure| figure.case == case).collect();
            let has = |library: &Library| figures.iter().any(|figure| figure.library == library.name());
            let columns: Vec<&str> = Library::ALL.iter().filter(|l| has(l)).map(|l| l.name()).collect();
            let mut rows: Vec<&str> = Vec::new();
            for figure in &figures {
                if !rows.contains(&&*figure.setting) {
                    rows.push(&figure.setting);
                }
            }
            let _ = writeln!(text, "\n{}\n\n| | {} |", case.title, columns.join(" | "));
            let _ = writeln!(text, "|---|{}", "---|".repeat(columns.len()));
            for row in rows {
                let cell = |column: &&str| {
                    let found = figures.iter().find(|f| f.setting == row && f.library == *column);
                    found.map_or("-".to_owned(), |figure| number(figure.value, case.digits))
                };
                let cells: Vec<String> = columns.iter().map(cell).collect();
                let _ = writeln!(text, "| {row} | {} |", cells.join(" | "));
            }
        }
        text
    }

    pub(crate) fn csv(&self) -> String {
        let mut text = "case,setting,x,library,value\n".to_owned();
        for figure in &self.0 {
            let Figure { case, setting, x, library, value } = figure;
            let _ = writeln!(text, "{},\"{setting}\",{x},{library},{value:.*}", case.name, case.digits + 2);
        }
        text
    }
}

/// A number with commas between thousands.
fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

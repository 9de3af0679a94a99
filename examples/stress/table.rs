//! Figures in columns, for people.

use crate::planting::Planting;
use crate::tally::{Row, Tally};
use rebout::shown;
use std::io::{self, Write};

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// The columns of a link.
pub(crate) const COLUMNS: [&str; 9] =
    ["link", "matches", "frames", "rollbacks", "depth p50", "p99", "stalled %", "bytes/s", "refused"];

/// A link in these columns.
pub(crate) fn cells(row: &Row) -> [String; 9] {
    [
        row.name.to_owned(),
        grouped(u64::from(row.matches)),
        grouped(row.figures.frames),
        grouped(row.figures.rollbacks),
        row.depth(50).to_string(),
        row.depth(99).to_string(),
        format!("{:.2}", row.stalled_percent()),
        grouped(row.bytes_per_s().round() as u64),
        grouped(row.figures.refused),
    ]
}

pub(crate) fn print_links(out: &mut impl Write, tally: &Tally) -> io::Result<()> {
    let mut rows: Vec<Vec<String>> = vec![COLUMNS.iter().map(|&name| name.to_owned()).collect()];
    rows.extend(tally.rows.iter().map(|row| cells(row).to_vec()));
    if tally.rows.len() > 1 {
        rows.push(cells(&tally.total()).to_vec());
    }
    print(out, &rows, 1)
}

pub(crate) fn print_plants(out: &mut impl Write, plantings: &[Planting]) -> io::Result<()> {
    let heads = ["mistake", "caught", "sync test", "oracle", "checksum", "field", "side", "right"];
    let mut rows: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    for planting in plantings {
        let frame = |found: Option<u32>| found.map_or("-".to_owned(), |frame| frame.to_string());
        rows.push(vec![
            planting.name.to_owned(),
            format!("{}/{}", planting.caught, planting.matches),
            frame(planting.sync_test),
            frame(planting.oracle),
            frame(planting.checksum),
            shown(planting.field.as_deref().unwrap_or("-")).into_owned(),
            planting.side.unwrap_or("-").to_owned(),
            if planting.is_right() { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    print(out, &rows, usize::MAX)
}

/// The first `left` columns lean left, or all words do.
fn print(out: &mut impl Write, rows: &[Vec<String>], left: usize) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max().unwrap_or(0))
        .collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column > 0 {
                line.push_str("  ");
            }
            line += &if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

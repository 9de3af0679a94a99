//! The depths of all rollbacks on all links, as one map: a row for each link, a column for each depth.

use super::tally::Row;
use crate::lab::text::grouped;
use std::fmt::Write;

const CELL: (f64, f64) = (44.0, 24.0);
const NAMES: f64 = 150.0;
const COUNTS: f64 = 110.0;

/// Adds the map to a page.
pub(super) fn map(html: &mut String, rows: &[Row]) {
    let deepest = rows.iter().filter_map(|row| row.figures.depths.iter().rposition(|count| *count > 0)).max();
    let Some(deepest) = deepest.filter(|deepest| *deepest > 0) else { return };
    let (width, height) =
        (NAMES + CELL.0 * deepest as f64 + COUNTS, CELL.1 * (rows.len() as f64 + 1.0) + 22.0);
    let _ = write!(
        html,
        "<h2>How deep rollbacks went</h2><div class=\"wide\"><svg viewBox=\"0 0 {width} {height}\" role=\"img\" \
         style=\"max-width:{width}px\">"
    );
    let mut text = |x: f64, y: f64, anchor: &str, class: &str, words: &str| {
        let _ = write!(
            html,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    };
    for depth in 1..=deepest {
        let middle = NAMES + CELL.0 * (depth as f64 - 0.5);
        text(middle, 16.0, "middle", "tick", &depth.to_string());
    }
    text(width, 16.0, "end", "tick", "rollbacks");
    text(
        NAMES + CELL.0 * deepest as f64 / 2.0,
        height - 4.0,
        "middle",
        "label",
        "frames that were stepped again",
    );
    for (index, row) in rows.iter().enumerate() {
        let base = CELL.1 * (index as f64 + 1.0) + 17.0;
        text(NAMES - 10.0, base, "end", "name", row.name);
        text(width, base, "end", "tick", &grouped(row.figures.rollbacks));
    }
    for (index, row) in rows.iter().enumerate() {
        for (depth, count) in row.figures.depths.iter().enumerate().take(deepest + 1).skip(1) {
            let share = *count as f64 / row.figures.rollbacks.max(1) as f64;
            if *count == 0 {
                continue;
            }
            // Rare depths are what one looks for: they are not to vanish.
            let opacity = 0.08 + 0.92 * share.sqrt();
            let (x, y) = (NAMES + CELL.0 * (depth as f64 - 1.0), CELL.1 * (index as f64 + 1.0));
            let _ = write!(
                html,
                "<rect class=\"heat\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{}\" height=\"{}\" fill-opacity=\"{opacity:.2}\">\
                 <title>{}: depth {depth}, {:.2} % of {}</title></rect>",
                x + 1.0,
                CELL.0 - 2.0,
                CELL.1 - 2.0,
                row.name,
                share * 100.0,
                grouped(row.figures.rollbacks)
            );
        }
    }
    html.push_str("</svg></div>");
}

//! The figures of a training: the frame data of the last move, and the last inputs.

use super::hud::{GOLD, INK, PAPER};
use crate::picture::DrillView;
use crate::training::{Contact, Held, MoveReport};
use stage::glyphs::{self, Style, write, write_centered};
use stage::{Canvas, Cells, Point, at};

/// The figures as a line: `heavy: start-up 8, active 4, recovery 15, on hit +3`.
pub fn line(report: &MoveReport) -> String {
    let [startup, active, recovery] = report.frames();
    // The table has no active frames for a blow that leaves the hand.
    let active = match report.flight_frames {
        Some(frames) => format!("in flight {frames}"),
        None if active == 0 => "in flight 0".to_owned(),
        None => format!("active {active}"),
    };
    let met = match report.contact {
        Contact::Nothing => "no contact".to_owned(),
        contact => {
            let on = if contact == Contact::Hit { "hit" } else { "block" };
            let frames =
                report.advantage_frames.map_or_else(|| "...".to_owned(), |frames| format!("{frames:+}"));
            format!("on {on} {frames}")
        }
    };
    format!("{}: start-up {startup}, {active}, recovery {recovery}, {met}", report.name())
}

/// Paints the figures into the window.
pub fn paint(canvas: &mut dyn Canvas, view: &DrillView) {
    const PITCH: f32 = 20.0;
    for (row, held) in view.inputs.iter().enumerate() {
        let place = at(20.0, 122.0 + PITCH * row as f32);
        let fade = 1.0 - row as f32 * 0.06;
        canvas.rect(place.plus(-8.0, -4.0), 104.0, PITCH - 2.0, INK.faded(0.55 * fade));
        paint_arrow(canvas, place.plus(6.0, 5.0), held);
        write(canvas, &held.blows(), place.plus(22.0, 0.0), Style::new(1.8, 2.0, GOLD.faded(fade)));
        write(
            canvas,
            &held.frames.to_string(),
            place.plus(66.0, 1.0),
            Style::new(1.4, 1.5, PAPER.faded(fade)),
        );
    }
    if let Some(report) = &view.report {
        let text = line(report);
        let half = glyphs::width(&text, 1.9) / 2.0 + 16.0;
        let (middle, bottom) = (canvas.width() / 2.0, canvas.height());
        canvas.rect(at(middle - half, bottom - 40.0), half * 2.0, 26.0, INK.faded(0.8));
        write_centered(canvas, &text, at(middle, bottom - 32.0), Style::new(1.9, 2.1, PAPER));
    }
}

/// A stroke toward the held direction, or a dot for none.
fn paint_arrow(canvas: &mut dyn Canvas, middle: Point, held: &Held) {
    let (x, y) = held.direction();
    if (x, y) == (0, 0) {
        return canvas.disc(middle, 2.0, PAPER.faded(0.7));
    }
    let length = f32::from(x).hypot(f32::from(y));
    let (dx, dy) = (f32::from(x) / length, -f32::from(y) / length);
    let tip = middle.plus(dx * 7.0, dy * 7.0);
    canvas.line(middle.plus(-dx * 6.0, -dy * 6.0), tip, 2.4, PAPER);
    for side in [-1.0, 1.0] {
        let barb = tip.plus(-dx * 5.0 - dy * 4.0 * side, -dy * 5.0 + dx * 4.0 * side);
        canvas.line(tip, barb, 2.4, PAPER);
    }
}

/// The direction as a character of the terminal.
fn arrow(held: &Held) -> char {
    match held.direction() {
        (-1, 1) => '↖',
        (0, 1) => '↑',
        (1, 1) => '↗',
        (-1, 0) => '←',
        (1, 0) => '→',
        (-1, -1) => '↙',
        (0, -1) => '↓',
        (1, -1) => '↘',
        _ => '·',
    }
}

/// The columns of a terminal that the list of inputs takes from the left.
pub const INPUT_COLUMNS: i32 = 12;

/// Writes the figures into the terminal.
pub fn write_words(cells: &mut Cells, view: &DrillView) {
    const TOP: usize = 6;
    let rows = cells.rows().saturating_sub(TOP + 3);
    for (row, held) in view.inputs.iter().take(rows).enumerate() {
        let text = format!(" {} {:<4}{:>3} ", arrow(held), held.blows(), held.frames);
        cells.write(1, (TOP + row) as i32, &text, PAPER, Some(INK));
    }
    if let Some(report) = &view.report {
        let bottom = cells.rows() as i32 - 1;
        let text = format!("  {}  ", line(report));
        if text.chars().count() <= cells.columns() {
            return cells.write_centered(bottom, &text, PAPER, Some(INK));
        }
        // A narrow terminal has room for the numbers alone.
        let [startup, active, recovery] = report.frames();
        let active = report.flight_frames.unwrap_or(active);
        let short = text.rsplit(", ").next().unwrap_or_default().trim();
        let text = format!("  {}: {startup}/{active}/{recovery} {short}  ", report.name());
        cells.write_centered(bottom, &text, PAPER, Some(INK));
    }
}

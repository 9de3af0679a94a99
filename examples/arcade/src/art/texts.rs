//! Score, lives, banners and panels as the terminal shows them: shapes in pixels, words in characters.

use super::hud::wrapped;
use super::{GOLD, INK, LIVERIES, PAPER, Picture, RED, banner};
use crate::keys::LINES;
use stage::glyphs::{self, Style, write_centered};
use stage::{Canvas, Cells, Raster, at};

/// Draws the pixels under the words.
pub(super) fn paint_pixels(raster: &mut Raster, picture: &Picture) {
    let (width, height) = (raster.width(), raster.height());
    raster.rect(at(0.0, 0.0), width, 2.0, INK);
    if let (None, Some((big, _, _))) = (&picture.panel, banner(&picture.scene)) {
        let unit = if glyphs::width(&big, 2.0) + 6.0 < width && height > 60.0 { 2.0 } else { 1.0 };
        let tall = 6.0 * unit + 9.0;
        let top = (height * 0.36).floor() - (height * 0.36).floor() % 2.0;
        raster.rect(at(0.0, top), width, tall, INK.faded(0.7));
        let color = if big == "WARNING" || big == "GAME OVER" { RED } else { GOLD };
        raster.rect(at(0.0, top), width, 1.0, color);
        // On the centres of pixels the strokes are crisp.
        let half = (glyphs::width(&big, unit) / 2.0).fract();
        let place = at((width / 2.0).floor() + half + 0.5, top + 2.5);
        write_centered(raster, &big, place, Style::new(unit, unit, color));
    }
    if let Some(panel) = &picture.panel {
        raster.rect(at(0.0, 0.0), width, height, INK.faded(0.6));
        let rows = panel.lines.iter().flat_map(|line| wrapped(line, width as usize - 12)).count() + 4;
        let tall = rows as f32 * 2.0;
        let top = ((height - tall) / 2.0).floor();
        raster.rect(at(3.0, top - top % 2.0), width - 6.0, tall, INK);
    }
}

/// Writes the words.
pub(super) fn write(cells: &mut Cells, picture: &Picture) {
    let (columns, rows) = (cells.columns() as i32, cells.rows() as i32);
    let scene = &picture.scene;
    cells.write(1, 0, &format!("{:07}", scene.score), GOLD, Some(INK));
    cells.write_centered(0, &format!("level {}", scene.level), PAPER, Some(INK));
    let mut column = columns - 1;
    for ship in scene.ships.iter().rev() {
        let color = LIVERIES[scene.seat(*ship) % LIVERIES.len()];
        let lives = scene.lives_of(*ship).unwrap_or(0);
        let text = if lives == 0 { "out".to_owned() } else { "►".repeat(usize::from(lives)) };
        cells.write_ending(column, 0, &text, color, Some(INK));
        column -= text.chars().count() as i32 + 1;
        if Some(*ship) == scene.own && scene.ships.len() > 1 {
            cells.write_ending(column, 0, &picture.name, color, Some(INK));
            column -= picture.name.chars().count() as i32 + 1;
        }
    }
    if let (None, Some((big, small, _))) = (&picture.panel, banner(scene)) {
        let (width, height) = (columns as f32, rows as f32 * 2.0);
        let unit = if glyphs::width(&big, 2.0) + 6.0 < width && height > 60.0 { 2.0 } else { 1.0 };
        let top = (height * 0.36).floor();
        let row = ((top - top % 2.0) + 6.0 * unit + 6.0) / 2.0;
        cells.write_centered(row as i32, &small.to_lowercase(), PAPER, None);
    }
    if picture.hints && picture.panel.is_none() {
        let longest = |pick: fn(&(&str, &str)) -> usize| LINES.iter().map(pick).max().unwrap_or(0) as i32;
        let (key, text) = (longest(|(key, _)| key.len()), longest(|(_, text)| text.len()));
        let middle = (columns - key - text - 2) / 2 + key;
        for (line, (key, text)) in (0..).zip(LINES) {
            let row = rows * 3 / 5 + 1 + line;
            cells.write_ending(middle, row, key, GOLD, Some(INK));
            cells.write(middle, row, &format!("  {text}"), PAPER, Some(INK));
        }
    }
    if let Some(note) = &picture.note {
        cells.write_centered(rows - 1, &note.text, note.color(), Some(INK));
    }
    if let Some(lines) = &picture.net {
        cells.write(1, rows - 2, &lines.join("   "), PAPER, Some(INK));
    }
    if picture.raw {
        cells.write_ending(columns - 1, rows - 1, "raw updates: +", PAPER, Some(INK));
    }
    if let Some(panel) = &picture.panel {
        let lines: Vec<String> =
            panel.lines.iter().flat_map(|line| wrapped(line, cells.columns().saturating_sub(12))).collect();
        let top = (rows - lines.len() as i32 - 4) / 2;
        cells.write_centered(top, &panel.title, GOLD, None);
        for (line, text) in (0..).zip(&lines) {
            cells.write_centered(top + 2 + line, text, PAPER, None);
        }
        cells.write_centered(top + 3 + lines.len() as i32, &panel.footer, PAPER.darker(0.4), None);
    }
}

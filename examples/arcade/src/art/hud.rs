//! Score, lives, banners, panels and figures, as the window shows them.

use super::{GOLD, INK, LIVERIES, PAPER, Panel, Picture, RED, banner};
use crate::keys::LINES;
use stage::glyphs::{self, Style, write, write_centered, write_ending};
use stage::{Canvas, Point, at};

/// The layout is for a window of this width.
const LAYOUT: f32 = 960.0;

pub(super) fn paint(canvas: &mut dyn Canvas, picture: &Picture) {
    let (scale, width, height) = (canvas.width() / LAYOUT, canvas.width(), canvas.height());
    let scene = &picture.scene;
    canvas.gradient(at(0.0, 0.0), width, 44.0 * scale, INK.faded(0.85), INK.faded(0.0));
    let style = |unit: f32, color| Style::new(unit * scale, unit * 0.72 * scale, color);
    write(canvas, "SCORE", at(22.0 * scale, 14.0 * scale), style(1.5, PAPER.darker(0.4)));
    write(canvas, &format!("{:07}", scene.score), at(80.0 * scale, 11.0 * scale), style(2.4, GOLD));
    let level = format!("LEVEL {}", scene.level);
    write_centered(canvas, &level, at(width / 2.0, 12.0 * scale), style(2.0, PAPER));
    paint_lives(canvas, picture, scale);
    if picture.panel.is_none()
        && let Some((big, small, age)) = banner(scene)
    {
        paint_banner(canvas, &big, &small, age, scale);
    }
    if picture.hints && picture.panel.is_none() {
        // Behind the words the field is dark: shots would fly through them.
        let tall = 22.0 * scale * LINES.len() as f32 + 14.0 * scale;
        canvas.rect(at(width * 0.22, height * 0.60 - 12.0 * scale), width * 0.66, tall, INK.faded(0.8));
        for (line, (key, text)) in (0_u8..).zip(LINES) {
            let y = height * 0.60 + 22.0 * f32::from(line) * scale;
            write_ending(canvas, key, at(width * 0.40, y), style(1.7, GOLD));
            write(canvas, text, at(width * 0.42, y), style(1.7, PAPER));
        }
    }
    if let Some(note) = &picture.note {
        let place = at(width / 2.0, height - 26.0 * scale);
        write_centered(canvas, &note.text, place, style(1.7, note.color()));
    }
    if let Some(lines) = &picture.net {
        for (line, text) in (0_u8..).zip(lines) {
            let place = at(22.0 * scale, height - (78.0 - 18.0 * f32::from(line)) * scale);
            write(canvas, text, place, style(1.5, PAPER.faded(0.85)));
        }
    }
    if picture.raw {
        let place = at(width - 22.0 * scale, height - 24.0 * scale);
        write_ending(canvas, "RAW UPDATES: +", place, style(1.5, PAPER));
    }
    if let Some(panel) = &picture.panel {
        paint_panel(canvas, panel, scale);
    }
}

/// The small ships that each player has left.
fn paint_lives(canvas: &mut dyn Canvas, picture: &Picture, scale: f32) {
    let scene = &picture.scene;
    let mut x = canvas.width() - 26.0 * scale;
    for ship in scene.ships.iter().rev() {
        let color = LIVERIES[scene.seat(*ship) % LIVERIES.len()];
        let lives = scene.lives_of(*ship).unwrap_or(0);
        if lives == 0 {
            write_ending(
                canvas,
                "OUT",
                at(x + 8.0 * scale, 13.0 * scale),
                Style::new(1.5 * scale, 1.1 * scale, color.darker(0.4)),
            );
            x -= 34.0 * scale;
        }
        for _ in 0..lives {
            let p = |dx: f32, dy: f32| at(x + dx * scale, (18.0 + dy) * scale);
            canvas.polygon(&[p(-7.0, -6.0), p(9.0, 0.0), p(-7.0, 6.0), p(-4.0, 0.0)], color);
            x -= 19.0 * scale;
        }
        if Some(*ship) == scene.own && scene.ships.len() > 1 {
            let style = Style::new(1.3 * scale, scale, color);
            write_ending(canvas, &picture.name, at(x + 8.0 * scale, 14.0 * scale), style);
            x -= glyphs::width(&picture.name, 1.3) * scale + 12.0 * scale;
        }
        x -= 14.0 * scale;
    }
}

fn paint_banner(canvas: &mut dyn Canvas, big: &str, small: &str, age: u32, scale: f32) {
    let (width, height) = (canvas.width(), canvas.height());
    let come = (age as f32 / 14.0).min(1.0);
    let tall = 104.0 * scale * come;
    let middle = height * 0.42;
    canvas.rect(at(0.0, middle - tall / 2.0), width, tall, INK.faded(0.62));
    let color = if big == "WARNING" || big == "GAME OVER" { RED } else { GOLD };
    for side in [-0.5, 0.5] {
        canvas.rect(at(0.0, middle + tall * side), width, 2.0 * scale, color);
    }
    if come < 1.0 {
        return;
    }
    let blink = big == "WARNING" && age / 12 % 2 == 1;
    let place = |y: f32| at(width / 2.0, middle + y * scale);
    if !blink {
        let style = Style::new(6.4 * scale, 4.2 * scale, color).slanted(0.12);
        write_centered(
            canvas,
            big,
            place(-34.0).plus(3.0 * scale, 3.0 * scale),
            Style { color: INK, ..style },
        );
        write_centered(canvas, big, place(-34.0), style);
    }
    write_centered(canvas, small, place(24.0), Style::new(2.2 * scale, 1.5 * scale, PAPER));
}

fn paint_panel(canvas: &mut dyn Canvas, panel: &Panel, scale: f32) {
    let (width, height) = (canvas.width(), canvas.height());
    canvas.rect(at(0.0, 0.0), width, height, INK.faded(0.6));
    let unit = 2.0 * scale;
    let lines: Vec<String> = panel.lines.iter().flat_map(|line| wrapped(line, 52)).collect();
    let tall = (130.0 + 28.0 * lines.len() as f32) * scale;
    let (wide, top) = (760.0 * scale, (height - tall) / 2.0);
    let corner: Point = at((width - wide) / 2.0, top);
    canvas.rect(corner, wide, tall, INK.faded(0.92));
    canvas.rect(corner, wide, 3.0 * scale, GOLD);
    let middle = |y: f32| at(width / 2.0, top + y * scale);
    write_centered(canvas, &panel.title, middle(26.0), Style::new(3.4 * scale, 2.2 * scale, GOLD));
    for (line, text) in (0_u8..).zip(&lines) {
        write_centered(
            canvas,
            text,
            middle(72.0 + 28.0 * f32::from(line)),
            Style::new(unit, unit * 0.7, PAPER),
        );
    }
    let footer = middle(96.0 + 28.0 * lines.len() as f32);
    write_centered(canvas, &panel.footer, footer, Style::new(1.5 * scale, 1.1 * scale, PAPER.darker(0.4)));
    debug_assert!(glyphs::width(&panel.title, 1.0) < LAYOUT);
}

/// A text in lines of at most so many characters.
pub(super) fn wrapped(text: &str, characters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= characters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

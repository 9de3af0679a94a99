//! Bars, clock, banners, panels and the net graph, as the terminal shows them: shapes in pixels, words in characters.

use rebout::Player;

use stage::glyphs::{self, Style, write_centered};
use stage::{Canvas, Cells, Raster, at, rgb};

use super::graph;
use super::hud::{GOLD, INK, PAPER, RED, health_color, tone_color};
use super::sheet::Sheet;
use super::wrap::wrap;
use crate::picture::{Banner, Panel, Picture, banner};
use crate::scene::Scene;
use games::duel::{FULL_HEALTH, ROUNDS_TO_WIN};

/// Columns that the clock takes in the middle.
const CLOCK_COLUMNS: f32 = 17.0;
/// The pixels from above that bars cover.
pub const BARS: f32 = 6.0;
/// A lower terminal has a clock of plain letters: heads would be behind a large one.
const LARGE_CLOCK_ROWS: usize = 30;
const NAME_ROW: i32 = 3;
/// The first row of a message.
const MESSAGE_ROW: i32 = 5;

/// Draws the pixels under the words.
pub fn paint_pixels(raster: &mut Raster, picture: &Picture) {
    let scene = &picture.scene;
    for player in Player::BOTH {
        paint_bar(raster, scene, player);
    }
    let middle = raster.width() / 2.0;
    if raster.height() as usize / 2 >= LARGE_CLOCK_ROWS {
        raster.rect(at(middle - 8.0, 0.0), 16.0, 9.0, INK.faded(0.85));
        let style = Style::new(1.0, 1.0, clock_color(scene));
        write_centered(raster, &format!("{:02}", scene.duel.seconds()), at(middle + 0.5, 1.5), style);
    } else {
        raster.rect(at(middle - 4.0, 0.0), 8.0, 6.0, INK);
    }
    if !picture.is_covered()
        && let Some(banner) = banner(scene)
    {
        paint_banner(raster, &banner);
    }
    if let Some(net) = &picture.net {
        graph::paint_pixels(raster, net);
    }
    if let Some(panel) = &picture.panel {
        paint_sheet(raster, panel);
    }
    if let Some(tape) = &picture.tape {
        let (width, height) = (raster.width(), raster.height());
        let share = tape.share(tape.frame);
        raster.rect(at(2.0, height - 4.0), width - 4.0, 2.0, INK.faded(0.8));
        raster.rect(at(2.0, height - 4.0), (width - 4.0) * share, 2.0, GOLD);
        for mark in &tape.marks {
            let x = (2.0 + (width - 4.0) * tape.share(mark.frame)).floor();
            raster.rect(at(x, height - 5.0), 1.0, 4.0, tone_color(mark.tone));
        }
    }
}

fn clock_color(scene: &Scene) -> stage::Color {
    let hurry = scene.duel.seconds() <= 10 && scene.age % 30 < 15;
    if hurry { RED.lighter(0.2) } else { PAPER }
}

fn paint_bar(raster: &mut Raster, scene: &Scene, player: Player) {
    let length = (raster.width() / 2.0 - CLOCK_COLUMNS / 2.0 - 2.0).floor();
    let inner = |share: f32| {
        let middle = raster.width() / 2.0;
        let from = (middle - CLOCK_COLUMNS / 2.0).floor();
        if player == Player::One {
            (from - length * share, length * share)
        } else {
            (raster.width() - from, length * share)
        }
    };
    let full = f32::from(FULL_HEALTH);
    let health = f32::from(scene.duel.fighter(player).health) / full;
    let trail = scene.sides[player.index()].trail / full;
    let bars = [(1.0, rgb(0x3A_16_2A)), (trail, RED), (health, health_color(health))]
        .map(|(share, color)| (inner(share), color));
    let ((x, width), _) = bars[0];
    raster.rect(at(x - 1.0, 1.0), width + 2.0, 4.0, INK);
    for ((x, width), color) in bars {
        raster.gradient(at(x, 2.0), width, 2.0, color.lighter(0.25), color);
    }
}

fn paint_banner(raster: &mut Raster, banner: &Banner) {
    let (width, height) = (raster.width(), raster.height());
    let wide = glyphs::width(&banner.text, 1.0) + 4.0;
    if wide > width {
        return;
    }
    let unit = (width * 0.9 / wide).clamp(1.0, 3.0).floor();
    let middle = (height * 0.31).floor();
    let tall = 6.0 * unit + 7.0;
    let top = (middle - tall / 2.0).floor();
    raster.rect(at(0.0, top), width, tall, INK.faded(0.5));
    raster.rect(at(0.0, top), width, 1.0, GOLD);
    raster.rect(at(0.0, top + tall - 1.0), width, 1.0, GOLD);
    // On the centres of pixels the strokes are crisp.
    let half = (glyphs::width(&banner.text, unit) / 2.0).fract();
    let place = at((width / 2.0).floor() + half + 0.5, top + 3.5);
    let style = Style::new(unit, unit, PAPER);
    write_centered(raster, &banner.text, place.plus(1.0, 1.0), Style { color: RED.darker(0.3), ..style });
    write_centered(raster, &banner.text, place, style);
}

/// The words.
pub fn paint(cells: &mut Cells, picture: &Picture) {
    let scene = &picture.scene;
    let columns = cells.columns() as i32;
    let sheet = picture.panel.as_ref().map(|panel| (panel, Sheet::of(panel, columns, cells.rows() as i32)));
    // A sheet that needs all rows lies over names and clock.
    let free_rows = sheet.as_ref().map_or(i32::MAX, |(_, sheet)| sheet.top);
    if cells.rows() < LARGE_CLOCK_ROWS && free_rows > 1 {
        cells.write_centered(1, &format!(" {:02} ", scene.duel.seconds()), clock_color(scene), Some(INK));
    }
    let message = picture.message.as_ref().map(|message| wrap(&message.text, cells.columns() - 8));
    // Combos are counted below whatever else is said.
    let below = MESSAGE_ROW + message.as_ref().map_or(1, Vec::len) as i32;
    for player in Player::BOTH {
        if free_rows > NAME_ROW {
            paint_nameplate(cells, scene, player);
        }
        let side = &scene.sides[player.index()];
        if side.combo_frames > 0 && sheet.is_none() {
            let text = format!(" {} HITS  {} ", side.combo_hits, side.combo_damage);
            if player == Player::One {
                cells.write(2, below, &text, INK, Some(GOLD));
            } else {
                cells.write_ending(columns - 2, below, &text, INK, Some(GOLD));
            }
        }
    }
    if let Some(net) = &picture.net {
        graph::write_words(cells, net);
    }
    if let Some(corner) = picture.corner.as_ref().filter(|_| sheet.is_none()) {
        cells.write_ending(columns, cells.rows() as i32 - 1, &format!(" {corner} "), PAPER, Some(INK));
    }
    if !picture.is_covered()
        && let Some(banner) = banner(scene)
    {
        let height = cells.rows() as f32 * 2.0;
        let wide = glyphs::width(&banner.text, 1.0) + 4.0;
        if wide > columns as f32 {
            cells.write_centered((height * 0.155) as i32, &format!("  {}  ", banner.text), PAPER, Some(INK));
        }
        let unit = (columns as f32 * 0.9 / wide).clamp(1.0, 3.0).floor();
        let below = ((height * 0.31 + 3.0 * unit + 6.0) / 2.0) as i32 + 1;
        if !banner.below.is_empty() {
            cells.write_centered(below, &format!("  {}  ", banner.below), GOLD, Some(INK));
        }
    }
    if let Some(tape) = &picture.tape {
        let state = if tape.paused { "paused".to_owned() } else { format!("{}x", tape.speed) };
        let text = format!(" frame {} of {}  {state} ", tape.frame, tape.frames);
        cells.write(2, cells.rows() as i32 - 3, &text, PAPER, Some(INK));
    }
    if let Some((panel, sheet)) = &sheet {
        paint_panel(cells, panel, sheet);
    }
    if let (Some(lines), Some(message)) = (message, &picture.message) {
        let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        for (row, line) in (MESSAGE_ROW..).zip(lines) {
            cells.write_centered(row, &format!("  {line:^widest$}  "), tone_color(message.tone), Some(INK));
        }
    }
}

fn paint_nameplate(cells: &mut Cells, scene: &Scene, player: Player) {
    let columns = cells.columns() as i32;
    let fighter = scene.duel.fighter(player);
    let name: String = scene.names[player.index()].chars().take(20).collect();
    let marks: String =
        (0..ROUNDS_TO_WIN).map(|mark| if fighter.rounds > mark { "● " } else { "○ " }).collect();
    let score = if fighter.matches > 0 { format!("{} won", fighter.matches) } else { String::new() };
    let gap = CLOCK_COLUMNS as i32 / 2 + 2;
    if player == Player::One {
        cells.write(2, NAME_ROW, &name, PAPER, None);
        cells.write_ending(columns / 2 - gap, NAME_ROW, &format!("{score} {marks}"), GOLD, None);
    } else {
        cells.write_ending(columns - 2, NAME_ROW, &name, PAPER, None);
        cells.write(columns / 2 + gap, NAME_ROW, &format!(" {marks}{score}"), GOLD, None);
    }
}

fn paint_sheet(raster: &mut Raster, panel: &Panel) {
    let sheet = Sheet::of(panel, raster.width() as i32, raster.height() as i32 / 2);
    let corner = at(sheet.left as f32, sheet.top as f32 * 2.0);
    let (wide, tall) = (sheet.wide as f32, sheet.tall as f32 * 2.0);
    raster.rect(corner, wide, tall, INK);
    raster.rect(corner, wide, 1.0, GOLD);
    raster.rect(corner.plus(0.0, tall - 1.0), wide, 1.0, GOLD);
    if !sheet.large {
        return;
    }
    let letters = glyphs::width(&panel.title, 1.0);
    let left = (corner.x + (wide - letters) / 2.0).floor() + 0.5;
    for (shift, color) in [(1.0, RED.darker(0.2)), (0.0, PAPER)] {
        glyphs::write(
            raster,
            &panel.title,
            at(left + shift, corner.y + 2.5 + shift),
            Style::new(1.0, 1.0, color),
        );
    }
}

fn paint_panel(cells: &mut Cells, panel: &Panel, sheet: &Sheet) {
    if !sheet.large {
        cells.write_centered(sheet.top + 1, &panel.title.to_uppercase(), PAPER, None);
    }
    for (row, (label, text)) in (sheet.first_line()..).zip(sheet.lines.iter().take(sheet.room())) {
        if label.is_empty() {
            cells.write_centered(row, text, PAPER, None);
        } else {
            cells.write_ending(sheet.spine, row, label, GOLD, None);
            cells.write(sheet.spine + 2, row, text, PAPER, None);
        }
    }
    if sheet.lines.len() > sheet.room() {
        cells.write_ending(sheet.left + sheet.wide - 2, sheet.first_footer() - 1, "...", GOLD, None);
    }
    for (row, line) in (sheet.first_footer()..).zip(&sheet.footer) {
        cells.write_centered(row, line, GOLD, None);
    }
}

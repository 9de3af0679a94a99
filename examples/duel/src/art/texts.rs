//! Bars, clock, banners, panels and the net graph, as the terminal shows them: shapes in pixels, words in characters.

use rebout::Player;

use stage::glyphs::{self, Style, write_centered};
use stage::{Canvas, Cells, Raster, at, characters, rgb};

use super::choosing;
use super::drill::INPUT_COLUMNS;
use super::graph;
use super::hud::{GOLD, INK, PAPER, RED, health_color, tone_color};
use super::sheet::Sheet;
use super::wrap::wrap;
use crate::picture::{Banner, Panel, Picture, banner};
use crate::scene::Scene;
use games::duel::{FULL_HEALTH, Phase};

/// Columns that the clock takes in the middle.
const CLOCK_COLUMNS: f32 = 17.0;
/// The pixels from above that bars cover.
pub const BARS: f32 = 6.0;
/// A lower terminal has a clock of plain characters: heads would be behind a large one.
const LARGE_CLOCK_ROWS: usize = 30;
const NAME_ROW: i32 = 3;
/// The first row of a message.
const MESSAGE_ROW: i32 = 5;

/// Draws the pixels under the words.
pub fn paint_pixels(raster: &mut Raster, picture: &Picture) {
    let scene = &picture.scene;
    let middle = raster.width() / 2.0;
    let is_choosing = scene.duel.phase == Phase::Choose;
    if is_choosing {
        choosing::paint_pixels(raster, picture.is_covered());
    } else {
        Player::BOTH.into_iter().for_each(|player| paint_bar(raster, scene, player));
    }
    if is_choosing {
        // The rows of the clock belong to the title.
    } else if raster.height() as usize / 2 >= LARGE_CLOCK_ROWS {
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
    if let Some(replay_view) = picture.replay_view.as_ref().filter(|_| picture.panel.is_none()) {
        let below = if picture.net.is_some() { 2 * graph::NET_ROWS } else { 0 };
        let (width, height) = (raster.width(), raster.height() - below as f32);
        let share = replay_view.share(replay_view.frame);
        raster.rect(at(2.0, height - 4.0), width - 4.0, 2.0, INK.faded(0.8));
        raster.rect(at(2.0, height - 4.0), (width - 4.0) * share, 2.0, GOLD);
        for mark in &replay_view.marks {
            let x = (2.0 + (width - 4.0) * replay_view.share(mark.frame)).floor();
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

/// The band of a banner, in pixels from above.
struct Band {
    top: f32,
    tall: f32,
    /// The size of its characters.
    unit: f32,
}

impl Band {
    /// The band below the names; `None` where the large characters have no room, or are boxes where the terminal has
    /// characters.
    fn of(banner: &Banner, width: f32, height: f32) -> Option<Self> {
        let wide = glyphs::width(&banner.text, 1.0) + 4.0;
        if wide > width || !glyphs::knows(&banner.text) {
            return None;
        }
        let unit = (width * 0.9 / wide).clamp(1.0, 3.0).floor();
        let tall = 6.0 * unit + 7.0;
        let names_end = (NAME_ROW as f32 + 1.0) * 2.0;
        let top = ((height * 0.31).floor() - tall / 2.0).floor().max(names_end);
        Some(Self { top, tall, unit })
    }

    /// The first row of words that is free below the band.
    fn row_below(&self) -> i32 {
        ((self.top + self.tall) / 2.0).ceil() as i32
    }
}

fn paint_banner(raster: &mut Raster, banner: &Banner) {
    let (width, height) = (raster.width(), raster.height());
    let Some(Band { top, tall, unit }) = Band::of(banner, width, height) else { return };
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
    let is_choosing = scene.duel.phase == Phase::Choose;
    if is_choosing && sheet.is_none() {
        choosing::write_words(cells, picture);
    }
    if cells.rows() < LARGE_CLOCK_ROWS && free_rows > 1 && !is_choosing {
        cells.write_centered(1, &format!(" {:02} ", scene.duel.seconds()), clock_color(scene), Some(INK));
    }
    let message = picture.message.as_ref().map(|message| wrap(&message.text, cells.columns() - 8));
    // Combos are counted below whatever else is said.
    let message_rows = message.as_ref().map_or(1, Vec::len) as i32;
    let banner = banner(scene).filter(|_| !picture.is_covered());
    let message_row = match (&sheet, &banner) {
        // Over the bars rather than over the title of a sheet.
        (Some((_, sheet)), _) => (sheet.top - message_rows).clamp(0, MESSAGE_ROW),
        (None, Some(banner)) => row_beside(banner, cells, message_rows),
        (None, None) if is_choosing => choosing::MESSAGE_ROW,
        (None, None) => MESSAGE_ROW,
    };
    let below = message_row + message_rows;
    for player in Player::BOTH {
        if free_rows > NAME_ROW && !is_choosing {
            paint_nameplate(cells, scene, player);
        }
        let side = &scene.sides[player.index()];
        if side.combo_frames > 0 && sheet.is_none() {
            let text = format!(" {} HITS  {} ", side.combo_hits, side.combo_damage);
            if player == Player::One {
                let column = if picture.has_inputs() { INPUT_COLUMNS + 2 } else { 2 };
                cells.write(column, below, &text, INK, Some(GOLD));
            } else {
                cells.write_ending(columns - 2, below, &text, INK, Some(GOLD));
            }
        }
    }
    if let Some(net) = &picture.net {
        graph::write_words(cells, net);
    }
    if let Some(corner) = picture.corner.as_ref().filter(|_| sheet.is_none() && !is_choosing) {
        cells.write_ending(columns, cells.rows() as i32 - 1, &format!(" {corner} "), PAPER, Some(INK));
    }
    if let Some(banner) = &banner {
        write_banner(cells, banner);
    }
    // A sheet of words needs the room, so the seek bar is left out meanwhile.
    if let Some(replay_view) = picture.replay_view.as_ref().filter(|_| picture.panel.is_none()) {
        let state = replay_view.words();
        let text = format!(" frame {} of {}  {state} ", replay_view.frame, replay_view.frames);
        let below = if picture.net.is_some() { graph::NET_ROWS } else { 0 };
        cells.write(2, (cells.rows() - below) as i32 - 3, &text, PAPER, Some(INK));
    }
    if let Some((panel, sheet)) = &sheet {
        paint_panel(cells, panel, sheet);
    }
    if let (Some(lines), Some(message)) = (message, &picture.message) {
        let widest = lines.iter().map(|line| characters::width(line)).max().unwrap_or(0);
        for (row, line) in (message_row..).zip(lines) {
            cells.write_centered(
                row,
                &format!("  {}  ", characters::centered(&line, widest)),
                tone_color(message.tone),
                Some(INK),
            );
        }
    }
}

/// The size of a terminal in pixels.
fn pixels(cells: &Cells) -> (f32, f32) {
    (cells.columns() as f32, cells.rows() as f32 * 2.0)
}

/// The rows of a banner in words: its first, and the first below it.
fn banner_rows(banner: &Banner, cells: &Cells) -> (i32, i32) {
    let (width, height) = pixels(cells);
    match Band::of(banner, width, height) {
        Some(band) => ((band.top / 2.0) as i32, band.row_below()),
        None => ((height * 0.155) as i32, (height * 0.155) as i32 + 1),
    }
}

/// The first of `rows` rows for a message: above a banner where it has room there, otherwise below.
fn row_beside(banner: &Banner, cells: &Cells, rows: i32) -> i32 {
    let (first, below) = banner_rows(banner, cells);
    let is_below = MESSAGE_ROW + rows > first;
    let below = below + if banner.below.is_empty() { 0 } else { 2 };
    if is_below { below } else { MESSAGE_ROW }
}

fn write_banner(cells: &mut Cells, banner: &Banner) {
    let (width, height) = pixels(cells);
    let (first, below) = banner_rows(banner, cells);
    if Band::of(banner, width, height).is_none() {
        cells.write_centered(first, &format!("  {}  ", banner.text), PAPER, Some(INK));
    }
    if !banner.below.is_empty() {
        cells.write_centered(below, &format!("  {}  ", banner.below), GOLD, Some(INK));
    }
}

fn paint_nameplate(cells: &mut Cells, scene: &Scene, player: Player) {
    let columns = cells.columns() as i32;
    let fighter = scene.duel.fighter(player);
    let marks: String =
        (0..scene.duel.rounds_to_win()).map(|mark| if fighter.rounds > mark { "● " } else { "○ " }).collect();
    let score = if fighter.matches > 0 { format!("{} won", fighter.matches) } else { String::new() };
    let gap = CLOCK_COLUMNS as i32 / 2 + 2;
    let won = if player == Player::One { format!("{score} {marks}") } else { format!(" {marks}{score}") };
    // A long name ends before the score.
    let room = columns / 2 - gap - characters::width(&won) as i32 - 2;
    let name = characters::head(&scene.names[player.index()], room.max(0) as usize);
    if player == Player::One {
        cells.write(2, NAME_ROW, name, PAPER, None);
        cells.write_ending(columns / 2 - gap, NAME_ROW, &won, GOLD, None);
    } else {
        cells.write_ending(columns - 2, NAME_ROW, name, PAPER, None);
        cells.write(columns / 2 + gap, NAME_ROW, &won, GOLD, None);
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
    let characters = glyphs::width(&panel.title, 1.0);
    let left = (corner.x + (wide - characters) / 2.0).floor() + 0.5;
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

//! Bars, clock, banners, panels and the net graph, as the terminal shows them: shapes in pixels, words in characters.

use rebout::Player;

use stage::glyphs::{self, Style, write_centered};
use stage::{Canvas, Cells, Raster, at, rgb};

use super::hud::{GOLD, INK, PAPER, RED, health_color, tone_color};
use crate::netgraph::NetGraph;
use crate::picture::{Banner, Panel, Picture, banner};
use crate::scene::Scene;
use games::duel::{FULL_HEALTH, ROUNDS_TO_WIN};

/// Columns that the clock takes in the middle.
const CLOCK_COLUMNS: f32 = 17.0;
/// The net graph is a strip of so many rows along the floor, below the fighters' feet.
const NET_ROWS: usize = 5;
const NET_LABEL: i32 = 12;

/// Draws the pixels under the words.
pub fn paint_pixels(raster: &mut Raster, picture: &Picture) {
    let scene = &picture.scene;
    for player in Player::BOTH {
        paint_bar(raster, scene, player);
    }
    let middle = raster.width() / 2.0;
    raster.rect(at(middle - 8.0, 0.0), 16.0, 9.0, INK.faded(0.85));
    let hurry = scene.duel.seconds() <= 10 && scene.age % 30 < 15;
    let style = Style::new(1.0, 1.0, if hurry { RED.lighter(0.2) } else { PAPER });
    write_centered(raster, &format!("{:02}", scene.duel.seconds()), at(middle + 0.5, 1.5), style);
    if picture.panel.is_none()
        && let Some(banner) = banner(scene)
    {
        paint_banner(raster, &banner);
    }
    if let Some(net) = &picture.net {
        paint_plot(raster, net);
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

/// Columns that one column of figures takes, and where the plot begins.
fn net_columns(columns: usize) -> (i32, i32) {
    let figures = if columns >= 110 { 33 } else { 30 };
    (figures, figures * 2)
}

fn paint_plot(raster: &mut Raster, net: &NetGraph) {
    const MAX_FRAMES: f32 = 10.0;
    let (wide, tall) = (raster.width(), NET_ROWS as f32 * 2.0);
    let top = raster.height() - tall;
    raster.rect(at(0.0, top), wide, tall, INK.faded(0.85));
    let left = net_columns(wide as usize).1 as f32;
    let columns = (wide - left - 1.0).max(0.0) as usize;
    let samples: Vec<_> = net.samples().collect();
    // A column is as many frames as it must be, and shows the worst of them.
    for (column, frames) in samples.rchunks(4).take(columns).enumerate() {
        let x = wide - 2.0 - column as f32;
        let most = |pick: fn(&crate::netgraph::NetSample) -> u32| {
            frames.iter().map(|sample| pick(sample)).max().unwrap_or(0) as f32
        };
        let bar = most(|sample| sample.rollback_frames).min(MAX_FRAMES) / MAX_FRAMES * tall;
        let dot = most(|sample| sample.predicted_frames).min(MAX_FRAMES) / MAX_FRAMES * tall;
        if frames.iter().any(|sample| sample.stalled) {
            raster.rect(at(x, top), 1.0, tall, RED.faded(0.6));
        }
        raster.rect(at(x, top + tall - bar), 1.0, bar, rgb(0x54_C8_FF));
        raster.rect(at(x, (top + tall - dot - 1.0).max(top)), 1.0, 1.0, rgb(0x8C_E0_8C).faded(0.8));
        if frames.iter().any(|sample| sample.moved) {
            raster.rect(at(x, top), 1.0, 1.0, GOLD);
        }
    }
}

/// The words.
pub fn paint(cells: &mut Cells, picture: &Picture) {
    let scene = &picture.scene;
    let columns = cells.columns() as i32;
    for player in Player::BOTH {
        paint_nameplate(cells, scene, player);
        let side = &scene.sides[player.index()];
        if side.combo_frames > 0 {
            let text = format!(" {} HITS  {} ", side.combo_hits, side.combo_damage);
            if player == Player::One {
                cells.write(2, 6, &text, INK, Some(GOLD));
            } else {
                cells.write_ending(columns - 2, 6, &text, INK, Some(GOLD));
            }
        }
    }
    if let Some(net) = &picture.net {
        paint_net(cells, net);
    }
    if picture.panel.is_none()
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
    if let Some(panel) = &picture.panel {
        paint_panel(cells, panel);
    }
    if let Some(message) = &picture.message {
        cells.write_centered(5, &format!("  {}  ", message.text), tone_color(message.tone), Some(INK));
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
        cells.write(2, 3, &name, PAPER, None);
        cells.write_ending(columns / 2 - gap, 3, &format!("{score} {marks}"), GOLD, None);
    } else {
        cells.write_ending(columns - 2, 3, &name, PAPER, None);
        cells.write(columns / 2 + gap, 3, &format!(" {marks}{score}"), GOLD, None);
    }
}

fn paint_net(cells: &mut Cells, net: &NetGraph) {
    let top = cells.rows() - NET_ROWS;
    let (wide, _) = net_columns(cells.columns());
    for (index, (label, value)) in net.lines().iter().enumerate() {
        let column = (index / NET_ROWS) as i32 * wide + 1;
        let row = (top + index % NET_ROWS) as i32;
        cells.write(column, row, label, GOLD, None);
        let room = usize::try_from(wide - NET_LABEL - 1).unwrap_or(0);
        let value: String = value.chars().take(room).collect();
        cells.write(column + NET_LABEL, row, &value, PAPER, None);
    }
}

/// Where a panel lies, in cells.
struct Sheet {
    left: i32,
    top: i32,
    wide: i32,
    tall: i32,
}

/// Rows above the lines of a panel: its title, in large letters.
const TITLE_ROWS: i32 = 6;

impl Sheet {
    fn of(panel: &Panel, columns: i32, rows: i32) -> Self {
        let letters = |text: &str| text.chars().count() as i32;
        let wide = panel
            .lines
            .iter()
            .map(|(label, text)| letters(text) + if label.is_empty() { 4 } else { 20 })
            .chain([glyphs::width(&panel.title, 1.0) as i32 + 6, letters(&panel.footer) + 4])
            .fold(44, i32::max)
            .min(columns);
        let tall = TITLE_ROWS + panel.lines.len() as i32 + 3;
        Self { left: (columns - wide) / 2, top: ((rows - tall) / 2).max(4), wide, tall }
    }
}

fn paint_sheet(raster: &mut Raster, panel: &Panel) {
    let sheet = Sheet::of(panel, raster.width() as i32, raster.height() as i32 / 2);
    let corner = at(sheet.left as f32, sheet.top as f32 * 2.0);
    let (wide, tall) = (sheet.wide as f32, sheet.tall as f32 * 2.0);
    raster.rect(corner, wide, tall, INK);
    raster.rect(corner, wide, 1.0, GOLD);
    raster.rect(corner.plus(0.0, tall - 1.0), wide, 1.0, GOLD);
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

fn paint_panel(cells: &mut Cells, panel: &Panel) {
    let sheet = Sheet::of(panel, cells.columns() as i32, cells.rows() as i32);
    for (row, (label, text)) in (sheet.top + TITLE_ROWS..).zip(&panel.lines) {
        if label.is_empty() {
            cells.write_centered(row, text, PAPER, None);
        } else {
            cells.write_ending(sheet.left + 15, row, label, GOLD, None);
            cells.write(sheet.left + 17, row, text, PAPER, None);
        }
    }
    cells.write_centered(sheet.top + sheet.tall - 2, &panel.footer, GOLD, None);
}

//! Bars, clock, banners, panels and the net graph, as the window shows them.

use rebout::Player;

use super::choosing;
use super::graph;
use super::graph::NET_HEIGHT;
use super::sheet;
use super::wrap::wrap;
use crate::picture::{Banner, Message, Panel, Picture, ReplayView, Tone, banner};
use crate::scene::Scene;
use games::duel::{FULL_HEALTH, Phase};
use stage::glyphs::{self, Style, write, write_centered, write_ending};
use stage::{Canvas, Color, Point, at, characters, rgb};

pub(super) const INK: Color = rgb(0x12_0A_1C);
pub(super) const PAPER: Color = rgb(0xFF_F6_E4);
pub(super) const GOLD: Color = rgb(0xFF_CC_4A);
pub(super) const RED: Color = rgb(0xE0_34_3E);
const BAR_WIDTH: f32 = 380.0;
const BAR_HEIGHT: f32 = 20.0;
/// The pixels from above that bars cover.
pub const BARS: f32 = 52.0;
/// The rows of a message, from above.
const MESSAGE_TOP: f32 = 82.0;
const MESSAGE_PITCH: f32 = 22.0;

pub fn tone_color(tone: Tone) -> Color {
    match tone {
        Tone::Calm => PAPER,
        Tone::Warning => GOLD,
        Tone::Alarm => rgb(0xFF_6A_5E),
    }
}

/// Green when full, through yellow, to red.
pub fn health_color(share: f32) -> Color {
    if share > 0.5 {
        rgb(0xF2_C8_3A).mix(rgb(0x58_D0_6A), (share - 0.5) * 2.0)
    } else {
        rgb(0xE8_4A_3A).mix(rgb(0xF2_C8_3A), share * 2.0)
    }
}

/// Paints what lies over the stage, on a canvas of 960 by 540.
pub fn paint(canvas: &mut dyn Canvas, picture: &Picture) {
    let scene = &picture.scene;
    let banner = banner(scene).filter(|_| !picture.is_covered());
    let message = picture.message.as_ref().map(|message| {
        let mut message = MessageBox::of(message, banner.as_ref(), picture.panel.is_some());
        if scene.duel.phase == Phase::Choose && !picture.is_covered() {
            message.top = choosing::MESSAGE_TOP;
        }
        message
    });
    // Combos are counted below whatever else is said.
    let below = message.as_ref().map_or(MESSAGE_TOP, MessageBox::bottom) + 18.0;
    let below = if banner.is_some() { below.max(BANNER_MIDDLE + 62.0) } else { below };
    if scene.duel.phase == Phase::Choose {
        choosing::paint(canvas, picture);
    } else {
        for player in Player::BOTH {
            paint_bar(canvas, scene, player);
            paint_combo(canvas, scene, player, at(if picture.has_inputs() { 134.0 } else { 46.0 }, below));
        }
        paint_clock(canvas, scene);
    }
    if let Some(net) = &picture.net {
        graph::paint_window(canvas, net);
    }
    if let Some(corner) =
        picture.corner.as_ref().filter(|_| !picture.is_covered() && scene.duel.phase != Phase::Choose)
    {
        paint_corner(canvas, corner);
    }
    if let Some(banner) = &banner {
        paint_banner(canvas, banner);
    }
    if let Some(replay_view) = &picture.replay_view {
        paint_replay_view(canvas, replay_view, picture.net.is_some());
    }
    if let Some(panel) = &picture.panel {
        paint_panel(canvas, panel, message.as_ref().map_or(0.0, MessageBox::bottom));
    }
    if let Some(message) = &message {
        paint_message(canvas, message);
    }
}

/// The connection in a few characters, where no fighter stands.
fn paint_corner(canvas: &mut dyn Canvas, text: &str) {
    let place = at(canvas.width() - 14.0, canvas.height() - 24.0);
    let style = Style::new(1.7, 1.9, PAPER);
    write_ending(canvas, text, place, Style { color: INK.faded(0.8), stroke: 5.0, ..style });
    write_ending(canvas, text, place, style);
}

fn paint_bar(canvas: &mut dyn Canvas, scene: &Scene, player: Player) {
    let middle = canvas.width() / 2.0;
    let outward = if player == Player::One { -1.0 } else { 1.0 };
    // Bars empty toward the clock; every shape leans the way its fighter looks.
    let inner = middle + outward * 48.0;
    let bar = |canvas: &mut dyn Canvas, from: f32, to: f32, grow: f32, color: Color| {
        let x = |share: f32| inner + outward * BAR_WIDTH * share;
        let (top, bottom, lean) = (26.0 - grow, 26.0 + BAR_HEIGHT + grow, 7.0 * outward);
        let (a, b) = (x(from) - outward * grow, x(to) + outward * grow);
        canvas.polygon(&[at(a + lean, top), at(b + lean, top), at(b, bottom), at(a, bottom)], color);
    };
    let fighter = scene.duel.fighter(player);
    let side = &scene.sides[player.index()];
    let full = f32::from(FULL_HEALTH);
    let (health, trail) = (f32::from(fighter.health) / full, side.trail / full);
    bar(canvas, 0.0, 1.0, 4.0, INK);
    bar(canvas, 0.0, 1.0, 2.0, PAPER);
    bar(canvas, 0.0, 1.0, 0.0, rgb(0x3A_16_2A));
    bar(canvas, 0.0, trail, 0.0, RED);
    let color = health_color(health);
    if health > 0.0 {
        let low = health < 0.25 && scene.age % 24 < 12;
        bar(canvas, 0.0, health, 0.0, if low { color.lighter(0.4) } else { color });
        bar(canvas, 0.0, health, -6.5, color.lighter(0.35));
    }
    paint_nameplate(canvas, scene, player, outward, inner);
}

/// Cells of a name beside the marks of the rounds.
const NAME_CELLS: usize = 18;

fn paint_nameplate(canvas: &mut dyn Canvas, scene: &Scene, player: Player, outward: f32, inner: f32) {
    let fighter = scene.duel.fighter(player);
    let style = Style::new(2.0, 2.4, PAPER).slanted(0.12);
    let name = characters::head(&scene.names[player.index()], NAME_CELLS);
    let edge = at(inner + outward * (BAR_WIDTH - 2.0), 57.0);
    let shadow = Style { color: INK, stroke: 5.4, ..style };
    for style in [shadow, style] {
        if player == Player::One {
            write(canvas, name, edge, style);
        } else {
            write_ending(canvas, name, edge, style);
        }
    }
    for mark in 0..scene.duel.rounds_to_win() {
        let center = at(inner + outward * (12.0 + f32::from(mark) * 20.0), 63.0);
        canvas.disc(center, 8.0, INK);
        let won = fighter.rounds > mark;
        canvas.disc(center, 6.0, if won { GOLD } else { rgb(0x4A_2A_40) });
        if won {
            canvas.disc(center.plus(-1.6, -1.8), 2.2, PAPER);
        }
    }
    if fighter.matches > 0 {
        let text = format!("{} won", fighter.matches);
        let place = at(inner + outward * (12.0 + f32::from(scene.duel.rounds_to_win()) * 20.0), 59.0);
        let style = Style::new(1.5, 1.8, GOLD);
        if player == Player::One {
            write_ending(canvas, &text, place, style);
        } else {
            write(canvas, &text, place, style);
        }
    }
}

fn paint_clock(canvas: &mut dyn Canvas, scene: &Scene) {
    let middle = canvas.width() / 2.0;
    canvas.polygon(
        &[at(middle - 38.0, 16.0), at(middle + 38.0, 16.0), at(middle + 30.0, 60.0), at(middle - 30.0, 60.0)],
        INK,
    );
    let seconds = scene.duel.seconds();
    let hurry = seconds <= 10 && scene.duel.phase == Phase::Fight;
    let color = if hurry && scene.age % 30 < 15 { RED.lighter(0.2) } else { PAPER };
    let style = Style::new(4.2, 5.0, color);
    write_centered(canvas, &format!("{seconds:02}"), at(middle, 25.0), style);
}

/// Counts the hits of a combo. `corner` is where the left player's count begins; the right player's ends at the edge.
fn paint_combo(canvas: &mut dyn Canvas, scene: &Scene, player: Player, corner: Point) {
    let top = corner.y;
    let side = &scene.sides[player.index()];
    if side.combo_frames == 0 {
        return;
    }
    let fade = (f32::from(side.combo_frames) / 20.0).min(1.0);
    let place = |width: f32| if player == Player::One { corner.x } else { 914.0 - width };
    let count = format!("{} hits", side.combo_hits);
    let damage = format!("{} damage", side.combo_damage);
    let big = Style::new(4.4, 5.6, GOLD.faded(fade)).slanted(0.16);
    let x = place(glyphs::width(&count, big.unit));
    write(canvas, &count, at(x + 2.5, top + 2.0), Style { color: INK.faded(fade), stroke: 10.5, ..big });
    write(canvas, &count, at(x, top), big);
    let small = Style::new(2.0, 2.3, PAPER.faded(fade)).slanted(0.16);
    let x = place(glyphs::width(&damage, small.unit));
    write(canvas, &damage, at(x, top + 38.0), Style { color: INK.faded(fade), stroke: 5.0, ..small });
    write(canvas, &damage, at(x, top + 38.0), small);
}

/// The height of the middle of a banner.
const BANNER_MIDDLE: f32 = 168.0;

fn paint_banner(canvas: &mut dyn Canvas, banner: &Banner) {
    let (width, middle) = (canvas.width(), canvas.width() / 2.0);
    // It slams in large and settles.
    let settle = 1.0 - (f32::from(banner.age) / 9.0).min(1.0);
    let fits = (width * 0.8 / glyphs::width(&banner.text, 1.0).max(1.0)).min(11.0);
    let unit = fits * (1.0 + settle * settle * 0.9);
    let top = BANNER_MIDDLE - unit * 3.0;
    let fade = 1.0 - settle;
    let band = 6.0 * fits + 44.0;
    let edge = BANNER_MIDDLE - band / 2.0;
    canvas.rect(at(0.0, edge), width, band, INK.faded(0.42 * fade));
    canvas.rect(at(0.0, edge), width, 3.0, GOLD.faded(0.8 * fade));
    canvas.rect(at(0.0, edge + band - 3.0), width, 3.0, GOLD.faded(0.8 * fade));
    let style = Style::new(unit, unit * 1.25, PAPER).slanted(0.14);
    let place = at(middle - unit * 0.4, top);
    let ink = Style { color: INK, stroke: unit * 2.3, ..style };
    write_centered(canvas, &banner.text, place.plus(unit * 0.3, unit * 0.4), ink);
    write_centered(canvas, &banner.text, place.plus(0.0, unit * 0.22), Style { color: RED, ..style });
    write_centered(canvas, &banner.text, place, style);
    if !banner.below.is_empty() {
        let style = Style::new(2.6, 3.2, GOLD);
        let place = at(middle, edge + band + 14.0);
        write_centered(canvas, &banner.below, place, Style { color: INK, stroke: 7.5, ..style });
        write_centered(canvas, &banner.below, place, style);
    }
}

/// Sizes of a panel's characters, the largest first, with the pixels from line to line.
const PANEL_SIZES: [(f32, f32); 4] = [(1.9, 26.0), (1.7, 23.0), (1.5, 20.0), (1.3, 17.0)];

/// Paints a sheet below `reserved`, where a message is.
fn paint_panel(canvas: &mut dyn Canvas, panel: &Panel, reserved: f32) {
    const LEFT: f32 = 92.0;
    /// Labels end and texts begin beside this line.
    const SPINE: f32 = 276.0;
    const FRAME: f32 = 164.0;
    let (width, height) = (canvas.width(), canvas.height());
    canvas.rect(at(0.0, 0.0), width, height, INK.faded(0.35));
    let (middle, wide) = (width / 2.0, width - LEFT * 2.0);
    // The largest characters in which all lines fit, wrapped.
    let characters = |room: f32, unit: f32| ((room / unit + 2.0) / 6.0) as usize;
    let laid_out = |unit: f32| {
        let beside = characters(LEFT + wide - SPINE - 30.0, unit);
        sheet::wrapped(panel, beside, characters(wide - 40.0, unit))
    };
    let fits =
        |(unit, pitch): &(f32, f32)| FRAME + pitch * laid_out(*unit).len() as f32 <= height - 16.0 - reserved;
    let (unit, pitch) = PANEL_SIZES.into_iter().find(fits).unwrap_or(PANEL_SIZES[3]);
    let lines = laid_out(unit);
    let tall = FRAME + pitch * lines.len() as f32;
    let top = ((height - tall) / 2.0).max(76.0).min(height - tall - 8.0).max(reserved);
    canvas.rect(at(LEFT, top), wide, tall, INK.faded(0.88));
    canvas.rect(at(LEFT, top), wide, 4.0, GOLD);
    canvas.rect(at(LEFT, top + tall - 4.0), wide, 4.0, GOLD);
    let large = (560.0 / glyphs::width(&panel.title, 1.0).max(1.0)).min(7.0);
    let title = Style::new(large, large * 1.25, PAPER).slanted(0.14);
    let place = at(middle - large * 0.4, top + 26.0);
    write_centered(
        canvas,
        &panel.title,
        place.plus(large * 0.2, large * 0.45),
        Style { color: RED, ..title },
    );
    write_centered(canvas, &panel.title, place, title);
    let style = Style::new(unit, unit * 1.08, PAPER);
    for (index, (label, text)) in lines.iter().enumerate() {
        let y = top + 96.0 + pitch * index as f32;
        if label.is_empty() {
            write_centered(canvas, text, at(middle, y), style);
        } else {
            write_ending(canvas, label, at(SPINE - 12.0, y), Style { color: GOLD, ..style });
            write(canvas, text, at(SPINE + 12.0, y), style);
        }
    }
    let fits = (wide - 40.0) / glyphs::width(&panel.footer, 1.0).max(1.0);
    let style = Style::new(fits.min(2.2), fits.min(2.2) * 1.18, GOLD);
    write_centered(canvas, &panel.footer, at(middle, top + tall - 36.0), style);
}

/// A message, wrapped to the window.
struct MessageBox {
    top: f32,
    lines: Vec<String>,
    color: Color,
}

impl MessageBox {
    /// A message of one line is above a banner, a longer one below. Over a sheet it lies on the bars, above the title.
    fn of(message: &Message, banner: Option<&Banner>, has_panel: bool) -> Self {
        let lines = wrap(&message.text, 74);
        let top = match banner.filter(|_| lines.len() > 1) {
            Some(banner) => BANNER_MIDDLE + if banner.below.is_empty() { 66.0 } else { 104.0 },
            None if has_panel => 8.0,
            None => MESSAGE_TOP,
        };
        Self { top, lines, color: tone_color(message.tone) }
    }

    fn bottom(&self) -> f32 {
        self.top + 6.0 + MESSAGE_PITCH * self.lines.len() as f32
    }
}

fn paint_message(canvas: &mut dyn Canvas, message: &MessageBox) {
    let middle = canvas.width() / 2.0;
    let widest = message.lines.iter().map(|line| glyphs::width(line, 2.0)).fold(0.0, f32::max);
    let half = widest / 2.0 + 18.0;
    canvas.rect(at(middle - half, message.top), half * 2.0, message.bottom() - message.top, INK.faded(0.8));
    for (index, line) in message.lines.iter().enumerate() {
        let y = message.top + 8.0 + MESSAGE_PITCH * index as f32;
        write_centered(canvas, line, at(middle, y), Style::new(2.0, 2.3, message.color));
    }
}

fn paint_replay_view(canvas: &mut dyn Canvas, replay_view: &ReplayView, has_net: bool) {
    let width = canvas.width();
    let height = canvas.height() - if has_net { NET_HEIGHT } else { 0.0 };
    let share = replay_view.share(replay_view.frame);
    canvas.rect(at(40.0, height - 58.0), width - 80.0, 8.0, INK.faded(0.8));
    canvas.rect(at(40.0, height - 58.0), (width - 80.0) * share, 8.0, GOLD);
    for mark in &replay_view.marks {
        let x = 40.0 + (width - 80.0) * replay_view.share(mark.frame);
        canvas.rect(at(x - 1.5, height - 62.0), 3.0, 16.0, tone_color(mark.tone));
    }
    canvas.disc(at(40.0 + (width - 80.0) * share, height - 54.0), 7.0, PAPER);
    let state = replay_view.words();
    let text = format!("frame {} of {}  {state}", replay_view.frame, replay_view.frames);
    write(canvas, &text, at(40.0, height - 76.0), Style::new(1.7, 1.9, PAPER));
}

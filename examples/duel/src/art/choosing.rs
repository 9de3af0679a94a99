//! The choice of the fighters: the stage with both in their places, and a card for each player.

use rebout::Player;

use super::hud::{GOLD, INK, PAPER, RED};
use crate::picture::{Picture, YOU, says};
use crate::scene::Scene;
use games::duel::{CHOICE_FRAMES, Character, Duel};
use stage::glyphs::{self, Style, write, write_centered, write_ending};
use stage::{Canvas, Cells, Raster, at, characters, rgb};

const TITLE: &str = "Choose your fighter";
/// The keys by their names: each player has their own. A spectator has none.
const FOOTER: &str = "left and right: fighter   up: length of the match   light: choose   throw: take back";
const SHORT_FOOTER: &str = "left/right, up: length, light: choose";

/// The card of a player, in a window.
const CARD_TOP: f32 = 84.0;
const CARD_WIDTH: f32 = 214.0;
const CARD_HEIGHT: f32 = 176.0;
const CARD_EDGE: f32 = 14.0;
/// Messages are below the fighters, and in a terminal below the cards.
pub(super) const MESSAGE_TOP: f32 = 466.0;
pub(super) const MESSAGE_ROW: i32 = 11;

/// What there is to know about a fighter before choosing it.
const fn traits(character: Character) -> [&'static str; 3] {
    match character {
        Character::Kaito => ["Quick, short reach", "Special: fireball", "Crouch + special: rising strike"],
        Character::Rai => ["Slow, long reach, hard blows", "Special: charge", "Crouch + special: heel drop"],
    }
}

/// The state of a player's choice in words.
fn state(duel: &Duel, player: Player) -> &'static str {
    if duel.ready[player.index()] { "Ready" } else { "Choosing" }
}

/// The length of the match, as both want it so far.
pub fn length(scene: &Scene) -> String {
    let name = |player: Player| &scene.names[player.index()];
    let asks = |player: Player| {
        let wish = says(name(player), "asks for five", "ask for five");
        format!("Best of three; {}", if name(player) == YOU { wish.to_lowercase() } else { wish })
    };
    match scene.duel.wants_five {
        [true, true] => "Best of five".to_owned(),
        [true, false] => asks(Player::One),
        [false, true] => asks(Player::Two),
        [false, false] => "Best of three".to_owned(),
    }
}

/// The matches that each has won, once there is one.
fn score(scene: &Scene) -> Option<String> {
    let [one, two] = scene.duel.fighters.map(|fighter| fighter.matches);
    (one + two > 0).then(|| format!("{one} : {two}"))
}

fn seconds(duel: &Duel) -> u16 {
    CHOICE_FRAMES.saturating_sub(duel.since).div_ceil(60)
}

/// Paints the cards on a canvas of 960 by 540. Where a sheet of words covers the middle, the cards stay away.
pub fn paint(canvas: &mut dyn Canvas, picture: &Picture) {
    let (width, height, scene) = (canvas.width(), canvas.height(), &picture.scene);
    if picture.is_covered() {
        return;
    }
    let middle = width / 2.0;
    canvas.rect(at(0.0, 0.0), width, 66.0, INK.faded(0.8));
    canvas.rect(at(0.0, 63.0), width, 3.0, GOLD.faded(0.8));
    let title = Style::new(5.4, 6.4, PAPER).slanted(0.14);
    write_centered(canvas, TITLE, at(middle + 2.5, 17.5), Style { color: RED.darker(0.2), ..title });
    write_centered(canvas, TITLE, at(middle, 15.0), title);
    Player::BOTH.into_iter().for_each(|player| paint_card(canvas, scene, player));
    let lines = [(length(scene), 2.8, PAPER), (score(scene).unwrap_or_default(), 4.0, GOLD)];
    let mut top = CARD_TOP + 20.0;
    for (text, unit, color) in lines {
        for line in characters::wrapped(&text, 22).iter().filter(|line| !line.is_empty()) {
            let style = Style::new(unit, unit * 1.2, color);
            write_centered(
                canvas,
                line,
                at(middle, top),
                Style { color: INK.faded(0.85), stroke: unit * 2.6, ..style },
            );
            write_centered(canvas, line, at(middle, top), style);
            top += unit * 9.0;
        }
    }
    let clock = Style::new(4.2, 5.0, if seconds(&scene.duel) <= 5 { RED.lighter(0.2) } else { PAPER });
    write_ending(canvas, &seconds(&scene.duel).to_string(), at(width - 28.0, 20.0), clock);
    if picture.replay_view.is_some() {
        return;
    }
    canvas.rect(at(0.0, height - 38.0), width, 38.0, INK.faded(0.8));
    let fits = (width - 40.0) / glyphs::width(FOOTER, 1.0).max(1.0);
    write_centered(
        canvas,
        FOOTER,
        at(middle, height - 26.0),
        Style::new(fits.min(2.0), fits.min(2.0) * 1.18, GOLD),
    );
}

fn paint_card(canvas: &mut dyn Canvas, scene: &Scene, player: Player) {
    let is_left = player == Player::One;
    let left = if is_left { CARD_EDGE } else { canvas.width() - CARD_EDGE - CARD_WIDTH };
    let character = scene.duel.fighter(player).character;
    let is_ready = scene.duel.ready[player.index()];
    let color = scene.outfit(player).glow;
    canvas.rect(at(left - 3.0, CARD_TOP - 3.0), CARD_WIDTH + 6.0, CARD_HEIGHT + 6.0, color.faded(0.9));
    canvas.rect(at(left, CARD_TOP), CARD_WIDTH, CARD_HEIGHT, INK.faded(0.92));
    let inner = left + CARD_WIDTH / 2.0;
    let fitting = |text: &str| (CARD_WIDTH - 24.0) / glyphs::width(text, 1.0).max(1.0);
    let line = |canvas: &mut dyn Canvas, text: &str, top: f32, most: f32, color| {
        let unit = fitting(text).min(most);
        write_centered(canvas, text, at(inner, CARD_TOP + top), Style::new(unit, unit * 1.2, color));
    };
    line(canvas, &scene.names[player.index()], 12.0, 2.0, PAPER);
    line(canvas, character.name(), 38.0, 6.0, GOLD);
    if !is_ready {
        let arrow = Style::new(5.0, 6.0, PAPER);
        write(canvas, "<", at(left + 14.0, CARD_TOP + 40.0), arrow);
        write_ending(canvas, ">", at(left + CARD_WIDTH - 14.0, CARD_TOP + 40.0), arrow);
    }
    for (row, text) in (0_u8..).zip(traits(character)) {
        line(canvas, text, 86.0 + f32::from(row) * 18.0, 1.6, PAPER);
    }
    let (text, ink) = (state(&scene.duel, player), if is_ready { rgb(0x8C_F0_8C) } else { PAPER.faded(0.7) });
    line(canvas, text, 148.0, 2.4, ink);
}

/// The rows of a card in a terminal.
const CARD_ROWS: f32 = 8.0;

/// Paints what lies under the words in a terminal.
pub fn paint_pixels(raster: &mut Raster, is_covering: bool) {
    if is_covering {
        return;
    }
    let (width, height) = (raster.width(), raster.height());
    raster.rect(at(0.0, 0.0), width, 4.0, INK);
    raster.rect(at(0.0, 4.0), width, CARD_ROWS * 2.0, INK.faded(0.7));
    raster.rect(at(0.0, height - 2.0), width, 2.0, INK);
}

/// Writes the words of the choice.
pub fn write_words(cells: &mut Cells, picture: &Picture) {
    let scene = &picture.scene;
    let columns = cells.columns() as i32;
    let half = (columns / 2 - 3).max(4) as usize;
    cells.write_centered(0, TITLE, PAPER, None);
    cells.write_ending(columns - 2, 0, &seconds(&scene.duel).to_string(), GOLD, None);
    let length = length(scene);
    let below = score(scene).map_or_else(|| length.clone(), |score| format!("{length}  ({score})"));
    cells.write_centered(1, characters::head(&below, (columns - 4).max(0) as usize), GOLD, None);
    for player in Player::BOTH {
        let character = scene.duel.fighter(player).character;
        let is_ready = scene.duel.ready[player.index()];
        let name = if is_ready { character.name().to_owned() } else { format!("< {} >", character.name()) };
        let [first, second, third] = traits(character);
        let rows = [
            (scene.names[player.index()].as_str(), PAPER),
            (name.as_str(), GOLD),
            (first, PAPER),
            (second, PAPER),
            (third, PAPER),
            (state(&scene.duel, player), if is_ready { rgb(0x8C_F0_8C) } else { PAPER }),
        ];
        for (row, (text, color)) in (3..).zip(rows) {
            let text = characters::head(text, half);
            if player == Player::One {
                cells.write(2, row, text, color, None);
            } else {
                cells.write_ending(columns - 2, row, text, color, None);
            }
        }
    }
    if picture.replay_view.is_some() {
        return;
    }
    let footer = if characters::width(FOOTER) as i32 <= columns { FOOTER } else { SHORT_FOOTER };
    cells.write_centered(cells.rows() as i32 - 1, footer, GOLD, None);
}

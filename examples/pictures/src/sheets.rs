//! The screens of a fight in many sizes, for somebody who changes them.

use std::fs;
use std::path::Path;

use duel::netgraph::NetGraph;
use duel::picture::{Message, Panel, Picture, ReplayView, Tone};
use duel::scene::Scene;
use games::duel::{Action, Duel, Facing, Phase};
use rebout::math::Fx;
use stage::Depth;

use crate::film::{self, names};
use crate::image::Image;

/// The terminals that are drawn: the smallest, the usual, a wide and low one, the largest picture, and one beyond it.
const TERMINALS: [(u16, u16); 6] = [(60, 18), (60, 20), (80, 24), (160, 24), (160, 50), (200, 60)];

/// Draws every screen in every size into `folder`.
pub(crate) fn draw(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, picture) in screens() {
        Image::of_window(&picture, 960, 540).save(&folder.join(format!("{name}-window.png")))?;
        for size in TERMINALS {
            let file = format!("{name}-{}x{}.png", size.0, size.1);
            Image::of_terminal(&picture, size).save(&folder.join(file))?;
        }
        let mono = Image::of_cells(&picture, (80, 24), Depth::Mono);
        mono.save(&folder.join(format!("{name}-80x24-mono.png")))?;
    }
    Ok(())
}

fn screens() -> Vec<(&'static str, Picture)> {
    let film = film::shoot();
    let fight = film[560].clone();
    let closed =
        Picture { corner: fight.net.as_ref().and_then(NetGraph::corner), net: None, ..fight.clone() };
    let words = "no word from Aurélien Åström: the match ends in 4 s. You cut the connection: F5 restores it";
    let mut combo = closed.clone();
    combo.scene.sides.iter_mut().for_each(|side| {
        (side.combo_hits, side.combo_damage, side.combo_frames) = (5, 312, 60);
    });
    combo.message = Some(Message { text: words.to_owned(), tone: Tone::Alarm });
    let replay_view =
        ReplayView { frame: 300, frames: 1_320, paused: true, speed: 0.5, state: None, marks: Vec::new() };
    vec![
        ("fight", closed.clone()),
        ("graph", fight),
        ("jump", jump()),
        ("left-wall", wall(-1)),
        ("right-wall", wall(1)),
        ("message", combo),
        ("replay", Picture { replay_view: Some(replay_view), corner: None, ..closed.clone() }),
        ("sheet", Picture { panel: Some(sheet()), ..closed }),
        ("rematch", rematch()),
    ]
}

/// Lets the camera and the bodies come to rest.
fn rested(duel: &Duel) -> Picture {
    let mut scene = Scene::new(duel, names());
    (0..120).for_each(|_| scene.advance(duel, &[]));
    Picture::of(scene)
}

/// A fighter on the floor at a wall, the other one beside it.
fn wall(side: i32) -> Picture {
    let mut duel = Duel::between(3, games::duel::Character::ALL);
    duel.phase = Phase::Fight;
    let [one, two] = &mut duel.fighters;
    one.x = Fx::from_num(side * 225);
    two.x = Fx::from_num(side * 150);
    one.facing = if side < 0 { Facing::Right } else { Facing::Left };
    two.facing = if side < 0 { Facing::Left } else { Facing::Right };
    one.action = Action::Down;
    rested(&duel)
}

/// Both at the top of a jump, far apart.
fn jump() -> Picture {
    let mut duel = Duel::between(4, games::duel::Character::ALL);
    duel.phase = Phase::Fight;
    for fighter in &mut duel.fighters {
        fighter.y = Fx::from_num(100);
        fighter.action = Action::Air;
    }
    rested(&duel)
}

fn rematch() -> Picture {
    let mut duel = Duel::between(5, games::duel::Character::ALL);
    duel.phase = Phase::MatchOver { winner: Some(rebout::Player::One) };
    duel.since = 60;
    rested(&duel)
}

/// As many words as a sheet has to bear.
fn sheet() -> Panel {
    let lines = [
        ("your keys", "a and d walk, w jump, s crouch"),
        (" ", "j light, k heavy, l special, i throw, enter start"),
        ("block", "hold back; crouch against low blows, stand against jumps"),
        ("special", "a fireball; with down, a rising strike"),
        ("throw", "close up, beats a block; throw back to escape"),
        ("combo", "light, heavy, special: one into the next"),
        ("f1", "net graph"),
        ("the link", "f5 cuts the line, f6 round trip, f7 loss, f8 jitter"),
    ];
    Panel {
        title: "Rebout duel".to_owned(),
        lines: lines.map(|(label, text)| (label.to_owned(), text.to_owned())).to_vec(),
        footer: "press enter to fight, esc to leave".to_owned(),
    }
}

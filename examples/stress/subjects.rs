//! The games that matches are played with: how each is made, how it is pressed, and what has to happen in it.

use games::duel::buttons as duel_buttons;
use games::duel::{Duel, FULL_HEALTH};
use games::playground::{ATTACK, JUMP, LEFT, Playground, RIGHT};
use games::swarm::Swarm;
use games::tag::{self, Tag};
use games::tilt::{self, Tilt};
use rebout::lab::stress::{Stress, Turn, random, random_pads};
use rebout::{Buttons, Input, Player};

/// The reason why a match without a blow proves nothing.
pub(crate) const NO_BLOW: &str = "no blow landed";

/// Walks up to the other, strikes, and then does anything for a few frames at a time.
pub(crate) fn brawl<G>(turn: &Turn<'_, G>) -> Buttons {
    let (toward, away) = if turn.player == Player::One { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
    let (frame, seed) = (turn.frame.0, turn.seed);
    match frame {
        0..18 => return toward,
        18..22 => return ATTACK,
        _ => {}
    }
    match turn.draw(frame / (3 + seed % 5)) >> 28 {
        0..4 => toward,
        4..8 => away,
        8..11 => ATTACK,
        11 => toward | ATTACK,
        12 => away | ATTACK,
        13 => toward | JUMP,
        14 => JUMP | ATTACK,
        _ => Buttons::NONE,
    }
}

/// Whether a fighter was struck.
pub(crate) fn struck(fight: &Playground) -> bool {
    fight.fighters.iter().any(|fighter| fighter.hp < 100)
}

pub(crate) fn playground() -> Stress<Playground> {
    let make = |seed| Playground::new(seed).expect("a match never has seed 0");
    Stress::new(make).press(brawl).expect(NO_BLOW, struck)
}

/// Forward and strike, most of the time; and now and then everything else, a wish for a rematch included.
fn spar(turn: &Turn<'_, Duel>) -> Buttons {
    use duel_buttons::{DOWN, HEAVY, LEFT, LIGHT, RIGHT, SPECIAL, START, THROW, UP};
    let (toward, away) = if turn.player == Player::One { (RIGHT, LEFT) } else { (LEFT, RIGHT) };
    let drawn = turn.draw(turn.frame.0 / (4 + turn.seed % 5));
    let moves = [toward, toward, toward, toward | UP, away, away | DOWN, DOWN, Buttons::NONE];
    let acts = [LIGHT, LIGHT, HEAVY, SPECIAL, THROW, START, Buttons::NONE, Buttons::NONE];
    moves[(drawn >> 29) as usize] | acts[(drawn >> 20 & 7) as usize]
}

pub(crate) fn duel() -> Stress<Duel> {
    // After a rematch both have full health again, and one of them a won match.
    let struck = |duel: &Duel| {
        duel.round > 1
            || duel.fighters.iter().any(|fighter| fighter.health < FULL_HEALTH || fighter.matches > 0)
    };
    Stress::new(Duel::new).press(spar).expect(NO_BLOW, struck)
}

pub(crate) fn swarm() -> Stress<Swarm> {
    Stress::new(Swarm::new)
        .press(|turn| Buttons((turn.draw(turn.frame.0 / (2 + turn.seed % 6)) >> 28) as u16))
        .rematch(|mut swarm, seed, _| {
            swarm.reset(seed);
            swarm
        })
        .expect(NO_BLOW, |swarm| swarm.hits != [0; 2])
}

/// All four run to the middle, where one tags another, and then do anything.
fn gather(turn: &Turn<'_, Tag>) -> Input {
    let toward = [[tag::RIGHT, tag::UP], [tag::LEFT, tag::DOWN]][turn.player.index()];
    let held = match turn.frame.0 {
        0..30 => toward,
        30..45 => [tag::TAG; 2],
        _ => return random_pads(turn, Buttons(0x1F), tag::PADS),
    };
    Input::NEUTRAL.with_pad(0, held[0]).with_pad(1, held[1])
}

pub(crate) fn tag() -> Stress<Tag> {
    Stress::new(Tag::new)
        .pads(tag::PADS)
        .press(gather)
        .expect("nobody was tagged", |tag| tag.tagged != [0; tag::RUNNERS])
}

/// Random inputs on two sticks and two triggers.
pub(crate) fn tilt() -> Stress<Tilt> {
    Stress::new(Tilt::new)
        .axes(tilt::AXES)
        .press(|turn| random(turn, tilt::RECALL, tilt::AXES))
        .expect("nobody was shoved", |tilt| tilt.shoves() != [0; 2])
}

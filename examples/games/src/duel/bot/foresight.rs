//! Foresight: a plan is played through by the rules of the duel itself, against a guess of what the other does.
//!
//! Frame data, reaches, stuns and pushes are in those rules and nowhere else, so that a change of the move table
//! changes what the bot blocks, punishes and leaves alone.

use rebout::Player;

use super::super::moves::Move;
use super::super::{Action, Duel, Fighter, Phase, STAGE_HALF_WIDTH};
use super::foe_action::{Guess, press};
use super::plan::Plan;
use super::senses::{View, step};

/// A jump with its landing, the longest thing worth looking at.
const HORIZON_FRAMES: u16 = 48;
/// The worth of a knocked-down opponent, in points of health.
const KNOCKDOWN: i32 = 18;
/// The worth of a frame in which only one of two close fighters can act.
const TEMPO: i32 = 2;
/// The distance at which a bot likes to fight: its own heavies reach, and a throw does not.
const FAVOURITE_GAP: i32 = 60;
const KNOCKOUT: i32 = 400;

/// The worth of `plan` in points of health, if the other behaves like `guess`. `late` is the bot's reaction time: as long
/// ago the other was seen, and as long after a hit the bot can go on into the next one.
pub(super) fn worth(present: &Duel, me: Player, plan: Plan, guess: Guess, late: u32) -> i32 {
    let mut duel = *present;
    let mut touched_frames = 0;
    for age in 0..HORIZON_FRAMES {
        let view = View::of(&duel, me);
        if duel.phase != Phase::Fight
            || (age > plan.frames() && is_quiet(&view, guess, late + u32::from(age)))
        {
            break;
        }
        touched_frames = if view.own.connected { touched_frames + 1 } else { 0 };
        let next = follow_up(&view).filter(|_| touched_frames > late);
        let own = next.map_or_else(|| plan.buttons(age, &view), |attack| press(attack, age.into()));
        let foe = guess.buttons(late + u32::from(age), &View::of(&duel, me.other()));
        step(&mut duel, me, own, foe);
    }
    balance(present, &duel, me) + place(&duel, me) - plan.effort()
}

/// Whether nothing more will come of a plan: both are on their feet, nothing flies, and the other has nothing in mind.
fn is_quiet(view: &View<'_>, guess: Guess, frame: u32) -> bool {
    let at_rest = |fighter: &Fighter| fighter.is_free() && fighter.projectile.is_none();
    frame > guess.after && guess.action.is_harmless() && at_rest(view.own) && at_rest(view.foe)
}

/// The move that a hit goes on into.
fn follow_up(view: &View<'_>) -> Option<Move> {
    match view.own.action {
        Action::Attack(attack) if view.own.data(attack).cancels && view.foe.action == Action::Hit => {
            Some(if attack.is_light() { Move::StandHeavy } else { Move::Fireball })
        }
        _ => None,
    }
}

/// The blows between two states, as the owner of `me` counts them.
fn balance(before: &Duel, after: &Duel, me: Player) -> i32 {
    let lost = |player: Player| i32::from(before.fighter(player).health - after.fighter(player).health);
    let state = |player: Player| {
        let fighter = after.fighter(player);
        let fell = matches!(fighter.action, Action::Launched | Action::Down | Action::Rise);
        let fell_before =
            matches!(before.fighter(player).action, Action::Launched | Action::Down | Action::Rise);
        let busy = match fighter.action {
            Action::Hit | Action::Block | Action::Land => i32::from(fighter.stun),
            Action::Attack(attack) => i32::from(fighter.data(attack).total().saturating_sub(fighter.since)),
            _ => 0,
        };
        i32::from(fell && !fell_before) * KNOCKDOWN
            + i32::from(fighter.health == 0) * KNOCKOUT
            + busy.min(20) * TEMPO
    };
    lost(me.other()) - lost(me) + state(me.other()) - state(me)
}

/// The worth of a place on the stage: near the other, and not with the back to the wall.
fn place(duel: &Duel, me: Player) -> i32 {
    let view = View::of(duel, me);
    let room = STAGE_HALF_WIDTH.to_num::<i32>() - view.own.x.abs().to_num::<i32>();
    -(view.gap - FAVOURITE_GAP).abs() / 6 - (60 - room).max(0) / 6
}

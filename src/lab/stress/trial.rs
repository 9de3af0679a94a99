//! One match and its rematch, played between two machines as different as machines are.

use super::Stress;
use super::case::{Case, rematch_frames};
use super::conditions::Condition;
use super::examine::{Seen, examine};
use super::inputs::{Turn, mix};
use super::outcome::{Keep, Outcome, Trouble};
use super::outside::Outside;
use super::pauses;
#[cfg(feature = "nat")]
use super::relayed::{self, Relayed};
use super::sample::{self, Sampler};
use super::timed::{Counted, Timed};
#[cfg(feature = "seal")]
use super::{kills, spectators};
use crate::game::fields::Image;
use crate::lab::sim::Clock;
use crate::lab::{Play, Setup, SimMatch};
use crate::{Config, Game, Input, Player, Save, Saving, Session};
use std::time::Duration;

/// Plays a match and its rematch.
pub(super) fn play<G: Game + 'static>(stress: &Stress<G>, case: &Case, keep: Keep) -> Outcome {
    let (mut outcome, game) = play_one(stress, case, keep, None);
    if case.rematch && outcome.trouble.is_none() {
        // One machine goes on in the process that it has, against one that was just started, and takes the other seat.
        let second = Case {
            seed: case.seed ^ 0x0052_454D_4154_4348,
            frames: rematch_frames(case.frames),
            ..case.clone()
        };
        let (again, _) = play_one(stress, &second, Keep { sample: false, ..keep }, game);
        outcome.figures.add(&again.figures);
        let again_vacuous = matches!(again.trouble, Some(Trouble::Vacuous { .. }));
        if again.trouble.is_some() && !again_vacuous {
            let (figures, samples) = (outcome.figures, outcome.samples);
            outcome = Outcome { figures, samples, in_rematch: true, ..again };
        }
    }
    outcome
}

fn play_one<G: Game + 'static>(
    stress: &Stress<G>,
    case: &Case,
    keep: Keep,
    before: Option<G>,
) -> (Outcome, Option<G>) {
    let play = Play {
        build: |_| unreachable!("each machine and the oracle make their own game"),
        script: |_, _, _| Input::NEUTRAL,
    };
    let setup = setup(case, (stress.axes, stress.pads), before.is_some());
    let expects_rollbacks = expects_rollbacks(case, &setup.configs);
    let configs = setup.configs.clone();
    let mut sim = SimMatch::new(setup, play);
    #[cfg(feature = "seal")]
    if case.sealed {
        sim.seal(case.seed);
    }
    #[cfg(feature = "nat")]
    let relayed = Relayed::new(case, &configs, stress.turn_relay, &mut sim, play);
    let (end, hook) = (case.frames, stress.before);
    let barriers = case.conditions.has(Condition::Barriers);
    let timed = move |game, press| Timed::new(game, end, press, hook).with_barriers(barriers);
    let (direct, press) = (stress.make.clone(), stress.presses());
    sim.make_direct(move |seed| timed(direct(seed, None), press));
    let mut before = before;
    let mut samplers = [None, None];
    for (id, slot) in samplers.iter_mut().enumerate() {
        let (make, again, press, before) =
            (stress.make.clone(), stress.again, stress.presses(), before.take());
        let machine = sim.world.machine_mut(id);
        #[cfg(feature = "seal")]
        if case.conditions.has(Condition::Kills) && case.sealed {
            let (make, press) = (stress.make.clone(), stress.presses());
            machine.keep_ticket(configs[id].clone(), move |seed, seat| {
                timed(make(seed, Some(seat)), press.clone())
            });
        }
        machine.make = Some(Box::new(move |seed, seat| {
            let game = match (before, again) {
                (Some(game), Some(again)) => again(game, seed, seat),
                _ => make(seed, Some(seat)),
            };
            timed(game, press)
        }));
        machine.before = Some(|timed, frame, held| {
            if let Some(before) = timed.before {
                before(&mut timed.game, frame, held);
            }
        });
        machine.input_source = Some(Box::new(|_, session, timed| pressed(session, timed)));
        if keep.sample {
            let sampler = sample::shared();
            *slot = Some(sampler.clone());
            let mut watch = Sampler::new(sampler);
            machine.watch = Some(Box::new(move |now, advanced, session: &Session<_>, _| {
                watch.look(now, advanced, &session.stats());
            }));
        }
    }
    sim.record();
    let mut outside = Outside::new(case, &configs[0], &mut sim);
    #[cfg(feature = "nat")]
    {
        outside.relayed = relayed;
    }
    let mut seen = run(&mut sim, case, &mut outside, play);
    (seen.expects_rollbacks, seen.inputs) = (expects_rollbacks, sim.take_record());
    let mut outcome = examine(stress, &sim, case, &seen, &outside);
    outcome.samples = samplers.map(|sampler| sampler.map(sample::taken).unwrap_or_default());
    if keep.inputs {
        outcome.inputs = seen.inputs;
    }
    let game = sim.world.machine_mut(0).take_game().map(|timed| timed.game);
    (outcome, game)
}

fn pressed<G: Game>(session: &Session<Counted<G::Snapshot>>, timed: &Timed<G>) -> Input {
    let (player, frame, seed) = (session.local(), session.current(), session.agreed().seed);
    (timed.press)(&Turn { game: &timed.game, player, frame, seed })
}

/// Runs a match to its end, and looks a few times a second at how much its state lives.
fn run<G: Game + 'static>(
    sim: &mut SimMatch<Timed<G>>,
    case: &Case,
    outside: &mut Outside,
    play: Play<Timed<G>>,
) -> Seen {
    let limit = time_limit(case);
    let (mut seen, mut image, mut last) = (Seen::default(), Image::default(), Image::default());
    let ended = |sim: &SimMatch<Timed<G>>| {
        (0..2).all(|id| sim.machine(id).ended()) || (0..2).any(|id| sim.machine(id).error.is_some())
    };
    while !ended(sim) && sim.world.now() < limit {
        outside.run(sim, play);
        if let Some(direct) = sim.direct() {
            std::mem::swap(&mut image, &mut last);
            image.take(&direct.snapshot());
            seen.looks += 1;
            // A counter of frames alone is no seen.
            let words = image.words().iter().zip(last.words()).filter(|(a, b)| a != b).count();
            let lanes = image.lanes().iter().zip(last.lanes()).filter(|(a, b)| a != b).count();
            let grown =
                image.words().len() != last.words().len() || image.lanes().len() != last.lanes().len();
            seen.changes += u32::from(words + lanes > 1 || grown);
        }
    }
    #[cfg(feature = "seal")]
    {
        let end = sim.world.now() + spectators::TIME;
        while outside.spectators.as_ref().is_some_and(|all| !all.are_done(sim)) && sim.world.now() < end {
            outside.run(sim, play);
        }
    }
    seen
}

/// The virtual time that a match may take.
fn time_limit(case: &Case) -> Duration {
    let mut limit = Duration::from_secs(60 + u64::from(case.frames) / 5);
    if case.conditions.has(Condition::Pauses) {
        limit += pauses::TIME;
    }
    #[cfg(feature = "seal")]
    if case.conditions.has(Condition::Kills) {
        limit += kills::TIME;
    }
    #[cfg(feature = "nat")]
    if case.conditions.has(Condition::Relayed) {
        limit += relayed::TIME;
    }
    limit
}

/// The first state that the host hands over, empty without one. On a narrow link it is a few kilobytes, which take a second.
pub(super) fn first_state(case: &Case) -> Vec<u8> {
    if !case.conditions.has(Condition::FirstStates) {
        return Vec::new();
    }
    let most = if case.link.bandwidth.is_some() { 4_096 } else { 48_000 };
    let drawn = |number| mix(case.seed as u32 ^ 0x5A7E, number);
    (0..1 + drawn(0) % most).map(|at| drawn(at + 1) as u8).collect()
}

/// Two machines as different as machines are.
fn setup(case: &Case, (axes, pads): (u8, u8), rematch: bool) -> Setup {
    let mut setup = Setup::new(case.seed, case.link);
    let drawn = |what: u32, below: u32| mix(case.seed as u32 ^ (case.seed >> 32) as u32, what) % below;
    let game_seed = mix(case.seed as u32, (case.seed >> 32) as u32 ^ 0x5EED).max(1);
    for (id, (config, clock)) in setup.configs.iter_mut().zip(&mut setup.clocks).enumerate() {
        config.lobby.seed = Some(game_seed);
        (config.game.axes, config.game.pads) = (axes, pads);
        if case.conditions.has(Condition::FirstStates) {
            config.lobby.first_state = if id == 0 { first_state(case).into() } else { Vec::new().into() };
            config.lobby.first_state_limit = 64 * 1_024;
        }
        if case.conditions.has(Condition::Pauses) {
            pauses::configure(config);
        }
        config.lobby.seat = if rematch { Player::Two } else { Player::One };
        if case.variety {
            let id = id as u32 * 16;
            config.rollback.delay_frames = Some([0, 0, 1, 2][drawn(id, 4) as usize]);
            config.rollback.window_frames = 6 + drawn(id + 1, 5) as u8;
            config.rollback.saving = if drawn(id + 4, 3) == 0 { Saving::Sparse } else { Saving::Auto };
            let skew_ppm = drawn(id + 2, 401).cast_signed() - 200;
            *clock = Clock::new(Duration::from_millis(u64::from(drawn(id + 3, 1_000_000))), skew_ppm);
        }
    }
    setup
}

/// Whether there must be something to predict: neither machine has a delay, so that the one that is ahead never has the
/// other's input in time; or the way is longer than what the delays cover.
fn expects_rollbacks(case: &Case, configs: &[Config; 2]) -> bool {
    let delays = configs.each_ref().map(|config| u32::from(config.rollback.delay_frames.unwrap_or(0)));
    delays == [0, 0]
        || case.link.latency > configs[0].game.frame_rate.frame_length() * (delays[0].min(delays[1]) + 1)
}

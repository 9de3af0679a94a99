//! The verdict on a match that was played: whether it failed, or proved nothing.

use super::Stress;
use super::case::Case;
use super::conditions::Condition;
use super::outcome::{Figures, Outcome, Trouble};
use super::outside::Outside;
use super::timed::Timed;
use crate::lab::link::Chance;
use crate::lab::oracle::digest;
use crate::lab::{SimMatch, SimPeer};
use crate::{Autopsy, Buttons, Cues, Event, Frame, Game, Inputs, Player, Reason, Session, Verdict};
use std::time::Duration;

/// A state that changes in fewer than one look of so many hardly changes.
const LOOKS_PER_CHANGE: u32 = 20;

/// Observations of a match while it was played.
#[derive(Default)]
pub(super) struct Seen {
    /// Whether there must be something to predict.
    pub(super) expects_rollbacks: bool,
    /// How often the state was looked at, and how often it had changed.
    pub(super) looks: u32,
    pub(super) changes: u32,
    /// The true inputs.
    pub(super) inputs: Vec<Inputs>,
}

/// Says what came of a match.
pub(super) fn examine<G: Game + 'static>(
    stress: &Stress<G>,
    sim: &SimMatch<Timed<G>>,
    case: &Case,
    seen: &Seen,
    outside: &Outside,
) -> Outcome {
    let machines = [0, 1].map(|id| sim.machine(id));
    let mut figures = Figures::default();
    for machine in machines {
        figures.add(&figures_of(machine));
    }
    let events = || machines.into_iter().flat_map(|machine| machine.events.iter().map(|(_, event)| event));
    let desync = events().find_map(reported_frame);
    let conflict = events().any(|event| matches!(event, Event::InputConflict { .. }));
    let game_seed = machines[0].agreed().map_or(0, |agreed| agreed.seed);
    let trouble = if let Some(found) = sim.divergence() {
        // The oracle says which step went wrong; what differs is the state after it.
        let (frame, player, inputs_differ) = (found.frame.next(), found.player, found.inputs_differ);
        let reported = desync.is_some() || conflict;
        Some(Trouble::Diverged { frame, player, inputs_differ, reported })
    } else if let Some(frame) = desync {
        Some(Trouble::FalseAlarm { frame })
    } else if let Some(what) = broken_rejoin(sim, outside) {
        Some(Trouble::Violated { what })
    } else if let Some(how) = unfinished(&machines, case.frames, sim.checked()) {
        Some(Trouble::Unfinished { how })
    } else if let Some(what) = violation(stress, sim, case, outside) {
        Some(Trouble::Violated { what })
    } else {
        let expected = stress.expected.zip(sim.direct());
        let why = if seen.expects_rollbacks && figures.rollbacks == 0 {
            Some("nothing was predicted wrongly")
        } else if has_idle_pad(stress.pads, &seen.inputs) {
            Some("a pad was never pressed")
        } else if let Some(((why, _), _)) = expected.filter(|((_, happened), direct)| !happened(&direct.game))
        {
            Some(why)
        } else if seen.changes * LOOKS_PER_CHANGE < seen.looks {
            Some("the state hardly changed")
        } else if stress.expected.is_none() && !influenced(stress, game_seed, &seen.inputs) {
            Some("the inputs made no difference")
        } else {
            missing(case, outside)
        };
        why.map(|why| Trouble::Vacuous { why })
    };
    let is_starved = is_starved(case, &machines, &figures);
    let silent = matches!(
        trouble,
        Some(Trouble::Diverged { reported: false, .. } | Trouble::Violated { .. } | Trouble::Vacuous { .. })
    );
    Outcome {
        figures,
        in_rematch: false,
        excused: trouble.is_some() && !silent && (case.link.corrupt != Chance::NEVER || is_starved),
        trouble,
        desync,
        autopsies: machines.map(autopsy),
        samples: Default::default(),
        game_seed,
        inputs: Vec::new(),
    }
}

/// Whether a narrow link that the match fills was interrupted by a router until the match was too slow to go on, and a machine said so:
/// inputs of six axes have a third of the frames of a second on 64 kbit/s, and each new mapping takes a second from them.
fn is_starved<G: Game>(case: &Case, machines: &[&SimPeer<Timed<G>>; 2], figures: &Figures) -> bool {
    let too_slow = |event: &Event| matches!(event, Event::Disconnected { reason: Reason::TooSlow });
    case.conditions.has(Condition::Roaming)
        && case.link.bandwidth.is_some()
        && figures.stalled > figures.frames
        && machines.iter().any(|machine| machine.events.iter().any(|(_, event)| too_slow(event)))
}

/// Why a program that was killed has not come back, or who came in its place.
fn broken_rejoin<G: Game>(sim: &SimMatch<Timed<G>>, outside: &Outside) -> Option<String> {
    #[cfg(feature = "seal")]
    return outside.kills.as_ref().and_then(|kills| kills.intrusion(sim).or_else(|| kills.failure(sim)));
    #[cfg(not(feature = "seal"))]
    {
        let _ = (sim, outside);
        None
    }
}

/// The rule of a condition that was broken in a match that both machines agree to have ended as it should.
fn violation<G: Game + 'static>(
    stress: &Stress<G>,
    sim: &SimMatch<Timed<G>>,
    case: &Case,
    outside: &Outside,
) -> Option<String> {
    let again = |id| sim.machine(id).game().and_then(|timed| timed.crossed_again);
    if let Some(frame) = (0..2).find_map(again) {
        return Some(format!("the barrier in frame {frame} was stepped twice"));
    }
    let first_state = super::trial::first_state(case);
    let has = |id| sim.machine(id).agreed().is_some_and(|agreed| *agreed.first_state == *first_state);
    if let Some(id) = (0..2).find(|id| !has(*id)) {
        return Some(format!("{} has another first state", ["the host", "the joiner"][id]));
    }
    #[cfg(feature = "nat")]
    if let Some(what) = outside.relayed.as_ref().and_then(super::relayed::Relayed::violation) {
        return Some(what.to_owned());
    }
    #[cfg(feature = "seal")]
    {
        let (_, checksum) = end(sim.machine(0)).ok()?;
        let make = |seed| Timed::new((stress.make)(seed, None), case.frames, stress.presses(), None);
        outside.spectators.as_ref().and_then(|all| all.violation(sim, checksum, make))
    }
    #[cfg(not(feature = "seal"))]
    {
        let _ = (stress, outside);
        None
    }
}

/// The condition that the match did not come to.
fn missing(case: &Case, outside: &Outside) -> Option<&'static str> {
    let has = |condition| case.conditions.has(condition);
    if has(Condition::Pauses) && outside.pauses.as_ref().is_none_or(|pauses| pauses.held == 0) {
        return Some("nobody paused");
    }
    #[cfg(feature = "seal")]
    if has(Condition::Kills) && !outside.kills.as_ref().is_some_and(super::kills::Kills::is_done) {
        return Some("no program was killed");
    }
    #[cfg(feature = "seal")]
    if has(Condition::Spectators)
        && !outside.spectators.as_ref().is_some_and(super::spectators::Spectators::is_done)
    {
        return Some("nobody watched");
    }
    None
}

/// Whether a pad after the first, at either machine, was never pressed.
fn has_idle_pad(pads: u8, inputs: &[Inputs]) -> bool {
    let pressed = |player, pad| inputs.iter().any(|inputs| inputs.pad(player, pad) != Buttons::NONE);
    (1..usize::from(pads)).any(|pad| !Player::BOTH.iter().all(|player| pressed(*player, pad)))
}

/// Whether the inputs ever led to another state than a match in which nobody presses anything.
fn influenced<G: Game>(stress: &Stress<G>, seed: u32, inputs: &[Inputs]) -> bool {
    let [mut played, mut idle] = [(); 2].map(|()| (stress.make)(seed, None));
    let mut cues = Cues::unseen();
    inputs.iter().any(|inputs| {
        played.step(*inputs, &mut cues);
        idle.step(Inputs::default(), &mut cues);
        digest(&played.snapshot()) != digest(&idle.snapshot())
    })
}

/// The frame of which a machine said that its state differs.
fn reported_frame(event: &Event) -> Option<Frame> {
    match event {
        Event::Desync(desync) => Some(desync.frame),
        Event::Ended(Verdict::Differs { frame, .. }) => Some(*frame),
        _ => None,
    }
}

fn autopsy<G: Game>(machine: &SimPeer<Timed<G>>) -> Option<Box<Autopsy>> {
    machine.events.iter().find_map(|(_, event)| match event {
        Event::Autopsy(autopsy) => Some(autopsy.clone()),
        _ => None,
    })
}

fn figures_of<G: Game>(machine: &SimPeer<Timed<G>>) -> Figures {
    let stats = machine.stats();
    let last = machine.events.last().map_or(Duration::ZERO, |(at, _)| *at);
    Figures {
        // The step that ends a match is told as its end, and not counted there.
        frames: stats.frames.max(machine.session().map_or(0, |session| u64::from(session.current().0))),
        stalled: stats.stalled_frames,
        rollbacks: stats.rollback.rollbacks,
        resimulated: stats.rollback.resimulated_frames,
        depths: stats.rollback.depths,
        bytes: stats.bytes_out,
        played: machine.started_at.map_or(Duration::ZERO, |start| last.saturating_sub(start)),
        refused: stats.refused.total() + refused_by_seal(machine),
        checksums: stats.checksums_compared,
    }
}

/// The datagrams that a seal around the match has refused.
fn refused_by_seal<G: Game>(machine: &SimPeer<Timed<G>>) -> u64 {
    #[cfg(feature = "seal")]
    return machine.seal.as_ref().map_or(0, |seal| seal.stats().refused.total());
    #[cfg(not(feature = "seal"))]
    {
        let _ = machine;
        0
    }
}

/// Why the match is not one that both machines agree to have ended as it should. Both ends are told: that of one machine is often the
/// consequence of the other's.
fn unfinished<G: Game>(machines: &[&SimPeer<Timed<G>>; 2], frames: u32, checked: Frame) -> Option<String> {
    let [one, two] = match machines.map(end) {
        [Ok(one), Ok(two)] => [one, two],
        [one, two] => {
            let told = |end: Result<(Frame, u32), String>| {
                end.map_or_else(|how| how, |(frame, _)| format!("ended well at frame {frame}"))
            };
            return Some(format!("the host {}, the joiner {}", told(one), told(two)));
        }
    };
    if one != two || one.0 > Frame(frames) {
        return Some(format!("the host ended at frame {}, the joiner at {}, of {frames}", one.0, two.0));
    }
    (checked != one.0).then(|| format!("only {checked} of {} frames were confirmed by both", one.0))
}

/// The last frame of a machine and its checksum, or why there is none.
fn end<G: Game>(machine: &SimPeer<Timed<G>>) -> Result<(Frame, u32), String> {
    if let Some(error) = &machine.error {
        return Err(format!("found no match ({error})"));
    }
    let at = machine.session().map_or(Frame::ZERO, Session::current);
    match machine.events.last().filter(|_| machine.ended()) {
        Some((_, Event::Ended(Verdict::Agreed { frame, checksum, .. }))) => Ok((*frame, *checksum)),
        Some((_, Event::Ended(verdict))) => Err(format!("has the verdict: {verdict}")),
        Some((_, Event::Disconnected { reason })) => Err(format!("ended in frame {at} ({reason})")),
        Some((_, other)) => Err(format!("has this last event: {other:?}")),
        None => Err(format!("was still in frame {at} when time was up")),
    }
}

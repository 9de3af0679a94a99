//! The verdict on a match that was played: whether it failed, or proved nothing.

use super::Stress;
use super::case::Case;
use super::outcome::{Figures, Outcome, Trouble};
use super::timed::Timed;
use crate::lab::link::Chance;
use crate::lab::oracle::digest;
use crate::lab::{SimMatch, SimPeer};
use crate::{Autopsy, Buttons, Cues, Event, Frame, Game, Inputs, Player, Session, Verdict};
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
pub(super) fn examine<G: Game>(
    stress: &Stress<G>,
    sim: &SimMatch<Timed<G>>,
    case: &Case,
    seen: &Seen,
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
    } else if let Some(how) = unfinished(&machines, case.frames, sim.checked()) {
        Some(Trouble::Unfinished { how })
    } else {
        let expected = stress.expected.zip(sim.direct());
        let why = if seen.expects_rollbacks && figures.rollbacks == 0 {
            Some("nothing was predicted wrongly")
        } else if let Some(((why, _), _)) = expected.filter(|((_, happened), direct)| !happened(&direct.game))
        {
            Some(why)
        } else if has_idle_pad(stress.pads, &seen.inputs) {
            Some("a pad was never pressed")
        } else if seen.changes * LOOKS_PER_CHANGE < seen.looks {
            Some("the state hardly changed")
        } else if stress.expected.is_none() && !influenced(stress, game_seed, &seen.inputs) {
            Some("the inputs made no difference")
        } else {
            None
        };
        why.map(|why| Trouble::Vacuous { why })
    };
    let silent = matches!(trouble, Some(Trouble::Diverged { reported: false, .. } | Trouble::Vacuous { .. }));
    Outcome {
        figures,
        in_rematch: false,
        excused: case.link.corrupt != Chance::NEVER && trouble.is_some() && !silent,
        trouble,
        desync,
        autopsies: machines.map(autopsy),
        samples: Default::default(),
        game_seed,
        inputs: Vec::new(),
    }
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

/// Why the match is not one that both machines agree to have ended as it should.
fn unfinished<G: Game>(machines: &[&SimPeer<Timed<G>>; 2], frames: u32, checked: Frame) -> Option<String> {
    let mut ends = Vec::new();
    for (machine, name) in machines.iter().zip(["the host", "the joiner"]) {
        if let Some(error) = &machine.error {
            return Some(format!("{name} found no match: {error}"));
        }
        let Some((_, last)) = machine.events.last().filter(|_| machine.ended()) else {
            let at = machine.session().map_or(Frame::ZERO, Session::current);
            return Some(format!("{name} was still in frame {at} when time was up"));
        };
        match last {
            Event::Ended(Verdict::Agreed { frame, checksum }) => ends.push((*frame, *checksum)),
            Event::Ended(verdict) => return Some(format!("the verdict of {name}: {verdict}")),
            Event::Disconnected { reason } => return Some(format!("{name}: {reason}")),
            other => return Some(format!("the last event of {name} is {other:?}")),
        }
    }
    let [one, two] = ends[..] else { return Some("a machine has no end".to_owned()) };
    if one != two || one.0 > Frame(frames) {
        return Some(format!("the host ended at frame {}, the joiner at {}, of {frames}", one.0, two.0));
    }
    (checked != one.0).then(|| format!("only {checked} of {} frames were confirmed by both", one.0))
}

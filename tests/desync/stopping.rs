//! A match that stops at a desync: both machines are told the same, and neither leaves before the other has its notes.

use crate::board::Board;
use core::time::Duration;
use rebout::lab::forge::{Knows, message};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::wire::message::{Leaving, LeavingWhy, Message};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, addresses, every_fourth};
use rebout::wire::WireFrame;
use rebout::{Event, OnDesync, Player, Protocol, Reason};
use support::repeats;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Hundreds of leaves differ, so that the notes take several messages.
const PLAY: Play<Board> = Play { build: |_| Board::new(250), script: every_fourth };

/// How long a program waits for its last messages at most: as long as a farewell is repeated.
const LINGER: Duration = ms(500);

fn differs(game: &mut Board, player: Player) {
    if player == Player::Two {
        game.spoils = Some((100, 240));
    }
}

/// Plays until both programs have quit, each as soon as nothing is left to deliver. `slow` cannot keep up.
fn play(seed: u64, link: LinkConfig, slow: Option<usize>, policies: [OnDesync; 2]) -> SimMatch<Board> {
    let mut setup = Setup::new(seed, link);
    for (config, policy) in setup.configs.iter_mut().zip(policies) {
        config.on_desync = policy;
    }
    let mut sim = SimMatch::new(setup, PLAY);
    for id in [HOST, JOINER] {
        sim.machine_mut(id).tamper = Some(differs);
    }
    if let Some(slow) = slow {
        sim.machine_mut(slow).min_frame_length = ms([30, 60, 150, 250][seed as usize / 9 % 4]);
    }
    let mut quits_at = [None; 2];
    let mut running = [true; 2];
    while running != [false; 2] && sim.world.now() < Duration::from_secs(60) {
        sim.run_for(ms(10));
        for id in [HOST, JOINER] {
            if running[id] && sim.machine(id).ended() {
                let quits_at = *quits_at[id].get_or_insert(sim.world.now() + LINGER);
                if !sim.machine(id).lingers() || sim.world.now() >= quits_at {
                    sim.world.stop(id);
                    running[id] = false;
                }
            }
        }
    }
    sim
}

/// Why the match is over for a machine, and whether its autopsy is complete.
fn outcome(sim: &SimMatch<Board>, id: usize) -> (Option<Reason>, Option<bool>) {
    let complete = sim.told(id).find_map(|event| match event {
        Event::Autopsy(autopsy) => Some(autopsy.complete),
        _ => None,
    });
    match sim.ending(id) {
        Some(Event::Disconnected { reason }) => (Some(*reason), complete),
        _ => (None, complete),
    }
}

#[test]
fn both_machines_are_told_of_the_desync_with_a_whole_autopsy() {
    let links = [
        LinkConfig::new(ms(5)),
        LinkConfig { jitter: ms(30), ..LinkConfig::new(ms(60)) },
        LinkConfig { loss: Chance::percent(30), ..LinkConfig::new(ms(80)) },
    ];
    let mut wrong = Vec::new();
    for seed in 0..repeats(360) {
        let link = links[seed as usize % links.len()];
        let slow = [None, Some(HOST), Some(JOINER)][seed as usize / links.len() % 3];
        let sim = play(seed, link, slow, [OnDesync::Stop; 2]);
        let told = [HOST, JOINER].map(|id| outcome(&sim, id));
        if told != [(Some(Reason::Desync), Some(true)); 2] {
            wrong.push((seed, slow, told));
        }
    }
    assert!(wrong.is_empty(), "{} runs: {wrong:#?}", wrong.len());
}

#[test]
fn machine_that_goes_on_is_told_of_the_desync_too() {
    for policy in [OnDesync::Report, OnDesync::GoOn] {
        let sim = play(4, LinkConfig::new(ms(30)), None, [OnDesync::Stop, policy]);
        let told = [HOST, JOINER].map(|id| outcome(&sim, id));
        let expected = match policy {
            OnDesync::GoOn => [(Some(Reason::NotesWithheld), Some(false)), (Some(Reason::Desync), None)],
            _ => [(Some(Reason::Desync), Some(true)); 2],
        };
        assert_eq!(told, expected, "{policy:?}");
    }
}

/// A peer whose states are the same leaves, and calls it a desync.
#[test]
fn desync_alone_excuses_no_leaving() {
    let mut sim = SimMatch::new(Setup::new(3, LinkConfig::new(ms(30))), PLAY);
    sim.eavesdrop();
    assert!(sim.run_until_frame(60));
    let Knows { header, token, .. } = Knows::of(&sim, HOST);
    let end = WireFrame(sim.machine(JOINER).overheard.as_ref().expect("eavesdropped on").said_end);
    sim.world.stop(JOINER);
    let leaving = Message::Leaving(Leaving { token, end, why: LeavingWhy::Desync });
    sim.inject(HOST, addresses()[JOINER], &message(header, &leaving));
    sim.run_for(ms(100));
    assert_eq!(outcome(&sim, HOST), (Some(Reason::Left), None));
}

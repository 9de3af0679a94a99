//! Spectators, rematches and the log that is sent, after a machine came back into its match.

use crate::game::{Machine, Tally};
use crate::rejoin::{Broken, ELSEWHERE, LAST, WAIT, assert_unbroken, checksum, rejoined};
use crate::sim_network::{SimSocket, TICK, addr, socket};
use core::time::Duration;
use rebout::lab::sim::{EntryKind, Recording as Recorded};
use rebout::replay::{Outcome, Recording, Tail};
use rebout::{
    BroadcastConfig, ConnectOptions, Connection, Event, Finish, Options, Player, Randomness, Watch, Watching,
};
use std::path::Path;
use std::time::Instant;

/// The endpoint of the spectator.
const SPECTATOR: usize = 3;

/// The first state that the host sends, and whether it has spectators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) first_state: Vec<u8>,
    pub(crate) spectators: Option<BroadcastConfig>,
}

impl Terms {
    pub(crate) fn apply(&self, id: usize, mut options: Options) -> Options {
        options = options.first_state_limit(1 << 20);
        if id == 0 {
            options = options.first_state(self.first_state.clone());
            if let Some(config) = &self.spectators {
                options = options.spectators(config.clone());
            }
        }
        options
    }
}

type Watcher = Watch<SimSocket>;

fn watched(name: &str, seed: u64, loss: u32) -> Broken {
    let terms = Terms { spectators: Some(BroadcastConfig::default()), ..Terms::default() };
    Broken::on_terms(name, (seed, loss, true), [WAIT; 2], terms)
}

fn watcher(broken: &Broken) -> Watcher {
    watcher_at(broken, SPECTATOR)
}

fn watcher_at(broken: &Broken, endpoint: usize) -> Watcher {
    let invite = broken.machines[0].online.share_to_watch().expect("an invite to watch");
    let options = ConnectOptions::new().randomness(Randomness::Seeded(77 + endpoint as u64));
    let connection = Connection::join_on(&options, socket(&broken.sim, endpoint), &[addr(endpoint)], &invite);
    Watch::on(connection.unwrap()).unwrap()
}

/// Runs the players and the spectator, or only one player and the spectator.
fn run(
    broken: &mut Broken,
    watch: &mut Watcher,
    only: Option<usize>,
    mut done: impl FnMut(&Broken, &Watcher) -> bool,
) {
    let end = broken.sim.borrow().now() + Duration::from_secs(90);
    while !done(broken, watch) {
        match only {
            Some(id) => {
                broken.machines[id].turn();
                broken.sim.borrow_mut().pass(TICK);
            }
            None => broken.step(),
        }
        watch.poll().unwrap();
        let told = (watch.spectator().state(), broken.machines.each_ref().map(|one| one.finish.clone()));
        assert!(broken.sim.borrow().now() < end, "{told:?}");
    }
}

fn run_to_frame(broken: &mut Broken, watch: &mut Watcher, frame: u32) {
    run(broken, watch, None, |broken, _| {
        broken.machines.iter().all(|one| one.game.as_ref().is_some_and(|game| game.state.frame >= frame))
    });
}

fn run_for(broken: &mut Broken, watch: &mut Watcher, only: usize, time: Duration) {
    let until = broken.sim.borrow().now() + time;
    run(broken, watch, Some(only), |broken, _| broken.sim.borrow().now() >= until);
}

/// The spectator has the whole match, of which the players agree on this checksum.
fn assert_seen(watch: &Watcher, agreed: u32) {
    let recording = Recording::open(watch.spectator().bytes().to_vec()).unwrap();
    assert_eq!((recording.frames(), recording.tail()), (LAST, Tail::Whole));
    assert_eq!(recording.end().unwrap().outcome, Outcome::Agreed { checksum: agreed });
    assert!(recording.verify(&mut Tally::new(recording.header().seed, LAST)).unwrap() > 0);
}

/// By the invite that they have, after a longer silence than the one after which another broadcast is asked, and twice.
#[test]
fn spectators_see_the_match_again_when_the_host_came_back() {
    let mut broken = watched("watched", 30, 3);
    let mut watch = watcher(&broken);
    let invite = broken.machines[0].online.share_to_watch();
    run_to_frame(&mut broken, &mut watch, 80);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    for (frame, number) in [(80, 1), (150, 2)] {
        run_to_frame(&mut broken, &mut watch, frame);
        run(&mut broken, &mut watch, None, |_, watch| !watch.spectator().bytes().is_empty());
        assert_eq!(
            (watch.spectator().match_number(), watch.spectator().state()),
            (number, Watching::Receiving)
        );
        run_for(&mut broken, &mut watch, 1, Duration::from_millis(10_500));
        assert_eq!(watch.spectator().state(), Watching::Silent, "it is not given up");
        broken.come_back(0, 0);
        run(&mut broken, &mut watch, None, |broken, _| broken.machines.iter().all(rejoined));
        broken.machines.iter_mut().for_each(|one| one.events.clear());
        assert_eq!(broken.machines[0].online.share_to_watch(), invite);
    }
    run(&mut broken, &mut watch, None, |broken, watch| {
        broken.machines.iter().all(|one| one.finish.is_some())
            && watch.spectator().state() == Watching::Complete
    });
    assert_unbroken(&mut broken, seed, "watched");
    assert_eq!(watch.spectator().match_number(), 3, "a log that is written anew has another number");
    assert_seen(&watch, checksum(broken.machines[0].finish.as_ref().unwrap()).unwrap());
    let stats = broken.machines[0].online.spectators().unwrap();
    assert_eq!((stats.spectators, stats.joined), (1, 1));
    assert!(broken.machines[0].notices.is_empty(), "{:?}", broken.machines[0].notices);
}

/// A program that comes back with other options does not show more than the first one.
#[test]
fn delay_of_spectators_is_not_shortened_by_the_next_program() {
    let late = Duration::from_secs(5);
    let terms = Terms {
        spectators: Some(BroadcastConfig { delay: late, ..BroadcastConfig::default() }),
        ..Terms::default()
    };
    let mut broken = Broken::on_terms("late", (38, 0, true), [WAIT; 2], terms);
    let mut watch = watcher(&broken);
    run_to_frame(&mut broken, &mut watch, 60);
    let ticket = broken.ticket(0);
    run_for(&mut broken, &mut watch, 1, Duration::from_secs(2));
    broken.terms.spectators = Some(BroadcastConfig::default());
    broken.come_back_by(0, 0, &ticket);
    let back_at = broken.sim.borrow().now();
    run(&mut broken, &mut watch, None, |_, watch| watch.spectator().match_number() > 0);
    let waited = broken.sim.borrow().now() - back_at;
    assert!(waited >= late && watch.spectator().delay() == late, "{waited:?}");
}

/// The places, the bandwidth, the messages and the memory of the first program, whatever the next one says.
#[test]
fn limits_for_spectators_are_those_of_the_match() {
    let limits = BroadcastConfig {
        max_spectators: 1,
        bits_per_second: 300_000,
        chat: true,
        max_log_bytes: 1 << 20,
        ..BroadcastConfig::default()
    };
    let terms = Terms { spectators: Some(limits), ..Terms::default() };
    let mut broken = Broken::on_terms("limits", (39, 0, true), [WAIT; 2], terms);
    broken.run_to_frame(60);
    broken.terms.spectators = Some(BroadcastConfig::default());
    broken.come_back(0, 0);
    broken.run("back", |machines| machines.iter().all(rejoined));
    let ticket = std::fs::read_to_string(broken.ticket(0)).unwrap();
    let kept = ticket.lines().find(|line| line.starts_with("watch ")).unwrap();
    assert!(kept.ends_with(" 0 1 300000 true 1048576"), "the next program has them too: {kept}");
    let (mut watch, mut second) = (watcher(&broken), watcher_at(&broken, ELSEWHERE));
    run(&mut broken, &mut watch, None, |_, watch| !watch.spectator().bytes().is_empty());
    broken.machines[0].online.send(b"hello").unwrap();
    run(&mut broken, &mut watch, None, |broken, watch| {
        second.poll().unwrap();
        broken.machines.iter().all(|one| one.finish.is_some())
            && watch.spectator().state() == Watching::Complete
    });
    let recording = Recording::open(watch.spectator().bytes().to_vec()).unwrap();
    assert!(recording.messages().any(|(_, player, text)| (player, text) == (Player::One, &b"hello"[..])));
    assert!(second.spectator().bytes().is_empty(), "there is one place: {:?}", second.spectator().state());
}

#[test]
fn spectators_stay_when_the_joiner_came_back() {
    let mut broken = watched("stay", 31, 3);
    let mut watch = watcher(&broken);
    run_to_frame(&mut broken, &mut watch, 100);
    let ticket = broken.ticket(1);
    run_for(&mut broken, &mut watch, 0, Duration::from_secs(12));
    assert_eq!(watch.spectator().state(), Watching::Receiving);
    broken.come_back_by(1, ELSEWHERE, &ticket);
    run(&mut broken, &mut watch, None, |broken, watch| {
        broken.machines.iter().all(|one| one.finish.is_some())
            && watch.spectator().state() == Watching::Complete
    });
    assert_eq!(watch.spectator().match_number(), 1);
    assert_seen(&watch, checksum(broken.machines[1].finish.as_ref().unwrap()).unwrap());
}

/// Nobody comes back to a host that has ended, but for a bounded time.
#[test]
fn spectator_gives_up_a_host_that_does_not_come_back() {
    let mut broken = watched("gone", 32, 0);
    let mut watch = watcher(&broken);
    run_to_frame(&mut broken, &mut watch, 100);
    run(&mut broken, &mut watch, None, |_, watch| !watch.spectator().bytes().is_empty());
    let bytes = watch.spectator().bytes().to_vec();
    run_for(&mut broken, &mut watch, 1, Duration::from_secs(80));
    run_for(&mut broken, &mut watch, 1, Duration::from_secs(65));
    assert_eq!(watch.spectator().state(), Watching::Silent);
    run_for(&mut broken, &mut watch, 1, Duration::from_secs(10));
    assert_eq!(watch.spectator().state(), Watching::Lost);
    assert_eq!(watch.spectator().bytes(), bytes, "what it has stays");
}

/// A ticket is looked at every 256 frames.
#[test]
fn revoked_invite_to_watch_is_not_kept_for_the_next_program() {
    let mut broken = watched("revoked", 33, 0);
    broken.machines.iter_mut().for_each(|one| one.last = 700);
    broken.run_to_frame(60);
    let kept = |broken: &Broken| std::fs::read_to_string(broken.ticket(0)).unwrap();
    let invite = broken.machines[0].online.share_to_watch().unwrap();
    assert!(kept(&broken).contains(&format!("\nwatch {invite} ")));
    assert!(!std::fs::read_to_string(broken.ticket(1)).unwrap().contains("\nwatch "), "a joiner has none");
    assert!(broken.machines[0].online.connection_mut().revoke(&invite));
    broken.run_to_frame(300);
    assert!(!kept(&broken).contains("\nwatch "));
    broken.come_back(0, 0);
    broken.run("back", |machines| machines.iter().all(rejoined));
    assert_eq!(broken.machines[0].online.share_to_watch(), None);
    assert!(broken.machines[0].online.spectators().is_none());
}

/// Seats and the first state are those of the match before, although the machine that waited is the host then.
#[test]
fn players_play_again_after_either_machine_came_back() {
    for gone in [0, 1] {
        let terms = Terms { first_state: vec![9; 700], spectators: Some(BroadcastConfig::default()) };
        let mut broken = Broken::on_terms("rematch", (34 + gone as u64, 0, true), [WAIT; 2], terms);
        let mut watch = watcher(&broken);
        run_to_frame(&mut broken, &mut watch, 80);
        let ticket = broken.ticket(gone);
        run_for(&mut broken, &mut watch, 1 - gone, Duration::from_secs(2));
        broken.come_back_by(gone, gone, &ticket);
        let played = |broken: &Broken| broken.machines.iter().all(|one| one.finish.is_some());
        let before = broken.machines[1 - gone].online.agreed().unwrap().seed;
        run(&mut broken, &mut watch, None, |broken, watch| {
            played(broken) && watch.spectator().state() == Watching::Complete
        });
        let number = watch.spectator().match_number();
        for machine in &mut broken.machines {
            assert!(machine.online.rematch());
            machine.finish = None;
        }
        run(&mut broken, &mut watch, None, |broken, watch| {
            played(broken)
                && watch.spectator().match_number() > number
                && watch.spectator().state() == Watching::Complete
        });
        let ends = broken.machines.each_ref().map(|one| one.finish.as_ref().and_then(checksum));
        assert!(ends[0].is_some() && ends[0] == ends[1], "{gone}: {:?}", broken.machines[0].finish);
        let agreed = broken.machines.each_ref().map(|one| one.online.agreed().unwrap());
        assert_eq!(agreed.map(|agreed| agreed.seat), [Player::One, Player::Two], "{gone}");
        assert!(agreed.iter().all(|agreed| agreed.first_state[..] == [9; 700][..]), "{gone}");
        assert_ne!(agreed[0].seed, before, "another match");
        let recording = Recording::open(watch.spectator().bytes().to_vec()).unwrap();
        assert_eq!(recording.end().unwrap().outcome, Outcome::Agreed { checksum: ends[0].unwrap() });
    }
}

/// Waits until a recording, which a thread writes, has so many frames.
fn await_frames(path: &Path, frames: u32) {
    let end = Instant::now() + Duration::from_secs(60);
    let has = || Recording::open(std::fs::read(path).ok()?).ok().map(|recording| recording.frames());
    while has().is_none_or(|has| has < frames) {
        assert!(Instant::now() < end, "{:?} frames are written", has());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The log has the first state of the match, of 60 KB: a machine with a recording of its own is not sent it again.
#[test]
fn only_the_missing_part_of_the_log_is_sent() {
    let first_state: Vec<u8> = (0..60_000_u32).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
    let sent = |records: bool, gone: usize| {
        let terms = Terms { first_state: first_state.clone(), spectators: None };
        let mut broken = Broken::on_terms("part", (36, 0, records), [WAIT; 2], terms);
        broken.run_to_frame(150);
        let ticket = broken.ticket(gone);
        broken.run_alone(1 - gone, Duration::from_secs(2));
        if let Some(path) = broken.machines[gone].online.recording() {
            await_frames(path, 100);
        }
        broken.sim.borrow_mut().network.record(Recorded::Full);
        broken.come_back_by(gone, gone, &ticket);
        broken.run("back", |machines| machines.iter().all(rejoined));
        let bytes: usize = {
            let sim = broken.sim.borrow();
            let entries = sim.network.transcript().entries().iter();
            let sent = entries.filter(|entry| {
                (entry.kind, entry.from, entry.to) == (EntryKind::Sent, addr(1 - gone), addr(gone))
            });
            sent.map(|entry| entry.datagram.len()).sum()
        };
        let finishes = broken.finishes("part");
        assert!(finishes.iter().all(|finish| checksum(finish).is_some()), "{finishes:?}");
        bytes
    };
    for gone in [0, 1] {
        let (whole, part) = (sent(false, gone), sent(true, gone));
        assert!(whole > 60_000 && part < 12_000, "machine {gone}: {part} of {whole} bytes");
    }
}

/// A host has sixteen keys: the one by which a machine has come back is given up.
#[test]
fn machine_comes_back_more_often_than_a_host_has_keys() {
    let mut broken = Broken::waiting("often", 40, 0, false, [WAIT; 2]);
    broken.machines.iter_mut().for_each(|one| one.last = 1_000);
    for count in 1..=18 {
        broken.run_to_frame(20 * count);
        broken.come_back(1, 1);
        broken.run("back", |machines| machines.iter().all(rejoined));
        broken.machines.iter_mut().for_each(|one| one.events.clear());
    }
    assert!(matches!(broken.finishes("often"), [Finish::Played(_), Finish::Played(_)]));
}

/// A machine that moves is asked for at its new address, and the file before the move is deleted.
#[test]
fn ticket_has_the_new_address_of_the_other_machine() {
    let mut broken = Broken::waiting("moved", 37, 0, false, [WAIT; 2]);
    broken.machines.iter_mut().for_each(|one: &mut Machine| one.last = 700);
    broken.run_to_frame(60);
    let (before, seed) = (broken.ticket(0), broken.machines[0].online.agreed().unwrap().seed);
    broken.sim.borrow_mut().move_machine(1, ELSEWHERE);
    broken.run_to_frame(300);
    assert_eq!(broken.machines[0].online.peer().addr, Some(addr(ELSEWHERE)));
    let after = broken.ticket(0);
    assert!(!before.exists() && after != before);
    broken.come_back_by(0, 0, &after);
    broken.run("back", |machines| machines.iter().all(rejoined));
    assert_eq!(broken.machines[0].online.agreed().unwrap().seed, seed);
    assert!(matches!(broken.finishes("moved"), [Finish::Played(_), Finish::Played(_)]));
}

/// The first program is silent for a while. Once it is heard again, its ticket opens nothing.
#[test]
fn machine_that_is_heard_again_keeps_its_seat() {
    let mut broken = Broken::waiting("heard", 11, 0, false, [WAIT; 2]);
    broken.run_to_frame(40);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    broken.run_alone(0, Duration::from_secs(2));
    broken.run("heard", |machines| machines[0].events.contains(&Event::Resumed));
    let connections = |broken: &Broken| broken.machines[0].online.connection().stats().connections;
    let (before, mut second) = (connections(&broken), broken.second_program(97));
    while broken.machines.iter().any(|one| one.finish.is_none()) {
        second.turn();
        broken.step();
    }
    assert_eq!(connections(&broken), before, "its key is dismissed");
    assert_unbroken(&mut broken, seed, "heard");
    assert!(second.game.is_none() && !broken.machines.iter().any(rejoined));
}

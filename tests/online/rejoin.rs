//! A machine whose program ends in the middle of a match, and that comes back into it.

use crate::came_back::Terms;
use crate::folder::Folder;
use crate::game::{Machine, Tally};
use crate::sim_network::{Shared, SimNetwork, TICK, addr, socket};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording as Recorded};
use rebout::replay::{End, Header, Outcome, ResumptionError, StreamRecorder, Winner};
use rebout::{
    Buttons, Config, ConnectOptions, Connection, Event, Finish, Frame, Game, Inputs, Online, Options,
    Randomness, Reason, Verdict,
};
use std::path::{Path, PathBuf};
use support::repeats;

pub(crate) const LAST: u32 = 200;
/// The endpoint from which a machine comes back with another address.
pub(crate) const ELSEWHERE: usize = 2;

/// How long a machine waits for the other one, unless a test says otherwise.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

fn config(seed: u64, id: usize, wait: Duration) -> Config {
    Config::new(0xB0).with(|config| {
        config.game.content_hash = 1;
        config.lobby.entropy = Some(seed * 2 + id as u64);
        // The input of a frame is that of the script, whenever it is stepped.
        (config.rollback.delay_frames, config.rollback.kept_buttons) = (Some(0), Buttons::NONE);
        config.timeouts.countdown = Duration::from_millis(300);
        (config.timeouts.lost_after, config.timeouts.no_progress_after) = (wait, wait);
    })
}

/// A match in a simulated network, whose machines may be killed.
pub(crate) struct Broken {
    pub(crate) sim: Shared,
    pub(crate) machines: [Machine; 2],
    /// The folders of the tickets, and of the recordings.
    folders: [Folder; 2],
    recordings: [Folder; 2],
    records: bool,
    seed: u64,
    waits: [Duration; 2],
    /// The options of a host.
    pub(crate) terms: Terms,
}

impl Broken {
    fn new(name: &str, seed: u64, loss: u32, records: bool) -> Self {
        Self::waiting(name, seed, loss, records, [WAIT; 2])
    }

    /// A match whose machines wait for this long for each other.
    pub(crate) fn waiting(name: &str, seed: u64, loss: u32, records: bool, waits: [Duration; 2]) -> Self {
        Self::on_terms(name, (seed, loss, records), waits, Terms::default())
    }

    /// A match on these terms.
    pub(crate) fn on_terms(
        name: &str,
        (seed, loss, records): (u64, u32, bool),
        waits: [Duration; 2],
        terms: Terms,
    ) -> Self {
        let sim = SimNetwork::new(4);
        let link = LinkConfig {
            loss: Chance::percent(loss),
            jitter: Duration::from_millis(5),
            ..LinkConfig::new(Duration::from_millis(20))
        };
        for (one, two) in [(0, 1), (0, 2), (1, 2)] {
            sim.borrow_mut().network.set_links(one, two, link);
        }
        let folders = [0, 1].map(|id| Folder::new(&format!("ticket-{name}-{seed}-{id}")));
        let recordings = [0, 1].map(|id| Folder::new(&format!("rec-{name}-{seed}-{id}")));
        let connect = |id: u64| ConnectOptions::new().randomness(Randomness::Seeded(seed * 8 + id));
        let host = Connection::host_on(&connect(0), socket(&sim, 0), &[addr(0)]).unwrap();
        let joiner = Connection::join_on(&connect(1), socket(&sim, 1), &[addr(1)], host.share()).unwrap();
        let mut connections = [host, joiner].into_iter();
        let machines = [0, 1].map(|id| {
            let options = terms.apply(id, options(seed, (id, waits[id]), &folders, &recordings, records));
            let mut machine = Machine::new(Online::on(options, connections.next().unwrap()).unwrap());
            machine.last = LAST;
            machine
        });
        Self { sim, machines, folders, recordings, records, seed, waits, terms }
    }

    pub(crate) fn step(&mut self) {
        self.machines.iter_mut().for_each(Machine::turn);
        self.sim.borrow_mut().pass(TICK);
    }

    /// Lets only one machine run.
    pub(crate) fn run_alone(&mut self, id: usize, time: Duration) {
        let end = self.sim.borrow().now() + time;
        while self.sim.borrow().now() < end {
            self.machines[id].turn();
            self.sim.borrow_mut().pass(TICK);
        }
    }

    pub(crate) fn run(&mut self, what: &str, mut done: impl FnMut(&[Machine; 2]) -> bool) {
        let end = self.sim.borrow().now() + Duration::from_secs(90);
        while !done(&self.machines) {
            self.step();
            let told = || {
                self.machines
                    .each_ref()
                    .map(|one| (one.progress.clone(), one.finish.clone(), one.events.clone()))
            };
            assert!(self.sim.borrow().now() < end, "{what}: {:?}", told());
        }
    }

    pub(crate) fn run_to_frame(&mut self, frame: u32) {
        self.run("to a frame", |machines| {
            machines.iter().all(|one| one.game.as_ref().is_some_and(|game| game.state.frame >= frame))
        });
    }

    pub(crate) fn tickets(&self, id: usize) -> Vec<PathBuf> {
        self.folders[id].entries()
    }

    pub(crate) fn ticket(&self, id: usize) -> PathBuf {
        let [ticket] = &self.folders[id].entries()[..] else { panic!("{:?}", self.folders[id].entries()) };
        ticket.clone()
    }

    /// The program of a machine is gone, and another one of it comes back at this endpoint.
    pub(crate) fn come_back(&mut self, id: usize, endpoint: usize) {
        let ticket = self.ticket(id);
        self.come_back_by(id, endpoint, &ticket);
    }

    pub(crate) fn come_back_by(&mut self, id: usize, endpoint: usize, ticket: &Path) {
        let options =
            options(self.seed ^ 0x55, (id, self.waits[id]), &self.folders, &self.recordings, self.records);
        let options = self.terms.apply(id, options);
        let options =
            options.connect(ConnectOptions::new().randomness(Randomness::Seeded(self.seed * 8 + 5)));
        let online =
            Online::rejoin_on(options, ticket, socket(&self.sim, endpoint), &[addr(endpoint)]).unwrap();
        let before = core::mem::replace(&mut self.machines[id], Machine::new(online));
        self.machines[id].last = before.last;
    }

    /// Another program of the joiner, at an address of its own, by a copy of its ticket.
    pub(crate) fn second_program(&self, seed: u64) -> Machine {
        let copy = self.recordings[1].file("copy");
        write_private(&copy, &std::fs::read_to_string(self.ticket(1)).unwrap());
        let options = options(seed, (1, WAIT), &self.folders, &self.recordings, false);
        Machine::new(
            Online::rejoin_on(options, &copy, socket(&self.sim, ELSEWHERE), &[addr(ELSEWHERE)]).unwrap(),
        )
    }

    pub(crate) fn finishes(&mut self, what: &str) -> [Finish; 2] {
        self.run(what, |machines| machines.iter().all(|one| one.finish.is_some()));
        self.machines.each_ref().map(|one| one.finish.clone().unwrap())
    }
}

fn options(
    seed: u64,
    (id, wait): (usize, Duration),
    folders: &[Folder; 2],
    recordings: &[Folder; 2],
    records: bool,
) -> Options {
    let options = Options::with_config(config(seed, id, wait)).rejoin_in(&folders[id].0);
    if records { options.record_to(&recordings[id].0) } else { options }
}

/// The checksum with which the match ends if nothing happens to it.
fn unbroken(seed: u32) -> u32 {
    let mut game = Tally::new(seed, LAST);
    while !game.finished() {
        let input = Buttons((game.state.frame / 7 % 32) as u16);
        game.step(Inputs::from([input; 2]), &mut rebout::Cues::new());
    }
    rebout::checksum(&game.state)
}

pub(crate) fn checksum(finish: &Finish) -> Option<u32> {
    match finish {
        Finish::Played(Verdict::Agreed { checksum, .. }) => Some(*checksum),
        _ => None,
    }
}

/// At any frame, host or joiner, at once or later, from the same address or another, with loss, with and without recordings.
#[test]
fn machine_comes_back_at_any_frame() {
    let mut wrong = Vec::new();
    for seed in 0..repeats(1_000_u64) {
        let draw = |what: u64, among: u64| (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (what * 7)) % among;
        let (gone, frame) = (draw(0, 2) as usize, 1 + draw(1, u64::from(LAST) - 20) as u32);
        let (loss, records) = ([0, 5, 15][draw(2, 3) as usize], draw(3, 2) == 1);
        let endpoint = [gone, ELSEWHERE][draw(4, 2) as usize];
        let mut broken = Broken::new("any", seed, loss, records);
        broken.run_to_frame(frame);
        let agreed_seed = broken.machines[0].online.agreed().unwrap().seed;
        // The program is gone for a while, in which the other one waits.
        let ticket = broken.ticket(gone);
        broken.come_back_by(gone, endpoint, &ticket);
        if draw(5, 3) == 0 {
            broken.run_alone(1 - gone, Duration::from_millis(draw(6, 9_000)));
        }
        let what = format!(
            "seed {seed}: {gone} is gone in frame {frame}, loss {loss}, records {records}, at {endpoint}"
        );
        let finishes = broken.finishes(&what);
        let told = broken
            .machines
            .each_ref()
            .map(|one| one.events.iter().any(|event| matches!(event, Event::Rejoined { .. })));
        if finishes.each_ref().map(checksum) != [Some(unbroken(agreed_seed)); 2] || told != [true; 2] {
            wrong.push((what, finishes, told));
        }
        assert!(broken.folders.iter().all(|folder| folder.entries().is_empty()), "deleted at the verdict");
    }
    assert!(wrong.is_empty(), "{} wrong, {:#?}", wrong.len(), wrong.first());
}

pub(crate) fn rejoined(machine: &Machine) -> bool {
    machine.events.iter().any(|event| matches!(event, Event::Rejoined { .. }))
}

/// Both machines end the match with the checksum of an unbroken one.
pub(crate) fn assert_unbroken(broken: &mut Broken, seed: u32, what: &str) {
    let finishes = broken.finishes(what);
    assert_eq!(finishes.each_ref().map(checksum), [Some(unbroken(seed)); 2], "{what}: {finishes:?}");
}

#[test]
fn both_machines_can_come_back_one_after_the_other() {
    let mut broken = Broken::new("again", 3, 5, true);
    let seed = {
        broken.run_to_frame(30);
        broken.machines[0].online.agreed().unwrap().seed
    };
    for (gone, frame) in [(0, 60), (0, 90), (1, 120), (0, 150)] {
        broken.run_to_frame(frame);
        broken.come_back(gone, gone);
        broken.run("back", |machines| {
            machines.iter().all(|one| {
                one.online.session().is_some_and(|session| session.paused().is_none()) && rejoined(one)
            })
        });
        broken.machines.iter_mut().for_each(|one| one.events.clear());
    }
    assert_unbroken(&mut broken, seed, "again");
}

/// The files of a match that was broken once: that of the machine that came back has all of it.
#[test]
fn recording_of_a_match_that_was_resumed_is_whole() {
    let mut broken = Broken::new("whole", 4, 0, true);
    broken.run_to_frame(150);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    broken.come_back(1, 1);
    assert_unbroken(&mut broken, seed, "whole");
    for id in 0..2 {
        let newest = broken.machines[id].online.recording().expect("a recording").to_owned();
        let recording = rebout::replay::Recording::open(std::fs::read(newest).unwrap()).unwrap();
        assert_eq!(recording.frames(), LAST, "machine {id}");
        assert!(matches!(recording.end().unwrap().outcome, Outcome::Agreed { .. }));
        let mut game = Tally::new(seed, LAST);
        assert!(recording.verify(&mut game).unwrap() > 0);
    }
    assert!(broken.machines[1].notices.is_empty(), "{:?}", broken.machines[1].notices);
    assert!(!broken.machines.iter().any(|one| from_their_log(one.finish.as_ref().unwrap())));
}

fn from_their_log(finish: &Finish) -> bool {
    matches!(finish, Finish::Played(Verdict::Agreed { from_their_log: true, .. }))
}

#[test]
fn resuming_without_a_recording_is_said() {
    let mut broken = Broken::new("without", 5, 0, false);
    broken.run_to_frame(60);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    broken.come_back(0, 0);
    assert_unbroken(&mut broken, seed, "without");
    let finishes = broken.machines.each_ref().map(|one| one.finish.clone().unwrap());
    assert_eq!(finishes.each_ref().map(from_their_log), [true, false], "the verdict of that machine says it");
    assert!(finishes[0].to_string().contains("resumed it from the other machine's log"), "{}", finishes[0]);
    let notices = &broken.machines[0].notices;
    assert!(
        notices.iter().any(|notice| notice.contains("resumes from the log of the other one")),
        "{notices:?}"
    );
}

/// The match of another pair has another key, and so has somebody who made one up.
#[test]
fn ticket_of_another_match_does_not_fit() {
    let mut other = Broken::new("other", 6, 0, false);
    other.run_to_frame(30);
    let theirs = std::fs::read_to_string(other.ticket(1)).unwrap();
    let mut broken = Broken::new("mine", 7, 0, false);
    broken.run_to_frame(60);
    let mine = std::fs::read_to_string(broken.ticket(1)).unwrap();
    let line = |text: &str, at: usize| text.lines().nth(at).unwrap().to_owned();
    for (what, text) in [
        ("all of it", theirs.clone()),
        ("its key", mine.replace(&line(&mine, 1), &line(&theirs, 1))),
        ("its token", mine.replace(&line(&mine, 2), &line(&theirs, 2))),
    ] {
        let path = broken.folders[1].file("forged");
        let _ = std::fs::remove_file(&path);
        write_private(&path, &text);
        broken.come_back_by(1, ELSEWHERE, &path);
        let limit = Duration::from_secs(8);
        broken.run_alone(0, Duration::from_secs(1));
        let end = broken.sim.borrow().now() + limit;
        while broken.sim.borrow().now() < end && broken.machines[1].finish.is_none() {
            broken.step();
        }
        assert!(!rejoined(&broken.machines[0]) && broken.machines[1].game.is_none(), "{what}");
        std::fs::remove_file(&path).unwrap();
    }
}

fn write_private(path: &Path, text: &str) {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Somebody sends all packets again by which a machine came back, in the next outage.
#[test]
fn recorded_handshake_of_a_rejoiner_is_refused() {
    let mut broken = Broken::new("recorded", 8, 0, false);
    broken.run_to_frame(40);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    broken.sim.borrow_mut().network.record(Recorded::Full);
    broken.come_back(1, 1);
    broken.run("back", |machines| machines.iter().all(rejoined));
    let said: Vec<Vec<u8>> = {
        let sim = broken.sim.borrow();
        let entries = sim.network.transcript().entries();
        let sent = entries.iter().filter(|entry| entry.kind == EntryKind::Sent && entry.from == addr(1));
        sent.map(|entry| entry.datagram.to_vec()).collect()
    };
    assert!(said.len() > 10);
    broken.machines[0].events.clear();
    broken.run_to_frame(80);
    // The next outage: the key of the first one is no longer admitted, and the packets are not those of the new connection.
    let ticket = broken.ticket(1);
    broken.run_alone(0, Duration::from_secs(3));
    for datagram in &said {
        for endpoint in [1, ELSEWHERE] {
            let now = broken.sim.borrow().now();
            broken.sim.borrow_mut().network.send(now, endpoint, addr(0), datagram);
        }
        broken.run_alone(0, Duration::from_millis(5));
    }
    assert!(!rejoined(&broken.machines[0]), "{:?}", broken.machines[0].events);
    broken.come_back_by(1, 1, &ticket);
    assert_unbroken(&mut broken, seed, "recorded");
}

/// A program that is started twice: while the first one plays, nobody else gets its seat.
#[test]
fn seat_of_a_machine_that_plays_is_not_given_away() {
    let mut broken = Broken::new("twice", 9, 0, false);
    broken.run_to_frame(40);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    let mut second = broken.second_program(99);
    while broken.machines.iter().any(|one| one.finish.is_none()) {
        second.turn();
        broken.step();
    }
    assert_unbroken(&mut broken, seed, "twice");
    assert!(second.game.is_none() && !broken.machines.iter().any(rejoined));
}

/// The first program is only cut off, and hears again when another one has taken its seat.
#[test]
fn machine_that_is_cut_off_loses_its_seat() {
    let mut broken = Broken::new("cut", 10, 0, false);
    broken.run_to_frame(40);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    let ticket = broken.ticket(1);
    let copy = broken.recordings[1].file("copy");
    write_private(&copy, &std::fs::read_to_string(&ticket).unwrap());
    broken.run_alone(0, Duration::from_secs(2));
    let options = options(98, (1, WAIT), &broken.folders, &broken.recordings, false);
    let online =
        Online::rejoin_on(options, &copy, socket(&broken.sim, ELSEWHERE), &[addr(ELSEWHERE)]).unwrap();
    let mut old = core::mem::replace(&mut broken.machines[1], Machine::new(online));
    broken.machines[1].last = LAST;
    broken.run("back", |machines| machines.iter().all(rejoined));
    while broken.machines.iter().any(|one| one.finish.is_none()) {
        old.turn();
        broken.step();
    }
    assert_unbroken(&mut broken, seed, "cut");
    let end = broken.sim.borrow().now() + Duration::from_secs(60);
    while old.finish.is_none() && broken.sim.borrow().now() < end {
        old.turn();
        broken.sim.borrow_mut().pass(TICK);
    }
    assert!(
        matches!(old.finish, Some(Finish::Ended(Reason::TimedOut | Reason::NoProgress | Reason::GaveUp))),
        "{:?}",
        old.finish
    );
}

/// The recording of the machine that comes back has another input than the log.
#[test]
fn log_that_contradicts_the_own_recording_ends_it() {
    let mut broken = Broken::new("contradiction", 11, 0, false);
    broken.run_to_frame(60);
    let seed = broken.machines[0].online.agreed().unwrap().seed;
    let header = Header { game_id: 0xB0, content_hash: 1, ..Header::new(seed) };
    let mut recorder = StreamRecorder::new(&header, Vec::new()).unwrap();
    for frame in 0..40 {
        let input = Buttons((frame / 7 % 32) as u16 ^ u16::from(frame == 33));
        recorder.record(Frame(frame), Inputs::from([input; 2])).unwrap();
    }
    let end = End { outcome: Outcome::Local, winner: Winner::Undecided };
    let path = broken.recordings[1].file("own.rplk");
    std::fs::write(&path, recorder.finish(end).unwrap()).unwrap();
    let ticket = broken.recordings[1].file("ticket");
    let text = std::fs::read_to_string(broken.ticket(1)).unwrap();
    write_private(&ticket, &format!("{text}recording {}\n", path.display()));
    broken.come_back_by(1, 1, &ticket);
    broken.run("refused", |machines| machines[1].finish.is_some());
    let expected = ResumptionError::Contradiction { frame: Frame(33) };
    assert_eq!(broken.machines[1].finish, Some(Finish::NotResumed(expected)));
    let text = broken.machines[1].finish.as_ref().unwrap().to_string();
    assert!(
        text.starts_with(
            "The match cannot continue: the log of the other machine has other inputs in frame 33"
        ),
        "{text}"
    );
}

/// A player who kills the program again and again holds the match up no longer than one who falls silent.
#[test]
fn coming_back_again_and_again_shortens_the_wait() {
    let mut broken = Broken::new("again-and-again", 12, 0, false);
    for count in 0..4 {
        broken.run_to_frame(20 + 20 * count);
        let ticket = broken.ticket(1);
        broken.run_alone(0, Duration::from_secs(20));
        if broken.machines[0].finish.is_some() {
            assert_eq!(count, 1, "the second outage of 20 s is too long");
            assert_eq!(broken.machines[0].finish, Some(Finish::Ended(Reason::TimedOut)));
            return;
        }
        broken.come_back_by(1, 1, &ticket);
        broken.run("back", |machines| machines.iter().all(rejoined));
        broken.machines[0].events.clear();
    }
    panic!("the match waits for ever");
}

#[test]
fn nothing_is_kept_without_encryption() {
    let folder = Folder::new("bare-ticket");
    let sim = SimNetwork::new(2);
    let connect = ConnectOptions::new().bare();
    let host = Connection::host_on(&connect, socket(&sim, 0), &[addr(0)]).unwrap();
    let joiner = Connection::join_on(&connect, socket(&sim, 1), &[addr(1)], &addr(0).to_string()).unwrap();
    let options = |name| crate::game::options(name).rejoin_in(&folder.0);
    let mut machines =
        [Online::on(options("Ada"), host).unwrap(), Online::on(options("Bob"), joiner).unwrap()]
            .map(Machine::new);
    while machines.iter().any(|one| one.finish.is_none()) {
        machines.iter_mut().for_each(Machine::turn);
        sim.borrow_mut().pass(TICK);
        assert!(folder.entries().is_empty());
    }
}

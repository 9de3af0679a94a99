//! Matches over a transport inside the process: in one thread with a clock of the test's own, and in two threads.

use rebout::net::{Datagrams, Driver, Memory, Received, opaque_addr};
use rebout::{Buttons, Config, Cues, Event, Game, Inputs, Lobby, Player, Session, Verdict, fields};
use std::cell::Cell;
use std::time::{Duration, Instant};

const PULL: Buttons = Buttons(1);
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Counts the frames in which each player pulls; over when one has pulled in 40.
#[derive(Clone, Copy)]
struct Tug {
    pulls: [u32; 2],
}
fields!(Tug { pulls });

impl Game for Tug {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        for player in Player::BOTH {
            self.pulls[player.index()] += u32::from(inputs[player].holds(PULL));
        }
    }

    fn finished(&self) -> bool {
        self.pulls.iter().any(|pulls| *pulls >= 40)
    }
}

fn lobbies<C: Fn() -> Duration>(ends: &[Memory<C>; 2]) -> [Lobby; 2] {
    let config = |entropy| Config::new(0x0074_7567).with(|config| config.lobby.entropy = Some(entropy));
    [Lobby::host(config(1)).unwrap(), Lobby::join(config(2), ends[0].local_addr()).unwrap()]
}

fn held(session: &Session<Tug>) -> Buttons {
    let every = [3, 2][session.local().index()];
    if session.current().0.is_multiple_of(every) { PULL } else { Buttons::NONE }
}

fn verdict(session: &mut Session<Tug>) -> Option<Verdict> {
    std::iter::from_fn(|| session.poll_event()).find_map(|event| match event {
        Event::Ended(verdict) => Some(verdict),
        _ => None,
    })
}

#[test]
fn match_is_played_in_one_thread_with_two_clock_reads_a_frame() {
    let (time, reads) = (Cell::new(Duration::ZERO), Cell::new(0_u32));
    let clock = || {
        reads.set(reads.get() + 1);
        time.get()
    };
    let ends = Memory::pair(clock);
    let [mut host, mut joiner] = lobbies(&ends);
    let mut drivers = ends.map(Driver::new);
    while !(host.agreed().unwrap().is_some() && joiner.agreed().unwrap().is_some()) {
        time.set(time.get() + Duration::from_millis(1));
        drivers[0].poll(&mut host).unwrap();
        drivers[1].poll(&mut joiner).unwrap();
        assert!(time.get() < Duration::from_secs(5), "they never met");
    }
    let mut games = [Tug { pulls: [0; 2] }; 2];
    let mut sessions = [host, joiner].map(|lobby| lobby.start(time.get(), &games[0]).unwrap());
    let (mut verdicts, mut frames) = ([None; 2], 0);
    reads.set(0);
    // The loop of an engine: one turn a frame, a poll at its beginning and a flush after the step.
    while verdicts.iter().any(Option::is_none) {
        for id in 0..2 {
            let session = &mut sessions[id];
            let now = drivers[id].poll(session).unwrap();
            let buttons = held(session);
            session.advance(now, &mut games[id], buttons);
            drivers[id].flush(session).unwrap();
            verdicts[id] = verdicts[id].or(verdict(session));
        }
        frames += 1;
        time.set(time.get() + FRAME);
        assert!(frames < 1_000, "the match never ended");
    }
    assert!(
        matches!(verdicts[0], Some(Verdict::Agreed { .. })) && verdicts[0] == verdicts[1],
        "{verdicts:?}"
    );
    assert_eq!(games[0].pulls, games[1].pulls);
    assert_eq!(reads.get(), 2 * 2 * frames, "two a frame and machine");
}

#[test]
fn match_is_played_in_two_threads_that_sleep() {
    let start = Instant::now();
    let ends = Memory::pair(move || start.elapsed());
    let lobbies = lobbies(&ends);
    let play = |end: Memory<_>, mut lobby: Lobby| {
        let mut driver = Driver::new(end);
        while lobby.agreed().unwrap().is_none() {
            let deadline = driver.now() + FRAME;
            driver.run_until(&mut lobby, deadline).unwrap();
        }
        let mut game = Tug { pulls: [0; 2] };
        let mut session = lobby.start(driver.now(), &game).unwrap();
        loop {
            let due = session.next_frame_at();
            let now = driver.run_until(&mut session, due).unwrap();
            let buttons = held(&session);
            session.advance(now, &mut game, buttons);
            driver.flush(&mut session).unwrap();
            if let Some(verdict) = verdict(&mut session) {
                driver.close(&mut session, Duration::from_secs(5)).unwrap();
                return verdict;
            }
        }
    };
    let mut sides = std::iter::zip(ends, lobbies);
    let [host, joiner] = [sides.next().unwrap(), sides.next().unwrap()];
    let other = std::thread::spawn(move || play(joiner.0, joiner.1));
    let verdict = play(host.0, host.1);
    assert!(matches!(verdict, Verdict::Agreed { .. }), "{verdict:?}");
    assert_eq!(other.join().unwrap(), verdict);
}

#[test]
fn full_queue_and_unknown_address_lose_datagrams() {
    let [mut here, mut there] = Memory::pair(|| Duration::ZERO);
    let mut buf = [0; 4];
    here.send(opaque_addr(77), b"lost");
    assert_eq!(there.recv(&mut buf).unwrap(), Received::Empty);
    for number in 0..300_u16 {
        here.send(there.local_addr(), &number.to_be_bytes());
    }
    let mut got = 0_u16;
    while let Received::Datagram(from, len) = there.recv(&mut buf).unwrap() {
        assert_eq!((from, &buf[..len]), (here.local_addr(), &got.to_be_bytes()[..]), "in order");
        got += 1;
    }
    assert_eq!(got, 256);
    there.send(here.local_addr(), b"truncated");
    assert_eq!(here.recv(&mut buf).unwrap(), Received::Datagram(there.local_addr(), 4));
    assert_eq!(&buf, b"trun");
}

#[test]
fn wait_ends_at_once_for_a_datagram_that_is_there() {
    let start = Instant::now();
    let [mut here, mut there] = Memory::pair(move || start.elapsed());
    here.send(there.local_addr(), b"x");
    there.wait(Duration::from_secs(20)).unwrap();
    assert!(there.now() < Duration::from_secs(20));
}

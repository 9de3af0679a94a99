//! Machines on the simulated network: what happens when, and that it happens again the same way.

use rebout::Protocol;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{Clock, Entry, EntryKind, Machine, Recording, World};
use std::net::SocketAddr;
use std::time::Duration;

const FRAME: Duration = Duration::from_nanos(16_666_667);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn addr(n: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, n], 7000))
}

/// An event of a machine, in its own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Datagram(Duration, u32),
    Frame(Duration, u32),
}

/// Sends the number of its frame to its peer in every frame, and writes down what it sees.
struct Talker {
    peer: SocketAddr,
    next_at: Duration,
    frame: u32,
    queued: Option<u32>,
    /// Frame n waits for the peer's datagram n - 1.
    lockstep: bool,
    stalled: bool,
    newest: Option<u32>,
    timer: Option<Duration>,
    seen: Vec<Seen>,
}

/// The number that is sent when the timer runs out.
const TIMER: u32 = 0xFFFF;

impl Talker {
    fn new(peer: SocketAddr, now: Duration) -> Self {
        let (lockstep, stalled) = (false, false);
        let (queued, newest, timer, seen) = (None, None, None, Vec::new());
        Self { peer, next_at: now, frame: 0, queued, lockstep, stalled, newest, timer, seen }
    }

    fn blocked(&self) -> bool {
        self.lockstep && self.newest < self.frame.checked_sub(1)
    }

    fn frames(&self) -> Vec<(Duration, u32)> {
        let frame = |seen: &Seen| if let Seen::Frame(at, n) = *seen { Some((at, n)) } else { None };
        self.seen.iter().filter_map(frame).collect()
    }

    fn datagrams(&self) -> Vec<(Duration, u32)> {
        let datagram = |seen: &Seen| if let Seen::Datagram(at, n) = *seen { Some((at, n)) } else { None };
        self.seen.iter().filter_map(datagram).collect()
    }
}

impl Protocol for Talker {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let Ok(bytes) = datagram.try_into() else { return };
        let number = u32::from_le_bytes(bytes);
        assert_eq!(from, self.peer);
        self.seen.push(Seen::Datagram(now, number));
        self.newest = self.newest.max(Some(number));
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.queued = Some(TIMER);
        }
        buf[..4].copy_from_slice(&self.queued.take()?.to_le_bytes());
        Some((self.peer, 4))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.timer
    }

    fn wants_attention(&self, _: Duration) -> bool {
        self.stalled && !self.blocked()
    }
}

impl Machine for Talker {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(self.next_at)
    }

    fn frame(&mut self, now: Duration) {
        self.stalled = self.blocked();
        self.next_at = self.next_at.max(now) + FRAME;
        if !self.stalled {
            self.seen.push(Seen::Frame(now, self.frame));
            self.queued = Some(self.frame);
            self.frame += 1;
        }
    }
}

fn pair(seed: u64, config: LinkConfig, clocks: [Clock; 2]) -> World<Talker> {
    let mut world = World::new(seed);
    for (n, clock) in (1..).zip(clocks) {
        let start = world.draw(FRAME);
        let machine = Talker::new(addr(3 - n), clock.local(start));
        world.add(addr(n), clock, start, machine);
    }
    world.network_mut().set_links(0, 1, config);
    world
}

fn transcript(seed: u64, config: LinkConfig) -> (u64, Vec<Entry>) {
    let clocks = [Clock::new(ms(17), 300), Clock::new(ms(400), -900).with_pause(ms(900), ms(250))];
    let mut world = pair(seed, config, clocks);
    world.network_mut().record(Recording::Full);
    world.network_mut().cut_both(0, 1, ms(300), ms(400));
    world.run_until(ms(3_000));
    let transcript = world.network().transcript();
    (transcript.digest(), transcript.entries().to_vec())
}

#[test]
fn one_seed_gives_one_transcript_on_every_link() {
    for (name, config) in LinkConfig::presets() {
        let (digest, entries) = transcript(11, config);
        let (again, entries_again) = transcript(11, config);
        assert_eq!((digest, &entries), (again, &entries_again), "{name}");
        let delivered = entries.iter().filter(|entry| entry.kind == EntryKind::Delivered).count();
        assert!(delivered > 100, "{name} delivered {delivered}");
        let (other, entries_other) = transcript(12, config);
        assert_ne!((digest, &entries), (other, &entries_other), "{name}");
        assert_ne!(digest, other, "{name}");
    }
}

#[test]
fn start_phases_come_from_the_seed() {
    let phases = |seed| {
        let mut world = World::<Talker>::new(seed);
        [world.draw(FRAME), world.draw(FRAME)]
    };
    assert_eq!(phases(5), phases(5));
    assert_ne!(phases(5), phases(6));
    assert_ne!(phases(5)[0], phases(5)[1]);
    assert!((0..1_000).flat_map(phases).all(|phase| phase < FRAME));
}

#[test]
fn deliveries_come_before_frames_at_equal_times() {
    // Both start at zero and the latency is two frames to the nanosecond: everything coincides.
    let mut world = World::new(1);
    for n in 1..=2 {
        world.add(addr(n), Clock::default(), Duration::ZERO, Talker::new(addr(3 - n), Duration::ZERO));
    }
    world.network_mut().set_links(0, 1, LinkConfig::new(FRAME * 2));
    world.run_until(FRAME * 50);
    for endpoint in [0, 1] {
        let mut expected = vec![Seen::Frame(Duration::ZERO, 0), Seen::Frame(FRAME, 1)];
        for frame in 2..=50 {
            expected.push(Seen::Datagram(FRAME * frame, frame - 2));
            expected.push(Seen::Frame(FRAME * frame, frame));
        }
        assert_eq!(world.machine(endpoint).seen, expected);
    }
    assert_eq!(world.now(), FRAME * 50);
}

/// Two machines that start at zero, on a link that takes `latency`.
fn plain(latency: Duration) -> World<Talker> {
    let mut world = World::new(1);
    for n in 1..=2 {
        world.add(addr(n), Clock::default(), Duration::ZERO, Talker::new(addr(3 - n), Duration::ZERO));
    }
    world.network_mut().set_links(0, 1, LinkConfig::new(latency));
    world
}

#[test]
fn stalled_frame_runs_the_moment_its_datagram_arrives() {
    let mut world = plain(ms(40));
    for endpoint in [0, 1] {
        world.machine_mut(endpoint).lockstep = true;
    }
    world.run_until(ms(400));
    let expected: Vec<_> = (0..=10).map(|n| (ms(40) * n, n)).collect();
    assert_eq!(world.machine(0).frames(), expected);
    assert_eq!(world.machine(1).frames(), expected);
}

#[test]
fn timers_are_kept_to_the_nanosecond_in_the_machines_own_time() {
    let clock = Clock::new(ms(5_000), 2_000);
    let mut world = World::new(1);
    let mut machine = Talker::new(addr(2), ms(9_999));
    machine.timer = Some(ms(5_501));
    world.add(addr(1), clock, Duration::ZERO, machine);
    world.add(addr(2), Clock::default(), Duration::ZERO, Talker::new(addr(1), ms(9_999)));
    world.network_mut().set_links(0, 1, LinkConfig::new(ms(10)));
    world.run_until(ms(600));
    assert_eq!(world.machine(1).datagrams(), [(ms(510), TIMER)]);
}

#[test]
fn skewed_clocks_make_skewed_frame_rates() {
    let clocks = [Clock::new(ms(1), 1_000), Clock::new(Duration::ZERO, -1_000)];
    let mut world = pair(3, LinkConfig::new(ms(30)), clocks);
    world.run_until(Duration::from_secs(1_000));
    let frames = [0, 1].map(|endpoint| world.machine(endpoint).frame);
    assert!(frames[0].abs_diff(60_060) <= 1, "{frames:?}");
    assert!(frames[1].abs_diff(59_940) <= 1, "{frames:?}");
}

#[test]
fn paused_machine_gets_its_datagrams_when_it_resumes() {
    let mut world = World::new(1);
    let clock = Clock::default().with_pause(ms(200), ms(500));
    world.add(addr(1), clock, Duration::ZERO, Talker::new(addr(2), Duration::ZERO));
    world.add(addr(2), Clock::default(), Duration::ZERO, Talker::new(addr(1), Duration::ZERO));
    world.network_mut().set_links(0, 1, LinkConfig::new(ms(30)));
    world.run_until(ms(1_000));

    let stopped = world.machine(0);
    let still = |at: Duration| at >= ms(200) && at < ms(700);
    assert!(!stopped.frames().iter().chain(&stopped.datagrams()).any(|(at, _)| still(*at)));
    let waited: Vec<_> = stopped.datagrams().iter().filter(|(at, _)| *at == ms(700)).map(|d| d.1).collect();
    assert_eq!(waited, (11..=40).collect::<Vec<_>>(), "in order, none lost");
    let at =
        stopped.seen.iter().position(|seen| matches!(seen, Seen::Frame(at, _) if *at >= ms(700))).unwrap();
    assert_eq!(stopped.seen[at - 1], Seen::Datagram(ms(700), 40), "all of them before the first frame");
    assert_eq!(world.machine(1).frame, 60, "the other one went on");
}

#[test]
fn machine_can_be_stopped_while_the_world_runs() {
    let mut world = plain(ms(30));
    world.run_until(ms(100));
    world.pause(0, ms(100), ms(400));
    world.run_until(ms(499));
    let before = world.machine(0).seen.len();
    assert_eq!(world.machine(0).seen.last(), Some(&Seen::Datagram(ms(30) + FRAME * 4, 4)));
    world.run_until(ms(500));
    assert!(world.machine(0).seen.len() > before + 20, "the datagrams that waited, and a frame");
    assert_eq!(world.machine(0).frames().last(), Some(&(ms(500), 6)));
    assert_eq!(world.clock(0).pauses().len(), 1);
}

#[test]
fn socket_of_a_machine_that_stands_still_fills_up() {
    let mut world = World::new(1);
    let clock = Clock::default().with_pause(ms(200), ms(9_800));
    world.add(addr(1), clock, Duration::ZERO, Talker::new(addr(2), Duration::ZERO));
    world.add(addr(2), Clock::default(), Duration::ZERO, Talker::new(addr(1), Duration::ZERO));
    world.network_mut().set_links(0, 1, LinkConfig::new(ms(30)));
    world.run_until(ms(10_000));
    let waited = world.machine(0).datagrams().iter().filter(|(at, _)| *at == ms(10_000)).count();
    assert_eq!(waited, 256);
    assert!(world.network().stats().socket_full > 300);
}

#[test]
fn machine_is_idle_before_its_start_and_after_its_kill() {
    let mut world = World::new(1);
    world.add(addr(1), Clock::default(), Duration::ZERO, Talker::new(addr(2), Duration::ZERO));
    world.add(addr(2), Clock::default(), ms(500), Talker::new(addr(1), Duration::ZERO));
    world.network_mut().set_links(0, 1, LinkConfig::new(ms(10)));
    world.machine_mut(1).queued = Some(7);
    world.run_until(ms(800));
    world.stop(1);
    world.machine_mut(1).queued = Some(8);
    world.run_until(ms(1_000));

    let times: Vec<_> =
        world.machine(1).seen.iter().map(|(Seen::Datagram(at, _) | Seen::Frame(at, _))| *at).collect();
    assert!(times.iter().all(|at| (ms(500)..=ms(800)).contains(at)));
    assert!(times.len() > 30);
    let heard = world.machine(0).datagrams();
    assert_eq!(heard[0], (ms(510), 7));
    assert!(heard.last().unwrap().0 <= ms(810));

    let lost = world.network().stats().closed;
    world.restart(1, Talker::new(addr(1), ms(1_000)));
    world.run_until(ms(2_000));
    assert_eq!(world.machine(1).frames()[0], (ms(1_000), 0));
    assert_eq!(world.network().stats().closed, lost, "heard again");
}

#[test]
fn calls_between_events_are_sent_at_once() {
    let mut world = plain(ms(5));
    world.run_until(ms(107));
    world.machine_mut(0).queued = Some(99);
    world.run_until(ms(112));
    assert_eq!(world.machine(1).datagrams().last(), Some(&(ms(112), 99)));
    let (sent, received) = world.traffic(0);
    assert_eq!((sent.datagrams, sent.wire_bytes()), (8, 8 * 32));
    assert_eq!(received.datagrams, 7);
}

#[test]
fn strangers_get_their_mail() {
    let mut world = plain(ms(5));
    let stranger = world.add_stranger(addr(77));
    world.stop(1);
    world.machine_mut(0).peer = addr(77);
    world.run_until(ms(20));
    let mail = world.mail();
    assert_eq!((mail[0].to, mail[0].from, &mail[0].datagram[..]), (stranger, addr(1), &[0; 4][..]));
    assert_eq!(world.network().received(stranger).datagrams, mail.len() as u64);
    world.clear_mail();
    assert!(world.mail().is_empty());
}

/// Sends without end, and wants to be polled in the past.
struct Restless(u64);

impl Protocol for Restless {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.0 += 1;
        Some((addr(9), 0))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

impl Machine for Restless {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn frame(&mut self, _: Duration) {}
}

#[test]
fn busy_machine_does_not_stop_time() {
    let mut world = World::new(1);
    world.add(addr(1), Clock::default(), Duration::ZERO, Restless(0));
    world.run_until(Duration::from_micros(20));
    assert_eq!(world.now(), Duration::from_micros(20));
    assert_eq!(
        world.machine(0).0,
        1_024 * 2 * 21,
        "a batch for the timer and one for the frame, each microsecond"
    );
}

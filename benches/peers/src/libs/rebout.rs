//! Rebout in the loop of its UDP driver: receive, send what is due, advance, send.

use super::{CADENCE_FRAMES, Setup, address};
use crate::link::{Buffer, End, buffer};
use crate::sim_match::{FRAME_NS, Machine, Report};
use crate::world::World;
use rebout::{Advanced, Buttons, Config, Lobby, MAX_DATAGRAM, Protocol, Saving, Session};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The greatest cadence that a config takes: nearly no checksums.
const RARE_FRAMES: u16 = 600;

/// The shortest time between two turns.
const PAUSE: Duration = Duration::from_micros(250);

pub(super) fn config(setup: &Setup, saving: Saving, me: usize) -> Config {
    Config::new(0xB0).with(|config| {
        config.rollback.window_frames = setup.depth_frames as u8;
        config.rollback.delay_frames = Some(0);
        config.rollback.saving = saving;
        config.cadence_frames = if setup.checksums { CADENCE_FRAMES as u16 } else { RARE_FRAMES };
        config.lobby.seed = Some(7);
        config.lobby.entropy = Some(1 + me as u64);
    })
}

enum Phase<W> {
    Meeting(Box<Lobby>),
    Playing(Box<Session<W>>),
    Between,
}

pub(super) struct Rebout<W> {
    phase: Phase<W>,
    world: W,
    setup: Setup,
    end: End,
    epoch: Instant,
    epoch_ns: u64,
    /// When the lobby gets its next turn: a game that waits for a guest draws its menu sixty times a second.
    menu_due: u64,
    /// When the session wants a turn between two frames.
    timeout: Option<Duration>,
    inbox: Buffer,
    outbox: [u8; MAX_DATAGRAM],
}

#[inline(never)]
fn counted_receive<P: Protocol>(protocol: &mut P, now: Duration, from: usize, datagram: &[u8]) {
    protocol.handle_datagram(now, address(from), datagram);
}

#[inline(never)]
fn counted_transmit<P: Protocol>(protocol: &mut P, now: Duration, buf: &mut [u8]) -> Option<usize> {
    protocol.poll_transmit(now, buf).map(|(_, len)| len)
}

#[inline(never)]
fn counted_advance<W: World>(
    session: &mut Session<W>,
    now: Duration,
    world: &mut W,
    held: Buttons,
) -> Advanced {
    let advanced = session.advance(now, world, held);
    black_box(session.cues());
    while let Some(event) = session.poll_event() {
        black_box(event);
    }
    advanced
}

impl<W: World> Rebout<W> {
    pub(super) fn new(world: W, setup: Setup, saving: Saving, end: End) -> Self {
        let config = config(&setup, saving, end.me);
        let lobby = if end.me == 0 { Lobby::host(config) } else { Lobby::join(config, address(0)) };
        let (epoch, epoch_ns) = (Instant::now(), end.now.get());
        let phase = Phase::Meeting(Box::new(lobby.expect("a config")));
        let (inbox, outbox) = (buffer(), [0; MAX_DATAGRAM]);
        Self { phase, world, setup, end, epoch, epoch_ns, menu_due: epoch_ns, timeout: None, inbox, outbox }
    }

    /// Receives and sends. The clock is read once for all that waits.
    fn pump<P: Protocol>(&mut self, protocol: &mut P) -> Duration {
        let now = self.epoch.elapsed();
        while let Some(len) = self.end.receive(&mut self.inbox) {
            counted_receive(protocol, now, 1 - self.end.me, &self.inbox[..len]);
        }
        self.transmit(protocol, now);
        now
    }

    fn transmit<P: Protocol>(&mut self, protocol: &mut P, now: Duration) {
        while let Some(len) = counted_transmit(protocol, now, &mut self.outbox) {
            self.end.send(&self.outbox[..len]);
        }
    }

    fn play(&mut self, session: &mut Session<W>) {
        let now = self.pump(session);
        if session.frame_due(now) {
            let held = Buttons(self.setup.script.held(self.end.me, session.current().0));
            counted_advance(session, now, &mut self.world, held);
            let now = self.epoch.elapsed();
            self.transmit(session, now);
        }
        // A timeout that stays in the past must not become a busy loop.
        self.timeout = session.poll_timeout().map(|at| at.max(now + PAUSE));
    }
}

impl<W: World> Machine for Rebout<W> {
    fn turn(&mut self) {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Between) {
            Phase::Meeting(mut lobby) => {
                self.menu_due = self.end.now.get() + FRAME_NS;
                let now = self.pump(&mut *lobby);
                if lobby.agreed().expect("they fit").is_some() {
                    Phase::Playing(Box::new(lobby.start(now, &self.world).expect("agreed")))
                } else {
                    Phase::Meeting(lobby)
                }
            }
            Phase::Playing(mut session) => {
                self.play(&mut session);
                Phase::Playing(session)
            }
            Phase::Between => Phase::Between,
        };
    }

    fn wake(&self) -> u64 {
        let after_epoch = match &self.phase {
            Phase::Meeting(_) | Phase::Between => return self.menu_due,
            Phase::Playing(session) => session.next_frame_at().min(self.timeout.unwrap_or(Duration::MAX)),
        };
        self.epoch_ns + after_epoch.as_nanos() as u64
    }

    fn frame(&self) -> Option<u32> {
        if let Phase::Playing(session) = &self.phase { Some(session.current().0) } else { None }
    }

    fn report(&self) -> Report {
        let Phase::Playing(session) = &self.phase else { return Report::default() };
        let stats = session.stats();
        Report { stalled: stats.stalled_frames, resimulated: stats.rollback.resimulated_frames }
    }

    fn state(&self) -> u32 {
        self.world.checksum()
    }
}

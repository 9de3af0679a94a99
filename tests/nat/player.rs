//! A player's machine in the simulated internet: NAT traversal, a seal, a lobby and then a match, and all that the player is told.

use super::internet::relay_addr;
use core::time::Duration;
use rebout::lab::nat::{NatTraversal, Progress};
use rebout::lab::seal::Seal;
use rebout::lab::sim::Machine;
use rebout::lab::{Play, SimPeer};
use rebout::{Buttons, Cues, Event, Game, Inputs, Lobby, Player as Seat, Protocol, Verdict, fields};
use std::net::SocketAddr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    sums: [u32; 2],
    frames: u32,
    limit: u32,
}
fields!(Sums { sums, frames, limit });

const PLAY: Play<Sums> = Play {
    build: |_| Sums { sums: [0; 2], frames: 0, limit: u32::MAX },
    script: |player, frame, _| Buttons((frame / 7 * 5 + player.index() as u32) as u16).into(),
};

impl Game for Sums {
    fn step(&mut self, inputs: Inputs, _: &mut Cues) {
        self.frames += 1;
        for player in Seat::BOTH {
            let sum = &mut self.sums[player.index()];
            *sum = sum.wrapping_mul(31).wrapping_add(u32::from(inputs[player].buttons().0));
        }
    }

    fn finished(&self) -> bool {
        self.frames >= self.limit
    }
}

/// A player's machine.
pub(crate) struct Player {
    pub(crate) peer: SimPeer<Sums>,
    /// Each change of the progress, in words.
    pub(crate) told: Vec<(Duration, Progress)>,
    /// The longest time between two frames that were settled, and the last one.
    pub(crate) gap: Duration,
    settled: (u32, Duration),
    /// The bytes and datagrams that were sent, and to the relay's address alone.
    pub(crate) sent: [u64; 2],
    /// The longest datagram that was sent to the relay, and to anybody else.
    pub(crate) longest: [usize; 2],
}

impl Player {
    pub(crate) fn new(nat: NatTraversal, seal: Seal, lobby: Lobby, limit: u32) -> Self {
        let mut peer = SimPeer::in_lobby(lobby, PLAY);
        (peer.nat, peer.seal) = (Some(nat), Some(seal));
        peer.make = Some(Box::new(move |seed, _| Sums { limit, ..(PLAY.build)(seed) }));
        let (told, gap, settled) = (Vec::new(), Duration::ZERO, (0, Duration::ZERO));
        Self { peer, told, gap, settled, sent: [0; 2], longest: [0; 2] }
    }

    fn note(&mut self, now: Duration) {
        let progress = self.progress();
        if self.told.last().is_none_or(|(_, last)| *last != progress) {
            self.told.push((now, progress));
        }
        let settled = self.peer.session().map_or(0, |session| session.settled().0);
        if settled != self.settled.0 {
            if self.settled.0 > 30 {
                self.gap = self.gap.max(now - self.settled.1);
            }
            self.settled = (settled, now);
        }
    }

    pub(crate) fn nat(&self) -> &NatTraversal {
        self.peer.nat.as_ref().unwrap()
    }

    pub(crate) fn seal(&self) -> &Seal {
        self.peer.seal.as_ref().unwrap()
    }

    pub(crate) fn layers(&mut self) -> (&mut NatTraversal, &mut Seal) {
        (self.peer.nat.as_mut().unwrap(), self.peer.seal.as_mut().unwrap())
    }

    /// When the match began here.
    pub(crate) fn began_at(&self) -> Option<Duration> {
        self.peer.started_at
    }

    /// The checksum that both machines have agreed on.
    pub(crate) fn verdict(&self) -> Option<u32> {
        match self.peer.events.last() {
            Some((_, Event::Ended(Verdict::Agreed { checksum, .. }))) => Some(*checksum),
            _ => None,
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.nat().progress()
    }
}

impl Protocol for Player {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.peer.handle_datagram(now, from, datagram);
        self.note(now);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let sent = self.peer.poll_transmit(now, buf);
        self.note(now);
        if let Some((to, len)) = sent {
            let relay = usize::from(to == relay_addr());
            self.sent[relay] += len as u64;
            self.longest[relay] = self.longest[relay].max(len);
        }
        sent
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.peer.poll_timeout()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.peer.wants_attention(now)
    }
}

impl Machine for Player {
    fn next_frame_at(&self) -> Option<Duration> {
        self.peer.next_frame_at()
    }

    fn frame(&mut self, now: Duration) {
        self.peer.frame(now);
        self.note(now);
    }
}

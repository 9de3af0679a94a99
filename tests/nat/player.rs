//! A player's machine in the simulated town: NAT traversal, a seal, a lobby and then a match, and all that the player is told.

use super::town::relay_addr;
use core::time::Duration;
use rebout::lab::nat::{NatTraversal, Progress};
use rebout::lab::seal::Seal;
use rebout::lab::sim::Machine;
use rebout::{
    Buttons, Cues, Event, Game, Input, Inputs, Lobby, LobbyError, Player as Seat, Protocol, Session, Verdict,
    fields,
};
use std::net::SocketAddr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    sums: [u32; 2],
    frames: u32,
    limit: u32,
}
fields!(Sums { sums, frames, limit });

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

#[allow(clippy::large_enum_variant)]
enum Stage {
    Lobby(Option<Lobby>),
    Match(Session<Sums>, Sums),
}

/// A player's machine.
pub(crate) struct Player {
    pub(crate) nat: NatTraversal,
    pub(crate) seal: Seal,
    stage: Stage,
    limit: u32,
    pub(crate) events: Vec<(Duration, Event)>,
    pub(crate) error: Option<LobbyError>,
    /// When the match began here.
    pub(crate) began_at: Option<Duration>,
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
        Self {
            nat,
            seal,
            stage: Stage::Lobby(Some(lobby)),
            limit,
            events: Vec::new(),
            error: None,
            began_at: None,
            told: Vec::new(),
            gap: Duration::ZERO,
            settled: (0, Duration::ZERO),
            sent: [0; 2],
            longest: [0; 2],
        }
    }

    fn outside<R>(&mut self, call: impl FnOnce(&mut dyn Protocol) -> R) -> Option<R> {
        match &mut self.stage {
            Stage::Lobby(lobby) => Some(call(&mut self.nat.around(&mut self.seal, lobby.as_mut()?))),
            Stage::Match(session, _) => Some(call(&mut self.nat.around(&mut self.seal, session))),
        }
    }

    fn note(&mut self, now: Duration) {
        let progress = self.nat.progress();
        if self.told.last().is_none_or(|(_, last)| *last != progress) {
            self.told.push((now, progress));
        }
        let settled = self.session().map_or(0, |session| session.settled().0);
        if settled != self.settled.0 {
            if self.settled.0 > 30 {
                self.gap = self.gap.max(now - self.settled.1);
            }
            self.settled = (settled, now);
        }
    }

    pub(crate) fn session(&self) -> Option<&Session<Sums>> {
        match &self.stage {
            Stage::Lobby(_) => None,
            Stage::Match(session, _) => Some(session),
        }
    }

    /// The checksum that both machines have agreed on.
    pub(crate) fn verdict(&self) -> Option<u32> {
        match self.events.last() {
            Some((_, Event::Ended(Verdict::Agreed { checksum, .. }))) => Some(*checksum),
            _ => None,
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        self.nat.progress()
    }
}

impl Protocol for Player {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.outside(|protocol| protocol.handle_datagram(now, from, datagram));
        // The last event may come in a datagram, with no frame after it.
        if let Stage::Match(session, _) = &mut self.stage
            && session.ended()
        {
            self.events.extend(core::iter::from_fn(|| session.poll_event()).map(|event| (now, event)));
        }
        self.note(now);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let sent = self.outside(|protocol| protocol.poll_transmit(now, buf)).flatten();
        self.note(now);
        if let Some((to, len)) = sent {
            let relay = usize::from(to == relay_addr());
            self.sent[relay] += len as u64;
            self.longest[relay] = self.longest[relay].max(len);
        }
        sent
    }

    fn poll_timeout(&self) -> Option<Duration> {
        // A protocol is asked by reference: the timeouts are those of the parts.
        let inner = match &self.stage {
            Stage::Lobby(lobby) => lobby.as_ref().and_then(Protocol::poll_timeout),
            Stage::Match(session, _) => session.poll_timeout(),
        };
        [inner, self.seal.poll_timeout(), self.nat.poll_timeout()].into_iter().flatten().min()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        match &self.stage {
            Stage::Lobby(lobby) => {
                self.error.is_none() && lobby.as_ref().is_some_and(|lobby| lobby.wants_attention(now))
            }
            Stage::Match(session, _) => session.wants_attention(now),
        }
    }
}

impl Machine for Player {
    fn next_frame_at(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Match(session, _) if !session.ended() => Some(session.next_frame_at()),
            _ => None,
        }
    }

    fn frame(&mut self, now: Duration) {
        match &mut self.stage {
            Stage::Lobby(lobby) => match lobby.as_ref().map(Lobby::agreed) {
                Some(Ok(Some(_))) => {
                    let game = Sums { sums: [0; 2], frames: 0, limit: self.limit };
                    let session = lobby.take().unwrap().start(now, &game).unwrap();
                    self.began_at = Some(now);
                    self.stage = Stage::Match(session, game);
                }
                Some(Err(error)) => self.error = Some(error),
                _ => {}
            },
            Stage::Match(session, game) => {
                let frame = session.current().0;
                let buttons = Buttons((frame / 7 * 5 + session.local().index() as u32) as u16);
                session.advance(now, game, Input::from(buttons));
                self.events.extend(core::iter::from_fn(|| session.poll_event()).map(|event| (now, event)));
            }
        }
        self.note(now);
    }
}

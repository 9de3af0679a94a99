//! The lobby: two machines find each other and agree on a match.

mod agreement;
mod first_state;
mod hosting;
mod joining;
mod measuring;
mod reception;
mod transfer;

pub(super) use agreement::InputFormat;
pub use agreement::{Agreed, Incoming, LobbyError, Mismatch};
pub(super) use hosting::seat_number;
pub use transfer::Progress;

use super::config::Config;
use crate::channel::cookie::Cookies;
use crate::channel::entropy::Entropy;
use crate::channel::refusal::Refusals;
use crate::protocol::time::{Span, Time};
use crate::protocol::{Authenticated, ConnectionStep, PeerRole};
use crate::session::first_state::FirstState;
use crate::session::peer::handshake_responder::HandshakeResponder;
use crate::session::peer::link::Link;
use crate::wire::control::ControlHeader;
use crate::{Player, Protocol, canonical, protocol::trace};
use core::time::Duration;
use hosting::Hosting;
use joining::Joining;
use std::net::SocketAddr;

/// The handshake of two machines, before there is a game.
///
/// Drive it as any [`Protocol`], ask whether the two machines have [agreed](Self::agreed), build the game from the
/// agreed seed, and [start](Self::start). [`Session`](crate::Session) has an example.
#[derive(Clone, Debug)]
pub struct Lobby {
    config: Config,
    entropy: Entropy,
    responder: HandshakeResponder,
    role: Role,
    /// The host's address, for a joiner.
    target: Option<SocketAddr>,
    /// When a joiner gives up, if the host does not answer before.
    give_up_at: Option<Time>,
    mismatch: Option<Mismatch>,
    /// How far the first state had come to the last guest that is gone.
    stalled: Option<Progress>,
    refused: Refusals,
    error: Option<LobbyError>,
}

/// All that a session takes over from its lobby.
pub(super) struct Handover {
    pub(super) link: Link,
    pub(super) agreed: Agreed,
    pub(super) config: Config,
    pub(super) responder: HandshakeResponder,
    pub(super) refused: Refusals,
}

#[derive(Clone, Debug)]
// A lobby has only one of these, and moves it once.
#[allow(clippy::large_enum_variant)]
enum Role {
    Waiting,
    Host(Hosting),
    Join(Joining),
    Agreed(Link, Agreed),
}

impl Role {
    /// The link to the machine that this one talks to at present.
    fn link(&self) -> Option<&Link> {
        match self {
            Self::Waiting => None,
            Self::Host(hosting) => Some(hosting.link()),
            Self::Join(joining) => Some(joining.link()),
            Self::Agreed(link, _) => Some(link),
        }
    }

    fn link_mut(&mut self) -> Option<&mut Link> {
        match self {
            Self::Waiting => None,
            Self::Host(hosting) => Some(hosting.link_mut()),
            Self::Join(joining) => Some(joining.link_mut()),
            Self::Agreed(link, _) => Some(link),
        }
    }
}

impl Lobby {
    /// A lobby that waits for a guest to join.
    ///
    /// # Errors
    /// If the config is not valid.
    pub fn host(config: Config) -> Result<Self, LobbyError> {
        Self::new(config, None)
    }

    /// A lobby that joins the host at `addr`. If two machines join each other, the one with the larger nonce becomes
    /// the host.
    ///
    /// # Errors
    /// If the config is not valid.
    pub fn join(config: Config, addr: SocketAddr) -> Result<Self, LobbyError> {
        Self::new(config, Some(canonical(addr)))
    }

    fn new(config: Config, target: Option<SocketAddr>) -> Result<Self, LobbyError> {
        config.check().map_err(LobbyError::Config)?;
        let mut entropy = config.lobby.entropy.map_or_else(Entropy::of_system, Entropy::new);
        if let (Some(_), Some(target)) = (config.lobby.entropy, target) {
            entropy.mix(target);
        }
        let first_state_len = config.lobby.first_state.len() as u32;
        let responder = HandshakeResponder::new(Cookies::new(&mut entropy), config.game, first_state_len);
        let mut lobby = Self {
            config,
            entropy,
            responder,
            role: Role::Waiting,
            target,
            give_up_at: None,
            mismatch: None,
            stalled: None,
            refused: Refusals::default(),
            error: None,
        };
        lobby.begin(Time::ZERO);
        Ok(lobby)
    }

    /// Begins to wait for a guest or to join a host: at the start, and after a guest has left.
    fn begin(&mut self, now: Time) {
        self.give_up_at = None;
        self.stalled = self.first_state_progress().or(self.stalled);
        self.role = match self.target {
            None => Role::Waiting,
            Some(addr) => Role::Join(Joining::new(now, addr, &self.config, &mut self.entropy)),
        };
    }

    /// The guest that waits to be accepted.
    #[must_use]
    pub fn incoming(&self) -> Option<Incoming> {
        let Role::Host(hosting) = &self.role else { return None };
        hosting.incoming(&self.config)
    }

    /// Accepts the waiting guest, who gets the seat that is not the host's.
    pub fn accept(&mut self) {
        if let Role::Host(hosting) = &mut self.role {
            hosting.accept(&self.config, &mut self.entropy);
        }
    }

    /// Accepts the waiting guest, with the host in `own_seat` instead of the config's seat. The guest gets the other
    /// one.
    pub fn accept_in_seat(&mut self, own_seat: Player) {
        self.config.lobby.seat = own_seat;
        self.accept();
    }

    /// Accepts the waiting guest, who gets this first state instead of the config's.
    pub fn accept_with(&mut self, first_state: FirstState) {
        self.config.lobby.first_state = first_state;
        self.accept();
    }

    /// Declines the waiting guest.
    pub fn decline(&mut self) {
        if let Role::Host(hosting) = &mut self.role {
            hosting.decline();
        }
    }

    /// The machine that this one talks to at present.
    #[cfg(feature = "seal")]
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        self.role.link().map(Link::addr)
    }

    /// The last guest that was refused because of an incompatible configuration. Told once.
    pub fn take_mismatch(&mut self) -> Option<Mismatch> {
        self.mismatch.take()
    }

    /// The agreed terms; `None` before there are any.
    ///
    /// # Errors
    /// If there will be no match: the host did not answer, is incompatible, already has an opponent, or declined.
    pub fn agreed(&self) -> Result<Option<&Agreed>, LobbyError> {
        match (&self.error, &self.role) {
            (Some(error), _) => Err(*error),
            (None, Role::Agreed(_, agreed)) => Ok(Some(agreed)),
            _ => Ok(None),
        }
    }

    /// The number of dropped datagrams by reason.
    #[must_use]
    pub fn refused(&self) -> &Refusals {
        &self.refused
    }

    /// Puts the first state of the match in the place of what was handed over instead of it.
    #[cfg(feature = "seal")]
    pub(crate) fn set_first_state(&mut self, first_state: FirstState) {
        if let Role::Agreed(_, agreed) = &mut self.role {
            agreed.first_state = first_state;
        }
    }

    /// Hands over to the session, once there is an agreement.
    pub(super) fn hand_over(self) -> Result<Handover, LobbyError> {
        let Self { config, responder, refused, .. } = self;
        match (self.error, self.role) {
            (Some(error), _) => Err(error),
            (None, Role::Agreed(link, agreed)) => Ok(Handover { link, agreed, config, responder, refused }),
            _ => Err(LobbyError::NotAgreed),
        }
    }

    /// Accepts the waiting guest, unless the game is to be asked or the link must be measured first.
    fn decide(&mut self, now: Time) {
        let Role::Host(hosting) = &self.role else { return };
        if self.config.lobby.ask_before_accepting || !hosting.is_incoming() {
            return;
        }
        // The transfer of a first state takes long enough to measure the delay meanwhile.
        let has_time = !self.config.lobby.first_state.is_empty();
        if self.config.rollback.delay_frames.is_some() || has_time || hosting.has_measured(now) {
            self.accept();
        }
    }

    /// Ends the handshake, if there is an offer: its terms are agreed. `confirmed` is the header of a CONNECT_REQ.
    fn conclude(&mut self, confirmed: Option<ControlHeader>) {
        self.role = match core::mem::replace(&mut self.role, Role::Waiting) {
            Role::Host(hosting) => hosting.conclude(&self.config, confirmed),
            Role::Join(joining) => joining.conclude(&self.config),
            role => role,
        };
        if let Role::Agreed(link, _) = &self.role {
            trace::handshake(link.addr(), "agreed");
        }
    }

    /// Extends a joiner's timeout, because the host has answered. While a first state is on its way only its parts do.
    fn answered(&mut self, now: Time) {
        if matches!(&self.role, Role::Join(joining) if !joining.is_receiving()) {
            self.give_up_at = Some(now + Span::from(self.config.timeouts.join_timeout));
        }
    }

    /// Handles what is due by `now`: a joiner gives up, a host drops a guest that has gone or accepts one.
    fn pass(&mut self, now: Time) {
        let config = &self.config;
        match &self.role {
            Role::Join(joining) => {
                let (addr, after) = (joining.link().addr(), config.timeouts.join_timeout);
                let give_up_at = *self.give_up_at.get_or_insert(now + Span::from(after));
                if now >= give_up_at && self.error.is_none() {
                    trace::handshake(addr, "timed out");
                    let progress = joining.progress().filter(|_| joining.is_receiving());
                    self.error = Some(match progress {
                        Some(Progress { bytes, of, .. }) => {
                            LobbyError::FirstStateStalled { bytes, of, after }
                        }
                        None => LobbyError::TimedOut { addr, after },
                    });
                }
            }
            Role::Host(hosting) if hosting.has_gone(now) => {
                trace::handshake(hosting.link().addr(), "guest gone");
                self.begin(now);
            }
            _ => {}
        }
        self.decide(now);
    }
}

impl Protocol for Lobby {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let now = Time::from(now);
        self.pass(now);
        if let Err(rejected) = self.receive(now, from, datagram) {
            self.refused.count(rejected.refusal);
            trace::refused(from, &rejected.refusal, &rejected.detail);
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        self.pass(now);
        if let Some(answer) = self.responder.poll_transmit(buf) {
            return Some(answer);
        }
        if self.error.is_some() {
            return None;
        }
        let len = match &mut self.role {
            Role::Waiting => None,
            Role::Host(hosting) => hosting.poll_transmit(now, &self.config, buf),
            Role::Join(joining) => joining.poll_transmit(now, &self.config, buf),
            Role::Agreed(link, _) => link.poll_transmit(now, buf),
        }?;
        Some((self.role.link()?.addr(), len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.responder.has_answers() {
            return Some(Duration::ZERO);
        }
        if self.error.is_some() {
            return None;
        }
        match &self.role {
            Role::Waiting => None,
            Role::Host(hosting) => hosting.poll_timeout().deadline(),
            Role::Join(joining) => {
                let give_up_at = self.give_up_at.unwrap_or(Time::ZERO);
                joining.poll_timeout().min(give_up_at).deadline()
            }
            Role::Agreed(link, _) => link.poll_timeout().deadline(),
        }
    }

    fn wants_attention(&self, _: Duration) -> bool {
        // A mismatch does not count: a host that never takes it would be woken on and on.
        self.error.is_some() || matches!(self.role, Role::Agreed(..))
    }

    fn opening(&mut self, now: Duration, peer: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        match &mut self.role {
            Role::Join(joining) if joining.link().is_peer(&peer) && self.error.is_none() => {
                joining.write_hello(now.into(), &self.config, buf)
            }
            _ => None,
        }
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl Authenticated for Lobby {
    fn connection(&mut self, now: Duration, peer: SocketAddr, step: ConnectionStep) {
        self.responder.connection(peer, step);
        match (&mut self.role, step) {
            (Role::Host(guest), ConnectionStep::Confirmed { .. }) if guest.is_guest(peer) => {
                guest.confirm(now.into());
            }
            (Role::Host(guest), ConnectionStep::Gone) if guest.is_guest(peer) => {
                trace::handshake(peer, "guest gone");
                self.begin(now.into());
            }
            (Role::Join(joining), ConnectionStep::Confirmed { round_trip, .. })
                if joining.link().is_peer(&peer) =>
            {
                joining.sealed(now.into(), round_trip.into());
            }
            _ => {}
        }
    }

    fn knows(&mut self, peer: SocketAddr) -> bool {
        self.responder.knows(peer)
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        let unconfirmed = matches!(&self.role, Role::Host(guest) if !guest.is_confirmed());
        !unconfirmed && self.role.link().is_some_and(|link| link.is_peer(&peer))
    }

    /// A machine that has come back into the last match plays the next one too.
    fn serves(&mut self, role: PeerRole) -> bool {
        role != PeerRole::Spectator
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::control::{ControlPacket, ControlPayload};
    use crate::wire::message::{Extensions, Hello, Message, Offer};
    use crate::wire::rbn1::{InputHeader, InputPacket};
    use crate::wire::{Numbering, WireFrame};
    use crate::{Frame, Input};

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    const ROUND_TRIP: Duration = Duration::from_millis(30);
    const REACHED: ConnectionStep =
        ConnectionStep::Reached { round_trip: ROUND_TRIP, role: PeerRole::Player };
    const CONFIRMED: ConnectionStep =
        ConnectionStep::Confirmed { round_trip: ROUND_TRIP, role: PeerRole::Player };

    /// A host that asks about its guests, with a guest on an authenticated connection.
    fn hosting(step: ConnectionStep) -> Lobby {
        let config = Config::new(1).with(|config| config.lobby.ask_before_accepting = true);
        let mut lobby = Lobby::host(config).unwrap();
        lobby.connection(Duration::ZERO, addr(1), step);
        let hello = Hello {
            nonce: 7,
            cookie: 0,
            game_id: 1,
            content_hash: 0,
            frame_rate: crate::FrameRate::default(),
            delay_frames: 0,
            window_frames: 8,
            round_trip: 0,
            axes: 0,
            pads: 1,
            first_state_limit: 0,
            capabilities: Extensions::NONE,
            user_data: b"Bob",
        };
        let mut buf = [0; 1_200];
        let len = Message::Hello(hello).encode_packet(&ControlHeader::default(), &mut buf).unwrap();
        lobby.handle_datagram(Duration::ZERO, addr(1), &buf[..len]);
        lobby
    }

    #[test]
    fn guest_is_shown_and_kept_once_it_is_confirmed() {
        let mut lobby = hosting(REACHED);
        assert!(lobby.incoming().is_none() && !lobby.keeps(addr(1)), "its HELLO may be a recorded one");
        lobby.connection(Duration::ZERO, addr(2), CONFIRMED);
        assert!(lobby.incoming().is_none(), "another guest is confirmed");
        lobby.connection(Duration::ZERO, addr(1), CONFIRMED);
        assert!(lobby.incoming().is_some_and(|guest| guest.user_data == b"Bob") && lobby.keeps(addr(1)));
    }

    #[test]
    fn guest_whose_connection_is_gone_is_forgotten() {
        let mut lobby = hosting(CONFIRMED);
        lobby.connection(Duration::ZERO, addr(2), ConnectionStep::Gone);
        assert!(lobby.incoming().is_some(), "another connection is gone");
        lobby.connection(Duration::ZERO, addr(1), ConnectionStep::Gone);
        assert!(lobby.incoming().is_none() && !lobby.keeps(addr(1)));
    }

    /// A joiner with an offer, whose frames are numbered from 1,000 on.
    fn offered() -> Lobby {
        let mut lobby = Lobby::join(Config::new(1), addr(1)).unwrap();
        let mut buf = [0; 1_200];
        let (_, len) = lobby.poll_transmit(Duration::ZERO, &mut buf).unwrap();
        let packet = ControlPacket::decode(&buf[..len]).unwrap();
        let ControlPayload::ReliableEvent(payload) = packet.payload else { panic!("{packet:?}") };
        let Ok(Message::Hello(hello)) = Message::decode(payload) else { panic!("{payload:?}") };
        let offer = Offer {
            nonce: hello.nonce,
            first_frame: WireFrame(1_000),
            seed: 1,
            seat: Player::Two,
            delay_frames: 0,
            window_frames: 8,
            round_trip: 0,
            cadence_frames: 30,
            capabilities: Extensions::NONE,
            token: 9,
            first_state_len: 0,
            first_state_hash: 0,
            user_data: b"",
        };
        let header = ControlHeader { sequence: 5, ack: packet.header.sequence, ack_bits: 0 };
        let len = Message::Offer(offer).encode_packet(&header, &mut buf).unwrap();
        lobby.handle_datagram(Duration::ZERO, addr(1), &buf[..len]);
        lobby
    }

    #[test]
    fn first_input_packet_of_the_host_is_an_agreement() {
        for (start, acked, agrees) in [(0, 0, true), (1, 0, false), (0, 1, false)] {
            let mut lobby = offered();
            let numbering = Numbering::new(WireFrame(1_000));
            let header = InputHeader {
                start_frame: numbering.wire(Frame(start)),
                ack_frame: numbering.ack(Frame(acked)),
                ..InputHeader::default()
            };
            let mut buf = [0; InputPacket::MAX_LEN];
            let len = InputPacket::encode(&header, [Input::NEUTRAL], &mut buf).unwrap();
            lobby.handle_datagram(Duration::ZERO, addr(2), &buf[..len]);
            assert_eq!(lobby.agreed(), Ok(None), "from elsewhere");
            lobby.handle_datagram(Duration::ZERO, addr(1), &buf[..len]);
            assert_eq!(lobby.agreed().unwrap().is_some(), agrees, "from frame {start}, ack {acked}");
        }
    }
}

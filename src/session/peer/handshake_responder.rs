//! Answers to the HELLOs of strangers, without state about them.

use crate::GameConfig;
use crate::channel::cookie::Cookies;
use crate::channel::refusal::Refusal;
use crate::protocol::time::{Span, Time};
use crate::protocol::{ConnectionStep, PeerRole};
use crate::wire::control::{ControlHeader, ControlPacket};
use crate::wire::message;
use crate::wire::message::{Challenge, HELLO_LEN, Hello, Message, Refuse, RefuseField, VERSION};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// How many answers can wait to be sent. One more is dropped, as the network might have: the stranger asks again.
const WAITING: usize = 8;

/// The outcome of a HELLO.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HelloOutcome {
    /// It was answered, or dropped.
    Answered(Option<Refusal>),
    /// It does not fit; both values were told.
    Mismatch(Refuse),
    /// It comes from where it says, and fits.
    Proven {
        /// How long the answer took.
        rtt: Span,
    },
}

impl HelloOutcome {
    /// The HELLO as a datagram: refused if it was dropped.
    pub(crate) fn result(&self) -> Result<(), Refusal> {
        match self {
            Self::Answered(Some(refusal)) => Err(*refusal),
            Self::Answered(None) | Self::Mismatch(_) | Self::Proven { .. } => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    to: SocketAddr,
    len: usize,
    bytes: [u8; ControlPacket::HEADER_LEN + HELLO_LEN],
}

/// A peer whose connection is authenticated: its HELLO needs no cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AuthenticatedPeer {
    pub(crate) addr: SocketAddr,
    pub(crate) rtt: Span,
    pub(crate) role: PeerRole,
    /// Whether the peer is there for certain; otherwise its HELLO may be a recorded one.
    pub(crate) confirmed: bool,
}

/// Answers HELLOs.
#[derive(Clone, Debug)]
pub(crate) struct HandshakeResponder {
    cookies: Cookies,
    /// The values that must be equal on both machines.
    game: GameConfig,
    /// The bytes of the first state that a joiner has to accept.
    first_state_len: u32,
    answers: VecDeque<Answer>,
    /// The peer whose connection was named last. That of another one is named before each of its datagrams.
    authenticated: Option<AuthenticatedPeer>,
}

impl HandshakeResponder {
    pub(crate) fn new(cookies: Cookies, game: GameConfig, first_state_len: u32) -> Self {
        let answers = VecDeque::with_capacity(WAITING);
        Self { cookies, game, first_state_len, answers, authenticated: None }
    }

    /// Notes how far an authenticated connection is.
    pub(crate) fn connection(&mut self, addr: SocketAddr, step: ConnectionStep) {
        let peer = |round_trip: core::time::Duration, role, confirmed| {
            Some(AuthenticatedPeer { addr, rtt: round_trip.into(), role, confirmed })
        };
        self.authenticated = match step {
            ConnectionStep::Reached { round_trip, role } => peer(round_trip, role, false),
            ConnectionStep::Confirmed { round_trip, role } => peer(round_trip, role, true),
            ConnectionStep::Gone => self.authenticated.filter(|peer| peer.addr != addr),
        };
    }

    /// Whether the connection of the peer at this address was named last.
    #[inline]
    pub(crate) fn knows(&self, addr: SocketAddr) -> bool {
        self.authenticated.as_ref().is_some_and(|peer| peer.addr == addr)
    }

    /// The peer at this address, if its connection is authenticated.
    pub(crate) fn authenticated(&self, addr: SocketAddr) -> Option<AuthenticatedPeer> {
        self.authenticated.filter(|peer| peer.addr == addr)
    }

    /// Receives a HELLO: challenges it, refuses it, or says that it is proven and fits.
    pub(crate) fn hello(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        hello: &Hello<'_>,
    ) -> HelloOutcome {
        let fits = hello.first_state_limit >= self.first_state_len;
        let first_state = if fits { self.first_state_len } else { hello.first_state_limit }.into();
        let GameConfig { id, content_hash, frame_rate, axes, pads } = self.game;
        let compared = [
            (RefuseField::GameId, id, hello.game_id),
            (RefuseField::ContentHash, content_hash, hello.content_hash),
            (RefuseField::FrameRate, frame_rate.to_bits(), hello.frame_rate.to_bits()),
            (RefuseField::Axes, u64::from(axes), u64::from(hello.axes)),
            (RefuseField::Pads, u64::from(pads), u64::from(hello.pads)),
            (RefuseField::FirstState, u64::from(self.first_state_len), first_state),
        ];
        self.compare(now, from, header, (hello.nonce, hello.cookie), &compared)
    }

    /// Receives a HELLO of another version, which is refused once its address is proven.
    pub(crate) fn foreign_hello(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        hello: message::ForeignHello,
    ) -> HelloOutcome {
        let compared = [(RefuseField::Version, u64::from(VERSION), u64::from(hello.version))];
        self.compare(now, from, header, (hello.nonce, hello.cookie), &compared)
    }

    /// Compares our values with those of a HELLO, if its address is proven: by an authenticated connection, or by a cookie of
    /// ours that has come back. Otherwise the address is challenged.
    fn compare(
        &mut self,
        now: Time,
        from: SocketAddr,
        header: ControlHeader,
        (nonce, cookie): (u64, u64),
        compared: &[(RefuseField, u64, u64)],
    ) -> HelloOutcome {
        let authenticated = self.authenticated(from).map(|peer| peer.rtt);
        let Some(rtt) = authenticated.or_else(|| self.cookies.age(now, from, nonce, cookie)) else {
            let challenge = Challenge { nonce, cookie: self.cookies.issue(now, from, nonce) };
            self.answer(from, header, &Message::Challenge(challenge));
            return HelloOutcome::Answered((cookie != 0).then_some(Refusal::BadCookie));
        };
        match compared.iter().find(|(_, ours, theirs)| ours != theirs) {
            Some(&(field, ours, theirs)) => {
                let refuse = Refuse { nonce, field, ours, theirs };
                self.answer(from, header, &Message::Refuse(refuse));
                HelloOutcome::Mismatch(refuse)
            }
            None => HelloOutcome::Proven { rtt },
        }
    }

    /// Refuses the HELLO with this nonce of a proven address, for a reason that has no values.
    pub(crate) fn refuse(&mut self, to: SocketAddr, header: ControlHeader, nonce: u64, field: RefuseField) {
        self.answer(to, header, &Message::Refuse(Refuse { nonce, field, ours: 0, theirs: 0 }));
    }

    /// Queues a message outside any connection.
    pub(crate) fn answer(&mut self, to: SocketAddr, heard: ControlHeader, message: &Message<'_>) {
        if self.answers.len() == WAITING {
            return;
        }
        let mut answer = Answer { to, len: 0, bytes: [0; ControlPacket::HEADER_LEN + HELLO_LEN] };
        // No connection, so no numbers of our own; theirs is acknowledged, which shows that we saw it.
        let header = ControlHeader { sequence: 0, ack: heard.sequence, ack_bits: 0 };
        if let Ok(len) = message.encode_packet(&header, &mut answer.bytes) {
            answer.len = len;
            self.answers.push_back(answer);
        }
    }

    /// The next answer to send.
    #[inline]
    pub(crate) fn poll_transmit(&mut self, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let Answer { to, len, bytes } = self.answers.pop_front()?;
        buf.get_mut(..len)?.copy_from_slice(&bytes[..len]);
        Some((to, len))
    }

    /// Whether an answer waits to be sent.
    pub(crate) fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameRate;
    use crate::channel::entropy::Entropy;
    use crate::wire::message::Extensions;
    use core::time::Duration;

    const NOW: Time = Time::ZERO;

    fn responder() -> HandshakeResponder {
        let game = GameConfig { id: 1, content_hash: 2, ..GameConfig::default() };
        HandshakeResponder::new(Cookies::new(&mut Entropy::new(1)), game, 0)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    /// Says HELLO from this port.
    fn says_hello(responder: &mut HandshakeResponder, port: u16, cookie: u64) -> HelloOutcome {
        let hello = Hello {
            nonce: 7,
            cookie,
            game_id: 1,
            content_hash: 2,
            frame_rate: FrameRate::default(),
            delay_frames: 0,
            window_frames: 8,
            round_trip: 0,
            axes: 0,
            pads: 1,
            first_state_limit: 0,
            capabilities: Extensions::NONE,
            user_data: b"",
        };
        responder.hello(NOW, addr(port), ControlHeader::default(), &hello)
    }

    #[test]
    fn flood_of_hellos_queues_a_bounded_number_of_answers() {
        let mut responder = responder();
        (0..10_000).for_each(|port| {
            assert!(matches!(says_hello(&mut responder, port, 0), HelloOutcome::Answered(None)));
        });
        assert_eq!((responder.answers.len(), responder.answers.capacity()), (WAITING, WAITING));
    }

    #[test]
    fn only_an_authenticated_connection_needs_no_cookie() {
        let mut responder = responder();
        let (round_trip, role) = (Duration::from_millis(30), PeerRole::Player);
        responder.connection(addr(1), ConnectionStep::Confirmed { round_trip, role });
        assert!(
            matches!(says_hello(&mut responder, 1, 0), HelloOutcome::Proven { rtt } if rtt == round_trip.into())
        );
        assert!(matches!(says_hello(&mut responder, 2, 0), HelloOutcome::Answered(None)), "from elsewhere");
        responder.connection(addr(2), ConnectionStep::Gone);
        assert!(responder.authenticated(addr(1)).is_some_and(|peer| peer.confirmed));
        responder.connection(addr(1), ConnectionStep::Gone);
        assert!(matches!(says_hello(&mut responder, 1, 5), HelloOutcome::Answered(Some(Refusal::BadCookie))));
    }
}

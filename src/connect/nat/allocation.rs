//! An allocation on a relay: a TURN client with channels, one for each peer.

use super::channels::Channels;
use super::origin::{from_turn, turn};
use crate::connect::rendezvous::Credentials;
use crate::protocol::stream_addr::is_stream;
use crate::protocol::time::{Span, Time};
use crate::wire::stun::id_of;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use turn_client_proto::api::{Transmit, TurnClientApi, TurnConfig, TurnEvent, TurnPollRet, TurnRecvRet};
use turn_client_proto::stun::auth::Feature;
use turn_client_proto::types::stun::attribute::{
    AttributeStaticType, AttributeType, ErrorCode, Nonce, Realm,
};
use turn_client_proto::types::stun::message::Message;
use turn_client_proto::types::{AddressFamily, TransportType, TurnCredentials};
use turn_client_proto::udp::TurnClientUdp;

/// Requests: the first repeat after this long, doubling up to the second, so often, and the wait after the last. An allocation whose
/// answer never came cannot be asked for again, because the relay has one for this port: where every third datagram is lost, one
/// request in ten million stays without an answer.
const REPEAT: Span = Span::from_millis(200);
const MAX_REPEAT: Span = Span::from_millis(400);
const REPEATS: u32 = 24;
const LAST_WAIT: Span = Span::from_millis(800);
/// The address that the client believes to be its own. It only compares it.
const LOCAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 1);

/// An allocation, or the attempt at one.
#[derive(Debug)]
pub(super) struct Allocation {
    client: TurnClientUdp,
    state: State,
    deadline: Time,
    /// Whether the relay has answered anything.
    answered: bool,
    /// The code of the newest error that the relay has answered.
    error: Option<u16>,
    /// The machines that may send through it, and the peers with a channel: each was asked for once.
    permitted: Vec<Permitted>,
    bound: Vec<SocketAddr>,
    channels: Channels,
    /// The identifiers of the newest requests without an answer: nothing else is believed to be one.
    asked: VecDeque<[u8; 12]>,
    /// The realm of the first answer that named one. The client would take another one from any later error.
    realm: Option<Vec<u8>>,
}

/// How far an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Asking,
    /// There is one, with this address.
    Made(SocketAddr),
    /// The relay has refused, or does not answer any more.
    Failed,
}

/// Requests that may still be answered.
const MAX_ASKED: usize = 64;
const DATA_INDICATION: [u8; 2] = [0x00, 0x17];
/// The codes of errors: of wrong or old credentials, and of an allocation or a nonce that the relay does not have.
const UNAUTHORIZED: u16 = ErrorCode::UNAUTHORIZED;
const MISMATCH: u16 = ErrorCode::ALLOCATION_MISMATCH;
const BAD_REQUEST: u16 = ErrorCode::BAD_REQUEST;

/// First bytes of datagrams that a STUN parser takes for a message, and those of the methods of TURN among them.
const STUN: core::ops::RangeInclusive<u8> = 0x00..=0x3F;
const TURN: core::ops::RangeInclusive<u8> = 0x00..=0x03;

/// The values of all attributes of a type in a STUN message: of realms and nonces, a client takes the last one.
fn values(message: &[u8], kind: AttributeType) -> Vec<Vec<u8>> {
    let Ok(message) = Message::from_bytes(message) else { return Vec::new() };
    let attributes = message.iter_attributes().map(|(_, attribute)| attribute);
    attributes.filter(|one| one.header.get_type() == kind).map(|one| one.value.to_vec()).collect()
}

/// The most machines or peers of one allocation: twice as many as eight guests name. The client has no way to give one
/// up, and refreshes each for as long as the allocation lives, so that forgetting the oldest would let its list grow
/// without bound.
const MAX_REMEMBERED: usize = 128;

/// A machine that may send through an allocation.
#[derive(Debug)]
struct Permitted {
    ip: IpAddr,
    /// The peer that named it.
    named_by: SocketAddr,
}

/// The meaning of a datagram of the relay.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// None of the relay's.
    Nothing,
    /// A message of the relay itself.
    Own,
    /// The answer to a question where it sees this machine.
    Seen(SocketAddr),
    /// A datagram of this peer, at these bytes of it.
    From(SocketAddr, core::ops::Range<usize>),
}

impl Allocation {
    /// An allocation by these credentials at `server`, which is the address of the credentials or that of a stream to it. Over a stream
    /// requests are repeated too: what does not fit into its buffer is lost.
    pub(super) fn new(credentials: &Credentials, server: SocketAddr) -> Self {
        let mut config = TurnConfig::new(TurnCredentials::new(&credentials.user, &credentials.password));
        // Users of a shared secret are known by their name, not by its hash.
        config.set_anonymous_username(Feature::Disabled);
        config.set_request_retransmits(REPEAT.into(), MAX_REPEAT.into(), REPEATS, LAST_WAIT.into());
        if credentials.server.is_ipv6() {
            config.set_address_family(AddressFamily::IPV6);
        }
        let client = TurnClientUdp::allocate(LOCAL, server, config);
        Self {
            client,
            state: State::Asking,
            deadline: Time::ZERO,
            answered: false,
            error: None,
            permitted: Vec::new(),
            bound: Vec::new(),
            channels: Channels::default(),
            asked: VecDeque::new(),
            realm: None,
        }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn relayed(&self) -> Option<SocketAddr> {
        match self.state {
            State::Made(addr) => Some(addr),
            State::Asking | State::Failed => None,
        }
    }

    /// Whether the relay has answered anything.
    pub(super) fn has_answered(&self) -> bool {
        self.answered
    }

    /// Whether the relay has said since the last call that it has no such allocation, or does not know us: it was restarted.
    pub(super) fn take_mismatch(&mut self) -> bool {
        let is_lost = |code: &mut u16| matches!(*code, MISMATCH | UNAUTHORIZED | BAD_REQUEST);
        self.relayed().is_some() && self.error.take_if(is_lost).is_some()
    }

    pub(super) fn server(&self) -> SocketAddr {
        self.client.remote_addr()
    }

    /// Whether the relay is reached over a stream.
    pub(super) fn is_streamed(&self) -> bool {
        is_stream(self.server())
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        (self.state != State::Failed).then_some(self.deadline)
    }

    /// Takes a datagram that came from the relay's address.
    pub(super) fn handle(&mut self, now: Time, datagram: &[u8]) -> Heard {
        let first = datagram.first().copied().unwrap_or_default();
        if STUN.contains(&first) && !(TURN.contains(&first) && self.expects(datagram)) {
            return Heard::Nothing;
        }
        self.deadline = Time::ZERO;
        let transmit = Transmit::new(datagram, TransportType::Udp, self.server(), LOCAL);
        match self.client.recv(transmit, turn(now)) {
            TurnRecvRet::Handled | TurnRecvRet::PeerIcmp { .. } => {
                self.answered = true;
                self.take_events();
                Heard::Own
            }
            TurnRecvRet::Ignored(_) => match self.channels.data(datagram) {
                Some((peer, place)) => Heard::From(peer, place),
                None => Heard::Nothing,
            },
            TurnRecvRet::PeerData(data) => {
                let (bytes, peer) = (data.data(), data.peer);
                // The bytes are a part of the datagram: only their place is handed on.
                let start = bytes.as_ptr().addr().wrapping_sub(datagram.as_ptr().addr());
                let range = start..start.wrapping_add(bytes.len());
                if datagram.get(range.clone()) == Some(bytes) { Heard::From(peer, range) } else { Heard::Own }
            }
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                TurnEvent::AllocationCreated(_, addr) => {
                    (self.state, self.error) = (State::Made(addr), None);
                }
                TurnEvent::AllocationCreateFailed(_) => self.state = State::Failed,
                // Refused by the relay, or expired: the client has forgotten it too.
                TurnEvent::PermissionCreateFailed(_, peer) => self.permitted.retain(|one| one.ip != peer),
                TurnEvent::ChannelCreateFailed(_, peer) => self.bound.retain(|one| *one != peer),
                _ => {}
            }
        }
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, now: Time) {
        if self.state == State::Failed || now < self.deadline {
            return;
        }
        let next = self.client.poll(turn(now));
        self.take_events();
        match next {
            TurnPollRet::Closed => self.state = State::Failed,
            TurnPollRet::WaitUntil(at) => self.deadline = from_turn(at).max(now + Span::from_millis(1)),
            // Of TCP alone, which was never asked for.
            _ => self.deadline = now + REPEAT,
        }
    }

    /// The next message to the relay.
    pub(super) fn poll_transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        let message = self.client.poll_transmit(turn(now))?.data.to_vec();
        if let Some(id) = id_of(&message).filter(|id| !self.asked.contains(id)) {
            self.asked.truncate(MAX_ASKED - 1);
            self.asked.push_front(id);
            self.channels.asked(&message);
        }
        Some(message)
    }

    /// Whether a STUN message of the relay is data of a peer, or the first answer to a request of ours. A repeated request
    /// may be answered again.
    fn expects(&mut self, message: &[u8]) -> bool {
        if message.starts_with(&DATA_INDICATION) {
            return true;
        }
        let Some(at) = id_of(message).and_then(|id| self.asked.iter().position(|asked| *asked == id)) else {
            return false;
        };
        let mut realms = values(message, Realm::TYPE);
        if realms.iter().any(|realm| self.realm.as_ref().or(realms.first()) != Some(realm)) {
            return false;
        }
        // The client cuts a nonce at a fixed byte, and panics if that is inside a character.
        if !values(message, Nonce::TYPE).iter().all(|nonce| nonce.is_ascii()) {
            return false;
        }
        self.asked.remove(at);
        if let [_, _, class, number, ..] = values(message, ErrorCode::TYPE).pop().unwrap_or_default()[..] {
            let code = u16::from(class & 7) * 100 + u16::from(number);
            let before = self.error.replace(code);
            // The first refusal brings the nonce. The client would repeat its request after a second one.
            if self.state == State::Asking && [before, self.error] == [Some(UNAUTHORIZED); 2] {
                (self.state, self.answered) = (State::Failed, true);
            }
        }
        self.realm = self.realm.take().or_else(|| realms.pop());
        true
    }

    /// Gives the allocation back to the relay. The request is the last one, and is not repeated.
    pub(super) fn delete(&mut self, now: Time) -> Option<Vec<u8>> {
        self.relayed()?;
        self.client.delete(turn(now)).ok()?;
        let mut last = None;
        while let Some(message) = self.poll_transmit(now) {
            last = Some(message);
        }
        self.state = State::Failed;
        last
    }

    /// Lets the relay take datagrams of a machine that a peer has named. A peer gets at most half of the room that others leave:
    /// a peer that names many addresses must not keep the next guest from the relay.
    pub(super) fn permit(&mut self, now: Time, ip: IpAddr, named_by: SocketAddr) {
        let known = self.permitted.iter().any(|one| one.ip == ip);
        let named = self.permitted.iter().filter(|one| one.named_by == named_by).count();
        if !known && named + self.permitted.len() < MAX_REMEMBERED && self.reaches(ip) {
            self.permitted.push(Permitted { ip, named_by });
            let _ = self.client.create_permission(TransportType::Udp, ip, turn(now));
            self.deadline = Time::ZERO;
        }
    }

    /// Binds a channel to this peer: from then on each datagram costs 4 bytes more.
    pub(super) fn bind(&mut self, now: Time, peer: SocketAddr) {
        let known = self.bound.contains(&peer);
        if !known && self.bound.len() < MAX_REMEMBERED && self.reaches(peer.ip()) {
            self.bound.push(peer);
            let _ = self.client.bind_channel(TransportType::Udp, peer, turn(now));
            self.deadline = Time::ZERO;
        }
    }

    /// Whether there is an allocation of the family of an address.
    fn reaches(&self, ip: IpAddr) -> bool {
        self.relayed().is_some_and(|relayed| relayed.is_ipv4() == ip.is_ipv4())
    }

    /// Writes the datagram to the relay that brings `datagram` to `peer`. `None` if it may not, or does not fit.
    pub(super) fn wrap(
        &mut self,
        now: Time,
        peer: SocketAddr,
        datagram: &[u8],
        buf: &mut [u8],
    ) -> Option<usize> {
        use turn_client_proto::types::prelude::DelayedTransmitBuild;
        let sent = self.client.send_to(TransportType::Udp, peer, datagram, turn(now)).ok()??;
        let len = sent.data.len();
        (len <= buf.len()).then(|| sent.data.write_into(buf))
    }
}

//! The paths of a page: it meets others at the rendezvous, and reaches each over a peer connection that its transport has.

use super::addr::{SERVER, channel};
use super::control::{ChannelCommand, IceServer, News};
use super::layer::WebLayer;
use super::peer::WebPeer;
use super::signal::WebSignal;
use super::standing::Standing;
use crate::connect::invite::{Rendezvous, ServerName};
use crate::connect::rendezvous::{Credentials, JoinRequest, Registration, RendezvousEvent};
use crate::connect::seal::{Brought, Randomness, Seal, SealError};
use crate::protocol::time::{Span, Time};
use crate::protocol::{MAX_DATAGRAM, Protocol};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// The most peers at once.
const MAX_PEERS: usize = 8;
/// How often peers are looked at.
const LOOK: Span = Span::from_millis(100);
/// A joiner whose INIT was not answered asks for a new ticket after this long.
const ASK_AGAIN_AFTER: Span = Span::from_secs(1);
/// The round trip of a data channel, until the seal has measured it.
const ROUND_TRIP: Duration = Duration::from_millis(50);

/// The paths of a page to others.
#[derive(Debug)]
pub(crate) struct WebTraversal {
    client: Client,
    peers: Vec<WebPeer>,
    /// How many peer connections were ever made up.
    made: u32,
    /// The rendezvous, or its TURN server once it has named one.
    servers: Vec<IceServer>,
    posted: Posted,
    outbox: VecDeque<(SocketAddr, Vec<u8>)>,
    next_at: Time,
    standing: Standing,
    /// Signals and datagrams that were of no use.
    refused: u64,
}

#[derive(Debug)]
enum Client {
    Host(Box<Registration>),
    Joiner(Box<JoinRequest>),
}

/// The tickets of a joiner: the newest, and the one of the INIT that was posted, and since when that has no answer.
#[derive(Debug, Default)]
struct Posted {
    ticket: Option<u64>,
    of: Option<u64>,
    unanswered_since: Option<Time>,
}

impl WebTraversal {
    /// A host in the room that its secret gives at a server, or at the server with this name.
    pub(crate) fn host(
        server: SocketAddr,
        name: Option<&ServerName>,
        secret: &[u8; 32],
        randomness: Randomness,
    ) -> Result<Self, SealError> {
        let registration = match name {
            None => Registration::new(server, secret, randomness),
            Some(name) => Registration::named(server, (name.name(), name.port()), secret, randomness),
        };
        Ok(Self::new(Client::Host(Box::new(registration?)), IceServer::stun(server, name)))
    }

    /// A joiner that asks for its host, at a server that may have this name.
    pub(crate) fn join(
        rendezvous: &Rendezvous,
        name: Option<&ServerName>,
        randomness: Randomness,
    ) -> Result<Self, SealError> {
        let request = JoinRequest::new(rendezvous.server, rendezvous.room, randomness)?;
        Ok(Self::new(Client::Joiner(Box::new(request)), IceServer::stun(rendezvous.server, name)))
    }

    fn new(client: Client, stun: IceServer) -> Self {
        Self {
            client,
            peers: Vec::new(),
            made: 0,
            servers: vec![stun],
            posted: Posted::default(),
            outbox: VecDeque::new(),
            next_at: Time::ZERO,
            standing: Standing::default(),
            refused: 0,
        }
    }

    /// The room of a host.
    pub(crate) fn rendezvous(&self) -> Option<Rendezvous> {
        match &self.client {
            Client::Host(registration) => {
                Some(Rendezvous { server: registration.server(), room: registration.room() })
            }
            Client::Joiner(_) => None,
        }
    }

    /// This traversal around a seal around a protocol.
    pub(crate) fn around<'a, P: Protocol>(
        &'a mut self,
        seal: &'a mut Seal,
        inner: &'a mut P,
    ) -> WebLayer<'a, P> {
        WebLayer::new(self, seal, inner)
    }

    /// Closes every peer connection.
    pub(crate) fn close(&mut self) {
        for peer in self.peers.drain(..) {
            self.outbox.push_back((peer.addr, ChannelCommand::Close.encode()));
        }
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// How far the machines are on the way to each other.
    pub(crate) fn progress(&self) -> String {
        if self.peers.iter().any(WebPeer::is_open) {
            return "connected over a data channel".to_owned();
        }
        if let Some(trouble) = self.standing.trouble() {
            return trouble.to_owned();
        }
        let is_opening = self.peers.iter().any(WebPeer::has_theirs);
        match &self.client {
            _ if !self.standing.has_answered() => "asking the rendezvous",
            _ if is_opening => "opening a data channel to the other player",
            Client::Host(_) => "waiting for the other player",
            Client::Joiner(_) => "waiting for the host's answer",
        }
        .to_owned()
    }

    /// Why there is no connection, once that is certain enough.
    pub(crate) fn failure(&self, now: Duration) -> Option<String> {
        let is_open = self.peers.iter().any(WebPeer::is_open);
        self.standing.failure(now.into()).filter(|_| !is_open).map(ToOwned::to_owned)
    }

    /// When there is something to do.
    pub(super) fn next_at(&self) -> Time {
        self.next_at
    }

    /// There is something to do at once.
    pub(super) fn stir(&mut self) {
        self.next_at = Time::ZERO;
    }

    /// Something came that is of no use.
    pub(super) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Whether this is the address of a peer.
    pub(super) fn is_peer(&self, addr: SocketAddr) -> bool {
        self.peers.iter().any(|peer| peer.addr == addr)
    }

    /// The next datagram of our own.
    pub(super) fn pop(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        self.outbox.pop_front()
    }

    /// Takes a datagram of the rendezvous.
    pub(super) fn take_from_server(&mut self, now: Duration, datagram: &[u8]) {
        match &mut self.client {
            Client::Host(registration) => registration.handle_datagram(now, registration.server(), datagram),
            Client::Joiner(request) => request.handle_datagram(now, request.server(), datagram),
        }
        self.stir();
    }

    // Internal.

    fn command(&mut self, addr: SocketAddr, command: &ChannelCommand) {
        self.outbox.push_back((addr, command.encode()));
    }

    /// Does everything that is due at `now`.
    pub(super) fn work(&mut self, now: Time, seal: &mut Seal) {
        self.run_client(now, seal);
        while let Some(event) = self.poll_event() {
            self.hear(now, event, seal);
        }
        while let Some((inner, text)) = seal.take_signal() {
            self.take_signal(now, inner, &text, seal);
        }
        self.tend_peers(now, seal);
        self.post_init(now, seal);
        let mut buf = [0; MAX_DATAGRAM];
        while let Some(len) = self.poll_client(now, &mut buf) {
            self.outbox.push_back((SERVER, buf[..len].to_vec()));
        }
        let client = match &self.client {
            Client::Host(registration) => registration.poll_timeout(),
            Client::Joiner(request) => request.poll_timeout(),
        };
        let next = client.map_or(Time::NEVER, Time::from).min(now + LOOK);
        self.next_at = next.max(now + Span::from_millis(1));
    }

    fn run_client(&mut self, now: Time, seal: &mut Seal) {
        match &mut self.client {
            Client::Host(registration) => {
                if registration.wants_ticket(now.into())
                    && let Some(ticket) = seal.renew_ticket()
                {
                    registration.set_ticket(ticket);
                }
            }
            Client::Joiner(request) => {
                let since = &mut self.posted.unanswered_since;
                if since.is_some_and(|at| now >= at + ASK_AGAIN_AFTER) {
                    *since = Some(now);
                    request.renew_credentials();
                }
            }
        }
    }

    fn poll_event(&mut self) -> Option<RendezvousEvent> {
        match &mut self.client {
            Client::Host(registration) => registration.poll_event(),
            Client::Joiner(request) => request.poll_event(),
        }
    }

    fn poll_client(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let sent = match &mut self.client {
            Client::Host(registration) => registration.poll_transmit(now.into(), buf),
            Client::Joiner(request) => request.poll_transmit(now.into(), buf),
        };
        sent.map(|(_, len)| len)
    }

    /// Takes the news of the rendezvous.
    fn hear(&mut self, now: Time, event: RendezvousEvent, seal: &mut Seal) {
        match event {
            RendezvousEvent::Registered { credentials, .. } => self.granted(credentials),
            RendezvousEvent::Ticket { ticket, credentials, .. } => {
                self.granted(credentials);
                self.posted.ticket = Some(ticket);
                if let Some(host) = seal.target().filter(|_| self.peers.is_empty()) {
                    self.made += 1;
                    let mut peer = WebPeer::new(now, host, channel(self.made));
                    let command = peer.offer(now, &self.servers);
                    self.command(peer.addr, &command);
                    self.peers.push(peer);
                }
            }
            RendezvousEvent::Delivered { guest, signal } => self.take_delivered(now, guest, &signal, seal),
            RendezvousEvent::Answered { signal } => match seal.handle_signal(now.into(), &signal) {
                // Its text comes by itself.
                Ok(Brought::Host(_) | Brought::Peer(_)) => self.settle(),
                _ => self.refused += 1,
            },
            RendezvousEvent::Refused(why) | RendezvousEvent::Lapsed { why: Some(why) } => {
                self.standing.set_trouble(now, format!("the rendezvous refuses: {why}"));
            }
            RendezvousEvent::ServerSilent | RendezvousEvent::Lapsed { why: None } => {
                self.standing.set_trouble(now, "the rendezvous does not answer".to_owned());
            }
            RendezvousEvent::HostSilent => {
                let why = "the host does not answer: is it still waiting, with this invite?";
                self.standing.set_trouble(now, why.to_owned());
            }
            RendezvousEvent::Contested { .. } => {}
        }
    }

    /// The rendezvous has answered.
    fn granted(&mut self, credentials: Option<Credentials>) {
        self.standing.set_answered();
        if self.posted.unanswered_since.is_none() {
            self.standing.clear_trouble();
        }
        if let Some(credentials) = credentials {
            self.servers = vec![IceServer::of(credentials)];
        }
    }

    fn settle(&mut self) {
        if let Client::Joiner(request) = &mut self.client {
            request.settle();
        }
        self.posted.unanswered_since = None;
        self.standing.clear_trouble();
    }

    /// A guest's INIT was brought, or a SIGNAL of a guest that has its RESP.
    fn take_delivered(&mut self, now: Time, number: u64, signal: &[u8], seal: &mut Seal) {
        match seal.handle_signal(now.into(), signal) {
            Ok(Brought::Guest(inner)) => {
                let text = seal.take_signal_of(inner).unwrap_or_default();
                let signal = WebSignal::decode(&text).filter(|_| self.make_room(now));
                let Some(signal) = signal else {
                    self.refused += 1;
                    return;
                };
                self.made += 1;
                let mut peer = WebPeer::new(now, inner, channel(self.made));
                peer.number = Some(number);
                let command = peer.answer(now, signal, &self.servers);
                self.command(peer.addr, &command);
                self.peers.push(peer);
            }
            Ok(Brought::Again(inner)) => {
                let signal = self.peer(inner).and_then(|peer| peer.signal());
                let resp = signal.and_then(|text| seal.answer_signal(now.into(), inner, &text));
                if let Some(resp) = resp {
                    self.answer(number, &resp);
                }
            }
            // Its text comes by itself.
            Ok(Brought::Peer(inner)) => {
                if let Some(peer) = self.peer(inner) {
                    peer.number = Some(number);
                }
            }
            _ => self.refused += 1,
        }
    }

    /// Whether there is room for one more peer. One whose peer connection did not open makes room.
    fn make_room(&mut self, now: Time) -> bool {
        if self.peers.len() < MAX_PEERS {
            return true;
        }
        let Some(at) = self.peers.iter().position(|peer| peer.makes_room(now)) else { return false };
        let peer = self.peers.remove(at);
        self.command(peer.addr, &ChannelCommand::Close);
        true
    }

    fn peer(&mut self, inner: SocketAddr) -> Option<&mut WebPeer> {
        self.peers.iter_mut().find(|peer| peer.inner == inner)
    }

    fn answer(&mut self, number: u64, packet: &[u8]) {
        if let Client::Host(registration) = &mut self.client {
            registration.answer(number, packet);
        }
    }

    /// A signal of a peer: with the RESP, or of a newer peer connection.
    fn take_signal(&mut self, now: Time, inner: SocketAddr, text: &[u8], seal: &mut Seal) {
        let is_host = matches!(self.client, Client::Host(_));
        let servers = self.servers.clone();
        let Some((peer, signal)) = self.peer(inner).zip(WebSignal::decode(text)) else {
            self.refused += 1;
            return;
        };
        let (addr, wants_answer) = (peer.addr, signal.wants_answer);
        let command = if is_host && peer.is_newer(&signal) {
            Some(peer.answer(now, signal, &servers))
        } else if is_host {
            peer.owe_again(&signal);
            None
        } else {
            peer.take_answer(now, signal)
        };
        let ours = peer.signal().filter(|_| wants_answer && peer.is_open());
        if let Some(ours) = ours {
            seal.send_signal(inner, &ours);
        }
        if let Some(command) = command {
            self.command(addr, &command);
        }
    }

    /// Sends signals that are owed, makes failed peer connections anew, and forgets guests that are gone.
    fn tend_peers(&mut self, now: Time, seal: &mut Seal) {
        let (host, servers) = (seal.target(), self.servers.clone());
        for at in (0..self.peers.len()).rev() {
            let peer = &mut self.peers[at];
            let (inner, addr) = (peer.inner, peer.addr);
            if host != Some(inner) && seal.idle_for(now.into(), inner).is_none() {
                self.peers.remove(at);
                self.command(addr, &ChannelCommand::Close);
                continue;
            }
            let has_keys = seal.silent_for(now.into(), inner).is_some();
            if host == Some(inner) && peer.fails(now, has_keys) {
                let command = peer.offer(now, &servers);
                // Before the RESP the handshake begins anew.
                self.posted.of = None;
                self.command(addr, &command);
                continue;
            }
            let is_first = peer.is_first();
            match (&mut self.client, peer.number) {
                (Client::Host(registration), Some(number)) => {
                    if let Some(text) = peer.take_owed() {
                        let packet = match is_first {
                            true => seal.answer_signal(now.into(), inner, &text),
                            false => seal.write_signal(inner, &text),
                        };
                        packet.map(|packet| registration.answer(number, &packet));
                    }
                }
                (Client::Joiner(request), _) => {
                    // The first one goes with INIT.
                    if has_keys
                        && let Some(text) = peer.take_owed()
                        && let Some(packet) = seal.write_signal(inner, &text)
                    {
                        request.post(&packet);
                    }
                }
                (Client::Host(_), None) => {}
            }
        }
    }

    /// Posts a joiner's INIT for its newest ticket, once its description is there.
    fn post_init(&mut self, now: Time, seal: &mut Seal) {
        let (Client::Joiner(request), Some(host)) = (&mut self.client, seal.target()) else { return };
        let Some(ticket) = self.posted.ticket.filter(|ticket| self.posted.of != Some(*ticket)) else {
            return;
        };
        if seal.silent_for(now.into(), host).is_some() {
            return;
        }
        let text = self.peers.iter().find(|peer| peer.inner == host).and_then(WebPeer::signal);
        if let Some(init) = text.and_then(|text| seal.write_init(now.into(), ticket, &text)) {
            request.post(&init);
            self.posted = Posted { ticket: Some(ticket), of: Some(ticket), unanswered_since: Some(now) };
        }
    }

    /// News of a peer connection.
    pub(super) fn take_news(&mut self, now: Time, from: SocketAddr, news: News, seal: &mut Seal) {
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.addr == from) else {
            self.refused += 1;
            return;
        };
        match news {
            News::Local(description) => peer.set_local(description),
            News::Opened => {
                peer.set_open();
                seal.offer_path(now.into(), peer.inner, from, ROUND_TRIP);
            }
            News::Closed => peer.set_closed(now),
        }
        self.next_at = Time::ZERO;
    }
}

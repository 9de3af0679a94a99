//! How the first signals travel: through a rendezvous, or as texts of the players.

use super::progress::{NoWay, Progress};
use super::route::Route;
use crate::connect::invite::Rendezvous;
use crate::connect::rendezvous::{Denial, JoinRequest, Registration, RendezvousEvent};
use crate::protocol::stream_addr::Notice;
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// Credentials for the relay are asked for again after this long: a new allocation in the middle of a match needs fresh ones.
const RENEW_AFTER: Span = Span::from_secs(300);
/// A joiner whose INIT was not answered asks for a new ticket after this long. The host may have registered its room again.
const ASK_AGAIN_AFTER: Span = Span::from_secs(1);
/// The other addresses of a rendezvous are asked too after this long without an answer of the first.
const OTHERS_AFTER: Span = Span::from_secs(1);
/// The first byte of packets to a rendezvous.
const RENDEZVOUS: u8 = 0xE8;

/// How the first signals travel.
#[derive(Debug)]
pub(super) struct Signalling {
    client: Client,
    /// Rooms of this machine at the same rendezvous, besides the one of the client.
    rooms: Vec<Registration>,
    /// The joiner's ticket, once it has one.
    ticket: Option<u64>,
    posted: Posted,
    renew_at: Time,
    route: Route,
    others: Others,
    /// Whether the rendezvous has answered, and why there is no answer for now.
    has_answered: bool,
    silence: Option<NoWay>,
}

/// The INITs that a joiner has posted.
#[derive(Debug, Default)]
struct Posted {
    /// The ticket of the newest.
    ticket: Option<u64>,
    /// When the first one was posted.
    first_at: Option<Time>,
    /// Since when the newest has no answer.
    unanswered_since: Option<Time>,
}

/// A rendezvous with several addresses.
#[derive(Debug, Default)]
struct Others {
    /// Those beside the first.
    servers: Vec<SocketAddr>,
    /// The one that has answered.
    chosen: Option<SocketAddr>,
    /// Datagrams that are still to be sent.
    copies: Vec<(SocketAddr, Vec<u8>)>,
}

/// The other end of signalling: the server of a host or of a joiner, or the players themselves.
#[derive(Debug)]
pub(super) enum Client {
    Host(Box<Registration>),
    Joiner(Box<JoinRequest>),
    /// The players send each other two texts.
    Manual {
        is_host: bool,
    },
}

impl Signalling {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            rooms: Vec::new(),
            ticket: None,
            posted: Posted::default(),
            renew_at: Time::ZERO + RENEW_AFTER,
            route: Route::default(),
            others: Others::default(),
            has_answered: false,
            silence: None,
        }
    }

    pub(super) fn is_host(&self) -> bool {
        matches!(self.client, Client::Host(_) | Client::Manual { is_host: true })
    }

    pub(super) fn is_manual(&self) -> bool {
        matches!(self.client, Client::Manual { .. })
    }

    pub(super) fn server(&self) -> Option<SocketAddr> {
        match &self.client {
            Client::Host(registration) => Some(registration.server()),
            Client::Joiner(post) => Some(post.server()),
            Client::Manual { .. } => None,
        }
    }

    /// Whether a datagram of the rendezvous comes from this address.
    pub(super) fn is_server(&self, addr: SocketAddr) -> bool {
        match self.route.stream_in_use().or(self.others.chosen) {
            Some(in_use) => in_use == addr,
            None => self.servers().any(|server| server == addr),
        }
    }

    /// The addresses of the rendezvous.
    fn servers(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.server().into_iter().chain(self.others.servers.iter().copied())
    }

    /// The rendezvous has these addresses too.
    pub(super) fn set_others(&mut self, servers: Vec<SocketAddr>) {
        self.others.servers = servers;
    }

    /// Lets the rendezvous be reached over a stream.
    pub(super) fn allow_stream(&mut self) {
        for server in self.servers().collect::<Vec<_>>() {
            self.route.allow_stream(server);
        }
    }

    /// Whether the rendezvous is reached over a stream.
    pub(super) fn is_streamed(&self) -> bool {
        self.route.is_stream()
    }

    /// Takes a notice of a stream.
    pub(super) fn notice(&mut self, from: SocketAddr, notice: Notice) {
        if self.route.notice(from, notice) {
            self.begin_anew();
        }
    }

    /// The server sees another address of this machine from now on: earlier cookies are of no use.
    fn begin_anew(&mut self) {
        match &mut self.client {
            Client::Host(registration) => registration.refresh(),
            Client::Joiner(post) => post.begin_anew(),
            Client::Manual { .. } => {}
        }
        self.rooms.iter_mut().for_each(Registration::refresh);
    }

    /// Opens one more room at the rendezvous. Its guests are told of like those of a host.
    pub(super) fn open_room(&mut self, room: Registration) {
        if self.rooms.iter().all(|one| one.room() != room.room()) {
            self.rooms.push(room);
        }
    }

    /// Registers a room no longer: the server forgets it.
    pub(super) fn close_room(&mut self, room: &[u8; 16]) {
        self.rooms.retain(|one| one.room() != *room);
    }

    pub(super) fn first_progress(&self) -> Progress {
        self.server().map_or(Progress::Manual, |server| Progress::Asking { server })
    }

    /// Whether the rendezvous has answered.
    pub(super) fn has_answered(&self) -> bool {
        self.has_answered
    }

    /// Why there is no answer for now.
    pub(super) fn silence(&self) -> Option<NoWay> {
        match (self.silence, self.route.failure()) {
            (Some(NoWay::RendezvousSilent { server }), Some(why)) => Some(NoWay::NoStream { server, why }),
            (silence, _) => silence,
        }
    }

    /// A joiner's ticket for which no INIT was posted yet.
    pub(super) fn new_ticket(&self) -> Option<u64> {
        self.ticket.filter(|ticket| self.posted.ticket != Some(*ticket))
    }

    #[cfg(test)]
    pub(super) fn set_ticket(&mut self, ticket: u64) {
        self.ticket = Some(ticket);
    }

    /// When a joiner's first INIT was posted.
    pub(super) fn first_posted_at(&self) -> Option<Time> {
        self.posted.first_at
    }

    pub(super) fn rendezvous(&self) -> Option<Rendezvous> {
        match &self.client {
            Client::Host(registration) => {
                Some(Rendezvous { server: registration.server(), room: registration.room() })
            }
            Client::Joiner(_) | Client::Manual { .. } => None,
        }
    }

    /// Takes a datagram of the [server](Self::is_server).
    pub(super) fn handle(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) {
        let Some(server) = self.server() else { return };
        if !self.route.is_stream() {
            self.others.chosen = Some(from);
        }
        self.route.answered();
        match &mut self.client {
            Client::Host(registration) => registration.handle_datagram(now.into(), server, datagram),
            Client::Joiner(post) => post.handle_datagram(now.into(), server, datagram),
            Client::Manual { .. } => {}
        }
        // Each knows its own by their nonces.
        self.rooms.iter_mut().for_each(|room| room.handle_datagram(now.into(), server, datagram));
    }

    /// Lets time pass. `ticket` draws a new ticket of a host.
    pub(super) fn run(&mut self, now: Time, mut ticket: impl FnMut() -> Option<u64>) {
        if self.route.run(now) {
            self.begin_anew();
        }
        let mut renew = |registration: &mut Registration| {
            if registration.wants_ticket(now.into())
                && let Some(ticket) = ticket()
            {
                registration.set_ticket(ticket);
            }
        };
        self.rooms.iter_mut().for_each(&mut renew);
        match &mut self.client {
            Client::Host(registration) => renew(registration),
            Client::Joiner(post) => {
                let since = &mut self.posted.unanswered_since;
                let unanswered = since.is_some_and(|at| now >= at + ASK_AGAIN_AFTER);
                if unanswered {
                    *since = Some(now);
                }
                if unanswered || now >= self.renew_at {
                    self.renew_at = now + RENEW_AFTER;
                    post.renew_credentials();
                }
            }
            Client::Manual { .. } => {}
        }
    }

    pub(super) fn deadline(&self) -> Time {
        let (client, own) = match &self.client {
            Client::Host(registration) => (registration.poll_timeout(), Time::NEVER),
            Client::Joiner(post) => {
                let again = self.posted.unanswered_since.map_or(Time::NEVER, |at| at + ASK_AGAIN_AFTER);
                (post.poll_timeout(), again.min(self.renew_at))
            }
            Client::Manual { .. } => (None, Time::NEVER),
        };
        let rooms = self.rooms.iter().filter_map(Registration::poll_timeout);
        client.into_iter().chain(rooms).map(Time::from).fold(own, Time::min).min(self.route.deadline())
    }

    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let Some(stream) = self.route.open(now) {
            // The first byte of a datagram tells the transport of what kind the stream is.
            *buf.first_mut()? = RENDEZVOUS;
            return Some((stream, 1));
        }
        if let Some((server, datagram)) = self.others.copies.pop() {
            buf.get_mut(..datagram.len())?.copy_from_slice(&datagram);
            return Some((server, datagram.len()));
        }
        let (server, len) = self.poll_client(now, buf)?;
        self.route.sent(now);
        let Others { servers, chosen, copies } = &mut self.others;
        if chosen.is_none() && !self.route.is_stream() && self.route.is_silent_for(now, OTHERS_AFTER) {
            copies.extend(servers.iter().map(|other| (*other, buf[..len].to_vec())));
        }
        Some((self.route.stream_in_use().or(*chosen).unwrap_or(server), len))
    }

    fn poll_client(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let of_client = match &mut self.client {
            Client::Host(registration) => registration.poll_transmit(now.into(), buf),
            Client::Joiner(post) => post.poll_transmit(now.into(), buf),
            Client::Manual { .. } => None,
        };
        of_client.or_else(|| self.rooms.iter_mut().find_map(|room| room.poll_transmit(now.into(), buf)))
    }

    /// The next news, in order.
    pub(super) fn poll_event(&mut self) -> Option<RendezvousEvent> {
        let event = match &mut self.client {
            Client::Manual { .. } => None,
            Client::Host(registration) => registration.poll_event(),
            Client::Joiner(post) => post.poll_event(),
        };
        let Some(event) = event else { return self.poll_room() };
        match event {
            RendezvousEvent::Registered { .. } => (self.has_answered, self.silence) = (true, None),
            RendezvousEvent::Ticket { ticket, .. } => {
                (self.has_answered, self.silence, self.ticket) = (true, None, Some(ticket));
            }
            RendezvousEvent::Delivered { .. } | RendezvousEvent::Answered { .. } => {}
            // A server that is busy for a moment, or asks our old address first, takes a later attempt.
            RendezvousEvent::Refused(Denial::Busy | Denial::Held) => {}
            RendezvousEvent::Refused(why) | RendezvousEvent::Lapsed { why: Some(why) } => {
                self.silence = Some(NoWay::Denied { why });
            }
            RendezvousEvent::ServerSilent | RendezvousEvent::Lapsed { why: None } => {
                self.silence = self.server().map(|server| NoWay::RendezvousSilent { server });
                self.others.chosen = None;
            }
            RendezvousEvent::HostSilent => self.silence = Some(NoWay::HostSilent),
            RendezvousEvent::Contested { .. } => self.silence = Some(NoWay::Contested),
        }
        Some(event)
    }

    /// The next news of the other rooms. Trouble with them is none of the client's: whoever wants to come back asks again.
    fn poll_room(&mut self) -> Option<RendezvousEvent> {
        let mut events = self.rooms.iter_mut().flat_map(|room| core::iter::from_fn(|| room.poll_event()));
        events.find(|event| {
            matches!(event, RendezvousEvent::Registered { .. } | RendezvousEvent::Delivered { .. })
        })
    }

    /// A host registers again at once: it may have another address.
    pub(super) fn refresh(&mut self) {
        if let Client::Host(registration) = &mut self.client {
            registration.refresh();
        }
        self.rooms.iter_mut().for_each(Registration::refresh);
    }

    /// Posts a joiner's INIT for its ticket.
    pub(super) fn post(&mut self, now: Time, init: &[u8]) {
        if let Client::Joiner(post) = &mut self.client {
            post.post(init);
            let first_at = self.posted.first_at.or(Some(now));
            self.posted = Posted { ticket: self.ticket, first_at, unanswered_since: Some(now) };
        }
    }

    /// Posts a joiner's SIGNAL.
    pub(super) fn post_signal(&mut self, signal: &[u8]) {
        if let Client::Joiner(post) = &mut self.client {
            post.post(signal);
        }
    }

    /// Asks the rendezvous where it sees this machine. A host that has moved registers again, so that its guest's signals find it.
    pub(super) fn locate(&mut self) {
        match &mut self.client {
            Client::Host(registration) => registration.locate(),
            Client::Joiner(post) => post.renew_credentials(),
            Client::Manual { .. } => {}
        }
        self.rooms.iter_mut().for_each(Registration::locate);
    }

    /// The address at which the rendezvous says that it sees a host, before it grants the registration.
    pub(super) fn take_seen(&mut self) -> Option<SocketAddr> {
        match &mut self.client {
            Client::Host(registration) => registration.take_seen(),
            Client::Joiner(_) | Client::Manual { .. } => None,
        }
    }

    /// The host's answer was opened, or there is a path.
    pub(super) fn settle(&mut self) {
        if let Client::Joiner(post) = &mut self.client {
            post.settle();
        }
        self.posted.unanswered_since = None;
    }

    /// Sends a RESP or SIGNAL to a guest, of whichever room it is.
    pub(super) fn answer(&mut self, guest: u64, signal: &[u8]) {
        let client = match &mut self.client {
            Client::Host(registration) => Some(&mut **registration),
            Client::Joiner(_) | Client::Manual { .. } => None,
        };
        client.into_iter().chain(&mut self.rooms).any(|room| room.answer(guest, signal));
    }
}

#[cfg(test)]
mod tests;

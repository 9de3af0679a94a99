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
mod tests {
    use super::super::route::stream_to;
    use super::*;
    use crate::connect::seal::Randomness;
    use crate::wire::rendezvous::{self, Cookie, Grant, Outcome, Packet, Reply, decode, encode};

    const SERVER: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 9);

    fn secs(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn host() -> Signalling {
        let registration = Registration::new(SERVER, &[7; 32], Randomness::Seeded(1)).unwrap();
        Signalling::new(Client::Host(Box::new(registration)))
    }

    fn joiner() -> Signalling {
        Signalling::new(Client::Joiner(Box::new(
            JoinRequest::new(SERVER, [7; 16], Randomness::Seeded(1)).unwrap(),
        )))
    }

    /// The news that wait: that the server has answered, or why there is no answer for now.
    fn told(signalling: &mut Signalling) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            signalling.silence = None;
            match (signalling.poll_event(), signalling.silence) {
                (None, _) => return told,
                (Some(RendezvousEvent::Registered { .. } | RendezvousEvent::Ticket { .. }), _) => {
                    told.push("seen".to_owned());
                }
                (_, Some(NoWay::RendezvousSilent { server: SERVER })) => told.push("silent".to_owned()),
                (_, Some(why)) => told.push(format!("{why:?}")),
                (_, None) => {}
            }
        }
    }

    /// Runs a signalling, every tenth of a second and at its deadlines, at a server that grants another ticket each time, or refuses.
    /// Returns when there were news.
    fn run(signalling: &mut Signalling, time: core::ops::Range<u64>, refusal: Option<Denial>) -> Vec<u64> {
        let (mut news, mut buf) = (Vec::new(), [0; 1_200]);
        for tenth in time.start * 10..time.end * 10 {
            let now = Time::ZERO + Span::from_millis(tenth * 100);
            signalling.run(now, || None);
            while let Some((_, len)) = signalling.poll_transmit(now, &mut buf) {
                let answer = match (decode(&buf[..len]).unwrap(), refusal) {
                    (Packet::Ask(ask), Some(why)) => {
                        Packet::Reply(Reply { nonce: ask.nonce, outcome: Outcome::Refused(why) })
                    }
                    (Packet::Ask(ask), None) => {
                        Packet::Grant(Grant { nonce: ask.nonce, observed: SERVER, ticket: tenth, turn: None })
                    }
                    _ => continue,
                };
                let len = encode(&answer, &mut buf).unwrap();
                signalling.handle(now, SERVER, &buf[..len]);
            }
            // A host that does not answer is none of the server's news.
            let told = told(signalling).into_iter().filter(|told| told != "HostSilent" && told != "silent");
            news.extend(told.map(|_| tenth));
        }
        news
    }

    #[test]
    fn a_joiner_without_an_answer_asks_for_a_new_ticket() {
        let mut joiner = joiner();
        assert_eq!(run(&mut joiner, 0..1, None), [0]);
        assert_eq!(joiner.ticket, Some(0));
        joiner.post(secs(1), &[crate::wire::seal::INIT; 333]);
        assert!(joiner.deadline() <= secs(2));
        assert_eq!(run(&mut joiner, 1..4, None), [20, 30], "every second, and not more often");
        assert_eq!(joiner.ticket, Some(30));
        joiner.settle();
        assert_eq!(run(&mut joiner, 11..30, None), [0_u64; 0], "it has its answer");
    }

    #[test]
    fn a_joiner_renews_its_credentials_every_five_minutes() {
        let mut joiner = joiner();
        assert_eq!(run(&mut joiner, 0..299, None), [0]);
        assert_eq!(joiner.deadline(), secs(300));
        assert_eq!(run(&mut joiner, 299..700, None), [3_000, 6_000]);
    }

    /// The destination and the first byte of the datagrams that are due.
    fn sent(signalling: &mut Signalling, now: Time) -> Vec<(SocketAddr, u8)> {
        let mut buf = [0; 1_200];
        signalling.run(now, || Some(1));
        core::iter::from_fn(|| signalling.poll_transmit(now, &mut buf).map(|(to, _)| (to, buf[0]))).collect()
    }

    #[test]
    fn silent_rendezvous_is_asked_over_a_stream() {
        let stream = stream_to(SERVER);
        for (mut signalling, first) in [(host(), 0xE8), (joiner(), 0xE9)] {
            signalling.allow_stream();
            assert_eq!(sent(&mut signalling, secs(0)), [(SERVER, first)]);
            assert!(sent(&mut signalling, secs(1)).iter().all(|(to, _)| *to == SERVER));
            assert!(signalling.deadline() <= secs(2));
            assert_eq!(sent(&mut signalling, secs(2))[0], (stream, 0xE8), "to be opened");
            assert!(signalling.is_server(SERVER) && !signalling.is_server(stream));
            signalling.notice(stream, Notice::Opened);
            assert!(signalling.is_server(stream) && !signalling.is_server(SERVER));
            assert_eq!(sent(&mut signalling, secs(2)), [(stream, first)], "at once");
            signalling.notice(stream, Notice::Closed);
            assert_eq!(sent(&mut signalling, secs(3)), [(SERVER, first)], "at once");
        }
    }

    #[test]
    fn other_addresses_are_asked_after_a_second() {
        let other = SocketAddr::new([192, 0, 2, 2].into(), 9);
        let mut joiner = joiner();
        joiner.set_others(vec![other]);
        assert_eq!(sent(&mut joiner, secs(0)), [(SERVER, 0xE9)]);
        assert_eq!(sent(&mut joiner, secs(1)), [(SERVER, 0xE9), (other, 0xE9)]);
        assert!(joiner.is_server(SERVER) && joiner.is_server(other));
        joiner.handle(secs(1), other, &[]);
        assert!(joiner.is_server(other) && !joiner.is_server(SERVER), "the first that has answered");
        assert_eq!(sent(&mut joiner, secs(2)), [(other, 0xE9)]);
        while joiner.silence().is_none() {
            sent(&mut joiner, secs(9));
            while joiner.poll_event().is_some() {}
        }
        assert!(joiner.is_server(SERVER), "it has fallen silent");
    }

    #[test]
    fn streams_to_all_addresses_are_tried_in_turn() {
        let other = SocketAddr::new([192, 0, 2, 2].into(), 9);
        let mut joiner = joiner();
        joiner.set_others(vec![other]);
        joiner.allow_stream();
        let opened: Vec<_> = (0..4).flat_map(|at| sent(&mut joiner, secs(at))).map(|(to, _)| to).collect();
        for stream in [stream_to(SERVER), stream_to(other)] {
            assert!(opened.contains(&stream), "{opened:?}");
        }
        joiner.notice(stream_to(other), Notice::Opened);
        assert!(joiner.is_server(stream_to(other)) && !joiner.is_server(stream_to(SERVER)));
        joiner.notice(stream_to(SERVER), Notice::Unreachable);
        assert!(joiner.is_server(stream_to(other)), "another one has failed");
    }

    #[test]
    fn refused_certificate_is_told_to_the_player() {
        let mut host = host();
        host.allow_stream();
        (0..7).for_each(|at| drop(sent(&mut host, secs(at))));
        host.notice(stream_to(SERVER), Notice::UnknownIssuer);
        while host.poll_event().is_some() {}
        assert_eq!(host.silence(), Some(NoWay::NoStream { server: SERVER, why: Notice::UnknownIssuer }));
    }

    #[test]
    fn a_busy_server_is_no_reason_to_give_up() {
        assert_eq!(run(&mut joiner(), 0..2, Some(Denial::Busy)), [0_u64; 0]);
        assert_ne!(run(&mut joiner(), 0..2, Some(Denial::Full)), [0_u64; 0]);
    }

    #[test]
    fn silent_host_is_told_to_a_joiner() {
        let (mut joiner, mut told, mut buf) = (joiner(), Vec::new(), [0; 1_200]);
        run(&mut joiner, 0..1, None);
        joiner.post(secs(1), &[crate::wire::seal::INIT; 333]);
        for at in (1..12).map(secs) {
            while let Some((_, len)) = joiner.poll_transmit(at, &mut buf) {
                let Packet::Post(rendezvous::Post { nonce, .. }) = decode(&buf[..len]).unwrap() else {
                    panic!("no POST")
                };
                let len =
                    encode(&Packet::Reply(Reply { nonce, outcome: Outcome::Posted }), &mut buf).unwrap();
                joiner.handle(at, SERVER, &buf[..len]);
            }
            told.extend(super::tests::told(&mut joiner).into_iter().map(|told| (at, told)));
        }
        assert_eq!(told, [(secs(10), "HostSilent".to_owned())], "answers may be lost for a while");
    }

    /// The news of a host that polls every second. `answers` is given each nonce and time, and returns the server's packets.
    fn host_news(secs_run: u64, answers: impl Fn(u64, u64) -> Vec<Packet<'static>>) -> Vec<(u64, String)> {
        let mut host = host();
        let (mut news, mut buf) = (Vec::new(), [0; 1_200]);
        for at in 0..secs_run {
            host.run(secs(at), || Some(1));
            while let Some((_, len)) = host.poll_transmit(secs(at), &mut buf) {
                let Packet::Register(register) = decode(&buf[..len]).unwrap() else { continue };
                for answer in answers(register.nonce, at) {
                    let len = encode(&answer, &mut buf).unwrap();
                    host.handle(secs(at), SERVER, &buf[..len]);
                }
            }
            news.extend(told(&mut host).into_iter().map(|told| (at, told)));
        }
        news
    }

    fn refusal(nonce: u64, why: Denial) -> Packet<'static> {
        Packet::Reply(Reply { nonce, outcome: Outcome::Refused(why) })
    }

    /// The COOKIEs and the GRANT of a server that names these ports of the host. The first is signed.
    fn granted(nonce: u64, ports: &[u16]) -> Vec<Packet<'static>> {
        let seen = |port: u16| SocketAddr::new(SERVER.ip(), port);
        let cookie = |port: &u16| Packet::Cookie(Cookie { nonce, cookie: 5, observed: seen(*port) });
        let grant = Packet::Grant(Grant { nonce, observed: seen(ports[0]), ticket: 1, turn: None });
        ports.iter().map(cookie).chain([grant]).collect()
    }

    #[test]
    fn events_of_a_host_become_news_for_its_player() {
        let news = |list: &[(u64, &str)]| -> Vec<(u64, String)> {
            list.iter().map(|(at, what)| (*at, (*what).to_owned())).collect()
        };
        assert_eq!(host_news(7, |_, _| Vec::new()), news(&[(5, "silent")]));
        assert_eq!(
            host_news(7, |nonce, _| vec![refusal(nonce, Denial::Full)]),
            news(&[(0, "Denied { why: Full }")])
        );
        for why in [Denial::Busy, Denial::Held] {
            assert_eq!(host_news(7, |nonce, _| vec![refusal(nonce, why)]), [], "{why:?}");
        }
        // A server that grants in the first second and is then silent, or refuses.
        let first = |nonce, at| if at == 0 { granted(nonce, &[7]) } else { Vec::new() };
        assert_eq!(host_news(62, first), news(&[(0, "seen"), (20, "silent"), (60, "silent")]));
        let then_busy = |nonce, at| {
            if at == 0 { granted(nonce, &[7]) } else { vec![refusal(nonce, Denial::Busy)] }
        };
        assert_eq!(host_news(62, then_busy), news(&[(0, "seen"), (60, "Denied { why: Busy }")]));
        assert_eq!(host_news(2, |nonce, _| granted(nonce, &[7, 66])), news(&[(0, "seen"), (0, "Contested")]));
    }

    #[test]
    fn host_with_other_addresses_registers_at_once() {
        let (mut host, mut buf) = (host(), [0; 1_200]);
        host.run(secs(0), || Some(1));
        while let Some((_, len)) = host.poll_transmit(secs(0), &mut buf) {
            let Packet::Register(register) = decode(&buf[..len]).unwrap() else { continue };
            for answer in granted(register.nonce, &[7]) {
                let len = encode(&answer, &mut buf).unwrap();
                host.handle(secs(0), SERVER, &buf[..len]);
            }
        }
        assert_eq!(sent(&mut host, secs(1)), [], "it is registered");
        host.refresh();
        assert_eq!(sent(&mut host, secs(1)), [(SERVER, 0xE8)]);
    }

    #[test]
    fn a_host_tells_no_refusal_of_a_busy_server() {
        let refused = |why| {
            let mut host = host();
            let mut buf = [0; 1_200];
            host.run(secs(0), || Some(1));
            let (_, len) = host.poll_transmit(secs(0), &mut buf).unwrap();
            let Packet::Register(register) = decode(&buf[..len]).unwrap() else { panic!("no REGISTER") };
            let outcome = Outcome::Refused(why);
            let len = encode(&Packet::Reply(Reply { nonce: register.nonce, outcome }), &mut buf).unwrap();
            host.handle(secs(0), SERVER, &buf[..len]);
            !told(&mut host).is_empty()
        };
        assert!(!refused(Denial::Busy) && refused(Denial::Full));
    }
}

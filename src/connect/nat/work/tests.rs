use super::super::NatConfig;
use super::super::candidate::Candidate;
use super::super::signal::Credentials;
use super::super::signalling::{Client, Signalling};
use super::*;
use crate::connect::invite::Rendezvous;
use crate::connect::seal::Randomness;

const SERVER: &str = "198.51.100.1:3479";

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn config() -> NatConfig {
    let mut config = NatConfig::new(std::time::Instant::now(), [at("192.0.2.1:7000")]);
    config.randomness = Randomness::Seeded(1);
    config
}

fn signal(generation: u8) -> Signal {
    let credentials = Credentials::draw(&[generation; 32]);
    let candidates = vec![Candidate { kind: Kind::Host, addr: at("192.0.2.2:7000") }];
    Signal {
        no_relay: false,
        wants_answer: true,
        generation,
        revision: 1,
        heard: 0,
        credentials,
        candidates,
        fingerprint: None,
    }
}

/// A host, and guests whose INITs it takes.
struct Host {
    nat: NatTraversal,
    seal: Seal,
    guests: u64,
}

impl Host {
    fn new() -> Self {
        let seal = Seal::host(Randomness::Seeded(2)).unwrap();
        Self { nat: NatTraversal::host(config(), at(SERVER), &[7; 32]).unwrap(), seal, guests: 0 }
    }

    /// The next guest sends its offer. Returns the inner address of its search, if there is one.
    fn offered(&mut self, now: Time) -> Option<SocketAddr> {
        self.guests += 1;
        let (key, ticket) = (self.seal.public_key().unwrap(), self.seal.renew_ticket().unwrap());
        let mut guest = Seal::join_by_signal(Randomness::Seeded(10 + self.guests), key).unwrap();
        let init = guest.write_init(now.into(), ticket, &signal(0).encode()).unwrap();
        let before = self.inner();
        let event = RendezvousEvent::Delivered { guest: self.guests, signal: init };
        self.nat.hear(now, event, &mut self.seal);
        self.nat.answer_guests(now, &mut self.seal);
        self.inner().into_iter().find(|inner| !before.contains(inner))
    }

    fn inner(&mut self) -> Vec<SocketAddr> {
        self.nat.searches.iter_mut().map(|search| search.inner()).collect()
    }

    /// Lets the searches begin at these times.
    fn begin_at(&mut self, times: impl IntoIterator<Item = Time>) {
        for (search, since) in self.nat.searches.iter_mut().zip(times) {
            search.set_peer(since, search.inner());
        }
    }

    fn work(&mut self, now: Time) {
        self.nat.work(now, &mut self.seal);
    }
}

#[test]
fn ninth_guest_replaces_the_oldest_without_a_path() {
    let mut host = Host::new();
    // Four handshakes a second.
    let times = (0..8).map(|n| ms(260 * n));
    let first: Vec<_> = times.clone().map(|now| host.offered(now).unwrap()).collect();
    // The seal takes no ninth handshake in two seconds, so the searches are made younger.
    host.begin_at([ms(901); 8]);
    assert_eq!(host.offered(ms(2_900)), None, "all had less than two seconds");
    host.begin_at(times);
    assert_eq!((host.inner(), host.nat.stats.signals_refused), (first.clone(), 1));
    assert!(host.offered(ms(3_100)).is_some());
    assert_eq!(host.inner()[..7], first[1..], "the oldest has made room");
    // Connected guests of which something was opened keep their searches.
    host.nat.searches.iter_mut().for_each(Search::set_connected);
    assert_eq!(host.offered(ms(7_000)), None);
    assert!(host.offered(ms(39_000)).is_some(), "nothing was opened for 35 seconds");
    assert_eq!(host.inner().len(), 8);
}

#[test]
fn signal_of_a_guest_restarts_its_time() {
    let mut host = Host::new();
    let inner = host.offered(ms(0)).unwrap();
    host.nat.take_signal(ms(900), inner, &signal(1).encode());
    assert_eq!(host.nat.searches.of(inner).unwrap().since(), ms(900));
    host.nat.take_signal(ms(900), at("192.0.2.77:7"), &signal(2).encode());
    host.nat.take_signal(ms(900), inner, b"no signal");
    assert_eq!(host.nat.stats.signals_refused, 2);
}

#[test]
fn guest_without_a_path_keeps_its_search_past_ten_seconds() {
    let mut host = Host::new();
    let inner = host.offered(ms(0)).unwrap();
    host.work(ms(11_900));
    assert_eq!(host.inner(), [inner], "its handshake is open for 12 s");
    host.seal.offer_path(ms(11_900).into(), inner, at("192.0.2.2:7000"), Duration::from_millis(20));
    host.work(ms(11_900));
    host.work(ms(21_899));
    assert_eq!(host.inner(), [inner]);
    host.work(ms(21_900));
    assert_eq!(host.inner(), [], "it was connected, and nothing was opened or sent for ten seconds");
}

#[test]
fn own_addresses_restart_a_search_once_a_second() {
    let mut host = Host::new();
    let inner = host.offered(ms(0)).unwrap();
    let mut searches = |now, port| {
        // The path works.
        host.seal.offer_path(ms(now).into(), inner, at("192.0.2.2:7000"), Duration::from_millis(20));
        host.nat.set_addresses([at(&format!("192.0.2.1:{port}"))]);
        host.work(ms(now));
        host.nat.stats().searches
    };
    assert_eq!([searches(1_000, 1), searches(1_999, 2), searches(2_000, 2)], [2, 2, 3]);
}

#[test]
fn peer_is_looked_at_every_50_ms() {
    let mut host = Host::new();
    host.nat.signalling = Signalling::new(Client::Manual { is_host: true });
    host.work(ms(1));
    assert_eq!(host.nat.poll_timeout(), None);
    assert!(host.offered(ms(1)).is_some());
    for now in [ms(1), ms(100_000)] {
        host.work(now);
        while host.nat.outbox.pop(&mut [0; 1_500]).is_some() {}
        assert!(host.nat.poll_timeout().is_some_and(|at| at <= (now + Span::from_millis(50)).into()));
    }
}

#[test]
fn joiner_posts_once_for_each_ticket_until_it_is_answered() {
    let key = Seal::host(Randomness::Seeded(2)).unwrap().public_key().unwrap();
    let mut seal = Seal::join_by_signal(Randomness::Seeded(3), key).unwrap();
    let rendezvous = Rendezvous { server: at(SERVER), room: [7; 16] };
    let mut nat = NatTraversal::join(config(), &rendezvous).unwrap();
    let host = seal.target().unwrap();
    let mut posted = |nat: &mut NatTraversal, now, ticket| {
        nat.signalling.set_ticket(ticket);
        let observed = at("203.0.113.9:7000");
        let news = RendezvousEvent::Ticket { ticket, observed, credentials: None };
        nat.hear(ms(now), news, &mut seal);
        let is_waiting = !nat.gathering.is_empty();
        nat.post_init(ms(now), &mut seal);
        is_waiting
    };
    assert!(posted(&mut nat, 10, 1));
    assert!(!posted(&mut nat, 20, 1), "the same ticket");
    assert!(posted(&mut nat, 4_000, 2));
    assert_eq!(nat.signalling.first_posted_at(), Some(ms(10)));
    nat.take_signal(ms(4_500), host, &signal(0).encode());
    assert!(!posted(&mut nat, 5_000, 3), "it is answered");
}

//! The first signals: a joiner's offer and a host's answer, and the signals of new searches.

use super::progress::NoWay;
use super::search::Search;
use super::signal::Signal;
use super::signalling::News;
use super::{NatTraversal, RelayPolicy, candidate};
use crate::connect::seal::{Brought, Seal};
use core::time::Duration;
use std::net::SocketAddr;

/// The relay has this long to make an allocation, before a signal leaves without it.
pub(super) const GATHER: Duration = Duration::from_millis(1_200);
/// A search without a path makes room for another after this long.
const HAD_TIME: Duration = Duration::from_secs(2);
/// A connection on which nothing was opened for this long makes room.
const GONE: Duration = Duration::from_secs(10);

/// A guest whose INIT was opened, and who waits for our signal.
#[derive(Debug)]
pub(super) struct Guest {
    number: u64,
    shown: SocketAddr,
    signal: Signal,
    pub(super) since: Duration,
}

/// The state of a traversal before its signals are exchanged.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Since when a joiner with a ticket waits for the relay.
    pub(super) gathering: Option<Duration>,
    /// The ticket of the INIT that was posted last, and when the first one was.
    pub(super) posted: Option<u64>,
    pub(super) posted_at: Option<Duration>,
    pub(super) guests: Vec<Guest>,
    /// Why there is no answer for now.
    pub(super) silent: Option<NoWay>,
    /// Whether the rendezvous has answered.
    pub(super) met: bool,
    pub(super) restart_at: Duration,
    /// Since when a host has had no guest.
    pub(super) idle_since: Option<Duration>,
}

impl NatTraversal {
    /// Takes the news of the rendezvous.
    pub(super) fn heard(&mut self, now: Duration, news: News, seal: &mut Seal) {
        match news {
            News::Seen { observed, credentials } => {
                (self.waiting.met, self.waiting.silent) = (true, None);
                self.observed.rendezvous_saw(observed);
                let trusted =
                    |server: SocketAddr| candidate::is_admissible(server) || self.signalling.is_local();
                let named = credentials.filter(|credentials| trusted(credentials.server));
                if let Some(credentials) = named.filter(|_| self.policy != RelayPolicy::Never) {
                    self.relay.set_credentials(credentials);
                }
                let unanswered = !self.searches.iter().any(|search| search.checks.has_begun());
                if !self.signalling.is_host() && unanswered && self.signalling.ticket != self.waiting.posted {
                    self.relay.ask(now, self.random.next_12());
                    self.waiting.gathering.get_or_insert(now);
                }
            }
            News::Init { guest, init } => self.init(now, guest, &init, seal),
            News::Resp { resp } => {
                // Its signal comes by itself.
                if let Ok(Brought::Host(_)) = seal.handle_signal(now, &resp) {
                    self.signalling.settle();
                } else {
                    self.stats.signals_refused += 1;
                }
            }
            News::Silent(why) => self.waiting.silent = Some(why),
        }
    }

    /// A guest's INIT was brought.
    fn init(&mut self, now: Duration, number: u64, init: &[u8], seal: &mut Seal) {
        let brought = seal.handle_signal(now, init);
        match brought {
            Ok(Brought::Guest(shown)) => {
                let signal = seal.take_signal_of(shown).and_then(|text| Signal::decode(&text));
                let Some(signal) = signal.filter(|_| self.make_room(now, seal)) else {
                    self.stats.signals_refused += 1;
                    return;
                };
                self.relay.ask(now, self.random.next_12());
                if self.found_after.is_none() {
                    self.since = Some(now);
                }
                self.waiting.guests.push(Guest { number, shown, signal, since: now });
            }
            Ok(Brought::Again(shown)) => {
                let search = self.searches.iter().find(|search| search.shown == shown);
                if let Some(resp) = search.and_then(|search| seal.answer_signal(now, shown, search.text())) {
                    self.signalling.answer(number, &resp);
                }
            }
            _ => self.stats.signals_refused += 1,
        }
    }

    /// Whether there is room for one more guest. One that was searched for without a path for a while makes room, or the one whose
    /// connection is silent for longest.
    fn make_room(&mut self, now: Duration, seal: &Seal) -> bool {
        if self.waiting.guests.len() + self.searches.len() < self.max_searches {
            return true;
        }
        let silent = |search: &Search| match search.connected {
            true => seal.silent_for(now, search.shown).filter(|silent| *silent >= GONE),
            false => Some(now.saturating_sub(search.since)).filter(|searched| *searched >= HAD_TIME),
        };
        let candidates =
            self.searches.iter().enumerate().filter_map(|(at, search)| Some((silent(search)?, at)));
        let oldest = candidates.max().map(|(_, at)| at);
        oldest.map(|at| self.searches.remove(at)).is_some()
    }

    /// Whether our candidates are all there, or have taken too long.
    fn has_gathered(&self, now: Duration, since: Duration) -> bool {
        !self.relay.is_asking() || now >= since + GATHER
    }

    /// Posts a joiner's INIT when everything for its signal is there.
    pub(super) fn post_init(&mut self, now: Duration, seal: &mut Seal) {
        let Some(since) = self.waiting.gathering else { return };
        let (Some(ticket), Some(shown)) = (self.signalling.ticket, seal.target()) else { return };
        if !self.has_gathered(now, since) {
            return;
        }
        self.waiting.gathering = None;
        self.waiting.posted = Some(ticket);
        self.waiting.posted_at.get_or_insert(now);
        if self.searches.is_empty() {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            self.searches.push(Search::new(now, self.origin, shown, true, &own));
        }
        let init = self.searches.first().and_then(|search| seal.write_init(now, ticket, search.text()));
        if let Some(init) = init {
            self.signalling.post(now, &init);
        }
    }

    /// Answers guests when everything for our signal is there.
    pub(super) fn answer_guests(&mut self, now: Duration, seal: &mut Seal) {
        let mut guests = core::mem::take(&mut self.waiting.guests);
        for guest in guests.extract_if(.., |guest| self.has_gathered(now, guest.since)).collect::<Vec<_>>() {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            let mut search = Search::new(now, self.origin, guest.shown, false, &own);
            let Some(resp) = seal.answer_signal(now, guest.shown, search.text()) else { continue };
            self.signalling.answer(guest.number, &resp);
            let theirs = self.theirs(&guest.signal);
            search.begin(&guest.signal, &theirs);
            self.searches.push(search);
            self.permit(now, self.searches.len() - 1);
        }
        self.waiting.guests = guests;
    }

    /// A signal of a peer: with the RESP, or of a search in the middle of a match.
    pub(super) fn signal(&mut self, now: Duration, shown: SocketAddr, text: &[u8]) {
        let at = self.searches.iter().position(|search| search.shown == shown);
        let (Some(at), Some(signal)) = (at, Signal::decode(text)) else {
            self.stats.signals_refused += 1;
            return;
        };
        let theirs = self.theirs(&signal);
        if self.searches[at].is_newer(now, &signal) {
            let candidates = self.own_candidates();
            let own = self.own(&candidates);
            self.searches[at].follow(now, &signal, &theirs, &own);
        } else if !self.searches[at].answer(now, &signal, &theirs) {
            self.stats.signals_refused += 1;
            return;
        }
        self.searches[at].since = now;
        self.permit(now, at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::NatConfig;
    use super::super::candidate::{Candidate, Kind};
    use super::super::signal::Credentials;
    use super::super::signalling::Signalling;
    use super::*;
    use crate::connect::rendezvous::Credentials as TurnCredentials;
    use crate::connect::seal::Randomness;

    const SERVER: &str = "198.51.100.1:3479";

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn config() -> NatConfig {
        let mut config = NatConfig::new(std::time::Instant::now(), [at("192.0.2.1:7000")]);
        config.randomness = Randomness::Seeded(1);
        config
    }

    fn signal(generation: u8) -> Signal {
        let credentials = Credentials::draw(&[generation; 32]);
        let candidates = vec![Candidate { kind: Kind::Host, addr: at("192.0.2.2:7000") }];
        Signal { no_relay: false, generation, credentials, candidates }
    }

    fn seen(ticket: u64, nat: &mut NatTraversal, seal: &mut Seal, relay: Option<&str>) {
        nat.signalling.ticket = Some(ticket);
        let credentials = relay.map(|server| TurnCredentials {
            server: at(server),
            user: "user".to_owned(),
            password: "password".to_owned(),
            valid: ms(600_000),
        });
        nat.heard(ms(0), News::Seen { observed: at("203.0.113.9:7000"), credentials }, seal);
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

        /// The next guest sends its offer. Returns the address of its search, if there is one.
        fn offered(&mut self, now: Duration) -> Option<SocketAddr> {
            self.guests += 1;
            let (key, ticket) = (self.seal.public_key().unwrap(), self.seal.renew_ticket().unwrap());
            let mut guest = Seal::join_by_signal(Randomness::Seeded(10 + self.guests), key).unwrap();
            let init = guest.write_init(now, ticket, &signal(0).encode()).unwrap();
            let before: Vec<_> = self.shown();
            self.nat.heard(now, News::Init { guest: self.guests, init }, &mut self.seal);
            self.nat.answer_guests(now, &mut self.seal);
            self.shown().into_iter().find(|shown| !before.contains(shown))
        }

        fn shown(&self) -> Vec<SocketAddr> {
            self.nat.searches.iter().map(|search| search.shown).collect()
        }
    }

    #[test]
    fn a_ninth_guest_replaces_the_oldest_without_a_path() {
        let mut host = Host::new();
        // Four handshakes a second.
        let first: Vec<_> = (0..8).map(|n| host.offered(ms(260 * n)).unwrap()).collect();
        // The seal takes no ninth handshake in two seconds, so the searches are made younger.
        let since: Vec<_> = host.nat.searches.iter().map(|search| search.since).collect();
        host.nat.searches.iter_mut().for_each(|search| search.since = ms(901));
        assert_eq!(host.offered(ms(2_900)), None, "all had less than two seconds");
        host.nat.searches.iter_mut().zip(since).for_each(|(search, since)| search.since = since);
        assert_eq!((host.shown(), host.nat.stats.signals_refused), (first.clone(), 1));
        assert!(host.offered(ms(3_100)).is_some());
        assert_eq!(host.shown()[..7], first[1..], "the oldest has made room");
        // Connected guests of which something was opened keep their searches.
        host.nat.searches.iter_mut().for_each(|search| search.connected = true);
        assert_eq!(host.offered(ms(7_000)), None);
        assert!(host.offered(ms(14_000)).is_some(), "nothing was opened for ten seconds");
        assert_eq!(host.shown().len(), super::super::MIN_SEARCHES);
    }

    #[test]
    fn the_time_to_the_first_path_counts_from_its_guest() {
        let mut host = Host::new();
        host.offered(ms(100));
        host.offered(ms(400));
        assert_eq!(host.nat.since, Some(ms(400)));
        host.nat.found_after = Some(ms(50));
        host.offered(ms(700));
        assert_eq!(host.nat.since, Some(ms(400)), "a path was found");
    }

    #[test]
    fn a_signal_of_a_guest_restarts_its_time() {
        let mut host = Host::new();
        let shown = host.offered(ms(0)).unwrap();
        host.nat.signal(ms(900), shown, &signal(1).encode());
        assert_eq!(host.nat.searches[0].since, ms(900));
        host.nat.signal(ms(900), at("192.0.2.77:7"), &signal(2).encode());
        host.nat.signal(ms(900), shown, b"no signal");
        assert_eq!(host.nat.stats.signals_refused, 2);
    }

    #[test]
    fn a_relay_at_a_loopback_or_multicast_address_is_refused() {
        for (server, named, taken) in [
            (SERVER, "127.0.0.1:3478", false),
            (SERVER, "[::1]:3478", false),
            (SERVER, "224.0.0.1:3478", false),
            (SERVER, "198.51.100.2:3478", true),
            ("127.0.0.1:3479", "127.0.0.1:3478", true),
        ] {
            let mut nat = NatTraversal::host(config(), at(server), &[7; 32]).unwrap();
            let mut seal = Seal::host(Randomness::Seeded(2)).unwrap();
            seen(1, &mut nat, &mut seal, Some(named));
            assert_eq!(nat.relay.server().is_some(), taken, "{named} by {server}");
        }
    }

    #[test]
    fn a_joiner_posts_once_for_each_ticket_until_it_is_answered() {
        let key = Seal::host(Randomness::Seeded(2)).unwrap().public_key().unwrap();
        let mut seal = Seal::join_by_signal(Randomness::Seeded(3), key).unwrap();
        let rendezvous = crate::connect::invite::Rendezvous { server: at(SERVER), room: [7; 16] };
        let mut nat = NatTraversal::join(config(), &rendezvous).unwrap();
        nat.waiting.silent = Some(NoWay::HostSilent);
        seen(1, &mut nat, &mut seal, None);
        assert_eq!(nat.waiting.silent, None, "the server answers again");
        nat.post_init(ms(10), &mut seal);
        seen(1, &mut nat, &mut seal, None);
        assert_eq!((nat.waiting.gathering, nat.waiting.posted), (None, Some(1)), "the same ticket");
        seen(2, &mut nat, &mut seal, None);
        nat.post_init(ms(4_000), &mut seal);
        assert_eq!((nat.waiting.posted, nat.waiting.posted_at), (Some(2), Some(ms(10))));
        nat.searches[0].begin(&signal(0), &signal(0).candidates);
        seen(3, &mut nat, &mut seal, None);
        assert_eq!((nat.waiting.gathering, nat.waiting.posted), (None, Some(2)), "it is answered");
    }

    #[test]
    fn guest_without_a_path_keeps_its_search_past_ten_seconds() {
        let mut host = Host::new();
        let shown = host.offered(ms(0)).unwrap();
        host.nat.work(ms(11_900), &mut host.seal);
        assert_eq!(host.shown(), [shown], "its handshake is open for 12 s");
        host.seal.offer_path(ms(11_900), shown, at("192.0.2.2:7000"), ms(20));
        host.nat.work(ms(11_900), &mut host.seal);
        host.nat.work(ms(21_899), &mut host.seal);
        assert_eq!(host.shown(), [shown]);
        host.nat.work(ms(21_900), &mut host.seal);
        assert_eq!(host.shown(), [], "it was connected, and nothing was opened for ten seconds");
    }

    #[test]
    fn own_addresses_restart_a_search_once_a_second() {
        let mut host = Host::new();
        let shown = host.offered(ms(0)).unwrap();
        host.seal.offer_path(ms(0), shown, at("192.0.2.2:7000"), ms(20));
        let mut searches = |now, port| {
            host.nat.set_addresses([at(&format!("192.0.2.1:{port}"))]);
            host.nat.work(ms(now), &mut host.seal);
            host.nat.stats.searches
        };
        assert_eq!([searches(1_000, 1), searches(1_999, 2), searches(2_000, 2)], [2, 2, 3]);
    }

    #[test]
    fn own_servers_are_no_candidates_of_a_peer() {
        let mut host = Host::new();
        let named = Signal {
            candidates: vec![Candidate { kind: Kind::Host, addr: at(SERVER) }, signal(0).candidates[0]],
            ..signal(0)
        };
        assert_eq!(host.nat.theirs(&named), signal(0).candidates);
        host.nat.policy = RelayPolicy::Never;
        let relayed = Candidate { kind: Kind::Relayed, addr: at("192.0.2.3:7") };
        assert_eq!(host.nat.theirs(&Signal { candidates: vec![relayed], ..signal(0) }), []);
    }

    #[test]
    fn datagrams_that_wait_are_bounded() {
        let mut host = Host::new();
        (0..1_000).for_each(|_| host.nat.push(at(SERVER), vec![0]));
        assert_eq!((host.nat.out.len(), host.nat.stats.overhead_bytes), (128, 128));
        host.nat.deadline = None;
        assert_eq!(host.nat.poll_timeout(), Some(ms(0)), "they are to be sent");
    }

    #[test]
    fn a_guest_is_looked_at_often_and_answered_in_time() {
        let mut host = Host::new();
        let now = ms(1);
        host.nat.signalling = Signalling::manual(true);
        assert_eq!(host.nat.next_deadline(now), None);
        let (number, shown, signal) = (1, at("192.0.2.77:7"), signal(0));
        host.nat.waiting.guests.push(Guest { number, shown, signal, since: now });
        assert_eq!(host.nat.next_deadline(now), Some(now + GATHER));
        host.nat.waiting.guests.clear();
        host.offered(now);
        host.nat.searches[0].checks.run(now);
        host.nat.searches[0].checks.run(ms(100_000));
        assert!(host.nat.next_deadline(ms(100_000)).is_some_and(|at| at <= ms(100_050)));
    }

    #[test]
    fn a_host_counts_its_idle_time_from_the_last_guest() {
        let mut host = Host::new();
        host.nat.rest(ms(1_000));
        assert_eq!(host.nat.waiting.idle_since, Some(ms(1_000)));
        host.offered(ms(2_000));
        host.nat.rest(ms(3_000));
        assert_eq!(host.nat.waiting.idle_since, None);
        // A guest that waits for our relay is a guest too.
        host.nat.searches.clear();
        host.nat.rest(ms(4_000));
        let (number, shown, signal) = (1, at("192.0.2.77:7"), signal(0));
        host.nat.waiting.guests.push(Guest { number, shown, signal, since: ms(5_000) });
        host.nat.rest(ms(5_000));
        assert_eq!(host.nat.waiting.idle_since, None);
    }
}

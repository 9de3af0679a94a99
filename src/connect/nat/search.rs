//! The search for paths to one peer: its signals, its checks, and the offers to the seal.

use super::candidate::{Candidate, Kind};
use super::checks::{Bases, Checks};
use super::origin::Origin;
use super::paths::Path;
use super::signal::{Credentials, Signal};
use crate::connect::seal::MAX_FALLBACKS;
use core::time::Duration;
use std::net::SocketAddr;

/// A signal is sent again after this long, which doubles, while the peer's is missing.
const REPEAT: Duration = Duration::from_millis(150);
/// A signal of ours is sent so often at most.
const MAX_REPEATS: u32 = 6;
/// A peer's new search is taken up at most this often.
const RESTART_AFTER: Duration = Duration::from_millis(500);

/// In a new search, addresses that the peer has not named are taken after this long.
const NAMED_FIRST: Duration = Duration::from_millis(500);

/// The seal has this long to take an offered path.
const SETTLES: Duration = Duration::from_millis(500);
/// A check that was answered proves a path for this long. A path that works answers one every 5 s.
const PROVEN: Duration = Duration::from_secs(15);
/// Our own addresses are looked up again after this long while nothing comes.
const DOUBTED: Duration = Duration::from_secs(2);

/// Own facts for a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a> {
    pub(super) credentials: Credentials,
    pub(super) tie_breaker: u64,
    pub(super) bases: Bases,
    pub(super) candidates: &'a [Candidate],
    pub(super) no_relay: bool,
}

/// The search for paths to one peer, from its first signal on.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) shown: SocketAddr,
    controlling: bool,
    origin: Origin,
    generation: u8,
    pub(super) checks: Checks,
    /// Our signal of this generation, and the candidates in it.
    text: Vec<u8>,
    pub(super) candidates: Vec<Candidate>,
    /// When our signal is to be sent again, and how often it was.
    repeat_at: Option<Duration>,
    repeats: u32,
    /// When the peer's signal was last taken up, or answered.
    heard_at: Duration,
    pub(super) since: Duration,
    /// Whether the peer wants no path through a relay.
    pub(super) no_relay: bool,
    /// The path that the seal was last told of, with its round trip.
    pub(super) offered: Option<(Path, Duration)>,
    /// Whether the seal has ever had a path.
    pub(super) connected: bool,
    /// The peer's address on its relay, of this search or the last one.
    their_relay: Option<SocketAddr>,
    /// The address of the offered path, and when it was offered.
    pub(super) offered_as: Option<(SocketAddr, Duration)>,
    /// The paths to try when nothing comes, and when a check on each was last answered, in this search or the last one.
    fallbacks: [Option<(Path, Duration)>; MAX_FALLBACKS],
    /// When our own addresses were last doubted.
    doubted_at: Option<Duration>,
}

impl Search {
    pub(super) fn new(
        now: Duration,
        origin: Origin,
        shown: SocketAddr,
        controlling: bool,
        own: &Own<'_>,
    ) -> Self {
        let mut search = Self {
            shown,
            controlling,
            origin,
            generation: 0,
            checks: Checks::new(origin, &own.credentials, own.tie_breaker, controlling, own.bases),
            text: Vec::new(),
            candidates: Vec::new(),
            repeat_at: None,
            repeats: 0,
            heard_at: now,
            since: now,
            no_relay: false,
            offered: None,
            connected: false,
            their_relay: None,
            offered_as: None,
            fallbacks: [None; MAX_FALLBACKS],
            doubted_at: None,
        };
        search.write(own);
        search
    }

    /// Our signal of this generation.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    fn write(&mut self, own: &Own<'_>) {
        let (no_relay, generation, credentials) = (own.no_relay, self.generation, own.credentials);
        self.candidates = own.candidates.to_vec();
        let candidates = self.candidates.clone();
        self.text = Signal { no_relay, generation, credentials, candidates }.encode();
    }

    fn renew(&mut self, now: Duration, generation: u8, own: &Own<'_>) {
        self.generation = generation;
        self.checks =
            Checks::new(self.origin, &own.credentials, own.tie_breaker, self.controlling, own.bases);
        self.write(own);
        (self.repeat_at, self.repeats) = (Some(now), 0);
        self.offered = None;
    }

    /// Begins a new search, with a signal to the peer.
    pub(super) fn restart(&mut self, now: Duration, own: &Own<'_>) {
        self.renew(now, self.generation.wrapping_add(1), own);
    }

    /// Takes the peer's signal with the handshake.
    pub(super) fn begin(&mut self, signal: &Signal, theirs: &[Candidate]) {
        self.no_relay = signal.no_relay;
        let relayed = theirs.iter().find(|one| one.kind == Kind::Relayed).map(|one| one.addr);
        self.their_relay = relayed.or(self.their_relay);
        self.checks.begin(&signal.credentials, theirs);
    }

    /// Checks the peer's addresses anew, with the same signals.
    pub(super) fn again(&mut self, now: Duration, credentials: &Credentials, theirs: &[Candidate]) {
        self.checks.again();
        self.checks.begin(credentials, theirs);
        self.since = now;
    }

    /// Whether a signal of the peer begins a newer search than ours. One that comes too soon is left for its repetition.
    pub(super) fn is_newer(&self, now: Duration, signal: &Signal) -> bool {
        let ahead = signal.generation.wrapping_sub(self.generation);
        (1..128).contains(&ahead) && now.saturating_sub(self.heard_at) >= RESTART_AFTER
    }

    /// Takes up the peer's newer search.
    pub(super) fn follow(&mut self, now: Duration, signal: &Signal, theirs: &[Candidate], own: &Own<'_>) {
        self.renew(now, signal.generation, own);
        self.heard_at = now;
        self.begin(signal, theirs);
    }

    /// Takes a signal of the search that is on. `false` if it is of another one.
    pub(super) fn answer(&mut self, now: Duration, signal: &Signal, theirs: &[Candidate]) -> bool {
        if signal.generation != self.generation {
            return false;
        }
        if !self.checks.has_begun() {
            self.begin(signal, theirs);
            self.repeat_at = None;
        } else if self.repeat_at.is_none() && now.saturating_sub(self.heard_at) >= REPEAT {
            // Ours was lost.
            self.heard_at = now;
            self.repeat_at = Some(now);
        }
        true
    }

    /// Whether our signal is to be sent now. The next time is noted.
    pub(super) fn signal_due(&mut self, now: Duration) -> bool {
        if self.repeat_at.is_none_or(|at| at > now) {
            return false;
        }
        self.repeats += 1;
        let again = !self.checks.has_begun() && self.repeats < MAX_REPEATS;
        self.repeat_at = again.then(|| now + REPEAT * (1 << (self.repeats - 1)));
        true
    }

    pub(super) fn deadline(&self) -> Option<Duration> {
        [self.checks.deadline(), self.repeat_at].into_iter().flatten().min()
    }

    /// The path to offer to the seal, if it is another than before.
    ///
    /// An address that the peer has not named may be that of a symmetric NAT, or of somebody who forwards checks: it is
    /// taken where there is nothing better than a relay, and in a new search after the named ones had their time.
    pub(super) fn offer(&mut self, now: Duration, in_use: Option<SocketAddr>) -> Option<(Path, Duration)> {
        let chosen = self.checks.chosen()?;
        if !self.checks.is_named(chosen.0) {
            let direct = self.offered.is_some_and(|(path, _)| !self.is_relayed(path));
            if direct || self.generation > 0 && now < self.since + NAMED_FIRST {
                return None;
            }
        }
        if self.offered.is_some_and(|(path, _)| path == chosen.0) {
            self.offered = Some(chosen);
            // The seal may have left it, or had no room for it, while it was proven to work again.
            let (addr, at) = self.offered_as?;
            let proven = self.checks.answered_at(chosen.0).is_some_and(|answered| answered > at + SETTLES);
            return (Some(addr) != in_use && proven).then_some(chosen);
        }
        self.offered = Some(chosen);
        Some(chosen)
    }

    /// Looks which paths are to be tried when nothing comes: to the peer's relay, and through ours to its relay and to where it
    /// was seen. Each must have answered a check, because the peer may have named somebody else. `true` if they have changed.
    pub(super) fn find_fallbacks(&mut self, now: Duration, direct: bool, relayed: bool) -> bool {
        // A new search keeps those of the last one until the peer has named its addresses.
        if !self.checks.has_begun() {
            return false;
        }
        let of = |kind| self.checks.remote().iter().find(move |one| one.kind == kind).map(|one| one.addr);
        let (theirs, seen) = (of(Kind::Relayed), of(Kind::Reflexive).or(of(Kind::Host)));
        let to = |relayed| move |remote| Path { relayed, remote };
        let (outside, through) = (direct && !self.no_relay, relayed && !self.no_relay);
        let wanted = [
            theirs.filter(|_| outside).map(to(false)),
            theirs.filter(|_| through).map(to(true)),
            seen.filter(|_| through).map(to(true)),
        ];
        let before = self.fallbacks;
        let proven_at = |path| {
            let last = before.iter().flatten().find(|(one, _)| *one == path).map(|(_, at)| *at);
            self.checks.answered_at(path).max(last).filter(|at| now < *at + PROVEN)
        };
        self.fallbacks = wanted.map(|path| path.and_then(|path| Some((path, proven_at(path)?))));
        let path = |one: &Option<(Path, Duration)>| one.map(|(path, _)| path);
        !self.fallbacks.iter().map(path).eq(before.iter().map(path))
    }

    pub(super) fn fallbacks(&self) -> impl Iterator<Item = Path> + '_ {
        self.fallbacks.iter().flatten().map(|(path, _)| *path)
    }

    /// Whether our own addresses are to be looked up: because nothing is opened any more, or because the seal has left the path
    /// that was offered. Not at once again.
    pub(super) fn doubts(&mut self, now: Duration, silent: bool, in_use: Option<SocketAddr>) -> bool {
        let left = self.offered_as.is_some_and(|(addr, at)| Some(addr) != in_use && now >= at + SETTLES);
        let rested = self.doubted_at.is_none_or(|at| now >= at + if silent { DOUBTED } else { DOUBTED * 5 });
        let doubts = (silent || left) && rested;
        match (silent || left, doubts) {
            (false, _) => self.doubted_at = None,
            (true, true) => self.doubted_at = Some(now),
            (true, false) => {}
        }
        doubts
    }

    /// Whether a path goes through a relay, ours or the peer's.
    pub(super) fn is_relayed(&self, path: Path) -> bool {
        path.relayed || self.their_relay == Some(path.remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRS: [&str; 2] = ["192.0.2.1:7", "192.0.2.2:7"];
    const SHOWN: &str = "[100:0:0:2::1]:1";
    const MS: Duration = Duration::from_millis(1);

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn path(text: &str) -> Path {
        Path { relayed: false, remote: at(text) }
    }

    fn host(text: &str) -> Candidate {
        Candidate { kind: Kind::Host, addr: at(text) }
    }

    fn own(candidates: &[Candidate], id: usize, seed: u8) -> Own<'_> {
        let credentials = Credentials::draw(&core::array::from_fn(|at| at as u8 * (2 + id as u8) + seed));
        let bases = Bases { direct: [Some(at(ADDRS[id])), None], relayed: None };
        Own { credentials, tie_breaker: id as u64, bases, candidates, no_relay: false }
    }

    /// The searches of two machines, of which the first one controls, and the network between them.
    struct Two {
        now: Duration,
        latency: Duration,
        searches: [Search; 2],
        /// When each datagram arrives, and where.
        sent: Vec<(Duration, usize, Vec<u8>)>,
        named: [Vec<Candidate>; 2],
    }

    impl Two {
        /// Both name these addresses.
        fn new(named: [&str; 2]) -> Self {
            let origin = std::time::Instant::now().into();
            let named = named.map(|text| vec![host(text)]);
            let searches = core::array::from_fn(|id| {
                Search::new(Duration::ZERO, origin, at(SHOWN), id == 0, &own(&named[id], id, 0))
            });
            Self { now: Duration::ZERO, latency: 10 * MS, searches, sent: Vec::new(), named }
        }

        fn signal(&self, id: usize) -> Signal {
            Signal::decode(self.searches[id].text()).unwrap()
        }

        fn begin(&mut self) {
            for id in [0, 1] {
                let signal = self.signal(1 - id);
                self.searches[id].begin(&signal, &signal.candidates);
            }
        }

        /// The first machine begins a new search, and the second one takes it up.
        fn restart(&mut self) {
            let [one, two] = [0, 1].map(|id| own(&self.named[id], id, 100));
            self.searches[0].restart(self.now, &one);
            let signal = self.signal(0);
            self.searches[1].follow(self.now, &signal, &signal.candidates, &two);
            let answer = self.signal(1);
            assert!(self.searches[0].answer(self.now, &answer, &answer.candidates));
            self.searches.iter_mut().for_each(|search| search.since = self.now);
        }

        fn run(&mut self, time: Duration) {
            let end = self.now + time;
            while self.now < end {
                self.now += 5 * MS;
                for (at, to, datagram) in core::mem::take(&mut self.sent) {
                    if at <= self.now {
                        self.searches[to].checks.handle(self.now, path(ADDRS[1 - to]), &datagram);
                    } else {
                        self.sent.push((at, to, datagram));
                    }
                }
                for (id, search) in self.searches.iter_mut().enumerate() {
                    search.checks.run(self.now);
                    while let Some((path, message)) = search.checks.poll_transmit(self.now) {
                        if path.remote == at(ADDRS[1 - id]) {
                            self.sent.push((self.now + self.latency, 1 - id, message));
                        }
                    }
                }
            }
        }

        fn offer(&mut self, in_use: Option<&str>) -> Option<Path> {
            self.searches[0].offer(self.now, in_use.map(at)).map(|(path, _)| path)
        }
    }

    #[test]
    fn a_new_search_offers_its_path_anew() {
        let mut two = Two::new(ADDRS);
        two.begin();
        two.run(500 * MS);
        assert_eq!(two.offer(None), Some(path(ADDRS[1])));
        two.searches[0].offered_as = Some((at(ADDRS[1]), two.now));
        two.run(500 * MS);
        assert_eq!(two.offer(Some(ADDRS[1])), None, "once");
        two.restart();
        assert_eq!(two.offer(Some(ADDRS[1])), None, "nothing is found yet");
        two.run(500 * MS);
        assert_eq!(two.offer(Some(ADDRS[1])), Some(path(ADDRS[1])));
    }

    #[test]
    fn a_path_that_the_seal_left_is_offered_again() {
        let mut two = Two::new(ADDRS);
        two.begin();
        two.run(500 * MS);
        assert_eq!(two.offer(None), Some(path(ADDRS[1])));
        let answered = two.searches[0].checks.answered_at(path(ADDRS[1])).unwrap();
        two.searches[0].offered_as = Some((at(ADDRS[1]), answered - 5 * MS));
        assert_eq!(two.offer(Some("192.0.2.9:9")), None, "the seal has time to take it");
        two.searches[0].offered_as = Some((at(ADDRS[1]), two.now));
        two.run(6_000 * MS);
        assert_eq!(two.offer(Some(ADDRS[1])), None, "it is in use");
        assert_eq!(two.offer(Some("192.0.2.9:9")), Some(path(ADDRS[1])));
    }

    #[test]
    fn the_round_trip_of_an_offer_is_the_newest() {
        let mut two = Two::new(ADDRS);
        two.begin();
        two.run(500 * MS);
        two.offer(None);
        assert_eq!(two.searches[0].offered.map(|(_, round_trip)| round_trip), Some(20 * MS));
        two.latency = 50 * MS;
        two.run(6_000 * MS);
        two.offer(Some(ADDRS[1]));
        assert_eq!(two.searches[0].offered.map(|(_, round_trip)| round_trip), Some(100 * MS));
    }

    #[test]
    fn a_new_search_takes_named_addresses_first() {
        // The second machine is behind a symmetric NAT: its checks come from an address that it has not named.
        let mut two = Two::new([ADDRS[0], "192.0.2.99:9"]);
        two.begin();
        two.run(400 * MS);
        assert_eq!(two.offer(None), Some(path(ADDRS[1])), "the first search takes it at once");
        two.restart();
        two.run(NAMED_FIRST - 10 * MS);
        assert_eq!(two.offer(None), None);
        two.run(10 * MS);
        assert_eq!(two.offer(None), Some(path(ADDRS[1])));
    }

    #[test]
    fn a_signal_of_the_peer_restarts_a_search_seldom() {
        let mut two = Two::new(ADDRS);
        let with = |two: &Two, generation| Signal { generation, ..two.signal(0) };
        let is_newer =
            |two: &Two, ms: u32, generation| two.searches[1].is_newer(MS * ms, &with(two, generation));
        assert!(!is_newer(&two, 499, 1), "too soon after the first one");
        assert!(is_newer(&two, 500, 1) && is_newer(&two, 500, 127));
        assert!(!is_newer(&two, 500, 0) && !is_newer(&two, 500, 128) && !is_newer(&two, 500, 255), "older");
        let signal = with(&two, 1);
        let candidates = two.named[1].clone();
        two.searches[1].follow(1_000 * MS, &signal, &[], &own(&candidates, 1, 9));
        assert!(!is_newer(&two, 1_499, 2) && is_newer(&two, 1_500, 2));
        assert!(!two.searches[1].answer(1_500 * MS, &with(&two, 0), &[]), "of an older search");
        assert!(two.searches[1].answer(1_500 * MS, &with(&two, 1), &[]));
    }

    #[test]
    fn a_signal_is_repeated_until_it_is_answered() {
        let mut two = Two::new(ADDRS);
        let (search, candidates) = (&mut two.searches[0], two.named[0].clone());
        search.restart(Duration::ZERO, &own(&candidates, 0, 9));
        assert!(search.signal_due(Duration::ZERO));
        search.checks.run(Duration::ZERO);
        assert!(search.deadline().is_some_and(|at| at <= REPEAT));
        let due: Vec<u32> = (1..60_000).filter(|ms| search.signal_due(MS * *ms)).collect();
        assert_eq!(due, [150, 450, 1_050, 2_250, 4_650]);
        search.restart(Duration::ZERO, &own(&candidates, 0, 9));
        assert!(search.signal_due(Duration::ZERO));
        let answer = Signal { generation: 2, ..Signal::decode(two.searches[1].text()).unwrap() };
        let search = &mut two.searches[0];
        assert!(search.answer(100 * MS, &answer, &[]));
        assert!(!search.signal_due(10_000 * MS), "it is answered");
        assert!(search.answer(10_000 * MS, &answer, &[]));
        assert!(search.signal_due(10_000 * MS), "the peer has not got ours");
        assert!(!search.signal_due(20_000 * MS));
    }

    #[test]
    fn the_wishes_of_the_peer_are_those_of_its_signal() {
        let mut two = Two::new(ADDRS);
        let signal = Signal { no_relay: true, ..two.signal(1) };
        two.searches[0].begin(&signal, &[]);
        assert!(two.searches[0].no_relay);
        two.searches[0].again(700 * MS, &signal.credentials, &[]);
        assert_eq!(two.searches[0].since, 700 * MS);
    }

    #[test]
    fn own_addresses_are_doubted_anew_in_each_silence() {
        let mut two = Two::new(ADDRS);
        let search = &mut two.searches[0];
        let mut doubts = |ms: u32, silent| search.doubts(MS * ms, silent, None);
        assert!(doubts(0, true) && !doubts(1_999, true) && doubts(2_000, true));
        assert!(!doubts(2_100, false));
        assert!(doubts(2_200, true), "another silence");
        // A path that the seal has left is no silence, and is doubted less often.
        let search = &mut two.searches[1];
        search.offered_as = Some((at(ADDRS[0]), Duration::ZERO));
        let doubted: Vec<u32> = (0..12_000).filter(|ms| search.doubts(MS * *ms, false, None)).collect();
        assert_eq!(doubted, [500, 10_500]);
    }

    #[test]
    fn only_paths_that_answer_checks_are_fallbacks() {
        let mut two = Two::new(ADDRS);
        two.begin();
        // The peer says that its address is that of a relay.
        let relay = Candidate { kind: Kind::Relayed, addr: at(ADDRS[1]) };
        let peer = Signal::decode(two.searches[1].text()).unwrap();
        two.searches[0].begin(&peer, &[relay]);
        assert!(!two.searches[0].find_fallbacks(two.now, true, true), "nothing has answered");
        two.run(500 * MS);
        assert!(two.searches[0].find_fallbacks(two.now, true, true));
        let found = |two: &Two| two.searches[0].fallbacks().collect::<Vec<_>>();
        assert_eq!(found(&two), [path(ADDRS[1])], "through our relay nothing has answered");
        let candidates = two.named[0].clone();
        two.searches[0].restart(two.now, &own(&candidates, 0, 9));
        assert!(!two.searches[0].find_fallbacks(two.now, true, true), "a new search keeps it");
        two.searches[0].begin(&peer, &[relay]);
        assert!(!two.searches[0].find_fallbacks(two.now + PROVEN - 500 * MS, true, true));
        assert!(two.searches[0].find_fallbacks(two.now + PROVEN, true, true), "the proof is too old");
        assert_eq!(found(&two), []);
    }

    #[test]
    fn relay_of_the_last_search_stays_known() {
        let mut two = Two::new(ADDRS);
        let (peer, relay) = (two.signal(1), Candidate { kind: Kind::Relayed, addr: at("192.0.2.9:9") });
        two.searches[0].begin(&peer, &[relay]);
        two.searches[0].begin(&peer, &[host(ADDRS[1])]);
        assert!(two.searches[0].is_relayed(path("192.0.2.9:9")), "the seal may still use it");
        assert!(!two.searches[0].is_relayed(path(ADDRS[1])));
    }

    #[test]
    fn fallback_through_our_relay_leads_to_where_the_peer_was_seen() {
        let mut two = Two::new(ADDRS);
        let (peer, seen) = (two.signal(1), Candidate { kind: Kind::Reflexive, addr: at("192.0.2.9:9") });
        let through = |remote| Path { relayed: true, remote };
        for named in [vec![host(ADDRS[1])], vec![host(ADDRS[1]), seen]] {
            let remote = named.last().unwrap().addr;
            two.searches[0].begin(&peer, &named);
            // Both have answered a check in the search before this one.
            let proven = |remote| Some((through(remote), two.now));
            two.searches[0].fallbacks = [proven(at(ADDRS[1])), proven(seen.addr), None];
            two.searches[0].find_fallbacks(two.now, true, true);
            assert_eq!(two.searches[0].fallbacks().collect::<Vec<_>>(), [through(remote)]);
        }
    }

    #[test]
    fn a_peer_that_wants_no_relay_has_no_fallbacks() {
        let mut two = Two::new(ADDRS);
        two.begin();
        let relay = Candidate { kind: Kind::Relayed, addr: at(ADDRS[1]) };
        let signal = Signal { no_relay: true, ..two.signal(1) };
        two.searches[0].begin(&signal, &[relay]);
        two.run(500 * MS);
        assert!(two.searches[0].checks.answered_at(path(ADDRS[1])).is_some());
        assert!(!two.searches[0].find_fallbacks(two.now, true, true));
        two.searches[0].fallbacks[1] = Some((Path { relayed: true, ..path(ADDRS[1]) }, two.now));
        assert!(two.searches[0].find_fallbacks(two.now, true, true), "through our relay neither");
        assert_eq!(two.searches[0].fallbacks().count(), 0);
    }
}

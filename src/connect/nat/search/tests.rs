//! Tests of the search for one peer.

use super::*;
use crate::connect::nat::candidate::Bases;
use crate::connect::nat::fallbacks::PROVEN;
use crate::connect::nat::negotiation::REPEAT;
use crate::connect::nat::signal::Credentials;

const ADDRS: [&str; 2] = ["192.0.2.1:7", "192.0.2.2:7"];
const INNER: &str = "[100:0:0:2::1]:1";
const MS: Span = Span::from_millis(1);

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn path(text: &str) -> Path {
    Path { relayed: false, remote: at(text) }
}

fn host(text: &str) -> Candidate {
    Candidate { kind: Kind::Host, addr: at(text) }
}

fn part(candidates: &[Candidate], id: usize, seed: u8) -> OwnPart {
    let credentials = Credentials::draw(&core::array::from_fn(|at| at as u8 * (2 + id as u8) + seed));
    let bases = Bases { direct: [Some(at(ADDRS[id])), None], relayed: None };
    let candidates = candidates.to_vec();
    OwnPart {
        credentials,
        tie_breaker: id as u64,
        bases,
        candidates,
        no_relay: false,
        number: 0,
        certificate: None,
    }
}

/// The searches of two machines, of which the first one controls, and the network between them.
struct Two {
    now: Time,
    latency: Span,
    searches: [Search; 2],
    /// When each datagram arrives, and where.
    sent: Vec<(Time, usize, Vec<u8>)>,
    named: [Vec<Candidate>; 2],
}

impl Two {
    /// Both name these addresses.
    fn new(named: [&str; 2]) -> Self {
        let origin = std::time::Instant::now().into();
        let named = named.map(|text| vec![host(text)]);
        let searches = core::array::from_fn(|id| {
            Search::new(Time::ZERO, origin, at(INNER), id == 0, part(&named[id], id, 0))
        });
        Self { now: Time::ZERO, latency: MS * 10, searches, sent: Vec::new(), named }
    }

    fn signal(&self, id: usize) -> Signal {
        Signal::decode(&self.searches[id].negotiation().text()).unwrap()
    }

    fn begin(&mut self) {
        for id in [0, 1] {
            let signal = self.signal(1 - id);
            self.searches[id].begin(Time::ZERO, &signal, &signal.candidates);
        }
    }

    /// The first machine begins a new search, and the second one takes it up.
    fn restart(&mut self) {
        self.now = self.now.max(Time::ZERO + MS * 500);
        let [one, two] = [0, 1].map(|id| part(&self.named[id], id, 100));
        self.searches[0].restart(self.now, one);
        let signal = self.signal(0);
        assert!(self.searches[1].take_signal(self.now, &signal, &signal.candidates, || two));
        let answer = self.signal(1);
        assert!(self.searches[0].take_signal(self.now, &answer, &answer.candidates, || panic!("no restart")));
    }

    fn run(&mut self, time: Span) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.now + MS * 5;
            for (at, to, datagram) in core::mem::take(&mut self.sent) {
                if at <= self.now {
                    self.searches[to].checks.handle(self.now, path(ADDRS[1 - to]), &datagram);
                } else {
                    self.sent.push((at, to, datagram));
                }
            }
            for (id, search) in self.searches.iter_mut().enumerate() {
                search.checks.run(self.now);
                while let Some((path, message, _)) = search.poll_transmit(self.now) {
                    if path.remote == at(ADDRS[1 - id]) {
                        self.sent.push((self.now + self.latency, 1 - id, message));
                    }
                }
            }
        }
    }

    fn nominate(&mut self, in_use: Option<&str>) -> Option<Path> {
        self.searches[0].nominate(self.now, in_use.map(at)).map(|(path, _)| path)
    }
}

#[test]
fn new_search_nominates_its_path_anew() {
    let mut two = Two::new(ADDRS);
    two.begin();
    two.run(MS * 500);
    assert_eq!(two.nominate(None), Some(path(ADDRS[1])));
    two.searches[0].nomination_mut().told(two.now, at(ADDRS[1]));
    two.run(MS * 500);
    assert_eq!(two.nominate(Some(ADDRS[1])), None, "once");
    two.restart();
    assert_eq!(two.nominate(Some(ADDRS[1])), None, "nothing is found yet");
    two.run(MS * 500);
    assert_eq!(two.nominate(Some(ADDRS[1])), Some(path(ADDRS[1])));
}

#[test]
fn round_trip_of_a_nominated_path_is_the_newest() {
    let mut two = Two::new(ADDRS);
    two.begin();
    two.run(MS * 500);
    two.nominate(None);
    assert_eq!(two.searches[0].nomination().round_trip(), Some(MS * 20));
    two.latency = MS * 50;
    two.run(MS * 6_000);
    two.nominate(Some(ADDRS[1]));
    assert_eq!(two.searches[0].nomination().round_trip(), Some(MS * 100));
}

#[test]
fn new_search_takes_named_addresses_first() {
    // The second machine is behind a symmetric NAT: its checks come from an address that it has not named.
    let mut two = Two::new([ADDRS[0], "192.0.2.99:9"]);
    two.begin();
    two.run(MS * 400);
    assert_eq!(two.nominate(None), Some(path(ADDRS[1])), "the first search takes it at once");
    two.restart();
    two.run(NAMED_FIRST - MS * 10);
    assert_eq!(two.nominate(None), None);
    two.run(MS * 10);
    assert_eq!(two.nominate(None), Some(path(ADDRS[1])));
}

#[test]
fn signal_of_the_peer_restarts_a_search_seldom() {
    let mut two = Two::new(ADDRS);
    let with = |two: &Two, generation| Signal { generation, ..two.signal(0) };
    let is_newer = |two: &Two, ms: u32, generation| {
        two.searches[1].negotiation.is_newer(Time::ZERO + MS * ms, &with(two, generation))
    };
    assert!(!is_newer(&two, 499, 1), "too soon after the first one");
    assert!(is_newer(&two, 500, 1) && is_newer(&two, 500, 127));
    assert!(!is_newer(&two, 500, 0) && !is_newer(&two, 500, 128) && !is_newer(&two, 500, 255), "older");
    let mut take = |ms: u32, generation| {
        let (signal, own) = (with(&two, generation), part(&two.named[1], 1, 9));
        two.searches[1].take_signal(Time::ZERO + MS * ms, &signal, &[], || own)
    };
    assert!(take(1_000, 1));
    assert!(!take(1_499, 2), "too soon after the last one");
    assert!(!take(1_500, 0), "of an older search");
    assert!(take(1_500, 1));
    assert_eq!(two.searches[1].since(), Time::ZERO + MS * 1_500);
    assert!(is_newer(&two, 1_500, 2));
}

#[test]
fn signal_is_repeated_until_it_is_answered() {
    let mut two = Two::new(ADDRS);
    let (search, candidates) = (&mut two.searches[0], two.named[0].clone());
    let at = |ms: u32| Time::ZERO + MS * ms;
    search.restart(at(0), part(&candidates, 0, 9));
    assert!(search.is_signal_due(at(0)));
    search.checks_mut().run(at(0));
    assert!(search.deadline() <= at(0) + REPEAT);
    let due: Vec<u32> = (1..60_000).filter(|ms| search.is_signal_due(at(*ms))).collect();
    let expected = [150, 450].into_iter().chain((1..10).map(|n| 450 + n * 600));
    assert_eq!(due, expected.collect::<Vec<u32>>());
    search.restart(at(0), part(&candidates, 0, 9));
    assert!(search.is_signal_due(at(0)));
    let answer = Signal { generation: 2, heard: 1, ..two.signal(1) };
    let again = Signal { wants_answer: true, ..answer.clone() };
    let search = &mut two.searches[0];
    let take =
        |search: &mut Search, ms, signal| search.take_signal(at(ms), signal, &[], || panic!("no restart"));
    assert!(take(search, 100, &answer));
    assert!(!search.is_signal_due(at(10_000)), "it has arrived");
    assert!(take(search, 10_000, &again));
    assert!(search.is_signal_due(at(10_000)), "the peer does not know that its own has arrived");
    assert!(!search.is_signal_due(at(20_000)));
    assert!(take(search, 10_100, &again) && !search.is_signal_due(at(10_149)), "not too often");
    assert!(search.is_signal_due(at(10_150)));
}

#[test]
fn relay_policy_of_the_peer_comes_from_its_signal() {
    let mut two = Two::new(ADDRS);
    let signal = Signal { no_relay: true, ..two.signal(1) };
    two.searches[0].begin(Time::ZERO, &signal, &[]);
    assert!(!two.searches[0].allows_relay());
    two.searches[0].begin_again(Time::ZERO + MS * 700);
    assert_eq!(two.searches[0].since(), Time::ZERO + MS * 700);
}

#[test]
fn only_paths_that_answer_checks_are_fallbacks() {
    let mut two = Two::new(ADDRS);
    two.begin();
    // The peer says that its address is that of a relay.
    let relay = Candidate { kind: Kind::Relayed, addr: at(ADDRS[1]) };
    let peer = Signal::decode(&two.searches[1].negotiation().text()).unwrap();
    two.searches[0].begin(Time::ZERO, &peer, &[relay]);
    assert!(!two.searches[0].find_fallbacks(two.now, false, true, true), "nothing has answered");
    two.run(MS * 500);
    assert!(two.searches[0].find_fallbacks(two.now, false, true, true));
    let found = |two: &Two| two.searches[0].fallbacks().collect::<Vec<_>>();
    assert_eq!(found(&two), [path(ADDRS[1])], "through our relay nothing has answered");
    let candidates = two.named[0].clone();
    two.searches[0].restart(two.now, part(&candidates, 0, 9));
    assert!(!two.searches[0].find_fallbacks(two.now, false, true, true), "a new search keeps it");
    two.searches[0].begin(Time::ZERO, &peer, &[relay]);
    assert!(!two.searches[0].find_fallbacks(two.now + (PROVEN - MS * 500), false, true, true));
    assert!(two.searches[0].find_fallbacks(two.now + PROVEN, false, true, true), "the proof is too old");
    assert_eq!(found(&two), []);
}

#[test]
fn relay_of_the_last_search_stays_known() {
    let mut two = Two::new(ADDRS);
    let (peer, relay) = (two.signal(1), Candidate { kind: Kind::Relayed, addr: at("192.0.2.9:9") });
    two.searches[0].begin(Time::ZERO, &peer, &[relay]);
    two.searches[0].begin(Time::ZERO, &peer, &[host(ADDRS[1])]);
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
        two.searches[0].begin(Time::ZERO, &peer, &named);
        // Both have answered a check in the search before this one.
        let before = [Some(through(at(ADDRS[1]))), Some(through(seen.addr)), None];
        two.searches[0].fallbacks.set(two.now, false, before, |_| Some(two.now));
        two.searches[0].find_fallbacks(two.now, false, true, true);
        assert_eq!(two.searches[0].fallbacks().collect::<Vec<_>>(), [through(remote)]);
    }
}

#[test]
fn peer_that_wants_no_relay_has_no_fallbacks() {
    let mut two = Two::new(ADDRS);
    two.begin();
    let relay = Candidate { kind: Kind::Relayed, addr: at(ADDRS[1]) };
    let signal = Signal { no_relay: true, ..two.signal(1) };
    two.searches[0].begin(Time::ZERO, &signal, &[relay]);
    two.run(MS * 500);
    assert!(two.searches[0].checks.answered_at(path(ADDRS[1])).is_some());
    assert!(!two.searches[0].find_fallbacks(two.now, false, true, true));
    let before = [None, Some(Path { relayed: true, ..path(ADDRS[1]) }), None];
    two.searches[0].fallbacks.set(two.now, false, before, |_| Some(two.now));
    assert!(two.searches[0].find_fallbacks(two.now, false, true, true), "through our relay neither");
    assert_eq!(two.searches[0].fallbacks().count(), 0);
}

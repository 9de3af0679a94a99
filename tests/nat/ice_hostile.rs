//! Attacks on a search for paths: forged and recorded messages, junk on every path, candidates of somebody else, a lying rendezvous.

use super::internet::{
    HOST, Internet, JOINER, NAME, Node, Plan, Router, at, ms, relay_addr, rendezvous_addr,
};
use super::relay::events;
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::nat::{NoWay, Progress, RelayOutcome};
use rebout::lab::rendezvous::{JoinRequest, RendezvousEvent};
use rebout::lab::seal::Seal;
use rebout::lab::sim::{Clock, Recording};
use rebout::lab::wire::rendezvous::{Deliver, Outcome, Packet, Reply, decode, encode};
use rebout::rendezvous::RendezvousServer;
use rebout::{Invite, Protocol, Rng};
use std::collections::BTreeSet;
use std::net::SocketAddr;

const CREATE_PERMISSION: [u8; 2] = [0x00, 0x08];

/// The most checks that an address gets that has never answered: six from the socket, and six through the relay.
const MAX_CHECKS: usize = 12;
const CHECK: [u8; 2] = [0x00, 0x01];

/// Junk for every part that may take it: each first byte, in lengths from nothing to long.
fn junk(rng: &mut Rng) -> Vec<u8> {
    let firsts = [
        0x00, 0x01, 0x01, 0x40, 0x41, 0x47, 0x52, 0xE0, 0xE2, 0xE3, 0xE4, 0xE5, 0xE7, 0xE8, 0xED, 0xEE, 0xEF,
        0xFF,
    ];
    let len = [0, 1, 4, 20, 28, 47, 100, 333, 1_200][rng.next_u32() as usize % 9];
    let mut bytes: Vec<u8> = (0..len).map(|_| rng.next_u32() as u8).collect();
    if let Some(first) = bytes.first_mut() {
        *first = firsts[rng.next_u32() as usize % firsts.len()];
    }
    // Half of what looks like STUN has a head that fits.
    if bytes.len() >= 20 && bytes[0] < 2 && rng.next_u32().is_multiple_of(2) {
        let len = (bytes.len() - 20) as u16 / 4 * 4;
        bytes.truncate(20 + usize::from(len));
        bytes[1] = [0x01, 0x11, 0x03, 0x13, 0x17, 0x08, 0x09][rng.next_u32() as usize % 7];
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        bytes[4..8].copy_from_slice(&[0x21, 0x12, 0xA4, 0x42]);
    }
    bytes
}

#[test]
fn junk_on_every_path_changes_nothing() {
    for routers in
        [[Router::Open, Router::Open], [Router::Cone, Router::Cone], [Router::Symmetric, Router::Symmetric]]
    {
        let plan = Plan { frames: 400, ..Plan::new(routers[0], routers[1]) };
        let calm = Internet::new(plan).play(plan);
        let mut internet = Internet::new(plan);
        let mut rng = Rng::new(99).unwrap();
        let over =
            |internet: &Internet| [HOST, JOINER].iter().all(|id| internet.player(*id).verdict().is_some());
        let mut progress = None;
        while !over(&internet) {
            assert!(internet.world.now() < ms(25_000), "{}", internet.report());
            let now = internet.world.now();
            for id in [HOST, JOINER] {
                let (to, peer) = (internet.outside(id), internet.outside(1 - id));
                let from =
                    [at("203.0.113.77:9"), relay_addr(), rendezvous_addr(), peer, at("198.51.100.2:50000")];
                for from in from {
                    let datagram = junk(&mut rng);
                    internet.world.network_mut().inject(now + Duration::from_micros(7), from, to, &datagram);
                }
            }
            internet.run_for(ms(3));
            if internet.player(HOST).began_at().is_some_and(|began| now > began + ms(2_000)) {
                progress.get_or_insert([HOST, JOINER].map(|id| internet.player(id).progress().name()));
            }
        }
        assert_eq!(progress, Some(calm.map(|progress| progress.name())), "{}", internet.report());
        assert_eq!(events(&internet), [], "{}", internet.report());
        assert_eq!(internet.player(HOST).verdict(), internet.player(JOINER).verdict());
        assert!(internet.player(HOST).nat().stats().refused > 200, "{}", internet.report());
    }
}

#[test]
fn replayed_checks_and_answers_move_no_path() {
    let plan = Plan { frames: 900, ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    let strangers: Vec<_> =
        (0..20).map(|n| internet.world.add_stranger(at(&format!("203.0.113.1{n:02}:9")))).collect();
    internet.world.network_mut().record(Recording::Full);
    internet.begin();
    for round in 0..40 {
        let stun: Vec<Vec<u8>> = [HOST, JOINER]
            .iter()
            .flat_map(|id| {
                internet.said(*id).filter(|entry| entry.datagram[0] < 2).map(|entry| entry.datagram.clone())
            })
            .collect();
        let now = internet.world.now();
        for (n, stranger) in strangers.iter().enumerate() {
            let from = internet.world.network().addr(*stranger);
            for id in [HOST, JOINER] {
                let to = internet.outside(id);
                let datagram = &stun[(n + round * 7) % stun.len()];
                internet.world.network_mut().inject(now + ms(1), from, to, datagram);
                // The same with another identifier, or another content.
                let mut changed = datagram.clone();
                let at = 8 + (n + round) % (changed.len() - 8);
                changed[at] ^= 0x10;
                internet.world.network_mut().inject(now + ms(1), from, to, &changed);
            }
        }
        internet.run_for(ms(100));
    }
    assert_eq!(internet.play(plan), [Progress::Direct; 2], "{}", internet.report());
    assert_eq!(events(&internet), []);
    let mut checked = 0;
    for stranger in strangers {
        let mail: Vec<_> = internet.world.mail().iter().filter(|mail| mail.to == stranger).collect();
        let checks = mail.iter().filter(|mail| mail.datagram.starts_with(&CHECK)).count();
        assert!(checks <= 2 * MAX_CHECKS, "{checks} checks of two players");
        checked += usize::from(checks > 0);
        let other = mail.iter().find(|mail| mail.datagram[0] >= 2);
        assert!(other.is_none(), "something of the match went to a stranger: {other:02X?}");
    }
    assert!((1..=16).contains(&checked), "{checked} strangers were checked, eight for each player at most");
}

/// A signal as `docs/PATHS.md` has it, with these candidates.
fn signal(candidates: &[SocketAddr]) -> Vec<u8> {
    let mut text = vec![1, 0, 0, 1, 0];
    text.extend(b"EVIL");
    text.extend(b"evilevilevilevilevilev");
    text.push(candidates.len() as u8);
    for candidate in candidates {
        let SocketAddr::V4(addr) = candidate else { panic!("the internet has IPv4 only") };
        text.push(0);
        text.extend(addr.ip().octets());
        text.extend(addr.port().to_be_bytes());
    }
    text
}

/// A guest with the invite whose signals name somebody else, and who never answers a check.
pub(super) struct Liar {
    post: JoinRequest,
    seal: Seal,
    /// The addresses in each signal, by the number of signals before it.
    names: Box<dyn Fn(u32) -> Vec<SocketAddr>>,
    posted: u32,
    seed: u64,
    next_at: Duration,
    answered: u32,
    invite: Invite,
}

impl Liar {
    pub(super) fn new(invite: &Invite, names: impl Fn(u32) -> Vec<SocketAddr> + 'static, seed: u64) -> Self {
        let rendezvous = invite.rendezvous().unwrap();
        let post = JoinRequest::new(rendezvous.server, rendezvous.room, Randomness::Seeded(seed)).unwrap();
        let seal = Seal::join_by_signal(Randomness::Seeded(seed), *invite.key()).unwrap();
        let (next_at, invite) = (Duration::ZERO, invite.clone());
        Self { post, seal, names: Box::new(names), seed, posted: 0, next_at, answered: 0, invite }
    }
}

impl Protocol for Liar {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.post.handle_datagram(now, from, datagram);
        while let Some(event) = self.post.poll_event() {
            match event {
                RendezvousEvent::Ticket { ticket, .. } => {
                    // A new guest each time, as far as the host can tell.
                    self.posted += 1;
                    let seed = Randomness::Seeded(self.seed << 20 | u64::from(self.posted));
                    self.seal = Seal::join_by_signal(seed, *self.invite.key()).unwrap();
                    let init =
                        self.seal.write_init(now, ticket, &signal(&(self.names)(self.posted))).unwrap();
                    self.post.post(&init);
                }
                RendezvousEvent::Answered { .. } => {
                    self.answered += 1;
                    self.post.settle();
                }
                _ => {}
            }
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if now >= self.next_at {
            self.next_at = now + ms(250);
            self.post.renew_credentials();
        }
        self.post.poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.post.poll_timeout().map_or(self.next_at, |at| at.min(self.next_at)))
    }
}

#[test]
fn forged_candidates_draw_few_checks_and_block_nobody() {
    let plan = Plan::new(Router::Cone, Router::Cone);
    let mut internet = Internet::new(plan);
    let one = internet.world.add_stranger(at("192.0.2.7:53"));
    let other = internet.world.add_stranger(at("192.0.2.8:53"));
    let mut victims: Vec<SocketAddr> = (0..6).map(|n| at(&format!("192.0.2.7:{}", 53 + n))).collect();
    victims.extend([at("192.0.2.8:53"), relay_addr()]);
    let liar = Liar::new(internet.invite.as_ref().unwrap(), move |_| victims.clone(), 666);
    internet.world.add(at("203.0.113.66:9"), Clock::default(), ms(100), Node::Other(Box::new(liar)));
    assert_eq!(internet.play(plan), [Progress::Direct; 2], "{}", internet.report());
    internet.run_for(ms(5_000));
    let seconds = internet.world.now().as_secs() as usize;
    for victim in [one, other] {
        let mail: Vec<_> = internet.world.mail().iter().filter(|mail| mail.to == victim).collect();
        assert!(mail.iter().all(|mail| mail.datagram.starts_with(&CHECK)));
        let most = 72 * (1 + seconds / 60);
        assert!((1..=most).contains(&mail.len()), "{} checks in {seconds} s", mail.len());
    }
    let (sent, _) = internet.world.traffic(HOST);
    assert!(sent.datagrams < 4_000, "{sent:?}");
}

#[test]
fn host_whose_guests_never_came_gives_its_allocation_back() {
    let mut internet = Internet::new(Plan::new(Router::Cone, Router::Cone));
    internet.world.stop(JOINER);
    internet.world.network_mut().record(Recording::Full);
    let liar = Liar::new(internet.invite.as_ref().unwrap(), |_| vec![at("192.0.2.7:53")], 666);
    let liar =
        internet.world.add(at("203.0.113.66:9"), Clock::default(), ms(100), Node::Other(Box::new(liar)));
    internet.run_for(ms(3_000));
    internet.world.stop(liar);
    internet.run_for(ms(60_000));
    assert_eq!((internet.given_back(HOST), internet.relay.allocated()), (1, 1));
    assert_eq!(internet.player(HOST).progress(), Progress::Waiting);
}

#[test]
fn guests_with_many_candidates_leave_permissions_to_others() {
    let plan = Plan::new(Router::Symmetric, Router::Symmetric);
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    for guest in 0..5 {
        let victims = move |_| (0..8).map(|n| at(&format!("192.0.2.{}:53", 10 * guest + n))).collect();
        let liar = Liar::new(internet.invite.as_ref().unwrap(), victims, 666 + guest);
        let addr = at(&format!("203.0.113.{}:9", 60 + guest));
        internet.world.add(addr, Clock::default(), ms(100), Node::Other(Box::new(liar)));
    }
    internet.play(plan);
    let requests = internet.said(HOST).filter(|entry| entry.datagram.starts_with(&[0x00, 0x08]));
    // The address in XOR-PEER-ADDRESS, which is the first attribute.
    let permitted: BTreeSet<_> = requests.map(|entry| entry.datagram[28..32].to_vec()).collect();
    assert!(permitted.len() > 32, "{permitted:02X?}");
    let joiner = [203 ^ 0x21, 0x12, 113 ^ 0xA4, 2 ^ 0x42];
    assert!(permitted.contains(&joiner[..]), "{permitted:02X?}");
}

/// A rendezvous that changes what its true server says.
struct LyingServer<F> {
    server: RendezvousServer,
    change: F,
}

impl<F: FnMut(SocketAddr, &mut Vec<u8>) -> bool> Protocol for LyingServer<F> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.server.handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        loop {
            let (to, len) = self.server.poll_transmit(now, buf)?;
            let mut datagram = buf[..len].to_vec();
            if (self.change)(to, &mut datagram) {
                buf[..datagram.len()].copy_from_slice(&datagram);
                return Some((to, datagram.len()));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.server.poll_timeout()
    }
}

pub(super) fn lying(plan: Plan, change: impl FnMut(SocketAddr, &mut Vec<u8>) -> bool + 'static) -> Internet {
    Internet::with_rendezvous(plan, |server| Node::Other(Box::new(LyingServer { server, change })))
}

pub(super) fn rewritten(datagram: &mut Vec<u8>, change: impl FnOnce(&mut Packet<'_>)) {
    let copy = datagram.clone();
    let mut packet = decode(&copy).unwrap();
    change(&mut packet);
    let mut buf = [0; 1_200];
    let len = encode(&packet, &mut buf).unwrap();
    *datagram = buf[..len].to_vec();
}

#[test]
fn rendezvous_and_relay_see_no_name_and_no_lan_address() {
    let plan = Plan { frames: 120, ..Plan::new(Router::Cone, Router::Symmetric) };
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    assert_eq!(internet.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
    let lan = |id: u8, port: u16| [&[192, 168, 1 + id, 2][..], &port.to_be_bytes()].concat();
    let secrets = [NAME.to_vec(), lan(0, 7_000), lan(1, 7_010)];
    // XOR-PEER-ADDRESS.
    let masked = |[a, b, c, d]: [u8; 4]| [a ^ 0x21, b ^ 0x12, c ^ 0xA4, d ^ 0x42];
    let (mut seen, mut permissions) = (0, 0);
    for entry in [HOST, JOINER].into_iter().flat_map(|id| internet.said(id)) {
        for secret in &secrets {
            let is_plain = entry.datagram.windows(secret.len()).any(|part| part == &secret[..]);
            assert!(!is_plain, "{secret:02X?} in {:02X?}", entry.datagram);
        }
        // The relay is asked for permissions in clear text.
        if entry.datagram.starts_with(&CREATE_PERMISSION) {
            let named = |ip: [u8; 4]| entry.datagram.windows(4).any(|part| part == masked(ip));
            assert!(!named([192, 168, 1, 2]) && !named([192, 168, 2, 2]), "{:02X?}", entry.datagram);
            permissions += usize::from(named([203, 0, 113, 1]) || named([203, 0, 113, 2]));
        }
        seen += usize::from(entry.to == rendezvous_addr());
    }
    assert!(seen >= 4 && permissions >= 2, "{seen} datagrams to the rendezvous, {permissions} permissions");
}

#[test]
fn rendezvous_that_is_silent_is_reported() {
    let plan = Plan::new(Router::Cone, Router::Cone);
    let mut internet = lying(plan, |_, _| false);
    let why = NoWay::RendezvousSilent { server: rendezvous_addr() };
    let told = |internet: &Internet| {
        [HOST, JOINER].map(|id| internet.player(id).progress()) == [Progress::NoWay { why }; 2]
    };
    assert!(internet.run_until(ms(7_000), told), "{}", internet.report());
}

#[test]
fn rendezvous_that_withholds_signals_is_reported() {
    let plan = Plan::new(Router::Cone, Router::Cone);
    let mut internet = lying(plan, |_, datagram| !matches!(decode(datagram), Ok(Packet::Deliver(_))));
    let silent = Progress::NoWay { why: NoWay::HostSilent };
    assert!(
        internet.run_until(ms(11_000), |internet| internet.player(JOINER).progress() == silent),
        "{}",
        internet.report()
    );
}

#[test]
fn rendezvous_altering_signals_or_tickets_connects_nobody() {
    // Each byte of the signals in its turn, the ticket, and an INIT in the place of the RESP.
    for lie in 0..6 {
        let mut last_init = Vec::new();
        let plan = Plan::new(Router::Open, Router::Open);
        let mut count = 0;
        let mut internet = lying(plan, move |_, datagram| {
            count += 1;
            let mut changed = Vec::new();
            rewritten(datagram, |packet| match packet {
                Packet::Deliver(Deliver { signal: init, .. }) => {
                    last_init = init.to_vec();
                    if lie < 2 {
                        changed = init.to_vec();
                        let at = if lie == 0 { 30 } else { 60 + count * 37 % 200 };
                        changed[at] ^= 1;
                        *init = Box::leak(changed.clone().into_boxed_slice());
                    }
                }
                Packet::Reply(Reply { outcome: Outcome::Answered(resp), .. }) => {
                    changed = if lie == 3 { last_init.clone() } else { resp.to_vec() };
                    let at = if lie == 2 { 5 } else { 40 + count * 41 % 200 };
                    if lie == 2 || lie == 4 {
                        changed[at] ^= 1;
                    }
                    *resp = Box::leak(changed.clone().into_boxed_slice());
                }
                Packet::Grant(grant) if lie == 5 => grant.ticket ^= 1,
                _ => {}
            });
            true
        });
        internet.run_for(ms(14_000));
        for id in [HOST, JOINER] {
            assert!(internet.player(id).began_at().is_none(), "lie {lie}: {}", internet.report());
        }
        let told = &internet.player(JOINER).told;
        let no_way = told.iter().find(|(_, progress)| matches!(progress, Progress::NoWay { .. }));
        assert!(no_way.is_some_and(|(at, _)| *at < ms(10_500)), "lie {lie}: {}", internet.report());
    }
}

#[test]
fn rendezvous_naming_wrong_addresses_stops_no_match() {
    let plan = Plan::new(Router::Cone, Router::Cone);
    let victim = at("192.0.2.9:3478");
    let mut internet = lying(plan, move |_, datagram| {
        rewritten(datagram, |packet| {
            if let Packet::Grant(grant) = packet {
                if let Some(turn) = &mut grant.turn {
                    turn.server = victim;
                }
                grant.observed = at("192.0.2.9:7");
            }
        });
        true
    });
    let stranger = internet.world.add_stranger(victim);
    internet.run_for(ms(12_000));
    let mail: Vec<_> = internet.world.mail().iter().filter(|mail| mail.to == stranger).collect();
    assert!((1..60).contains(&mail.len()), "{} datagrams", mail.len());
    let relay = RelayOutcome::Silent { server: victim, stream: None };
    let none = Progress::NoWay { why: NoWay::NoPath { relay, symmetric: [false; 2] } };
    assert_eq!(internet.player(JOINER).progress(), none, "two cones need to know where they are seen");
}

#[test]
fn rendezvous_that_names_the_peer_as_the_relay_stops_no_match() {
    let players = [at("203.0.113.1:7000"), at("203.0.113.2:7010")];
    for deceived in [vec![HOST], vec![JOINER], vec![HOST, JOINER]] {
        let plan = Plan { frames: 400, ..Plan::new(Router::Open, Router::Open) };
        let named = deceived.clone();
        let mut internet = lying(plan, move |to, datagram| {
            let player = named.iter().find(|id| players[**id] == to);
            rewritten(datagram, |packet| {
                if let (Packet::Grant(grant), Some(id)) = (packet, player)
                    && let Some(turn) = &mut grant.turn
                {
                    turn.server = players[1 - id];
                }
            });
            true
        });
        assert_eq!(internet.play(plan), [Progress::Direct; 2], "{deceived:?}: {}", internet.report());
        assert_eq!(events(&internet), [], "{deceived:?}");
    }
}

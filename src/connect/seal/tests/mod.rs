//! Tests of a seal around a protocol, on connections that need no handshake.

mod opening;
mod owner;
mod paths;
mod players;
mod roam;
mod vectors;

use super::access::AccessId;
use super::association::{Association, Pending};
use super::channel::Channel;
use super::code::Comparison;
use super::joiner::Joiner;
use super::noise::{self, KeyPair, Split};
use super::outbox::Outbox;
use super::random::Secret;
use super::rate_limiter::Waiting;
use super::{Randomness, Seal, SealRefusal};
use crate::protocol::time::{Span, Time};
use crate::protocol::{Authenticated, ConnectionStep, MAX_DATAGRAM, PeerRole, Protocol};
use crate::wire::seal::{self, INIT_LEN, Kind, Packet};
use core::time::Duration;
use std::collections::VecDeque;
use std::net::SocketAddr;

pub(super) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(super) fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

pub(super) fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

/// A protocol that says what it is given to say.
#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) keeps: bool,
    /// Whether it is a protocol that does not follow its connections.
    pub(super) is_plain: bool,
    pub(super) opening: Option<&'static [u8]>,
    pub(super) timeout: Option<Duration>,
    pub(super) says: VecDeque<(SocketAddr, Vec<u8>)>,
    pub(super) told: Vec<(u16, ConnectionStep)>,
}

impl Protocol for Inner {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, said) = self.says.pop_front()?;
        buf[..said.len()].copy_from_slice(&said);
        Some((to, said.len()))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn opening(&mut self, _: Duration, _: SocketAddr, buf: &mut [u8]) -> Option<usize> {
        let opening = self.opening?;
        buf[..opening.len()].copy_from_slice(opening);
        Some(opening.len())
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        (!self.is_plain).then_some(self)
    }
}

impl Authenticated for Inner {
    fn connection(&mut self, _: Duration, peer: SocketAddr, step: ConnectionStep) {
        self.told.push((peer.port(), step));
    }

    fn knows(&mut self, peer: SocketAddr) -> bool {
        self.told.iter().any(|(told, _)| *told == peer.port())
    }

    fn keeps(&mut self, _: SocketAddr) -> bool {
        self.keeps
    }
}

/// One side of the channel of a guest.
pub(super) fn channel(is_host: bool, index: u16) -> Channel {
    let split = Split {
        keys: [Secret([1; 32]), Secret([2; 32])],
        hash: [0; 32],
        ephemerals: (Secret([3; 32]), [0; 32]),
    };
    Channel::new(&split, is_host, index).unwrap()
}

/// A confirmed guest.
pub(super) fn guest(index: u16, inner_addr: u16) -> Association {
    Association::fake(addr(inner_addr), index, PeerRole::Player).with_channel(channel(true, 9))
}

/// A host, and its guests' sides of their channels.
pub(super) struct Rig {
    pub(super) seal: Seal,
    pub(super) inner: Inner,
}

pub(super) const INNER: u16 = 100;

impl Rig {
    pub(super) fn new() -> Self {
        let seal = Seal::host(Randomness::Seeded(1)).unwrap();
        Self { seal, inner: Inner { keeps: true, ..Inner::default() } }
    }

    /// Adds a guest that the protocol knows by the port `inner_addr`, at port 1 outside.
    pub(super) fn add(&mut self, index: u16, inner_addr: u16, confirmed: bool) -> Channel {
        let guest = guest(index, inner_addr);
        self.put(if confirmed { guest } else { guest.reached(at(2_000)) });
        channel(false, index)
    }

    pub(super) fn put(&mut self, association: Association) {
        self.seal.associations.add(association);
        self.seal.out.stir();
    }

    pub(super) fn playing() -> (Self, Channel) {
        let mut rig = Self::new();
        let guest = rig.add(7, INNER, true);
        assert_eq!(rig.poll(0), []);
        (rig, guest)
    }

    pub(super) fn hear(&mut self, now: u64, from: u16, packet: &[u8]) {
        self.seal.around(&mut self.inner).handle_datagram(ms(now), addr(from), packet);
    }

    pub(super) fn say(&mut self, len: usize) {
        self.inner.says.push_back((addr(INNER), vec![7; len]));
    }

    /// All that is sent at a time: to which port, and what.
    pub(super) fn poll(&mut self, now: u64) -> Vec<(u16, Vec<u8>)> {
        let mut buf = [0; MAX_DATAGRAM];
        let mut sealed = self.seal.around(&mut self.inner);
        let sent = core::iter::from_fn(|| {
            sealed.poll_transmit(ms(now), &mut buf).map(|(to, len)| (to.port(), buf[..len].to_vec()))
        });
        sent.collect()
    }

    pub(super) fn first(&mut self) -> &mut Association {
        self.seal.associations.get_mut(0).unwrap()
    }

    fn refused(&self) -> u64 {
        self.seal.stats.refused.total()
    }
}

pub(super) fn data(channel: &mut Channel, len: usize) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let len = channel.seal_data(&mut buf, len).unwrap();
    buf[..len].to_vec()
}

pub(super) fn control(channel: &mut Channel, kind: Kind, text: &[u8]) -> Vec<u8> {
    let mut buf = [0; MAX_DATAGRAM];
    let len = channel.seal_control(kind, text, &mut buf).unwrap();
    buf[..len].to_vec()
}

pub(super) fn to(sent: &[(u16, Vec<u8>)], port: u16) -> Vec<&[u8]> {
    sent.iter().filter(|(to, _)| *to == port).map(|(_, packet)| &packet[..]).collect()
}

#[test]
fn first_data_sets_the_address_and_is_told() {
    let mut rig = Rig::new();
    let mut guest = rig.add(7, INNER, false);
    rig.hear(10, 2, &data(&mut guest, 20));
    assert_eq!(rig.seal.outer_addr(addr(INNER)), Some(addr(2)));
    assert!(
        matches!(rig.inner.told[..], [(INNER, ConnectionStep::Confirmed { .. })]),
        "{:?}",
        rig.inner.told
    );
}

#[test]
fn worn_out_connection_ends_and_is_told() {
    let (mut rig, mut joiner) = (Rig::new(), channel(false, 7));
    rig.put(guest(7, INNER).reached(at(2_000)).unknown());
    rig.hear(10, 1, &data(&mut joiner, 20));
    rig.first().wear_out();
    let mut forged = data(&mut joiner, 20);
    forged[9] ^= 1;
    rig.hear(20, 1, &forged);
    assert_eq!(
        (rig.inner.told.last(), rig.seal.associations.len()),
        (Some(&(INNER, ConnectionStep::Gone)), 0)
    );
}

#[test]
fn guest_is_gone_with_its_last_half_open_handshake() {
    let mut rig = Rig::new();
    rig.add(7, INNER, false);
    rig.put(guest(8, 200).reached(at(2_000)).unknown());
    rig.put(guest(9, INNER).reached(at(3_000)));
    rig.poll(0);
    assert_eq!(rig.seal.poll_timeout(), Some(ms(2_000)));
    rig.poll(2_000);
    assert_eq!(
        (rig.seal.associations.len(), &rig.inner.told[..]),
        (1, &[][..]),
        "another handshake of it is left"
    );
    rig.poll(3_000);
    assert_eq!((rig.seal.associations.len(), &rig.inner.told[..]), (0, &[(INNER, ConnectionStep::Gone)][..]));
}

#[test]
fn longest_silent_unkept_guest_makes_room() {
    let mut rig = Rig::new();
    rig.inner.keeps = false;
    for index in 0..8 {
        rig.put(guest(index, 200 + index).heard_at(at(1_000 - u64::from(index ^ 5))));
    }
    let mut guest = rig.add(20, INNER, false);
    rig.hear(2_000, 1, &data(&mut guest, 20));
    let gone: Vec<_> = rig.inner.told.iter().filter(|(_, step)| *step == ConnectionStep::Gone).collect();
    assert_eq!((gone, rig.seal.associations.len()), (vec![&(202, ConnectionStep::Gone)], 8));
}

#[test]
fn seal_sends_nothing_of_its_own_to_an_unkept_peer() {
    for keeps in [false, true] {
        let mut rig = Rig::new();
        rig.inner.keeps = keeps;
        rig.put(guest(7, INNER).with_comparison(Comparison::joiner(at(0), [1; 32], [2; 16], [3; 16])));
        rig.add(8, 200, true);
        rig.seal.set_fallbacks(addr(200), &[addr(2)]);
        let sent: Vec<_> = (0..40).flat_map(|turn| rig.poll(turn * 250)).collect();
        // The kinds count from 1 on the wire.
        let said = |port, kind| to(&sent, port).iter().any(|packet| packet[7] == kind as u8 + 1);
        assert_eq!(said(1, Kind::Find), keeps);
        assert_eq!(said(1, Kind::CodeAsk), keeps);
        assert_eq!(said(2, Kind::Challenge), keeps);
    }
}

#[test]
fn newer_control_packet_from_elsewhere_is_challenged_at_once() {
    let (mut rig, mut guest) = Rig::playing();
    rig.hear(10, 2, &control(&mut guest, Kind::Found, b""));
    assert_eq!(rig.seal.poll_timeout(), Some(ms(0)));
    let sent = rig.poll(10);
    assert_eq!(sent.iter().map(|(to, packet)| (*to, packet[7])).collect::<Vec<_>>(), [(1, 3), (2, 3)]);
}

#[test]
fn overtaken_packet_from_elsewhere_is_no_candidate() {
    let (mut rig, mut guest) = Rig::playing();
    let overtaken = [data(&mut guest, 20), control(&mut guest, Kind::Found, b"")];
    rig.hear(10, 1, &data(&mut guest, 20));
    for packet in &overtaken {
        rig.hear(20, 2, packet);
        assert_eq!((rig.poll(20), rig.refused()), (vec![], 0));
    }
    assert!(!rig.first().paths().is_roaming());
}

#[test]
fn proof_after_the_decision_is_no_refusal() {
    let (mut rig, mut guest) = Rig::playing();
    rig.hear(10, 1, &control(&mut guest, Kind::Proof, &[0; 8]));
    assert_eq!(rig.refused(), 0);
    rig.hear(10, 2, &control(&mut guest, Kind::Proof, &[0; 8]));
    assert_eq!(rig.refused(), 1, "a value that nobody has sent");
}

#[test]
fn candidate_gets_copies_until_it_is_dropped() {
    let (mut rig, mut guest) = Rig::playing();
    rig.hear(10, 2, &data(&mut guest, 1_000));
    rig.poll(10);
    (0..2).for_each(|len| rig.say(20 + len));
    assert!(rig.seal.send_signal(addr(INNER), b"x"));
    let sent = rig.poll(20);
    assert_eq!((to(&sent, 1).len(), to(&sent, 1)), (3, to(&sent, 2)));
    (1..60).for_each(|turn| drop(rig.poll(turn * 100)));
    assert!(!rig.first().paths().is_roaming(), "nothing newer came from it for five seconds");
    rig.say(20);
    assert_eq!(to(&rig.poll(6_000), 2), [[0; 0]; 0]);
}

#[test]
fn packet_from_a_fallback_makes_it_a_checked_candidate() {
    let (mut rig, mut guest) = Rig::playing();
    rig.seal.set_fallbacks(addr(INNER), &[addr(2)]);
    rig.hear(10, 2, &data(&mut guest, 1));
    rig.say(1_000);
    assert_eq!(to(&rig.poll(10), 2).iter().filter(|packet| packet.len() > 1_000).count(), 1);
}

#[test]
fn rare_packets_are_no_silence() {
    for (interval, silent_after) in [(1_000, 3_000..=4_000), (16, 300..=310)] {
        let (mut rig, mut guest) = Rig::playing();
        rig.seal.set_fallbacks(addr(INNER), &[addr(2), addr(1)]);
        assert_eq!(rig.seal.poll_timeout(), Some(ms(0)));
        for turn in 1..=100 {
            rig.hear(turn * interval, 1, &data(&mut guest, 20));
        }
        let last = 100 * interval;
        let silent = (0..5_000).find(|after| rig.seal.is_silent(ms(last + after), addr(INNER))).unwrap();
        assert!(silent_after.contains(&silent), "{silent} ms after packets every {interval} ms");
        assert_eq!(to(&rig.poll(last + silent - 1), 2), [[0; 0]; 0]);
        assert_eq!(to(&rig.poll(last + silent), 2).len(), 1, "a challenge");
        assert_eq!(
            to(&rig.poll(last + silent), 1),
            [[0; 0]; 0],
            "challenged once, though it is a fallback too"
        );
    }
}

#[test]
fn fallbacks_are_replaced_and_bounded() {
    let (mut rig, _) = Rig::playing();
    rig.seal.set_fallbacks(addr(INNER), &[addr(2)]);
    rig.seal.set_fallbacks(addr(INNER), &[3, 4, 5, 6].map(addr));
    let paths = (1..8).filter(|port| rig.seal.is_path(addr(*port))).collect::<Vec<_>>();
    assert_eq!(paths, [1, 3, 4, 5], "the address in use, and three others");
}

#[test]
fn path_in_use_is_no_candidate() {
    let (mut rig, _) = Rig::playing();
    rig.seal.set_fallbacks(addr(INNER), &[addr(1)]);
    rig.poll(4_000);
    assert!(rig.seal.is_silent(ms(4_000), addr(INNER)) && !rig.first().paths().is_roaming());
    assert_eq!(rig.seal.poll_timeout(), Some(ms(4_300)), "when the fallbacks are tried again");
}

#[test]
fn path_of_an_unconfirmed_guest_is_the_newest_offered() {
    let mut rig = Rig::new();
    rig.put(guest(7, INNER).reached(at(2_000)).without_path());
    assert!(!rig.seal.send_signal(addr(INNER), b"x"), "it has no path");
    for (port, trip) in [(2, 50), (3, 60)] {
        rig.seal.offer_path(ms(5), addr(INNER), addr(port), ms(trip));
        assert_eq!(rig.seal.outer_addr(addr(INNER)), Some(addr(port)));
        let measured = (rig.first().paths().round_trip(), rig.first().contact().opened_at());
        assert_eq!(measured, (Span::from_millis(trip), at(5)));
    }
    assert!(!rig.seal.send_signal(addr(INNER), b"x"), "its address may not be its own");
}

/// A handshake whose RESP waits.
fn pending() -> Pending {
    let (host, mut init) = (KeyPair::new(Secret([1; 32])), [0; INIT_LEN]);
    let (_, len) = noise::begin(&host.public, &[9; 21], Secret([2; 32]), b"hello", &mut init).unwrap();
    let (handshake, _) =
        noise::accept(&host, &[9; 21], Secret([3; 32]), &init[..len], &mut [0; 300]).unwrap();
    Pending { handshake, index: 5, to: Some(addr(1)) }
}

#[test]
fn packets_go_to_the_guest_that_waits_then_to_the_confirmed_one() {
    let mut rig = Rig::new();
    rig.add(7, INNER, false);
    rig.add(8, INNER, true);
    rig.put(guest(9, INNER).reached(at(2_000)).heard_at(at(5)));
    assert_eq!(rig.seal.associations.towards(addr(INNER)), Some(1));
    rig.put(guest(10, INNER).reached(at(2_000)).pending(pending()));
    assert_eq!(rig.seal.associations.towards(addr(INNER)), Some(3));
}

#[test]
fn resp_is_shorter_than_an_init() {
    for (answer, resp) in [(279, INIT_LEN - 1), (280, 53)] {
        let mut rig = Rig::new();
        rig.put(guest(7, INNER).reached(at(2_000)).pending(pending()));
        rig.seal.answer(at(5), 0, &vec![0; answer]);
        assert_eq!(rig.seal.out.pop(&mut [0; INIT_LEN]), Some((addr(1), resp)));
        assert_eq!(rig.first().contact().opened_at(), at(5));
    }
}

/// An INIT of the nonce 77 with a good cookie, for a host that has worked off all handshakes of this second.
pub(super) fn init(rig: &mut Rig) -> Vec<u8> {
    let key = rig.seal.public_key().unwrap();
    let mut join = Joiner::new(Some(Secret(key)), vec![addr(INNER)], addr(INNER), 77, 5);
    let (mut out, mut buf) = (Outbox::new(), [0; MAX_DATAGRAM]);
    join.request(at(0), &mut out);
    let (_, len) = out.pop(&mut buf).unwrap();
    rig.hear(0, 1, &buf[..len]);
    let retry = rig.poll(0).remove(0).1;
    let Ok(Packet::Retry(retry)) = seal::decode(&retry) else { panic!("a RETRY") };
    join.retry(at(0), addr(INNER), (&retry, Secret(key)), (6, Secret([4; 32])), &mut out).unwrap();
    let (_, len) = out.pop(&mut buf).unwrap();
    let host = rig.seal.host.as_mut().unwrap();
    let rate_limiter = host.access_mut(AccessId::FIRST).unwrap().rate_limiter();
    for source in 0..16 {
        assert!(
            rate_limiter.queue(Waiting::new(([10, 0, 0, source], 1).into(), Span::ZERO, &[0; 200]).unwrap())
        );
        assert!(rate_limiter.next(at(0)).is_some());
    }
    buf[..len].to_vec()
}

/// One INIT is queued from two sources. Its cookie is good when both are queued, and used when the second is worked off.
#[test]
fn queued_init_is_worked_off_once() {
    let mut rig = Rig::new();
    let init = init(&mut rig);
    for source in [20, 21] {
        let from = ([10, 0, 0, source], 1).into();
        rig.seal.around(&mut rig.inner).handle_datagram(ms(0), from, &init);
    }
    assert_eq!((rig.seal.stats.handshakes, rig.refused()), (0, 0));
    rig.poll(0);
    assert_eq!(rig.seal.poll_timeout(), Some(ms(1_000)));
    rig.poll(1_000);
    assert_eq!((rig.seal.stats.handshakes, rig.seal.stats.refused.of(SealRefusal::BadCookie)), (1, 1));
}

#[test]
fn init_of_a_confirmed_guest_is_not_queued() {
    let mut rig = Rig::new();
    let init = init(&mut rig);
    rig.add(77, INNER, true);
    rig.hear(0, 2, &init);
    assert_eq!(rig.seal.stats.refused.of(SealRefusal::Unexpected), 1);
}

#[test]
fn init_with_an_old_cookie_gets_a_retry() {
    let mut rig = Rig::new();
    let init = init(&mut rig);
    rig.hear(11_000, 1, &init);
    assert_eq!(rig.seal.stats.refused.of(SealRefusal::BadCookie), 1);
    assert_eq!(rig.poll(11_000).iter().map(|(to, packet)| (*to, packet[0])).collect::<Vec<_>>(), [(1, 0xE1)]);
}

#[test]
fn part_of_a_code_that_nobody_asked_for_is_refused() {
    let (mut rig, mut guest) = Rig::playing();
    rig.hear(10, 1, &control(&mut guest, Kind::CodeReveal, &[0; 20]));
    rig.hear(10, 1, &control(&mut guest, Kind::CodeAsk, &[0; 16]));
    assert_eq!(rig.seal.stats.refused.of(SealRefusal::OutOfPlace), 2);
}

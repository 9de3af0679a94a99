//! NAT traversal in the simulated internet of `tests/nat`: strangers who send in anybody's name, a rendezvous and a relay that change what
//! they say, and a guest with the invite whose signals are anything.
//!
//! Strangers stop no match. The others may stop it, but the players never disagree, and never send without bound.

use crate::attack::{MAX_ATTACKS, damage, random_seeds};
use crate::bytes::Bytes;
use crate::memory::Kept;
use internet::{HOST, Internet, JOINER, Node, Plan, RELAY, Router, relay_addr, rendezvous_addr};
use rebout::lab::rendezvous::{JoinRequest, RendezvousEvent};
use rebout::lab::seal::Seal;
use rebout::lab::sim::{Clock, Recording};
use rebout::{Event, Invite, Protocol, Randomness};
use std::net::SocketAddr;
use std::time::Duration;

#[allow(dead_code)]
#[path = "../../tests/nat/internet.rs"]
mod internet;
#[allow(dead_code)]
#[path = "../../tests/nat/player.rs"]
mod player;

const MAX_KEPT: i64 = 16 << 20;
const FRAMES: u32 = 60;
/// The longest that a match takes that strangers attack.
const LIMIT: Duration = Duration::from_secs(20);
/// The most datagrams of a player in a second: a match of 60 frames, checks of paths, and the relay.
const MAX_PER_SECOND: u64 = 600;

/// A server that changes what it says, by a script.
struct Liar<P> {
    server: P,
    script: Vec<u8>,
    at: usize,
    said: Vec<Vec<u8>>,
}

impl<P: Protocol> Liar<P> {
    fn new(server: P, script: &[u8]) -> Self {
        Self { server, script: script.to_vec(), at: 0, said: Vec::new() }
    }
}

impl<P: Protocol> Protocol for Liar<P> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.server.handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, len) = self.server.poll_transmit(now, buf)?;
        let mut datagram = buf[..len].to_vec();
        if self.said.len() < 16 {
            self.said.push(datagram.clone());
        }
        let script = &self.script[self.at.min(self.script.len())..];
        let part = &script[..script.len().min(8)];
        self.at += part.len();
        damage(&mut Bytes::new(part), &mut datagram, &self.said);
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        Some((to, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.server.poll_timeout()
    }
}

/// A guest with the invite, whose signal is any text.
struct Guest {
    post: JoinRequest,
    seal: Seal,
    text: Vec<u8>,
}

impl Guest {
    fn new(invite: &Invite, text: &[u8]) -> Self {
        let rendezvous = invite.rendezvous().expect("an invite to a rendezvous");
        let post =
            JoinRequest::new(rendezvous.server, rendezvous.room, Randomness::Seeded(66)).expect("a seed");
        let seal = Seal::join_by_signal(Randomness::Seeded(66), *invite.key()).expect("a seed");
        Self { post, seal, text: text.to_vec() }
    }
}

impl Protocol for Guest {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.post.handle_datagram(now, from, datagram);
        while let Some(event) = self.post.poll_event() {
            if let RendezvousEvent::Ticket { ticket, .. } = event
                && let Some(init) = self.seal.write_init(now, ticket, &self.text)
            {
                self.post.post(&init);
            }
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.post.poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.post.poll_timeout()
    }
}

fn plan(bytes: &mut Bytes<'_>) -> Plan {
    let routers = [Router::Open, Router::Cone, Router::Symmetric];
    let mut router = || routers[bytes.below(routers.len())];
    Plan { frames: FRAMES, latency_millis: 5, joins_at_millis: 100, ..Plan::new(router(), router()) }
}

/// A signal as in `docs/PATHS.md`, with candidates that the fuzzer chooses, or no signal at all.
fn signal(bytes: &mut Bytes<'_>) -> Vec<u8> {
    if bytes.flag() {
        return bytes.slice(250).to_vec();
    }
    let mut text = [&[1, 0, 0, bytes.u8(), 0][..], b"EVIL", b"evilevilevilevilevilev"].concat();
    let count = bytes.u8() % 12;
    text.push(count);
    for _ in 0..count {
        text.push(bytes.u8() % 8);
        text.extend(if bytes.flag() { bytes.u32().to_be_bytes() } else { [203, 0, 113, bytes.u8()] });
        text.extend(bytes.u16().to_be_bytes());
    }
    text
}

/// Somebody who sees what the players send, and sends in anybody's name.
fn inject(internet: &mut Internet, bytes: &mut Bytes<'_>) {
    let victim = usize::from(bytes.flag());
    let (to, peer) = (internet.outside(victim), internet.outside(1 - victim));
    let froms = [([203, 0, 113, 77], 9).into(), relay_addr(), rendezvous_addr(), peer];
    let from = froms[bytes.below(froms.len())];
    let entries = internet.world.network().transcript().entries();
    let seen: Vec<Vec<u8>> = entries.iter().rev().take(32).map(|entry| entry.datagram.clone()).collect();
    let mut datagram = seen.get(bytes.below(32)).cloned().unwrap_or_default();
    damage(bytes, &mut datagram, &seen);
    let now = internet.world.now();
    internet.world.network_mut().inject(now + Duration::from_micros(7), from, to, &datagram);
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kept = Kept::new(MAX_KEPT);
    let plan = plan(&mut bytes);
    let (lies, relays, guests) = (bytes.u8() % 4 == 1, bytes.u8() % 4 == 1, bytes.u8() % 4 == 1);
    let script = if lies { bytes.slice(200) } else { &[] };
    let mut internet = if lies {
        Internet::with_rendezvous(plan, |server| Node::Other(Box::new(Liar::new(server, script))))
    } else {
        Internet::new(plan)
    };
    if relays {
        let port = internet.relay.ports().next().expect("the relay itself");
        let liar = Liar::new(port, bytes.slice(200));
        internet.world.restart(RELAY, Node::Other(Box::new(liar)));
    }
    if guests {
        let guest = Guest::new(internet.invite.as_ref().expect("an invite"), &signal(&mut bytes));
        let addr = ([203, 0, 113, 66], 9).into();
        internet.world.add(addr, Clock::default(), Duration::from_millis(20), Node::Other(Box::new(guest)));
    }
    internet.world.network_mut().record(Recording::Full);
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        inject(&mut internet, &mut bytes);
        internet.run_for(bytes.wait().min(Duration::from_secs(1)));
    }
    let is_over =
        |internet: &Internet| [HOST, JOINER].iter().all(|id| internet.player(*id).verdict().is_some());
    let limit = if lies || relays || guests { Duration::from_secs(5) } else { LIMIT };
    let is_played = internet.run_until(limit, is_over);
    check(&internet);
    assert!(is_played || lies || relays || guests, "strangers stopped a match: {}", internet.report());
    kept.check();
}

fn check(internet: &Internet) {
    let verdicts = [HOST, JOINER].map(|id| internet.player(id).verdict());
    if let [Some(one), Some(two)] = verdicts {
        assert_eq!(one, two, "{}", internet.report());
    }
    for id in [HOST, JOINER] {
        let is_alarm = |event: &Event| matches!(event, Event::Desync(_) | Event::InputConflict { .. });
        let events = &internet.player(id).peer.events;
        assert!(!events.iter().any(|(_, event)| is_alarm(event)), "{}", internet.report());
        let (sent, _) = internet.world.traffic(id);
        let limit = MAX_PER_SECOND * (internet.world.now().as_secs() + 1);
        assert!(sent.datagrams <= limit, "{id} sent {} datagrams: {}", sent.datagrams, internet.report());
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[
        &[0, 0, 0, 0, 0],
        &[1, 1, 0, 0, 0],
        &[2, 2, 0, 0, 0],
        &[1, 1, 1, 0, 0, 0, 80],
        &[2, 2, 0, 1, 0, 0, 80],
        &[1, 2, 0, 0, 1, 0, 1, 4],
    ])
}

//! A peer that holds its inputs back to see ours first, or falls silent again and again, is noticed; a bad link is not
//! taken for either.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{Clock, Machine, World};
use rebout::lab::{Setup, SimMatch, SimPeer, addresses};
use rebout::wire::rbn1::InputPacket;
use rebout::{Config, Event, Protocol, Reason};
use std::collections::VecDeque;
use std::net::SocketAddr;
use support::repeats;

/// A machine whose input packets leave it late. Its control packets do not.
struct Holder {
    inner: SimPeer<Round>,
    held_for: Duration,
    held: VecDeque<(Duration, SocketAddr, Vec<u8>)>,
}

impl Protocol for Holder {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.inner.handle_datagram(now, from, datagram);
    }
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        while let Some((to, len)) = self.inner.poll_transmit(now, buf) {
            if self.held_for.is_zero() || !buf.starts_with(&InputPacket::MAGIC) {
                return Some((to, len));
            }
            self.held.push_back((now + self.held_for, to, buf[..len].to_vec()));
        }
        self.held.front().filter(|(at, ..)| *at <= now)?;
        let (_, to, datagram) = self.held.pop_front()?;
        buf[..datagram.len()].copy_from_slice(&datagram);
        Some((to, datagram.len()))
    }
    fn poll_timeout(&self) -> Option<Duration> {
        self.inner.poll_timeout().into_iter().chain(self.held.front().map(|(at, ..)| *at)).min()
    }
    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }
    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}

impl Machine for Holder {
    fn next_frame_at(&self) -> Option<Duration> {
        self.inner.next_frame_at()
    }
    fn frame(&mut self, now: Duration) {
        self.inner.frame(now);
    }
}

/// A match of ten seconds and more against a peer that holds its inputs back from the fifth second on.
fn held_back(rtt: u64, held_for: u64, change: impl Fn(&mut Config)) -> World<Holder> {
    held_back_after(Duration::ZERO, rtt, held_for, change)
}

/// The same after an outage, which begins in the fifth second.
fn held_back_after(outage: Duration, rtt: u64, held_for: u64, change: impl Fn(&mut Config)) -> World<Holder> {
    let mut setup = Setup::new(rtt + held_for, LinkConfig::new(ms(rtt / 2)));
    change(&mut setup.configs[0]);
    let [victim, cheat] = addresses();
    let [host, join] = setup.configs;
    let peers = [SimPeer::new(host, None, ENDLESS), SimPeer::new(join, Some(victim), ENDLESS)];
    let mut world = World::new(setup.seed);
    for (addr, inner) in [victim, cheat].into_iter().zip(peers) {
        let holder = Holder { inner, held_for: Duration::ZERO, held: VecDeque::new() };
        world.add(addr, Clock::default(), Duration::ZERO, holder);
    }
    world.network_mut().set_link(0, 1, setup.links[0]);
    world.network_mut().set_link(1, 0, setup.links[1]);
    world.run_until(Duration::from_secs(5));
    let begins = Duration::from_secs(5) + outage;
    world.network_mut().cut_both(0, 1, Duration::from_secs(5), begins);
    world.run_until(begins);
    world.machine_mut(1).held_for = ms(held_for);
    world.run_until(begins + Duration::from_secs(10));
    world
}

#[test]
fn inputs_held_back_are_told_of_within_seconds() {
    for rtt in [20, 40, 80] {
        for held_for in [100, 150] {
            let world = held_back(rtt, held_for, |_| {});
            let victim = &world.machine(0).inner;
            let what = format!("{held_for} ms on {rtt} ms: {:?}, {:?}", victim.events, victim.stats());
            let [(at, Event::InputsLate { excess })] = victim.events[..] else { panic!("{what}") };
            assert!(at > Duration::from_secs(6) && at < Duration::from_secs(12), "{what}");
            assert!(excess > ms(held_for / 3) && excess < ms(held_for), "{what}");
            assert!(victim.stats().input_age > victim.stats().input_excess, "{what}");
        }
    }
}

#[test]
fn outage_does_not_hide_inputs_that_are_held_back() {
    let world = held_back_after(Duration::from_secs(20), 40, 100, |_| {});
    let told = &world.machine(0).inner.events;
    assert!(matches!(told.last(), Some((_, Event::InputsLate { .. }))), "{told:?}");
}

#[test]
fn limit_of_age_ends_the_match() {
    let world = held_back(20, 150, |config| config.timeouts.max_input_age = Some(ms(60)));
    let victim = &world.machine(0).inner;
    let last = victim.events.last().map(|(_, event)| event.clone());
    assert_eq!(last, Some(Event::Disconnected { reason: Reason::InputsHeldBack }), "{:?}", victim.events);
    let told = world.machine(1).inner.events.last().map(|(_, event)| event.clone());
    assert_eq!(told, Some(Event::Disconnected { reason: Reason::Left }), "the peer is told at once");
    let honest = held_back(80, 0, |config| config.timeouts.max_input_age = Some(ms(80)));
    assert!(!honest.machine(0).inner.ended(), "{:?}", honest.machine(0).inner.stats());
}

fn accuses_the_peer(event: &Event) -> bool {
    matches!(event, Event::InputsLate { .. } | Event::Disconnected { reason: Reason::TooSlow })
}

fn assert_blameless(sim: &SimMatch<Round>, what: &str) {
    for id in 0..2 {
        let blame = sim.machine(id).events.iter().find(|(_, event)| accuses_the_peer(event));
        assert_eq!(blame, None, "{what}, machine {id}: {:?}", sim.machine(id).stats());
    }
}

/// The worst links are the last ones, and are tried first.
#[test]
fn bad_links_are_no_cheats() {
    let links = LinkConfig::presets();
    for (name, link) in links.into_iter().rev().take(repeats(links.len())) {
        let mut sim = SimMatch::new(Setup::new(11, link), ENDLESS);
        sim.run_for(Duration::from_secs(70));
        assert_blameless(&sim, name);
    }
}

#[test]
fn delays_slow_machines_and_uneven_latency_are_no_cheats() {
    for (delays, ways, skew) in
        [([0, 8], [30, 30], 0), ([8, 8], [30, 30], 0), ([0, 0], [10, 90], 0), ([2, 0], [40, 40], -50_000)]
    {
        let mut setup = Setup::new(5, LinkConfig::new(ms(30)));
        setup.clocks[1] = Clock::new(Duration::ZERO, skew);
        for side in 0..2 {
            setup.configs[side].rollback.delay_frames = Some(delays[side]);
            setup.links[side] = LinkConfig::new(ms(ways[side]));
        }
        let mut sim = SimMatch::new(setup, ENDLESS);
        sim.run_for(Duration::from_secs(30));
        assert_blameless(&sim, &format!("delays {delays:?}, ways {ways:?}, skew {skew}"));
    }
}

#[test]
fn growing_latency_is_no_cheat() {
    for one_way in [110, 150] {
        let mut sim = SimMatch::new(Setup::new(7, LinkConfig::new(ms(10))), ENDLESS);
        sim.run_for(Duration::from_secs(8));
        sim.world.network_mut().set_links(0, 1, LinkConfig::new(ms(one_way)));
        sim.run_for(Duration::from_secs(12));
        assert_blameless(&sim, &format!("from 10 ms to {one_way} ms"));
    }
}

/// A peer whose packets are lost for `silent` of every `cycle` ms. The reason for which the match is over within `limit`.
fn switched_off(silent: u64, cycle: u64, limit: Duration) -> Option<Reason> {
    let mut sim = SimMatch::new(Setup::new(3, LinkConfig::new(ms(30))), ENDLESS);
    assert!(sim.run_until_frame(60));
    let begun = sim.world.now();
    for from in (0..limit.as_millis() as u64).step_by(cycle as usize) {
        sim.world.network_mut().cut(1, 0, begun + ms(from), begun + ms(from + silent));
    }
    sim.run_until(begun + limit, |sim| sim.machine(0).ended());
    match sim.ending(0) {
        Some(Event::Disconnected { reason }) => Some(*reason),
        _ => None,
    }
}

#[test]
fn lag_switch_ends_the_match_within_a_minute() {
    assert_eq!(switched_off(600, 2_000, Duration::from_secs(60)), Some(Reason::TooSlow));
}

#[test]
fn deliberate_outages_end_the_match_in_the_second_one() {
    assert_eq!(switched_off(25_000, 60_000, Duration::from_secs(75)), Some(Reason::TimedOut));
    assert_eq!(switched_off(25_000, 240_000, Duration::from_secs(300)), None, "once in four minutes");
}

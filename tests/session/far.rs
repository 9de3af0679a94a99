//! Far matches: round trips up to 600 ms, with more unacknowledged inputs than one packet carries.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::forge::{Knows, inputs};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{Clock, Machine, World};
use rebout::lab::{Setup, SimMatch, SimPeer, addresses};
use rebout::wire::rbn1::InputPacket;
use rebout::{Event, Protocol, Reason, Refusal, Refusals, Stats};
use std::net::SocketAddr;
use support::repeats;

fn setup(rtt_ms: u64, loss_percent: u32, window_frames: u8, delay_frames: u8) -> Setup {
    let link = LinkConfig { loss: Chance::percent(loss_percent), ..LinkConfig::new(ms(rtt_ms / 2)) };
    Setup::new(rtt_ms, link).configure(|config| {
        (config.rollback.window_frames, config.rollback.delay_frames) = (window_frames, Some(delay_frames));
    })
}

/// A match at this round trip that has run for 120 frames.
fn playing(rtt_ms: u64, loss_percent: u32, window_frames: u8, delay_frames: u8) -> SimMatch<Round> {
    let setup = setup(rtt_ms, loss_percent, window_frames, delay_frames);
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

fn both(sim: &SimMatch<Round>) -> [Stats; 2] {
    [0, 1].map(|id| sim.machine(id).stats())
}

/// Plays this many frames, and answers the stalls and the frame rates of both machines.
fn play(sim: &mut SimMatch<Round>, frames: u32) -> ([u64; 2], [f64; 2]) {
    let seconds = f64::from(frames) / 60.0;
    let before = both(sim);
    sim.run_for(Duration::from_secs_f64(seconds));
    let after = both(sim);
    (
        [0, 1].map(|id| after[id].stalled_frames - before[id].stalled_frames),
        [0, 1].map(|id| (after[id].frames - before[id].frames) as f64 / seconds),
    )
}

fn assert_sound(sim: &SimMatch<Round>) {
    assert_eq!(sim.flaw(true), None);
    for id in 0..2 {
        assert!(!sim.told(id).any(|event| matches!(event, Event::Desync(_))), "{sim:?}");
    }
}

#[test]
fn match_at_350_ms_keeps_its_rate() {
    let mut sim = playing(350, 0, 8, 3);
    let (stalls, rates) = play(&mut sim, 6_000);
    assert!(stalls.iter().all(|stalls| *stalls <= 4), "{stalls:?} stalls");
    assert!(rates.iter().all(|rate| (59.9..=60.1).contains(rate)), "{rates:?} Hz");
    assert_sound(&sim);
}

#[test]
fn match_at_600_ms_and_loss_never_stands_still() {
    let mut sim = playing(600, 5, 22, 8);
    let frames = repeats(20_000_u32);
    for second in 0..frames / 60 {
        let (stalls, rates) = play(&mut sim, 60);
        assert!(rates.iter().all(|rate| *rate >= 45.0), "second {second}: {rates:?} Hz, {stalls:?} stalls");
    }
    assert_sound(&sim);
}

#[test]
fn sealed_match_at_600_ms_never_stands_still() {
    let mut sim = SimMatch::new(setup(600, 5, 22, 8), ENDLESS);
    sim.seal(6);
    assert!(sim.run_until_frame(120), "the match never began");
    for second in 0..20 {
        let (stalls, rates) = play(&mut sim, 60);
        assert!(rates.iter().all(|rate| *rate >= 45.0), "second {second}: {rates:?} Hz, {stalls:?} stalls");
    }
    assert_sound(&sim);
}

/// Loses the packets of one machine alone for this long, and answers for how long the other one stalled.
fn stalls_after_a_cut(cut_ms: u64) -> (SimMatch<Round>, u64) {
    let mut sim = playing(600, 0, 22, 8);
    let now = sim.world.now();
    sim.world.network_mut().cut(0, 1, now, now + ms(cut_ms));
    let before = both(&sim);
    sim.run_for(Duration::from_secs(6));
    let stalled = both(&sim)[1].stalled_frames - before[1].stalled_frames;
    (sim, stalled)
}

#[test]
fn gap_longer_than_a_packet_is_filled() {
    for cut_ms in [400, 700, 850, 1_000, 1_500] {
        let (mut sim, stalled) = stalls_after_a_cut(cut_ms);
        let cut = cut_ms * 60 / 1_000;
        assert!(stalled <= cut, "{stalled} stalls by a gap of {cut} frames");
        let (stalls, rates) = play(&mut sim, 600);
        assert!(stalls.iter().all(|stalls| *stalls == 0), "{cut_ms} ms: {stalls:?} stalls, {rates:?} Hz");
        assert_sound(&sim);
    }
}

#[test]
fn forged_ack_does_not_end_a_far_match() {
    let mut sim = playing(600, 0, 22, 8);
    sim.eavesdrop();
    sim.run_for(Duration::from_secs(1));
    let knows = Knows::of(&sim, 0);
    // The newest input again, from a peer that claims to have everything.
    sim.inject(0, addresses()[1], &inputs(knows.known - 1, knows.sent - 1, &[knows.newest]));
    let (stalls, _) = play(&mut sim, 300);
    assert!(stalls.iter().all(|stalls| *stalls < 10), "{stalls:?} stalls");
    assert_eq!(sim.machine(0).refused().total(), 0, "the true acks are lower, and are taken");
    assert_sound(&sim);
}

/// A lie about the frames of an input packet: its bytes, the peer's newest frame, and the first ack since the lie began.
type Lie = fn(&mut [u8], u32, u32);

const START: usize = 6;
const COUNT: usize = 10;
const ACK: usize = 11;

fn word(packet: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(packet[at..at + 4].try_into().expect("four bytes"))
}

fn set_word(packet: &mut [u8], at: usize, value: u32) {
    packet[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// A machine that changes its own input packets.
struct Liar {
    inner: SimPeer<Round>,
    lie: Option<Lie>,
    newest: u32,
    first_ack: Option<u32>,
}

impl Protocol for Liar {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if datagram.starts_with(&InputPacket::MAGIC) {
            self.newest = self.newest.max(word(datagram, START) + u32::from(datagram[COUNT]) - 1);
        }
        self.inner.handle_datagram(now, from, datagram);
    }
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, len) = self.inner.poll_transmit(now, buf)?;
        if let Some(lie) = self.lie
            && buf.starts_with(&InputPacket::MAGIC)
        {
            let first_ack = *self.first_ack.get_or_insert(word(buf, ACK));
            lie(&mut buf[..len], self.newest, first_ack);
        }
        Some((to, len))
    }
    fn poll_timeout(&self) -> Option<Duration> {
        self.inner.poll_timeout()
    }
    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }
    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}

impl Machine for Liar {
    fn next_frame_at(&self) -> Option<Duration> {
        self.inner.next_frame_at()
    }
    fn frame(&mut self, now: Duration) {
        self.inner.frame(now);
    }
}

/// A far match whose second machine lies from the fifth second on; answers the last event of the first, and what it refused.
fn lied_to(lie: Lie) -> (Option<Event>, Refusals) {
    let setup = setup(600, 5, 22, 8);
    let [victim, liar] = addresses();
    let [host, join] = setup.configs;
    let mut world = World::new(setup.seed);
    let peers = [SimPeer::new(host, None, ENDLESS), SimPeer::new(join, Some(victim), ENDLESS)];
    for (addr, inner) in [victim, liar].into_iter().zip(peers) {
        world.add(
            addr,
            Clock::default(),
            Duration::ZERO,
            Liar { inner, lie: None, newest: 0, first_ack: None },
        );
    }
    world.network_mut().set_link(0, 1, setup.links[0]);
    world.network_mut().set_link(1, 0, setup.links[1]);
    world.run_until(Duration::from_secs(5));
    world.machine_mut(1).lie = Some(lie);
    for second in 6..40 {
        let before = world.machine(0).inner.stats();
        world.run_until(Duration::from_secs(second));
        let after = world.machine(0).inner.stats();
        let packets = after.packets_out - before.packets_out;
        // Two a frame at this loss, and a few control packets.
        assert!(packets <= 130, "second {second}: {packets} packets");
        let bytes = after.bytes_out - before.bytes_out;
        // Of 32 inputs without axes, and now and then a time and a loss block.
        let longest = InputPacket::MAX_PLAIN_LEN as u64 + 10;
        assert!(bytes <= packets * longest, "second {second}: {bytes} bytes");
    }
    let victim = &world.machine(0).inner;
    (victim.events.last().map(|(_, event)| event.clone()), victim.refused())
}

#[test]
fn withheld_acks_and_gaps_end_a_match_and_cost_no_packets() {
    let lies: [(Refusal, Lie); 2] = [
        (Refusal::InputBeyondWindow, |packet, _, first_ack| set_word(packet, ACK, first_ack)),
        (Refusal::InputGap, |packet, _, _| set_word(packet, START, word(packet, START) + 70)),
    ];
    for (refusal, lie) in lies {
        let (last, refused) = lied_to(lie);
        let Some(Event::Disconnected { reason: Reason::TimedOut | Reason::NoProgress }) = last else {
            panic!("{refusal:?}: {last:?}")
        };
        assert!(refused.of(refusal) > 20, "{refusal:?}: {refused:?}");
    }
    // A machine that acknowledges what it does not have misses it itself.
    lied_to(|packet, newest, _| set_word(packet, ACK, newest + 3));
}

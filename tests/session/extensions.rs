//! Extensions and axes: every combination meets and plays, nothing is sent that was not agreed on, and blocks that break a
//! rule change nothing.

use crate::pair::{Pair, addr, config, ms, pair_of, pair_with, plays};
use crate::round::ENDLESS;
use core::time::Duration;
use rebout::lab::forge::Knows;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use rebout::lab::wire::message::{Extensions, RefuseField};
use rebout::lab::{HOST, JOINER, Play, Setup, SimMatch, addresses};
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{Flags, InputHeader, InputPacket, LossCounts, TimeSync};
use rebout::{Config, Input, Lobby, LobbyError, Protocol, Refusal};

/// The number of input packets of both machines in the two matches below, and their digest.
const CLEAN: (u32, u64) = (2370, 0x691d8e19d664ecd2);
const LOSSY: (u32, u64) = (4442, 0xb6ff38a13d944791);

const OFFERS: [Extensions; 4] =
    [Extensions::NONE, Extensions::TIME_BLOCK, Extensions::LOSS_BLOCK, Extensions::ALL];

fn configs(extensions: [Extensions; 2], axes: u8) -> [Config; 2] {
    [HOST, JOINER].map(|side| {
        config(side).with(|config| {
            config.lobby.extensions = extensions[side];
            config.game.axes = axes;
        })
    })
}

/// The flags of input packets that both machines may send.
fn agreed(extensions: [Extensions; 2], axes: u8) -> Flags {
    let shared = extensions[0].shared_with(extensions[1]);
    let mut flags = Flags::VERSION_1;
    for (is_agreed, flag) in [
        (shared.has(Extensions::TIME_BLOCK), Flags::TIME),
        (shared.has(Extensions::LOSS_BLOCK), Flags::LOSS),
        (axes > 0, Flags::AXES),
    ] {
        if is_agreed {
            flags = flags.and(flag);
        }
    }
    flags
}

#[test]
fn every_combination_meets_and_plays_with_what_both_offer() {
    for host in OFFERS {
        for joiner in OFFERS {
            for axes in [0, 3, 6] {
                let mut pair = pair_with(configs([host, joiner], axes));
                plays(&mut pair, 150);
                let flags = agreed([host, joiner], axes);
                let mut seen = 0;
                for side in [HOST, JOINER] {
                    for said in pair.said_by(side, "RBN1") {
                        let packet =
                            InputPacket::decode(said, flags).expect("nothing that was not agreed on");
                        assert_eq!(packet.axes(), axes);
                        let blocks = [packet.time().is_some(), packet.loss().is_some()];
                        seen |= u32::from(blocks[0]) | u32::from(blocks[1]) << 1;
                    }
                    let stats = pair.machine(side).stats();
                    assert!(stats.round_trip.expect("measured").abs_diff(ms(60)) < ms(1));
                    assert_eq!((stats.loss_in, stats.loss_out), (Some(0.0), Some(0.0)));
                    assert_eq!(stats.refused.total(), 0, "{:?}", stats.refused);
                    let reports = pair.said_by(side, "REPORT").len();
                    assert_eq!(reports == 0, flags.has(Flags::LOSS), "{host:?} and {joiner:?}: {reports}");
                }
                assert_eq!(seen, host.shared_with(joiner).0, "each block that was agreed on, and no other");
            }
        }
    }
}

/// The FNV-1a hash of all input packets of both machines, one after the other, and their number.
fn input_packets(link: LinkConfig, extensions: [Extensions; 2]) -> (u32, u64) {
    let mut setup = Setup::new(7, link);
    for (config, extensions) in setup.configs.iter_mut().zip(extensions) {
        config.lobby.extensions = extensions;
    }
    let mut sim = SimMatch::new(setup, ENDLESS);
    sim.world.network_mut().record(Recording::Full);
    sim.run_for(Duration::from_secs(20));
    let sent = sim.world.network().transcript().entries().iter();
    let packets = sent.filter(|entry| entry.kind == EntryKind::Sent && entry.datagram.starts_with(b"RBN1"));
    packets.fold((0, 0xCBF2_9CE4_8422_2325), |(count, hash), entry| {
        let hash = entry
            .datagram
            .iter()
            .fold(hash, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3));
        (count + 1, hash)
    })
}

/// The digests were taken with version 0.1, which knew no extensions.
#[test]
fn packets_to_a_peer_without_extensions_are_version_1() {
    let clean = LinkConfig::new(ms(40));
    let lossy = LinkConfig { loss: Chance::percent(20), jitter: ms(30), ..LinkConfig::new(ms(60)) };
    for extensions in [[Extensions::NONE; 2], [Extensions::ALL, Extensions::NONE]] {
        assert_eq!(input_packets(clean, extensions), CLEAN);
        assert_eq!(input_packets(lossy, extensions), LOSSY);
    }
    assert_ne!(input_packets(clean, [Extensions::ALL; 2]), CLEAN, "the digest sees a difference");
}

#[test]
fn another_number_of_axes_is_refused_by_name() {
    let [host, joiner] = configs([Extensions::ALL; 2], 2);
    let lobbies = [
        Lobby::host(host).expect("a good config"),
        Lobby::join(joiner.with(|config| config.game.axes = 4), addr(HOST)).expect("a good config"),
    ];
    let mut pair = pair_of(lobbies);
    pair.run_for(ms(500));
    let error = pair.lobby_mut(JOINER).agreed().unwrap_err();
    assert_eq!(error, LobbyError::Incompatible { field: RefuseField::Axes, ours: 4, theirs: 2 });
    assert_eq!(error.to_string(), "the number of axes differs: 4 here, 2 at the host");
}

/// The share of matches in which the RTT after two seconds is within `limit` of the truth.
fn measured_within(jitter: Duration, limit: Duration, seeds: u64) -> f64 {
    let link = LinkConfig { jitter, ..LinkConfig::new(ms(40)) };
    let truth = ms(80) + jitter;
    let mut good = 0;
    for seed in 1..=seeds {
        let mut sim = SimMatch::new(Setup::new(seed, link), ENDLESS);
        let begun =
            sim.run_until(Duration::from_secs(5), |sim| (0..2).all(|id| sim.machine(id).session().is_some()));
        assert!(begun);
        sim.run_for(Duration::from_secs(2));
        let rtts = [0, 1].map(|id| sim.machine(id).stats().round_trip.expect("measured"));
        good += rtts.iter().filter(|rtt| rtt.abs_diff(truth) <= limit).count();
    }
    good as f64 / (2 * seeds) as f64
}

#[test]
fn round_trip_is_right_after_two_seconds() {
    assert!(measured_within(Duration::ZERO, ms(1), 40) >= 1.0, "without jitter: within 1 ms in every match");
    let share = measured_within(ms(20), ms(5), 200);
    println!("with jitter of 20 ms each way: within a quarter of it in {:.1} %", share * 100.0);
    assert!(share > 0.9, "{share}");
}

/// A match of machines that agreed on these flags, from the view of one of them.
struct Victim {
    pair: Pair,
    id: usize,
    knows: Knows,
}

impl Victim {
    fn playing(extensions: Extensions, axes: u8, id: usize) -> Self {
        let mut pair = pair_with(configs([extensions; 2], axes));
        plays(&mut pair, 100);
        let knows = Knows::of(&pair, id);
        Self { pair, id, knows }
    }

    /// The newest input packet of the peer again, with other blocks: it breaks no rule of the match.
    fn header(&self, axes: u8) -> InputHeader {
        let Knows { known, sent, .. } = self.knows;
        InputHeader {
            start_frame: WireFrame(known - 1),
            ack_frame: WireFrame(sent - 1),
            axes,
            ..InputHeader::default()
        }
    }

    fn packet(&self, header: &InputHeader) -> Vec<u8> {
        let mut buf = [0; InputPacket::MAX_LEN];
        let len = InputPacket::encode(header, [self.knows.newest], &mut buf).expect("a packet");
        buf[..len].to_vec()
    }

    /// Why the datagram is refused by a copy of the machine, as it is now; `None` if it is taken.
    fn refusal(&self, datagram: &[u8]) -> Option<Refusal> {
        let mut session = self.pair.machine(self.id).session().expect("a match").clone();
        let before = session.stats();
        session.handle_datagram(self.pair.local_now(self.id), addresses()[1 - self.id], datagram);
        let after = session.stats();
        let changed = (after.round_trip, after.loss_in, after.loss_out, after.predicted_frames)
            != (before.round_trip, before.loss_in, before.loss_out, before.predicted_frames);
        let risen = |refusal: &&Refusal| after.refused.of(**refusal) > before.refused.of(**refusal);
        let refusal = Refusal::ALL.iter().find(risen).copied();
        assert!(refusal.is_none() || !changed, "refused, and changed something: {datagram:02x?}");
        refusal
    }
}

const TIME: TimeSync = TimeSync { mark: 7, echo: 0x1234, held: 3 };
const LOSS: LossCounts = LossCounts { sent: 5, received: 9 };

#[test]
fn only_blocks_that_were_agreed_on_are_taken() {
    for extensions in OFFERS {
        for axes in [0, 2] {
            for id in [HOST, JOINER] {
                let victim = Victim::playing(extensions, axes, id);
                let flags = agreed([extensions; 2], axes);
                let header = victim.header(axes);
                for (flag, header) in [
                    (Flags::TIME, InputHeader { time: Some(TIME), ..header }),
                    (Flags::LOSS, InputHeader { loss: Some(LOSS), ..header }),
                ] {
                    let expected = (!flags.has(flag)).then_some(Refusal::MalformedInput);
                    assert_eq!(victim.refusal(&victim.packet(&header)), expected, "{extensions:?}, {flag:?}");
                }
                for other in (0..=6).filter(|other| *other != axes) {
                    let other = victim.packet(&InputHeader { axes: other, ..header });
                    let expected = if axes == 0 { Refusal::MalformedInput } else { Refusal::InputAxes };
                    assert_eq!(victim.refusal(&other), Some(expected));
                }
                assert_eq!(victim.refusal(&victim.packet(&header)), None);
            }
        }
    }
}

#[test]
fn bad_lengths_counts_and_flags_with_blocks_are_refused() {
    for axes in [0, 6] {
        let victim = Victim::playing(Extensions::ALL, axes, JOINER);
        let whole = victim.packet(&InputHeader { time: Some(TIME), loss: Some(LOSS), ..victim.header(axes) });
        assert_eq!(victim.refusal(&whole), None);
        for len in 4..=300 {
            let mut bytes = whole.clone();
            bytes.resize(len, 0);
            if len != whole.len() {
                assert_eq!(victim.refusal(&bytes), Some(Refusal::MalformedInput), "{len} bytes");
            }
        }
        for (at, values) in [(5, 0..=255_u8), (10, 0..=255)] {
            for value in values {
                let mut bytes = whole.clone();
                if core::mem::replace(&mut bytes[at], value) != value {
                    assert_eq!(victim.refusal(&bytes), Some(Refusal::MalformedInput), "byte {at} is {value}");
                }
            }
        }
        let mut unmarked = whole.clone();
        unmarked[15..17].fill(0);
        assert_eq!(victim.refusal(&unmarked), Some(Refusal::MalformedInput), "mark 0");
        if axes > 0 {
            for value in (0..=255).filter(|value| *value != axes) {
                let mut bytes = whole.clone();
                bytes[25] = value;
                assert_eq!(victim.refusal(&bytes), Some(Refusal::MalformedInput), "{value} axes");
            }
        }
    }
}

/// An echo that repeats no mark of ours, any time held, any counts: nothing that a block says moves the round trip.
#[test]
fn no_value_of_a_block_that_is_taken_makes_up_a_round_trip() {
    let victim = Victim::playing(Extensions::ALL, 0, HOST);
    let session = victim.pair.machine(HOST).session().expect("a match");
    let (before, now) = (session.stats().round_trip, victim.pair.local_now(HOST));
    let mut sent = std::collections::BTreeSet::new();
    for said in victim.pair.said_by(HOST, "RBN1") {
        sent.extend(InputPacket::decode(said, Flags::ALL).expect("a packet").time().map(|time| time.mark));
    }
    assert!(sent.len() > 2, "{sent:?}");
    for echo in (0..=u16::MAX).step_by(7).filter(|echo| !sent.contains(echo)) {
        for held in [0, 1, 1_000, u16::MAX] {
            let mut session = session.clone();
            let time = Some(TimeSync { mark: 1, echo, held });
            let datagram = victim.packet(&InputHeader { time, ..victim.header(0) });
            session.handle_datagram(now, addresses()[JOINER], &datagram);
            assert_eq!(session.stats().round_trip, before, "echo {echo}, held {held}");
        }
    }
}

/// A player whose hand trembles on a stick: the share of frames in which a machine rolls back, by how it is quantised.
fn rollbacks(quantise: fn(i16, i16) -> [i8; 2]) -> f64 {
    let mut setup = Setup::new(1, LinkConfig::new(ms(40)));
    setup.configs.iter_mut().for_each(|config| config.game.axes = games::tilt::AXES);
    let play = Play { build: games::tilt::Tilt::new, script: |_, _, _| Input::NEUTRAL };
    let mut sim = SimMatch::new(setup, play);
    for id in 0..2 {
        sim.world.machine_mut(id).input_source = Some(Box::new(move |_, session, _| {
            // A stick that goes round in two seconds, rests for one, and trembles by one in a hundred.
            let frame = session.current().0 + id as u32 * 40;
            let tremble = (frame.wrapping_mul(0x9E37_79B9) >> 22) as i16 - 512;
            let turn = (frame % 180) as f32 / 120.0 * core::f32::consts::TAU;
            let (x, y) = if frame % 180 < 120 { (turn.cos(), turn.sin()) } else { (0.0, 0.0) };
            let raw = |part: f32| ((part * 30_000.0) as i16).saturating_add(tremble);
            let [x, y] = quantise(raw(x), raw(y));
            Input::NEUTRAL.with_axis(0, x).with_axis(1, y)
        }));
    }
    assert!(sim.run_until_frame(3_600));
    let stats = sim.machine(0).stats();
    stats.rollback.rollbacks as f64 / stats.frames as f64
}

/// The figures on the page about embedding.
#[test]
fn quantised_stick_rolls_back_less_than_a_raw_one() {
    let raw = rollbacks(|x, y| [(x >> 8) as i8, (y >> 8) as i8]);
    let steps = [8, 4, 2].map(|steps| match steps {
        8 => rollbacks(|x, y| Input::stick(x, y, 8)),
        4 => rollbacks(|x, y| Input::stick(x, y, 4)),
        _ => rollbacks(|x, y| Input::stick(x, y, 2)),
    });
    println!("rollbacks a frame: raw {raw:.2}, 8, 4 and 2 steps {steps:.2?}");
    assert!(raw > 0.9, "{raw}");
    assert!(steps[0] < 0.45 && steps[1] < 0.3 && steps[2] < 0.2, "{steps:?}");
}

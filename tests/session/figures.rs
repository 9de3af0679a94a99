//! Statistics of a match, compared with those of the simulated network, and the texts of reasons and verdicts.

use crate::pair::ms;
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use rebout::lab::{Setup, SimMatch, addresses, forge};
use rebout::wire::rbn1::{Flags, InputHeader, InputPacket};
use rebout::{Advanced, Frame, Player, Reason, SendError, Stats, Verdict};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn playing(seed: u64, link: LinkConfig) -> SimMatch<Round> {
    let mut sim = SimMatch::new(Setup::new(seed, link), ENDLESS);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

/// The figures of a machine, and what the network has counted: datagrams and bytes, out and in.
fn figures(sim: &SimMatch<Round>, id: usize) -> (Stats, [u64; 4]) {
    let (sent, received) = sim.world.traffic(id);
    let counted = [sent.datagrams, sent.payload_bytes, received.datagrams, received.payload_bytes];
    (sim.machine(id).stats(), counted)
}

#[test]
fn every_datagram_and_byte_is_counted() {
    let lossy = LinkConfig { loss: Chance::percent(10), jitter: ms(5), ..LinkConfig::new(ms(40)) };
    let mut sim = playing(1, lossy);
    let before = [0, 1].map(|id| figures(&sim, id));
    sim.run_for(secs(10));
    for (id, (stats_before, network_before)) in before.iter().enumerate() {
        let (stats, network) = figures(&sim, id);
        let said = |stats: &Stats| [stats.packets_out, stats.bytes_out, stats.packets_in, stats.bytes_in];
        for (at, what) in ["packets out", "bytes out", "packets in", "bytes in"].iter().enumerate() {
            let told = said(&stats)[at] - said(stats_before)[at];
            assert_eq!(told, network[at] - network_before[at], "{what} at machine {id}");
        }
    }
}

#[test]
fn frames_and_stalls_are_counted_apart() {
    let mut sim = playing(2, LinkConfig::new(ms(30)));
    let seen = Rc::new(Cell::new([0_u64; 2]));
    let writer = Rc::clone(&seen);
    sim.world.machine_mut(0).watch = Some(Box::new(move |_, advanced, session, _| {
        let [mut stepped, mut stalled] = writer.get();
        stepped += u64::from(advanced == Advanced::Stepped);
        stalled += u64::from(advanced == Advanced::Stalled);
        writer.set([stepped, stalled]);
        assert_eq!(session.is_stalled(), advanced == Advanced::Stalled);
        let stats = session.stats();
        assert_eq!(stats.frames, u64::from(session.current().0));
        assert_eq!(stats.predicted_frames, session.current().since(session.settled()));
    }));
    let before = sim.machine(0).stats();
    let now = sim.world.now();
    sim.world.network_mut().cut_both(0, 1, now, now + ms(700));
    sim.run_for(secs(3));
    let after = sim.machine(0).stats();
    assert_eq!([after.frames - before.frames, after.stalled_frames - before.stalled_frames], seen.get());
    assert!(seen.get()[1] > 20, "there was no stall: {:?}", seen.get());
}

#[test]
fn round_trip_and_its_jitter_are_those_of_the_link() {
    for (jitter, range) in [(ms(0), ms(0)..ms(1)), (ms(30), ms(2)..ms(20))] {
        let mut sim = playing(3, LinkConfig { jitter, ..LinkConfig::new(ms(40)) });
        sim.run_for(secs(60));
        for id in 0..2 {
            let stats = sim.machine(id).stats();
            let mean = ms(80) + jitter;
            let rtt = stats.round_trip.expect("measured");
            assert!(rtt.abs_diff(mean) <= ms(1) + jitter / 2, "{rtt:?} instead of {mean:?}");
            assert!(range.contains(&stats.jitter), "{:?} on a link with {jitter:?}", stats.jitter);
        }
    }
}

#[test]
fn second_copy_leaves_half_a_frame_after_its_packet() {
    let lossy = LinkConfig { loss: Chance::percent(20), ..LinkConfig::new(ms(40)) };
    let mut sim = playing(4, lossy);
    sim.run_for(secs(5));
    let copies = sim.machine(0).stats().copies_out;
    sim.world.network_mut().record(Recording::Full);
    sim.run_for(secs(5));
    let copies = sim.machine(0).stats().copies_out - copies;
    assert!(copies > 250, "only {copies} copies: this test shows nothing");
    let sent: Vec<_> = (sim.world.network().transcript().entries().iter())
        .filter(|entry| entry.kind == EntryKind::Sent && entry.from == addresses()[0])
        .filter(|entry| forge::label(&entry.datagram) == "RBN1")
        .collect();
    // The copy has no time block.
    let plain = |datagram: &[u8]| {
        let packet = InputPacket::decode(datagram, Flags::ALL).expect("an input packet");
        (InputHeader { time: None, ..packet.header() }, packet.inputs().collect::<Vec<_>>())
    };
    let pairs = sent.windows(2).filter(|pair| plain(&pair[0].datagram) == plain(&pair[1].datagram));
    let timed = sent
        .iter()
        .filter(|entry| InputPacket::decode(&entry.datagram, Flags::ALL).unwrap().time().is_some());
    assert!((9..=11).contains(&timed.count()), "twice a second, and in no copy");
    let gaps: Vec<Duration> = pairs.map(|pair| pair[1].at - pair[0].at).collect();
    assert!(gaps.len() as u64 + 1 >= copies, "{} of {copies}", gaps.len());
    let half = Duration::from_nanos(8_333_333);
    for gap in gaps {
        assert!(gap.abs_diff(half) < ms(1), "{gap:?} after its packet");
    }
}

#[test]
fn little_slack_of_the_window_brings_second_copies() {
    let frame = Duration::from_secs(1) / 60;
    // One way in frames, loss in percent, and copies a second of each machine.
    for (latency, loss, copies) in [(6, 2, 50..=60), (6, 0, 0..=0), (5, 1, 0..=0), (4, 2, 0..=9)] {
        let link = LinkConfig { loss: Chance::percent(loss), ..LinkConfig::new(frame * latency) };
        let setup = Setup::new(5, link).configure(|config| {
            (config.rollback.window_frames, config.rollback.delay_frames) = (8, Some(0));
        });
        let mut sim = SimMatch::new(setup, ENDLESS);
        // The first seconds show what is lost.
        sim.run_for(secs(10));
        let before = [0, 1].map(|id| sim.machine(id).stats());
        sim.run_for(secs(300));
        for (id, before) in before.iter().enumerate() {
            let stats = sim.machine(id).stats();
            let each = (stats.copies_out - before.copies_out) / 300;
            assert!(copies.contains(&each), "{latency} frames, {loss} %: {each} copies a second");
            let stalled = stats.stalled_frames - before.stalled_frames;
            assert!(stalled <= 1, "{latency} frames, {loss} %: {stalled} stalled");
        }
    }
}

#[test]
fn every_reason_verdict_and_error_has_words_of_its_own() {
    use Reason::{
        Desync, FrameLimit, GaveUp, InputsHeldBack, Left, LeftHere, NoProgress, NotesWithheld,
        ProtocolViolation, Restarted, TimedOut, TooSlow, VoidChecksums,
    };
    let reasons = [
        Left,
        LeftHere,
        TimedOut,
        NoProgress,
        TooSlow,
        GaveUp,
        Restarted,
        Desync,
        ProtocolViolation,
        FrameLimit,
        VoidChecksums { of: Player::One },
        VoidChecksums { of: Player::Two },
        NotesWithheld,
        InputsHeldBack,
    ];
    let (frame, checksum) = (Frame(601), 0x0BAD_C0DE);
    let verdicts = [
        Verdict::Agreed { frame, checksum, from_their_log: false },
        Verdict::Differs { frame, ours: checksum, theirs: 1 },
        Verdict::Unconfirmed { frame, checksum },
    ];
    let errors = [SendError::TooLong { len: 2_000 }, SendError::QueueFull, SendError::Over];
    let texts: BTreeSet<String> = (reasons.iter().map(ToString::to_string))
        .chain(verdicts.iter().map(ToString::to_string))
        .chain(errors.iter().map(ToString::to_string))
        .collect();
    assert_eq!(texts.len(), reasons.len() + verdicts.len() + errors.len());
    assert!(texts.iter().all(|text| text.len() > 5), "{texts:?}");
    for verdict in verdicts.map(|verdict| verdict.to_string()) {
        assert!(verdict.contains("601") && verdict.contains("0BADC0DE"), "{verdict}");
    }
    assert!(errors[0].to_string().contains("2000"));
}

//! Bad links: loss, bursts, reordering, duplicates, damage, forgeries and partitions.

use crate::round::{ENDLESS, Round};
use core::time::Duration;
use games::playground::LEFT;
use rebout::lab::link::{Bandwidth, Burst, Chance, LinkConfig};
use rebout::lab::sim::{EntryKind, Recording};
use rebout::lab::{Flaw, Play, Setup, SimMatch, addresses};
use rebout::wire::WireFrame;
use rebout::wire::rbn1::{self, Flags, InputHeader, InputPacket};
use rebout::{Buttons, Event, Frame, Input, Reason};
use support::repeats;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn events(sim: &SimMatch<Round>, id: usize) -> Vec<Event> {
    sim.machine(id).events.iter().map(|(_, event)| event.clone()).collect()
}

/// Both machines play, and have done so for a while.
fn playing(setup: Setup) -> SimMatch<Round> {
    let mut sim = SimMatch::new(setup, ENDLESS);
    assert!(sim.run_until_frame(120), "the match never began");
    sim
}

#[test]
fn no_impairment_of_a_link_makes_the_machines_differ() {
    let loss = |percent| LinkConfig { loss: Chance::percent(percent), ..LinkConfig::clean() };
    let burst = Burst { mean_gap: ms(16_667), mean_length: secs(2), loss: Chance::ALWAYS };
    let everything =
        LinkConfig { burst: Some(burst), truncate: Chance::percent(10), ..LinkConfig::hostile() };
    let links = [
        ("loss 10 %", loss(10)),
        ("loss 50 %", loss(50)),
        ("duplicates", LinkConfig { duplicate: Chance::percent(20), ..LinkConfig::clean() }),
        // 200 ms, give or take 200 ms.
        ("mixed up", LinkConfig { jitter: ms(400), ..LinkConfig::new(Duration::ZERO) }),
        ("bursts", LinkConfig { burst: Some(burst), ..LinkConfig::clean() }),
        ("truncated", LinkConfig { truncate: Chance::percent(20), ..LinkConfig::clean() }),
        ("everything", everything),
    ];
    for (name, link) in links.into_iter().chain(LinkConfig::presets()) {
        for seed in 1..=repeats(4) {
            // A match that waits out the longest bursts.
            let setup = Setup::new(seed, link).configure(|config| {
                (config.timeouts.lost_after, config.timeouts.no_progress_after) = (secs(120), secs(120));
                config.timeouts.join_timeout = secs(300);
            });
            let mut sim = SimMatch::new(setup, ENDLESS);
            sim.run_until(secs(300), |sim| sim.checked() > Frame::ZERO);
            sim.run_for(secs(60));
            assert_eq!(sim.flaw(link.latency > ms(20)), None, "{name}, seed {seed}");
            assert!(sim.checked() > Frame(200), "{name}, seed {seed}: only {:?}", sim.checked());
            let compared = sim.machine(0).stats().checksums_compared;
            assert!(compared > 4, "{name}, seed {seed}: {compared} checksums compared");
        }
    }
}

#[test]
fn match_is_alive_where_three_in_ten_are_lost() {
    for seed in 1..=3 {
        let link = LinkConfig { loss: Chance::percent(30), ..LinkConfig::new(ms(50)) };
        let mut sim = playing(Setup::new(seed, link));
        let before = sim.checked();
        sim.run_for(secs(60));
        assert_eq!(sim.flaw(true), None);
        let frames = sim.checked().since(before);
        assert!(frames > 3_500, "{frames} frames in a minute");
        for id in 0..2 {
            assert_eq!(events(&sim, id), [], "nothing to worry the player with");
            let (out, back) = (sim.machine(id).stats().loss_out, sim.machine(id).stats().loss_in);
            for loss in [out, back] {
                assert!((loss.expect("reported") - 0.3).abs() < 0.15, "measured {loss:?}");
            }
        }
    }
}

#[test]
fn bits_that_flip_past_the_checksum_of_udp_are_reported() {
    let (mut differed, mut reported) = (0, 0);
    for seed in 1..=40 {
        let mut sim = SimMatch::new(Setup::new(seed, LinkConfig::corrupting()), ENDLESS);
        sim.run_for(secs(10));
        // The last damage has time to be found out.
        sim.world.network_mut().set_links(0, 1, LinkConfig::clean());
        sim.run_for(secs(12));
        let told = |id| {
            events(&sim, id).iter().any(|event| {
                matches!(event, Event::InputConflict { .. } | Event::Desync(_) | Event::Disconnected { .. })
            })
        };
        let somebody_told = told(0) || told(1) || sim.machine(1).error.is_some();
        differed += u32::from(sim.divergence().is_some());
        reported += u32::from(somebody_told);
        let stuck = sim.checked() < Frame(600);
        if sim.divergence().is_some() || stuck {
            assert!(
                somebody_told,
                "seed {seed}: {:?}, {:?}, and nobody says so",
                sim.divergence(),
                sim.checked()
            );
        }
    }
    assert!(differed >= 10 && reported >= differed, "{differed} differed, {reported} were reported");
}

/// The knowledge of an attacker who sees the traffic: the last input packet that the second machine sent.
fn overheard(sim: &SimMatch<Round>) -> (InputHeader, Vec<Input>) {
    let entries = sim.world.network().transcript().entries().iter().rev();
    let mut sent = entries.filter(|entry| entry.kind == EntryKind::Sent && entry.from == addresses()[1]);
    let packet = sent
        .find_map(|entry| InputPacket::decode(&entry.datagram, Flags::ALL).ok())
        .expect("inputs were sent");
    (packet.header(), packet.inputs().collect())
}

/// Sends the first machine a packet in the name of the second.
fn forge(sim: &mut SimMatch<Round>, header: &InputHeader, inputs: &[Input]) {
    let mut datagram = [0; InputPacket::MAX_LEN];
    let len = InputPacket::encode(header, inputs.iter().copied(), &mut datagram).expect("a packet");
    let (at, [to, from]) = (sim.world.now() + Duration::from_micros(1), addresses());
    sim.world.network_mut().inject(at, from, to, &datagram[..len]);
}

/// A simulated match whose traffic is overheard, at a moment at which a packet of the second machine carries several inputs.
fn overheard_match(seed: u64, cadence_frames: u16) -> SimMatch<Round> {
    let link = LinkConfig::new(ms(60));
    let setup = Setup::new(seed, link).configure(|config| config.cadence_frames = cadence_frames);
    let mut sim = SimMatch::new(setup, ENDLESS);
    sim.world.network_mut().record(Recording::Full);
    assert!(sim.run_until_frame(100), "the match never began");
    sim
}

fn is_conflict(event: &Event) -> bool {
    matches!(event, Event::InputConflict { .. })
}

#[test]
fn forged_future_input_is_reported_as_conflict_and_desync() {
    let mut desyncs = 0;
    for seed in 1..=8 {
        // Checksums are taken so often that a difference cannot come and go in between.
        let mut sim = overheard_match(seed, 5);
        let (header, mut inputs) = overheard(&sim);
        inputs.extend([Input::from(Buttons(0x8000) | LEFT); 4]);
        forge(&mut sim, &header, &inputs);
        sim.run_for(secs(5));
        assert!(sim.divergence().is_some(), "the forgery was not taken: this test shows nothing");
        assert!(events(&sim, 0).iter().any(is_conflict), "{:?}", events(&sim, 0));
        // At the edge of the stage two histories can come to one state again: then there is nothing to report.
        let [one, two] = [0, 1].map(|id| sim.machine(id).session().expect("a match"));
        let frame =
            one.settled().min(two.settled()).min(one.current().min(two.current()).checked_sub(1).unwrap());
        let same = one.snapshot(frame).expect("kept") == two.snapshot(frame).expect("kept");
        let told = [0, 1].map(|id| events(&sim, id).iter().any(|event| matches!(event, Event::Desync(_))));
        assert!(same || told == [true, true], "seed {seed}: states differ and {told:?} say so");
        desyncs += u32::from(told == [true, true]);
    }
    assert!(desyncs > 3, "only {desyncs} of 8 made a difference");
}

#[test]
fn forged_input_for_a_confirmed_frame_is_refused_and_reported() {
    let mut sim = overheard_match(2, 30);
    sim.run_for(ms(90));
    let (header, mut inputs) = overheard(&sim);
    assert!(inputs.len() > 4, "{inputs:?}");
    inputs[0] = Buttons(inputs[0].buttons().0 ^ 0x8000).into();
    forge(&mut sim, &header, &inputs);
    sim.run_for(secs(5));
    assert_eq!(sim.divergence(), None, "what is confirmed stays");
    let told = events(&sim, 0);
    assert!(
        matches!(told[..], [Event::InputConflict { refused, .. }] if refused.buttons().0 & 0x8000 != 0),
        "{told:?}"
    );
}

#[test]
fn forged_checksum_is_reported_as_desync() {
    let mut sim = overheard_match(3, 30);
    // The moment at which the true one sets out: the forged one is there before it.
    for sets_out in [false, true] {
        let waits = (0..200).take_while(|_| {
            sim.run_for(ms(5));
            overheard(&sim).0.checksum.is_some() != sets_out
        });
        assert!(waits.count() < 200, "no checksum was ever sent, or always");
    }
    let (header, inputs) = overheard(&sim);
    let checksum = header.checksum.map(|true_one| rbn1::Checksum { value: 0x0BAD_C0DE, ..true_one });
    forge(&mut sim, &InputHeader { checksum, ..header }, &inputs);
    sim.run_for(secs(5));
    let told = events(&sim, 0);
    assert!(
        told.iter().any(|event| matches!(event, Event::Desync(desync) if desync.theirs == 0x0BAD_C0DE)),
        "{told:?}"
    );
    assert_eq!(sim.divergence(), None);
}

#[test]
fn forged_acknowledgement_is_found_out_and_mended() {
    let mut sim = overheard_match(4, 30);
    let current = |sim: &SimMatch<Round>, id| sim.machine(id).session().expect("a match").current().0;
    // The first machine's packets are lost from now on, and a forger acknowledges them.
    sim.world.network_mut().set_down(0, 1, true);
    sim.run_for(ms(80));
    let (header, inputs) = overheard(&sim);
    let first = header.start_frame.0 + inputs.len() as u32 - current(&sim, 1);
    let ack_frame = WireFrame(first + current(&sim, 0) - 1);
    assert!(ack_frame.0 > header.ack_frame.0 + 4, "more than has arrived");
    forge(&mut sim, &InputHeader { ack_frame, ..header }, &inputs);
    sim.run_for(ms(5));
    sim.world.network_mut().set_down(0, 1, false);
    let before = sim.checked();
    sim.run_for(secs(10));
    assert_eq!(sim.flaw(true), None);
    assert!(sim.checked().since(before) > 500, "the match stood still: {:?} after {before:?}", sim.checked());
}

/// Which ways are cut: from the first machine to the second, and back.
const WAYS: [[bool; 2]; 3] = [[true, true], [true, false], [false, true]];

fn cut(sim: &mut SimMatch<Round>, ways: [bool; 2], length: Duration) {
    let (start, end) = (sim.world.now(), sim.world.now() + length);
    for (from, cut) in ways.into_iter().enumerate() {
        if cut {
            sim.world.network_mut().cut(from, 1 - from, start, end);
        }
    }
}

#[test]
fn two_machines_meet_over_a_link_that_fails_in_the_handshake() {
    let mut met = 0;
    // From every moment of the handshake on, one way or both: long enough for the host to forget the joiner.
    for ways in WAYS {
        for start_ms in (0..400).step_by(25) {
            for length in [secs(1), secs(9)] {
                let setup = Setup::new(start_ms, LinkConfig::clean()).configure(|config| {
                    (config.timeouts.join_timeout, config.timeouts.lost_after) = (secs(20), secs(5));
                    config.timeouts.no_progress_after = secs(10);
                });
                let mut sim = SimMatch::new(setup, ENDLESS);
                sim.run_for(ms(start_ms));
                cut(&mut sim, ways, length);
                sim.run_for(length + secs(5));
                let what = format!("{ways:?} cut for {length:?} from {start_ms} ms on");
                assert_eq!(sim.machine(1).error, None, "{what}");
                // Where the host had begun already, its silence has ended the match: there is nobody to meet.
                let over = (0..2).any(|id| sim.machine(id).ended());
                met += u32::from(!over);
                assert!(over || sim.checked() > Frame(60), "{what}: {:?}", sim.checked());
                assert_eq!(sim.divergence(), None, "{what}");
            }
        }
    }
    assert!(met > 60, "only {met} of 96 were about the handshake");
}

#[test]
fn outage_of_up_to_29_s_resumes_with_nothing_lost() {
    for (ways, sealed) in WAYS.into_iter().zip([false, true, false]).chain([(WAYS[0], true)]) {
        for length_ms in [100, 500, 1_000, 4_000, 29_000] {
            let mut sim = SimMatch::new(Setup::new(length_ms, LinkConfig::clean()), ENDLESS);
            if sealed {
                sim.seal(length_ms);
            }
            assert!(sim.run_until_frame(120), "the match never began");
            let cut_at = sim.world.now();
            cut(&mut sim, ways, ms(length_ms));
            let stands = sim.checked();
            sim.run_for(ms(length_ms) + ms(500));
            let at_once = sim.checked().since(stands);
            let seen = if length_ms < 700 { 20..=70 } else { 20..=50 };
            assert!(seen.contains(&at_once), "{ways:?}, {length_ms} ms: {at_once} frames in half a second");
            sim.run_for(ms(1_500));
            // Before the interruption is noticed, a machine that is not heard counts the first packets as lost.
            let lossless = if ways == WAYS[0] { 0.01 } else { 0.25 };
            let loss = [0, 1].map(|id| sim.machine(id).stats().loss_out.unwrap_or_default());
            assert!(
                length_ms < 1_000 || loss.iter().all(|loss| *loss < lossless),
                "{ways:?}, {length_ms} ms: {loss:?}"
            );
            let before = sim.checked();
            sim.run_for(secs(5));
            assert_eq!(sim.flaw(true), None, "{ways:?}, {length_ms} ms");
            let frames = sim.checked().since(before);
            assert!((290..=315).contains(&frames), "{ways:?}, {length_ms} ms: {frames} frames in 5 s");
            for id in 0..2 {
                let told = &sim.machine(id).events;
                if length_ms < 700 {
                    assert_eq!(*told, [], "{ways:?}, {length_ms} ms, machine {id}");
                    continue;
                }
                let [(interrupted_at, Event::Interrupted { disconnect_at }), (resumed_at, Event::Resumed)] =
                    told[..]
                else {
                    panic!("{ways:?}, {length_ms} ms, machine {id}: {told:?}");
                };
                // The last frame came 30 ms after the cut, or from a machine that hears nothing a window of frames later.
                let silent_since = cut_at + ms(if ways[1 - id] { 30 } else { 180 });
                let within = |a: Duration, b: Duration| a.abs_diff(b) <= ms(60);
                assert!(
                    within(interrupted_at, silent_since + ms(750)),
                    "{interrupted_at:?} after {cut_at:?}"
                );
                assert!(within(disconnect_at, silent_since + secs(30)), "{disconnect_at:?} after {cut_at:?}");
                assert!(within(resumed_at, cut_at + ms(30 + length_ms)), "{resumed_at:?} after {cut_at:?}");
            }
        }
    }
}

#[test]
fn long_partition_ends_the_match_with_one_event_each() {
    for ways in WAYS {
        let mut sim = playing(Setup::new(7, LinkConfig::clean()));
        let cut_at = sim.world.now();
        cut(&mut sim, ways, secs(60));
        sim.run_for(secs(40));
        assert_eq!(sim.divergence(), None);
        for id in 0..2 {
            let told = &sim.machine(id).events;
            let ends: Vec<_> =
                told.iter().filter(|(_, event)| matches!(event, Event::Disconnected { .. })).collect();
            let [(ended_at, Event::Disconnected { reason })] = ends[..] else { panic!("{ways:?}: {told:?}") };
            assert_eq!(told.last(), Some(ends[0]), "nothing comes after the end");
            // Who hears nothing gives up after 30 seconds, and tells the other if that way is open.
            let expected = if ways[1 - id] { Reason::TimedOut } else { Reason::GaveUp };
            assert_eq!(*reason, expected, "{ways:?}, machine {id}");
            let after = *ended_at - cut_at;
            assert!((secs(30)..ms(30_700)).contains(&after), "{ways:?}, machine {id}: over after {after:?}");
        }
    }
}

#[test]
fn match_that_is_over_is_silent() {
    let mut sim = playing(Setup::new(8, LinkConfig::clean()));
    cut(&mut sim, [true, true], secs(1_000));
    sim.run_for(secs(35));
    assert!((0..2).all(|id| sim.machine(id).ended()));
    let sent = sim.world.network().transcript().count();
    sim.run_for(secs(60));
    assert_eq!(sim.world.network().transcript().count(), sent);
}

#[test]
fn one_seed_gives_one_transcript() {
    let digest = |seed| {
        let mut sim = SimMatch::new(Setup::new(seed, LinkConfig::hostile()), ENDLESS);
        sim.run_for(secs(20));
        assert!(sim.checked() > Frame(100));
        let transcript = sim.world.network().transcript();
        (transcript.count(), transcript.digest())
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn run_that_proved_nothing_is_found_out() {
    let idle = Play { script: |_, _, _| Buttons::NONE.into(), ..ENDLESS };
    let mut sim = SimMatch::new(Setup::new(1, LinkConfig::clean()), idle);
    sim.run_for(secs(10));
    assert_eq!(sim.flaw(true), Some(Flaw::NoMisprediction));
    assert_eq!(sim.flaw(false), Some(Flaw::NoInfluence { frames: 0 }));

    let mut sim = SimMatch::new(Setup::new(1, LinkConfig::new(Duration::ZERO)), ENDLESS);
    sim.run_for(secs(10));
    assert_eq!(sim.flaw(false), None);

    // Buttons that the game knows nothing of are mispredicted like any others, and change nothing.
    let unknown = Play { script: |_, frame, _| Buttons(0x100 << (frame / 4 % 4)).into(), ..ENDLESS };
    let mut sim = SimMatch::new(Setup::new(1, LinkConfig::clean()), unknown);
    sim.run_for(secs(10));
    assert_eq!(sim.flaw(true), Some(Flaw::NoInfluence { frames: 0 }));

    let cut = LinkConfig { loss: Chance::ALWAYS, ..LinkConfig::clean() };
    let mut sim = SimMatch::new(Setup::new(1, cut), ENDLESS);
    sim.run_for(secs(10));
    assert_eq!(sim.flaw(true), Some(Flaw::NoMatch));
}

/// Packets that machine 0 sends in a second over the link of `sim`, and the share of them that is lost, after half a minute.
fn rate_and_loss(sim: &mut SimMatch<Round>) -> (u64, f32) {
    sim.run_for(secs(30));
    let before = sim.machine(0).stats().packets_out;
    sim.run_for(secs(10));
    let stats = sim.machine(0).stats();
    ((stats.packets_out - before) / 10, stats.loss_out.expect("the peer reports"))
}

/// A limit that drops what is above a rate has no queue, by which it could be noticed.
#[test]
fn packets_are_thinned_at_a_limit_without_a_queue() {
    let mut clean = playing(Setup::new(3, LinkConfig::new(ms(30))));
    let before = clean.world.network().sent(0).wire_bytes();
    clean.run_for(secs(10));
    let bits_per_s = (clean.world.network().sent(0).wire_bytes() - before) * 8 / 10;
    let policer = Some(Bandwidth { bits_per_s: bits_per_s * 7 / 10, queue_bytes: 200 });
    let mut policed = playing(Setup::new(3, LinkConfig { policer, ..LinkConfig::new(ms(30)) }));
    let frames = policed.machine(0).stats().frames;
    let (rate, loss) = rate_and_loss(&mut policed);
    assert!((25..45).contains(&rate) && loss < 0.05, "{rate} packets a second, loss {loss}");
    assert!(policed.machine(0).stats().frames - frames > 40 * 59, "{policed:?}");
    assert_eq!(policed.flaw(false), None);
}

#[test]
fn packets_are_not_thinned_at_random_loss() {
    for (percent, least) in [(5, 55), (20, 100), (35, 100)] {
        let link = LinkConfig { loss: Chance::percent(percent), ..LinkConfig::new(ms(30)) };
        let mut sim = playing(Setup::new(4, link));
        let (rate, loss) = rate_and_loss(&mut sim);
        assert!(rate >= least, "{percent} %: {rate} packets a second, loss {loss}");
    }
}

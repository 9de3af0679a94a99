//! The host's first state on its way to the joiner: over any link, within limits, and among forged packets.

use crate::handshake::{prove_with, refusal_to};
use crate::pair::{LATE, Pair, SOON, addr, config, ms, pair_with, plays, set_latency, stranger};
use crate::round::{ENDLESS, Round};
use core::time::Duration;
use rebout::lab::forge::{Guesses, Knows, control, inputs, label, message, message_of, offer};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::wire::message::{FirstStateAck, FirstStatePart, Message, RefuseField};
use rebout::lab::{HOST, JOINER, Setup, SimMatch};
use rebout::wire::control::{ControlHeader, ControlPayload};
use rebout::{Buttons, Config, Event, FirstState, Lobby, LobbyError, Refusal};
use std::num::NonZeroU8;
use support::heap;

const LIMIT: u32 = 4 << 20;

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at ^ at >> 7 ^ at >> 13) as u8).collect()
}

/// The configs of a host with a first state and of a joiner that takes it.
fn configs(len: usize) -> [Config; 2] {
    [HOST, JOINER].map(|id| {
        config(id).with(|config| match id {
            HOST => config.lobby.first_state = bytes(len).into(),
            _ => config.lobby.first_state_limit = LIMIT,
        })
    })
}

fn sim(seed: u64, link: LinkConfig, len: usize, delay: Option<u8>) -> SimMatch<Round> {
    let mut setup = Setup::new(seed, link).configure(|config| {
        config.lobby.first_state_limit = LIMIT;
        config.rollback.delay_frames = delay;
    });
    setup.configs[HOST].lobby.first_state = bytes(len).into();
    setup.start_within = ms(1);
    SimMatch::new(setup, ENDLESS)
}

fn lossy(percent: u32) -> LinkConfig {
    LinkConfig { loss: Chance::percent(percent), ..LinkConfig::new(ms(60)) }
}

/// When the later machine has begun. Both have the same first state.
fn begun(sim: &mut SimMatch<Round>, len: usize) -> Duration {
    let both = |sim: &SimMatch<_>| [HOST, JOINER].iter().all(|id| sim.machine(*id).started_at.is_some());
    let errors = |sim: &SimMatch<_>| [HOST, JOINER].map(|id| sim.machine(id).error);
    assert!(sim.step_until(Duration::from_secs(60), both), "{:?} {sim:?}", errors(sim));
    for id in [HOST, JOINER] {
        let agreed = sim.machine(id).agreed().unwrap();
        assert!(*agreed.first_state == bytes(len), "{:?}", agreed.first_state);
    }
    [HOST, JOINER].iter().filter_map(|id| sim.machine(*id).started_at).max().unwrap()
}

/// What the two lobbies say about the progress.
fn progress(pair: &mut Pair, id: usize) -> Option<(u32, u32)> {
    let progress = pair.machine_mut(id).lobby_mut()?.first_state_progress()?;
    Some((progress.bytes, progress.of))
}

/// Two machines in the middle of a transfer.
fn in_the_middle(len: usize) -> Pair {
    middle_of(configs(len))
}

fn middle_of(configs: [Config; 2]) -> Pair {
    let mut pair = pair_with(configs);
    let parts = |pair: &Pair| pair.said_by(HOST, "FIRST_STATE").len();
    assert!(pair.step_until(SOON, |pair| parts(pair) >= 48));
    assert!(progress(&mut pair, JOINER).is_some_and(|(bytes, _)| bytes > 0), "{pair:?}");
    pair
}

fn ms_of(error: Option<LobbyError>) -> Option<(u32, u32)> {
    match error {
        Some(LobbyError::FirstStateStalled { bytes, of, .. }) => Some((bytes, of)),
        _ => None,
    }
}

#[test]
fn first_state_of_320_kib_takes_less_than_1_5_s() {
    let len = 320 * 1_024;
    for seed in 0..5 {
        let mut sim = sim(seed, lossy(3), len, Some(0));
        let took = begun(&mut sim, len);
        assert!(took <= ms(1_500), "seed {seed}: {took:?}");
        assert!(sim.run_until_frame(30), "{sim:?}");
    }
}

#[cfg(feature = "seal")]
#[test]
fn sealed_first_state_takes_as_long_as_a_bare_one() {
    let len = 320 * 1_024;
    for seed in 0..2 {
        for seal in [SimMatch::seal, SimMatch::seal_open] {
            let mut sim = sim(seed, lossy(3), len, Some(0));
            seal(&mut sim, seed);
            let took = begun(&mut sim, len);
            assert!(took <= ms(1_500), "seed {seed}: {took:?}");
            assert!(sim.run_until_frame(30), "{sim:?}");
        }
    }
}

#[test]
fn host_that_measures_the_delay_sends_it_as_well() {
    for seed in 0..5 {
        let mut sim = sim(seed, lossy(3), 320 * 1_024, None);
        let took = begun(&mut sim, 320 * 1_024);
        assert!(took <= ms(1_500), "seed {seed}: {took:?}");
        assert!(sim.run_until_frame(30), "{sim:?}");
        // 120 ms there and back are a way of 3.6 frames.
        let delay_frames = [HOST, JOINER].map(|id| sim.machine(id).agreed().unwrap().delay_frames);
        assert!(delay_frames.iter().all(|frames| (2..=4).contains(frames)), "{delay_frames:?}");
        for id in [HOST, JOINER] {
            let told = Event::PeerDelay { delay_frames: delay_frames[1 - id] };
            let offered = sim.machine(id).agreed().unwrap().peer_delay_frames;
            assert!(offered == delay_frames[1 - id] || sim.told(id).any(|event| *event == told));
        }
    }
}

/// The OFFER has the delay of a short way. The way gets longer during the transfer.
#[test]
fn delay_is_measured_during_the_transfer() {
    let mut sim = sim(1, LinkConfig::new(ms(5)), 1 << 20, None);
    let is_offered = |sim: &SimMatch<Round>| {
        sim.machine(JOINER).agreed().is_none() && sim.world.network().sent(HOST).payload_bytes > 20_000
    };
    assert!(sim.step_until(ms(500), is_offered), "{sim:?}");
    sim.world.network_mut().set_links(HOST, JOINER, LinkConfig::new(ms(80)));
    begun(&mut sim, 1 << 20);
    let delay_frames = sim.machine(HOST).agreed().unwrap().delay_frames;
    assert!((3..=6).contains(&delay_frames), "{delay_frames}");
    assert!(sim.run_until_frame(30), "{sim:?}");
    let told = Event::PeerDelay { delay_frames };
    assert!(sim.told(JOINER).any(|event| *event == told), "{:?}", sim.machine(JOINER).events);
}

#[test]
fn four_mebibytes_arrive() {
    let len = 4 << 20;
    let took = begun(&mut sim(1, LinkConfig::new(ms(60)), len, Some(0)), len);
    assert!(took <= Duration::from_secs(4), "{took:?}");
}

#[test]
fn first_state_arrives_over_every_kind_of_link() {
    let base = LinkConfig::new(ms(40));
    for (name, link) in [
        ("lossy", LinkConfig { loss: Chance::percent(20), ..base }),
        ("duplicating", LinkConfig { duplicate: Chance::percent(50), ..base }),
        ("reordering", LinkConfig { reorder: Chance::percent(30), reorder_delay: ms(100), ..base }),
        ("jittering", LinkConfig { jitter: ms(60), keep_order: false, ..base }),
    ] {
        let mut sim = sim(3, link, 100_000, Some(0));
        let took = begun(&mut sim, 100_000);
        assert!(took < Duration::from_secs(5), "{name}: {took:?}");
        assert!(sim.run_until_frame(30), "{name}");
    }
}

#[test]
fn late_parts_do_not_disturb_the_match() {
    let mut pair = pair_with(configs(40_000));
    plays(&mut pair, 30);
    let token = Knows::of(&pair, JOINER).token;
    let part = Message::FirstState(FirstStatePart { token, number: 39, bytes: &[0; 64] });
    let ack = FirstStateAck { token, is_damaged: false, missing: 38, beyond: [0; 64] };
    for (id, late) in [(JOINER, part), (HOST, Message::FirstStateAck(ack))] {
        let late = message(ControlHeader::default(), &late);
        (0..5).for_each(|_| pair.inject(id, addr(1 - id), &late));
        assert_eq!(pair.machine(id).refused().of(Refusal::OutOfPlace), 5);
    }
    plays(&mut pair, 60);
    assert!(pair.said_by(HOST, "RESYNC").is_empty() && pair.said_by(JOINER, "RESYNC").is_empty());
}

#[test]
fn both_sides_see_the_progress() {
    let mut pair = pair_with(configs(200_000));
    assert_eq!([HOST, JOINER].map(|id| progress(&mut pair, id)), [None, None]);
    let mut seen = [Vec::new(), Vec::new()];
    while !pair.machine(JOINER).has_agreed() {
        for id in [HOST, JOINER] {
            seen[id].extend(progress(&mut pair, id));
        }
        pair.run_for(ms(1));
    }
    for seen in seen {
        assert!(seen.iter().all(|(_, of)| *of == 200_000) && seen.is_sorted());
        assert!(seen.first() == Some(&(0, 200_000)) && seen.iter().any(|(bytes, _)| *bytes > 100_000));
    }
}

#[test]
fn too_long_first_state_is_refused_before_a_byte_is_sent() {
    for (limit, len, agrees) in [(0, 1, false), (9_999, 10_000, false), (10_000, 10_000, true)] {
        let [host, joiner] = configs(len);
        let joiner = joiner.with(|config| config.lobby.first_state_limit = limit);
        let mut pair = pair_with([host, joiner]);
        pair.run_for(ms(500));
        assert_eq!(pair.machine(JOINER).has_agreed(), agrees);
        if agrees {
            continue;
        }
        let (field, ours, theirs) = (RefuseField::FirstState, limit.into(), len as u64);
        let refused = LobbyError::Incompatible { field, ours, theirs };
        assert_eq!(pair.machine(JOINER).error, Some(refused));
        let text = format!("the host's first state has {len} bytes, and this game accepts {limit}");
        assert_eq!(refused.to_string(), text);
        let mismatch = pair.lobby_mut(HOST).take_mismatch().unwrap();
        assert_eq!((mismatch.field, mismatch.ours, mismatch.theirs), (field, theirs, ours));
        assert!(pair.said_by(HOST, "FIRST_STATE").is_empty() && pair.said_by(HOST, "OFFER").is_empty());
    }
}

#[test]
fn joiner_with_a_limit_plays_with_a_host_without_a_first_state() {
    let [_, joiner] = configs(1);
    let mut pair = pair_with([config(HOST), joiner]);
    plays(&mut pair, 30);
    assert!([HOST, JOINER].iter().all(|id| pair.machine(*id).agreed().unwrap().first_state.is_empty()));
}

#[test]
fn damaged_first_state_is_told_on_both_machines() {
    let mut pair = in_the_middle(200_000);
    // A watcher of a bare link knows the token.
    let token = Knows::of(&pair, JOINER).token;
    let part = FirstStatePart { token, number: 150, bytes: &[0xEE; 1_024] };
    pair.inject(JOINER, addr(HOST), &message(ControlHeader::default(), &Message::FirstState(part)));
    // The host has not sent that part yet, and goes on anyway.
    let told = |pair: &Pair| [HOST, JOINER].iter().all(|id| pair.machine(*id).error.is_some());
    assert!(pair.step_until(SOON, told), "{pair:?}");
    let damaged = Some(LobbyError::FirstStateDamaged { bytes: 200_000 });
    assert_eq!([HOST, JOINER].map(|id| pair.machine(id).error), [damaged; 2]);
}

#[test]
fn stalled_transfer_ends_with_its_progress() {
    let [host, joiner] = configs(200_000);
    // A joiner with more patience is dropped by the host before, and begins again.
    let joiner = joiner.with(|config| config.timeouts.join_timeout = ms(4_000));
    let mut pair = middle_of([host, joiner]);
    pair.lose(HOST, "FIRST_STATE", u32::MAX);
    pair.run_for(ms(100));
    let (bytes, of) = progress(&mut pair, JOINER).unwrap();
    assert!(bytes > 0 && bytes < of);
    // The host still answers HELLO and PING, which is no progress.
    assert!(pair.step_until(LATE, |pair| pair.machine(JOINER).error.is_some()));
    assert_eq!(ms_of(pair.machine(JOINER).error), Some((bytes, of)));
    let text = pair.machine(JOINER).error.unwrap().to_string();
    assert!(text.contains(&format!("{bytes} of {of} bytes")) && text.contains("4s"), "{text}");
}

#[test]
fn host_drops_a_guest_that_takes_nothing_more() {
    let mut pair = in_the_middle(200_000);
    let offers = pair.said_by(HOST, "OFFER").len();
    pair.lose(JOINER, "FIRST_STATE_ACK", u32::MAX);
    let token = |pair: &Pair| Knows::of(pair, HOST).token;
    let before = token(&pair);
    let (bytes, of) = progress(&mut pair, HOST).unwrap();
    assert!(pair.step_until(LATE, |pair| token(pair) != before), "{offers}");
    let stalled = pair.lobby_mut(HOST).take_stalled().expect("the host is told");
    assert!(stalled.bytes >= bytes && stalled.of == of && stalled.since.is_some(), "{stalled:?}");
    assert_eq!(pair.lobby_mut(HOST).take_stalled(), None, "once");
    assert_eq!(progress(&mut pair, HOST), Some((0, 200_000)), "the guest said HELLO again, and begins anew");
}

#[test]
fn restarted_joiner_gets_the_first_state_anew() {
    let mut pair = in_the_middle(200_000);
    let [_, joiner] = configs(1);
    let joiner = joiner.with(|config| config.lobby.entropy = Some(99));
    pair.restart(JOINER, Lobby::join(joiner, addr(HOST)).unwrap());
    plays(&mut pair, 30);
    assert!(*pair.machine(JOINER).agreed().unwrap().first_state == bytes(200_000));
}

#[test]
fn second_guest_does_not_end_a_long_transfer() {
    let mut pair = pair_with(configs(400_000));
    set_latency(&mut pair, ms(1_500));
    assert!(pair.step_until(LATE, |pair| !pair.said_by(HOST, "FIRST_STATE").is_empty()));
    // The OFFER is more than five seconds old by then.
    pair.run_for(ms(6_000));
    assert!(!pair.machine(HOST).has_agreed());
    prove_with(&mut pair, stranger(), 5, |hello| hello.first_state_limit = LIMIT);
    assert_eq!(refusal_to(&pair, stranger()).map(|refuse| refuse.field), Some(RefuseField::Full));
    let agreed = |pair: &Pair| pair.machine(HOST).has_agreed() && pair.machine(JOINER).has_agreed();
    assert!(pair.step_until(LATE, agreed), "{pair:?}");
}

#[test]
fn forged_parts_and_acks_change_nothing() {
    let mut pair = in_the_middle(200_000);
    pair.lose(HOST, "FIRST_STATE", u32::MAX);
    pair.run_for(ms(200));
    let before = [HOST, JOINER].map(|id| progress(&mut pair, id));
    let token = Knows::of(&pair, JOINER).token;
    let part = |token, number, bytes| Message::FirstState(FirstStatePart { token, number, bytes });
    let beyond = [0xFF; 64];
    let ack = |token, missing, is_damaged| {
        Message::FirstStateAck(FirstStateAck { token, is_damaged, missing, beyond })
    };
    let full = [1; 1_024];
    let of = |pair: &Pair, id: usize, refusal| pair.machine(id).refused().of(refusal);
    for (to, from, forged, refusal) in [
        // Without the token nothing fits, whatever its numbers.
        (JOINER, addr(HOST), part(token ^ 1, 100, &full[..]), Refusal::WrongToken),
        (HOST, addr(JOINER), ack(token ^ 1, 10, false), Refusal::WrongToken),
        (HOST, addr(JOINER), ack(0, 0, true), Refusal::WrongToken),
        // With the token, from elsewhere.
        (JOINER, stranger(), part(token, 100, &full), Refusal::Stranger),
        (HOST, stranger(), ack(token, 10, true), Refusal::Stranger),
        // The peer itself: another length, beyond the end, far ahead, twice; acks of parts that were never sent.
        (JOINER, addr(HOST), part(token, 100, &full[1..]), Refusal::FirstState),
        (JOINER, addr(HOST), part(token, 196, &full), Refusal::FirstState),
        (JOINER, addr(HOST), part(token, 4_000, &full), Refusal::FirstState),
        (JOINER, addr(HOST), part(token, 0, &full), Refusal::FirstState),
        (HOST, addr(JOINER), ack(token, 196, false), Refusal::FirstState),
        (HOST, addr(JOINER), ack(token, 0, true), Refusal::FirstState),
        // The wrong way round.
        (HOST, addr(JOINER), part(token, 100, &full), Refusal::OutOfPlace),
        (JOINER, addr(HOST), ack(token, 0, false), Refusal::OutOfPlace),
    ] {
        let (counted, live) = (of(&pair, to, refusal), heap::live());
        pair.inject(to, from, &message(ControlHeader::default(), &forged));
        assert_eq!(of(&pair, to, refusal), counted + 1, "{forged:?}");
        assert!(heap::live() - live < 4_096);
        assert_eq!([HOST, JOINER].map(|id| progress(&mut pair, id)), before, "{forged:?}");
        assert_eq!([HOST, JOINER].map(|id| pair.machine(id).error), [None; 2]);
    }
}

#[test]
fn blind_guesses_do_not_disturb_a_transfer() {
    let mut pair = in_the_middle(200_000);
    let mut guesses = Guesses::new(7);
    while !pair.machine(JOINER).has_agreed() {
        for _ in 0..Guesses::KINDS * 20 {
            let guess = guesses.draw().to_vec();
            [HOST, JOINER].iter().for_each(|id| pair.inject(*id, addr(1 - id), &guess));
        }
        pair.run_for(ms(10));
        assert_eq!([HOST, JOINER].map(|id| pair.machine(id).error), [None; 2]);
    }
    assert!(*pair.machine(JOINER).agreed().unwrap().first_state == bytes(200_000));
    plays(&mut pair, 30);
}

#[test]
fn nothing_but_the_first_state_concludes_the_handshake() {
    let mut pair = in_the_middle(200_000);
    pair.lose(HOST, "FIRST_STATE", u32::MAX);
    let knows = Knows::of(&pair, JOINER);
    let ack = ControlPayload::ConnectAck { client_id: NonZeroU8::new(2).unwrap() };
    pair.inject(JOINER, addr(HOST), &control(knows.header, &ack));
    pair.inject(JOINER, addr(HOST), &inputs(knows.first, knows.first - 1, &[Buttons(1)]));
    pair.run_for(ms(50));
    assert!(!pair.machine(JOINER).has_agreed());
    assert_eq!(pair.machine(JOINER).refused().of(Refusal::OutOfPlace), 2);
    assert!(pair.said_by(JOINER, "CONNECT_REQ").is_empty());
}

#[test]
fn offer_takes_no_memory_and_no_more_than_the_limit() {
    for (limit, len) in [(LIMIT, LIMIT as usize), (9_999, 10_000)] {
        let [_, joiner] = configs(1);
        let joiner = joiner.with(|config| config.lobby.first_state_limit = limit);
        let mut pair = pair_with([config(HOST), joiner]);
        pair.run_for(ms(1));
        let liar = config(HOST).with(|config| config.lobby.first_state = FirstState::from(vec![0; len]));
        let knows = Knows::of(&pair, JOINER);
        let header = ControlHeader { sequence: 7, ack: knows.victims, ack_bits: 0 };
        let forged = message(header, &offer(&liar, knows.nonce, 1));
        let live = heap::live();
        pair.inject(JOINER, addr(HOST), &forged);
        assert!(heap::live() - live < 4_096, "{} bytes", heap::live() - live);
        pair.run_for(ms(1));
        if limit as usize >= len {
            assert_eq!(progress(&mut pair, JOINER), Some((0, LIMIT)));
        } else {
            let error = pair.machine(JOINER).error.unwrap();
            assert!(matches!(error, LobbyError::Incompatible { ours: 9_999, theirs: 10_000, .. }));
        }
    }
}

#[cfg(feature = "seal")]
#[test]
fn bare_packets_do_nothing_to_a_sealed_transfer() {
    let mut sim = sim(1, LinkConfig::new(ms(60)), 100_000, Some(0));
    sim.seal(1);
    let done = |sim: &SimMatch<Round>| sim.machine(JOINER).started_at.is_some();
    while !done(&sim) {
        // Even one who has learned the token.
        let token = [HOST, JOINER].iter().find_map(|id| sim.machine(*id).agreed().map(|agreed| agreed.token));
        let token = token.unwrap_or(1);
        for number in 0..3 {
            let part = Message::FirstState(FirstStatePart { token, number, bytes: &[0xEE; 1_024] });
            sim.inject(JOINER, addr(HOST), &message(ControlHeader::default(), &part));
            let ack = FirstStateAck { token, is_damaged: true, missing: 98, beyond: [0; 64] };
            let ack = Message::FirstStateAck(ack);
            sim.inject(HOST, addr(JOINER), &message(ControlHeader::default(), &ack));
        }
        sim.run_for(ms(20));
        assert!(sim.world.now() < Duration::from_secs(3), "{sim:?}");
    }
    begun(&mut sim, 100_000);
}

#[test]
fn watcher_sees_parts_within_the_size_of_a_datagram() {
    let mut pair = pair_with(configs(50_000));
    plays(&mut pair, 1);
    let parts: Vec<_> = pair.said().filter(|said| label(said.datagram) == "FIRST_STATE").collect();
    assert!(parts.len() >= 49 && parts.iter().all(|said| said.datagram.len() <= 15 + 11 + 1_024));
    let Some(Message::FirstState(last)) =
        parts.iter().map(|said| message_of(said.datagram)).next_back().flatten()
    else {
        panic!("no part");
    };
    assert_eq!((last.number, last.bytes.len()), (48, 50_000 - 48 * 1_024));
}

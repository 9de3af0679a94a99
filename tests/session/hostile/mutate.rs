//! Real datagrams, changed at random and injected at random moments: nothing panics, nothing grows, and damage that
//! cannot be kept out of a bare link is reported.

use super::fork_without_transcript;
use super::phase::Phase;
use crate::pair::{Pair, addr, both_ended, config, ms, pair_until, stranger};
use proptest::prelude::*;
use rebout::Event;
use rebout::lab::forge::{Change, Knows, label};
use rebout::lab::{HOST, JOINER};
use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;
use support::heap;

#[derive(Clone, Debug)]
struct Injection {
    pick: u16,
    changes: Vec<Change>,
    to_host: bool,
    from_peer: bool,
    wait_ms: u8,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        2 => Just(Change::Nothing),
        3 => prop::collection::vec((any::<u16>(), 0..8_u8), 1..5).prop_map(Change::Flip),
        1 => any::<u16>().prop_map(Change::Cut),
        1 => (0..1_500_u16, any::<u8>()).prop_map(|(len, byte)| Change::Grow(len, byte)),
        1 => (any::<u16>(), any::<u16>()).prop_map(|(with, at)| Change::Splice(with, at)),
        3 => Just(Change::RightNumbers),
        3 => (-3..=3_i8, -20..=3_i8).prop_map(|(start, ack)| Change::RightFrames(start, ack)),
        2 => (any::<u16>(), prop_oneof![Just(u32::MAX), Just(0), any::<u32>()])
            .prop_map(|(at, word)| Change::Set(at, word)),
    ]
}

fn injection() -> impl Strategy<Value = Injection> {
    (any::<u16>(), prop::collection::vec(change(), 1..4), any::<bool>(), prop::bool::weighted(0.9), 0..20_u8)
        .prop_map(|(pick, changes, to_host, from_peer, wait_ms)| Injection {
            pick,
            changes,
            to_host,
            from_peer,
            wait_ms,
        })
}

/// The changes of an attacker who sees nothing of this match.
fn blind_change() -> impl Strategy<Value = Change> {
    change().prop_map(|change| match change {
        Change::RightNumbers | Change::RightFrames(..) => Change::Nothing,
        other => other,
    })
}

fn blind_injection() -> impl Strategy<Value = Injection> {
    (injection(), prop::collection::vec(blind_change(), 1..4))
        .prop_map(|(injection, changes)| Injection { changes, ..injection })
}

/// Whether somebody was told that something is wrong, or that it is over.
fn told(pair: &Pair) -> bool {
    let tells = |event: &Event| {
        matches!(
            event,
            Event::InputConflict { .. } | Event::Desync(_) | Event::Disconnected { .. } | Event::Ended(_)
        )
    };
    [HOST, JOINER].iter().any(|id| pair.machine(*id).error.is_some() || pair.told(*id).any(tells))
}

fn inject_all(
    Prepared { pair: prepared, recorded }: &Prepared,
    injections: &[Injection],
) -> Result<(), TestCaseError> {
    let mut pair = fork_without_transcript(prepared);
    pair.set_strict(false);
    let known = [HOST, JOINER].map(|victim| Knows::of(prepared, victim));
    let heap = heap::live();
    for injection in injections {
        let victim = if injection.to_host { HOST } else { JOINER };
        let knows = known[victim].clone().now(&pair, victim);
        let mut bytes = recorded[usize::from(injection.pick) % recorded.len()].clone();
        for change in &injection.changes {
            change.apply(&mut bytes, recorded, &knows);
        }
        let from = if injection.from_peer { addr(1 - victim) } else { stranger() };
        pair.inject(victim, from, &bytes);
        pair.run_for(ms(injection.wait_ms.into()));
    }
    Phase::release_lobbies(&mut pair);
    let goal = pair.checked().0 + 120;
    pair.step_until(Duration::from_secs(25), |pair| {
        pair.checked().0 >= goal && (pair.divergence().is_none() || told(pair))
    });
    prop_assert!(
        pair.checked().0 >= goal || told(&pair),
        "neither played nor told: {} of {goal}\n{:?}",
        pair.checked().0,
        pair
    );
    prop_assert!(
        pair.divergence().is_none() || told(&pair),
        "diverged in silence: {:?}\n{:?}",
        pair.divergence(),
        pair
    );
    prop_assert!(pair.to_strangers() <= pair.from_strangers());
    let grown = heap::live() - heap;
    prop_assert!(grown < 512 * 1_024, "{grown} bytes");
    Ok(())
}

/// Throws what was said in another match, and requires that it leaves no trace.
fn inject_from_another_match(
    Prepared { pair: prepared, .. }: &Prepared,
    injections: &[Injection],
) -> Result<(), TestCaseError> {
    let mut pair = fork_without_transcript(prepared);
    let recorded = other_match();
    let knows = Knows::of(prepared, HOST);
    for injection in injections {
        let victim = if injection.to_host { HOST } else { JOINER };
        let mut bytes = recorded[usize::from(injection.pick) % recorded.len()].clone();
        for change in &injection.changes {
            change.apply(&mut bytes, &recorded, &knows);
        }
        let from = if injection.from_peer { addr(1 - victim) } else { stranger() };
        if !pair.machine(victim).asleep {
            pair.inject(victim, from, &bytes);
        }
        pair.run_for(ms(injection.wait_ms.into()));
    }
    Phase::release_lobbies(&mut pair);
    let goal = pair.checked().0 + 60;
    pair.step_until(Duration::from_secs(12), |pair| pair.checked().0 >= goal);
    prop_assert!(
        pair.checked().0 >= goal && [HOST, JOINER].iter().all(|id| pair.told(*id).count() == 0),
        "{} of {goal} frames\n{:?}",
        pair.checked().0,
        pair
    );
    prop_assert!(pair.to_strangers() <= pair.from_strangers());
    Ok(())
}

type Datagrams = Vec<Vec<u8>>;

fn sent_in(pair: &Pair) -> Datagrams {
    pair.said().map(|said| said.datagram.to_vec()).collect()
}

/// Everything that was said in another match between the same two addresses.
fn other_match() -> Rc<Datagrams> {
    thread_local! {
        static RECORDED: OnceCell<Rc<Datagrams>> = const { OnceCell::new() };
    }
    RECORDED.with(|recorded| {
        let record = || {
            let configs = [HOST, JOINER]
                .map(|id| config(id).with(|config| config.lobby.entropy = Some(500 + id as u64)));
            let mut pair = pair_until::<60>(configs);
            assert!(pair.step_until(Duration::from_secs(9), both_ended));
            Rc::new(sent_in(&pair))
        };
        Rc::clone(recorded.get_or_init(record))
    })
}

/// A pair in a phase, and real datagrams to throw at it.
struct Prepared {
    pair: Pair,
    recorded: Datagrams,
}

/// Pairs are costly to bring into a phase, and cheap to fork.
fn prepared(phase: Phase) -> Rc<Prepared> {
    thread_local! {
        static PAIRS: [OnceCell<Rc<Prepared>>; 8] = const { [const { OnceCell::new() }; 8] };
    }
    PAIRS.with(|pairs| {
        let prepare = || {
            let pair = phase.pair(HOST);
            // Every datagram of a match can be sent early.
            let mut recorded = sent_in(&pair);
            recorded.extend(sent_in(&Phase::Over.pair(HOST)));
            Rc::new(Prepared { pair, recorded })
        };
        Rc::clone(pairs[phase as usize].get_or_init(prepare))
    })
}

/// The joiner gets the OFFER early, and then a copy with another token: both come before the host accepts.
#[test]
fn changed_copy_of_the_offer_does_not_stall_the_lobby() {
    const TOKEN_AT: u16 = 41;
    let prepared = prepared(Phase::Incoming);
    let offer = prepared.recorded.iter().position(|datagram| label(datagram) == "OFFER").expect("an OFFER");
    let injection = |change| Injection {
        pick: offer as u16,
        changes: vec![Change::RightNumbers, change],
        to_host: false,
        from_peer: true,
        // The host uses the forged sequence number for another packet meanwhile.
        wait_ms: 250,
    };
    let injections = [injection(Change::Nothing), injection(Change::Flip(vec![(TOKEN_AT, 0)]))];
    inject_all(&prepared, &injections).unwrap();
}

/// 96 cases, unless `PROPTEST_CASES` asks for another number. The seed of a case that fails is kept in
/// `proptest-regressions`.
fn few_cases() -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 96 };
    ProptestConfig { cases, ..config }
}

proptest! {
    #![proptest_config(few_cases())]

    #[test]
    fn changed_datagrams_during_a_match_are_refused_or_told(injections in prop::collection::vec(injection(), 1..40)) {
        inject_all(&prepared(Phase::Playing), &injections)?;
    }

    #[test]
    fn changed_datagrams_during_the_handshake_are_refused_or_told(
        phase in prop_oneof![
            Just(Phase::Waiting), Just(Phase::Challenged), Just(Phase::Incoming), Just(Phase::Offered),
            Just(Phase::Agreed),
        ],
        injections in prop::collection::vec(injection(), 1..30),
    ) {
        inject_all(&prepared(phase), &injections)?;
    }

    #[test]
    fn changed_datagrams_of_another_match_leave_no_trace(
        phase in prop_oneof![
            Just(Phase::Waiting), Just(Phase::Challenged), Just(Phase::Incoming), Just(Phase::Offered),
            Just(Phase::Agreed), Just(Phase::Playing),
        ],
        injections in prop::collection::vec(blind_injection(), 1..60),
    ) {
        inject_from_another_match(&prepared(phase), &injections)?;
    }

    #[test]
    fn changed_datagrams_at_the_end_are_refused_or_told(
        phase in prop_oneof![Just(Phase::Ending), Just(Phase::Over)],
        injections in prop::collection::vec(injection(), 1..30),
    ) {
        inject_all(&prepared(phase), &injections)?;
    }
}

//! Real datagrams, changed at random and thrown back at random moments: nothing panics, nothing grows, and what cannot
//! be kept out of a bare link is told.

use crate::forge::Knows;
use crate::heap;
use crate::pair::{HOST, JOINER, Pair, Side, config, ms, stranger};
use crate::phase::Phase;
use crate::{forge, twin};
use proptest::prelude::*;
use rebout::{Config, Event};
use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

/// What is done to a datagram.
#[derive(Clone, Debug)]
enum Change {
    Nothing,
    Flip(Vec<(u16, u8)>),
    Cut(u16),
    Grow(u16, u8),
    Splice(u16, u16),
    /// The numbers of a control packet are made those that the victim expects.
    RightNumbers,
    /// The frames of an input packet are made those that the victim expects, off by so much.
    RightFrames(i8, i8),
    Set(u16, u32),
}

#[derive(Clone, Debug)]
struct Shot {
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

fn shot() -> impl Strategy<Value = Shot> {
    (any::<u16>(), prop::collection::vec(change(), 1..4), any::<bool>(), prop::bool::weighted(0.9), 0..20_u8)
        .prop_map(|(pick, changes, to_host, from_peer, wait_ms)| Shot {
            pick,
            changes,
            to_host,
            from_peer,
            wait_ms,
        })
}

impl Change {
    fn make(&self, bytes: &mut Vec<u8>, tape: &[(usize, std::net::SocketAddr, Vec<u8>)], knows: &Knows) {
        let len = bytes.len().max(1);
        match self {
            Self::Nothing => {}
            Self::Flip(bits) => {
                for (at, bit) in bits {
                    if let Some(byte) = bytes.get_mut(usize::from(*at) % len) {
                        *byte ^= 1 << bit;
                    }
                }
            }
            Self::Cut(to) => bytes.truncate(usize::from(*to) % len),
            Self::Grow(by, byte) => bytes.resize(len + usize::from(*by), *byte),
            Self::Splice(with, at) => {
                let other = &tape[usize::from(*with) % tape.len()].2;
                let at = usize::from(*at) % len;
                bytes.truncate(at);
                bytes.extend(other.iter().skip(at));
            }
            Self::RightNumbers if bytes.len() >= 12 && bytes.starts_with(b"GAME") => {
                bytes[4..6].copy_from_slice(&knows.header.sequence.to_be_bytes());
                bytes[6..8].copy_from_slice(&knows.header.ack.to_be_bytes());
            }
            Self::RightFrames(start, ack) if bytes.len() >= 15 && bytes.starts_with(b"RBN1") => {
                let start = knows.known.wrapping_add_signed((*start).into());
                let ack = knows.sent.wrapping_sub(1).wrapping_add_signed((*ack).into());
                bytes[6..10].copy_from_slice(&start.to_le_bytes());
                bytes[11..15].copy_from_slice(&ack.to_le_bytes());
            }
            Self::RightNumbers | Self::RightFrames(..) => {}
            Self::Set(at, word) => {
                let at = usize::from(*at) % len;
                for (byte, value) in bytes.iter_mut().skip(at).zip(word.to_le_bytes()) {
                    *byte = value;
                }
            }
        }
    }
}

/// What somebody can do who sees nothing of this match.
fn blind_change() -> impl Strategy<Value = Change> {
    change().prop_map(|change| match change {
        Change::RightNumbers | Change::RightFrames(..) => Change::Nothing,
        other => other,
    })
}

fn blind_shot() -> impl Strategy<Value = Shot> {
    (shot(), prop::collection::vec(blind_change(), 1..4)).prop_map(|(shot, changes)| Shot { changes, ..shot })
}

/// Whether somebody was told that something is wrong, or that it is over.
fn told(pair: &Pair) -> bool {
    pair.sides.iter().any(|side| {
        side.error.is_some()
            || side.events.iter().any(|event| {
                matches!(
                    event,
                    Event::InputConflict { .. }
                        | Event::Desync(_)
                        | Event::Disconnected { .. }
                        | Event::Ended(_)
                )
            })
    })
}

fn shoot(prepared: &Pair, phase: Phase, shots: &[Shot]) -> Result<(), TestCaseError> {
    let mut pair = twin(prepared);
    pair.forgiving = true;
    let known = [HOST, JOINER].map(|victim| Knows::of(prepared, victim));
    let heap = heap::live();
    for shot in shots {
        let victim = if shot.to_host { HOST } else { JOINER };
        let knows = known[victim].clone().now(&pair, victim);
        let mut bytes = prepared.tape[usize::from(shot.pick) % prepared.tape.len()].2.clone();
        for change in &shot.changes {
            change.make(&mut bytes, &prepared.tape, &knows);
        }
        let from = if shot.from_peer { forge::peer(victim) } else { stranger() };
        pair.inject(victim, from, &bytes);
        pair.run_for(ms(shot.wait_ms.into()));
    }
    phase.release_lobbies(&mut pair);
    let goal = pair.checked + 120;
    pair.run_until(Duration::from_secs(25), |pair| {
        pair.checked >= goal && (pair.diverged.is_none() || told(pair))
    });
    prop_assert!(
        pair.checked >= goal || told(&pair),
        "neither played nor told: {} of {goal}\n{}\n{}",
        pair.checked,
        pair.story(HOST),
        pair.story(JOINER)
    );
    prop_assert!(
        pair.diverged.is_none() || told(&pair),
        "diverged in silence: {:?}\n{}\n{}",
        pair.diverged,
        pair.story(HOST),
        pair.story(JOINER)
    );
    prop_assert!(pair.to_strangers <= pair.from_strangers);
    let grown = heap::live() - heap;
    prop_assert!(grown < 512 * 1_024, "{grown} bytes");
    Ok(())
}

/// Throws what was said in another match, and requires that it leaves no trace.
fn shoot_blindly(prepared: &Pair, phase: Phase, shots: &[Shot]) -> Result<(), TestCaseError> {
    let mut pair = twin(prepared);
    let tape = other_match();
    let knows = Knows::of(prepared, HOST);
    for shot in shots {
        let victim = if shot.to_host { HOST } else { JOINER };
        let mut bytes = tape[usize::from(shot.pick) % tape.len()].2.clone();
        for change in &shot.changes {
            change.make(&mut bytes, &tape, &knows);
        }
        let from = if shot.from_peer { forge::peer(victim) } else { stranger() };
        if !pair.sides[victim].asleep {
            pair.inject(victim, from, &bytes);
        }
        pair.run_for(ms(shot.wait_ms.into()));
    }
    phase.release_lobbies(&mut pair);
    let goal = pair.checked + 60;
    pair.run_until(Duration::from_secs(12), |pair| pair.checked >= goal);
    prop_assert!(
        pair.checked >= goal && pair.sides.iter().all(|side| side.events.is_empty()),
        "{} of {goal} frames\n{}\n{}",
        pair.checked,
        pair.story(HOST),
        pair.story(JOINER)
    );
    prop_assert!(pair.to_strangers <= pair.from_strangers);
    Ok(())
}

type Tape = Vec<(usize, std::net::SocketAddr, Vec<u8>)>;

/// Everything that was said in another match between the same two addresses.
fn other_match() -> Rc<Tape> {
    thread_local! {
        static TAPE: OnceCell<Rc<Tape>> = const { OnceCell::new() };
    }
    TAPE.with(|tape| {
        let record = || {
            let configs = [HOST, JOINER].map(|id| Config { entropy: Some(500 + id as u64), ..config(id) });
            let mut pair = Pair::new(configs);
            pair.record();
            pair.last_frame = 60;
            assert!(pair.run_until(Duration::from_secs(9), |pair| pair.sides.iter().all(Side::ended)));
            Rc::new(pair.tape)
        };
        Rc::clone(tape.get_or_init(record))
    })
}

/// Pairs are costly to bring into a phase, and cheap to clone.
fn prepared(phase: Phase) -> Pair {
    thread_local! {
        static PAIRS: [OnceCell<Pair>; 8] = const { [const { OnceCell::new() }; 8] };
    }
    PAIRS.with(|pairs| {
        pairs[phase as usize]
            .get_or_init(|| {
                let mut pair = phase.pair(HOST);
                // Whatever a match ever says can be said early.
                let mut whole = Phase::Over.pair(HOST);
                pair.tape.append(&mut whole.tape);
                pair
            })
            .clone()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn changed_datagrams_during_a_match_are_refused_or_told(shots in prop::collection::vec(shot(), 1..40)) {
        shoot(&prepared(Phase::Playing), Phase::Playing, &shots)?;
    }

    #[test]
    fn changed_datagrams_during_the_handshake_are_refused_or_told(
        phase in prop_oneof![
            Just(Phase::Waiting), Just(Phase::Challenged), Just(Phase::Incoming), Just(Phase::Offered),
            Just(Phase::Agreed),
        ],
        shots in prop::collection::vec(shot(), 1..30),
    ) {
        shoot(&prepared(phase), phase, &shots)?;
    }

    #[test]
    fn changed_datagrams_of_another_match_leave_no_trace(
        phase in prop_oneof![
            Just(Phase::Waiting), Just(Phase::Challenged), Just(Phase::Incoming), Just(Phase::Offered),
            Just(Phase::Agreed), Just(Phase::Playing),
        ],
        shots in prop::collection::vec(blind_shot(), 1..60),
    ) {
        shoot_blindly(&prepared(phase), phase, &shots)?;
    }

    #[test]
    fn changed_datagrams_at_the_end_are_refused_or_told(
        phase in prop_oneof![Just(Phase::Ending), Just(Phase::Over)],
        shots in prop::collection::vec(shot(), 1..30),
    ) {
        shoot(&prepared(phase), phase, &shots)?;
    }
}

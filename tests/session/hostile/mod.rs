//! Hostile datagrams, from any address and in any phase: each is counted, changes nothing and takes no memory, and nobody
//! is flooded with the answers.

mod channel;
mod edges;
mod flood;
mod forged;
mod guesses;
mod mutate;
mod pauses;
mod phase;
#[cfg(feature = "seal")]
mod sealed;
mod siege;
mod table;

use crate::pair::{Pair, addr, both_ended, ms, stranger};
pub(crate) use forged::ordered;
use phase::Phase;
use rebout::lab::forge::Knows;
use rebout::lab::{HOST, JOINER};
use rebout::{Event, Refusal, Verdict};
use std::time::Duration;
use support::heap;
use table::{Expect, Row, Source, rows};

/// The most memory that a single datagram may take for good.
const MAX_BYTES: i64 = 4_096;

fn from(source: Source, victim: usize) -> std::net::SocketAddr {
    match source {
        Source::Peer => addr(1 - victim),
        Source::Stranger => stranger(),
    }
}

/// The match is played on, or to its end, as if nothing had happened.
fn goes_on(pair: &mut Pair, phase: Phase, victim: usize, expect: Expect) -> Result<(), String> {
    let told = |pair: &Pair, what: fn(&Event) -> bool| {
        [HOST, JOINER].map(|id| pair.told(id).filter(|event| what(event)).count())
    };
    let conflicts = told(pair, |event| matches!(event, Event::InputConflict { .. }));
    let mut expected = [0, 0];
    expected[victim] = usize::from(expect == Expect::Conflict);
    if conflicts != expected && phase != Phase::Over {
        return Err(format!("conflicts told: {conflicts:?}"));
    }
    match phase {
        Phase::Ending | Phase::Over => {
            if !pair.step_until(Duration::from_secs(8), both_ended) {
                return Err("the match does not end".into());
            }
            pair.run_for(ms(1_000));
            let verdicts = [HOST, JOINER].map(|id| match pair.ending(id) {
                Some(Event::Ended(Verdict::Agreed { frame, .. })) => frame.0,
                Some(Event::Ended(Verdict::Unconfirmed { frame, .. })) => 1_000_000 + frame.0,
                _ => 0,
            });
            let mut right = [60, 60];
            if expect == Expect::EndsUnconfirmed {
                right[victim] += 1_000_000;
            }
            if verdicts != right || pair.checked().0 != 60 {
                return Err(format!("verdicts {verdicts:?} after {} frames", pair.checked().0));
            }
            for id in [HOST, JOINER] {
                let last = pair.told(id).last();
                if !matches!(last, Some(Event::Ended(_))) {
                    return Err(format!("after the last event: {last:?}"));
                }
            }
        }
        _ => {
            let goal = pair.checked().0 + 60;
            if !pair.step_until(Duration::from_secs(9), |pair| pair.checked().0 >= goal) {
                return Err(format!("only {} of {goal} frames", pair.checked().0));
            }
            let bad = told(pair, |event| {
                !matches!(event, Event::InputConflict { .. } | Event::PeerDelay { .. } | Event::Message(_))
            });
            if bad != [0, 0] {
                return Err("events".into());
            }
        }
    }
    Ok(())
}

/// A clone that does not keep what is sent.
fn fork_without_transcript(prepared: &Pair) -> Pair {
    let mut pair = prepared.fork();
    pair.world.network_mut().drop_recording();
    pair
}

/// How much memory a match takes from here on that nobody attacks: a clone has no spare room, and a lobby becomes a
/// session.
fn undisturbed_growth(phase: Phase, victim: usize, prepared: &Pair) -> i64 {
    let mut pair = fork_without_transcript(prepared);
    let heap = heap::live();
    phase.release(&mut pair);
    pair.run_for(ms(1));
    goes_on(&mut pair, phase, victim, Expect::Taken).expect("a match that nobody attacks");
    heap::live() - heap
}

/// Lets one datagram arrive in one phase, and says what was not as it should be.
fn judge(
    row: &Row,
    (phase, victim, source): (Phase, usize, Source),
    prepared: &Pair,
    undisturbed: i64,
) -> Result<(), String> {
    let knows = Knows::of(prepared, victim);
    let mut pair = fork_without_transcript(prepared);
    let datagram = (row.make)(&knows);
    let before = pair.machine(victim).refused();
    let heap = heap::live();
    pair.inject(victim, from(source, victim), &datagram);
    let after = pair.machine(victim).refused();
    let risen: Vec<(Refusal, u64)> = Refusal::ALL
        .iter()
        .map(|refusal| (*refusal, after.of(*refusal) - before.of(*refusal)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let expected = match row.expect {
        Expect::Refused(refusal) => vec![(refusal, 1)],
        Expect::Conflict => vec![(Refusal::InputConflict, 1)],
        Expect::Taken | Expect::EndsUnconfirmed => vec![],
    };
    if risen != expected {
        return Err(format!("counted {risen:?}, not {expected:?}"));
    }
    phase.release(&mut pair);
    pair.run_for(ms(1));
    if row.expect == Expect::Conflict {
        pair.run_for(ms(40));
    }
    goes_on(&mut pair, phase, victim, row.expect).map_err(|error| format!("{error}\n  {pair:?}"))?;
    if matches!(row.expect, Expect::Refused(_)) && phase == Phase::Playing {
        let total = pair.machine(victim).refused().total() - before.total();
        if total != 1 {
            return Err(format!("{total} refused in the end"));
        }
    }
    if pair.to_strangers() > pair.from_strangers() {
        return Err(format!("{} bytes for {}", pair.to_strangers(), pair.from_strangers()));
    }
    let grown = heap::live() - heap - undisturbed;
    if grown > MAX_BYTES {
        return Err(format!("{grown} bytes of memory"));
    }
    Ok(())
}

/// Runs the part of the table that is about one phase.
fn play_out(phase: Phase) -> usize {
    let (mut cases, mut failures) = (0, Vec::new());
    let rows = rows();
    for victim in [HOST, JOINER] {
        let prepared = phase.pair(victim);
        let undisturbed = undisturbed_growth(phase, victim, &prepared);
        let about = |row: &&Row| row.phases.contains(&phase) && row.victims.contains(&victim);
        for row in rows.iter().filter(about) {
            for source in row.sources {
                cases += 1;
                if let Err(error) = judge(row, (phase, victim, *source), &prepared, undisturbed) {
                    let who = if victim == HOST { "host" } else { "joiner" };
                    failures.push(format!("{} to the {who} from {source:?}: {error}", row.class));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{phase:?}: {} of {cases}:\n{}", failures.len(), failures.join("\n"));
    cases
}

#[test]
fn datagrams_before_the_challenge() {
    assert!(play_out(Phase::Waiting) > 200);
}

#[test]
fn datagrams_after_the_challenge() {
    assert!(play_out(Phase::Challenged) > 200);
}

#[test]
fn datagrams_while_the_host_decides() {
    assert!(play_out(Phase::Incoming) > 200);
}

#[test]
fn datagrams_after_the_offer() {
    assert!(play_out(Phase::Offered) > 200);
}

#[test]
fn datagrams_after_the_handshake() {
    assert!(play_out(Phase::Agreed) > 200);
}

#[test]
fn datagrams_during_a_match() {
    assert!(play_out(Phase::Playing) > 300);
}

#[test]
fn datagrams_while_a_match_ends() {
    assert!(play_out(Phase::Ending) > 200);
}

#[test]
fn datagrams_after_the_end() {
    assert!(play_out(Phase::Over) > 200);
}

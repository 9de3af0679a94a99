//! The same, thousands of times; and what was said in an earlier match, said again in a later one.

use crate::forge::Knows;
use crate::heap;
use crate::pair::{HOST, JOINER, Pair, Side, addr, config, ms};
use crate::phase::Phase;
use crate::table::{Expect, Row, rows};
use crate::{MOST_BYTES, from, goes_on, twin, undisturbed_growth};
use rebout::{Config, Refusal};
use std::time::Duration;

const FLOOD: u64 = 2_000;

/// Lets a flood of one datagram arrive within a few frames.
fn flood(row: &Row, victim: usize, prepared: &Pair, undisturbed: i64) -> Result<(), String> {
    for source in row.sources {
        let mut pair = twin(prepared);
        pair.reserve_flights();
        let knows = Knows::of(prepared, victim);
        let datagram = (row.make)(&knows);
        let before = pair.sides[victim].refused();
        let heap = heap::live();
        for _ in 0..FLOOD {
            pair.inject(victim, from(*source, victim), &datagram);
        }
        let refused = |refusal| pair.sides[victim].refused().of(refusal) - before.of(refusal);
        match row.expect {
            // It is delivered once, like every message, and found to be none then.
            Expect::Refused(refusal) if row.class.starts_with("AUTOPSY") && refused(refusal) == 1 => {}
            Expect::Refused(refusal) if refused(refusal) != FLOOD => {
                return Err(format!("{} refused", refused(refusal)));
            }
            Expect::Conflict if refused(Refusal::InputConflict) != FLOOD => {
                return Err("not all conflicts refused".into());
            }
            _ => {}
        }
        // And once more while answers go out.
        for n in 0..FLOOD {
            let datagram = (row.make)(&knows.clone().now(&pair, victim));
            pair.inject(victim, from(*source, victim), &datagram);
            if n % 40 == 0 {
                pair.step();
            }
        }
        goes_on(&mut pair, Phase::Playing, victim, row.expect)
            .map_err(|error| format!("{error}\n  {}\n  {}", pair.story(HOST), pair.story(JOINER)))?;
        if pair.to_strangers > pair.from_strangers {
            return Err(format!("{} bytes for {}", pair.to_strangers, pair.from_strangers));
        }
        let grown = heap::live() - heap - undisturbed;
        if grown > MOST_BYTES {
            return Err(format!("{grown} bytes of memory"));
        }
    }
    Ok(())
}

#[test]
fn floods_of_anything_leave_a_match_as_it_is() {
    let mut failures = Vec::new();
    for victim in [HOST, JOINER] {
        let prepared = Phase::Playing.pair(victim);
        let undisturbed = undisturbed_growth(Phase::Playing, victim, &prepared);
        for row in rows() {
            if row.phases.contains(&Phase::Playing)
                && row.victims.contains(&victim)
                && let Err(error) = flood(&row, victim, &prepared, undisturbed)
            {
                failures.push(format!("{} to {victim}: {error}", row.class));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Everything that was said in a match, handshake and end included.
fn earlier_match(entropy: u64) -> Vec<(usize, Vec<u8>)> {
    let configs = [HOST, JOINER].map(|id| Config { entropy: Some(entropy * 2 + id as u64), ..config(id) });
    let mut pair = Pair::new(configs);
    pair.record();
    pair.last_frame = 90;
    assert!(pair.run_until(Duration::from_secs(10), |pair| pair.sides.iter().all(Side::ended)));
    pair.tape.into_iter().map(|(from, _, bytes)| (from, bytes)).collect()
}

#[test]
fn an_earlier_match_said_again_changes_nothing() {
    for entropy in 100..120 {
        let tape = earlier_match(entropy);
        for phase in [Phase::Waiting, Phase::Challenged, Phase::Offered, Phase::Agreed, Phase::Playing] {
            for victim in [HOST, JOINER] {
                let mut pair = phase.pair(victim);
                let refused = pair.sides[victim].refused().total();
                let mut said = 0;
                for (_, bytes) in tape.iter().filter(|(from, _)| *from != victim) {
                    pair.inject(victim, addr(1 - victim), bytes);
                    said += 1;
                }
                let refused = pair.sides[victim].refused().total() - refused;
                assert!(refused > said * 9 / 10, "{phase:?}, {victim}: {refused} of {said} refused");
                phase.release(&mut pair);
                pair.step();
                goes_on(&mut pair, phase, victim, Expect::Taken).unwrap_or_else(|error| {
                    panic!(
                        "{entropy}, {phase:?}, {victim}: {error}\n{}\n{}",
                        pair.story(HOST),
                        pair.story(JOINER)
                    )
                });
            }
        }
    }
}

#[test]
fn the_same_match_said_again_while_it_runs_changes_nothing() {
    for victim in [HOST, JOINER] {
        let mut pair = Phase::Playing.pair(victim);
        let tape = pair.tape.clone();
        for (_, _, bytes) in tape.iter().filter(|(from, ..)| *from != victim) {
            pair.inject(victim, addr(1 - victim), bytes);
            pair.run_for(ms(1));
        }
        goes_on(&mut pair, Phase::Playing, victim, Expect::Taken)
            .unwrap_or_else(|error| panic!("{error}\n{}", pair.story(victim)));
    }
}

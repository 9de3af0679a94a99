//! Floods of hostile datagrams, and datagrams of an earlier match replayed in a later one.

use super::phase::Phase;
use super::table::{Expect, Row, rows};
use super::{MAX_BYTES, fork_without_transcript, from, goes_on, undisturbed_growth};
use crate::pair::{Pair, addr, both_ended, config, ms, pair_until};
use rebout::Refusal;
use rebout::lab::forge::Knows;
use rebout::lab::{HOST, JOINER};
use std::time::Duration;
use support::{heap, repeats};

/// Lets a flood of one datagram arrive within a few frames.
fn flood(row: &Row, victim: usize, prepared: &Pair, undisturbed: i64) -> Result<(), String> {
    let size = repeats(2_000);
    for source in row.sources {
        let mut pair = fork_without_transcript(prepared);
        // Room for a flood of answers, so that it does not count as taken by a machine.
        pair.world.network_mut().reserve(4_096);
        let knows = Knows::of(prepared, victim);
        let datagram = (row.make)(&knows);
        let before = pair.machine(victim).refused();
        let heap = heap::live();
        for _ in 0..size {
            pair.inject(victim, from(*source, victim), &datagram);
        }
        let refused = |refusal| pair.machine(victim).refused().of(refusal) - before.of(refusal);
        match row.expect {
            // It is delivered once, like every message, and found to be none then.
            Expect::Refused(refusal) if row.class.starts_with("AUTOPSY") && refused(refusal) == 1 => {}
            Expect::Refused(refusal) if refused(refusal) != size => {
                return Err(format!("{} refused", refused(refusal)));
            }
            Expect::Conflict if refused(Refusal::InputConflict) != size => {
                return Err("not all conflicts refused".into());
            }
            _ => {}
        }
        // And once more while answers go out.
        for n in 0..size {
            let datagram = (row.make)(&knows.clone().now(&pair, victim));
            pair.inject(victim, from(*source, victim), &datagram);
            if n.is_multiple_of(repeats(40)) {
                pair.run_for(ms(1));
            }
        }
        goes_on(&mut pair, Phase::Playing, victim, row.expect)
            .map_err(|error| format!("{error}\n  {pair:?}"))?;
        if pair.to_strangers() > pair.from_strangers() {
            return Err(format!("{} bytes for {}", pair.to_strangers(), pair.from_strangers()));
        }
        let grown = heap::live() - heap - undisturbed;
        if grown > MAX_BYTES {
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
    let configs = [HOST, JOINER]
        .map(|id| config(id).with(|config| config.lobby.entropy = Some(entropy * 2 + id as u64)));
    let mut pair = pair_until::<90>(configs);
    assert!(pair.step_until(Duration::from_secs(10), both_ended));
    pair.said().map(|said| (said.by, said.datagram.to_vec())).collect()
}

#[test]
fn replayed_packets_of_an_earlier_match_change_nothing() {
    for entropy in 100..100 + repeats(20) {
        let recorded = earlier_match(entropy);
        for phase in [Phase::Waiting, Phase::Challenged, Phase::Offered, Phase::Agreed, Phase::Playing] {
            for victim in [HOST, JOINER] {
                let mut pair = phase.pair(victim);
                let refused = pair.machine(victim).refused().total();
                let mut said = 0;
                for (_, bytes) in recorded.iter().filter(|(from, _)| *from != victim) {
                    pair.inject(victim, addr(1 - victim), bytes);
                    said += 1;
                }
                let refused = pair.machine(victim).refused().total() - refused;
                assert!(refused > said * 9 / 10, "{phase:?}, {victim}: {refused} of {said} refused");
                phase.release(&mut pair);
                pair.run_for(ms(1));
                goes_on(&mut pair, phase, victim, Expect::Taken)
                    .unwrap_or_else(|error| panic!("{entropy}, {phase:?}, {victim}: {error}\n{pair:?}"));
            }
        }
    }
}

#[test]
fn replayed_packets_of_the_match_change_nothing() {
    for victim in [HOST, JOINER] {
        let mut pair = Phase::Playing.pair(victim);
        let said = pair.said().filter(|said| said.by != victim);
        let recorded: Vec<Vec<u8>> = said.map(|said| said.datagram.to_vec()).collect();
        for bytes in &recorded {
            pair.inject(victim, addr(1 - victim), bytes);
            pair.run_for(ms(1));
        }
        goes_on(&mut pair, Phase::Playing, victim, Expect::Taken)
            .unwrap_or_else(|error| panic!("{error}\n{pair:?}"));
    }
}

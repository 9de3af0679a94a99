//! The rows of the table at a sealed pair, from outside: each changes one counter of the seal and nothing else, in every
//! phase.
//!
//! A seal cannot be copied, so that each row has no pair of its own: all rows of all phases, whichever victim and source
//! they are meant for, come to one pair in one moment. A second pair with the same seeds hears none of them, and must send
//! the same bytes at the same times from then on. Nothing is sampled.

use super::{MAX_BYTES, Phase, from};
use crate::hostile::table::{Source, rows};
use crate::pair::{Pair, both_ended, config, ms, pair_until, pair_with};
use core::time::Duration;
use rebout::lab::forge::Knows;
use rebout::lab::seal::SealRefusal;
use rebout::lab::{HOST, JOINER};
use std::collections::BTreeSet;
use support::heap;

const PHASES: [Phase; 8] = [
    Phase::Waiting,
    Phase::Challenged,
    Phase::Incoming,
    Phase::Offered,
    Phase::Agreed,
    Phase::Playing,
    Phase::Ending,
    Phase::Over,
];

/// How the joiner knows the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    Invite,
    Address,
}

/// A sealed pair in this phase, as seen from the victim. The names of packets cannot be read there: first bytes and states
/// tell the phases.
fn sealed(link: Link, phase: Phase, victim: usize) -> Pair {
    let mut configs = [config(HOST), config(JOINER)];
    configs[HOST].lobby.ask_before_accepting = phase == Phase::Incoming;
    let mut pair = match phase {
        Phase::Ending | Phase::Over => pair_until::<60>(configs),
        _ => pair_with(configs),
    };
    match link {
        Link::Invite => pair.seal(5),
        Link::Address => pair.seal_open(5),
    }
    let said =
        |pair: &Pair, first: u8| pair.said().any(|said| said.by == JOINER && said.datagram[0] == first);
    let limit = Duration::from_secs(20);
    let reached = match phase {
        Phase::Waiting => {
            pair.machine_mut(1 - victim).asleep = true;
            pair.run_for(ms(50));
            true
        }
        Phase::Challenged => pair.step_until(limit, |pair| said(pair, 0xE2)),
        Phase::Incoming => {
            let mut waited = ms(0);
            while pair.lobby_mut(HOST).incoming().is_none() && waited < limit {
                pair.run_for(ms(1));
                waited += ms(1);
            }
            pair.run_for(ms(100));
            waited < limit
        }
        Phase::Offered => pair.step_until(limit, |pair| said(pair, 0xE6)),
        Phase::Agreed => {
            [HOST, JOINER].iter().for_each(|id| pair.machine_mut(*id).begin_at = Duration::MAX);
            let both = |pair: &Pair| [HOST, JOINER].iter().all(|id| pair.machine(*id).has_agreed());
            let agreed = pair.step_until(limit, both);
            pair.run_for(ms(100));
            agreed
        }
        Phase::Playing => pair.step_until(limit, |pair| pair.checked().0 >= 100),
        Phase::Ending => {
            let certain =
                |pair: &Pair| pair.machine(victim).session().is_some_and(|one| one.settled().0 >= 60);
            pair.step_until(limit, certain) && !both_ended(&pair)
        }
        Phase::Over => {
            let over = pair.step_until(limit, both_ended);
            pair.run_for(ms(200));
            over
        }
    };
    assert!(reached, "{link:?}, {phase:?} is not reached: {pair:?}");
    pair
}

/// The datagrams of all rows to this victim, each as it is made in every phase of its own.
fn datagrams(victim: usize) -> Vec<Vec<u8>> {
    let rows = rows();
    let mut made = BTreeSet::new();
    for phase in PHASES {
        let knows = Knows::of(&phase.pair(victim), victim);
        made.extend(rows.iter().filter(|row| row.phases.contains(&phase)).map(|row| (row.make)(&knows)));
    }
    made.into_iter().collect()
}

/// The same datagrams behind a head that a watcher has copied from the newest packet to the victim, with the next counter
/// and a tag that is a guess.
fn with_copied_header(pair: &Pair, victim: usize, datagrams: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let overheard = pair.said().rev().find(|said| said.by != victim && said.datagram[0] >= 0xE4);
    let index = overheard.map_or([0, 0], |said| [said.datagram[1], said.datagram[2]]);
    let counter = overheard.map_or(0, |said| u16::from_be_bytes([said.datagram[3], said.datagram[4]]) + 1);
    let dress = |(number, bare): (usize, &Vec<u8>)| {
        let form = 0xE4 + (number % 4) as u8;
        let mut packet = vec![form, index[0], index[1]];
        if form == 0xE7 {
            packet.extend([0, 0]);
        }
        packet.extend(counter.to_be_bytes());
        if form == 0xE7 {
            packet.push(1 + (number % 6) as u8);
        }
        let room = 1_200 - packet.len() - 16;
        packet.extend(&bare[..bare.len().min(room)]);
        packet.extend([number as u8; 16]);
        packet
    };
    datagrams.iter().enumerate().map(dress).collect()
}

fn refused(pair: &Pair, victim: usize) -> Vec<(SealRefusal, u64)> {
    pair.machine(victim).seal.as_ref().expect("it is sealed").stats().refused.iter().collect()
}

/// Lets everything arrive, and compares the pair from then on with one that nobody attacks.
fn judge(link: Link, phase: Phase, victim: usize, bare: &[Vec<u8>]) -> usize {
    let [mut quiet, mut pair] = [(); 2].map(|()| sealed(link, phase, victim));
    let packets = [bare, &with_copied_header(&pair, victim, bare)[..]].concat();
    let what = format!("{link:?}, {phase:?}, to machine {victim}");
    let (stats, inner) =
        (*pair.machine(victim).seal.as_ref().expect("sealed").stats(), pair.machine(victim).refused());
    let heap = heap::live();
    for packet in &packets {
        for source in [Source::Peer, Source::Stranger] {
            let before = refused(&pair, victim);
            pair.inject(victim, from(source, victim), packet);
            let after = refused(&pair, victim);
            let risen: Vec<_> = after.iter().filter(|count| !before.contains(count)).collect();
            let total = |counts: &[(SealRefusal, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
            assert!(
                risen.len() == 1 && total(&after) == total(&before) + 1,
                "{what}, from {source:?}: {risen:?} for {packet:02X?}"
            );
            let reasons =
                [SealRefusal::Bare, SealRefusal::NoPacket, SealRefusal::UnknownIndex, SealRefusal::BadTag];
            assert!(reasons.contains(&risen[0].0), "{what}, from {source:?}: {risen:?} for {packet:02X?}");
        }
    }
    let grown = heap::live() - heap;
    assert!(grown <= MAX_BYTES, "{what}: {grown} bytes of memory");
    let seal = pair.machine(victim).seal.as_ref().expect("sealed");
    assert_eq!((seal.stats().handshakes, seal.stats().connections), (stats.handshakes, stats.connections));
    assert_eq!(pair.machine(victim).refused(), inner, "{what}: the protocol inside has seen something");
    for pair in [&mut quiet, &mut pair] {
        phase.release(pair);
        pair.run_for(Duration::from_secs(3));
    }
    assert_eq!(pair.to_strangers(), 0, "{what}: a stranger was answered");
    let traffic =
        |pair: &Pair| (pair.world.network().transcript().count(), pair.world.network().transcript().digest());
    assert_eq!(traffic(&pair), traffic(&quiet), "{what}: other traffic than without the attack");
    assert_eq!(
        [HOST, JOINER].map(|id| pair.told(id).cloned().collect::<Vec<_>>()),
        [HOST, JOINER].map(|id| quiet.told(id).cloned().collect::<Vec<_>>()),
        "{what}"
    );
    assert_eq!(pair.checked(), quiet.checked(), "{what}");
    assert!(pair.checked().0 >= 60, "{what}: {pair:?}");
    packets.len() * 2
}

fn play_out(link: Link) {
    for victim in [HOST, JOINER] {
        let bare = datagrams(victim);
        assert!(bare.len() > 300, "{}", bare.len());
        let cases: usize = PHASES.map(|phase| judge(link, phase, victim, &bare)).iter().sum();
        assert!(cases >= bare.len() * 32, "{cases}");
    }
}

#[test]
fn by_invite_every_row_changes_one_counter_in_every_phase() {
    play_out(Link::Invite);
}

#[test]
fn by_address_every_row_changes_one_counter_in_every_phase() {
    play_out(Link::Address);
}

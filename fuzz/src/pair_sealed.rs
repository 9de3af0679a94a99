//! A live pair on a sealed link, and an attacker on the path who has no key: it sees, copies, changes and sends in anybody's name.
//!
//! By invite every forged datagram is refused, and every copy of a packet that was delivered. The match ends as it does without the
//! attacker. A joiner by address alone trusts whoever answers first: there only the bounds hold.

use crate::attack::{MAX_ATTACKS, SEEN, damage, random_seeds, stranger};
use crate::bytes::Bytes;
use crate::memory::Kept;
use crate::pair_bare::{Pair, agreed, pair, seen};
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::EntryKind;
use rebout::lab::{HOST, JOINER, addresses};
use std::cell::OnceCell;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
const MAX_KEPT: i64 = 8 << 20;
/// The first byte of the packets that have a counter: DATA and control packets.
const COUNTED: core::ops::RangeInclusive<u8> = 0xE4..=0xE7;

thread_local! {
    /// The verdict of the match without an attacker.
    static CALM: OnceCell<u32> = const { OnceCell::new() };
}

fn sealed(is_invited: bool) -> Pair {
    let mut pair = pair(LinkConfig::new(Duration::from_millis(20)));
    if is_invited {
        pair.seal(5)
    } else {
        pair.seal_open(5)
    }
    pair
}

fn finish(pair: &mut Pair) {
    let is_over = |pair: &Pair| [HOST, JOINER].iter().all(|id| pair.machine(*id).ended());
    pair.run_until(LIMIT, is_over);
}

fn calm() -> u32 {
    let mut pair = sealed(true);
    finish(&mut pair);
    agreed(&pair).expect("a match without an attacker")
}

fn refused(pair: &Pair, id: usize) -> u64 {
    pair.machine(id).seal.as_ref().expect("a seal").stats().refused.total()
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let is_invited = bytes.u8() % 4 != 3;
    let mut pair = sealed(is_invited);
    let kept = Kept::new(MAX_KEPT);
    pair.run_for(Duration::from_millis(8) * u32::from(bytes.u8()));
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let victim = usize::from(bytes.flag());
        let seen = seen(&pair);
        let mut datagram = seen.get(bytes.below(SEEN)).cloned().unwrap_or_default();
        damage(&mut bytes, &mut datagram, &seen);
        let from = if bytes.u8().is_multiple_of(3) { stranger(&mut bytes) } else { addresses()[1 - victim] };
        let before = refused(&pair, victim);
        let is_taken = may_be_taken(&pair, victim, &datagram);
        pair.inject(victim, from, &datagram);
        if is_invited && !is_taken {
            let count = refused(&pair, victim) - before;
            assert_eq!(count, 1, "{victim} took {datagram:02X?} from {from}");
        }
        pair.run_for(bytes.wait());
    }
    finish(&mut pair);
    assert_eq!(pair.divergence(), None, "{pair:?}");
    if is_invited {
        let calm = CALM.with(|cell| *cell.get_or_init(calm));
        assert_eq!(agreed(&pair), Some(calm), "{pair:?}");
        assert_eq!([HOST, JOINER].map(|id| pair.told(id).count()), [1; 2], "{pair:?}");
    }
    kept.check();
}

/// Whether a datagram is one that the peer has sent to this machine, and that the seal may take: packets with a counter once.
fn may_be_taken(pair: &Pair, victim: usize, datagram: &[u8]) -> bool {
    let (here, there) = (addresses()[victim], addresses()[1 - victim]);
    let entries = pair.world.network().transcript().entries();
    let count = |kind: EntryKind, from| {
        let is_it = |entry: &&rebout::lab::sim::Entry| {
            entry.kind == kind && entry.datagram == datagram && entry.from == from
        };
        entries.iter().filter(is_it).count()
    };
    let is_theirs = count(EntryKind::Sent, there) > 0 && here != there;
    let is_counted = datagram.first().is_some_and(|first| COUNTED.contains(first));
    is_theirs && !(is_counted && count(EntryKind::Delivered, there) > 0)
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[&[0, 0], &[0, 3], &[0, 6], &[0, 9], &[0, 30], &[0, 100], &[0, 200], &[3, 0], &[3, 5]])
}

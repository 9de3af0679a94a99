//! The transfer of a first state on a bare link, and an attacker on the path, who sees, changes and sends in anybody's name.
//!
//! If both machines begin, they begin with the host's state. Memory stays below the limit of the guest.

use crate::attack::{MAX_ATTACKS, SEEN, change, random_seeds};
use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::Kept;
use crate::pair_bare::{impatient, seen};
use rebout::lab::forge::Knows;
use rebout::lab::link::LinkConfig;
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use std::time::Duration;

const MAX_KEPT: i64 = 8 << 20;
const STATE: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(20);

fn state() -> Vec<u8> {
    (0..STATE).map(|at| (at * 7 + at / 251) as u8).collect()
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut setup = Setup::new(1, LinkConfig::new(Duration::from_millis(20))).configure(impatient);
    setup.configs[HOST].lobby.first_state = state().into();
    setup.configs.iter_mut().for_each(|config| config.lobby.first_state_limit = 64 * 1_024);
    let kept = Kept::new(MAX_KEPT);
    let mut pair = SimMatch::new(setup, const { Sums::play::<30>() });
    pair.eavesdrop();
    pair.run_for(Duration::from_millis(4) * u32::from(bytes.u8()));
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let victim = usize::from(bytes.flag());
        let seen = seen(&pair);
        let mut datagram = seen.get(bytes.below(SEEN)).cloned().unwrap_or_default();
        let knows = Knows::of(&pair, victim);
        let change = change(&mut bytes);
        if !seen.is_empty() {
            change.apply(&mut datagram, &seen, &knows);
        }
        pair.inject(victim, addresses()[1 - victim], &datagram);
        pair.run_for(bytes.wait());
    }
    let has_begun =
        |pair: &SimMatch<Sums>| [HOST, JOINER].iter().all(|id| pair.machine(*id).session().is_some());
    pair.run_until(LIMIT, has_begun);
    for id in [HOST, JOINER] {
        if let Some(agreed) = pair.machine(id).agreed() {
            assert!(*agreed.first_state == *state(), "{id} begins with another state: {pair:?}");
        }
    }
    kept.check();
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[&[0], &[8], &[20], &[40], &[60]])
}

//! A live pair on a bare link: an attacker on the path who knows every number of the match, or a stranger who may send from any other
//! address.
//!
//! Against the first, the match is played or its end is told, and a divergence is never silent. The second changes nothing.

use crate::attack::{MAX_ATTACKS, SEEN, change, random_seeds, stranger};
use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::Kept;
use rebout::lab::forge::{self, Guesses, Knows};
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, addresses};
use rebout::{Config, Event, Session, Verdict};
use std::cell::OnceCell;
use std::time::Duration;

pub(crate) type Pair = SimMatch<Sums>;

/// The frames of a match.
const FRAMES: u32 = 90;
/// The moments of the attacks: during the handshake, in the match, and at its end.
const MOMENTS_MILLIS: [u64; 8] = [0, 35, 65, 95, 125, 400, 1_000, 1_620];
/// From this one on both machines play.
const FIRST_OF_MATCH: usize = 5;
/// The longest that a match takes to end after an attack.
const LIMIT: Duration = Duration::from_secs(60);
/// What the machines, the network and its transcript may grow by.
const MAX_KEPT: i64 = 8 << 20;

/// Times that let an execution end soon.
pub(crate) fn impatient(config: &mut Config) {
    let timeouts = &mut config.timeouts;
    (timeouts.join_timeout, timeouts.max_pause) = (Duration::from_secs(3), Duration::from_secs(3));
    (timeouts.lost_after, timeouts.no_progress_after) = (Duration::from_secs(3), Duration::from_secs(3));
    (timeouts.too_slow_after, timeouts.countdown) = (Duration::from_secs(3), Duration::from_secs(1));
}

pub(crate) fn pair(link: LinkConfig) -> Pair {
    let setup = Setup::new(1, link).configure(impatient);
    let mut pair = SimMatch::new(setup, const { Sums::play::<FRAMES>() });
    pair.eavesdrop();
    pair
}

thread_local! {
    static PREPARED: OnceCell<Vec<Pair>> = const { OnceCell::new() };
}

fn prepared() -> Vec<Pair> {
    let mut pair =
        pair(LinkConfig { loss: Chance::percent(2), ..LinkConfig::new(Duration::from_millis(30)) });
    let mut moments = Vec::new();
    for at in MOMENTS_MILLIS {
        let wait = Duration::from_millis(at).saturating_sub(pair.world.now());
        pair.run_for(wait);
        moments.push(pair.fork());
    }
    assert!(moments[FIRST_OF_MATCH].checked().0 > 0, "a match: {:?}", moments[FIRST_OF_MATCH]);
    assert!(!moments[MOMENTS_MILLIS.len() - 1].machine(HOST).ended(), "the last moment is before the end");
    moments
}

/// The verdict of both machines, if both have agreed on one.
pub(crate) fn agreed(pair: &Pair) -> Option<u32> {
    let verdict = |id| match pair.ending(id) {
        Some(Event::Ended(Verdict::Agreed { checksum, .. })) => Some(*checksum),
        _ => None,
    };
    verdict(HOST).filter(|checksum| verdict(JOINER) == Some(*checksum))
}

/// Whether nothing more happens by itself: a host may wait for ever, and so may who pauses.
fn is_settled(pair: &Pair) -> bool {
    [HOST, JOINER].iter().all(|id| {
        let machine = pair.machine(*id);
        machine.ended() || machine.session().is_none_or(|session| session.paused().is_some())
    })
}

fn has_told(pair: &Pair) -> bool {
    let tells = |event: &Event| {
        matches!(
            event,
            Event::InputConflict { .. } | Event::Desync(_) | Event::Disconnected { .. } | Event::Ended(_)
        )
    };
    [HOST, JOINER].iter().any(|id| pair.machine(*id).error.is_some() || pair.told(*id).any(tells))
}

/// The newest datagrams of both machines.
pub(crate) fn seen(pair: &Pair) -> Vec<Vec<u8>> {
    pair.said().rev().take(SEEN).map(|said| said.datagram.to_vec()).collect()
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let (moment, is_on_path) = (bytes.below(MOMENTS_MILLIS.len()), bytes.flag());
    let moment = if is_on_path { moment } else { moment.max(FIRST_OF_MATCH) };
    let mut pair = PREPARED.with(|moments| moments.get_or_init(prepared)[moment].fork());
    let kept = Kept::new(MAX_KEPT);
    let mut guesses = Guesses::new(bytes.u8().into());
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let victim = usize::from(bytes.flag());
        let seen = seen(&pair);
        let mut datagram = match seen.get(bytes.below(SEEN + 16)) {
            Some(datagram) => datagram.clone(),
            None => guesses.draw().to_vec(),
        };
        let knows = Knows::of(&pair, victim);
        for _ in 0..=bytes.below(3) {
            let change = change(&mut bytes);
            if !seen.is_empty() {
                change.apply(&mut datagram, &seen, &knows);
            }
        }
        let from = if is_on_path { addresses()[1 - victim] } else { stranger(&mut bytes) };
        let before = pair.machine(victim).refused().total();
        pair.inject(victim, from, &datagram);
        // Whoever asks is answered, and nothing is kept of it.
        if !is_on_path && forge::label(&datagram) != "HELLO" {
            let refused = pair.machine(victim).refused().total() - before;
            assert_eq!(refused, 1, "a datagram of a stranger was taken: {datagram:02X?}");
        }
        pair.run_for(bytes.wait());
    }
    pair.run_until(LIMIT, is_settled);
    assert!(is_settled(&pair), "the match neither ends nor is paused: {pair:?}");
    assert!(pair.divergence().is_none() || has_told(&pair), "diverged in silence: {pair:?}");
    assert!(pair.to_strangers() <= pair.from_strangers(), "amplified: {pair:?}");
    if !is_on_path {
        let told = [HOST, JOINER].map(|id| pair.told(id).count());
        assert!(agreed(&pair).is_some() && told == [1; 2], "a stranger changed the match: {pair:?}");
        assert_eq!(pair.divergence(), None);
    }
    assert!(
        [HOST, JOINER].iter().all(|id| pair.machine(*id).session().is_none_or(Session::ended)) || is_on_path
    );
    kept.check();
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[&[0, 1], &[2, 1], &[3, 1], &[4, 1], &[5, 1], &[6, 1], &[7, 1], &[5, 0], &[7, 0]])
}

//! A spectator whose broadcast is hostile: it has recorded what a true one sent, sends it in any order, damaged, cut and mixed, and knows
//! no key of the source.
//!
//! The log of the spectator is always the beginning of the true one, and whole when the spectator says so.

use crate::attack::{damage, random_seeds};
use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::Kept;
use rebout::lab::link::LinkConfig;
use rebout::lab::{HOST, Setup, SimMatch};
use rebout::replay::{End, Header, MatchEvent, Outcome, Winner};
use rebout::{
    Broadcast, BroadcastConfig, BroadcastKey, Config, Event, Protocol, Session, Spectator, Watching,
};
use std::cell::{OnceCell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// The log of a spectator, its chunks, and what it asked for.
const MAX_KEPT: i64 = 4 << 20;
const MAX_PACKETS: usize = 400;
/// The most datagrams of a spectator in one moment.
const MAX_BATCH: usize = 16;
const FRAMES: u32 = 400;
const SECRET: [u8; 32] = [0x5C; 32];

pub(crate) fn parent() -> SocketAddr {
    ([192, 0, 2, 1], 7_001).into()
}

/// A match that was broadcast.
struct Recorded {
    key: BroadcastKey,
    /// Every datagram of the source, in order.
    sent: Vec<Vec<u8>>,
    log: Vec<u8>,
}

thread_local! {
    static RECORDED: OnceCell<Recorded> = const { OnceCell::new() };
}

/// Plays a match with a broadcast, and watches it.
fn recorded() -> Recorded {
    let mut pair = SimMatch::new(
        Setup::new(1, LinkConfig::new(Duration::from_millis(10))),
        const { Sums::play::<FRAMES>() },
    );
    let broadcast = Rc::new(RefCell::new(Broadcast::new(BroadcastConfig::default(), &SECRET)));
    let key = broadcast.borrow().key().expect("a source");
    let (source, mut has_begun) = (Rc::clone(&broadcast), false);
    pair.machine_mut(HOST).watch = Some(Box::new(move |now, _, session: &Session<_>, _| {
        let mut source = source.borrow_mut();
        if !has_begun {
            has_begun = source.begin(now, &Header::of_match(&Config::new(0xB0), session.agreed()));
        }
        source.record(now, session);
        if session.settled().0 % 100 == 50 {
            (0..300).for_each(|mark| source.event(now, MatchEvent::Mark(mark)));
        }
    }));
    let mut spectator = Spectator::new(Duration::ZERO, key, parent());
    let (mut sent, mut buf) = (Vec::new(), vec![0; 2_048]);
    let watcher = SocketAddr::from(([192, 0, 2, 9], 9));
    let mut is_finished = false;
    for _ in 0..3_000 {
        pair.run_for(Duration::from_millis(10));
        let now = pair.world.now();
        if let (false, Some(Event::Ended(verdict))) = (is_finished, pair.ending(HOST)) {
            let end = End { outcome: Outcome::from(*verdict), winner: Winner::Undecided };
            broadcast.borrow_mut().finish(now, end);
            is_finished = true;
        }
        while let Some((_, len)) = spectator.poll_transmit(now, &mut buf) {
            broadcast.borrow_mut().handle_datagram(now, watcher, &buf[..len]);
        }
        while let Some((_, len)) = broadcast.borrow_mut().poll_transmit(now, &mut buf) {
            spectator.handle_datagram(now, parent(), &buf[..len]);
            sent.push(buf[..len].to_vec());
        }
        if spectator.state() == Watching::Complete {
            break;
        }
    }
    assert_eq!(spectator.state(), Watching::Complete, "the match is watched");
    Recorded { key, sent, log: spectator.bytes().to_vec() }
}

pub fn run(data: &[u8]) {
    RECORDED.with(|cell| watch(data, cell.get_or_init(recorded)));
}

fn watch(data: &[u8], recorded: &Recorded) {
    let mut bytes = Bytes::new(data);
    let kept = Kept::new(MAX_KEPT);
    let mut spectator = Spectator::new(Duration::ZERO, recorded.key, parent());
    let (mut now, mut at, mut buf) = (Duration::ZERO, 0, vec![0; 2_048]);
    for _ in 0..MAX_PACKETS {
        if bytes.is_empty() {
            break;
        }
        // Mostly the next one, and sometimes any other.
        let step = bytes.u8();
        at = if step < 160 { at + 1 } else { bytes.u16().into() } % recorded.sent.len();
        let mut datagram = recorded.sent[at].clone();
        if step % 8 == 7 {
            damage(&mut bytes, &mut datagram, &recorded.sent);
        }
        spectator.handle_datagram(now, parent(), &datagram);
        now += if step % 16 == 3 { bytes.wait() } else { Duration::from_millis(5) };
        let sent = core::iter::from_fn(|| spectator.poll_transmit(now, &mut buf)).take(MAX_BATCH + 1).count();
        assert!(sent <= MAX_BATCH, "{sent} datagrams in one moment");
        assert!(recorded.log.starts_with(spectator.bytes()), "another log than that of the source");
        if spectator.state() == Watching::Complete {
            assert_eq!(spectator.bytes().len(), recorded.log.len(), "a part is not complete");
        }
    }
    kept.check();
}

pub fn seeds() -> Vec<Vec<u8>> {
    // All datagrams as they were sent, and choices at random.
    let mut seeds = random_seeds(&[&[0], &[200, 0, 3], &[7, 7]]);
    seeds.push(vec![0; MAX_PACKETS]);
    seeds
}

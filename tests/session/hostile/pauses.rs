//! Forged datagrams that would pause a match, or end one that is paused.

use super::ordered;
use crate::pair::{Pair, addr, ms, pair, plays, stranger};
use core::time::Duration;
use rebout::Player;
use rebout::lab::forge::{Guesses, Knows, control, message};
use rebout::lab::wire::message::{Message, Ordered, Pause, PauseStep, Resume};
use rebout::lab::{HOST, JOINER};
use rebout::wire::WireFrame;
use rebout::wire::control::ControlPayload;
use support::repeats;

fn asks(k: &Knows) -> Vec<u8> {
    let frame = WireFrame(k.known + 6);
    ordered(k, 0, Ordered::Pause(Pause { step: PauseStep::Asks, frame, limit_secs: 60 }))
}

fn resume(k: &Knows, frame: u32, token: u64) -> Vec<u8> {
    message(k.header, &Message::Resume(Resume { token, frame: WireFrame(frame), left_millis: 0 }))
}

fn is_paused(pair: &Pair, id: usize) -> bool {
    pair.machine(id).session().is_some_and(|session| session.paused().is_some())
}

/// A match that the host has paused, and its frame on the wire.
fn paused() -> (Pair, u32) {
    let mut pair = pair();
    plays(&mut pair, 60);
    let now = pair.local_now(HOST);
    assert!(pair.session_mut(HOST).pause(now));
    pair.run_for(ms(800));
    assert!(is_paused(&pair, HOST) && is_paused(&pair, JOINER));
    let frame = Knows::of(&pair, HOST).first + pair.machine(HOST).session().expect("a match").current().0;
    (pair, frame)
}

/// Both machines are still paused, and go on when the host resumes.
fn still_paused(mut pair: Pair) {
    assert!(is_paused(&pair, HOST) && is_paused(&pair, JOINER), "{pair:?}");
    for id in [HOST, JOINER] {
        assert_eq!(pair.told(id).count(), 1, "{pair:?}");
    }
    let now = pair.local_now(HOST);
    assert!(pair.session_mut(HOST).resume(now));
    plays(&mut pair, 30);
}

/// Somebody who sees everything can pause a bare match: the test shows that its datagram is the right one.
#[test]
fn forged_pause_is_refused_on_a_sealed_link_alone() {
    for sealed in [false, true] {
        for from in [addr(JOINER), stranger()] {
            let mut pair = pair();
            if sealed {
                pair.seal(5);
            }
            plays(&mut pair, 60);
            let mut knows = Knows::of(&pair, HOST);
            if sealed {
                // More than anybody outside can know.
                let session = pair.machine(HOST).session().expect("a match");
                (knows.token, knows.first) = (session.agreed().token, 0);
                knows.first_number = (knows.token >> 16) as u16;
            }
            pair.inject(HOST, from, &asks(&knows));
            pair.run_for(ms(500));
            assert_eq!(is_paused(&pair, HOST), !sealed && from == addr(JOINER), "sealed: {sealed}, {from}");
        }
    }
}

#[test]
fn blind_guesses_neither_pause_nor_resume() {
    let (mut pair, _) = paused();
    pair.world.network_mut().drop_recording();
    let mut guesses = Guesses::new(7);
    for _ in 0..repeats(400) {
        for id in [HOST, JOINER] {
            for _ in 0..1_000 {
                let guess = guesses.draw().to_vec();
                pair.inject(id, addr(1 - id), &guess);
            }
        }
        pair.run_for(ms(10));
    }
    still_paused(pair);
}

/// No frames come in a pause, which is no evidence for a claim without a proof.
#[test]
fn disconnect_is_not_believed_in_a_pause() {
    let (mut pair, _) = paused();
    for _ in 0..100 {
        for id in [HOST, JOINER] {
            let Knows { header, .. } = Knows::of(&pair, id);
            pair.inject(id, addr(1 - id), &control(header, &ControlPayload::Disconnect));
        }
        pair.run_for(ms(100));
    }
    still_paused(pair);
}

#[test]
fn only_who_may_resume_ends_a_pause() {
    let (mut pair, frame) = paused();
    let [to_host, to_joiner] = [HOST, JOINER].map(|id| Knows::of(&pair, id));
    // The joiner may not before its time, a stranger never, and nobody without the token or for another pause.
    pair.inject(HOST, addr(JOINER), &resume(&to_host, frame, to_host.token));
    pair.inject(JOINER, stranger(), &resume(&to_joiner, frame, to_joiner.token));
    pair.inject(JOINER, addr(HOST), &resume(&to_joiner, frame, to_joiner.token ^ 1));
    pair.inject(JOINER, addr(HOST), &resume(&to_joiner, frame + 1, to_joiner.token));
    pair.run_for(Duration::from_secs(1));
    assert_eq!(
        pair.machine(HOST).session().and_then(rebout::Session::paused).map(|p| p.by),
        Some(Player::One)
    );
    still_paused(pair);
}

/// A peer that asks again and again gets an answer for each, and holds nothing up.
#[test]
fn requests_without_end_are_refused() {
    let mut pair = pair();
    plays(&mut pair, 60);
    for n in 0..200_u16 {
        let knows = Knows::of(&pair, HOST);
        let frame = WireFrame(knows.known + 3);
        let body = Ordered::Pause(Pause { step: PauseStep::Asks, frame, limit_secs: 60 });
        pair.inject(HOST, addr(JOINER), &ordered(&knows, n, body));
        pair.run_for(ms(20));
    }
    // The first was agreed to, in the joiner's name: the host waits for a frame that the joiner steps.
    assert!(is_paused(&pair, HOST) && !pair.machine(HOST).ended());
    let bytes = pair.machine(HOST).stats().bytes_out;
    assert!(bytes < 200_000, "{bytes} bytes in answer to 200 requests");
}

//! Blind guesses from the peer's address, by the million, at a match in which both sides send messages.

use crate::pair::{Pair, addr, config, ms, pair_with};
use rebout::lab::forge::Guesses;
use rebout::lab::{HOST, JOINER};
use rebout::{Config, Event};
use std::time::Duration;

/// As many as one sender has managed against a real duel.
const GUESSES_EACH_MS: u64 = 46;
const MESSAGE_EVERY_MS: u64 = 130;
const MAX_DELAY: Duration = Duration::from_secs(1);

/// A message that names itself and the time at which it was sent.
fn text(id: usize, number: u64, at: Duration) -> Vec<u8> {
    format!("{id} {number} {}", at.as_nanos()).into_bytes()
}

/// Each message of the game that a machine was told, as its number and the time that it took. Any other event fails.
fn told(pair: &Pair, id: usize) -> Vec<(u64, Duration)> {
    let message = |(at, event): &(Duration, Event)| {
        let Event::Message(bytes) = event else { panic!("machine {id} was told {event:?}") };
        let text = std::str::from_utf8(bytes).expect("a message that was sent");
        let words: Vec<u64> = text.split(' ').map(|word| word.parse().expect(text)).collect();
        assert_eq!(words[0], 1 - id as u64, "from the other side");
        (words[1], *at - Duration::from_nanos(words[2]))
    };
    pair.machine(id).events.iter().map(message).collect()
}

/// Lets `count` guesses arrive at each machine, and answers how many were taken.
fn guess(seed: u64, count: u64) -> u64 {
    let configs = [HOST, JOINER].map(|id| Config { entropy: Some(seed * 2 + id as u64), ..config(id) });
    let mut pair = pair_with(configs);
    pair.world.network_mut().drop_recording();
    assert!(pair.run_until_frame(60));
    let mut guesses = [HOST, JOINER].map(|id| Guesses::new(seed << 1 | id as u64));
    let begun = pair.world.now();
    let before = [HOST, JOINER].map(|id| pair.machine(id).refused().total());
    let mut sent = [0_u64; 2];
    for milli in 0..count / GUESSES_EACH_MS {
        for id in [HOST, JOINER] {
            for _ in 0..GUESSES_EACH_MS {
                pair.inject(id, addr(1 - id), guesses[id].draw());
            }
            // Now and then as many as the queue takes.
            let burst = if milli % (MESSAGE_EVERY_MS * 16) == 0 { 12 } else { 1 };
            if milli % MESSAGE_EVERY_MS == 0 {
                for _ in 0..burst {
                    let now = pair.local_now(id);
                    let sending = pair.session_mut(id).send(now, &text(id, sent[id], now));
                    assert_eq!(sending, Ok(()), "message {}", sent[id]);
                    sent[id] += 1;
                }
            }
        }
        pair.run_for(ms(1));
    }
    let refused = [HOST, JOINER].map(|id| pair.machine(id).refused().total());
    pair.run_for(Duration::from_secs(1));
    let frames = u64::from(pair.checked().0) - 60;
    let due = (pair.world.now() - begun).as_millis() as u64 * 60 / 1_000;
    assert!(frames.abs_diff(due) < due / 50 + 10, "{frames} frames instead of {due}: {pair:?}");
    for id in [HOST, JOINER] {
        let told = told(&pair, id);
        let numbers: Vec<u64> = told.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, (0..sent[1 - id]).collect::<Vec<_>>(), "every message once and in order");
        let slowest = told.iter().max_by_key(|(_, took)| *took).expect("messages");
        assert!(slowest.1 <= MAX_DELAY, "message {} to {id} took {:?}", slowest.0, slowest.1);
    }
    let rejected = refused[0] + refused[1] - before[0] - before[1];
    (count / GUESSES_EACH_MS * GUESSES_EACH_MS * 2).saturating_sub(rejected)
}

#[test]
fn a_million_guesses_end_nothing_deliver_nothing_and_delay_nothing() {
    guess(1, 500_000);
}

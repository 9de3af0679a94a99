//! A match under attack: both sides send messages, and what becomes of them is measured.

use crate::pair::{Pair, config, ms, pair_with};
use rebout::Event;
use rebout::lab::{HOST, JOINER};
use std::collections::VecDeque;
use std::time::Duration;

const MESSAGE_EVERY_MS: u64 = 130;
/// No message takes longer, and after an attack everything is as it should be.
pub(super) const MAX_DELAY: Duration = Duration::from_secs(1);

/// A message that names itself and the time at which it was sent.
fn text(id: usize, number: u64, at: Duration) -> Vec<u8> {
    format!("{id} {number} {}", at.as_nanos()).into_bytes()
}

/// A message that has arrived.
struct Told {
    number: u64,
    sent_at: Duration,
    told_at: Duration,
}

/// The messages that a machine was told of. Any other event fails.
fn told(pair: &Pair, id: usize) -> Vec<Told> {
    let message = |(at, event): &(Duration, Event)| {
        let Event::Message(bytes) = event else { panic!("machine {id} was told {event:?}") };
        let text = std::str::from_utf8(bytes).expect("a message that was sent");
        let words: Vec<u64> = text.split(' ').map(|word| word.parse().expect(text)).collect();
        assert_eq!(words[0], 1 - id as u64, "from the other side");
        Told { number: words[1], sent_at: Duration::from_nanos(words[2]), told_at: *at }
    };
    pair.machine(id).events.iter().map(message).collect()
}

/// A match under attack: both sides send messages, and other datagrams come from the peer's address.
pub(super) struct Siege {
    pub(super) pair: Pair,
    begun: Duration,
    pub(super) sent: [u64; 2],
    waiting: [VecDeque<Vec<u8>>; 2],
}

impl Siege {
    pub(super) fn new(seed: u64) -> Self {
        let configs = [HOST, JOINER]
            .map(|id| config(id).with(|config| config.lobby.entropy = Some(seed * 2 + id as u64)));
        let mut pair = pair_with(configs);
        assert!(pair.run_until_frame(60));
        let begun = pair.world.now();
        Self { pair, begun, sent: [0; 2], waiting: Default::default() }
    }

    /// Lets a millisecond pass, the `milli`th. Now and then a machine sends a message, or as many as the queue takes.
    pub(super) fn pass(&mut self, milli: u64) {
        if milli.is_multiple_of(MESSAGE_EVERY_MS) {
            let count = if milli.is_multiple_of(MESSAGE_EVERY_MS * 16) { 12 } else { 1 };
            for id in [HOST, JOINER] {
                (0..count).for_each(|_| self.say(id));
            }
        }
        [HOST, JOINER].iter().for_each(|id| self.send_waiting(*id));
        self.pair.run_for(ms(1));
    }

    /// Lets a machine send a message.
    pub(super) fn say(&mut self, id: usize) {
        self.waiting[id].push_back(text(id, self.sent[id], self.pair.local_now(id)));
        self.sent[id] += 1;
        self.send_waiting(id);
    }

    /// Sends what found no room before. That it waited counts too.
    fn send_waiting(&mut self, id: usize) {
        let now = self.pair.local_now(id);
        while let Some(message) = self.waiting[id].front()
            && self.pair.session_mut(id).send(now, message).is_ok()
        {
            self.waiting[id].pop_front();
        }
    }

    /// The match went on at its pace, and every message arrived once, in order and in time.
    pub(super) fn assert_unharmed(self) {
        let since = self.begun;
        self.assert_recovered(since);
    }

    /// The match went on at its pace, every message arrived once and in order, and none took longer than a second from
    /// when it was sent and from `since`, when the attack stopped.
    pub(super) fn assert_recovered(mut self, since: Duration) {
        self.pair.run_for(MAX_DELAY);
        let frames = u64::from(self.pair.checked().0) - 60;
        let due = (self.pair.world.now() - self.begun).as_millis() as u64 * 60 / 1_000;
        assert!(frames.abs_diff(due) < due / 100 + 10, "{frames} frames instead of {due}: {:?}", self.pair);
        let since = self.pair.world.clock(HOST).local(since);
        for id in [HOST, JOINER] {
            let told = told(&self.pair, id);
            let numbers: Vec<u64> = told.iter().map(|message| message.number).collect();
            assert_eq!(
                numbers,
                (0..self.sent[1 - id]).collect::<Vec<_>>(),
                "every message once and in order, to {id}"
            );
            for Told { number, sent_at, told_at } in told {
                let took = told_at.saturating_sub(sent_at.max(since));
                assert!(took <= MAX_DELAY, "message {number} to {id} took {took:?}");
            }
        }
    }
}

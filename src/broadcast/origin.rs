//! The log that a broadcast serves: that of the matches at this machine, or one that was received.

use super::signing::SigningKey;
use super::track::Track;
use crate::protocol::time::{Span, Time};
use crate::replay::Header;
use crate::wire::broadcast::{Head, MatchId, UNKNOWN_MILLIS};
use std::collections::VecDeque;

/// Matches whose logs are kept at once: with a delay, those that nobody has seen to their end.
const MAX_TRACKS: usize = 32;
/// The time after which the next match is shown, although a spectator has not received the last one to its end.
const GRACE: Span = Span::from_secs(10);

#[derive(Debug)]
pub(super) enum Origin {
    Source(Source),
    Relay(Relay),
}

/// The matches of this machine, the one that is shown first.
#[derive(Debug)]
pub(super) struct Source {
    key: SigningKey,
    tracks: VecDeque<Track>,
    matches: u32,
    delay: Span,
    max_len: usize,
}

/// A log that was received and verified.
#[derive(Debug, Default)]
pub(super) struct Relay {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl Source {
    pub(super) fn new(secret: &[u8; 32], delay: Span, max_len: usize) -> Self {
        Self { key: SigningKey::new(secret), tracks: VecDeque::new(), matches: 0, delay, max_len }
    }

    pub(super) fn key(&self) -> &SigningKey {
        &self.key
    }

    /// Numbers its matches behind those of an earlier program: a log that is written anew has a number of its own.
    pub(super) fn count_on_from(&mut self, matches: u32) {
        self.matches = matches;
    }

    pub(super) fn matches(&self) -> u32 {
        self.matches
    }

    /// Begins the log of a match. `false` if there is no room for it. One log is written at a time: that of a match without an end
    /// ends here, so that spectators can go on to the next, and gives back the memory that it does not need.
    pub(super) fn begin(&mut self, now: Time, header: &Header) -> bool {
        if let Some(before) = self.tracks.back_mut() {
            before.cut_off(now, self.delay);
        }
        let used = self.memory();
        let room = self.max_len.saturating_sub(used);
        if self.tracks.len() == MAX_TRACKS {
            return false;
        }
        self.matches = self.matches.saturating_add(1);
        let track = Track::new(now, self.key.match_id(self.matches), header, self.delay, room);
        self.tracks.extend(track);
        self.tracks.back().is_some_and(|track| track.of().number == self.matches)
    }

    /// The memory of all logs, at most that of the config.
    fn memory(&self) -> usize {
        self.tracks.iter().map(Track::memory).sum()
    }

    /// The log of the newest match, and the delay.
    #[inline]
    pub(super) fn newest(&mut self) -> Option<(&mut Track, Span)> {
        self.tracks.back_mut().map(|track| (track, self.delay))
    }

    /// Lets out the bytes that are old enough, and goes on to the next match. `has_seen_all` says whether every spectator has the whole
    /// log of this one.
    fn turn(&mut self, now: Time, has_seen_all: bool) {
        if let [first, next, ..] = self.tracks.make_contiguous()
            && first.is_over()
            && next.due_at() <= now
            && (has_seen_all || next.due_at() + GRACE <= now)
        {
            self.tracks.pop_front();
        }
        if let Some(track) = self.tracks.front_mut() {
            track.release(now);
        }
    }
}

impl Origin {
    /// Lets time pass.
    pub(super) fn turn(&mut self, now: Time, has_seen_all: bool) {
        if let Self::Source(source) = self {
            source.turn(now, has_seen_all);
        }
    }

    /// The statement about the log that is shown; `None` if there is none yet.
    pub(super) fn head(&mut self) -> Option<Head> {
        match self {
            Self::Source(source) => source.tracks.front_mut()?.head(&source.key),
            Self::Relay(relay) => relay.head,
        }
    }

    /// The match that is shown, and the length of its log; `None` if there is none yet.
    pub(super) fn shown(&self) -> Option<(MatchId, u32)> {
        match self {
            Self::Source(source) => {
                let track = source.tracks.front()?;
                let len = track.bytes().len() as u32;
                (len > 0).then_some((track.of(), len))
            }
            Self::Relay(relay) => relay.head.map(|head| (head.of, head.len)),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Source(source) => source.tracks.front().map_or(&[], Track::bytes),
            Self::Relay(relay) => &relay.bytes,
        }
    }

    /// When the next bytes leave: now for a match that waits for the one before it to be received.
    pub(super) fn due_at(&self) -> Time {
        match self {
            Self::Source(source) => {
                let first = source.tracks.front().map_or(Time::NEVER, Track::due_at);
                let next = source.tracks.get(1).map_or(Time::NEVER, Track::due_at);
                if first == Time::NEVER { next } else { first }
            }
            Self::Relay(_) => Time::NEVER,
        }
    }

    /// The time until the first bytes of a match in milliseconds, as a WAIT tells it.
    pub(super) fn wait_millis(&self, now: Time) -> u32 {
        match self.due_at() {
            Time::NEVER => UNKNOWN_MILLIS,
            at => (at.since(now).nanos() / 1_000_000) as u32,
        }
    }
}

impl Relay {
    /// Takes over a log that was verified as a whole.
    pub(super) fn follow(&mut self, head: Head, verified: &[u8]) {
        if self.head.is_none_or(|known| known.of != head.of) {
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(&verified[self.bytes.len()..]);
        self.head = Some(head);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::MatchEvent;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Fills a good part of a log of the newest match.
    fn fill(source: &mut Source, ms: u64) {
        for mark in 0..40_000 {
            let (track, delay) = source.newest().unwrap();
            if let Some(recorder) = track.recorder() {
                recorder.event(MatchEvent::Mark(mark));
                track.note(at(ms), delay);
            }
            assert!(source.memory() <= source.max_len, "{} of {} bytes", source.memory(), source.max_len);
        }
    }

    #[test]
    fn logs_without_an_end_stay_within_their_memory() {
        for max_len in [40, 1_000, 300_000, 700_000, 4 << 20] {
            let mut source = Source::new(&[7; 32], Span::from_secs(60), max_len);
            let begun = (0..40_u64).filter(|number| {
                let is_begun = source.begin(at(*number), &Header::new(5));
                assert!(source.memory() <= max_len, "{number}: {} of {max_len} bytes", source.memory());
                if is_begun && number % 3 == 0 {
                    fill(&mut source, *number);
                }
                assert!(source.memory() <= max_len, "{number}: {} of {max_len} bytes", source.memory());
                is_begun
            });
            assert_eq!(begun.count() > 0, max_len >= 1_000, "{max_len} bytes");
            assert!(source.tracks.len() <= MAX_TRACKS);
        }
    }

    /// Its frames and events belong to no log, and above all not to that of the match before.
    #[test]
    fn match_without_room_leaves_the_log_before_it_alone() {
        let mut source = Source::new(&[7; 32], Span::ZERO, 400_000);
        assert!(source.begin(at(0), &Header::new(5)));
        let first_state = vec![1; 400_000].into();
        assert!(!source.begin(at(1), &Header { first_state, ..Header::new(6) }));
        let (track, _) = source.newest().unwrap();
        assert!(track.of().number == 1 && track.recorder().is_none());
        assert!(source.begin(at(2), &Header::new(7)) && source.tracks.len() == 2);
    }
}

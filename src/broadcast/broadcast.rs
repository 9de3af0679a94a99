//! Serving a log to spectators.

use super::audience::Audience;
use super::config::{BroadcastConfig, BroadcastStats};
use super::guest::Due;
use super::origin::{Origin, Relay, Source};
use super::signing::BroadcastKey;
use super::spectator::Spectator;
use crate::channel::bucket::Bucket;
use crate::channel::entropy::system_bytes;
use crate::protocol::time::{Span, Time};
use crate::protocol::{Authenticated, ConnectionStep, PeerRole, Protocol};
use crate::replay::{End, Header, MatchEvent};
use crate::wire::broadcast::{Bye, Head, PIECE_LEN, Status, ToBroadcast, ToSpectator};
use crate::{Event, Fields, Frame, Inputs, Player, Session};
use core::time::Duration;
use std::net::SocketAddr;

/// The headers around a datagram: IPv4, UDP and the seal.
const AROUND: u32 = 20 + 8 + 21;
/// The longest datagram of a broadcast on the wire.
const MAX_LEN: u32 = AROUND + 9 + PIECE_LEN as u32;
/// The time whose share of the bandwidth may be sent at once.
const BURST: Span = Span::from_millis(50);

/// The shortest time from one look at the age of the log to the next.
const TURN_AFTER: Span = Span::from_millis(5);

/// The server of a match's log to its spectators, while the match runs.
///
/// The source of a match calls [`begin`](Self::begin), [`record`](Self::record) once after each `advance`,
/// [`hear`](Self::hear) for each event, and [`finish`](Self::finish). A spectator that serves others calls
/// [`follow`](Self::follow). It is a [`Protocol`]: poll it after that of the players, who are served first.
///
/// Everything is bounded: spectators, bandwidth, the datagrams that are read of each, and the log. `docs/SPECTATORS.md` has the
/// whole picture.
#[derive(Debug)]
pub struct Broadcast {
    origin: Origin,
    audience: Audience,
    bandwidth: Bucket,
    config: BroadcastConfig,
    /// When bytes were last let out.
    turned_at: Time,
    refused: u64,
    sent: u64,
    sent_bytes: u64,
}

impl Broadcast {
    /// The broadcast of the matches at this machine. `secret` is 32 random bytes, of which the key for the watch invite is made.
    #[must_use]
    pub fn new(config: BroadcastConfig, secret: &[u8; 32]) -> Self {
        let config = config.within_limits();
        let source = Source::new(secret, config.delay.into(), config.max_log_bytes as usize);
        Self::of(Origin::Source(source), config)
    }

    /// The broadcast of a machine that comes back into its match, with the secret of its earlier program, which has shown so many
    /// matches.
    pub(crate) fn resumed(config: BroadcastConfig, secret: &[u8; 32], matches: u32) -> Self {
        let mut broadcast = Self::new(config, secret);
        if let Origin::Source(source) = &mut broadcast.origin {
            source.count_on_from(matches);
        }
        broadcast
    }

    /// The same with a key that is drawn from the system's random bytes; `None` if it has none.
    #[must_use]
    pub fn with_drawn_key(config: BroadcastConfig) -> Option<Self> {
        Self::draw_secret().map(|secret| Self::new(config, &secret))
    }

    /// A secret of the system's random bytes.
    pub(crate) fn draw_secret() -> Option<[u8; 32]> {
        system_bytes()
    }

    /// A broadcast that passes on what a [`Spectator`] receives. The delay of the config does not count here.
    #[must_use]
    pub fn relay(config: BroadcastConfig) -> Self {
        Self::of(Origin::Relay(Relay::default()), config.within_limits())
    }

    fn of(origin: Origin, config: BroadcastConfig) -> Self {
        let per_byte = Span::from_secs(8) / config.bits_per_second;
        let bandwidth = Bucket::new(per_byte, BURST.max(per_byte * MAX_LEN));
        let audience = Audience::new(config.max_spectators.into());
        let turned_at = Time::ZERO;
        Self { origin, audience, bandwidth, config, turned_at, refused: 0, sent: 0, sent_bytes: 0 }
    }

    // Commands of a source.

    /// Begins a match. `false` if there is no room for its log, or if the header is not valid: nobody sees it then.
    pub fn begin(&mut self, now: Duration, header: &Header) -> bool {
        match &mut self.origin {
            Origin::Source(source) => source.begin(now.into(), header),
            Origin::Relay(_) => false,
        }
    }

    /// Records the frames that the last `advance` of `session` confirmed. Call it once after every `advance`.
    #[inline]
    pub fn record<S: Fields>(&mut self, now: Duration, session: &Session<S>) {
        if let Origin::Source(source) = &mut self.origin
            && let Some((track, delay)) = source.newest()
            && let Some(recorder) = track.recorder()
        {
            // A frame out of order cannot come. A log that is full ends here, and the match does not.
            let _ = recorder.record_session(session);
            track.note(now.into(), delay);
        }
    }

    /// Records a frame of the match that this machine steps to come back.
    pub(crate) fn log(&mut self, now: Duration, frame: Frame, inputs: Inputs) {
        // A frame out of order cannot come.
        self.note(now, |recorder| {
            let _ = recorder.record(frame, inputs);
        });
    }

    /// Records an event of the session; `local` is the seat at this machine. A message of the other player counts only if the config
    /// lets spectators have it.
    pub fn hear(&mut self, now: Duration, local: Player, event: &Event) {
        if let Event::Message(message) = event {
            self.message(now, local.other(), message);
            return;
        }
        self.note(now, |recorder| recorder.hear(local, event));
    }

    /// Records a message that a player sent, if the config lets spectators have it.
    pub fn message(&mut self, now: Duration, player: Player, message: &[u8]) {
        if self.config.chat {
            self.note(now, |recorder| recorder.message(player, message));
        }
    }

    /// Records an event that the session does not tell, such as a [mark](MatchEvent::Mark).
    pub fn event(&mut self, now: Duration, event: MatchEvent) {
        self.note(now, |recorder| recorder.event(event));
    }

    /// Ends the log of the match.
    pub fn finish(&mut self, now: Duration, end: End) {
        if let Origin::Source(source) = &mut self.origin
            && let Some((track, delay)) = source.newest()
        {
            track.finish(now.into(), delay, end);
        }
    }

    fn note(
        &mut self,
        now: Duration,
        note: impl FnOnce(&mut crate::replay::StreamRecorder<super::track::Tape>),
    ) {
        if let Origin::Source(source) = &mut self.origin
            && let Some((track, delay)) = source.newest()
            && let Some(recorder) = track.recorder()
        {
            note(recorder);
            track.note(now.into(), delay);
        }
    }

    // Commands of all.

    /// Takes over the log that `spectator` has verified so far. Call it after each turn of the spectator.
    pub fn follow(&mut self, spectator: &Spectator) {
        if let Origin::Relay(relay) = &mut self.origin
            && let Some((head, verified)) = spectator.proven()
        {
            relay.follow(head, verified);
        }
    }

    /// Tells every spectator that the broadcast is over, and lets nobody in.
    pub fn close(&mut self) {
        self.audience.close(Bye::Closed);
    }

    // Getters.

    /// The key by which spectators know the log of this source; `None` for a broadcast that passes on another's.
    #[must_use]
    pub fn key(&self) -> Option<BroadcastKey> {
        match &self.origin {
            Origin::Source(source) => Some(source.key().public()),
            Origin::Relay(_) => None,
        }
    }

    /// The number of the newest match.
    pub(crate) fn matches(&self) -> u32 {
        match &self.origin {
            Origin::Source(source) => source.matches(),
            Origin::Relay(_) => 0,
        }
    }

    /// The counters.
    #[must_use]
    pub fn stats(&self) -> BroadcastStats {
        let (joined, evicted) = self.audience.counts();
        BroadcastStats {
            spectators: self.audience.len(),
            joined,
            evicted,
            refused: self.refused,
            sent: self.sent,
            sent_bytes: self.sent_bytes,
        }
    }

    /// Whether every spectator has the whole of all matches so far. With a delay this takes as long after the end of a match.
    #[must_use]
    pub fn is_received(&self) -> bool {
        self.origin.due_at() == Time::NEVER && self.has_seen_all()
    }

    // Internal.

    fn has_seen_all(&self) -> bool {
        let shown = self.origin.shown();
        shown.is_none_or(|(of, len)| self.audience.guests().iter().all(|guest| guest.has_all(of, len)))
    }

    fn status(&self) -> Status {
        let delay_millis = self.config.delay.as_millis() as u32;
        Status { spectators: self.audience.len(), delay_millis }
    }

    fn handle(&mut self, now: Time, from: SocketAddr, packet: &[u8]) -> Option<()> {
        let shown = self.origin.shown();
        if let Some(guest) = self.audience.guest(from)
            && !guest.hear(now)
        {
            return None;
        }
        let packet = match (ToBroadcast::decode(packet), self.audience.guest(from)) {
            (Ok(packet), _) => packet,
            (Err(_), Some(guest)) => {
                guest.strike();
                return None;
            }
            (Err(_), None) => return None,
        };
        match packet {
            ToBroadcast::Watch { id, len } => {
                let known = self.audience.guests().iter().any(|guest| guest.addr() == from);
                let guest = if known { self.audience.guest(from) } else { self.audience.admit(now, from) }?;
                if let Some((of, held)) = shown {
                    // A beginning that is longer than the log is not one of it.
                    guest.watch(of, if of.id == id && len <= held { len } else { 0 });
                }
            }
            ToBroadcast::Ack(ack) => {
                let Some(guest) = self.audience.guest(from) else {
                    // It does not know that it was sent away.
                    self.audience.refuse(now, from, Bye::Silent);
                    return None;
                };
                if !guest.acknowledge(now, &ack) {
                    self.audience.evict(now, from, Bye::Misbehaved);
                    return None;
                }
            }
            ToBroadcast::Leave => self.audience.remove(from),
        }
        Some(())
    }

    /// The next datagram of a spectator.
    fn serve(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let head = self.origin.head();
        let (status, bytes) = (self.status(), self.origin.bytes());
        let wait = ToSpectator::Wait { millis: self.origin.wait_millis(now), status };
        self.audience.next(|guest| {
            let due = guest.poll(now, head.as_ref())?;
            let packet = match &due {
                Due::Status => head.map_or(wait, |head: Head| ToSpectator::Head(head, status)),
                Due::Piece(piece) => ToSpectator::Data {
                    number: head?.of.number,
                    offset: piece.start,
                    bytes: bytes.get(piece.start as usize..piece.end as usize)?,
                },
            };
            if due == Due::Status {
                guest.sent_status(now, head.as_ref());
            }
            Some((guest.addr(), packet.encode(buf)?))
        })
    }
}

impl Protocol for Broadcast {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if self.handle(now.into(), from, datagram).is_none() {
            self.refused += 1;
        }
    }

    #[inline]
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let now = Time::from(now);
        if self.origin.due_at() <= now {
            let has_seen_all = self.has_seen_all();
            self.origin.turn(now, has_seen_all);
            self.turned_at = now;
        }
        if self.audience.is_empty() {
            return None;
        }
        self.audience.sweep(now);
        if let Some((addr, why)) = self.audience.next_bye() {
            return Some((addr, ToSpectator::Bye(why).encode(buf)?));
        }
        // Whoever is next may have a whole piece coming.
        if self.bandwidth.has_at(MAX_LEN) > now {
            return None;
        }
        let (addr, len) = self.serve(now, buf)?;
        self.bandwidth.take_many(now, AROUND + len as u32);
        self.sent += 1;
        self.sent_bytes += len as u64;
        Some((addr, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.audience.has_byes() {
            return Some(Duration::ZERO);
        }
        let shown = self.origin.shown();
        let guests = self.audience.guests().iter().map(|guest| guest.poll_timeout(shown));
        let served = guests.min().unwrap_or(Time::NEVER).max(self.bandwidth.has_at(MAX_LEN));
        // The next match may wait until this one is received.
        let released = self.origin.due_at().max(self.turned_at + TURN_AFTER);
        let released = if self.audience.is_empty() { Time::NEVER } else { released };
        served.min(released).deadline()
    }

    fn lingers(&self) -> bool {
        self.audience.has_byes()
    }

    fn authenticated(&mut self) -> Option<&mut dyn Authenticated> {
        Some(self)
    }
}

impl Authenticated for Broadcast {
    fn connection(&mut self, _: Duration, peer: SocketAddr, step: ConnectionStep) {
        if step == ConnectionStep::Gone {
            self.audience.remove(peer);
        }
    }

    fn knows(&mut self, _: SocketAddr) -> bool {
        true
    }

    fn keeps(&mut self, peer: SocketAddr) -> bool {
        self.audience.guest(peer).is_some()
    }

    fn serves(&mut self, role: PeerRole) -> bool {
        role == PeerRole::Spectator
    }
}

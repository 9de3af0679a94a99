//! The joiner's side of the sealed handshake. It has no timer: the packets of the inner protocol drive it.

use super::association::Peer;
use super::contact::PATIENCE;
use super::handshakes::Arrival;
use super::mac::Mac;
use super::noise::{self, Handshake, Split};
use super::outbox::Outbox;
use super::padding::padded;
use super::paths::Paths;
use super::random::Secret;
use super::stats::SealRefusal;
use crate::protocol::PeerRole;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::{
    self, COMMITMENT_LEN, INIT_HEAD_LEN, INIT_LEN, InitHead, KEY_LEN, MAX_MESSAGE_LEN, PADDED_LEN, Pattern,
    Request, Resp, Retry,
};
use std::net::SocketAddr;

/// Packets of the inner protocol that follow a REQUEST or an INIT sooner than this repeat neither.
const REPEAT_AFTER: Span = Span::from_millis(100);
/// INITs that may still be answered: to addresses, and by signalling.
const MAX_ATTEMPTS: usize = 4;
/// Handshakes by address that may succeed: each is one more guess at the code for a man in the middle.
pub(super) const MAX_OPEN: u32 = 4;

/// An INIT that was sent, and the handshake behind it.
struct Attempt {
    pattern: Pattern,
    index: u16,
    /// `None` by signalling.
    to: Option<SocketAddr>,
    key: Secret,
    since: Time,
    /// How long the RETRY took.
    first_trip: Span,
    ephemeral: [u8; KEY_LEN],
    init: Vec<u8>,
    handshake: Handshake,
}

/// A handshake that has succeeded.
pub(super) struct Joined {
    pub(super) peer: Peer,
    pub(super) paths: Paths,
    pub(super) split: Split,
    /// The number of the connection at the host.
    pub(super) their_index: u16,
    /// The host's commitment to its part of the code, by address.
    pub(super) commitment: Option<[u8; COMMITMENT_LEN]>,
    /// The inner protocol's answer, in the front of the caller's buffer.
    pub(super) answer: core::ops::Range<usize>,
}

/// The host that is joined.
struct Target {
    /// Its key from an invite; `None` by address.
    key: Option<Secret>,
    mac: Mac,
    /// The addresses that get a REQUEST.
    addrs: Vec<SocketAddr>,
    /// Whether INITs travel by signalling, beside the REQUESTs to the addresses if there are any.
    is_by_signal: bool,
    /// The address that the inner protocol joins.
    inner_addr: SocketAddr,
}

/// The REQUESTs of this joiner.
struct Requests {
    /// The number by which they are answered.
    index: u16,
    /// When the first of this round was sent.
    first_at: Option<Time>,
    /// When one was sent or an INIT repeated last.
    said_at: Option<Time>,
}

/// The joiner's side.
pub(super) struct Joiner {
    target: Target,
    nonce: u64,
    requests: Requests,
    /// The newest opening message of the inner protocol.
    opening: Vec<u8>,
    attempts: Vec<Attempt>,
    /// Handshakes that have succeeded.
    succeeded: u32,
}

impl Joiner {
    pub(super) fn new(
        key: Option<Secret>,
        addrs: Vec<SocketAddr>,
        inner_addr: SocketAddr,
        nonce: u64,
        index: u16,
    ) -> Self {
        let mac = key.as_ref().map_or_else(Mac::open, |key| Mac::of(&key.0));
        Self {
            target: Target { key, mac, is_by_signal: addrs.is_empty(), addrs, inner_addr },
            nonce,
            requests: Requests { index, first_at: None, said_at: None },
            opening: Vec::with_capacity(MAX_MESSAGE_LEN),
            attempts: Vec::with_capacity(2 * MAX_ATTEMPTS),
            succeeded: 0,
        }
    }

    /// The address that the inner protocol joins.
    pub(super) fn inner_addr(&self) -> SocketAddr {
        self.target.inner_addr
    }

    pub(super) fn nonce(&self) -> u64 {
        self.nonce
    }

    /// The newest opening message of the inner protocol.
    pub(super) fn opening(&self) -> &[u8] {
        &self.opening
    }

    pub(super) fn set_opening(&mut self, opening: &[u8]) {
        self.opening.clear();
        self.opening.extend_from_slice(opening);
    }

    fn pattern(&self) -> Pattern {
        if self.target.key.is_some() { Pattern::Invite } else { Pattern::Open }
    }

    /// Whether handshakes travel by signalling.
    pub(super) fn is_by_signal(&self) -> bool {
        self.target.is_by_signal
    }

    /// Sends REQUESTs to these addresses too.
    pub(super) fn ask_at(&mut self, addrs: impl Iterator<Item = SocketAddr>) {
        self.target.addrs.extend(addrs);
    }

    /// The newest INIT to an address.
    fn last_sent(&self) -> Option<&Attempt> {
        self.attempts.iter().rfind(|attempt| attempt.to.is_some())
    }

    /// The INITs to addresses, or those by signalling, of which one more may be made after this.
    fn make_room(&mut self, is_by_signal: bool) {
        let is_alike = |attempt: &Attempt| attempt.to.is_none() == is_by_signal;
        if self.attempts.iter().filter(|attempt| is_alike(attempt)).count() == MAX_ATTEMPTS
            && let Some(oldest) = self.attempts.iter().position(is_alike)
        {
            self.attempts.remove(oldest);
        }
    }

    /// Whether a number is in use.
    pub(super) fn uses(&self, index: u16) -> bool {
        self.requests.index == index || self.attempts.iter().any(|attempt| attempt.index == index)
    }

    /// Whether a packet of the inner protocol lets the handshake go on at `now`.
    pub(super) fn is_due(&self, now: Time) -> bool {
        !self.is_exhausted() && self.requests.said_at.is_none_or(|at| now.since(at) >= REPEAT_AFTER)
    }

    /// The inner protocol sends a packet, and there is no connection, or none that answers: sends a REQUEST, or the newest INIT
    /// again.
    pub(super) fn request(&mut self, now: Time, out: &mut Outbox) {
        self.requests.said_at = Some(now);
        if self.target.addrs.is_empty() {
            return;
        }
        if let Some(attempt) = self.last_sent().filter(|attempt| now.since(attempt.since) < PATIENCE) {
            if let Some(to) = attempt.to {
                out.push(to, &attempt.init);
            }
            return;
        }
        if self.last_sent().is_some_and(|last| self.requests.first_at.is_some_and(|at| at <= last.since)) {
            self.requests.first_at = None;
        }
        self.requests.first_at.get_or_insert(now);
        let request = Request { pattern: self.pattern(), index: self.requests.index, nonce: self.nonce };
        for addr in &self.target.addrs {
            out.write(*addr, |buf| {
                seal::encode_request(&request, |covered| self.target.mac.write(covered), buf)
            });
        }
    }

    fn is_exhausted(&self) -> bool {
        self.target.key.is_none() && self.succeeded >= MAX_OPEN
    }

    /// Whether this RETRY is to be answered by an INIT: with which host's key.
    ///
    /// A RETRY of a REQUEST is, if no INIT to that key waits for its answer; a RETRY of an INIT is, because its cookie was no
    /// good. By address a RETRY with another key always is: a forged one must not keep out the right one.
    pub(super) fn key_for(&self, arrival: Arrival<'_>, retry: &Retry) -> Result<Secret, SealRefusal> {
        let Arrival { now, from, datagram } = arrival;
        if !self.target.mac.fits(datagram) {
            return Err(SealRefusal::BadMac);
        }
        let open_key = retry.open_key.map(Secret);
        let ((Some(key), None) | (None, Some(key))) = (self.target.key.clone(), open_key) else {
            return Err(SealRefusal::BadMac);
        };
        let of_init = self.attempts.iter().find(|attempt| attempt.index == retry.index);
        let expected = retry.nonce == self.nonce
            && self.target.addrs.contains(&from)
            && self.requests.first_at.is_some()
            && (of_init.is_some() || retry.index == self.requests.index)
            && !self.is_exhausted();
        let waits = |attempt: &Attempt| {
            attempt.to.is_some() && attempt.key.0 == key.0 && now.since(attempt.since) < PATIENCE
        };
        if !expected || of_init.is_none() && self.attempts.iter().any(waits) {
            return Err(SealRefusal::Unexpected);
        }
        Ok(key)
    }

    /// Answers a RETRY of the host with this key by an INIT, with a number and an ephemeral key of its own.
    pub(super) fn retry(
        &mut self,
        now: Time,
        from: SocketAddr,
        (retry, key): (&Retry, Secret),
        (index, ephemeral): (u16, Secret),
        out: &mut Outbox,
    ) -> Result<(), SealRefusal> {
        let invited = self.target.key.is_some();
        self.attempts.retain(|attempt| invited || now.since(attempt.since) < PATIENCE * 2);
        // By invite only the host can have made room necessary; by address a stranger can.
        if invited {
            self.make_room(false);
        } else if self.attempts.len() == MAX_ATTEMPTS {
            return Err(SealRefusal::Limited);
        }
        let names = (self.pattern(), index, retry.cookie);
        let begun = padded(&self.opening)
            .and_then(|opening| self.begin(now, (Some(from), key), names, ephemeral, &opening));
        let attempt = begun.ok_or(SealRefusal::BadHandshake)?;
        out.push(from, &attempt.init);
        self.attempts.push(attempt);
        Ok(())
    }

    /// Begins a handshake by signalling: the INIT, with a ticket in the cookie's place.
    pub(super) fn by_signal(
        &mut self,
        now: Time,
        ticket: u64,
        (index, ephemeral): (u16, Secret),
        signal: &[u8; PADDED_LEN],
    ) -> Option<Vec<u8>> {
        let key = self.target.key.clone()?;
        self.make_room(true);
        let names = (Pattern::Signal, index, ticket);
        let attempt = self.begin(now, (None, key), names, ephemeral, signal)?;
        let init = attempt.init.clone();
        self.attempts.push(attempt);
        Some(init)
    }

    /// Begins a handshake, with an INIT to send.
    fn begin(
        &self,
        now: Time,
        (to, key): (Option<SocketAddr>, Secret),
        (pattern, index, cookie): (Pattern, u16, u64),
        ephemeral: Secret,
        text: &[u8; PADDED_LEN],
    ) -> Option<Attempt> {
        let head = seal::init_head(&InitHead { pattern, index, nonce: self.nonce, cookie });
        let mut init = vec![0; INIT_LEN];
        let (front, body) = init.split_at_mut(INIT_HEAD_LEN);
        front.copy_from_slice(&head);
        let (handshake, len) = noise::begin(&key.0, &head, ephemeral, text, body)?;
        let ephemeral = body.first_chunk().copied().unwrap_or_default();
        let whole =
            seal::put_mac(INIT_HEAD_LEN + len + 8, |covered| self.target.mac.write(covered), &mut init)?;
        init.truncate(whole);
        let first_trip = self.requests.first_at.map_or(Span::ZERO, |at| now.since(at));
        Some(Attempt { pattern, index, to, key, since: now, first_trip, ephemeral, init, handshake })
    }

    /// Takes a RESP, whose text is written to the front of `text`. One that does not fit changes nothing.
    pub(super) fn resp(
        &mut self,
        now: Time,
        resp: &Resp<'_>,
        text: &mut [u8],
    ) -> Result<Joined, SealRefusal> {
        let open = self.target.key.is_none();
        let attempt = self.attempts.iter_mut().find(|attempt| attempt.index == resp.index);
        let attempt = attempt.ok_or(SealRefusal::Unexpected)?;
        let (split, len) = attempt.handshake.finish(resp.message, text).ok_or(SealRefusal::BadHandshake)?;
        let front = if open { 2 + COMMITMENT_LEN } else { 2 };
        if len < front {
            return Err(SealRefusal::BadHandshake);
        }
        let &mut Attempt { pattern, index, ephemeral, to, first_trip, since, .. } = attempt;
        let (inner_addr, nonce, role) = (self.target.inner_addr, self.nonce, PeerRole::Host);
        let joined = Joined {
            peer: Peer { inner_addr, index, pattern, role, access: None, nonce, ephemeral },
            // Either time is too long if a packet was lost, and neither too short.
            paths: Paths::new(to, first_trip.min(now.since(since))),
            split,
            their_index: u16::from_be_bytes([text[0], text[1]]),
            commitment: open.then(|| text[2..].first_chunk().copied().unwrap_or_default()),
            answer: front..len,
        };
        // Keys by signalling have no path yet: an address may still be the first to answer.
        if pattern == Pattern::Signal {
            self.attempts.retain(|attempt| attempt.to.is_some());
        } else {
            self.abandon();
        }
        self.succeeded += 1;
        Ok(joined)
    }

    /// Makes all handshakes that have not succeeded void: there is a connection to the peer.
    pub(super) fn abandon(&mut self) {
        self.attempts.clear();
        self.requests.first_at = None;
    }
}

#[cfg(test)]
mod tests;

//! The newest registrations that a host has signed, and the server's challenges of their addresses.

use crate::protocol::time::{Span, Time};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A signed registration that is not granted for this long is given up for a new one, which may sign for another address.
const GIVE_UP_AFTER: Span = Span::from_secs(8);
/// Challenges are answered this long apart.
const CHALLENGE_AFTER: Span = Span::from_millis(100);
/// The most signed registrations that are remembered, which are those of the last minute.
const MAX_SIGNED: usize = 16;

/// A registration that was signed: a server has it, even if its GRANT was lost. A DELIVER has the nonce of one of them.
#[derive(Clone, Copy, Debug)]
struct Signed {
    nonce: u64,
    host: SocketAddr,
    at: Time,
}

/// A question of the server whether the address of a registration still receives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenge {
    /// The nonce of the registration.
    pub(super) nonce: u64,
    pub(super) host: SocketAddr,
    /// The cookie to sign.
    pub(super) cookie: u64,
}

/// The signed registrations, the newest last.
#[derive(Debug, Default)]
pub(super) struct SignedLog {
    list: VecDeque<Signed>,
    challenge: Option<Challenge>,
    next_challenge_at: Time,
}

impl SignedLog {
    /// A registration was signed, perhaps again.
    pub(super) fn note(&mut self, now: Time, nonce: u64, host: SocketAddr) {
        if self.list.back().is_some_and(|last| last.nonce == nonce) {
            return;
        }
        if self.list.len() == MAX_SIGNED {
            self.list.pop_front();
        }
        self.list.push_back(Signed { nonce, host, at: now });
    }

    /// The address for which a registration was signed.
    pub(super) fn host(&self, nonce: u64) -> Option<SocketAddr> {
        self.list.iter().find(|signed| signed.nonce == nonce).map(|signed| signed.host)
    }

    /// Whether the registration with this nonce was signed, and too long ago.
    pub(super) fn is_given_up(&self, now: Time, nonce: u64) -> bool {
        self.list.back().is_some_and(|signed| signed.nonce == nonce && now.since(signed.at) >= GIVE_UP_AFTER)
    }

    /// The server challenges an address.
    pub(super) fn challenged(&mut self, now: Time, challenge: Challenge) {
        if self.next_challenge_at <= now {
            self.challenge = Some(challenge);
            self.next_challenge_at = now + CHALLENGE_AFTER;
        }
    }

    pub(super) fn is_challenged(&self) -> bool {
        self.challenge.is_some()
    }

    pub(super) fn take_challenge(&mut self) -> Option<Challenge> {
        self.challenge.take()
    }
}

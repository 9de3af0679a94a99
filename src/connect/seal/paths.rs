//! The outer addresses of a peer: the one in use, and the checked paths that are tried when it is silent or a better one is known.

use super::contact::SILENT;
use super::random::Random;
use super::roam::{MAX_CANDIDATES, Outcome, Roam, Standing};
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use std::net::SocketAddr;

/// The most paths that are tried when nothing comes.
pub const MAX_FALLBACKS: usize = 3;

/// The challenges that are due: where to, and their values.
pub(super) type Challenges = [Option<(SocketAddr, u64)>; 1 + MAX_CANDIDATES];

/// The paths of an association.
#[derive(Debug)]
pub(super) struct Paths {
    /// The address in use; `None` before the first path of a handshake by signalling.
    outer_addr: Option<SocketAddr>,
    round_trip: Span,
    /// Checked paths that get copies when nothing is opened any more.
    fallbacks: Vec<SocketAddr>,
    /// A checked path that is better than the one in use.
    preferred: Option<SocketAddr>,
    /// Whether the first path was found since the inner protocol was told.
    found: bool,
    /// The addresses of a peer that may have moved, or that is tried on other paths.
    roam: Option<Box<Roam>>,
}

impl Paths {
    pub(super) fn new(outer_addr: Option<SocketAddr>, round_trip: Span) -> Self {
        let fallbacks = Vec::with_capacity(MAX_FALLBACKS);
        Self { outer_addr, round_trip, fallbacks, preferred: None, found: false, roam: None }
    }

    /// The address in use.
    #[inline]
    pub(super) fn outer_addr(&self) -> Option<SocketAddr> {
        self.outer_addr
    }

    pub(super) fn round_trip(&self) -> Span {
        self.round_trip
    }

    /// Whether a path is in use, or a fallback.
    pub(super) fn has(&self, addr: SocketAddr) -> bool {
        self.outer_addr == Some(addr) || self.fallbacks.contains(&addr)
    }

    /// Whether copies go to other addresses.
    #[inline]
    pub(super) fn is_roaming(&self) -> bool {
        self.roam.is_some()
    }

    /// Uses an address that was proven.
    pub(super) fn settle(&mut self, outer_addr: SocketAddr) {
        self.outer_addr = Some(outer_addr);
    }

    /// Uses a checked path at once, as the first one or in the place of one that has carried nothing.
    pub(super) fn begin(&mut self, path: SocketAddr, round_trip: Span) {
        (self.outer_addr, self.round_trip, self.found) = (Some(path), round_trip, true);
    }

    /// A checked path is better than the one in use.
    pub(super) fn prefer(&mut self, path: SocketAddr) {
        if self.outer_addr != Some(path) {
            self.preferred = Some(path);
        }
    }

    /// Replaces the fallbacks.
    pub(super) fn set_fallbacks(&mut self, paths: &[SocketAddr]) {
        self.fallbacks.clear();
        self.fallbacks.extend(paths.iter().take(MAX_FALLBACKS));
    }

    /// Whether the first path was found since the last call.
    pub(super) fn take_found(&mut self) -> bool {
        core::mem::take(&mut self.found)
    }

    /// Notes the source of a decrypted packet. Returns whether there is a candidate since now.
    #[inline]
    pub(super) fn heard(&mut self, now: Time, from: SocketAddr, len: usize, newest: bool) -> bool {
        (self.outer_addr != Some(from) || self.roam.is_some()) && self.strayed(now, from, len, newest)
    }

    #[cold]
    fn strayed(&mut self, now: Time, from: SocketAddr, len: usize, newest: bool) -> bool {
        let standing = if self.fallbacks.contains(&from) { Standing::Checked } else { Standing::Unproven };
        match (&mut self.roam, self.outer_addr) {
            (Some(roam), _) => roam.heard(now, (from, standing), len, newest),
            (None, Some(outer_addr)) if newest => {
                let mut roam = Roam::new(now, outer_addr, from, standing);
                roam.heard(now, (from, standing), len, newest);
                self.roam = Some(Box::new(roam));
                return true;
            }
            (None, _) => {}
        }
        false
    }

    /// Calls `send` with each other address that may get `len` more bytes.
    pub(super) fn also_to(&mut self, len: usize, send: impl FnMut(SocketAddr)) {
        if let Some(roam) = &mut self.roam {
            roam.also_to(len, send);
        }
    }

    /// Takes the answer to a challenge. An answer that comes after the decision is right.
    pub(super) fn proof(&mut self, value: u64) -> bool {
        self.roam.as_mut().is_none_or(|roam| roam.proof(value))
    }

    /// Tries a better path, and the fallbacks if nothing was decrypted since `silent_at`. Returns when to look again.
    pub(super) fn try_others(&mut self, now: Time, silent_at: Time) -> Time {
        if let Some(better) = self.preferred.take() {
            self.try_path(now, better, Standing::Preferred);
        }
        if self.fallbacks.is_empty() {
            return Time::NEVER;
        }
        if now < silent_at {
            return silent_at;
        }
        for at in 0..self.fallbacks.len() {
            self.try_path(now, self.fallbacks[at], Standing::Checked);
        }
        now + SILENT
    }

    fn try_path(&mut self, now: Time, addr: SocketAddr, standing: Standing) {
        match (&mut self.roam, self.outer_addr) {
            (Some(roam), Some(outer_addr)) if addr != outer_addr => roam.add(now, addr, standing),
            (None, Some(outer_addr)) if addr != outer_addr => {
                self.roam = Some(Box::new(Roam::new(now, outer_addr, addr, standing)));
            }
            _ => {}
        }
    }

    /// Decides between the addresses. Returns the challenges of `len` bytes that are due, and when to decide again.
    pub(super) fn decide(
        &mut self,
        now: Time,
        len: usize,
        random: &mut Random,
    ) -> Option<(Challenges, Time)> {
        let roam = self.roam.as_mut()?;
        match roam.decide(now, self.round_trip) {
            Outcome::Undecided => {}
            Outcome::Moved(outer_addr) => {
                trace::handshake(outer_addr, "peer moved");
                self.outer_addr = Some(outer_addr);
            }
            Outcome::Settled => {
                self.roam = None;
                return None;
            }
        }
        Some((roam.challenge(now, len, || random.next_u64()), roam.challenge_at()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    #[test]
    fn only_a_newer_packet_makes_a_candidate() {
        let mut paths = Paths::new(Some(addr(1)), Span::ZERO);
        let mut copies = |port, ms, newest| {
            let began = paths.heard(at(ms), addr(port), 50, newest);
            let mut ports = Vec::new();
            paths.also_to(100, |to| ports.push(to.port()));
            (began, ports)
        };
        assert_eq!(copies(2, 0, false), (false, vec![]));
        assert_eq!(copies(2, 0, true), (true, vec![2]));
        assert_eq!(copies(3, 400, false), (false, vec![]), "all that came from port 2 was answered");
        assert_eq!(copies(3, 400, true), (false, vec![3]));
    }
}

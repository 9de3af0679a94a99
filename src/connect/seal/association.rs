//! One association of a seal: its keys, its inner and its outer address.

use super::channel::Channel;
use super::code::Comparison;
use super::noise::Handshake;
use super::outbox::Outbox;
use super::paths::Paths;
use super::random::Random;
use super::roam::{Outcome, Roam, Standing};
use crate::protocol::time::{Span, Time};
use crate::protocol::trace;
use crate::protocol::{ConnectionStep, PeerRole};
use crate::wire::seal::{CONTROL_HEAD_LEN, KEY_LEN, Kind, MAX_CONTROL_LEN, Pattern, TAG_LEN};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// The outer address of a connection that has no path yet: its handshake was brought by signalling.
pub(super) const NO_PATH: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// A peer of which nothing was opened for so long is gone.
const SEEK: Span = Span::from_secs(60);

/// A handshake whose RESP waits for the inner protocol's answer.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) handshake: Handshake,
    /// The number of the connection at the joiner.
    pub(super) index: u16,
    /// Where the INIT came from; by signalling [`NO_PATH`].
    pub(super) to: SocketAddr,
}

/// One handshake with a peer and the keys that came of it. A guest may have several, until one of them is confirmed.
#[derive(Debug)]
pub(super) struct Association {
    /// The address that the inner protocol sees.
    pub(super) inner_addr: SocketAddr,
    /// The address that packets go to.
    pub(super) outer_addr: SocketAddr,
    /// The number of the connection here.
    pub(super) index: u16,
    pub(super) pattern: Pattern,
    pub(super) role: PeerRole,
    /// The joiner's nonce.
    pub(super) nonce: u64,
    /// The joiner's ephemeral key, by which a repeated INIT is known.
    pub(super) ephemeral: [u8; KEY_LEN],
    pub(super) round_trip: Span,
    pub(super) since: Time,
    /// When a packet was opened last.
    pub(super) opened_at: Time,
    /// When the inner protocol had an opening message after a silence: it looks for a peer that may have other keys by now.
    pub(super) sought_at: Option<Time>,
    /// When a FIND may be sent next.
    pub(super) find_at: Time,
    /// How many packets were sealed up to the last FIND.
    pub(super) sought_with: u64,
    /// Whether the inner protocol knows of it.
    pub(super) at_inner: bool,
    /// Whether DATA or a control packet of it was opened.
    pub(super) confirmed: bool,
    pub(super) answering: Option<Box<Answering>>,
    /// A handshake by signalling that waits for the signal that answers it.
    pub(super) unanswered: Option<Box<Answering>>,
    /// The keys, once the RESP is written or read.
    pub(super) channel: Option<Channel>,
    /// The RESP, for an INIT that comes again.
    pub(super) resp: Vec<u8>,
    pub(super) comparison: Comparison,
    /// The other addresses of a peer that may have moved, or that is tried on other paths.
    pub(super) roam: Option<Box<Roam>>,
    pub(super) paths: Paths,
    /// Whether it is certain who the peer is: by invite always, by address once a player has compared the code.
    pub(super) verified: bool,
}

impl Association {
    /// An association of no keys yet. `names` are its number here, the pattern, the joiner's nonce and ephemeral key.
    pub(super) fn new(
        now: Time,
        role: PeerRole,
        (inner_addr, outer_addr): (SocketAddr, SocketAddr),
        (index, pattern, nonce, ephemeral): (u16, Pattern, u64, [u8; KEY_LEN]),
    ) -> Self {
        Self {
            inner_addr,
            outer_addr,
            index,
            pattern,
            role,
            nonce,
            ephemeral,
            round_trip: Span::ZERO,
            since: now,
            opened_at: now,
            sought_at: None,
            find_at: now,
            sought_with: 0,
            at_inner: false,
            confirmed: false,
            answering: None,
            unanswered: None,
            channel: None,
            resp: Vec::new(),
            roam: None,
            paths: Paths::default(),
            comparison: Comparison::Invited,
            verified: pattern != Pattern::Open,
        }
    }

    /// The step to tell the inner protocol of.
    pub(super) fn step(&self) -> ConnectionStep {
        let (round_trip, role) = (self.round_trip.into(), self.role);
        if self.confirmed {
            ConnectionStep::Confirmed { round_trip, role }
        } else {
            ConnectionStep::Reached { round_trip, role }
        }
    }

    /// Whether the peer was there and nothing says that it is gone.
    pub(super) fn holds(&self) -> bool {
        self.confirmed && self.sought_at.is_none_or(|at| at <= self.opened_at)
    }

    /// Whether INITs of this nonce from this address are of the same guest. By address a nonce alone proves nothing: a
    /// watcher can repeat it.
    pub(super) fn is_guest(&self, pattern: Pattern, nonce: u64, from: SocketAddr) -> bool {
        self.role == PeerRole::Player
            && self.pattern == pattern
            && self.nonce == nonce
            && (pattern != Pattern::Open || self.outer_addr == from)
    }
}

impl Association {
    /// Queues a control packet to the address in use, and to the others if there are any.
    pub(super) fn say(&mut self, kind: Kind, text: &[u8], out: &mut Outbox) {
        let Some(channel) = &mut self.channel else { return };
        let mut buf = [0; MAX_CONTROL_LEN];
        let Some(len) = channel.seal_control(kind, text, &mut buf) else { return };
        out.push(self.outer_addr, &buf[..len]);
        if let Some(roam) = &mut self.roam {
            roam.also_to(len, |to| out.push(to, &buf[..len]));
        }
    }

    /// Says FIND to a peer of which nothing was opened. One that has been silent for long is gone: it is sought only while anything
    /// else is sent to it.
    pub(super) fn seek(&mut self, now: Time, out: &mut Outbox) {
        let sealed = |one: &Self| one.channel.as_ref().map_or(0, Channel::sealed);
        if now.since(self.opened_at) < SEEK || sealed(self) != self.sought_with {
            self.say(Kind::Find, b"", out);
            self.sought_with = sealed(self);
        }
    }

    /// Queues the opening message as the first packet, or a FIND if it is empty: only an opened packet confirms a guest.
    pub(super) fn open(&mut self, opening: &[u8], out: &mut Outbox) {
        match &mut self.channel {
            Some(channel) if !opening.is_empty() => out.write(self.outer_addr, |buf| {
                buf.get_mut(..opening.len())?.copy_from_slice(opening);
                channel.seal_data(buf, opening.len())
            }),
            _ => self.say(Kind::Find, b"", out),
        }
    }

    /// Queues a control packet to one address.
    pub(super) fn say_to(&mut self, to: SocketAddr, kind: Kind, text: &[u8], out: &mut Outbox) {
        if let Some(channel) = &mut self.channel {
            out.write(to, |buf| channel.seal_control(kind, text, buf));
        }
    }

    /// Notes an opened packet that came from another address than the one in use, or while there are others. Returns whether
    /// there are others since now.
    #[cold]
    pub(super) fn strayed(&mut self, now: Time, from: SocketAddr, len: usize, newest: bool) -> bool {
        let standing =
            if self.paths.fallbacks.contains(&from) { Standing::Checked } else { Standing::Unproven };
        match &mut self.roam {
            Some(roam) => roam.heard(now, (from, standing), len, newest),
            None if newest => {
                let mut roam = Roam::new(now, self.outer_addr, from, standing);
                roam.heard(now, (from, standing), len, newest);
                self.roam = Some(Box::new(roam));
                return true;
            }
            None => {}
        }
        false
    }

    /// Decides between the addresses, and challenges all. Returns when to do so again.
    pub(super) fn roam(&mut self, now: Time, random: &mut Random, out: &mut Outbox) -> Time {
        let Some(roam) = &mut self.roam else { return Time::NEVER };
        match roam.decide(now, self.round_trip) {
            Outcome::Undecided => {}
            Outcome::Moved(outer_addr) => {
                trace::handshake(outer_addr, "peer moved");
                self.outer_addr = outer_addr;
            }
            Outcome::Settled => {
                self.roam = None;
                return Time::NEVER;
            }
        }
        let challenges = roam.challenge(now, CONTROL_HEAD_LEN + 8 + TAG_LEN, || random.next_u64());
        let due = roam.challenge_at();
        for (to, value) in challenges.into_iter().flatten() {
            self.say_to(to, Kind::Challenge, &value.to_be_bytes(), out);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::Split;
    use super::super::random::Secret;
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn addr(port: u16) -> SocketAddr {
        ([192, 0, 2, 7], port).into()
    }

    fn association(role: PeerRole, pattern: Pattern) -> Association {
        let split = Split { keys: [Secret([1; 32]), Secret([2; 32])], hash: [0; 32] };
        let names = (7, pattern, 77, [7; KEY_LEN]);
        let channel = Channel::new(&split, true, 9);
        Association { channel, ..Association::new(at(0), role, (addr(100), addr(1)), names) }
    }

    #[test]
    fn guest_is_known_by_role_pattern_nonce_and_address() {
        let guest = |role, pattern, nonce, from| {
            association(role, pattern).is_guest(Pattern::Invite, nonce, addr(from))
        };
        assert!(guest(PeerRole::Player, Pattern::Invite, 77, 2), "by invite from anywhere");
        assert!(!guest(PeerRole::Host, Pattern::Invite, 77, 1));
        assert!(!guest(PeerRole::Player, Pattern::Signal, 77, 1));
        assert!(!guest(PeerRole::Player, Pattern::Invite, 78, 1));
        let open = association(PeerRole::Player, Pattern::Open);
        assert_eq!([1, 2].map(|port| open.is_guest(Pattern::Open, 77, addr(port))), [true, false]);
    }

    #[test]
    fn confirmed_peer_holds_if_heard_since_it_was_sought() {
        let mut one = association(PeerRole::Player, Pattern::Invite);
        assert!(!one.holds());
        one.confirmed = true;
        assert!(one.holds());
        one.sought_at = Some(at(5));
        assert!(!one.holds());
        one.opened(at(5));
        assert!(one.holds());
    }

    #[test]
    fn silent_peer_is_sought_for_a_minute_or_while_packets_go_out() {
        let (mut one, mut out) = (association(PeerRole::Player, Pattern::Invite), Outbox::new());
        let mut sought = |one: &mut Association, ms| {
            one.seek(at(ms), &mut out);
            out.pop(&mut [0; 64]).is_some()
        };
        assert_eq!([1_000, 59_999, 60_000].map(|ms| sought(&mut one, ms)), [true, true, false]);
        one.channel.as_mut().unwrap().seal_data(&mut [0; 64], 5);
        assert_eq!([61_000, 62_000].map(|ms| sought(&mut one, ms)), [true, false]);
    }

    #[test]
    fn only_a_newer_packet_makes_a_candidate() {
        let mut one = association(PeerRole::Player, Pattern::Invite);
        let mut copies = |port, ms, newest| {
            let began = one.strayed(at(ms), addr(port), 50, newest);
            let mut ports = Vec::new();
            one.roam.iter_mut().for_each(|roam| roam.also_to(100, |to| ports.push(to.port())));
            (began, ports)
        };
        assert_eq!(copies(2, 0, false), (false, vec![]));
        assert_eq!(copies(2, 0, true), (true, vec![2]));
        assert_eq!(copies(3, 400, false), (false, vec![]), "all that came from port 2 was answered");
        assert_eq!(copies(3, 400, true), (false, vec![3]));
    }
}

//! The content of grants: TURN credentials, and tickets for rooms that do not exist.

use super::Minter;
use super::config::RendezvousConfig;
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::channel::source::Source;
use crate::protocol::time::{Span, Time};
use crate::wire::rendezvous::{Room, TurnGrant};
use std::net::SocketAddr;

/// A made-up ticket changes as often as that of a host.
const TICKET_PERIOD: Span = Span::from_secs(15);

/// Makes credentials, which are the same for every room, and tickets for rooms that do not exist.
pub(super) struct Grants {
    key: Key,
    unix_at_zero: u64,
    valid_secs: u16,
    turn: Option<Turn>,
}

struct Turn {
    server: SocketAddr,
    minter: Minter,
}

impl Grants {
    pub(super) fn new(config: RendezvousConfig, key: Key) -> Self {
        let turn = config.turn.map(|turn| Turn { server: turn.server, minter: Minter::new(&turn.secret) });
        let valid_secs = u16::try_from(config.credentials_valid.as_secs()).unwrap_or(u16::MAX);
        Self { key, unix_at_zero: config.unix_at_zero, valid_secs, turn }
    }

    /// Credentials for a source. Their id is that of the source, so that a quota of the TURN server bounds each source. They
    /// do not depend on the room: otherwise the TURN server would reveal whether a room exists.
    pub(super) fn turn(&self, now: Time, source: Source) -> Option<TurnGrant> {
        let turn = self.turn.as_ref()?;
        let secs = now.since(Time::ZERO).nanos() / Span::from_secs(1).nanos();
        let expiry = self.unix_at_zero.saturating_add(secs).saturating_add(self.valid_secs.into());
        let expiry = u32::try_from(expiry).unwrap_or(u32::MAX);
        let id = self.id(source);
        let password = turn.minter.password(expiry, id);
        Some(TurnGrant { server: turn.server, expiry, valid_secs: self.valid_secs, id, password })
    }

    /// The ticket of a room that does not exist. It changes from time to time, as that of a host does.
    pub(super) fn ticket(&self, now: Time, room: &Room) -> u64 {
        let phase = keyed_hash(self.key, room) % TICKET_PERIOD.nanos();
        let period = (now.since(Time::ZERO).nanos().wrapping_add(phase)) / TICKET_PERIOD.nanos();
        let mut bytes = [0; 24];
        bytes[..16].copy_from_slice(room);
        bytes[16..].copy_from_slice(&period.to_be_bytes());
        keyed_hash(self.key, &bytes)
    }

    fn id(&self, source: Source) -> [u8; 6] {
        let hash = keyed_hash(self.key, source.bytes());
        hash.to_be_bytes().first_chunk().copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::TurnService;
    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn grants() -> Grants {
        let turn = TurnService { server: "192.0.2.9:3478".parse().unwrap(), secret: b"north".to_vec() };
        let config = RendezvousConfig { turn: Some(turn), unix_at_zero: 1_700_000_000, ..Default::default() };
        Grants::new(config, (1, 2))
    }

    #[test]
    fn credentials_expire_and_name_their_source() {
        let source = |last| Source::machine(([192, 0, 2, last], 7_000).into());
        let credentials = grants().turn(at(30), source(1)).unwrap();
        assert_eq!((credentials.expiry, credentials.valid_secs), (1_700_000_630, 600));
        assert_eq!(grants().turn(at(30), source(1)), Some(credentials));
        assert_ne!(grants().turn(at(30), source(2)).unwrap().id, credentials.id);
        let v6 = |text: &str| grants().turn(at(30), Source::machine(text.parse().unwrap())).unwrap().id;
        assert_eq!(v6("[2001:db8::1]:7"), v6("[2001:db8::2]:8"), "one /64 is one source");
        assert_ne!(v6("[2001:db8::1]:7"), v6("[2001:db8:0:1::1]:7"));
    }

    #[test]
    fn made_up_ticket_is_the_same_for_a_while() {
        let grants = grants();
        let changes = (1..=150)
            .filter(|secs| grants.ticket(at(*secs), &[7; 16]) != grants.ticket(at(secs - 1), &[7; 16]));
        assert_eq!(changes.count(), 10);
        let changes_at = |room| {
            (1..=15).find(|secs| {
                grants.ticket(at(*secs), &[room; 16]) != grants.ticket(at(secs - 1), &[room; 16])
            })
        };
        assert!((0..9).any(|room| changes_at(room) != changes_at(7)), "not all rooms at once");
        assert_ne!(grants.ticket(at(0), &[7; 16]), grants.ticket(at(0), &[8; 16]));
    }
}

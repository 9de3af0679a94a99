//! The tickets of a host, by which INITs are admitted that a rendezvous or a person brings: the same for all its keys.

use super::limits::Limits;
use super::stats::SealRefusal;
use crate::protocol::time::{Span, Time};
use crate::wire::seal::KEY_LEN;
use std::collections::VecDeque;

/// The tickets of a host.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    /// The newest ticket, and the one before it.
    good: [Option<u64>; 2],
}

impl Tickets {
    /// A new ticket. The one before it stays good.
    pub(super) fn renew(&mut self, ticket: u64) {
        self.good = [Some(ticket), self.good[0]];
    }

    fn are_good(&self, ticket: u64) -> bool {
        self.good.contains(&Some(ticket))
    }
}

/// The handshakes that were worked off for tickets, to one key. Their limits are apart from those of INITs that come as datagrams:
/// a flood of one kind does not stop the other.
#[derive(Debug, Default)]
pub(super) struct BySignal {
    /// When handshakes of the last second were worked off.
    passed: VecDeque<Time>,
    /// The tickets and ephemeral keys of INITs that were worked off: each opens one handshake.
    keys: VecDeque<(u64, [u8; KEY_LEN])>,
    limits: Limits,
}

impl BySignal {
    /// Sets the limits by the number of guests that are expected.
    pub(super) fn expect(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Admits an INIT, or says why not.
    pub(super) fn admit(
        &mut self,
        now: Time,
        tickets: &Tickets,
        ticket: u64,
        ephemeral: [u8; KEY_LEN],
    ) -> Result<(), SealRefusal> {
        self.keys.retain(|(used, _)| tickets.are_good(*used));
        if !tickets.are_good(ticket) || self.keys.iter().any(|(_, used)| *used == ephemeral) {
            return Err(SealRefusal::BadCookie);
        }
        while self.passed.front().is_some_and(|at| now.since(*at) >= Span::from_secs(1)) {
            self.passed.pop_front();
        }
        if self.passed.len() >= self.limits.signals() || self.keys.len() >= self.limits.keys_by_signal() {
            return Err(SealRefusal::Limited);
        }
        self.passed.push_back(now);
        self.keys.push_back((ticket, ephemeral));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> [u8; KEY_LEN] {
        [number; KEY_LEN]
    }

    #[test]
    fn four_a_second_and_as_many_keys_as_are_remembered() {
        let (mut tickets, limited) = (Tickets::default(), Err(SealRefusal::Limited));
        let mut by_signal = BySignal::default();
        tickets.renew(1);
        for number in 0..128_u8 {
            let now = Time::ZERO + Span::from_millis(250) * u32::from(number);
            assert_eq!(by_signal.admit(now, &tickets, 1, key(number)), Ok(()));
            if number > 2 {
                assert_eq!(by_signal.admit(now, &tickets, 1, key(200)), limited, "the fifth in a second");
            }
        }
        let later = Time::ZERO + Span::from_secs(60);
        assert_eq!(
            by_signal.admit(later, &tickets, 1, key(200)),
            limited,
            "no more keys than are remembered"
        );
        tickets.renew(2);
        assert_eq!(by_signal.admit(later, &tickets, 2, key(200)), limited, "the ticket before is still good");
        tickets.renew(3);
        assert_eq!(by_signal.admit(later, &tickets, 3, key(200)), Ok(()), "its keys went with it");
    }
}

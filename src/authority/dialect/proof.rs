//! The proof of an address: a sequence number that only somebody who received it can name.

use crate::channel::cookie::{ADDRESS_LEN, address_bytes};
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A proof is of one period; that of the period before is still good.
const PERIOD: Span = Span::from_secs(5);

/// Makes and recognises proofs. The only state is the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proofs {
    key: Key,
}

impl Proofs {
    pub(super) fn with_key(key: Key) -> Self {
        Self { key }
    }

    /// The sequence number that proves now that `from` received the offer of `id`.
    pub(super) fn offer(&self, now: Time, from: SocketAddr, id: u8) -> u16 {
        self.of_period(period(now), from, id)
    }

    /// Whether `named` is the proof of this period or of the one before.
    pub(super) fn proves(&self, now: Time, from: SocketAddr, id: u8, named: u16) -> bool {
        let period = period(now);
        named == self.of_period(period, from, id)
            || (period > 0 && named == self.of_period(period - 1, from, id))
    }

    /// The id is part of the proof: if the id was taken by another in the meantime the proof is void, and the client asks
    /// again.
    fn of_period(&self, period: u64, from: SocketAddr, id: u8) -> u16 {
        let mut bytes = [0; ADDRESS_LEN + 9];
        bytes[..ADDRESS_LEN].copy_from_slice(&address_bytes(from));
        bytes[ADDRESS_LEN] = id;
        bytes[ADDRESS_LEN + 1..].copy_from_slice(&period.to_be_bytes());
        keyed_hash(self.key, &bytes) as u16
    }
}

fn period(now: Time) -> u64 {
    now.since(Time::ZERO).nanos() / PERIOD.nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv6Addr, SocketAddrV6};

    #[test]
    fn proof_covers_the_whole_address_and_the_id() {
        let proofs = Proofs::with_key((1, 2));
        let v6 = |last, port, scope| {
            SocketAddrV6::new(Ipv6Addr::new(1, 2, 3, 4, 5, 6, 7, last), port, 0, scope).into()
        };
        let proof = proofs.offer(Time::ZERO, v6(8, 9, 10), 11);
        let proven = |addr, id| proofs.proves(Time::ZERO, addr, id, proof);
        assert!(proven(v6(8, 9, 10), 11));
        let others = [(v6(9, 9, 10), 11), (v6(8, 10, 10), 11), (v6(8, 9, 11), 11), (v6(8, 9, 10), 12)];
        assert!(others.iter().all(|(addr, id)| !proven(*addr, *id)));
        let other_key = Proofs::with_key((1, 3));
        assert!(!other_key.proves(Time::ZERO, v6(8, 9, 10), 11, proof));
    }
}

//! The proof of an address: a sequence number that only somebody who received it can name.

use crate::channel::cookie::{ADDRESS_LEN, address_bytes};
use crate::channel::keyed_hash::{Key, keyed_hash};
use crate::protocol::time::{Span, Time};
use std::net::SocketAddr;

/// A proof is of one period; that of the period before is still good.
const PERIOD: Span = Span::from_secs(5);

/// An address without a seat that has sent a datagram. Nothing is kept about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stranger {
    pub(crate) now: Time,
    pub(crate) from: SocketAddr,
    /// The id that it would get now; `None` if there is none left.
    pub(crate) offer: Option<u8>,
    /// The key of the server's proofs.
    pub(crate) key: Key,
    /// The seed of the server's world.
    pub(crate) seed: u32,
}

impl Stranger {
    /// The sequence number that proves now that the offer of `id` was received.
    pub(super) fn proof(&self, id: u8) -> u16 {
        self.of_period(period(self.now), id)
    }

    /// Whether `named` is the proof of this period or of the one before.
    pub(super) fn proves(&self, named: u16) -> bool {
        let Some(id) = self.offer else { return false };
        let period = period(self.now);
        named == self.of_period(period, id) || (period > 0 && named == self.of_period(period - 1, id))
    }

    /// The id is part of the proof: if the id was taken by another in the meantime the proof is void, and the client asks
    /// again.
    fn of_period(&self, period: u64, id: u8) -> u16 {
        let mut bytes = [0; ADDRESS_LEN + 9];
        bytes[..ADDRESS_LEN].copy_from_slice(&address_bytes(self.from));
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
        let v6 = |last, port, scope| {
            SocketAddrV6::new(Ipv6Addr::new(1, 2, 3, 4, 5, 6, 7, last), port, 0, scope).into()
        };
        let stranger =
            |key, from, id| Stranger { now: Time::ZERO, from, offer: Some(id), key: (1, key), seed: 0 };
        let proof = stranger(2, v6(8, 9, 10), 11).proof(11);
        let proven = |addr, id| stranger(2, addr, id).proves(proof);
        assert!(proven(v6(8, 9, 10), 11));
        let others = [(v6(9, 9, 10), 11), (v6(8, 10, 10), 11), (v6(8, 9, 11), 11), (v6(8, 9, 10), 12)];
        assert!(others.iter().all(|(addr, id)| !proven(*addr, *id)));
        assert!(!stranger(3, v6(8, 9, 10), 11).proves(proof), "another key");
    }
}

//! Tests of making a seal, and of its calls for the owner.

use crate::connect::seal::association::Association;
use crate::connect::seal::joiner::Joiner;
use crate::connect::seal::{MAX_ADDRESSES, Randomness, Seal, SealError};
use crate::protocol::PeerRole;
use crate::protocol::time::Time;
use core::time::Duration;
use std::net::SocketAddr;

fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

fn joiner() -> Seal {
    Seal::join_open(Randomness::Seeded(1), addr(7)).unwrap()
}

/// A connection by address to the peer at port 7.
fn association(index: u16) -> Association {
    Association::fake(addr(7), index, PeerRole::Host).by_address()
}

#[test]
fn number_in_use_is_not_given_again() {
    let taken = joiner().free_index();
    assert_eq!(joiner().free_index(), taken, "two seals of one seed draw alike");
    let mut seal = joiner();
    seal.join = Some(Joiner::new(None, vec![addr(7)], addr(7), 77, taken));
    assert_ne!(seal.free_index(), taken);
    let mut seal = joiner();
    seal.associations.add(association(taken));
    assert_ne!(seal.free_index(), taken);
}

#[test]
fn link_by_address_is_not_verified_without_a_code() {
    let mut seal = joiner();
    assert!(!seal.verify(addr(7)) && !seal.is_verified(addr(7)));
    seal.associations.add(association(9));
    assert!(!seal.verify(addr(7)) && !seal.is_verified(addr(7)));
}

#[test]
fn stirred_seal_is_due_at_once() {
    let mut seal = joiner();
    assert_eq!(seal.poll_timeout(), None);
    seal.out.due_at(Time::NEVER);
    seal.out.rest();
    assert_eq!((seal.poll_timeout(), seal.out.is_due(Time::ZERO)), (None, false));
    seal.out.stir();
    assert_eq!((seal.poll_timeout(), seal.out.is_due(Time::ZERO)), (Some(Duration::ZERO), true));
}

#[test]
fn target_is_the_address_or_one_for_several() {
    let target = |addrs: &[SocketAddr]| {
        Seal::join(Randomness::Seeded(1), [9; 32], addrs).map(|seal| seal.target().unwrap())
    };
    assert_eq!(target(&[addr(7)]), Ok(addr(7)));
    assert!(target(&[addr(7), addr(8)]).is_ok_and(|inner_addr| inner_addr.is_ipv6()));
    assert!(target(&[addr(7); MAX_ADDRESSES]).is_ok());
    let count = MAX_ADDRESSES + 1;
    assert_eq!(target(&[addr(7); MAX_ADDRESSES + 1]), Err(SealError::TooManyAddresses { count }));
    assert_eq!(target(&[]), Err(SealError::NoAddress));
}

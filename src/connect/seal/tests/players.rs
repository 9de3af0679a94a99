//! Players' proofs from inside: a guest with the invite that proves what is not its own.

use super::{Inner, ms};
use crate::connect::seal::association::Association;
use crate::connect::seal::introduction::Answer;
use crate::connect::seal::{PlayerKey, Randomness, Seal, SealRefusal};
use crate::protocol::{MAX_DATAGRAM, Protocol};
use crate::wire::seal::{Kind, PLAYER_LEN};
use std::net::SocketAddr;

const ADA: [u8; 32] = [40; 32];
const BOB: [u8; 32] = [50; 32];
const EVE: [u8; 32] = [60; 32];

/// A machine at a port.
struct Side {
    port: u16,
    seal: Seal,
    inner: Inner,
}

fn side(port: u16, seal: Seal) -> Side {
    Side { port, seal, inner: Inner { keeps: true, ..Inner::default() } }
}

fn host(port: u16, player: [u8; 32]) -> Side {
    let mut seal = Seal::host(Randomness::Seeded(port.into())).unwrap();
    seal.set_player_key(player);
    side(port, seal)
}

fn join(port: u16, host: &Side, player: [u8; 32]) -> Side {
    let (key, to) = (host.seal.public_key().unwrap(), super::addr(host.port));
    let mut seal = Seal::join(Randomness::Seeded(port.into()), key, &[to]).unwrap();
    seal.set_player_key(player);
    side(port, seal)
}

impl Side {
    fn peer(&mut self) -> &mut Association {
        self.seal.associations.get_mut(0).unwrap()
    }

    fn told(&self) -> usize {
        self.inner.told.len()
    }
}

/// Lets two machines exchange all that they have to say for `time` milliseconds.
fn run(sides: [&mut Side; 2], from: u64, time: u64) {
    run_forging(sides, from, time, None);
}

/// The same, and the second one sends `forged` in the place of its proof.
fn run_forging(sides: [&mut Side; 2], from: u64, time: u64, forged: Option<[u8; PLAYER_LEN]>) {
    let [a, b] = sides;
    let mut buf = [0; MAX_DATAGRAM];
    for now in (from..from + time).step_by(10) {
        for turn in 0..2 {
            let (from, to) = if turn == 0 { (&mut *a, &mut *b) } else { (&mut *b, &mut *a) };
            if let (1, Some(forged), Some(peer)) = (turn, forged, from.seal.associations.get_mut(0)) {
                peer.introduction_mut().forge(forged);
            }
            if let Some(target) = from.seal.target() {
                from.inner.says.push_back((target, vec![7; 20]));
            }
            while let Some((_, len)) = from.seal.around(&mut from.inner).poll_transmit(ms(now), &mut buf) {
                to.seal.around(&mut to.inner).handle_datagram(ms(now), super::addr(from.port), &buf[..len]);
            }
        }
    }
}

/// The proof that a guest at a host of its own has sent, which that host passes on.
fn proof_to(other: &mut Side, player: [u8; 32]) -> [u8; PLAYER_LEN] {
    let mut victim = join(20, other, player);
    run([&mut *other, &mut victim], 0, 500);
    assert_eq!(
        other.seal.player(other.seal.associations.get(0).unwrap().peer().inner_addr),
        Some(PlayerKey::of(player))
    );
    other.peer().introduction_mut().proof_taken().unwrap()
}

#[test]
fn man_in_the_middle_cannot_pass_a_proof_on() {
    let (mut ada, mut middle) = (host(1, ADA), host(2, EVE));
    ada.seal.only(&[PlayerKey::of(BOB)]);
    let passed_on = proof_to(&mut middle, BOB);
    let mut eve = join(3, &ada, EVE);
    run_forging([&mut ada, &mut eve], 0, 2_000, Some(passed_on));
    let guest = ada.peer().peer().inner_addr;
    assert_eq!((ada.seal.player(guest), ada.told()), (None, 0));
    assert!(ada.seal.stats().refused.of(SealRefusal::Unproven) > 0);
    // The same with a proof of one's own and the name of another.
    let mut borrowed = proof_to(&mut host(4, EVE), EVE);
    borrowed[..32].copy_from_slice(&PlayerKey::of(BOB).0);
    let mut eve = join(5, &ada, EVE);
    run_forging([&mut ada, &mut eve], 3_000, 2_000, Some(borrowed));
    assert_eq!(ada.told(), 0);
}

#[test]
fn one_proof_is_checked_on_a_connection() {
    let mut ada = host(1, ADA);
    let mut eve = join(3, &ada, EVE);
    run([&mut ada, &mut eve], 0, 500);
    let taken = ada.peer().introduction_mut().proof_taken().unwrap();
    let answer = |ada: &mut Side, text: &[u8; PLAYER_LEN]| ada.peer().introduction_mut().prove(text);
    assert_eq!(answer(&mut ada, &taken), Answer::Taken, "its answer was lost");
    assert_eq!(answer(&mut ada, &[7; PLAYER_LEN]), Answer::Refused);
    assert_eq!(answer(&mut ada, &taken), Answer::Taken, "the first one stays");
    // After one that does not fit, the right one comes too late.
    let mut ada = host(1, ADA);
    let mut eve = join(3, &ada, EVE);
    run_forging([&mut ada, &mut eve], 0, 500, Some([9; PLAYER_LEN]));
    assert_eq!(answer(&mut ada, &taken), Answer::Refused);
}

#[test]
fn answers_that_nobody_waits_for_are_out_of_place() {
    let mut ada = host(1, ADA);
    let (key, to) = (ada.seal.public_key().unwrap(), super::addr(1));
    let mut bob = side(3, Seal::join(Randomness::Seeded(3), key, &[to]).unwrap());
    run([&mut ada, &mut bob], 0, 500);
    let say = |bob: &mut Side, ada: &mut Side, answer: u8| {
        let mut out = [0; MAX_DATAGRAM];
        let mut buf = [0; crate::wire::seal::MAX_CONTROL_LEN];
        let len = bob.peer().seal_control(Kind::PlayerAnswer, &[answer], &mut buf).unwrap();
        let from: SocketAddr = super::addr(3);
        ada.seal.around(&mut ada.inner).handle_datagram(ms(600), from, &buf[..len]);
        while ada.seal.around(&mut ada.inner).poll_transmit(ms(600), &mut out).is_some() {}
        ada.seal.stats().refused.of(SealRefusal::OutOfPlace)
    };
    let before = ada.seal.stats().refused.of(SealRefusal::OutOfPlace);
    assert_eq!(say(&mut bob, &mut ada, Answer::Wanted as u8), before, "the host has a key");
    assert_eq!(say(&mut bob, &mut ada, Answer::None as u8), before + 1, "the host has asked for none");
    assert_eq!(say(&mut bob, &mut ada, 0), before + 2);
    assert_eq!(say(&mut bob, &mut ada, 5), before + 3);
}

//! Players' keys: who is known again, who is let in, and who poses as somebody else.

use crate::net::{Machine, Net, addr, both_agreed, ms};
use core::time::Duration;
use rebout::lab::seal::{PeerRole, Seal, SealRefusal};
use rebout::{Lobby, PlayerKey, Randomness};
use std::net::SocketAddr;

const SECOND: Duration = Duration::from_secs(1);
const ADA: [u8; 32] = [40; 32];
const BOB: [u8; 32] = [50; 32];
const EVE: [u8; 32] = [60; 32];
/// The place of the kind in a control packet, and the number of a proof.
const KIND: usize = 7;
const PLAYER: u8 = 8;

fn is_proof(datagram: &[u8]) -> bool {
    datagram[0] == 0xE7 && datagram[KIND] == PLAYER
}

fn with_key(mut machine: Machine, secret: [u8; 32]) -> Machine {
    machine.seal.set_player_key(secret);
    machine
}

fn only(mut machine: Machine, secret: [u8; 32]) -> Machine {
    machine.seal.only(&[PlayerKey::of(secret)]);
    machine
}

/// A guest by the invite of a host.
fn guest(id: usize, host: &Machine) -> Machine {
    Machine::join(id, host.seal.public_key().unwrap(), &[addr(0)])
}

/// The other side, once both have agreed.
fn peer(machine: &Machine) -> Option<SocketAddr> {
    Some(machine.lobby.agreed().ok()??.peer)
}

/// The key that a machine has seen proven by the peer of its lobby.
fn seen(machine: &Machine) -> Option<PlayerKey> {
    machine.seal.player(peer(machine)?)
}

/// Whether the lobby of a host has heard nothing of anybody.
fn is_untouched(host: &Machine) -> bool {
    host.lobby.incoming().is_none() && host.lobby.refused().total() == 0
}

#[test]
fn both_players_learn_the_key_of_the_other() {
    for is_open in [false, true] {
        for lost in [0, 3] {
            let host = if is_open { Machine::host_open(0) } else { Machine::host(0) };
            let join = if is_open { Machine::join_open(1, addr(0)) } else { guest(1, &host) };
            let mut net = Net::new(vec![with_key(host, ADA), with_key(join, BOB)]);
            // The first proofs of each side are lost.
            let mut left = [lost; 2];
            net.filter = Box::new(move |_, flying| {
                let left = &mut left[usize::from(flying.from != addr(0))];
                let is_lost = is_proof(&flying.datagram) && *left > 0;
                *left -= usize::from(is_lost);
                !is_lost
            });
            assert!(net.run_until(SECOND, both_agreed), "nobody waits for a proof");
            net.run(ms(300 * lost as u64 + 100));
            let [host, join] = &net.machines[..] else { panic!("two machines") };
            assert_eq!([seen(host), seen(join)], [BOB, ADA].map(|secret| Some(PlayerKey::of(secret))));
            assert_eq!(host.seal.player_key(), Some(PlayerKey::of(ADA)));
            let proofs =
                |id| net.sent_by(id, 0xE7).iter().filter(|sent| sent.datagram[KIND] == PLAYER).count();
            assert_eq!([proofs(0), proofs(1)], [lost + 1; 2], "until it is answered");
            assert!(!is_open || !host.seal.is_verified(peer(host).unwrap()), "nobody asked for that key");
        }
    }
}

#[test]
fn player_without_a_key_is_nobody_known() {
    let host = Machine::host(0);
    let join = guest(1, &host);
    let mut net = Net::new(vec![with_key(host, ADA), join]);
    assert!(net.run_until(SECOND, both_agreed));
    net.run(SECOND);
    assert_eq!([0, 1].map(|id| seen(&net.machines[id])), [None, Some(PlayerKey::of(ADA))]);
}

#[test]
fn keys_are_not_on_the_wire_in_the_clear() {
    let host = Machine::host(0);
    let join = guest(1, &host);
    let mut net = Net::new(vec![with_key(host, ADA), with_key(join, BOB)]);
    net.run(SECOND);
    assert!(seen(&net.machines[0]).is_some());
    for sent in &net.sent {
        for secret in [ADA, BOB] {
            let key = PlayerKey::of(secret).0;
            assert!(!sent.datagram.windows(8).any(|bytes| bytes == &key[..8]), "{:02x}", sent.datagram[0]);
        }
    }
}

#[test]
fn host_lets_in_the_named_player_alone() {
    for is_open in [false, true] {
        let host = if is_open { Machine::host_open(0) } else { Machine::host(0) };
        let join = |id| if is_open { Machine::join_open(id, addr(0)) } else { guest(id, &host) };
        let (eve, nobody, bob) = (with_key(join(1), EVE), join(2), with_key(join(3), BOB));
        let mut net = Net::new(vec![only(with_key(host, ADA), BOB), eve]);
        net.run(SECOND);
        assert!(is_untouched(&net.machines[0]), "open {is_open}");
        let eve = &net.machines[1].seal;
        assert!(!net.machines[1].agreed() && eve.player(eve.target().unwrap()).is_none(), "it sees no key");
        let answers = net.sent_by(0, 0xE3).into_iter().map(|sent| sent.datagram.len());
        assert!(answers.eq([if is_open { 69 } else { 53 }]), "and no answer of the lobby");
        assert_eq!(net.machines[0].seal.take_stranger(), Some(Some(PlayerKey::of(EVE))));
        assert_eq!(net.machines[0].seal.take_stranger(), None);
        net.machines[1] = nobody;
        net.run(SECOND);
        assert!(is_untouched(&net.machines[0]) && !net.machines[1].agreed());
        assert_eq!(net.machines[0].seal.take_stranger(), Some(None));
        assert!(net.machines[0].refused(SealRefusal::Unproven) > 0, "its packets came");
        net.machines[1] = bob;
        let begun = net.now;
        assert!(net.run_until(SECOND, both_agreed));
        assert!(net.now - begun <= ms(600), "{:?}", net.now - begun);
        assert_eq!(seen(&net.machines[0]), Some(PlayerKey::of(BOB)));
        assert!(net.machines[0].seal.is_verified(peer(&net.machines[0]).unwrap()), "without a code");
    }
}

#[test]
fn stripped_proof_lets_nobody_in() {
    let host = Machine::host(0);
    let bob = with_key(guest(1, &host), BOB);
    let mut net = Net::new(vec![only(host, BOB), bob]);
    net.filter = Box::new(|now, flying| now > ms(3_000) || !is_proof(&flying.datagram));
    net.run(ms(3_000));
    assert!(is_untouched(&net.machines[0]) && !net.machines[1].agreed());
    assert!(net.run_until(SECOND, both_agreed), "the proof goes on until it is answered");
}

#[test]
fn recorded_proof_is_worth_nothing() {
    let host = Machine::host(0);
    let [bob, eve] = [1, 2].map(|id| guest(id, &host));
    let mut net = Net::new(vec![only(host, BOB), with_key(bob, BOB)]);
    assert!(net.run_until(SECOND, both_agreed));
    let recorded: Vec<_> = net.sent_by(1, 0xE7).iter().map(|sent| sent.datagram.clone()).collect();
    assert!(recorded.iter().any(|packet| packet[KIND] == PLAYER));
    // Another guest with the invite sends it again, as it was and with the number of its own connection.
    net.machines.remove(1);
    net.machines[0].lobby = Lobby::host(crate::net::config(0)).unwrap();
    net.machines.push(eve);
    net.run(SECOND);
    let own = net.sent_by(0, 0xE7).iter().rfind(|sent| sent.to == addr(2)).unwrap().datagram.clone();
    assert_eq!(own[KIND], 9, "the host asks for a proof");
    let index = net.sent.iter().rfind(|sent| sent.from == addr(2) && sent.datagram[0] == 0xE6).unwrap();
    let index = index.datagram[1..3].to_vec();
    let before = net.machines[0].seal.stats().refused.total();
    for mut packet in recorded.clone() {
        let now = net.now;
        net.machines[0].hand_in(now, addr(2), &packet);
        packet[1..3].copy_from_slice(&index);
        net.machines[0].hand_in(now, addr(2), &packet);
    }
    assert_eq!(net.machines[0].seal.stats().refused.total(), before + 2 * recorded.len() as u64);
    net.run(SECOND);
    assert!(net.machines[0].lobby.incoming().is_none() && !net.machines[1].agreed());
}

#[test]
fn stranger_does_not_use_up_an_invite_for_one() {
    let mut host = only(Machine::host(0), BOB);
    let key = host.seal.add_access_for_one(PeerRole::Player, 1).unwrap();
    let join = |id| Machine::join(id, key, &[addr(0)]);
    let mut net = Net::new(vec![host, with_key(join(1), EVE)]);
    net.run(SECOND);
    assert!(is_untouched(&net.machines[0]) && net.machines[0].seal.admits_by(&key));
    net.machines.push(with_key(join(2), BOB));
    assert!(net.run_until(SECOND, |net| net.machines[0].agreed() && net.machines[2].agreed()));
    assert!(!net.machines[0].seal.admits_by(&key));
}

#[test]
fn proof_after_the_invite_was_revoked_lets_nobody_in() {
    let host = Machine::host(0);
    let bob = with_key(guest(1, &host), BOB);
    let mut net = Net::new(vec![only(host, BOB), bob]);
    net.filter = Box::new(|now, flying| now > ms(1_000) || !is_proof(&flying.datagram));
    net.run(ms(900));
    assert_eq!(net.machines[0].seal.stats().connections, 1, "confirmed, and not let in");
    let key = net.machines[0].seal.public_key().unwrap();
    assert!(net.machines[0].seal.revoke(&key));
    net.run(SECOND * 2);
    assert!(is_untouched(&net.machines[0]) && !net.machines[1].agreed());
}

#[test]
fn joiner_plays_only_with_the_host_that_it_names() {
    let (ada, eve) = (|| with_key(Machine::host_open(0), ADA), with_key(Machine::host_open(0), EVE));
    let join = || only(with_key(Machine::join_open(1, addr(0)), BOB), ADA);
    for other in [eve, Machine::host_open(0)] {
        let mut net = Net::new(vec![other, join()]);
        net.run(SECOND);
        assert!(!net.machines[1].agreed() && !net.machines[0].agreed());
        let data = net.sent_by(1, 0xE6).len() + net.sent_by(1, 0xE4).len();
        assert_eq!((data, is_untouched(&net.machines[1])), (0, true), "nothing is said to another host");
    }
    let mut net = Net::new(vec![only(ada(), BOB), join()]);
    assert!(net.run_until(SECOND, both_agreed), "both ask for each other");
    let host = peer(&net.machines[1]).unwrap();
    assert!(net.machines[1].seal.is_verified(host), "without a code");
}

#[test]
fn named_players_meet_by_signalling() {
    use rebout::lab::seal::Brought;
    let [mut host, mut join] = [Seal::host(Randomness::Seeded(1)).unwrap(), {
        let key = Seal::host(Randomness::Seeded(1)).unwrap().public_key().unwrap();
        Seal::join_by_signal(Randomness::Seeded(2), key).unwrap()
    }];
    for (seal, own, other) in [(&mut host, ADA, BOB), (&mut join, BOB, ADA)] {
        seal.set_player_key(own);
        seal.only(&[PlayerKey::of(other)]);
    }
    let ticket = host.renew_ticket().unwrap();
    let init = join.write_init(ms(0), ticket, b"x").unwrap();
    let Ok(Brought::Guest(guest)) = host.handle_signal(ms(0), &init) else { panic!("a guest") };
    let resp = host.answer_signal(ms(0), guest, b"y").unwrap();
    let target = join.target().unwrap();
    assert_eq!(join.handle_signal(ms(0), &resp), Ok(Brought::Host(target)));
    let lobby = Lobby::join(crate::net::config(1), target).unwrap();
    let mut net = Net::new(vec![
        Machine::new(0, host, Lobby::host(crate::net::config(0)).unwrap()),
        Machine::new(1, join, lobby),
    ]);
    net.machines[0].seal.offer_path(ms(0), guest, addr(1), ms(80));
    net.machines[1].seal.offer_path(ms(0), target, addr(0), ms(80));
    assert!(net.run_until(SECOND, both_agreed));
    assert_eq!([0, 1].map(|id| seen(&net.machines[id])), [BOB, ADA].map(|key| Some(PlayerKey::of(key))));
}

#[test]
fn spectator_proves_no_key() {
    let mut host = only(with_key(Machine::host(0), ADA), BOB);
    let key = host.seal.add_access(PeerRole::Spectator, None, 1).unwrap();
    let mut net = Net::new(vec![host, with_key(Machine::join(1, key, &[addr(0)]), EVE)]);
    net.run(SECOND);
    let host = &mut net.machines[0];
    assert!(host.refused(SealRefusal::OutOfPlace) > 0 && host.refused(SealRefusal::Unserved) > 0);
    assert_eq!((host.seal.take_stranger(), host.refused(SealRefusal::Unproven)), (None, 0));
}

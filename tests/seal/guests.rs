//! Who gets in: several addresses, two that join each other, guests in turn, and guests without the invite.

use crate::net::{Machine, Net, addr, both_agreed, config, invited, ms, open};
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::{Seal, SealError, SealRefusal};
use rebout::{Lobby, LobbyError};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn any_packet_of_the_handshake_may_be_lost() {
    for make in [invited, open] {
        for first in [0xE0, 0xE1, 0xE2, 0xE3, 0xE6] {
            for times in [1, 2, 5] {
                let mut net = make();
                let mut lost = 0;
                net.filter = Box::new(move |_, flying| {
                    let lose = flying.datagram[0] == first && lost < times;
                    lost += u32::from(lose);
                    !lose
                });
                let limit = ms(260) + ms(200) * (times + 1);
                assert!(net.run_until(limit, both_agreed), "{first:X} lost {times} times at {:?}", net.now);
                assert_eq!(net.machines[0].seal.stats().handshakes, 1);
            }
        }
    }
}

#[test]
fn joiner_restarts_with_a_new_key_after_a_second() {
    for make in [invited, open] {
        let mut net = make();
        net.filter = Box::new(|now, flying| flying.datagram[0] != 0xE3 || now > ms(1_300));
        assert!(net.run_until(3 * SECOND, both_agreed));
        let inits = net.sent_by(1, 0xE2);
        let mut keys: Vec<_> = inits.iter().map(|init| init.datagram[21..53].to_vec()).collect();
        let first: Vec<_> = inits.iter().filter(|init| init.datagram[21..53] == keys[0]).collect();
        assert!(first.len() >= 5 && first.iter().all(|init| init.datagram == first[0].datagram));
        keys.dedup();
        assert_eq!(keys.len(), 2, "a key for each cookie");
        assert_eq!(net.machines[0].seal.stats().connections, 1, "of one guest");
    }
}

#[test]
fn host_that_measures_first_gets_its_pongs() {
    let mut net = invited();
    for (id, machine) in net.machines.iter_mut().enumerate() {
        let config = config(id).with(|config| config.rollback.delay_frames = None);
        machine.lobby = match machine.seal.target() {
            None => Lobby::host(config).unwrap(),
            Some(target) => Lobby::join(config, target).unwrap(),
        };
    }
    assert!(net.run_until(2 * SECOND, both_agreed));
    for machine in &net.machines {
        let agreed = machine.lobby.agreed().unwrap().unwrap();
        let trip = agreed.round_trip.unwrap();
        assert!((ms(80)..ms(84)).contains(&trip), "{trip:?}");
    }
}

#[test]
fn joiner_knows_its_round_trip_from_the_handshake() {
    let mut net = invited();
    assert!(net.run_until(SECOND, both_agreed));
    let agreed = |id: usize| net.machines[id].lobby.agreed().unwrap().unwrap().clone();
    for id in 0..2 {
        let trip = agreed(id).round_trip.unwrap();
        assert!((ms(80)..ms(83)).contains(&trip), "{trip:?} at {id}");
    }
    assert_eq!(agreed(1).peer, addr(0), "a joiner sees the address that it asked for");
    assert_ne!(agreed(0).peer, addr(1), "a host sees a made-up one");
    assert_eq!(net.machines[0].seal.outer_addr(agreed(0).peer), Some(addr(1)));
    assert_eq!(net.machines[1].seal.outer_addr(addr(0)), Some(addr(0)));
}

#[test]
fn guest_is_shown_once_it_is_confirmed() {
    let mut net = invited();
    let config = config(0).with(|config| config.lobby.ask_before_accepting = true);
    net.machines[0].lobby = Lobby::host(config).unwrap();
    // Nothing but the handshake gets through: the guest may be a recorded one.
    net.filter = Box::new(|now, flying| now > ms(1_000) || flying.datagram[0] <= 0xE3);
    net.run(ms(900));
    assert_eq!(net.machines[0].lobby.incoming(), None);
    assert!(net.run_until(SECOND, |net| net.machines[0].lobby.incoming().is_some()));
    let incoming = net.machines[0].lobby.incoming().unwrap();
    assert_eq!(incoming.user_data, [1]);
    assert_eq!(net.machines[0].seal.outer_addr(incoming.addr), Some(addr(1)));
    net.machines[0].lobby.accept();
    assert!(net.run_until(SECOND, both_agreed));
}

#[test]
fn guest_that_never_sends_data_is_gone_after_two_seconds() {
    let mut net = invited();
    // This host would measure the link first.
    net.machines[0].lobby =
        Lobby::host(config(0).with(|config| config.rollback.delay_frames = None)).unwrap();
    net.filter = Box::new(|_, flying| flying.datagram[0] <= 0xE2);
    net.run(ms(400));
    assert_eq!(net.machines[0].seal.stats().handshakes, 1);
    let sent = net.sent.iter().filter(|flying| flying.from == addr(0));
    assert!(sent.map(|flying| flying.datagram[0]).all(|first| first <= 0xE3), "only its RESP");
    let connections = |net: &Net| format!("{:?}", net.machines[0].seal).contains("connections: 1,");
    assert!(connections(&net));
    net.filter = Box::new(|_, _| false);
    net.run(ms(1_500));
    assert!(connections(&net), "for two seconds from its INIT");
    net.run(ms(300));
    assert!(!connections(&net));
    // The seat is free for another one all the while, and the address of the one that is gone is known no more.
    let key = net.machines[0].seal.public_key().unwrap();
    net.machines.push(Machine::join(2, key, &[addr(0)]));
    net.filter = Box::new(|_, flying| flying.from == addr(2) || flying.to == addr(2));
    assert!(net.run_until(2 * SECOND, |net| net.machines[2].agreed() && net.machines[0].agreed()));
    assert_eq!(net.machines[0].lobby.agreed().unwrap().unwrap().user_data, [2]);
}

#[test]
fn second_guest_hears_that_the_seat_is_taken() {
    let mut net = invited();
    let key = net.machines[0].seal.public_key().unwrap();
    net.machines.push(Machine::join(2, key, &[addr(0)]));
    net.run(2 * SECOND);
    let agreed = [1, 2].map(|id| net.machines[id].agreed());
    assert!(net.machines[0].agreed() && agreed[0] != agreed[1], "{agreed:?}");
    let other = if agreed[0] { 2 } else { 1 };
    assert!(net.machines[3 - other].done_at.unwrap() <= ms(245), "the second has not delayed it");
    assert_eq!(net.machines[other].lobby.agreed().unwrap_err(), LobbyError::Full);
}

#[test]
fn unconfirmed_guest_does_not_delay_the_one_before_it() {
    let mut net = invited();
    let key = net.machines[0].seal.public_key().unwrap();
    net.run(ms(20));
    net.machines.push(Machine::join(2, key, &[addr(0)]));
    net.filter = Box::new(|_, flying| flying.from != addr(2) || flying.datagram[0] <= 0xE2);
    assert!(net.run_until(SECOND, both_agreed));
    assert!(net.machines[1].done_at.unwrap() <= ms(245), "{:?}", net.machines[1].done_at);
    assert_eq!(net.machines[0].seal.stats().handshakes, 2);
}

#[test]
fn by_address_four_handshakes_of_an_attempt_may_succeed() {
    let tried = [invited, open].map(|make| {
        let mut net = make();
        net.filter = Box::new(|_, flying| flying.datagram[0] <= 0xE3);
        net.run(ms(9_500));
        net.machines[0].seal.stats().handshakes
    });
    assert!(tried[0] > 4, "by invite there is no code to guess: {tried:?}");
    assert_eq!(tried[1], 4);
}

#[test]
fn eight_guests_that_nobody_keeps_are_remembered() {
    let mut net = invited();
    assert!(net.run_until(SECOND, both_agreed));
    let key = net.machines[0].seal.public_key().unwrap();
    for id in 2..30 {
        net.machines.push(Machine::join(id, key, &[addr(0)]));
        let full = |net: &Net| net.machines[id].lobby.agreed().is_err();
        assert!(net.run_until(2 * SECOND, full), "guest {id}");
        assert_eq!(net.machines[id].lobby.agreed().unwrap_err(), LobbyError::Full);
        // Some of them go on talking.
        net.run(ms(100));
    }
    assert!(net.machines[0].agreed());
    let peer = net.machines[0].lobby.agreed().unwrap().unwrap().peer;
    assert_eq!(net.machines[0].seal.outer_addr(peer), Some(addr(1)), "the one that is kept");
    let shown = format!("{:?}", net.machines[0].seal);
    assert!(shown.starts_with("Seal { connections: 9,"), "and eight others: {shown}");
}

#[test]
fn invite_may_have_several_addresses() {
    let host = Machine::host(0);
    let nowhere = [addr(7), addr(8), addr(0), "[2001:db8::1]:7".parse().unwrap()];
    let join = Machine::join(1, host.seal.public_key().unwrap(), &nowhere);
    let target = join.seal.target().unwrap();
    assert!(!nowhere.contains(&target), "a made-up one");
    let mut net = Net::new(vec![host, join]);
    net.filter = Box::new(|now, flying| flying.to != addr(0) || now > ms(250));
    assert!(net.run_until(SECOND, both_agreed));
    let requested: Vec<_> = net.sent_by(1, 0xE0).iter().map(|request| request.to).collect();
    assert_eq!(requested[..4], nowhere);
    assert_eq!(net.machines[1].lobby.agreed().unwrap().unwrap().peer, target);
    assert_eq!(net.machines[1].seal.outer_addr(target), Some(addr(0)));
    let randomness = Randomness::Seeded(1);
    assert_eq!(Seal::join(randomness, [1; 32], &[]).unwrap_err(), SealError::NoAddress);
    let nine = [addr(0); 9];
    assert_eq!(Seal::join(randomness, [1; 32], &nine).unwrap_err(), SealError::TooManyAddresses { count: 9 });
}

#[test]
fn of_two_that_join_each_other_one_hosts() {
    for ids in 0..8 {
        let (one, two) = (ids * 2, ids * 2 + 1);
        let mut net = Net::new(vec![Machine::join_open(one, addr(two)), Machine::join_open(two, addr(one))]);
        assert!(net.run_until(2 * SECOND, both_agreed), "{one} and {two}");
        let agreed = [0, 1].map(|at| net.machines[at].lobby.agreed().unwrap().unwrap().clone());
        assert_eq!(agreed[0].token, agreed[1].token);
        assert_ne!(agreed[0].is_host, agreed[1].is_host);
        assert_eq!(agreed.map(|agreed| agreed.peer), [addr(two), addr(one)], "each sees the one it joined");
        net.run(SECOND);
        let codes = [(0, two), (1, one)].map(|(at, peer)| net.machines[at].seal.code(addr(peer)).unwrap());
        assert_eq!(codes[0].digits, codes[1].digits);
    }
}

#[test]
fn without_the_invite_a_host_does_not_answer() {
    let mut net = invited();
    let other = Seal::host(Randomness::Seeded(99)).unwrap().public_key().unwrap();
    net.machines[1] = Machine::join(1, other, &[addr(0)]);
    net.run(11 * SECOND);
    assert!(matches!(net.machines[1].lobby.agreed(), Err(LobbyError::TimedOut { .. })));
    assert!(net.sent_by(0, 0xE1).is_empty() && net.machines[0].refused(SealRefusal::BadMac) > 40);
    // By address neither, and a host by address does not accept an invite.
    let mut net = invited();
    net.machines[1] = Machine::join_open(1, addr(0));
    net.run(SECOND);
    assert!(!net.machines[1].agreed() && net.sent_by(0, 0xE1).is_empty());
    let mut net = open();
    net.machines[1] = Machine::join(1, other, &[addr(0)]);
    net.run(SECOND);
    assert!(!net.machines[1].agreed() && net.sent_by(0, 0xE1).is_empty());
}

#[test]
fn bare_side_and_a_sealed_one_do_not_meet() {
    let mut net = invited();
    let mut bare = Lobby::join(config(5), addr(0)).unwrap();
    let mut buf = [0; 1_200];
    let (_, len) = rebout::Protocol::poll_transmit(&mut bare, ms(1), &mut buf).unwrap();
    net.machines[0].hand_in(ms(1), addr(5), &buf[..len]);
    assert_eq!(net.machines[0].poll(ms(1)), None);
    assert_eq!(net.machines[0].refused(SealRefusal::Bare), 1);
    let (_, mut request) = net.machines[1].poll(ms(1)).unwrap();
    request[1] = 9;
    net.machines[0].hand_in(ms(1), addr(5), &request);
    assert_eq!(net.machines[0].refused(SealRefusal::OtherVersion), 1);
}

#[test]
fn same_seals_serve_a_rematch_at_once() {
    let mut net = invited();
    assert!(net.run_until(SECOND, both_agreed));
    net.machines[0].lobby = Lobby::host(config(0)).unwrap();
    let target = net.machines[1].seal.target().unwrap();
    net.machines[1].lobby = Lobby::join(config(3), target).unwrap();
    let (begun, requests) = (net.now, net.sent_by(1, 0xE0).len());
    assert!(net.run_until(SECOND, both_agreed));
    assert!(net.now - begun <= ms(165), "no handshake of the seals is needed: {:?}", net.now - begun);
    assert_eq!(net.sent_by(1, 0xE0).len(), requests, "nor a REQUEST");
    assert_eq!(net.machines[0].seal.stats().handshakes, 1);
}

#[test]
fn host_with_a_kept_key_is_found_again_by_an_old_invite() {
    let mut net = invited();
    assert!(net.run_until(SECOND, both_agreed));
    let secret = net.machines[0].seal.secret_key().unwrap();
    let seal = Seal::host_with_key(Randomness::Seeded(77), secret).unwrap();
    assert_eq!(seal.public_key(), net.machines[0].seal.public_key());
    net.machines[0] = Machine::new(0, seal, Lobby::host(config(0)).unwrap());
    let target = net.machines[1].seal.target().unwrap();
    net.machines[1].lobby = Lobby::join(config(3), target).unwrap();
    assert!(net.run_until(3 * SECOND, both_agreed), "it sends a REQUEST beside its old keys");
}

#[test]
fn joiner_by_address_hosts_nobody_from_elsewhere() {
    let request = |id| Machine::join_open(id, addr(1)).poll(ms(0)).unwrap().1;
    let mut joiner = Machine::join_open(1, addr(0));
    let nonce = |request: &[u8]| request[5..13].to_vec();
    let ours = nonce(&joiner.poll(ms(0)).unwrap().1);
    let smaller = (10..90).map(request).find(|request| nonce(request) < ours).unwrap();
    joiner.hand_in(ms(1), addr(5), &smaller);
    assert_eq!((joiner.poll(ms(1)), joiner.refused(SealRefusal::Unexpected)), (None, 1));
    joiner.hand_in(ms(1), addr(0), &smaller);
    assert_eq!(joiner.poll(ms(1)).unwrap().1[0], 0xE1, "the address that it joins");
}

#[test]
fn both_sides_log_the_same_keys() {
    for make in [invited, open] {
        let mut net = make();
        net.machines.iter_mut().for_each(|machine| machine.seal.log_keys());
        assert!(net.run_until(SECOND, both_agreed));
        let [ours, theirs] = [0, 1].map(|id| net.machines[id].seal.take_logged_keys().unwrap());
        assert_eq!(ours.to_string(), theirs.to_string());
        let first = &net.sent_by(1, 0xE6)[0].datagram;
        assert!(ours.open(first).is_some_and(|opened| opened.to_host));
    }
}

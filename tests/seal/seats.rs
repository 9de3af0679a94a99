//! A confirmed guest keeps its seat, and a joiner its host: a handshake that was queued or half done before is void after.

use crate::net::{Machine, Net, addr, both_agreed, config, invited, ms, open};
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::{Seal, SealRefusal};
use rebout::{Lobby, LobbyError};
use std::net::SocketAddr;

const SECOND: Duration = Duration::from_secs(1);

/// Machine 1 of `net` as an impostor would run it: the same nonce, taken from its REQUEST, and other ephemeral keys. Its clock starts two
/// seconds before that of the net.
fn impostor(net: &Net) -> Machine {
    let invite = net.machines[0].seal.public_key();
    let seal = match invite {
        Some(key) => Seal::join(Randomness::Seeded(1), key, &[addr(0)]),
        None => Seal::join_open(Randomness::Seeded(1), addr(0)),
    };
    let mut impostor = Machine::new(1, seal.unwrap(), Lobby::join(config(66), addr(0)).unwrap());
    // The same seed draws the same keys; the first are spent on a host that nobody knows.
    let mut decoy = match net.machines[0].seal.secret_key() {
        Some(secret) => {
            let seal = Seal::host_with_key(Randomness::Seeded(50), secret).unwrap();
            Machine::new(50, seal, Lobby::host(config(50)).unwrap())
        }
        None => Machine::host_open(50),
    };
    let (_, request) = impostor.poll(ms(0)).unwrap();
    decoy.hand_in(ms(0), addr(1), &request);
    impostor.hand_in(ms(0), addr(0), &decoy.poll(ms(0)).unwrap().1);
    assert_eq!(impostor.poll(ms(0)).unwrap().1[0], 0xE2);
    impostor
}

/// Runs one millisecond, in which somebody at `from` runs `machine` against the host: it sees all that the host sends there, and
/// keeps back the packets that `sends` does not let through. Returns those.
fn attack(
    net: &mut Net,
    machine: &mut Machine,
    from: SocketAddr,
    sends: impl Fn(&[u8]) -> bool,
) -> Vec<Vec<u8>> {
    let seen = net.sent.len();
    net.step();
    let now = net.now + 2 * SECOND;
    let mut kept = Vec::new();
    for flying in net.sent[seen..].iter().filter(|flying| flying.from == addr(0) && flying.to == from) {
        machine.hand_in(now, addr(0), &flying.datagram);
    }
    while let Some((_, packet)) = machine.poll(now) {
        if sends(&packet) {
            net.machines[0].hand_in(net.now, from, &packet);
        } else {
            kept.push(packet);
        }
    }
    kept
}

fn handshake_only(packet: &[u8]) -> bool {
    packet[0] <= 0xE2
}

fn handshakes(net: &Net) -> u64 {
    net.machines[0].seal.stats().handshakes
}

/// The connection of machine 1 is the only one that was ever confirmed, and new lobbies meet on it without another handshake.
fn assert_keeps_its_seat(net: &mut Net, handshakes: u64) {
    net.run(SECOND);
    let stats = *net.machines[0].seal.stats();
    assert_eq!((stats.connections, stats.handshakes), (1, handshakes), "{stats:?}");
    net.machines[0].lobby = Lobby::host(config(0)).unwrap();
    let target = net.machines[1].seal.target().unwrap();
    net.machines[1].lobby = Lobby::join(config(3), target).unwrap();
    let begun = net.now;
    assert!(net.run_until(SECOND, both_agreed) && net.now - begun <= ms(165), "{:?}", net.now - begun);
    let agreed = net.machines[0].lobby.agreed().unwrap().unwrap();
    assert_eq!(
        (&agreed.user_data[..], net.machines[0].seal.outer_addr(agreed.peer)),
        (&[3][..], Some(addr(1)))
    );
    assert_eq!(net.machines[0].seal.stats().handshakes, handshakes);
}

/// Two handshakes of a source are worked off in a second. The third INIT waits, and its guest is confirmed meanwhile. By invite
/// the impostor has another address; by address it forges that of the guest.
#[test]
fn queued_init_never_replaces_a_confirmed_guest() {
    for (mut net, from, others) in [(open(), addr(1), 1), (invited(), addr(9), 2)] {
        let mut impostor = impostor(&net);
        let key = net.machines[0].seal.public_key();
        assert!(net.run_until(SECOND, |net| handshakes(net) == 1));
        for id in 0..others {
            let mut other = match key {
                Some(key) => Machine::join(70 + id, key, &[addr(0)]),
                None => Machine::join_open(70 + id, addr(0)),
            };
            while handshakes(&net) < 2 + id as u64 {
                attack(&mut net, &mut other, from, handshake_only);
            }
        }
        let handshakes = handshakes(&net);
        assert_eq!(net.machines[0].seal.stats().connections, 0, "the guest is not confirmed yet");
        let refused = net.machines[0].refused(SealRefusal::Unexpected);
        for _ in 0..3 {
            attack(&mut net, &mut impostor, from, handshake_only);
        }
        assert_eq!(net.machines[0].refused(SealRefusal::Unexpected), refused, "its INIT is queued");
        for _ in 0..2_000 {
            attack(&mut net, &mut impostor, from, |packet| packet[0] >= 0xE4);
        }
        assert!(both_agreed(&net));
        let peer = net.machines[0].lobby.agreed().unwrap().unwrap().peer;
        assert_eq!(net.machines[0].seal.outer_addr(peer), Some(addr(1)), "where the guest's packets go");
        assert_eq!((net.machines[0].seal.stats().connections, impostor.seal.stats().connections), (1, 0));
        assert_eq!(net.machines[0].refused(SealRefusal::Unexpected), refused + 1);
        assert_keeps_its_seat(&mut net, handshakes);
    }
}

/// The impostor's handshake is answered before the guest is confirmed; its first DATA comes after that.
#[test]
fn answered_handshake_is_void_once_its_guest_is_confirmed() {
    for (mut net, from) in [(invited(), addr(9)), (open(), addr(1))] {
        let mut impostor = impostor(&net);
        assert!(net.run_until(SECOND, |net| handshakes(net) == 1));
        let mut late = Vec::new();
        while net.machines[0].seal.stats().connections == 0 {
            late.extend(attack(&mut net, &mut impostor, from, handshake_only));
        }
        assert_eq!((impostor.seal.stats().connections, handshakes(&net)), (1, 2), "both were answered");
        let unknown = net.machines[0].refused(SealRefusal::UnknownIndex);
        assert!(!late.is_empty());
        for packet in &late {
            net.machines[0].hand_in(net.now, from, packet);
        }
        assert_eq!(net.machines[0].refused(SealRefusal::UnknownIndex), unknown + late.len() as u64);
        assert_keeps_its_seat(&mut net, 2);
    }
}

/// The impostor's DATA comes before that of the guest: it is the one that is confirmed, and its handshake is not replaced either. Another
/// seal of the joiner, with another nonce, is a guest of its own.
#[test]
fn impostor_that_is_confirmed_first_keeps_the_seat() {
    for (mut net, from) in [(invited(), addr(9)), (open(), addr(1))] {
        let mut impostor = impostor(&net);
        assert!(net.run_until(SECOND, |net| handshakes(net) == 1));
        for _ in 0..2_500 {
            attack(&mut net, &mut impostor, from, |_| true);
        }
        let stats = *net.machines[0].seal.stats();
        assert_eq!((stats.connections, net.machines[1].agreed()), (1, false), "{stats:?}");
        net.machines[1] = match net.machines[0].seal.public_key() {
            Some(key) => Machine { addr: addr(1), ..Machine::join(5, key, &[addr(0)]) },
            None => Machine { addr: addr(1), ..Machine::join_open(5, addr(0)) },
        };
        net.run(SECOND);
        assert_eq!(net.machines[1].lobby.agreed().unwrap_err(), LobbyError::Full);
    }
}

/// By invite a nonce is a guest wherever it comes from; by address another address is another guest, who finds the seat taken.
#[test]
fn nonce_of_a_confirmed_guest_from_elsewhere_takes_nothing() {
    for (mut net, is_open) in [(invited(), false), (open(), true)] {
        let mut impostor = impostor(&net);
        assert!(net.run_until(SECOND, both_agreed));
        let refused = net.machines[0].refused(SealRefusal::Unexpected);
        for _ in 0..2_000 {
            attack(&mut net, &mut impostor, addr(9), |_| true);
        }
        let unexpected = net.machines[0].refused(SealRefusal::Unexpected) - refused;
        assert_eq!(unexpected > 0, !is_open, "{unexpected}");
        assert_eq!(impostor.seal.stats().connections, u64::from(is_open));
        let answer = impostor.lobby.agreed().map(|agreed| agreed.is_some());
        assert_eq!(answer, if is_open { Err(LobbyError::Full) } else { Ok(false) });
        let agreed = net.machines[0].lobby.agreed().unwrap().unwrap();
        assert_eq!(
            (&agreed.user_data[..], net.machines[0].seal.outer_addr(agreed.peer)),
            (&[1][..], Some(addr(1)))
        );
    }
}

/// Two that join each other. The seal of machine 0 has the larger nonce, and hosts.
fn mutual() -> Net {
    let machine = |id: usize, at: usize| Machine { addr: addr(at), ..Machine::join_open(id, addr(1 - at)) };
    let nonce = |id| nonce(&machine(id, 0).poll(ms(0)).unwrap().1);
    let (large, small) = if nonce(2) > nonce(3) { (2, 3) } else { (3, 2) };
    Net::new(vec![machine(large, 0), machine(small, 1)])
}

/// The nonce of a REQUEST.
fn nonce(request: &[u8]) -> u64 {
    assert_eq!(request[0], 0xE0);
    u64::from_be_bytes(*request[5..].first_chunk().unwrap())
}

/// A watcher answers the REQUEST of a machine that joins its peer, in that peer's name, and keeps its RESP back until the machine
/// hosts the peer.
#[test]
fn resp_of_an_abandoned_join_is_void_once_a_guest_is_confirmed() {
    let mut net = mutual();
    let mut decoy = Machine::host_open(50);
    let mut late = Vec::new();
    while net.machines[0].seal.stats().connections == 0 {
        assert!(net.now < SECOND, "the peer is hosted");
        let seen = net.sent.len();
        net.step();
        for flying in net.sent[seen..].iter().filter(|flying| flying.from == addr(0)) {
            decoy.hand_in(net.now, addr(0), &flying.datagram);
        }
        while let Some((_, packet)) = decoy.poll(net.now) {
            match packet[0] {
                0xE1 => net.machines[0].hand_in(net.now, addr(1), &packet),
                _ => late.push(packet),
            }
        }
    }
    assert_eq!((net.machines[0].seal.stats().handshakes, late[0][0]), (1, 0xE3));
    let refused = net.machines[0].refused(SealRefusal::Unexpected);
    net.machines[0].hand_in(net.now, addr(1), &late[0]);
    assert_eq!(net.machines[0].seal.stats().connections, 1);
    assert_eq!(net.machines[0].refused(SealRefusal::Unexpected), refused + 1);
    assert!(net.run_until(SECOND, both_agreed));
}

/// A machine looks for its peer after a silence, and is joined by a watcher in the peer's name. The peer is heard again before the
/// first DATA of the watcher.
#[test]
fn answered_handshake_is_void_once_a_silent_peer_is_back() {
    let mut net = mutual();
    assert!(net.run_until(2 * SECOND, both_agreed));
    let than = nonce(&net.sent_by(0, 0xE0)[0].datagram);
    let smaller = |id: &usize| nonce(&Machine::join_open(*id, addr(0)).poll(ms(0)).unwrap().1) < than;
    let mut watcher = Machine::join_open((100..200).find(smaller).unwrap(), addr(0));
    for at in [0, 1] {
        net.machines[at].lobby = Lobby::join(config(40 + at), addr(1 - at)).unwrap();
    }
    net.filter = Box::new(|_, _| false);
    net.run(ms(1_500));
    let mut late = Vec::new();
    while late.is_empty() {
        assert!(net.now < 10 * SECOND, "the watcher is answered");
        let seen = net.sent.len();
        net.step();
        for flying in net.sent[seen..].iter().filter(|flying| flying.from == addr(0)) {
            watcher.hand_in(net.now, addr(0), &flying.datagram);
        }
        while let Some((_, packet)) = watcher.poll(net.now) {
            match packet[0] {
                0xE0 | 0xE2 => net.machines[0].hand_in(net.now, addr(1), &packet),
                _ => late.push(packet),
            }
        }
    }
    let (before, handshakes) = (net.machines[0].seal.stats().connections, handshakes(&net));
    assert_eq!((before, handshakes), (1, 2));
    net.filter = Box::new(|_, _| true);
    assert!(net.run_until(SECOND, both_agreed), "on the keys of before");
    for packet in &late {
        net.machines[0].hand_in(net.now, addr(1), packet);
    }
    assert_eq!(net.machines[0].seal.stats().connections, 1);
    assert_eq!(watcher.seal.stats().connections, 1);
    let codes = [0, 1].map(|at| net.machines[at].seal.code(addr(1 - at)).unwrap());
    assert_eq!(codes[0], codes[1]);
}

/// A guest waits for its host to accept it. While nothing of the host arrives, it sends a REQUEST again, and a watcher answers as often as a
/// joiner by address lets it.
#[test]
fn joiner_keeps_the_keys_of_its_host_beside_those_of_others() {
    let ask = |id| Lobby::host(config(id).with(|config| config.lobby.ask_before_accepting = true)).unwrap();
    let mut net = open();
    net.machines[0].lobby = ask(0);
    assert!(net.run_until(SECOND, |net| net.machines[0].lobby.incoming().is_some()));
    net.run(ms(500));
    net.filter = Box::new(|now, _| now > 7 * SECOND);
    while net.now < 7 * SECOND {
        let seen = net.sent.len();
        net.step();
        let sent: Vec<_> = net.sent[seen..].iter().filter(|flying| flying.from == addr(1)).cloned().collect();
        if sent.is_empty() {
            continue;
        }
        // Each RESP is of another seal, and nothing follows it.
        let seed = 50 + net.machines[1].seal.stats().connections;
        let mut decoy = Machine::new(50, Seal::host_open(Randomness::Seeded(seed)).unwrap(), ask(50));
        for flying in sent {
            decoy.hand_in(net.now, addr(1), &flying.datagram);
        }
        while let Some((_, packet)) = decoy.poll(net.now) {
            net.machines[1].hand_in(net.now, addr(0), &packet);
        }
    }
    assert_eq!(net.machines[1].seal.stats().connections, 4, "three of them are the watcher's");
    net.run(ms(1_500));
    net.machines[0].lobby.accept();
    assert!(net.run_until(SECOND, both_agreed));
    let peer = net.machines[0].lobby.agreed().unwrap().unwrap().peer;
    assert_eq!(net.machines[0].seal.code(peer), net.machines[1].seal.code(addr(0)));
}

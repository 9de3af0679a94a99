//! The code that two players compare where there was only an address.

use crate::net::{Machine, Net, addr, both_agreed, config, invited, ms, open};
use core::time::Duration;
use rebout::Code;
use rebout::Lobby;

const SECOND: Duration = Duration::from_secs(1);

fn peer(net: &Net, id: usize) -> std::net::SocketAddr {
    net.machines[id].lobby.agreed().unwrap().unwrap().peer
}

fn code(net: &Net, id: usize) -> Option<Code> {
    net.machines[id].seal.code(peer(net, id))
}

#[test]
fn both_players_see_the_same_six_digits_and_confirm_them() {
    let mut net = open();
    assert!(net.run_until(SECOND, both_agreed));
    net.run(ms(300));
    let [ours, theirs] = [0, 1].map(|id| code(&net, id).unwrap());
    assert_eq!((ours, ours.guests_before), (theirs, 0));
    for id in 0..2 {
        let peer = peer(&net, id);
        let seal = &mut net.machines[id].seal;
        assert!(!seal.is_verified(peer));
        assert!(seal.verify(peer) && seal.is_verified(peer));
        assert!(!seal.verify(addr(9)) && !seal.is_verified(addr(9)));
    }
}

#[test]
fn by_invite_there_is_no_code_and_the_link_is_verified() {
    let mut net = invited();
    assert!(net.run_until(SECOND, both_agreed));
    net.run(SECOND);
    for id in 0..2 {
        assert_eq!(code(&net, id), None);
        assert!(net.machines[id].seal.is_verified(peer(&net, id)));
        assert!(net.sent_by(id, 0xE7).is_empty(), "nothing is said about it");
    }
}

#[test]
fn code_survives_loss_and_its_part_is_said_every_200_ms() {
    let mut net = open();
    net.filter = Box::new(|now, flying| flying.datagram[0] != 0xE7 || now > ms(1_500));
    assert!(net.run_until(SECOND, both_agreed));
    net.run(SECOND);
    let asked: Vec<_> = net.sent_by(1, 0xE7).iter().map(|ask| ask.at).collect();
    assert!(asked.len() > 4 && asked.windows(2).all(|pair| pair[1] - pair[0] >= ms(200)), "{asked:?}");
    net.run(SECOND);
    assert_eq!(code(&net, 0).unwrap(), code(&net, 1).unwrap());
}

#[test]
fn new_code_comes_every_ten_seconds_and_counts_guests() {
    let mut net = open();
    net.machines[0].lobby =
        Lobby::host(config(0).with(|config| config.lobby.ask_before_accepting = true)).unwrap();
    let incoming = |net: &Net| net.machines[0].lobby.incoming();
    assert!(net.run_until(SECOND, |net| incoming(net).is_some()));
    let first = incoming(&net).unwrap().addr;
    net.run(ms(500));
    assert!(net.machines[0].seal.code(first).is_some());
    // The host declines; the next guest has to wait for its code.
    net.machines[0].lobby.decline();
    net.machines.push(Machine::join_open(2, addr(0)));
    let begun = net.now;
    assert!(net.run_until(2 * SECOND, |net| incoming(net).is_some_and(|guest| guest.addr != first)));
    let second = incoming(&net).unwrap().addr;
    net.run(8 * SECOND);
    assert!(net.machines[0].seal.code(second).is_none(), "too soon");
    assert!(net.run_until(4 * SECOND, |net| net.machines[0].seal.code(second).is_some()));
    assert!(net.now - begun >= 9 * SECOND);
    net.run(ms(300));
    let code = net.machines[2].seal.code(addr(0)).unwrap();
    assert_eq!((code, code.guests_before), (net.machines[0].seal.code(second).unwrap(), 1));
}

/// Mallory answers faster than the host, and joins the host herself: she has two handshakes, and two codes.
#[test]
fn man_in_the_middle_gets_two_codes() {
    let mut differ = 0;
    for seed in 0..20 {
        let mut codes = Vec::new();
        for (host, join) in [(seed * 4, seed * 4 + 1), (seed * 4 + 2, seed * 4 + 3)] {
            let mut net = Net::new(vec![Machine::host_open(host), Machine::join_open(join, addr(host))]);
            assert!(net.run_until(SECOND, both_agreed));
            net.run(ms(300));
            codes.push(code(&net, 0).unwrap().digits);
        }
        differ += u32::from(codes[0] != codes[1]);
    }
    assert_eq!(differ, 20);
}

#[test]
fn guest_that_the_host_does_not_keep_uses_up_no_code() {
    let mut net = open();
    net.machines[0].lobby =
        Lobby::host(config(0).with(|config| config.lobby.ask_before_accepting = true)).unwrap();
    // The first guest's part of the code is lost for a while, and a second guest asks meanwhile.
    net.filter = Box::new(|now, flying| {
        flying.from != addr(1) || flying.datagram[0] != 0xE7 || now > Duration::from_secs(3)
    });
    assert!(net.run_until(SECOND, |net| net.machines[0].lobby.incoming().is_some()));
    let guest = net.machines[0].lobby.incoming().unwrap().addr;
    net.machines.push(Machine::join_open(2, addr(0)));
    net.run(2 * SECOND);
    assert!(!net.sent_by(2, 0xE7).is_empty(), "it has asked");
    assert_eq!(net.machines[2].seal.code(addr(0)), None);
    net.run(2 * SECOND);
    assert_eq!(net.machines[0].seal.code(guest), net.machines[1].seal.code(addr(0)));
    assert!(net.machines[0].seal.code(guest).is_some());
}

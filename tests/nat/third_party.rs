//! A third party that a peer names as one of its own addresses: the number of datagrams that it gets.

use super::ice_hostile::{Liar, lying, rewritten};
use super::internet::{HOST, Internet, JOINER, Node, Plan, Router, at, ms};
use rebout::lab::sim::Clock;
use rebout::lab::wire::rendezvous::Packet;
use std::net::SocketAddr;

const CHECK: [u8; 2] = [0x00, 0x01];

/// Stops everything that the joiner sends, or lets it through again.
fn silence(internet: &mut Internet, down: bool) {
    let network = internet.world.network_mut();
    for other in (0..network.endpoints()).filter(|other| *other != JOINER) {
        network.set_down(JOINER, other, down);
    }
}

/// Plays a match in which the joiner, whose signal names the victim, is silent again and again. Nothing of the match goes there.
fn spare(mut internet: Internet, victim: SocketAddr) {
    let stranger = internet.world.add_stranger(victim);
    internet.begin();
    let before = internet.world.traffic(JOINER).0.payload_bytes;
    for _ in 0..5 {
        silence(&mut internet, true);
        internet.run_for(ms(1_500));
        silence(&mut internet, false);
        internet.run_for(ms(1_000));
    }
    let mail = internet.world.mail().iter().filter(|mail| mail.to == stranger);
    let (checks, others): (Vec<_>, Vec<_>) = mail.partition(|mail| mail.datagram.starts_with(&CHECK));
    let bytes: usize = others.iter().map(|mail| mail.datagram.len()).sum();
    let own = internet.world.traffic(JOINER).0.payload_bytes - before;
    assert_eq!(bytes, 0, "{} match packets; the peer sent {own} bytes", others.len());
    assert!((1..=12).contains(&checks.len()), "{} checks", checks.len());
}

#[test]
fn third_party_named_as_relay_gets_no_match_packets() {
    let (internet, victim) = (Internet::new(Plan::new(Router::Open, Router::Open)), at("192.0.2.7:53"));
    // The joiner asks first. Its relay claims that the address of the victim is that of its allocation.
    internet.relay.claim(victim);
    spare(internet, victim);
}

#[test]
fn third_party_named_as_mapped_address_gets_no_match_packets() {
    let (victim, joiner) = (at("192.0.2.7:53"), at("203.0.113.2:7010"));
    let internet = lying(Plan::new(Router::Open, Router::Open), move |to, datagram| {
        rewritten(datagram, |packet| {
            if let Packet::Grant(grant) = packet
                && to == joiner
            {
                grant.observed = victim;
            }
        });
        true
    });
    spare(internet, victim);
}

#[test]
fn third_party_gets_few_checks_whatever_else_is_named() {
    let mut internet = Internet::new(Plan::new(Router::Open, Router::Open));
    internet.world.stop(JOINER);
    let victim = at("192.0.2.7:53");
    let stranger = internet.world.add_stranger(victim);
    for guest in 0..4 {
        // Five other machines in each signal, and never the same ones again.
        let other = move |posted, n| at(&format!("10.{guest}.{posted}.{n}:53"));
        let names = move |posted| (0..5).map(|n| other(posted, n)).chain([victim]).collect();
        let liar = Liar::new(internet.invite.as_ref().unwrap(), names, 666 + guest);
        let addr = at(&format!("203.0.113.{}:9", 60 + guest));
        internet.world.add(addr, Clock::default(), ms(100), Node::Other(Box::new(liar)));
    }
    internet.run_for(ms(20_000));
    let checks = internet.world.mail().iter().filter(|mail| mail.to == stranger).count();
    assert!((1..=48 + 8).contains(&checks), "{checks} checks. {:?}", internet.player(HOST).nat().stats());
}

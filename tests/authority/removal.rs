//! Removal of clients, driven datagram by datagram: what is between a seat and its first frame, and after a pause.

use crate::lab::{FRAME, Field, Lab, WIRES, ms, server_addr};
use crate::seat_attacks::{Target, ack, asks_ack, request};
use rebout::Protocol;
use rebout::authority::{Body, Client, ClientConfig, Command, LeftWhy, ServerEvent, Wire};
use rebout::net::link::LinkConfig;
use std::net::SocketAddr;

/// Joins from `addr`, and returns the id and the next sequence number. No frame passes.
fn join(target: &mut Target, addr: SocketAddr) -> (u8, u16) {
    let wire = target.wire;
    target.send(addr, &request(wire, 0));
    for sequence in 1.. {
        for (to, datagram) in target.received() {
            if let Some(number) = asks_ack(wire, &datagram).filter(|_| to == addr) {
                target.send(addr, &ack(wire, sequence, number));
            }
        }
        target.now += ms(25);
        if let Some(ServerEvent::Joined { id, .. }) = target.server.poll_event() {
            return (id, sequence + 1);
        }
        assert!(sequence < 20, "no seat");
    }
    unreachable!()
}

fn home(n: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, n], 7_000))
}

#[test]
fn a_client_kicked_before_its_first_frame_never_enters() {
    for wire in WIRES {
        let mut target = Target::new(wire, |_| {});
        let (id, _) = join(&mut target, home(1));
        assert!(target.server.kick(target.now, &mut target.field, id));
        target.frame();
        assert_eq!((target.field.entered, target.server.entities().count()), (0, 0), "{wire:?}");
        assert_eq!(target.field.left, [0; 0], "{wire:?}");
        // Its id is free again at once: nobody was told of it.
        target.field.extra.push((0, |stage| while stage.spawn(1, Body::at(0.0, 0.0)).is_some() {}));
        target.frame();
        assert_eq!(target.server.entities().count(), 255, "{wire:?}");
    }
}

#[test]
fn a_server_that_was_stopped_does_not_blame_its_clients() {
    let mut target = Target::new(Wire::Game, |_| {});
    let _ = join(&mut target, home(1));
    target.frame();
    target.now += ms(60_000);
    target.wait(ms(9_000));
    assert_eq!(target.server.clients(), 1, "nine seconds that it could have heard of it");
    target.wait(ms(1_500));
    let left = std::iter::from_fn(|| target.server.poll_event());
    let silent = left.filter(|event| matches!(event, ServerEvent::Left { why: LeftWhy::Silent, .. }));
    assert_eq!((silent.count(), target.server.clients()), (1, 0));
}

#[test]
fn goodbyes_are_100_ms_apart() {
    for (wire, count) in [(Wire::Game, 3), (Wire::Rtype, 6)] {
        let mut target = Target::new(wire, |_| {});
        let (id, _) = join(&mut target, home(1));
        target.frame();
        assert!(target.server.kick(target.now, &mut target.field, id));
        let is_goodbye = |datagram: &[u8]| match wire {
            Wire::Game => datagram[12] == 3,
            _ => datagram[0] == 0x13,
        };
        let mut said_at = Vec::new();
        for n in 0..100 {
            let said = target.received().iter().filter(|(_, datagram)| is_goodbye(datagram)).count();
            said_at.extend(std::iter::repeat_n(n * 10, said));
            target.now += ms(10);
        }
        assert_eq!(said_at, (0..count).map(|n| n * 100).collect::<Vec<_>>(), "{wire:?}");
    }
}

/// A client on a server, after two seconds without a network between them.
fn playing(wire: Wire) -> (Target, Client) {
    let mut target = Target::new(wire, |_| {});
    let mut config = ClientConfig::new(2);
    config.wire = wire;
    let mut client = Client::join(config, server_addr()).expect("a config");
    let mut buf = [0; 1_200];
    for _ in 0..120 {
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
        while let Some((_, len)) = client.poll_transmit(target.now, &mut buf) {
            target.send(home(1), &buf[..len]);
        }
        for (_, datagram) in target.received().into_iter().chain(target.frame()) {
            client.handle_datagram(target.now, server_addr(), &datagram);
        }
    }
    assert!(client.predicted().is_some(), "{wire:?}");
    (target, client)
}

#[test]
fn a_client_that_was_stopped_does_not_blame_the_server() {
    for wire in WIRES {
        let (mut target, mut client) = playing(wire);
        target.now += ms(60_000);
        for _ in 0..60 {
            client.advance(target.now, &Field::default(), Command::NEUTRAL);
            target.now += FRAME;
        }
        assert_eq!(client.over(), None, "{wire:?}: a second that it could have heard of it");
        for _ in 0..600 {
            client.advance(target.now, &Field::default(), Command::NEUTRAL);
            target.now += FRAME;
        }
        assert!(client.over().is_some(), "{wire:?}");
    }
}

#[test]
fn a_client_that_cannot_send_keeps_32_inputs() {
    let (mut target, mut client) = playing(Wire::Rtype);
    for _ in 0..100 {
        target.now += FRAME;
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
    }
    let mut buf = [0; 1_200];
    let sent = std::iter::from_fn(|| client.poll_transmit(target.now, &mut buf).map(|_| buf[0]));
    assert_eq!(sent.filter(|opcode| *opcode == 0x20).count(), 32);
}

#[test]
fn a_round_trip_of_800_ms_gets_a_seat_with_one_answer() {
    let mut lab = Lab::new(1, LinkConfig::new(ms(400)));
    let client = lab.client(ms(200));
    lab.run_until(ms(3_000));
    assert!(lab.client_at(client).client.predicted().is_some());
}

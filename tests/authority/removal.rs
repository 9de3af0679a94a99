//! Removal of clients, driven datagram by datagram: what is between a seat and its first frame, and after a pause.

use crate::lab::{WIRES, ms};
use crate::seat_attacks::{Target, ack, asks_ack, request};
use rebout::authority::{Body, LeftWhy, ServerEvent, Wire};
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

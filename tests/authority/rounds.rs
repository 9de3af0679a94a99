//! A client and a server without a network between them: single datagrams withheld, reordered or made up.

use crate::lab::{FRAME, Field, for_wires, ms, server_addr};
use crate::removal::{joining, playing, playing_on, round, rounds};
use crate::seat_attacks::Target;
use rebout::authority::{Body, Client, ClientEvent, Command, GameWire, OverReason, RtypeWire};
use rebout::wire::rtype::{RtypeHeader, RtypePacket, RtypePayload};
use rebout::{Frame, Protocol};
use std::net::SocketAddr;

#[test]
fn client_that_leaves_before_an_answer_says_nothing() {
    for_wires!(|wire| {
        let (mut client, mut buf) = (joining(wire), [0; 1_200]);
        client.advance(ms(0), &Field::default(), Command::NEUTRAL);
        assert!(client.poll_transmit(ms(0), &mut buf).is_some(), "a request");
        client.leave(ms(10));
        assert_eq!((client.lingers(), client.poll_timeout()), (false, None), "{wire:?}");
        assert_eq!(client.poll_transmit(ms(10_000), &mut buf), None, "{wire:?}");
    });
}

#[test]
fn goodbye_is_void_while_an_rtype_server_goes_on() {
    let heartbeat: fn(u8) -> RtypePayload<'static> = |_| RtypePayload::Heartbeat;
    let update: fn(u8) -> RtypePayload<'static> =
        |id| RtypePayload::EntityUpdate { id: id.into(), x: 100, y: 60 };
    for goes_on in [Some(heartbeat), Some(update), None] {
        let (mut target, mut client) = playing(RtypeWire);
        let sent: Vec<_> = (0..6).flat_map(|_| round(&mut target, &mut client)).collect();
        let last = sent.last().expect("a packet");
        let mut number = u16::from_be_bytes([last[2], last[3]]);
        let mut hand_in = |client: &mut Client<RtypeWire>, now, payload: &RtypePayload<'_>| {
            let mut buf = [0; 64];
            number = number.wrapping_add(1);
            let header = RtypeHeader { asks_ack: false, sequence: number };
            let len = RtypePacket::encode(header, payload, &mut buf).expect("a packet");
            client.handle_datagram(now, server_addr(), &buf[..len]);
        };
        let player_id = client.id().expect("an id");
        hand_in(&mut client, target.now, &RtypePayload::PlayerLeft { player_id });
        for _ in 0..60 {
            target.now += FRAME;
            if let Some(payload) = goes_on {
                hand_in(&mut client, target.now, &payload(player_id));
            }
            client.advance(target.now, &Field::default(), Command::NEUTRAL);
        }
        assert_eq!(client.over(), goes_on.is_none().then_some(OverReason::Ended));
    }
}

#[test]
fn overtaken_snapshot_does_not_replace_a_newer_one() {
    let (mut target, mut client) = playing(GameWire);
    let before = *client.predicted().expect("a body");
    target.field.extra.push((target.server.frame().0 + 4, |stage| {
        let (id, _) = stage.players().next().expect("a player");
        stage.body_mut(id).expect("a body").x += 10.0;
    }));
    // Two snapshots or more, of which the first shows the player where it was.
    let withheld: Vec<_> = (0..7).flat_map(|_| target.frame()).collect();
    for (_, datagram) in withheld.iter().rev() {
        client.handle_datagram(target.now, server_addr(), datagram);
    }
    client.advance(target.now, &Field::default(), Command::NEUTRAL);
    let moved = client.predicted().expect("a body").x - before.x;
    assert!((9.0..11.0).contains(&moved), "{moved}");
}

#[test]
fn body_that_is_not_finite_is_left_out_of_snapshots() {
    let (mut target, mut client) = playing(GameWire);
    target.field.extra.push((target.server.frame().0 + 1, |stage| {
        let id = stage.spawn(1, Body::at(0.0, 0.0)).expect("an id");
        stage.body_mut(id).expect("a body").y = f32::NAN;
    }));
    let before = client.stats().snapshots;
    rounds(&mut target, &mut client, 60);
    assert!(target.server.stats().bodies_not_finite > 0);
    assert!(client.stats().snapshots >= before + 19, "{} before, {:?}", before, client.stats());
}

#[test]
fn messages_to_others_leave_a_client_where_it_is() {
    let (mut target, mut client) = playing(GameWire);
    target.field.extra.push((0, |stage| (0..100).for_each(|_| assert!(stage.tell_one(250, b"x")))));
    rounds(&mut target, &mut client, 30);
    assert_eq!((target.server.clients(), client.over()), (1, None), "the log keeps 1,024 records");
}

#[test]
fn reason_of_a_goodbye_survives_copies_of_it() {
    let (mut target, mut client) = playing(GameWire);
    assert!(target.server.kick(target.now, &mut target.field, client.id().expect("an id")));
    for _ in 0..60 {
        for datagram in round(&mut target, &mut client) {
            (0..2).for_each(|_| client.handle_datagram(target.now, server_addr(), &datagram));
        }
    }
    assert_eq!(client.over(), Some(OverReason::Kicked));
}

#[test]
fn world_does_not_remove_a_player() {
    let (mut target, mut client) = playing(GameWire);
    target.field.extra.push((0, |stage| {
        let (id, _) = stage.players().next().expect("a player");
        assert!(!stage.remove(id) && stage.body(id).is_some());
        assert!(!stage.remove(200), "nobody");
    }));
    rounds(&mut target, &mut client, 60);
    assert_eq!((target.server.clients(), target.server.entities().count()), (1, 1));
}

#[test]
fn acked_goodbye_of_an_rtype_server_is_the_last() {
    let (mut target, mut client) = playing(RtypeWire);
    assert!(target.server.kick(target.now, &mut target.field, client.id().expect("an id")));
    let mut goodbyes = 0;
    for _ in 0..60 {
        for datagram in round(&mut target, &mut client) {
            goodbyes += u32::from(datagram[0] == 0x13);
            client.handle_datagram(target.now, server_addr(), &datagram);
        }
    }
    assert_eq!((goodbyes, target.server.lingers()), (1, false));
}

#[test]
fn frames_beyond_31_bits_are_told_before_the_first_snapshot() {
    const FIRST: u32 = 3_000_000_000;
    let mut target = Target::new(GameWire, |config| config.first_frame = Frame(FIRST));
    target.field.extra.push((FIRST + 1, |stage| {
        assert!(stage.spawn(5, Body::at(0.0, 0.0)).is_some());
    }));
    target.frame();
    let (_, mut client) = playing_on(target);
    let spawned = std::iter::from_fn(|| client.poll_event()).find_map(|event| match event {
        ClientEvent::Spawned { kind: 5, frame, .. } => Some(frame),
        _ => None,
    });
    assert_eq!(spawned, Some(Frame(FIRST + 1)));
    assert!(client.others().any(|seen| seen.kind == 5));
}

#[test]
fn repeated_goodbye_of_a_client_delays_nothing() {
    for_wires!(|wire| {
        let (mut target, mut client) = playing(wire);
        client.leave(target.now);
        let frames = (0..120).find(|_| {
            round(&mut target, &mut client);
            target.server.clients() == 0
        });
        // 500 ms after the first; its copies are 100 ms apart.
        assert!(frames.is_some_and(|frames| frames <= 33), "{wire:?}: {frames:?}");
    });
}

#[test]
fn removed_client_gets_no_more_of_a_snapshot() {
    let (mut target, client) = playing(GameWire);
    for _ in 0..3 {
        target.now += FRAME;
        target.server.advance(target.now, &mut target.field);
    }
    assert!(target.server.kick(target.now, &mut target.field, client.id().expect("an id")));
    let mut kinds = Vec::new();
    for _ in 0..60 {
        kinds.extend(target.received().iter().map(|(_, datagram)| datagram[12]));
        target.now += FRAME;
    }
    assert!(kinds.contains(&3) && !kinds.contains(&5), "kinds of packets: {kinds:?}");
}

#[test]
fn client_that_sends_inputs_sends_no_heartbeats() {
    let (mut target, mut client) = playing(GameWire);
    let (mut kinds, mut buf) = (Vec::new(), [0; 1_200]);
    for _ in 0..60 {
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
        while let Some((_, len)) = client.poll_transmit(target.now, &mut buf) {
            kinds.push(buf[12]);
            target.send(SocketAddr::from(([192, 0, 2, 1], 7_000)), &buf[..len]);
        }
        rounds(&mut target, &mut client, 1);
    }
    assert!(kinds.len() >= 60 && !kinds.contains(&9), "kinds of packets: {kinds:?}");
}

#[test]
fn acked_leave_of_an_rtype_client_is_the_last() {
    let (mut target, mut client) = playing(RtypeWire);
    client.leave(target.now);
    assert!(client.lingers());
    rounds(&mut target, &mut client, 1);
    assert!(!client.lingers());
}

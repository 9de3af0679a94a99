//! The calls of a world in its step, and their effect on clients.

use crate::lab::{Format, Named, for_wires};
use crate::removal::{frame_with, home, playing, playing_on, rounds};
use crate::seat_attacks::{Target, join};
use rebout::Frame;
use rebout::authority::{Body, ClientEvent, Command, GameWire, RtypeWire, Terms};

#[test]
fn course_that_is_not_finite_is_refused() {
    let mut target = Target::new(GameWire, |_| {});
    frame_with(&mut target, |stage| {
        let infinite = Body { velocity_y: f32::INFINITY, ..Body::at(1.0, 1.0) };
        assert_eq!(stage.shoot(1, 1, &infinite), None);
        let id = stage.shoot(1, 1, &Body::at(1.0, 1.0)).expect("room");
        let course = stage.shot(id).expect("it flies").course;
        assert!(!stage.bounce(id, &infinite) && !stage.bounce(id + 1, &Body::at(2.0, 2.0)));
        assert_eq!(stage.shot(id).expect("it flies").course, course);
        assert!(stage.bounce(id, &Body { velocity_x: 60.0, ..Body::at(2.0, 2.0) }));
    });
    frame_with(&mut target, |stage| {
        let shot = stage.shots().next().expect("it flies");
        assert_eq!((shot.x, shot.y), (3.0, 2.0), "a frame after the bounce");
    });
}

#[test]
fn shot_ends_once() {
    let (mut target, mut client) = playing(GameWire);
    let frame = target.server.frame().0 + 1;
    target.field.extra.extend([
        (frame, (|stage| assert_eq!(stage.shoot(1, 1, &Body::at(1.0, 1.0)), Some(0))) as crate::lab::Step),
        (frame + 20, |stage| assert!(stage.end_shot(0))),
        (frame + 40, |stage| assert!(!stage.end_shot(0) && stage.shots().next().is_none())),
    ]);
    rounds(&mut target, &mut client, 80);
    let at = |frames: u32| client.shots(Frame(frame + frames).into()).count();
    assert_eq!([0, 19, 20, 30].map(at), [1, 1, 0, 0]);
}

#[test]
fn long_messages_and_messages_on_rtype_are_refused() {
    let mut game = Target::new(GameWire, |_| {});
    frame_with(&mut game, |stage| {
        assert!(stage.tell(&[1; 64]) && stage.tell_one(1, &[]));
        assert!(!stage.tell(&[1; 65]) && !stage.tell_one(1, &[1; 300]));
    });
    let mut rtype = Target::new(RtypeWire, |_| {});
    frame_with(&mut rtype, |stage| assert!(!stage.tell(b"x") && !stage.tell_one(1, b"x")));
}

#[test]
fn seated_players_are_listed_until_they_are_removed() {
    let mut target = Target::new(GameWire, |_| {});
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 0));
    let (id, _) = join(&mut target, home(1));
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 1));
    assert!(target.server.kick(target.now, &mut target.field, id));
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 0));
}

#[test]
fn rtype_client_sees_a_shot_where_it_is() {
    let mut target = Target::new(RtypeWire, |_| {});
    let _ = join(&mut target, home(1));
    frame_with(&mut target, |stage| {
        assert!(stage.shoot(1, 1, &Body { velocity_x: 600.0, ..Body::at(100.0, 5.0) }).is_some());
    });
    let (frame, mut seen) = (target.server.frame(), 0);
    for _ in 0..12 {
        // ENTITY_UPDATE of an id from 256 on.
        let updates =
            target.frame().into_iter().filter(|(_, datagram)| datagram[0] == 0x31 && datagram[4] == 1);
        for (_, datagram) in updates {
            let x = u16::from_be_bytes([datagram[6], datagram[7]]);
            assert_eq!(u32::from(x), 100 + 10 * target.server.frame().since(frame));
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
}

#[test]
fn records_arrive_with_their_frames() {
    let (mut target, mut client) = playing(GameWire);
    while client.poll_event().is_some() {}
    let frame = target.server.frame().0 + 1;
    target.field.extra.extend([
        (frame, (|stage| assert_eq!(stage.spawn(5, Body::at(1.0, 1.0)), Some(255))) as crate::lab::Step),
        (frame + 3, |stage| {
            assert_eq!((stage.kind(255), stage.kind(254), stage.frame_rate()), (Some(5), None, 60));
            stage.hit(255, 9);
        }),
        (frame + 6, |stage| assert!(stage.remove(255) && stage.body(255).is_none())),
    ]);
    rounds(&mut target, &mut client, 30);
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(
        events,
        [
            ClientEvent::Spawned { id: 255, kind: 5, frame: Frame(frame) },
            ClientEvent::Hit { id: 255, damage: 9, frame: Frame(frame + 3) },
            ClientEvent::Gone { id: 255, frame: Frame(frame + 6) },
        ]
    );
}

#[test]
fn terms_are_those_of_the_server() {
    for_wires!(|wire| {
        let target = Target::new(wire, |config| {
            config.seed = 77;
            // R-Type does not tell its rates.
            if wire.format() == Format::Game {
                (config.frame_rate, config.broadcast_rate) = (30, 15);
            }
        });
        let (mut target, mut client) = playing_on(target);
        let terms = std::iter::from_fn(|| client.poll_event()).find_map(|event| match event {
            ClientEvent::Terms(terms) => Some(terms),
            _ => None,
        });
        let (frame_rate, broadcast_rate) = if wire.format() == Format::Game { (30, 15) } else { (60, 20) };
        assert_eq!(terms, Some(Terms { frame_rate, broadcast_rate, seed: 77 }));
        assert_eq!(client.frame_rate(), frame_rate);
        match wire.format() {
            Format::Game => frame_with(&mut target, |stage| assert_eq!(stage.frame_rate(), 30)),
            _ => frame_with(&mut target, |stage| assert_eq!(stage.frame_rate(), 60)),
        }
    });
}

#[test]
fn standing_world_is_a_heartbeat_in_every_fifth_broadcast() {
    let (mut target, mut client) = playing(RtypeWire);
    rounds(&mut target, &mut client, 60);
    let sent: Vec<u8> = (0..60)
        .flat_map(|_| crate::removal::round(&mut target, &mut client))
        .map(|datagram| datagram[0])
        .collect();
    assert_eq!(sent, [0x50; 4]);
}

#[test]
fn rtype_client_is_told_where_an_entity_begins() {
    let mut target = Target::new(RtypeWire, |_| {});
    let _ = join(&mut target, home(1));
    target.frame();
    target.field.extra.push((target.server.frame().0 + 1, |stage| {
        assert_eq!(stage.spawn(5, Body::at(10.0, 20.0)), Some(255));
    }));
    let told = target.frame().into_iter().any(|(_, datagram)| datagram[4..] == [0, 255, 5, 0, 10, 0, 20]);
    assert!(told);
}

#[test]
fn world_is_given_the_commands_of_its_players() {
    for_wires!(|wire| {
        let (mut target, mut client) = playing(wire);
        target.field.extra.push((target.server.frame().0 + 30, |stage| {
            let commands: Vec<_> = stage.players().map(|(_, command)| command).collect();
            assert_eq!(commands, [Command { x: 1.0, y: 0.0, actions: 1 }]);
            let (id, _) = stage.players().next().expect("a player");
            stage.hit(id, 1);
        }));
        while client.poll_event().is_some() {}
        for _ in 0..60 {
            crate::playing::frame(&mut target, &mut client, Command::new(1.0, 0.0, 1), |_| true, |_| true);
        }
        assert!(
            std::iter::from_fn(|| client.poll_event()).any(|event| matches!(event, ClientEvent::Hit { .. }))
        );
    });
}

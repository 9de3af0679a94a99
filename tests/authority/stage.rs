//! The calls of a world in its step, and their effect on clients.

use crate::removal::{frame_with, home, playing, rounds};
use crate::seat_attacks::{Target, join};
use rebout::authority::{Body, Wire};

#[test]
fn course_that_is_not_finite_is_refused() {
    let mut target = Target::new(Wire::Game, |_| {});
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
    let (mut target, mut client) = playing(Wire::Game);
    let frame = target.server.frame() + 1;
    target.field.extra.extend([
        (frame, (|stage| assert_eq!(stage.shoot(1, 1, &Body::at(1.0, 1.0)), Some(0))) as crate::lab::Step),
        (frame + 20, |stage| assert!(stage.end_shot(0))),
        (frame + 40, |stage| assert!(!stage.end_shot(0) && stage.shots().next().is_none())),
    ]);
    rounds(&mut target, &mut client, 80);
    let at = |frames: u64| client.shots((frame + frames) as f64).count();
    assert_eq!([0, 19, 20, 30].map(at), [1, 1, 0, 0]);
}

#[test]
fn long_messages_and_messages_on_rtype_are_refused() {
    let mut game = Target::new(Wire::Game, |_| {});
    frame_with(&mut game, |stage| {
        assert!(stage.tell(&[1; 64]) && stage.tell_one(1, &[]));
        assert!(!stage.tell(&[1; 65]) && !stage.tell_one(1, &[1; 300]));
    });
    let mut rtype = Target::new(Wire::Rtype, |_| {});
    frame_with(&mut rtype, |stage| assert!(!stage.tell(b"x") && !stage.tell_one(1, b"x")));
}

#[test]
fn seated_players_are_listed_until_they_are_removed() {
    let mut target = Target::new(Wire::Game, |_| {});
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 0));
    let (id, _) = join(&mut target, home(1));
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 1));
    assert!(target.server.kick(target.now, &mut target.field, id));
    frame_with(&mut target, |stage| assert_eq!(stage.players().count(), 0));
}

#[test]
fn rtype_client_sees_a_shot_where_it_is() {
    let mut target = Target::new(Wire::Rtype, |_| {});
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
            assert_eq!(u64::from(x), 100 + 10 * (target.server.frame() - frame));
            seen += 1;
        }
    }
    assert_eq!(seen, 4);
}

//! Joining and removal of clients, driven datagram by datagram.

use crate::lab::{FRAME, Field, Format, Lab, Named, for_wires, ms, server_addr};
use crate::seat_attacks::{Target, join, request};
use rebout::authority::{
    Body, Client, ClientConfig, ClientEvent, Command, GameWire, LeftWhy, OverReason, RtypeWire, ServerEvent,
    Stage,
};
use rebout::lab::link::LinkConfig;
use rebout::{Protocol, Refusal};
use std::net::SocketAddr;

pub(crate) fn home(n: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, n], 7_000))
}

#[test]
fn client_kicked_before_its_first_frame_never_enters() {
    for_wires!(|wire| {
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
    });
}

/// Steps one frame with an addition.
pub(crate) fn frame_with(target: &mut Target<impl Named>, extra: fn(&mut Stage<'_>)) {
    target.field.extra = vec![(0, extra)];
    target.frame();
    target.field.extra.clear();
}

#[test]
fn newcomer_does_not_delay_ids_freed_before_it_came() {
    let mut target = Target::new(GameWire, |_| {});
    let spawn_all: fn(&mut Stage<'_>) = |stage| while stage.spawn(1, Body::at(0.0, 0.0)).is_some() {};
    frame_with(&mut target, spawn_all);
    frame_with(&mut target, |stage| (1..=2).for_each(|id| assert!(stage.remove(id))));
    target.wait(ms(1_500));
    let (first, _) = join(&mut target, home(1));
    target.frame();
    frame_with(&mut target, |stage| (10..20).for_each(|id| assert!(stage.remove(id))));
    // Nobody acknowledges anything. The second client was never told of the ten, and the first is removed.
    let _ = join(&mut target, home(2));
    assert!(target.server.kick(target.now, &mut target.field, first));
    target.wait(ms(1_500));
    frame_with(&mut target, spawn_all);
    assert_eq!(target.server.entities().count(), 254, "all but the id of the first client");
}

#[test]
fn client_more_than_1024_records_behind_is_removed() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        let _ = join(&mut target, home(1));
        target.frame();
        let left = (1..=6).find_map(|n| {
            frame_with(&mut target, |stage| {
                let id = stage.entities().next().map_or(0, |(id, ..)| id);
                (0..1_000).for_each(|_| stage.hit(id, 1));
            });
            target.server.poll_event().map(|event| (n, event))
        });
        // 1,024 wait in the log, and about as many or twice as many are on their way.
        assert!(
            matches!(left, Some((3..=4, ServerEvent::Left { why: LeftWhy::Behind, .. }))),
            "{wire:?}: {left:?}"
        );
        assert_eq!(target.server.clients(), 0, "{wire:?}");
    });
}

#[test]
fn suspended_server_does_not_blame_its_clients() {
    let mut target = Target::new(GameWire, |_| {});
    let _ = join(&mut target, home(1));
    target.frame();
    target.now += ms(60_000);
    target.frame();
    assert!(target.server.next_frame_at() > target.now, "the time in between is not made up");
    target.wait(ms(9_000));
    assert_eq!(target.server.clients(), 1, "nine seconds that it could have heard of it");
    target.wait(ms(1_500));
    let left = std::iter::from_fn(|| target.server.poll_event());
    let silent = left.filter(|event| matches!(event, ServerEvent::Left { why: LeftWhy::Silent, .. }));
    assert_eq!((silent.count(), target.server.clients()), (1, 0));
}

#[test]
fn goodbyes_are_100_ms_apart() {
    for_wires!(|wire| {
        let count = if wire.format() == Format::Game { 3 } else { 6 };
        let mut target = Target::new(wire, |_| {});
        let (id, _) = join(&mut target, home(1));
        target.frame();
        assert!(target.server.kick(target.now, &mut target.field, id));
        let is_goodbye = |datagram: &[u8]| match wire.format() {
            Format::Game => datagram[12] == 3,
            _ => datagram[0] == 0x13,
        };
        let mut said_at = Vec::new();
        for n in 0..100 {
            let said = target.received().iter().filter(|(_, datagram)| is_goodbye(datagram)).count();
            said_at.extend(std::iter::repeat_n(n * 10, said));
            target.now += ms(10);
        }
        assert_eq!(said_at, (0..count).map(|n| n * 100).collect::<Vec<_>>(), "{wire:?}");
    });
}

/// A frame of a client and then of its server, without a network between them. Returns the datagrams to the client.
pub(crate) fn round<W: Named>(target: &mut Target<W>, client: &mut Client<W>) -> Vec<Vec<u8>> {
    let mut buf = [0; 1_200];
    client.advance(target.now, &Field::default(), Command::NEUTRAL);
    while let Some((_, len)) = client.poll_transmit(target.now, &mut buf) {
        target.send(home(1), &buf[..len]);
    }
    target.received().into_iter().chain(target.frame()).map(|(_, datagram)| datagram).collect()
}

/// Rounds in which everything arrives.
pub(crate) fn rounds<W: Named>(target: &mut Target<W>, client: &mut Client<W>, count: u32) {
    for _ in 0..count {
        for datagram in round(target, client) {
            client.handle_datagram(target.now, server_addr(), &datagram);
        }
    }
}

/// A client that asks the server for a seat.
pub(crate) fn joining<W: Named>(_: W) -> Client<W> {
    let mut config = ClientConfig::new(2);
    // These tests look into the snapshots.
    config.delta_snapshots = false;
    Client::join(config, server_addr()).expect("a config")
}

/// A client on a server, after two seconds.
pub(crate) fn playing<W: Named>(wire: W) -> (Target<W>, Client<W>) {
    playing_on(Target::new(wire, |_| {}))
}

/// A client on this server, after two seconds.
pub(crate) fn playing_on<W: Named>(mut target: Target<W>) -> (Target<W>, Client<W>) {
    let wire = target.wire;
    let mut client = joining(wire);
    rounds(&mut target, &mut client, 120);
    assert!(client.predicted().is_some(), "{wire:?}");
    (target, client)
}

#[test]
fn suspended_client_does_not_blame_the_server() {
    for_wires!(|wire| {
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
    });
}

#[test]
fn client_that_cannot_send_keeps_32_inputs() {
    let (mut target, mut client) = playing(RtypeWire);
    for _ in 0..100 {
        target.now += FRAME;
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
    }
    let mut buf = [0; 1_200];
    let sent = std::iter::from_fn(|| client.poll_transmit(target.now, &mut buf).map(|_| buf[0]));
    assert_eq!(sent.filter(|opcode| *opcode == 0x20).count(), 32);
}

#[test]
fn client_without_a_seat_sends_every_25_ms() {
    for_wires!(|wire| {
        let (mut target, mut buf) = (Target::new(wire, |_| {}), [0; 1_200]);
        let mut client = joining(wire);
        let (_, len) = client.poll_transmit(target.now, &mut buf).expect("a request");
        target.send(home(1), &buf[..len]);
        for (_, answer) in target.received() {
            client.handle_datagram(target.now, server_addr(), &answer);
        }
        // The server gives it as many bytes as it sends, so each of these may bring a challenge.
        for n in 0..16 {
            assert!(client.poll_transmit(target.now, &mut buf).is_some(), "{wire:?}: after {} ms", n * 25);
            while client.poll_transmit(target.now, &mut buf).is_some() {}
            target.now += ms(25);
        }
    });
}

#[test]
fn one_answer_after_800_ms_is_enough_for_a_seat() {
    let mut lab = Lab::new(1, LinkConfig::new(ms(400)));
    let client = lab.client(ms(200));
    lab.run_until(ms(300));
    // Only the first request arrives. The first challenge comes 800 ms after its answer.
    lab.world.network_mut().lose(client, u32::MAX, |datagram| datagram[12] == 1);
    lab.run_until(ms(3_000));
    assert!(lab.client_at(client).client.predicted().is_some());
}

#[test]
fn leaving_client_does_not_delay_free_ids() {
    let mut target = Target::new(GameWire, |_| {});
    let (id, _) = join(&mut target, home(1));
    let spawn_all: fn(&mut Stage<'_>) = |stage| while stage.spawn(1, Body::at(0.0, 0.0)).is_some() {};
    frame_with(&mut target, spawn_all);
    frame_with(&mut target, |stage| {
        let things: Vec<u8> = stage.entities().filter(|(_, kind, _)| *kind == 1).map(|(id, ..)| id).collect();
        assert!(things.iter().take(10).all(|id| stage.remove(*id)));
    });
    // It has acknowledged nothing, and is told for 200 ms that it was removed.
    assert!(target.server.kick(target.now, &mut target.field, id));
    target.wait(ms(1_080));
    frame_with(&mut target, spawn_all);
    assert_eq!(target.server.entities().count(), 255);
}

#[test]
fn reason_of_a_removal_is_told_unless_the_client_is_silent() {
    let told = |remove: fn(&mut Target<GameWire>, u8)| {
        let mut target = Target::new(GameWire, |_| {});
        let (id, _) = join(&mut target, home(1));
        target.frame();
        remove(&mut target, id);
        let mut reasons: Vec<u8> = (0..60)
            .flat_map(|_| target.frame())
            .filter(|(_, datagram)| datagram[12] == 8 && datagram[15] == 3 && datagram[18] == 7)
            .map(|(_, datagram)| datagram[19])
            .collect();
        reasons.dedup();
        assert_eq!(target.server.clients(), 0);
        reasons
    };
    assert_eq!(told(|target, id| assert!(target.server.kick(target.now, &mut target.field, id))), [1]);
    assert_eq!(told(|target, _| target.server.shutdown(target.now, &mut target.field)), [0]);
    assert_eq!(told(|target, _| target.wait(ms(9_800))), [0; 0]);
}

#[test]
fn client_that_cannot_keep_up_is_told_that_it_was_removed() {
    let (mut target, mut client) = playing(GameWire);
    target.field.extra.push((target.server.frame().0 + 1, |stage| (0..1_100).for_each(|_| stage.hit(1, 1))));
    rounds(&mut target, &mut client, 60);
    assert_eq!(client.over(), Some(OverReason::Kicked));
}

#[test]
fn late_frame_does_not_delay_the_next() {
    let mut target = Target::new(GameWire, |_| {});
    let start = target.now;
    for (n, late) in [(0, 0), (1, 5), (2, 200), (3, 0)] {
        target.server.advance(start + FRAME * n + ms(late), &mut target.field);
        assert_eq!(target.server.next_frame_at(), start + FRAME * (n + 1), "frame {n}");
    }
}

#[test]
fn request_of_a_seated_newcomer_is_answered_and_removes_nobody() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        let (id, next) = join(&mut target, home(1));
        target.received();
        target.send(home(1), &request(wire, next));
        let accepted = target.received().into_iter().any(|(_, datagram)| match wire.format() {
            Format::Game => datagram[12..] == [2, 0, 1, id],
            _ => datagram[0] == 0x11 && datagram[4] == id,
        });
        assert!(accepted, "{wire:?}");
        target.wait(ms(550));
        assert_eq!(target.server.clients(), 1, "{wire:?}");
    });
}

#[test]
fn kicked_client_may_join_again_after_its_goodbyes() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |config| config.max_clients = 1);
        for _ in 0..3 {
            let (id, _) = join(&mut target, home(1));
            target.frame();
            assert!(target.server.kick(target.now, &mut target.field, id));
            assert!(target.server.lingers() && target.server.poll_timeout() == Some(target.now), "{wire:?}");
            target.wait(ms(1_000));
            assert!(!target.server.lingers() && target.server.poll_timeout().is_none(), "{wire:?}");
            while target.server.poll_event().is_some() {}
        }
    });
}

#[test]
fn id_of_a_seat_is_offered_to_nobody_else() {
    let mut target = Target::new(GameWire, |_| {});
    let (id, _) = join(&mut target, home(1));
    // No frame has passed: the player has no entity yet.
    for n in 0..1_500_u16 {
        let [high, low] = n.to_be_bytes();
        let from = SocketAddr::from(([198, 51, high, low], 7));
        target.send(from, &request(GameWire, 1));
        let answers = target.received();
        let (_, answer) = answers.iter().find(|(to, _)| *to == from).expect("an offer");
        assert_ne!(answer[15], id);
    }
}

#[test]
fn bytes_of_snapshots_are_counted_apart() {
    let mut target = Target::new(GameWire, |_| {});
    let _ = join(&mut target, home(1));
    let (mut snapshots, mut all, mut count) = (0, 0, 0);
    let before = *target.server.stats();
    (0..3).for_each(|_| target.send(home(1), b"x"));
    for _ in 0..60 {
        for (_, datagram) in target.frame() {
            all += datagram.len() as u64;
            count += 1;
            snapshots += if datagram[12] == 5 { datagram.len() as u64 } else { 0 };
        }
    }
    let stats = target.server.stats();
    assert_eq!((stats.snapshot_bytes_out, stats.bytes_out - before.bytes_out), (snapshots, all));
    let datagrams = (stats.datagrams_in - before.datagrams_in, stats.datagrams_out - before.datagrams_out);
    assert_eq!((datagrams, stats.frames - before.frames), ((3, count), 60));
    assert_eq!(stats.refused.total() - before.refused.total(), 3);
    assert!(snapshots > 0 && snapshots < all, "{snapshots} of {all}");
}

#[test]
fn time_of_a_stopped_server_is_added_to_the_silence_allowed() {
    let mut target = Target::new(GameWire, |_| {});
    let _ = join(&mut target, home(1));
    target.frame();
    target.wait(ms(6_000));
    target.now += ms(60_000);
    target.frame();
    target.wait(ms(3_000));
    assert_eq!(target.server.clients(), 1);
    target.wait(ms(1_000));
    assert_eq!(target.server.clients(), 0, "six seconds before the pause and four after it");
}

#[test]
fn missing_input_is_held_for_as_long_as_configured() {
    let (mut target, client) = playing_on(Target::new(GameWire, |config| config.hold_frames = 3));
    let id = client.id().expect("an id");
    let before = target.server.input_stats(id).expect("a seat");
    target.wait(ms(500));
    let after = target.server.input_stats(id).expect("a seat");
    assert_eq!(after.held - before.held, 3);
    assert!(after.neutral > before.neutral);
}

#[test]
fn newcomer_is_told_of_254_entities_and_256_shots() {
    for_wires!(|wire| {
        let mut target = Target::new(wire, |_| {});
        target.field.extra.push((1, |stage| {
            (0..254).for_each(|n| assert!(stage.spawn(1, Body::at(f32::from(n as u8), 1.0)).is_some()));
            while stage.shoot(1, 1, &Body::at(1.0, 1.0)).is_some() {}
        }));
        target.frame();
        let (mut target, mut client) = playing_on(target);
        rounds(&mut target, &mut client, 60);
        let render = client.render_frame().expect("a time");
        assert_eq!((client.others().count(), client.shots(render).count()), (254, 256), "{wire:?}");
        let mut spawned = std::iter::from_fn(|| client.poll_event())
            .filter_map(|event| match event {
                ClientEvent::Spawned { id, .. } => Some(id),
                _ => None,
            })
            .collect::<Vec<_>>();
        spawned.sort_unstable();
        assert_eq!(spawned, (1..=255).collect::<Vec<_>>(), "{wire:?}: each once");
    });
}

#[test]
fn packet_without_an_input_is_no_lost_input() {
    let mut target = Target::new(RtypeWire, |_| {});
    let (id, mut next) = join(&mut target, home(1));
    for n in 0..20 {
        let [s0, s1] = next.to_be_bytes();
        // In the tenth frame the client only says that it is there.
        let packet: &[u8] = if n == 10 { &[0x50, 0, s0, s1] } else { &[0x20, 0, s0, s1, 8] };
        target.send(home(1), packet);
        next += 1;
        target.frame();
    }
    let stats = target.server.input_stats(id).expect("a seat");
    assert!(stats.applied >= 14 && stats.held == 0, "{stats:?}");
}

#[test]
fn configured_timeout_ends_both_sides() {
    for_wires!(|wire| {
        let (mut target, _) = playing_on(Target::new(wire, |config| config.timeout = ms(2_000)));
        target.wait(ms(1_900));
        assert_eq!(target.server.clients(), 1, "{wire:?}");
        target.wait(ms(200));
        assert_eq!(target.server.clients(), 0, "{wire:?}");

        let (mut target, mut config) = (Target::new(wire, |_| {}), ClientConfig::new(2));
        config.timeout = ms(2_000);
        let mut client = Client::join(config, server_addr()).expect("a config");
        rounds(&mut target, &mut client, 60);
        for (frames, is_over) in [(100, false), (30, true)] {
            for _ in 0..frames {
                target.now += FRAME;
                client.advance(target.now, &Field::default(), Command::NEUTRAL);
            }
            assert_eq!(client.over() == Some(OverReason::Silent), is_over, "{wire:?}");
        }
    });
}

#[test]
fn refusals_are_counted_by_their_reason() {
    use rebout::Refusal::{MalformedControl, NoPacket, Stranger};
    let game: &[(&[u8], Refusal)] = &[
        (b"x", NoPacket),
        (b"GAMF\0\0\0\0\0\0\0\0\x09\0\0", NoPacket),
        (b"GAME\0\0\0\0\0\0\0\0\x0B\0\0", MalformedControl),
        (b"GAME\0\0\0\0\0\0\0\0\x09\0\0", Stranger),
    ];
    let rtype: &[(&[u8], Refusal)] = &[
        (b"x", NoPacket),
        (&[0x50; 257], NoPacket),
        (&[0x99, 0, 0, 1], MalformedControl),
        (&[0x50, 0, 0, 1], Stranger),
    ];
    for_wires!(|wire| {
        let cases = if wire.format() == Format::Game { game } else { rtype };
        let mut target = Target::new(wire, |_| {});
        for (n, (datagram, refusal)) in (0_u8..).zip(cases) {
            let before = target.server.stats().refused.of(*refusal);
            target.send(home(n), datagram);
            assert_eq!(target.server.stats().refused.of(*refusal), before + 1, "{datagram:02X?}");
        }
        assert_eq!(target.received(), []);
    });
}

#[test]
fn repeated_goodbye_of_a_server_delays_nothing() {
    let (mut target, mut client) = playing(GameWire);
    assert!(target.server.kick(target.now, &mut target.field, client.id().expect("an id")));
    let frames = (0..120).find(|_| {
        rounds(&mut target, &mut client, 1);
        client.over().is_some()
    });
    // 500 ms after the first of three.
    assert!(frames.is_some_and(|frames| frames <= 34), "{frames:?}");
}

//! A client that plays: its inputs, the terms of its server, and the time that snapshots tell.

use crate::lab::{Field, Format, Lab, Named, client_addr, for_wires, ms, server_addr};
use crate::removal::{home, joining, playing, playing_on, round, rounds};
use crate::seat_attacks::Target;
use rebout::authority::{Body, Client, ClientEvent, Command, GameWire, RtypeWire};
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{EntryKind, Recording};
use rebout::{Frame, Protocol, Refusal};
use std::net::SocketAddr;

/// A frame in which the client does `command`. Its packets arrive if `sends` says so of each, those of the server if
/// `hears` does.
pub(crate) fn frame<W: Named>(
    target: &mut Target<W>,
    client: &mut Client<W>,
    command: Command,
    mut sends: impl FnMut(&[u8]) -> bool,
    hears: impl Fn(&[u8]) -> bool,
) {
    let mut buf = [0; 1_200];
    client.advance(target.now, &Field::default(), command);
    while let Some((_, len)) = client.poll_transmit(target.now, &mut buf) {
        if sends(&buf[..len]) {
            target.send(home(1), &buf[..len]);
        }
    }
    for (_, datagram) in target.received().into_iter().chain(target.frame()) {
        if hears(&datagram) {
            client.handle_datagram(target.now, server_addr(), &datagram);
        }
    }
}

/// To the right and back again, each for seven frames.
fn to_and_fro(n: u32) -> Command {
    Command::new(if (n / 7).is_multiple_of(2) { 1.0 } else { -1.0 }, 0.0, 0)
}

const IS_MESSAGE: fn(&[u8]) -> bool = |datagram| datagram[12] == 8;

#[test]
fn run_of_lost_packets_raises_the_redundancy_of_inputs() {
    let mut leads = Vec::new();
    for (lost, expected) in [(0, 4), (1, 4), (2, 6), (3, 7), (10, 8)] {
        let (mut target, mut client) = playing(GameWire);
        let (mut packets, mut counts) = (0, Vec::new());
        for _ in 0..100 {
            let arrives = |datagram: &[u8]| {
                counts.extend((datagram[12] == 4).then(|| datagram[15]));
                packets += 1;
                packets > lost
            };
            frame(&mut target, &mut client, Command::NEUTRAL, arrives, |_| true);
        }
        // A frame with two steps has one input more.
        assert_eq!(counts[counts.len() - 10..].iter().min(), Some(&expected), "{lost} lost");
        let server = client.server_frame(target.now).expect("a time");
        let lead = client.simulated_frame().expect("a time").since(Frame::ZERO) - server.since(Frame::ZERO);
        // The margin of 50 ms covers two lost packets and not four.
        leads.push(lead);
    }
    assert!((leads[0] - leads[2]).abs() < 0.3 && leads[4] - leads[0] > 0.5, "{leads:?}");
}

#[test]
fn inputs_of_several_steps_go_out_together() {
    let (mut target, mut client) = playing(GameWire);
    let before = client.stats().steps;
    for frames in [1, 1, 3] {
        target.now += crate::lab::FRAME * frames;
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
    }
    let (mut buf, mut counts) = ([0; 1_200], Vec::new());
    while client.poll_transmit(target.now, &mut buf).is_some() {
        counts.extend((buf[12] == 4).then(|| u64::from(buf[15])));
    }
    let steps = client.stats().steps - before;
    assert!(steps >= 4);
    assert_eq!(counts, [steps - 1 + 4]);
}

#[test]
fn client_waits_a_second_for_the_terms() {
    let (mut target, mut client) = (Target::new(GameWire, |_| {}), joining(GameWire));
    let mut began = None;
    for n in 0..120 {
        frame(&mut target, &mut client, to_and_fro(n), |_| true, |datagram| !IS_MESSAGE(datagram));
        began = began.or(client.frame().map(|_| n));
    }
    assert!(began.is_some_and(|n| (64..80).contains(&n)), "{began:?}");
    // Terms that come now do not change how inputs are numbered.
    (120..240).for_each(|n| frame(&mut target, &mut client, to_and_fro(n), |_| true, |_| true));
    let before = client.stats().prediction;
    (240..360).for_each(|n| frame(&mut target, &mut client, to_and_fro(n), |_| true, |_| true));
    let after = client.stats().prediction;
    let (compared, exact) = (after.compared - before.compared, after.exact - before.exact);
    assert!(compared > 30 && exact * 10 >= compared * 9, "{exact} of {compared}");
}

#[test]
fn command_out_of_range_is_limited() {
    for_wires!(|wire| {
        let (mut target, mut client) = playing(wire);
        let command = Command { x: 9.0, y: f32::NAN, actions: 0 };
        let before = *client.predicted().expect("a body");
        (0..30).for_each(|_| frame(&mut target, &mut client, command, |_| true, |_| true));
        let moved = client.predicted().expect("a body").x - before.x;
        assert!((5.0..7.0).contains(&moved), "{wire:?}: 0.2 units a frame: {moved}");
        assert_eq!(target.server.stats().refused.total(), 0, "{wire:?}");
    });
}

#[test]
fn entity_is_not_drawn_before_its_spawn_is_told() {
    let (mut target, mut client) = playing(GameWire);
    target.field.extra.push((target.server.frame().0 + 1, |stage| {
        assert_eq!(stage.spawn(5, Body::at(1.0, 1.0)), Some(255));
    }));
    for _ in 0..60 {
        frame(&mut target, &mut client, Command::NEUTRAL, |_| true, |datagram| !IS_MESSAGE(datagram));
    }
    assert!(client.raw(255).is_some() && client.others().next().is_none());
    rounds(&mut target, &mut client, 60);
    assert_eq!(client.others().map(|seen| (seen.id, seen.kind)).collect::<Vec<_>>(), [(255, 5)]);
}

#[test]
fn own_ship_begins_at_its_own_place() {
    let (mut target, mut client) = (Target::new(RtypeWire, |_| {}), joining(RtypeWire));
    target.field.extra.push((1, |stage| {
        (0..5).for_each(|_| assert!(stage.spawn(5, Body::at(10.0, 10.0)).is_some()));
    }));
    target.frame();
    let first = (0..120).find_map(|_| {
        rounds(&mut target, &mut client, 1);
        client.predicted().copied()
    });
    let own = *target.server.body(client.id().expect("an id")).expect("a body");
    assert_eq!(first.map(|body| (body.x, body.y)), Some((own.x, own.y)));
}

#[test]
fn delay_follows_the_rate_that_the_server_tells() {
    let (_, client) = playing_on(Target::new(GameWire, |config| config.broadcast_rate = 10));
    assert!(client.stats().delay >= ms(150), "{:?}", client.stats().delay);
}

#[test]
fn client_that_left_says_goodbye_three_times_100_ms_apart() {
    let (target, mut client) = playing(GameWire);
    let (start, mut buf) = (target.now, [0; 1_200]);
    assert!(client.server_frame(start).is_some());
    client.leave(start);
    assert_eq!(client.server_frame(start), None, "nobody tells it any more");
    for n in 0..3 {
        let due = start + ms(100) * n;
        assert_eq!((client.poll_timeout(), client.lingers()), (Some(due), true));
        assert!(client.poll_transmit(due, &mut buf).is_some() && buf[12] == 3);
        assert!(client.poll_transmit(due, &mut buf).is_none());
    }
    assert_eq!((client.poll_timeout(), client.lingers()), (None, false));
}

#[test]
fn snapshot_beyond_31_bits_of_seconds_is_refused() {
    let mut target = Target::new(GameWire, |config| {
        (config.frame_rate, config.broadcast_rate, config.first_frame) = (1, 1, Frame(3_000_000_000));
    });
    let mut client = joining(GameWire);
    rounds(&mut target, &mut client, 120);
    assert!(client.id().is_some() && client.predicted().is_none());
    assert!(client.stats().refused.of(Refusal::OutOfPlace) > 20);
}

#[test]
fn third_implausible_snapshot_in_a_row_is_a_new_time() {
    let (mut target, mut client) = playing(GameWire);
    let mut last = Vec::new();
    for _ in 0..6 {
        for datagram in round(&mut target, &mut client) {
            client.handle_datagram(target.now, server_addr(), &datagram);
            last = if datagram[12] == 5 { datagram } else { last };
        }
    }
    let id = client.id().expect("an id");
    let number = |at: usize| u16::from_be_bytes([last[at], last[at + 1]]);
    let tick = u32::from_be_bytes([last[15], last[16], last[17], last[18]]);
    let mut forged = last.clone();
    for (n, is_taken) in [(1, false), (2, false), (3, true)] {
        // A snapshot of ten seconds later, which shows the player elsewhere.
        forged[4..6].copy_from_slice(&number(4).wrapping_add(n).to_be_bytes());
        forged[15..19].copy_from_slice(&(tick + 600 + 3 * u32::from(n)).to_be_bytes());
        forged[21..25].copy_from_slice(&5.0_f32.to_be_bytes());
        target.now += ms(50);
        let before = client.stats().refused.of(Refusal::OutOfPlace);
        client.handle_datagram(target.now, server_addr(), &forged);
        let refused = client.stats().refused.of(Refusal::OutOfPlace) - before;
        let is_shown = client.raw(id).is_some_and(|body| body.x < 6.0);
        assert_eq!((refused == 0, is_shown), (is_taken, is_taken), "snapshot {n}");
    }
}

#[test]
fn frames_without_our_input_are_counted() {
    let (mut target, mut client) = playing(GameWire);
    let before = client.stats().held_by_server;
    rounds(&mut target, &mut client, 60);
    assert_eq!(client.stats().held_by_server, before);
    (0..30).for_each(|_| frame(&mut target, &mut client, Command::NEUTRAL, |_| false, |_| true));
    assert!(client.stats().held_by_server > before);
}

#[test]
fn changed_path_is_measured_with_quick_pings() {
    let mut lab = Lab::new(3, LinkConfig::new(ms(20)));
    lab.world.network_mut().record(Recording::Full);
    let client = lab.client(ms(200));
    lab.run_until(ms(8_000));
    lab.world.network_mut().set_links(0, client, LinkConfig::new(ms(120)));
    lab.run_until(ms(11_000));
    let pings = |from: u64, to: u64| {
        let entries = lab.world.network().transcript().entries().iter();
        let sent = entries.filter(|entry| entry.kind == EntryKind::Sent && entry.from == client_addr(client));
        sent.filter(|entry| entry.datagram[12] == 6 && (ms(from)..ms(to)).contains(&entry.at)).count()
    };
    assert!(pings(6_000, 7_000) <= 2, "one a second");
    assert!(pings(9_500, 10_500) >= 8, "{} pings", pings(9_500, 10_500));
}

#[test]
fn answer_that_leads_to_nothing_is_forgotten() {
    for_wires!(|wire| {
        let (mut client, mut buf) = (joining(wire), [0; 1_200]);
        client.advance(ms(0), &Field::default(), Command::NEUTRAL);
        assert!(client.poll_transmit(ms(0), &mut buf).is_some());
        let answer = match wire.format() {
            Format::Game => [b"GAME\0\x05", &buf[4..6], &[0, 0, 0, 0, 2, 0, 1, 9][..]].concat(),
            _ => vec![0x11, 1, 0, 5, 9, 0, 0, 0, 1],
        };
        client.handle_datagram(ms(40), server_addr(), &answer);
        assert_eq!(client.id(), Some(9));
        let mut asks_at = |from: u64, to: u64| {
            (from..to).step_by(10).find(|at| {
                client.advance(ms(*at), &Field::default(), Command::NEUTRAL);
                std::iter::from_fn(|| client.poll_transmit(ms(*at), &mut buf).map(|_| (buf[0], buf[12])))
                    .filter(
                        |(first, kind)| {
                            if wire.format() == Format::Game { *kind == 1 } else { *first == 0x10 }
                        },
                    )
                    .count()
                    > 0
            })
        };
        // Half a second, and the 40 ms that the answer took.
        assert_eq!(asks_at(50, 2_000), Some(590), "{wire:?}");
        // The time until it gives up begins again.
        assert!(asks_at(600, 1_100).is_some(), "{wire:?}");
        assert_eq!(client.over(), None, "{wire:?}");
    });
}

#[test]
fn datagrams_of_others_are_refused() {
    for_wires!(|wire| {
        let (mut target, mut client) = playing(wire);
        let before = client.stats();
        let mut datagrams: Vec<_> = (0..6).flat_map(|_| round(&mut target, &mut client)).collect();
        datagrams.truncate(3);
        for datagram in &datagrams {
            client.handle_datagram(target.now, SocketAddr::from(([192, 0, 2, 77], 7_000)), datagram);
        }
        let after = client.stats();
        assert_eq!(after.refused.of(Refusal::Stranger), datagrams.len() as u64, "{wire:?}");
        assert_eq!(after.snapshots, before.snapshots, "{wire:?}");
    });
}

#[test]
fn newest_1024_events_wait_for_the_game() {
    let (mut target, mut client) = playing(GameWire);
    while client.poll_event().is_some() {}
    target.field.extra.push((0, |stage| (0..20).for_each(|n| assert!(stage.tell(&[n])))));
    rounds(&mut target, &mut client, 90);
    let events: Vec<ClientEvent> = std::iter::from_fn(|| client.poll_event()).collect();
    let told = |event: &ClientEvent| matches!(event, ClientEvent::Told { .. });
    assert!(events.len() == 1_024 && events.iter().all(told));
    let frames = |event: &ClientEvent| match event {
        ClientEvent::Told { frame, .. } => frame.0,
        _ => 0,
    };
    assert!(frames(&events[1_023]) + 5 > target.server.frame().0, "the newest are kept");
}

#[test]
fn each_update_of_an_rtype_server_is_compared_once() {
    let (mut target, mut client) = playing(RtypeWire);
    target.field.extra.push((target.server.frame().0 + 1, |stage| {
        assert_eq!(stage.spawn(5, Body::at(10.0, 10.0)), Some(255));
    }));
    target.field.extra.push((0, |stage| {
        if let Some(body) = stage.body_mut(255) {
            body.y += 1.0;
        }
    }));
    let before = client.stats();
    (0..120).for_each(|n| frame(&mut target, &mut client, to_and_fro(n), |_| true, |_| true));
    let after = client.stats();
    let compared = after.prediction.compared - before.prediction.compared;
    // The other entity is updated as often as the player, and says nothing of it.
    assert!(compared > 10 && 2 * compared <= after.snapshots - before.snapshots, "{before:?} {after:?}");
    assert_eq!(after.prediction.exact - before.prediction.exact, compared);
    let (shown, body) = (client.raw(255).expect("an entity"), target.server.body(255).expect("an entity"));
    assert!((shown.x - 10.0).abs() < 1e-3 && (shown.y - body.y).abs() <= 8.0 && body.y > 60.0, "{shown:?}");
    assert!((115..=125).contains(&(after.steps - before.steps)), "{} steps", after.steps - before.steps);
}

#[test]
fn jitter_raises_the_delay_of_an_rtype_client() {
    for (jitter, expected) in [(0, 75..90), (80, 100..250)] {
        let mut lab =
            Lab::speaking(RtypeWire, 6, LinkConfig { jitter: ms(jitter), ..LinkConfig::new(ms(30)) });
        let (one, _) = (lab.client(ms(200)), lab.client(ms(300)));
        lab.run_until(ms(10_000));
        let delay = lab.client_at(one).client.stats().delay;
        assert!(expected.contains(&delay.as_millis()), "{delay:?} with a jitter of {jitter} ms");
    }
}

#[test]
fn client_does_not_step_before_it_knows_its_body() {
    let (mut target, mut client) = (Target::new(GameWire, |_| {}), joining(GameWire));
    target.field.extra.push((0, |stage| {
        let ids: Vec<u8> = stage.players().map(|(id, _)| id).collect();
        ids.iter().filter_map(|id| stage.body_mut(*id).map(|body| body.y = f32::NAN)).count();
    }));
    rounds(&mut target, &mut client, 120);
    assert!(client.id().is_some() && client.stats().snapshots > 20);
    assert_eq!((client.frame(), client.stats().steps), (None, 0));
}

#[test]
fn second_leave_says_nothing_more() {
    for_wires!(|wire| {
        let (target, mut client) = playing(wire);
        let mut buf = [0; 1_200];
        for n in 0..2 {
            client.leave(target.now + ms(1_000) * n);
            (0..10)
                .for_each(|at| while client.poll_transmit(target.now + ms(100) * at, &mut buf).is_some() {});
            assert!(!client.lingers(), "{wire:?}");
        }
        let steps = client.stats().steps;
        for n in 0..10 {
            client.advance(target.now + ms(100) * n, &Field::default(), Command::NEUTRAL);
        }
        assert_eq!(client.stats().steps, steps, "{wire:?}: it does not step any more");
        let over =
            std::iter::from_fn(|| client.poll_event()).filter(|event| matches!(event, ClientEvent::Over(_)));
        assert_eq!(over.count(), 1, "{wire:?}");
    });
}

#[test]
fn other_packets_do_not_end_a_goodbye() {
    for_wires!(|wire| {
        let (mut target, mut client) = playing(wire);
        let datagrams: Vec<_> = (0..60)
            .flat_map(|n| {
                frame(&mut target, &mut client, to_and_fro(n), |_| true, |_| false);
                round(&mut target, &mut client)
            })
            .collect();
        client.leave(target.now);
        for datagram in &datagrams {
            client.handle_datagram(target.now, server_addr(), datagram);
        }
        assert!(!datagrams.is_empty() && client.lingers(), "{wire:?}");
        let refused = client.stats().refused.of(Refusal::OutOfPlace);
        assert_eq!(refused, datagrams.len() as u64, "{wire:?}");
    });
}

#[test]
fn player_is_drawn_between_its_steps() {
    let (target, mut client) = playing(GameWire);
    let right = Command::new(1.0, 0.0, 0);
    let drawn: Vec<f32> = (0..24)
        .map(|n| {
            client.advance(target.now + crate::lab::FRAME / 4 * n, &Field::default(), right);
            client.own().expect("a body").x
        })
        .collect();
    // 0.2 units a frame; the first frames still stand.
    let moved = drawn[12..].windows(2).map(|pair| pair[1] - pair[0]);
    assert!(moved.clone().all(|moved| (0.01..0.1).contains(&moved)), "{drawn:?}");
}

#[test]
fn answer_for_another_id_changes_nothing_once_seated() {
    let (mut target, mut client) = playing(GameWire);
    let id = client.id().expect("an id");
    let last = (0..6).flat_map(|_| round(&mut target, &mut client)).last().expect("a packet");
    let accepted = [&last[..12], &[2, 0, 1, id ^ 1]].concat();
    client.handle_datagram(target.now, server_addr(), &accepted);
    assert_eq!((client.id(), client.stats().refused.total()), (Some(id), 0));
    // A PONG that answers no PING.
    let mut pong = [&last[..12], &[7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]].concat();
    pong[5] = pong[5].wrapping_add(1);
    let before = client.stats();
    client.handle_datagram(target.now, server_addr(), &pong);
    assert_eq!(client.stats().refused.of(Refusal::UnaskedPong), 1);
    assert_eq!(client.stats().round_trip, before.round_trip);
}

#[test]
fn client_counts_its_traffic_and_measures_the_path() {
    let mut lab = Lab::new(1, LinkConfig::new(ms(40)));
    let client = lab.client(ms(200));
    lab.run_until(ms(3_000));
    let stats = lab.client_at(client).client.stats();
    assert!(stats.prediction.compared <= stats.snapshots, "each snapshot is compared once: {stats:?}");
    let (sent, received) = lab.world.traffic(client);
    assert_eq!((stats.datagrams_out, stats.bytes_out), (sent.datagrams, sent.payload_bytes));
    assert_eq!(stats.datagrams_in, received.datagrams);
    assert!((ms(80)..ms(81)).contains(&stats.round_trip) && stats.jitter < ms(1), "{stats:?}");
    let mut lab = Lab::new(1, LinkConfig { jitter: ms(30), ..LinkConfig::new(ms(40)) });
    let jittery = lab.client(ms(200));
    lab.run_until(ms(3_000));
    let measured = lab.client_at(jittery).client.stats();
    assert!((ms(3)..ms(20)).contains(&measured.jitter) && measured.round_trip > ms(90), "{measured:?}");
    assert!((45..55).contains(&stats.snapshots) && (140..170).contains(&stats.steps), "{stats:?}");
}

#[test]
fn client_is_called_and_polled_in_time() {
    for_wires!(|wire| {
        let every = if wire.format() == Format::Game { ms(200) } else { ms(100) };
        let (mut client, mut buf) = (joining(wire), [0; 1_200]);
        assert_eq!((client.next_frame_at(), client.poll_timeout()), (ms(0), Some(ms(0))));
        client.advance(ms(5), &Field::default(), Command::NEUTRAL);
        assert_eq!(client.next_frame_at(), ms(5) + std::time::Duration::from_secs(1) / 60);
        assert!(client.poll_transmit(ms(7), &mut buf).is_some());
        assert_eq!(client.poll_timeout(), Some(ms(7) + every), "{wire:?}");
        let (target, mut client) = playing(wire);
        client.advance(target.now, &Field::default(), Command::NEUTRAL);
        let next = client.next_frame_at();
        assert!((target.now..=target.now + crate::lab::FRAME).contains(&next), "{wire:?}: {next:?}");
        while client.poll_transmit(target.now, &mut buf).is_some() {}
        let due = client.poll_timeout().expect("a heartbeat or a ping");
        assert!(due > target.now && due <= target.now + ms(100), "{wire:?}: {due:?}");
    });
}

#[test]
fn client_that_does_not_step_sends_ten_heartbeats_a_second() {
    for_wires!(|wire| {
        let (target, mut client) = playing(wire);
        let (mut buf, mut alive) = ([0; 1_200], 0);
        for n in 0..100 {
            while client.poll_transmit(target.now + ms(10) * n, &mut buf).is_some() {
                alive += u32::from(if wire.format() == Format::Game { buf[12] == 9 } else { buf[0] == 0x50 });
            }
        }
        assert!((9..=11).contains(&alive), "{wire:?}: {alive}");
    });
}

#[test]
fn goodbye_is_void_while_snapshots_come() {
    let (mut target, mut client) = playing(GameWire);
    let last = (0..6).flat_map(|_| round(&mut target, &mut client)).last().expect("a packet");
    client.handle_datagram(target.now, server_addr(), &[&last[..12], &[3, 0, 0]].concat());
    assert_eq!(client.stats().refused.total(), 0);
    rounds(&mut target, &mut client, 60);
    assert_eq!(client.over(), None);
}

//! Seats: who gets one, who loses it, and the words for a player.

use crate::lab::{
    ClientNode, Format, Lab, Named, Node, SERVER, bad_link, client_addr, for_wires, ms, server_addr,
};
use rebout::Refusal;
use rebout::authority::{ClientConfig, ClientEvent, LeftWhy, OverReason, ServerConfig, ServerEvent};
use rebout::lab::link::{Chance, LinkConfig};

fn clean() -> LinkConfig {
    LinkConfig::new(ms(30))
}

fn left(lab: &Lab<impl Named>) -> Vec<(u8, LeftWhy)> {
    let events = lab.server().events.iter();
    events
        .filter_map(|event| match event {
            ServerEvent::Left { id, why } => Some((*id, *why)),
            _ => None,
        })
        .collect()
}

#[test]
fn everybody_gets_a_seat_and_an_id_of_their_own_on_a_bad_link() {
    for_wires!(|wire| {
        let mut config = ServerConfig::new(1);
        config.max_clients = 24;
        let mut lab = Lab::with_server(wire, 1, bad_link(), config);
        let clients: Vec<usize> = (0..24).map(|_| lab.client(ms(200))).collect();
        lab.run_until(ms(8_000));
        let mut ids: Vec<u8> = clients.iter().map(|at| lab.client_at(*at).client.id().unwrap()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), lab.server().server.clients()), (24, 24));
        for client in clients {
            let node = lab.client_at(client);
            assert_eq!(node.client.others().count(), 23, "{wire:?}");
            let joined = node.events.iter().filter(|event| matches!(event, ClientEvent::Joined { .. }));
            assert_eq!(joined.count(), 1);
        }
    });
}

#[test]
fn full_server_says_so() {
    for_wires!(|wire| {
        let mut config = ServerConfig::new(2);
        config.max_clients = 2;
        let mut lab = Lab::with_server(wire, 2, clean(), config);
        let (_, _) = (lab.client(ms(100)), lab.client(ms(100)));
        let third = lab.client(ms(2_000));
        lab.run_until(ms(4_000));
        assert_eq!(lab.client_at(third).client.over(), Some(OverReason::Full));
        assert_eq!(lab.server().server.clients(), 2);
    });
}

#[test]
fn no_id_is_a_full_server_too() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 3, clean());
        lab.server_mut()
            .field
            .extra
            .push((1, |stage| while stage.spawn(0, rebout::authority::Body::at(0.0, 0.0)).is_some() {}));
        let client = lab.client(ms(200));
        lab.run_until(ms(2_000));
        assert_eq!(lab.client_at(client).client.over(), Some(OverReason::Full));
    });
}

#[test]
fn client_that_leaves_is_gone_and_its_world_is_told() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 4, clean());
        let (one, two) = (lab.client(ms(200)), lab.client(ms(200)));
        lab.run_until(ms(2_000));
        let (id, now) = (lab.client_at(one).client.id().unwrap(), lab.world.local_now(one));
        lab.client_mut(one).client.leave(now);
        lab.run_until(ms(4_000));
        assert_eq!(left(&lab), [(id, LeftWhy::Left)]);
        assert_eq!(lab.server().field.left, [id]);
        assert_eq!(lab.client_at(two).client.others().count(), 0);
        assert_eq!(lab.client_at(one).client.over().unwrap().to_string(), "you left the game");
    });
}

#[test]
fn silent_client_is_removed_after_ten_seconds() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 5, clean());
        let client = lab.client(ms(200));
        lab.run_until(ms(3_000));
        lab.world.stop(client);
        lab.run_until(ms(12_900));
        assert_eq!(lab.server().server.clients(), 1);
        lab.run_until(ms(13_200));
        assert_eq!(left(&lab), [(lab.client_at(client).client.id().unwrap(), LeftWhy::Silent)]);
        let stats = lab.server().server.input_stats(0);
        assert_eq!(stats, None);
    });
}

#[test]
fn silent_server_is_lost_after_ten_seconds() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 6, clean());
        let client = lab.client(ms(200));
        lab.run_until(ms(3_000));
        lab.world.stop(SERVER);
        lab.run_until(ms(12_900));
        assert_eq!(lab.client_at(client).client.over(), None);
        lab.run_until(ms(13_300));
        let reason = lab.client_at(client).client.over().unwrap();
        assert_eq!(reason.to_string(), "the connection to the server was lost");
    });
}

#[test]
fn client_gives_up_without_an_answer() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 7, LinkConfig { loss: Chance::ALWAYS, ..clean() });
        let client = lab.client(ms(200));
        lab.run_until(ms(11_000));
        assert_eq!(lab.client_at(client).client.over(), Some(OverReason::NoAnswer));
        let sent = lab.client_at(client).client.stats().datagrams_out;
        // Every 200 ms for ten seconds, or once and five times more.
        let expected = if wire.format() == Format::Game { 45..=55 } else { 6..=6 };
        assert!(expected.contains(&sent), "{sent} requests on {wire:?}");
    });
}

#[test]
fn kick_and_shutdown_are_said() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 8, bad_link());
        let (one, two) = (lab.client(ms(200)), lab.client(ms(200)));
        lab.run_until(ms(3_000));
        let (id, now) = (lab.client_at(one).client.id().unwrap(), lab.world.local_now(SERVER));
        let node = lab.server_mut();
        assert!(node.server.kick(now, &mut node.field, id) && !node.server.kick(now, &mut node.field, id));
        lab.run_until(ms(5_000));
        // R-Type has no packet for the reason.
        let (kicked, shut_down) = match wire.format() {
            Format::Game => (OverReason::Kicked, OverReason::Shutdown),
            _ => (OverReason::Ended, OverReason::Ended),
        };
        assert_eq!(lab.client_at(one).client.over(), Some(kicked));
        assert_eq!(lab.client_at(two).client.over(), None);
        let now = lab.world.local_now(SERVER);
        let node = lab.server_mut();
        node.server.shutdown(now, &mut node.field);
        lab.run_until(ms(7_000));
        assert_eq!(lab.client_at(two).client.over(), Some(shut_down));
        let words = lab.client_at(two).client.over().unwrap().to_string();
        let expected = ["the server was shut down", "the server has ended the game"];
        assert_eq!(words, expected[usize::from(wire.format() == Format::Rtype)]);
        let whys: Vec<LeftWhy> = left(&lab).into_iter().map(|(_, why)| why).collect();
        assert_eq!(whys, [LeftWhy::Kicked, LeftWhy::Shutdown], "{wire:?}");
    });
}

#[test]
fn restarted_client_gets_a_new_seat_within_two_seconds() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 9, clean());
        let client = lab.client(ms(200));
        lab.run_until(ms(3_000));
        let config = ClientConfig::new(777);
        let fresh = ClientNode::new(config, server_addr(), 5);
        lab.world.restart(client, Node::Client(fresh));
        lab.run_until(ms(5_000));
        assert_eq!(left(&lab).len(), 1);
        assert_eq!(lab.server().server.clients(), 1);
        assert!(lab.client_at(client).client.predicted().is_some());
    });
}

#[test]
fn nothing_is_kept_of_an_address_that_has_not_proven_itself() {
    for_wires!(|wire| {
        let mut lab = Lab::speaking(wire, 10, clean());
        // It hears the answers and never says that it did: all but its requests are lost.
        let client = lab.client(ms(200));
        lab.world.network_mut().lose(client, 1_000, |datagram| {
            let is_request = datagram.get(12) == Some(&1) || datagram.first() == Some(&0x10);
            !is_request
        });
        lab.run_until(ms(5_000));
        assert_eq!(lab.server().server.clients(), 0);
        let (to, from) = lab.world.traffic(client);
        // An R-Type HELLO is acknowledged and welcomed.
        let answers = if wire.format() == Format::Game { 1 } else { 2 };
        assert!(from.datagrams <= answers * to.datagrams, "{from:?} for {to:?}");
        assert_eq!(lab.server().events, []);
    });
}

#[test]
fn forged_disconnect_ends_nothing_while_inputs_come() {
    let mut lab = Lab::new(11, clean());
    let client = lab.client(ms(200));
    lab.world.network_mut().record(rebout::lab::sim::Recording::Full);
    lab.run_until(ms(3_000));
    // A forger on the path: the client's last datagram, made a DISCONNECT.
    let entries = lab.world.network().transcript().entries();
    let last = entries.iter().rev().find(|entry| entry.from == client_addr(client)).expect("datagrams");
    let mut forged = last.datagram[..15].to_vec();
    forged[5] = forged[5].wrapping_add(1);
    (forged[12], forged[13], forged[14]) = (3, 0, 0);
    lab.world.network_mut().inject(ms(3_001), client_addr(client), server_addr(), &forged);
    lab.run_until(ms(6_000));
    assert_eq!(lab.server().server.stats().refused.of(Refusal::MalformedControl), 0);
    assert_eq!(left(&lab), []);
}

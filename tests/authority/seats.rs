//! Seats: who gets one, who loses it, and the words for a player.

use crate::lab::{ClientNode, Lab, Node, SERVER, bad_link, client_addr, ms, server_addr};
use rebout::Refusal;
use rebout::authority::{ClientConfig, ClientEvent, LeftWhy, Reason, ServerConfig, ServerEvent};
use rebout::net::link::{Chance, LinkConfig};

fn clean() -> LinkConfig {
    LinkConfig::new(ms(30))
}

fn left(lab: &Lab) -> Vec<(u8, LeftWhy)> {
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
    let mut config = ServerConfig::new(1);
    config.max_clients = 24;
    let mut lab = Lab::with_server(1, bad_link(), config);
    let clients: Vec<usize> = (0..24).map(|_| lab.client(ms(200))).collect();
    lab.run_until(ms(8_000));
    let mut ids: Vec<u8> = clients.iter().map(|at| lab.client_at(*at).client.id().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), lab.server().server.clients()), (24, 24));
    for client in clients {
        let node = lab.client_at(client);
        assert_eq!(node.client.others().count(), 23);
        let joined = node.events.iter().filter(|event| matches!(event, ClientEvent::Joined { .. }));
        assert_eq!(joined.count(), 1);
    }
}

#[test]
fn a_full_server_says_so() {
    let mut config = ServerConfig::new(2);
    config.max_clients = 2;
    let mut lab = Lab::with_server(2, clean(), config);
    let (_, _) = (lab.client(ms(100)), lab.client(ms(100)));
    let third = lab.client(ms(2_000));
    lab.run_until(ms(4_000));
    assert_eq!(lab.client_at(third).client.over(), Some(Reason::Full));
    assert_eq!(lab.server().server.clients(), 2);
}

#[test]
fn no_id_is_a_full_server_too() {
    let mut lab = Lab::new(3, clean());
    lab.server_mut()
        .field
        .extra
        .push((1, |stage| while stage.spawn(0, rebout::authority::Body::at(0.0, 0.0)).is_some() {}));
    let client = lab.client(ms(200));
    lab.run_until(ms(2_000));
    assert_eq!(lab.client_at(client).client.over(), Some(Reason::Full));
}

#[test]
fn a_client_that_leaves_is_gone_and_its_world_is_told() {
    let mut lab = Lab::new(4, clean());
    let (one, two) = (lab.client(ms(200)), lab.client(ms(200)));
    lab.run_until(ms(2_000));
    let (id, now) = (lab.client_at(one).client.id().unwrap(), lab.world.local_now(one));
    lab.client_mut(one).client.leave(now);
    lab.run_until(ms(4_000));
    assert_eq!(left(&lab), [(id, LeftWhy::Left)]);
    assert_eq!(lab.server().field.left, [id]);
    assert_eq!(lab.client_at(two).client.others().count(), 0);
    assert_eq!(lab.client_at(one).client.over().unwrap().to_string(), "you left the game");
}

#[test]
fn a_silent_client_is_removed_after_ten_seconds() {
    let mut lab = Lab::new(5, clean());
    let client = lab.client(ms(200));
    lab.run_until(ms(3_000));
    lab.world.stop(client);
    lab.run_until(ms(12_900));
    assert_eq!(lab.server().server.clients(), 1);
    lab.run_until(ms(13_200));
    assert_eq!(left(&lab), [(lab.client_at(client).client.id().unwrap(), LeftWhy::Silent)]);
    let stats = lab.server().server.input_stats(0);
    assert_eq!(stats, None);
}

#[test]
fn a_silent_server_is_lost_after_ten_seconds() {
    let mut lab = Lab::new(6, clean());
    let client = lab.client(ms(200));
    lab.run_until(ms(3_000));
    lab.world.stop(SERVER);
    lab.run_until(ms(12_900));
    assert_eq!(lab.client_at(client).client.over(), None);
    lab.run_until(ms(13_300));
    let reason = lab.client_at(client).client.over().unwrap();
    assert_eq!(reason.to_string(), "the connection to the server was lost");
}

#[test]
fn where_nobody_answers_the_client_gives_up() {
    let mut lab = Lab::new(7, LinkConfig { loss: Chance::ALWAYS, ..clean() });
    let client = lab.client(ms(200));
    lab.run_until(ms(11_000));
    assert_eq!(lab.client_at(client).client.over(), Some(Reason::NoAnswer));
    let sent = lab.client_at(client).client.stats().datagrams_out;
    assert!((45..=55).contains(&sent), "{sent} requests");
}

#[test]
fn kick_and_shutdown_are_said() {
    let mut lab = Lab::new(8, bad_link());
    let (one, two) = (lab.client(ms(200)), lab.client(ms(200)));
    lab.run_until(ms(3_000));
    let (id, now) = (lab.client_at(one).client.id().unwrap(), lab.world.local_now(SERVER));
    let node = lab.server_mut();
    assert!(node.server.kick(now, &mut node.field, id) && !node.server.kick(now, &mut node.field, id));
    lab.run_until(ms(5_000));
    assert_eq!(lab.client_at(one).client.over(), Some(Reason::Kicked));
    assert_eq!(lab.client_at(two).client.over(), None);
    let now = lab.world.local_now(SERVER);
    let node = lab.server_mut();
    node.server.shutdown(now, &mut node.field);
    lab.run_until(ms(7_000));
    assert_eq!(lab.client_at(two).client.over(), Some(Reason::Shutdown));
    assert_eq!(lab.client_at(two).client.over().unwrap().to_string(), "the server was shut down");
}

#[test]
fn a_client_that_was_restarted_gets_a_new_seat_within_two_seconds() {
    let mut lab = Lab::new(9, clean());
    let client = lab.client(ms(200));
    lab.run_until(ms(3_000));
    let fresh = ClientNode::new(ClientConfig::new(777), server_addr(), 5);
    lab.world.restart(client, Node::Client(fresh));
    lab.run_until(ms(5_000));
    assert_eq!(left(&lab).len(), 1);
    assert_eq!(lab.server().server.clients(), 1);
    assert!(lab.client_at(client).client.predicted().is_some());
}

#[test]
fn nothing_is_kept_of_an_address_that_has_not_proven_itself() {
    let mut lab = Lab::new(10, clean());
    // It hears the answers and never says that it did: all but its requests are lost.
    let client = lab.client(ms(200));
    lab.world.network_mut().lose(client, 1_000, |datagram| datagram.get(12) != Some(&1));
    lab.run_until(ms(5_000));
    assert_eq!(lab.server().server.clients(), 0);
    let (to, from) = lab.world.traffic(client);
    assert!(from.datagrams <= to.datagrams, "{from:?} for {to:?}");
    assert_eq!(lab.server().events, []);
}

#[test]
fn a_disconnect_that_somebody_else_wrote_ends_nothing_while_inputs_come() {
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

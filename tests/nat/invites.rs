//! Invites with addresses of the LAN beside the rendezvous: both ways are tried at once, and make one guest.

use super::internet::{HOST, Internet, JOINER, Plan, RELAY, RENDEZVOUS, Router, at, ms, rendezvous_addr};
use core::time::Duration;
use rebout::ServerName;
use rebout::lab::link::LinkConfig;
use rebout::lab::nat::{NatConfig, NatTraversal, Progress};
use rebout::lab::sim::Recording;

fn plan() -> Plan {
    let routers = Plan::new(Router::Cone, Router::Cone);
    Plan { same_router: true, invites_to_lan: true, frames: 60, ..routers }
}

fn cut_off_rendezvous(internet: &mut Internet) {
    for id in [HOST, JOINER] {
        internet.world.network_mut().set_down(id, RENDEZVOUS, true);
    }
}

fn names(internet: &Internet) -> [&'static str; 2] {
    [HOST, JOINER].map(|id| internet.player(id).progress().name())
}

#[test]
fn players_in_one_house_meet_without_the_rendezvous() {
    let mut internet = Internet::new(plan());
    cut_off_rendezvous(&mut internet);
    assert_eq!(internet.play(plan()), [Progress::Direct; 2]);
    let lan = Some(plan().inside(HOST));
    let joiner = internet.player(JOINER);
    assert_eq!(joiner.seal().outer_addr(joiner.seal().target().unwrap()), lan);
    assert!(joiner.began_at().unwrap() < ms(1_500), "it waited for the rendezvous");
    assert_eq!(internet.player(HOST).nat().stats().searches, 1, "signals travel on the connection");
}

#[test]
fn silent_address_leaves_the_way_through_the_rendezvous() {
    let plan = Plan { same_router: false, ..plan() };
    let mut internet = Internet::new(plan);
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
    assert_eq!(internet.player(JOINER).nat().stats().searches, 1);
}

/// Lines between the players from shorter to longer than those to the rendezvous: either way is the first to bring an answer.
#[test]
fn both_ways_at_once_make_one_guest() {
    for lan in [1, 15, 20, 30, 40, 50, 60, 80, 120] {
        for seed in 0..3 {
            let plan = Plan { seed, has_relay: false, ..plan() };
            let mut internet = Internet::new(plan);
            internet.set_line(HOST, JOINER, LinkConfig::new(ms(lan)));
            let progress = internet.play(plan);
            assert_eq!(progress, [Progress::Direct; 2], "{lan} ms: {}", internet.report());
            let host = internet.player(HOST).seal().stats();
            assert_eq!(host.connections, 1, "{lan} ms: {}", internet.report());
            // Nothing is left that would be due all the time.
            let rests = |internet: &Internet| {
                let due = [HOST, JOINER].map(|id| internet.player(id).nat().poll_timeout().unwrap());
                due.into_iter().all(|due| due > internet.world.now() + ms(10))
            };
            assert!(internet.run_until(ms(500), rests), "{lan} ms: {}", internet.report());
        }
    }
}

#[test]
fn connection_by_address_has_the_relay_in_reserve() {
    let plan = Plan { frames: 6_000, ..plan() };
    let mut internet = Internet::new(plan);
    internet.set_line(HOST, JOINER, LinkConfig::new(ms(1)));
    internet.begin();
    internet.run_for(ms(2_000));
    assert_eq!((names(&internet), internet.relay.allocated()), (["direct"; 2], 2), "{}", internet.report());
    for (from, to) in [(HOST, JOINER), (JOINER, HOST)] {
        internet.world.network_mut().set_down(from, to, true);
    }
    let is_relayed = |internet: &Internet| names(internet) == ["relayed"; 2];
    assert!(internet.run_until(ms(1_500), is_relayed), "{}", internet.report());
    assert!(internet.player(JOINER).gap < Duration::from_secs(1));
}

#[test]
fn rendezvous_is_found_at_its_second_address() {
    let plan = Plan { joins_at_millis: 2_000, frames: 60, ..Plan::new(Router::Cone, Router::Cone) };
    let plan = Plan { first_server_is_dead: true, ..plan };
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
    assert!(internet.player(JOINER).began_at().unwrap() < ms(4_500), "{}", internet.report());
    // Once the second address has answered, the first is left alone.
    let dead = internet.said(HOST).filter(|entry| entry.to == at("198.51.100.9:3479"));
    assert!(dead.last().unwrap().at < ms(1_500));
}

/// What a joiner has sent to the rendezvous since this time: the first bytes.
fn asked_since(internet: &Internet, time: Duration) -> Vec<u8> {
    let sent = internet.said(JOINER).filter(|entry| entry.to == rendezvous_addr() && entry.at >= time);
    sent.map(|entry| entry.datagram[0]).collect()
}

#[test]
fn connected_joiner_leaves_the_rendezvous_alone() {
    // The first waits for a slow relay when the address answers; the other has posted its INIT, and the host does not hear of it.
    for (is_posted, cut) in [(false, (JOINER, RELAY)), (true, (RENDEZVOUS, HOST))] {
        let plan = Plan { has_relay: !is_posted, frames: 6_000, ..plan() };
        let mut internet = Internet::new(plan);
        internet.world.network_mut().record(Recording::Full);
        internet.set_line(HOST, JOINER, LinkConfig::new(ms(100)));
        internet.run_for(ms(400));
        internet.world.network_mut().set_down(cut.0, cut.1, true);
        internet.begin();
        assert_eq!(asked_since(&internet, ms(0)).contains(&0xEA), is_posted);
        let began_at = internet.world.now();
        internet.run_for(ms(3_000));
        assert_eq!(asked_since(&internet, began_at), [0_u8; 0], "{}", internet.report());
        let rests = |internet: &Internet| {
            internet.player(JOINER).nat().poll_timeout().unwrap() > internet.world.now() + ms(10)
        };
        assert!(internet.run_until(ms(500), rests), "something is due all the time");
    }
}

#[test]
fn room_at_a_named_server_stays_when_the_server_moves() {
    let room = |server: &str, name: Option<&str>| {
        let mut config = NatConfig::new(std::time::Instant::now(), []);
        config.server_name = name.and_then(|name| ServerName::new(name, 3479));
        NatTraversal::host(config, at(server), &[7; 32]).unwrap().rendezvous().unwrap().room
    };
    let name = Some("play.example.org");
    assert_eq!(room("192.0.2.1:3479", name), room("192.0.2.2:3479", name));
    assert_ne!(room("192.0.2.1:3479", None), room("192.0.2.2:3479", None));
}

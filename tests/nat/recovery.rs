//! The state after a recovery: the better path is back, and nothing goes on that was only needed for it.

use super::internet::{HOST, Internet, JOINER, Node, Plan, RENDEZVOUS, Router, at, ms, relay_addr};
use core::time::Duration;
use rebout::RelayPolicy;
use rebout::lab::nat::Progress;
use rebout::lab::sim::Recording;
use turn_relay::SECRET;

const ALLOCATE: [u8; 2] = [0x00, 0x03];
const CREATE_PERMISSION: [u8; 2] = [0x00, 0x08];
const RESP: u8 = 0xE3;
const REPLY: u8 = 0xEF;

fn set_link(internet: &mut Internet, down: bool) {
    for (from, to) in [(HOST, JOINER), (JOINER, HOST)] {
        internet.world.network_mut().set_down(from, to, down);
    }
}

fn names(internet: &Internet) -> [&'static str; 2] {
    [HOST, JOINER].map(|id| internet.player(id).progress().name())
}

#[test]
fn match_returns_to_the_direct_path_when_it_works_again() {
    let mut internet = Internet::new(Plan { frames: 6_000, ..Plan::new(Router::Open, Router::Open) });
    internet.begin();
    internet.run_for(ms(1_000));
    assert_eq!(names(&internet), ["direct"; 2]);
    set_link(&mut internet, true);
    internet.run_for(ms(3_000));
    assert_eq!(names(&internet), ["relayed"; 2], "{}", internet.report());
    set_link(&mut internet, false);
    assert!(
        internet.run_until(ms(12_000), |internet| names(internet) == ["direct"; 2]),
        "{}",
        internet.report()
    );
}

/// Cuts both players off from everything for 29 s.
fn cut_off(internet: &mut Internet) {
    let now = internet.world.now();
    let network = internet.world.network_mut();
    for other in 0..network.endpoints() {
        for id in [HOST, JOINER].into_iter().filter(|id| *id != other) {
            network.cut_both(id, other, now, now + ms(29_000));
        }
    }
}

#[test]
fn outage_of_29_s_is_waited_for_on_every_path() {
    for (router, path) in [(Router::Open, "direct"), (Router::Cone, "direct"), (Router::Symmetric, "relayed")]
    {
        let plan = Plan { frames: 600, ..Plan::new(router, router) };
        let mut internet = Internet::new(plan);
        internet.begin();
        internet.run_for(ms(3_000));
        assert_eq!(names(&internet), [path; 2]);
        cut_off(&mut internet);
        internet.run_for(ms(29_000));
        let over =
            |internet: &Internet| [HOST, JOINER].iter().all(|id| internet.player(*id).verdict().is_some());
        assert!(internet.run_until(ms(9_000), over), "{router:?}: {}", internet.report());
        assert_eq!(internet.player(HOST).verdict(), internet.player(JOINER).verdict());
        assert_eq!(names(&internet), [path; 2], "{router:?}: {}", internet.report());
    }
}

#[test]
fn path_that_is_left_after_an_outage_is_found() {
    let mut internet = Internet::new(Plan { frames: 600, ..Plan::new(Router::Open, Router::Open) });
    internet.begin();
    internet.run_for(ms(3_000));
    assert_eq!(names(&internet), ["direct"; 2]);
    cut_off(&mut internet);
    set_link(&mut internet, true);
    internet.run_for(ms(29_000));
    let relayed = |internet: &Internet| names(internet) == ["relayed"; 2];
    assert!(internet.run_until(ms(2_500), relayed), "{}", internet.report());
    let over = |internet: &Internet| [HOST, JOINER].iter().all(|id| internet.player(*id).verdict().is_some());
    assert!(internet.run_until(ms(9_000), over), "{}", internet.report());
}

#[test]
fn spare_path_is_back_after_a_restart_of_the_relay() {
    let plan = Plan { frames: 6_000, ..Plan::new(Router::Cone, Router::Cone) };
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    assert_eq!((names(&internet), internet.relay.allocated()), (["direct"; 2], 2));
    internet.relay.restart(SECRET);
    // A path through the relay that has answered no check for 15 s is given up.
    internet.run_for(ms(25_000));
    assert_eq!(internet.relay.allocated(), 4, "{}", internet.report());
    set_link(&mut internet, true);
    assert!(
        internet.run_until(ms(1_500), |internet| names(internet) == ["relayed"; 2]),
        "{}",
        internet.report()
    );
}

#[test]
fn rebind_costs_one_new_search_and_then_nothing() {
    for forgetful in [HOST, JOINER] {
        let mut internet = Internet::new(Plan { frames: 6_000, ..Plan::new(Router::Cone, Router::Cone) });
        internet.begin();
        internet.run_for(ms(2_000));
        let (now, nat) = (internet.world.now(), internet.nats[forgetful].unwrap());
        internet.world.network_mut().forget(nat, now);
        internet.run_for(ms(6_000));
        assert_eq!(names(&internet), ["direct"; 2], "{}", internet.report());
        internet.world.network_mut().record(Recording::Full);
        internet.run_for(ms(14_000));
        for id in [HOST, JOINER] {
            assert_eq!(internet.player(id).nat().stats().searches, 2, "{}", internet.report());
            let asked = internet.said(id).filter(|entry| entry.datagram.starts_with(&ALLOCATE)).count();
            assert_eq!(asked, 0, "the path in use is the one that was offered");
        }
    }
}

#[test]
fn sources_behind_the_relay_do_not_evict_the_path_in_use() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    internet.begin();
    let unsent = |internet: &Internet| [HOST, JOINER].map(|id| internet.player(id).nat().stats().unsent);
    let before = unsent(&internet);
    for round in 0..20 {
        let now = internet.world.now();
        for n in 0..40 {
            // The relay takes datagrams from every port of the peer's relay, which is the same machine.
            let from = at(&format!("198.51.100.2:{}", 60_000 + round * 40 + n));
            for port in [50_000, 50_001] {
                let to = at(&format!("198.51.100.2:{port}"));
                internet.world.network_mut().inject(now + ms(1), from, to, &[0xE4; 60]);
            }
        }
        internet.run_for(ms(50));
    }
    for id in [HOST, JOINER] {
        let player = internet.player(id);
        assert!(player.seal().stats().refused.total() > 100);
        assert!(player.gap < ms(100), "{}", internet.report());
    }
    assert_eq!(unsent(&internet), before);
}

#[test]
fn peer_without_a_relay_gets_no_permission_on_ours() {
    let plan =
        Plan { relays: [RelayPolicy::Allow, RelayPolicy::Never], ..Plan::new(Router::Cone, Router::Cone) };
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
    let said: Vec<_> = internet.said(HOST).filter(|entry| entry.to == relay_addr()).collect();
    assert!(said.iter().any(|entry| entry.datagram.starts_with(&ALLOCATE)));
    assert!(!said.iter().any(|entry| entry.datagram.starts_with(&CREATE_PERMISSION)));
}

#[test]
fn manual_answer_is_repeated_a_few_times_only() {
    let plan = Plan { manual: true, ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    internet.run_for(ms(60_000));
    internet.world.network_mut().record(Recording::Full);
    internet.world.network_mut().lose(HOST, 1_000, |datagram| datagram[0] == RESP);
    internet.take_answer();
    let repeats = |internet: &Internet| internet.said(HOST).filter(|entry| entry.datagram[0] == RESP).count();
    assert!(internet.run_until(ms(2_000), |internet| repeats(internet) > 0), "the joiner checks at once");
    assert!(!matches!(internet.player(HOST).progress(), Progress::NoWay { .. }), "the search has just begun");
    let before = repeats(&internet);
    internet.run_for(ms(1_000));
    let of_a_second = repeats(&internet) - before;
    assert!((5..=12).contains(&of_a_second), "{of_a_second} in a second");
    internet.run_for(ms(15_000));
    assert_eq!(repeats(&internet), 50);
}

#[test]
fn manual_search_time_counts_from_the_answer() {
    let plan = Plan { manual: true, ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    internet.run_for(ms(60_000));
    internet.take_answer();
    internet.begin();
    let found_after = internet.player(HOST).nat().found_after().unwrap();
    assert!(found_after > ms(0) && found_after < ms(2_000), "{found_after:?}");
    let waited = internet.player(JOINER).nat().found_after().unwrap();
    assert!(waited > ms(0), "it counts from the joiner's first turn");
}

#[test]
fn host_at_a_rendezvous_makes_no_offer() {
    let mut internet = Internet::new(Plan::new(Router::Open, Router::Open));
    let Node::Player(host) = internet.world.machine_mut(HOST) else { panic!("no player") };
    let (nat, seal) = host.layers();
    assert!(nat.offer(ms(0), seal).is_none());
}

/// A joiner that starts a second after something has happened to its waiting host: how long it takes to begin the match.
fn joined_after(plan: Plan, happens: impl Fn(&mut Internet)) -> Duration {
    let plan = Plan { joins_at_millis: 7_300, ..plan };
    let mut internet = Internet::new(plan);
    // Just after the host has asked for its room.
    internet.run_for(ms(6_300));
    happens(&mut internet);
    internet.begin();
    let failures =
        internet.player(JOINER).told.iter().filter(|(_, told)| matches!(told, Progress::NoWay { .. }));
    assert_eq!(failures.count(), 0, "{}", internet.report());
    let took = internet.player(JOINER).began_at().unwrap() - ms(7_300);
    println!("{:?}: joined after {took:?}", plan.routers);
    took
}

#[test]
fn joiner_gets_in_after_a_restart_of_the_rendezvous() {
    for (host, joiner) in [(Router::Open, Router::Open), (Router::Cone, Router::Cone)] {
        let plan = Plan::new(host, joiner);
        let took = joined_after(plan, |internet| internet.restart_rendezvous(plan));
        assert!(took < ms(4_500) && took > ms(2_000), "{took:?}");
    }
}

#[test]
fn joiner_gets_in_after_the_router_of_its_host_forgets() {
    let took = joined_after(Plan::new(Router::Cone, Router::Cone), |internet| {
        let (now, nat) = (internet.world.now(), internet.nats[HOST].unwrap());
        internet.world.network_mut().forget(nat, now);
    });
    assert!(took < ms(4_500), "{took:?}");
}

#[test]
fn joiner_whose_router_forgets_is_answered_again() {
    let mut internet = Internet::new(Plan::new(Router::Open, Router::Cone));
    let is_answered = |datagram: &[u8]| datagram[0] == REPLY && datagram.len() > 20;
    internet.world.network_mut().lose(RENDEZVOUS, 1, is_answered);
    let answers = |internet: &Internet| match internet.world.machine(RENDEZVOUS) {
        Node::Rendezvous(server) => server.stats().answered,
        _ => panic!("no rendezvous"),
    };
    assert!(internet.run_until(ms(5_000), |internet| answers(internet) > 0));
    let (now, nat) = (internet.world.now(), internet.nats[JOINER].unwrap());
    internet.world.network_mut().forget(nat, now);
    // To the rendezvous it is another guest, with the INIT that the host has answered. A new ticket comes with the next registration.
    internet.begin();
    assert!(
        internet.player(JOINER).began_at().is_some_and(|at| at < now + ms(3_000)),
        "{}",
        internet.report()
    );
}

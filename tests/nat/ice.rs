//! Two players that find each other: every pair of routers, with and without a relay.

use super::internet::{HOST, Internet, JOINER, Plan, ROUTERS, Router, ms};
use crate::meeting::{addr, config, server_addr};
use rebout::Randomness;
use rebout::lab::nat::{NatConfig, NatTraversal};
use rebout::lab::nat::{NoWay, Progress, RelayOutcome};
use rebout::lab::seal::Seal;
use rebout::rendezvous::RendezvousServer;
use rebout::{Config, Lobby, Protocol};

#[test]
fn two_open_machines_play_a_whole_match_directly() {
    let plan = Plan::new(Router::Open, Router::Open);
    let mut internet = Internet::new(plan);
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
}

/// A pair of routers as a player would name the way between them.
fn expected(plan: &Plan) -> Option<&'static str> {
    use Router::{Blocked, Cone, Open};
    let direct = match plan.routers {
        [Open, other] | [other, Open] => other != Blocked,
        [host, joiner] => host == Cone && joiner == Cone,
    };
    match (direct, plan.has_relay) {
        (true, _) => Some("direct"),
        (false, true) => Some("relayed"),
        (false, false) => None,
    }
}

#[test]
fn every_pair_of_routers_plays_a_whole_match_with_a_relay() {
    for host in ROUTERS {
        for joiner in ROUTERS {
            let plan = Plan { frames: 300, ..Plan::new(host, joiner) };
            let mut internet = Internet::new(plan);
            let progress = internet.play(plan);
            let waited = internet.player(JOINER).began_at().unwrap();
            println!("{host:?} {joiner:?}: {progress:?} after {waited:?}");
            assert_eq!(Some(progress[HOST].name()), expected(&plan), "{plan:?} {}", internet.report());
            assert_eq!(Some(progress[JOINER].name()), expected(&plan), "{plan:?} {}", internet.report());
        }
    }
}

#[test]
fn without_a_relay_a_pair_plays_directly_or_is_told_why_not() {
    for host in ROUTERS {
        for joiner in ROUTERS {
            let plan = Plan { frames: 300, has_relay: false, ..Plan::new(host, joiner) };
            let mut internet = Internet::new(plan);
            match expected(&plan) {
                Some(name) => {
                    assert_eq!(internet.play(plan).map(|progress| progress.name()), [name; 2], "{plan:?}");
                }
                None => {
                    let none = Progress::NoWay {
                        why: NoWay::NoPath { relay: RelayOutcome::None, symmetric: [false; 2] },
                    };
                    let told = internet.run_until(ms(11_000), |internet| {
                        [0, 1].map(|id| internet.player(id).progress()) == [none; 2]
                    });
                    assert!(told, "{plan:?} {}", internet.report());
                }
            }
        }
    }
}

#[test]
fn two_players_behind_one_router_without_hairpin_play_directly() {
    for has_relay in [true, false] {
        let plan = Plan { same_router: true, has_relay, ..Plan::new(Router::Cone, Router::Cone) };
        let mut internet = Internet::new(plan);
        assert_eq!(internet.play(plan), [Progress::Direct; 2]);
        let network = internet.world.network();
        let outer = internet
            .player(JOINER)
            .seal()
            .outer_addr(internet.player(JOINER).seal().target().unwrap())
            .unwrap();
        assert_eq!(outer, network.addr(HOST), "the address inside, not the one outside");
    }
}

#[test]
fn run_is_a_function_of_its_seed() {
    let plan = Plan::new(Router::Cone, Router::Symmetric);
    let run = || {
        let mut internet = Internet::new(plan);
        internet.play(plan);
        let told = [HOST, JOINER].map(|id| internet.player(id).told.clone());
        (told, internet.player(HOST).verdict(), internet.world.traffic(HOST), internet.world.traffic(JOINER))
    };
    assert_eq!(run(), run());
}

#[test]
fn manual_signalling_waits_for_slow_players() {
    let open = |host, joiner| Plan { manual: true, ..Plan::new(host, joiner) };
    let plans = [
        open(Router::Open, Router::Open),
        open(Router::Open, Router::Symmetric),
        open(Router::Cone, Router::Open),
        Plan { same_router: true, ..open(Router::Cone, Router::Cone) },
    ];
    for plan in plans {
        for minutes in [0, 3] {
            let mut internet = Internet::new(plan);
            internet.run_for(ms(minutes * 60_000 + 3_000));
            let waiting = if minutes == 0 { Progress::Manual } else { Progress::Unheard };
            let told = [HOST, JOINER].map(|id| internet.player(id).progress());
            assert_eq!(told, [Progress::Manual, waiting]);
            internet.take_answer();
            assert_eq!(internet.play(plan), [Progress::Direct; 2], "{plan:?} {}", internet.report());
            assert_eq!(internet.player(HOST).sent[1], 0, "no server was asked");
        }
    }
}

#[test]
fn host_is_told_that_the_server_has_no_room() {
    let mut config = config();
    config.max_rooms = 0;
    let mut server = RendezvousServer::new(config, Randomness::Seeded(1)).unwrap();
    let mut seal = Seal::host(Randomness::Seeded(2)).unwrap();
    let mut lobby = Lobby::host(Config::new(7)).unwrap();
    let mut nat =
        NatTraversal::host(NatConfig::new(std::time::Instant::now(), [addr(1)]), server_addr(), &[7; 32])
            .unwrap();
    let mut buf = [0; 1_400];
    for now in (0..1_000).map(ms) {
        while let Some((to, len)) = nat.around(&mut seal, &mut lobby).poll_transmit(now, &mut buf) {
            assert_eq!(to, server_addr());
            server.handle_datagram(now, addr(1), &buf[..len]);
        }
        while let Some((_, len)) = server.poll_transmit(now, &mut buf) {
            nat.around(&mut seal, &mut lobby).handle_datagram(now, server_addr(), &buf[..len]);
        }
    }
    let words = nat.progress().to_string();
    assert!(words.contains("it has no free room"), "{words}");
}

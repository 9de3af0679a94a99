//! The relay: who may use it, what it costs, and how it saves a match whose NAT mapping expires.

use super::internet::{HOST, Internet, JOINER, Plan, RELAY, Router, ms, relay_addr, rendezvous_addr};
use core::time::Duration;
use rebout::Event;
use rebout::RelayPolicy;
use rebout::lab::nat::{NoWay, Progress, RelayOutcome};
use rebout::lab::sim::Recording;
use turn_relay::SECRET;

const ALLOCATE: [u8; 2] = [0x00, 0x03];

/// Everything that the players were told besides the verdict and the delay that was measured.
pub(super) fn events(internet: &Internet) -> Vec<(Duration, Event)> {
    let all = [HOST, JOINER].into_iter().flat_map(|id| internet.player(id).peer.events.clone());
    all.filter(|(_, event)| !matches!(event, Event::Ended(_) | Event::PeerDelay { .. })).collect()
}

/// A match in which the router of `forgetful` forgets its mappings after a while.
fn rebound(plan: Plan, forgetful: usize, after: Duration) -> Internet {
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(after);
    let (now, nat) = (internet.world.now(), internet.nats[forgetful].unwrap());
    internet.world.network_mut().forget(nat, now);
    internet
}

#[test]
fn relay_bridges_an_expired_mapping_without_an_event() {
    // On the shortest link the relay bridges the gap before anybody has noticed it.
    // After 40 s the relay is good only if it was checked again.
    let cases = [(HOST, 20, 2_000), (JOINER, 20, 40_000), (JOINER, 1, 2_000), (HOST, 50, 2_000)];
    for (forgetful, latency_millis, after) in cases {
        let frames = after as u32 * 60 / 1_000 + 780;
        let plan = Plan { frames, latency_millis, ..Plan::new(Router::Cone, Router::Cone) };
        let mut internet = rebound(plan, forgetful, ms(after));
        internet.play(plan);
        assert_eq!(events(&internet), [], "{}", internet.report());
        for id in [HOST, JOINER] {
            let player = internet.player(id);
            assert!(player.gap < ms(600), "{:?}", player.gap);
            let told: Vec<_> = player.told.iter().map(|(_, progress)| progress.name()).collect();
            let first = told.iter().position(|name| *name == "direct").unwrap();
            assert!(told[first..].iter().all(|name| ["direct", "relayed"].contains(name)), "{told:?}");
            assert_eq!(
                told.last(),
                Some(&"direct"),
                "the direct path was found again: {}",
                internet.report()
            );
        }
        assert_eq!(internet.relay.allocated(), 3, "the new port needs an allocation of its own");
    }
}

#[test]
fn mapping_that_expires_under_a_relayed_match_is_bridged() {
    for routers in [[Router::Symmetric, Router::Symmetric], [Router::Symmetric, Router::Cone]] {
        for forgetful in [HOST, JOINER] {
            let plan = Plan { frames: 900, ..Plan::new(routers[0], routers[1]) };
            let mut internet = rebound(plan, forgetful, ms(2_000));
            assert_eq!(internet.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
            assert_eq!(events(&internet), [], "{routers:?} {forgetful} {}", internet.report());
            assert!(
                [HOST, JOINER].iter().all(|id| internet.player(*id).gap < ms(1_000)),
                "{}",
                internet.report()
            );
        }
    }
}

#[test]
fn relay_that_dies_beside_a_direct_path_changes_nothing() {
    let plan = Plan { frames: 1_200, ..Plan::new(Router::Cone, Router::Cone) };
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(1_000));
    internet.relay.kill();
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
    assert_eq!(events(&internet), []);
    assert!(internet.player(HOST).gap < ms(100) && internet.player(JOINER).gap < ms(100));
}

#[test]
fn relay_that_dies_under_a_match_is_reported() {
    let plan = Plan { frames: 6_000, ..Plan::new(Router::Symmetric, Router::Symmetric) };
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    internet.relay.kill();
    let lost = Progress::NoWay { why: NoWay::RelayLost };
    let told = internet.run_until(ms(8_000), |internet| {
        [HOST, JOINER].map(|id| internet.player(id).progress()) == [lost; 2]
    });
    assert!(told, "{}", internet.report());
}

/// A relayed match whose relay is away for 800 ms and comes back without anything that it knew, while `happens`. Returns how long the
/// match stood still.
fn restarted(plan: Plan, secret: &'static [u8], happens: impl Fn(&mut Internet)) -> Duration {
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    assert_eq!([HOST, JOINER].map(|id| internet.player(id).progress().name()), ["relayed"; 2]);
    internet.relay.kill();
    internet.run_for(ms(800));
    internet.relay.restart(secret);
    happens(&mut internet);
    internet.play(plan);
    let names = [HOST, JOINER].map(|id| internet.player(id).progress().name());
    assert_eq!(names, ["relayed"; 2], "{}", internet.report());
    assert_eq!(internet.relay.allocated(), 4, "one more for each");
    let stood = internet.player(HOST).gap.max(internet.player(JOINER).gap);
    println!("{:?}: stood still for {stood:?}", plan.routers);
    stood
}

#[test]
fn relayed_match_goes_on_after_a_restart_of_the_relay() {
    for routers in [[Router::Symmetric, Router::Symmetric], [Router::Symmetric, Router::Cone]] {
        let plan = Plan { frames: 900, ..Plan::new(routers[HOST], routers[JOINER]) };
        let stood = restarted(plan, SECRET, |_| {});
        assert!(stood < ms(4_000), "{routers:?}: {stood:?}");
    }
}

#[test]
fn relayed_match_goes_on_with_a_new_secret() {
    let plan = Plan { frames: 900, ..Plan::new(Router::Symmetric, Router::Symmetric) };
    let stood = restarted(plan, b"south", |internet| {
        internet.restart_rendezvous(Plan { secret: b"south", ..plan });
    });
    assert!(stood < ms(10_000), "{stood:?}");
}

#[test]
fn dead_relay_and_wrong_secret_are_told_as_such() {
    let server = relay_addr();
    for (secret, is_dead) in [(SECRET, true), (b"south", false)] {
        let plan = Plan { secret, ..Plan::new(Router::Symmetric, Router::Symmetric) };
        let mut internet = Internet::new(plan);
        let (relay, symmetric) = if is_dead {
            internet.relay.kill();
            (RelayOutcome::Silent { server, stream: None }, [false; 2])
        } else {
            // The relay shows both machines another port than the rendezvous does.
            (RelayOutcome::Refused { server }, [true; 2])
        };
        let why = NoWay::NoPath { relay, symmetric };
        let told = internet.run_until(ms(15_000), |internet| {
            [HOST, JOINER].map(|id| internet.player(id).progress()) == [Progress::NoWay { why }; 2]
        });
        assert!(told, "{relay:?} {}", internet.report());
    }
}

#[test]
fn without_a_relay_symmetric_nats_do_not_connect() {
    let plan = Plan {
        relays: [RelayPolicy::Never, RelayPolicy::Allow],
        ..Plan::new(Router::Symmetric, Router::Symmetric)
    };
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    let none = |internet: &Internet| matches!(internet.player(HOST).progress(), Progress::NoWay { .. });
    assert!(internet.run_until(ms(12_000), none), "{}", internet.report());
    assert!(internet.player(HOST).began_at().is_none());
    let to_relay = internet.said(HOST).filter(|entry| entry.to.ip() == relay_addr().ip()).count();
    assert_eq!(to_relay, 0, "neither for an allocation nor to the other's");
    let plan = Plan { relays: [RelayPolicy::Never; 2], ..Plan::new(Router::Cone, Router::Cone) };
    let mut internet = Internet::new(plan);
    assert_eq!(internet.play(plan), [Progress::Direct; 2]);
    assert_eq!(internet.relay.allocated(), 0);
}

#[test]
fn relay_only_sends_to_and_answers_the_relay_alone() {
    for (hidden, routers) in [
        (HOST, [Router::Open, Router::Open]),
        (JOINER, [Router::Open, Router::Open]),
        (JOINER, [Router::Cone, Router::Symmetric]),
    ] {
        let mut plan = Plan { frames: 900, ..Plan::new(routers[0], routers[1]) };
        plan.relays[hidden] = RelayPolicy::Only;
        let mut internet = Internet::new(plan);
        internet.world.network_mut().record(Recording::Full);
        internet.begin();
        // Whoever knows the address by other means gets no answer there.
        let (addr, other) = (internet.outside(hidden), internet.outside(1 - hidden));
        let heard = internet.said(1 - hidden).map(|entry| entry.datagram.clone()).collect::<Vec<_>>();
        let now = internet.world.now();
        heard
            .iter()
            .for_each(|datagram| internet.world.network_mut().inject(now + ms(1), other, addr, datagram));
        assert_eq!(
            internet.play(plan).map(|progress| progress.name()),
            ["relayed"; 2],
            "{}",
            internet.report()
        );
        let servers = [relay_addr(), rendezvous_addr()];
        let strays: Vec<_> = internet.said(hidden).filter(|entry| !servers.contains(&entry.to)).collect();
        assert!(strays.is_empty(), "{plan:?} {:?}", strays.first());
        let hidden_ip = addr.ip();
        assert!(
            internet.said(1 - hidden).all(|entry| entry.to.ip() != hidden_ip),
            "the address is not known"
        );
        assert_eq!(events(&internet), []);
        let dropped = internet.player(hidden).nat().stats().not_relayed;
        assert!(plan.routers[hidden] != Router::Open || dropped >= heard.len() as u64, "{dropped}");
    }
}

#[test]
fn both_may_play_through_the_relay_only() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    assert_eq!(internet.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
}

#[test]
fn relayed_packet_costs_four_bytes_more() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], frames: 900, ..Plan::new(Router::Open, Router::Open) };
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    internet.world.network_mut().record(Recording::Full);
    internet.play(plan);
    for id in [HOST, JOINER] {
        let (mut channel, mut other) = (0, 0);
        for entry in internet.said(id).filter(|entry| entry.to == relay_addr()) {
            match entry.datagram[..] {
                [0x40..=0x4F, _, high, low, 0xE0..=0xE7, ..] => {
                    assert_eq!(usize::from(u16::from_be_bytes([high, low])) + 4, entry.datagram.len());
                    channel += 1;
                }
                // Keep-alives of paths, and of the allocation.
                _ => other += 1,
            }
        }
        assert!(channel > 300 && other * 20 < channel, "{channel} in channels, {other} others");
    }
}

#[test]
fn keep_alives_cost_less_than_300_bytes_a_second() {
    for routers in [[Router::Cone, Router::Cone], [Router::Symmetric, Router::Symmetric]] {
        let plan = Plan { frames: 60_000, ..Plan::new(routers[0], routers[1]) };
        let mut internet = Internet::new(plan);
        internet.begin();
        internet.run_for(ms(15_000));
        let before = [HOST, JOINER].map(|id| internet.player(id).nat().stats().overhead_bytes);
        internet.run_for(ms(30_000));
        for id in [HOST, JOINER] {
            let rate = (internet.player(id).nat().stats().overhead_bytes - before[id]) / 30;
            assert!((1..300).contains(&rate), "{routers:?}: {rate} bytes a second");
        }
    }
}

#[test]
fn checks_and_relay_stop_after_the_peer_is_gone() {
    for routers in [[Router::Cone, Router::Cone], [Router::Symmetric, Router::Symmetric]] {
        let plan = Plan { frames: 60_000, ..Plan::new(routers[0], routers[1]) };
        let mut internet = Internet::new(plan);
        internet.begin();
        internet.run_for(ms(2_000));
        internet.world.stop(JOINER);
        // The session waits for 30 s of them.
        internet.run_for(ms(90_000));
        internet.world.network_mut().record(Recording::Full);
        internet.run_for(ms(60_000));
        let (registering, others): (Vec<_>, Vec<_>) =
            internet.said(HOST).partition(|entry| entry.to == rendezvous_addr());
        assert!((1..60).contains(&registering.len()), "{}", registering.len());
        // The seal of a session that was not dropped asks once a second whether its peer is there.
        let (finds, strays): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|entry| entry.datagram[0] == 0xE7 && entry.to.ip() != relay_addr().ip());
        assert!(finds.len() <= 61, "{routers:?}: {} packets of the seal", finds.len());
        assert!(strays.is_empty(), "{routers:?}: {} datagrams, {:02X?}", strays.len(), strays[0]);
    }
}

#[test]
fn joiner_asks_for_no_allocation_when_its_host_is_gone() {
    let plan = Plan { frames: 60_000, ..Plan::new(Router::Cone, Router::Cone) };
    let mut internet = Internet::new(plan);
    internet.begin();
    internet.run_for(ms(2_000));
    internet.world.stop(HOST);
    // The session waits for 30 s, and nothing is sent for 10 s after that.
    internet.run_for(ms(45_000));
    internet.world.network_mut().record(Recording::Full);
    internet.run_for(ms(60_000));
    let asked = internet.said(JOINER).filter(|entry| entry.datagram.starts_with(&ALLOCATE)).count();
    assert_eq!(asked, 0);
}

#[test]
fn relay_that_carries_the_match_is_not_called_lost() {
    let mut internet =
        Internet::new(Plan { frames: 6_000, ..Plan::new(Router::Symmetric, Router::Symmetric) });
    internet.begin();
    internet.run_for(ms(2_000));
    // After a short silence both players ask for fresh allocations, and get no answer to that.
    let now = internet.world.now();
    for id in [HOST, JOINER] {
        internet.world.network_mut().lose(id, u32::MAX, |datagram| datagram.starts_with(&ALLOCATE));
        internet.world.network_mut().cut_both(id, RELAY, now, now + ms(800));
    }
    internet.run_for(ms(8_000));
    for id in [HOST, JOINER] {
        let told = internet.player(id).told.iter().filter(|(at, _)| *at > now);
        let others = told.filter(|(_, progress)| !matches!(progress, Progress::ThroughRelay { .. }));
        assert_eq!(others.count(), 0, "{}", internet.report());
        assert_eq!(internet.player(id).progress().name(), "relayed");
    }
}

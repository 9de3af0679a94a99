//! The relay: who may use it, what it costs, and how it saves a match whose router forgets.

use super::internet::{HOST, JOINER, Plan, RELAY, Router, Town, ms, relay_addr, rendezvous_addr};
use core::time::Duration;
use rebout::Event;
use rebout::RelayPolicy;
use rebout::lab::nat::{NoWay, Progress};
use rebout::lab::sim::Recording;

const ALLOCATE: [u8; 2] = [0x00, 0x03];

/// Everything that the players were told besides the verdict and the delay that was measured.
pub(super) fn events(town: &Town) -> Vec<(Duration, Event)> {
    let all = [HOST, JOINER].into_iter().flat_map(|id| town.player(id).peer.events.clone());
    all.filter(|(_, event)| !matches!(event, Event::Ended(_) | Event::PeerDelay { .. })).collect()
}

/// A match in which the router of `forgetful` forgets its mappings after a while.
fn rebound(plan: Plan, forgetful: usize, after: Duration) -> Town {
    let mut town = Town::new(plan);
    town.begin();
    town.run_for(after);
    let (now, nat) = (town.world.now(), town.nats[forgetful].unwrap());
    town.world.network_mut().forget(nat, now);
    town
}

#[test]
fn relay_bridges_an_expired_mapping_without_an_event() {
    // On the shortest link the relay bridges the gap before anybody has noticed it.
    // After 40 s the relay is good only if it was checked again.
    let cases = [(HOST, 20, 2_000), (JOINER, 20, 40_000), (JOINER, 1, 2_000), (HOST, 50, 2_000)];
    for (forgetful, latency_millis, after) in cases {
        let frames = after as u32 * 60 / 1_000 + 780;
        let plan = Plan { frames, latency_millis, ..Plan::new(Router::Cone, Router::Cone) };
        let mut town = rebound(plan, forgetful, ms(after));
        town.play(plan);
        assert_eq!(events(&town), [], "{}", town.report());
        for id in [HOST, JOINER] {
            let player = town.player(id);
            assert!(player.gap < ms(600), "{:?}", player.gap);
            let told: Vec<_> = player.told.iter().map(|(_, progress)| progress.name()).collect();
            let first = told.iter().position(|name| *name == "direct").unwrap();
            assert!(told[first..].iter().all(|name| ["direct", "relayed"].contains(name)), "{told:?}");
            assert_eq!(told.last(), Some(&"direct"), "the direct path was found again: {}", town.report());
        }
        assert_eq!(town.relay.allocated(), 3, "the new port needs an allocation of its own");
    }
}

#[test]
fn mapping_that_expires_under_a_relayed_match_is_bridged() {
    for routers in [[Router::Symmetric, Router::Symmetric], [Router::Symmetric, Router::Cone]] {
        for forgetful in [HOST, JOINER] {
            let plan = Plan { frames: 900, ..Plan::new(routers[0], routers[1]) };
            let mut town = rebound(plan, forgetful, ms(2_000));
            assert_eq!(town.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
            assert_eq!(events(&town), [], "{routers:?} {forgetful} {}", town.report());
            assert!([HOST, JOINER].iter().all(|id| town.player(*id).gap < ms(1_000)), "{}", town.report());
        }
    }
}

#[test]
fn a_relay_that_dies_beside_a_direct_path_changes_nothing() {
    let plan = Plan { frames: 1_200, ..Plan::new(Router::Cone, Router::Cone) };
    let mut town = Town::new(plan);
    town.begin();
    town.run_for(ms(1_000));
    town.relay.kill();
    assert_eq!(town.play(plan), [Progress::Direct; 2]);
    assert_eq!(events(&town), []);
    assert!(town.player(HOST).gap < ms(100) && town.player(JOINER).gap < ms(100));
}

#[test]
fn a_relay_that_dies_under_a_match_is_said_in_words() {
    let plan = Plan { frames: 6_000, ..Plan::new(Router::Symmetric, Router::Symmetric) };
    let mut town = Town::new(plan);
    town.begin();
    town.run_for(ms(2_000));
    town.relay.kill();
    let lost = Progress::NoWay { why: NoWay::RelayLost };
    let told =
        town.run_until(ms(8_000), |town| [HOST, JOINER].map(|id| town.player(id).progress()) == [lost; 2]);
    assert!(told, "{}", town.report());
}

#[test]
fn without_a_relay_symmetric_nats_do_not_connect() {
    let plan = Plan {
        relays: [RelayPolicy::Never, RelayPolicy::Allow],
        ..Plan::new(Router::Symmetric, Router::Symmetric)
    };
    let mut town = Town::new(plan);
    town.world.network_mut().record(Recording::Full);
    let none = |town: &Town| matches!(town.player(HOST).progress(), Progress::NoWay { .. });
    assert!(town.run_until(ms(12_000), none), "{}", town.report());
    assert!(town.player(HOST).began_at().is_none());
    let to_relay = town.said(HOST).filter(|entry| entry.to.ip() == relay_addr().ip()).count();
    assert_eq!(to_relay, 0, "neither for an allocation nor to the other's");
    let plan = Plan { relays: [RelayPolicy::Never; 2], ..Plan::new(Router::Cone, Router::Cone) };
    let mut town = Town::new(plan);
    assert_eq!(town.play(plan), [Progress::Direct; 2]);
    assert_eq!(town.relay.allocated(), 0);
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
        let mut town = Town::new(plan);
        town.world.network_mut().record(Recording::Full);
        town.begin();
        // Whoever knows the address by other means gets no answer there.
        let (addr, other) = (town.outside(hidden), town.outside(1 - hidden));
        let heard = town.said(1 - hidden).map(|entry| entry.datagram.clone()).collect::<Vec<_>>();
        let now = town.world.now();
        heard.iter().for_each(|datagram| town.world.network_mut().inject(now + ms(1), other, addr, datagram));
        assert_eq!(town.play(plan).map(|progress| progress.name()), ["relayed"; 2], "{}", town.report());
        let servers = [relay_addr(), rendezvous_addr()];
        let strays: Vec<_> = town.said(hidden).filter(|entry| !servers.contains(&entry.to)).collect();
        assert!(strays.is_empty(), "{plan:?} {:?}", strays.first());
        let hidden_ip = addr.ip();
        assert!(town.said(1 - hidden).all(|entry| entry.to.ip() != hidden_ip), "the address is not known");
        assert_eq!(events(&town), []);
        let dropped = town.player(hidden).nat().stats().not_relayed;
        assert!(plan.routers[hidden] != Router::Open || dropped >= heard.len() as u64, "{dropped}");
    }
}

#[test]
fn both_may_play_through_the_relay_only() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], ..Plan::new(Router::Open, Router::Open) };
    let mut town = Town::new(plan);
    assert_eq!(town.play(plan).map(|progress| progress.name()), ["relayed"; 2]);
}

#[test]
fn a_relayed_packet_costs_four_bytes_more() {
    let plan = Plan { relays: [RelayPolicy::Only; 2], frames: 900, ..Plan::new(Router::Open, Router::Open) };
    let mut town = Town::new(plan);
    town.begin();
    town.run_for(ms(2_000));
    town.world.network_mut().record(Recording::Full);
    town.play(plan);
    for id in [HOST, JOINER] {
        let (mut channel, mut other) = (0, 0);
        for entry in town.said(id).filter(|entry| entry.to == relay_addr()) {
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
        let mut town = Town::new(plan);
        town.begin();
        town.run_for(ms(15_000));
        let before = [HOST, JOINER].map(|id| town.player(id).nat().stats().overhead_bytes);
        town.run_for(ms(30_000));
        for id in [HOST, JOINER] {
            let rate = (town.player(id).nat().stats().overhead_bytes - before[id]) / 30;
            assert!((1..300).contains(&rate), "{routers:?}: {rate} bytes a second");
        }
    }
}

#[test]
fn checks_and_relay_stop_a_minute_after_the_peer_is_gone() {
    for routers in [[Router::Cone, Router::Cone], [Router::Symmetric, Router::Symmetric]] {
        let plan = Plan { frames: 60_000, ..Plan::new(routers[0], routers[1]) };
        let mut town = Town::new(plan);
        town.begin();
        town.run_for(ms(2_000));
        town.world.stop(JOINER);
        town.run_for(ms(60_000));
        town.world.network_mut().record(Recording::Full);
        town.run_for(ms(60_000));
        let (registering, others): (Vec<_>, Vec<_>) =
            town.said(HOST).partition(|entry| entry.to == rendezvous_addr());
        assert!((1..20).contains(&registering.len()), "{}", registering.len());
        // The seal of a session that was not dropped asks once a second whether its peer is there.
        let (finds, strays): (Vec<_>, Vec<_>) = others
            .into_iter()
            .partition(|entry| entry.datagram[0] == 0xE7 && entry.to.ip() != relay_addr().ip());
        assert!(finds.len() <= 61, "{routers:?}: {} packets of the seal", finds.len());
        assert!(strays.is_empty(), "{routers:?}: {} datagrams, {:02X?}", strays.len(), strays[0]);
    }
}

#[test]
fn a_joiner_asks_for_no_allocation_when_its_host_is_gone() {
    let plan = Plan { frames: 60_000, ..Plan::new(Router::Cone, Router::Cone) };
    let mut town = Town::new(plan);
    town.begin();
    town.run_for(ms(2_000));
    town.world.stop(HOST);
    town.run_for(ms(15_000));
    town.world.network_mut().record(Recording::Full);
    town.run_for(ms(60_000));
    let asked = town.said(JOINER).filter(|entry| entry.datagram.starts_with(&ALLOCATE)).count();
    assert_eq!(asked, 0);
}

#[test]
fn relay_that_carries_the_match_is_not_called_lost() {
    let mut town = Town::new(Plan { frames: 6_000, ..Plan::new(Router::Symmetric, Router::Symmetric) });
    town.begin();
    town.run_for(ms(2_000));
    // After a short silence both players ask for fresh allocations, and get no answer to that.
    let now = town.world.now();
    for id in [HOST, JOINER] {
        town.world.network_mut().lose(id, u32::MAX, |datagram| datagram.starts_with(&ALLOCATE));
        town.world.network_mut().cut_both(id, RELAY, now, now + ms(800));
    }
    town.run_for(ms(8_000));
    for id in [HOST, JOINER] {
        let told = town.player(id).told.iter().filter(|(at, _)| *at > now);
        let others = told.filter(|(_, progress)| !matches!(progress, Progress::ThroughRelay { .. }));
        assert_eq!(others.count(), 0, "{}", town.report());
        assert_eq!(town.player(id).progress().name(), "relayed");
    }
}

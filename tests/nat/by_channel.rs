//! Two players of which one wants a data channel, as a page in a browser does.

use super::internet::{HOST, Internet, JOINER, Node, Plan, Router, ms};
use core::time::Duration;
use rebout::Protocol;
use rebout::lab::sim::Recording;
use rebout::rendezvous::RendezvousServer;
use std::net::SocketAddr;

fn plan(host: Router, joiner: Router) -> Plan {
    Plan { by_channel: true, frames: 300, ..Plan::new(host, joiner) }
}

/// The first bytes of datagrams between the players and the relay that are neither checks nor DTLS.
fn bare(internet: &Internet) -> Vec<u8> {
    let said = [HOST, JOINER].into_iter().flat_map(|id| internet.said(id));
    let firsts = said.filter_map(|entry| entry.datagram.first().copied());
    firsts.filter(|first| !matches!(first, 0x00..=0x03 | 20..=63 | 0x40..=0x4F | 0xE8..=0xEF)).collect()
}

#[test]
fn whole_match_over_a_data_channel_agrees_on_every_route() {
    for (host, joiner, way) in [
        (Router::Open, Router::Open, "direct"),
        (Router::Cone, Router::Cone, "direct"),
        (Router::Symmetric, Router::Cone, "relayed"),
        (Router::Blocked, Router::Open, "relayed"),
    ] {
        let plan = plan(host, joiner);
        let mut internet = Internet::new(plan);
        internet.world.network_mut().record(Recording::Full);
        let progress = internet.play(plan).map(|progress| progress.name());
        assert_eq!(progress, [way; 2], "{plan:?} {}", internet.report());
        assert_eq!(bare(&internet), [0_u8; 0], "everything is inside DTLS");
    }
}

#[test]
fn data_channel_on_a_lossy_line_plays_a_whole_match() {
    let plan = Plan { loss_percent: 5, ..plan(Router::Cone, Router::Cone) };
    Internet::new(plan).play(plan);
}

/// A rendezvous that changes one byte in each signal that it passes on.
struct Liar {
    server: RendezvousServer,
    /// Which byte of INIT or RESP, from their end.
    at: usize,
}

impl Protocol for Liar {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.server.handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, len) = self.server.poll_transmit(now, buf)?;
        // DELIVER, or REPLY with a signal.
        if matches!(buf[0], 0xEE | 0xEF) && len > 100 {
            buf[len - 1 - self.at] ^= 1;
        }
        Some((to, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.server.poll_timeout()
    }
}

#[test]
fn rendezvous_that_changes_descriptions_gets_no_match() {
    for at in [0, 20, 100, 180, 250] {
        let plan = plan(Router::Open, Router::Open);
        let mut internet =
            Internet::with_rendezvous(plan, |server| Node::Other(Box::new(Liar { server, at })));
        internet.world.network_mut().record(Recording::Full);
        internet.run_for(ms(12_000));
        for id in [HOST, JOINER] {
            assert!(internet.player(id).began_at().is_none(), "{}", internet.report());
            let dtls = |first: &u8| (20..=63).contains(first);
            assert_eq!(internet.said(id).filter(|one| one.datagram.first().is_some_and(dtls)).count(), 0);
        }
    }
}

#[test]
fn junk_on_the_path_of_a_data_channel_ends_nothing() {
    let plan = plan(Router::Open, Router::Open);
    let mut internet = Internet::new(plan);
    internet.begin();
    let refused = internet.player(HOST).nat().stats().refused;
    let (now, host, joiner) = (internet.world.now(), plan.inside(HOST), plan.inside(JOINER));
    for (n, first) in (20..=63_u8).enumerate() {
        for from in [joiner, ([198, 51, 100, 7], 9).into()] {
            let mut junk = vec![first; 30 + n * 20];
            junk[1..3].copy_from_slice(&[0xFE, 0xFD]);
            let Node::Player(player) = internet.world.machine_mut(HOST) else { panic!("no player") };
            player.handle_datagram(now, from, &junk);
        }
    }
    let counted = internet.player(HOST).nat().stats().refused - refused;
    assert!(counted >= 44, "those of a stranger: {counted}");
    let _ = host;
    internet.play(plan);
}

//! A watcher between a host and its rendezvous: it sees every packet, injects its own, and stops none.

use crate::hostile::{Desk, registration};
use crate::meeting::{LATENCY, Meeting, addr, config, ms, secs, server_addr};
use rebout::MAX_DATAGRAM;
use rebout::net::link::LinkConfig;
use rebout::rendezvous::RoomRefusal;
use rebout::wire::rendezvous::REGISTER_LEN;
use std::time::Duration;

/// A repeat of a REGISTER is due when its GRANT was lost. The times are no multiples of a cookie's unit.
#[test]
fn identical_registers_are_all_granted() {
    let mut desk = Desk::new(config());
    let mut host = registration(1);
    let mut buf = [0; MAX_DATAGRAM];
    host.set_ticket(7);
    for _ in 0..2 {
        let (_, len) = host.poll_transmit(desk.now, &mut buf).unwrap();
        for (_, answer) in desk.say(addr(1), &buf[..len]) {
            host.handle_datagram(desk.now, server_addr(), &answer);
        }
    }
    let signed = buf;
    let granted = (0..27).filter(|round| {
        desk.now += ms(200) + Duration::from_nanos(31_337 * (round % 5) + 1);
        desk.say(addr(1), &signed[..REGISTER_LEN]).iter().any(|(_, answer)| answer[0] == 0xED)
    });
    assert_eq!(granted.count(), 27);
    assert_eq!(desk.server.stats().refused(RoomRefusal::Stale), 0);
}

#[test]
fn lost_grant_is_made_up_for_within_a_second() {
    for seed in 1..=8 {
        let mut meeting = Meeting::new(seed, config());
        let link = LinkConfig { jitter: ms(10), ..LinkConfig::new(LATENCY) };
        meeting.world.network_mut().set_links(0, 1, link);
        meeting.world.network_mut().lose(0, 1, |datagram| datagram[0] == 0xED);
        meeting.run(secs(1));
        assert_eq!(meeting.host().observed(), Some(addr(1)), "seed {seed}");
        let joiner = meeting.join(9);
        meeting.run(secs(1));
        assert!(meeting.joiner(joiner).answered_at().is_some(), "seed {seed}");
    }
}

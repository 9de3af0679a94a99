//! The simulated network takes its memory at the start.

use crate::counted;
use rebout::Protocol;
use rebout::lab::link::LinkConfig;
use rebout::lab::sim::{Clock, Machine, World};
use std::net::SocketAddr;
use std::time::Duration;

const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Sends a datagram of changing length every frame.
struct Chatter {
    peer: SocketAddr,
    next_at: Duration,
    frame: usize,
    pending: bool,
}

impl Protocol for Chatter {
    fn handle_datagram(&mut self, _: Duration, _: SocketAddr, _: &[u8]) {}

    fn poll_transmit(&mut self, _: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let len = self.frame * 37 % buf.len();
        buf[..len].fill(self.frame as u8);
        std::mem::take(&mut self.pending).then_some((self.peer, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        None
    }
}

impl Machine for Chatter {
    fn next_frame_at(&self) -> Option<Duration> {
        Some(self.next_at)
    }

    fn frame(&mut self, _: Duration) {
        self.frame += 1;
        self.pending = true;
        self.next_at += FRAME;
    }
}

pub(crate) fn all() {
    a_world_allocates_nothing_after_its_start_on_any_link();
    println!("a world allocates nothing after its start: ok");
}

fn a_world_allocates_nothing_after_its_start_on_any_link() {
    for (name, config) in LinkConfig::presets() {
        let addrs: [SocketAddr; 2] =
            [SocketAddr::from(([10, 0, 0, 1], 1)), SocketAddr::from(([10, 0, 0, 2], 2))];
        let mut world = World::new(9);
        for n in 0..2 {
            let start = world.draw(FRAME);
            let machine = Chatter { peer: addrs[1 - n], next_at: start, frame: 0, pending: false };
            world.add(addrs[n], Clock::new(Duration::ZERO, 100), start, machine);
        }
        world.network_mut().set_links(0, 1, config);
        world.network_mut().reserve(256);
        let (calls, ..) = counted(|| world.run_until(Duration::from_secs(100)));
        assert_eq!(calls, 0, "{name}");
        let (sent, received) = world.traffic(0);
        assert!(sent.datagrams > 5_900 && received.datagrams > 2_000, "{name}: {received:?}");
    }
}

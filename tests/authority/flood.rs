//! Requests to join from made-up addresses, by the million.

use crate::lab::{Lab, Named, client_addr};
use rebout::Protocol;
use std::net::SocketAddr;
use std::time::Duration;
use support::{heap, repeats};

/// The figures of a flood.
#[derive(Debug, Default)]
pub(crate) struct Flood {
    pub(crate) asked: u32,
    pub(crate) answered: u32,
    pub(crate) bytes_in: usize,
    pub(crate) bytes_out: usize,
    /// The bytes by which the last wave has grown the heap.
    pub(crate) grown: i64,
}

impl Flood {
    /// Sends the requests of one wave, each from an address of its own, and takes the server's answers after every `batch` of them.
    pub(crate) fn wave(
        &mut self,
        lab: &mut Lab<impl Named>,
        now: Duration,
        batch: u16,
        request: impl Fn(u16) -> Vec<u8>,
    ) {
        let players = [1, 2].map(|at| client_addr(at).ip());
        let server = &mut lab.server_mut().server;
        let mut buf = [0; 1_200];
        let heap = heap::live();
        for n in 0..repeats(5_000_u16) {
            let spoofed = SocketAddr::from(((0x0B00_0000 + self.asked).to_be_bytes(), 1_000 + n));
            let datagram = request(n);
            server.handle_datagram(now, spoofed, &datagram);
            self.asked += 1;
            self.bytes_in += datagram.len();
            if n % batch == batch - 1 {
                while let Some((to, len)) = server.poll_transmit(now, &mut buf) {
                    if !players.contains(&to.ip()) {
                        self.answered += 1;
                        self.bytes_out += len;
                    }
                }
            }
        }
        self.grown = heap::live() - heap;
    }
}

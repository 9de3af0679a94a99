//! Tests of a spectator and of a broadcast, packet by packet.

mod serving;
mod watching;

use super::signing::{LogHash, SigningKey};
use super::spectator::Spectator;
use crate::protocol::Protocol;
use crate::wire::broadcast::{Head, Status, ToBroadcast, ToSpectator};
use core::time::Duration;
use std::net::SocketAddr;

const SECRET: [u8; 32] = [7; 32];
const PARENT: u16 = 1;
const STATUS: Status = Status { spectators: 3, delay_millis: 250 };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn addr(port: u16) -> SocketAddr {
    ([192, 0, 2, 7], port).into()
}

/// A statement of the source about a log of zeros.
fn head(number: u32, len: usize, is_last: bool) -> Head {
    let key = SigningKey::new(&SECRET);
    let mut hash = LogHash::new(key.match_id(number));
    hash.update(&vec![0; len]);
    key.sign(key.match_id(number), is_last, len as u32, hash.value())
}

/// A spectator that asks at port 1, from time 0 on.
struct Watcher(Spectator);

impl Watcher {
    fn new() -> Self {
        Self(Spectator::new(ms(0), SigningKey::new(&SECRET).public(), addr(PARENT)))
    }

    /// One that has received this many bytes of the first match, at time 0.
    fn with(len: usize) -> Self {
        let mut watcher = Self::new();
        watcher.hear(0, &ToSpectator::Head(head(1, len, false), STATUS));
        watcher.data(0, 0, len);
        watcher.sent(0);
        assert_eq!(watcher.0.bytes().len(), len);
        watcher
    }

    fn hear_from(&mut self, now: u64, port: u16, packet: &ToSpectator<'_>) {
        let mut buf = [0; 1_200];
        let len = packet.encode(&mut buf).unwrap();
        self.0.handle_datagram(ms(now), addr(port), &buf[..len]);
    }

    fn hear(&mut self, now: u64, packet: &ToSpectator<'_>) {
        self.hear_from(now, PARENT, packet);
    }

    fn data(&mut self, now: u64, offset: u32, len: usize) {
        self.hear(now, &ToSpectator::Data { number: 1, offset, bytes: &vec![0; len] });
    }

    /// The packets that go out at a time: to which port, and in words.
    fn sent(&mut self, now: u64) -> Vec<(u16, String)> {
        let mut buf = [0; 1_200];
        let sent = core::iter::from_fn(|| {
            let (to, len) = self.0.poll_transmit(ms(now), &mut buf)?;
            let words = match ToBroadcast::decode(&buf[..len]).unwrap() {
                ToBroadcast::Watch { len, .. } => format!("watch {len}"),
                ToBroadcast::Ack(ack) => format!("ack {} {} {}", ack.number, ack.next, ack.head),
                ToBroadcast::Leave => "leave".to_owned(),
            };
            Some((to.port(), words))
        });
        sent.collect()
    }

    fn timeout(&self) -> Option<u64> {
        self.0.poll_timeout().map(|at| at.as_millis() as u64)
    }
}

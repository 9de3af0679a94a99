//! A broadcast with hostile spectators: requests, acknowledgements and farewells with any numbers, from many addresses.
//!
//! It sends no faster than its bandwidth, to no more spectators than it lets in, and nothing to whoever asked for nothing.

use crate::attack::{damage, random_seeds};
use crate::bytes::Bytes;
use crate::memory::Kept;
use rebout::lab::wire::broadcast::{encode_ack, encode_leave, encode_watch};
use rebout::replay::{End, Header, MatchEvent, Outcome, Winner};
use rebout::{Broadcast, BroadcastConfig, Config, Protocol};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

const MAX_KEPT: i64 = 1 << 20;
const MAX_PACKETS: usize = 200;
const MAX_SPECTATORS: u16 = 4;
/// The bandwidth of all spectators together, and what may be sent at once.
const BITS_PER_SECOND: u32 = 256_000;
const BURST_BYTES: u64 = 64 * 1_024;
/// The most datagrams in one moment.
const MAX_BATCH: usize = 256;

fn packet(bytes: &mut Bytes<'_>, id: &[u8; 16]) -> Vec<u8> {
    let mut buf = [0; 1_500];
    let small = |bytes: &mut Bytes<'_>| if bytes.flag() { bytes.u16().into() } else { bytes.u32() };
    let written = match bytes.below(8) {
        0 | 1 => encode_watch(&[0; 16], 0, &mut buf),
        2 => {
            let len = small(bytes);
            encode_watch(id, len, &mut buf)
        }
        3..=5 => {
            let (number, next, head) = (u32::from(bytes.u8() % 3), small(bytes), small(bytes));
            let ranges: Vec<_> = (0..bytes.u8() % 5)
                .map(|_| {
                    let start = small(bytes);
                    start..start.wrapping_add(bytes.u16().into())
                })
                .collect();
            encode_ack(number, next, head, &ranges, &mut buf)
        }
        6 => encode_leave(&mut buf),
        _ => return bytes.slice(1_400).to_vec(),
    };
    buf[..written.unwrap_or(0)].to_vec()
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let kept = Kept::new(MAX_KEPT);
    let delay = if bytes.u8().is_multiple_of(4) { Duration::from_secs(5) } else { Duration::ZERO };
    let config = BroadcastConfig {
        max_spectators: MAX_SPECTATORS,
        bits_per_second: BITS_PER_SECOND,
        max_log_bytes: 256 * 1_024,
        delay,
        ..BroadcastConfig::default()
    };
    let mut broadcast = Broadcast::new(config, &[9; 32]);
    // A time of zero is a time like any other.
    let begin = Duration::from_millis(u64::from(bytes.u8() % 2));
    let mut now = begin;
    let (mut sent_bytes, mut asked, mut buf) = (0_u64, BTreeSet::new(), vec![0; 2_048]);
    let mut id = [0; 16];
    for _ in 0..MAX_PACKETS {
        if bytes.is_empty() {
            break;
        }
        match bytes.below(16) {
            0 => {
                broadcast.begin(now, &Header::of_offline(&Config::new(0xB0), 1 + u32::from(bytes.u8())));
            }
            1 | 2 => {
                let marks = bytes.u8().into();
                (0..marks).for_each(|mark| broadcast.event(now, MatchEvent::Mark(mark)));
            }
            3 => broadcast.finish(now, End { outcome: Outcome::Local, winner: Winner::Undecided }),
            4 => now += bytes.wait(),
            _ => {
                let from = SocketAddr::from(([203, 0, 113, bytes.u8() % 8], 9));
                let mut datagram = packet(&mut bytes, &id);
                if bytes.u8().is_multiple_of(8) {
                    damage(&mut bytes, &mut datagram, &[]);
                }
                broadcast.handle_datagram(now, from, &datagram);
                asked.insert(from);
            }
        }
        now += Duration::from_millis(3);
        let mut batch = 0;
        while let Some((to, len)) = broadcast.poll_transmit(now, &mut buf) {
            batch += 1;
            assert!(batch <= MAX_BATCH, "more than {MAX_BATCH} datagrams in one moment");
            assert!(asked.contains(&to), "{to} asked for nothing");
            sent_bytes += len as u64;
            // A head names the match.
            if len >= 20 {
                id.copy_from_slice(&buf[2..18]);
            }
        }
        let most = BURST_BYTES + (now - begin).as_millis() as u64 * u64::from(BITS_PER_SECOND) / 8_000;
        assert!(sent_bytes <= most, "{sent_bytes} bytes in {:?}, {most} are allowed", now - begin);
        assert!(broadcast.stats().spectators <= MAX_SPECTATORS, "{:?}", broadcast.stats());
    }
    kept.check();
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[&[1, 1, 0, 5, 1, 2, 5, 0, 0, 1], &[0, 0, 0, 5], &[1, 0, 5, 1, 0, 0, 1, 0, 0], &[1, 1]])
}

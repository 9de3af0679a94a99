//! What RBN1 costs, for `valgrind --tool=callgrind`: `wirecost encode-ring|encode-slice|decode ROUNDS`.
//!
//! Each round handles one packet of 8 inputs with a checksum, as a call of its own. The instructions of one call
//! are those of a long run less those of a short one, divided by the difference in rounds, if only the calls are
//! collected: `--toggle-collect='wirecost::encode_*' --toggle-collect='wirecost::decode*'`.

use std::hint::black_box;
use std::process::ExitCode;

use rebout::Buttons;
use rebout::wire::rbn1::{self, Checksum, Header};

const INPUTS: usize = 8;
const RING: usize = 64;

#[inline(never)]
fn encode_ring(header: &Header, ring: &[Buttons; RING], from: usize, count: usize, buf: &mut [u8]) -> usize {
    rbn1::encode(header, (0..count).map(|index| ring[(from + index) % RING]), buf).unwrap_or(0)
}

#[inline(never)]
fn encode_slice(header: &Header, inputs: &[Buttons], buf: &mut [u8]) -> usize {
    rbn1::encode(header, inputs.iter().copied(), buf).unwrap_or(0)
}

#[inline(never)]
fn decode(datagram: &[u8], inputs: &mut [Buttons; rbn1::MAX_INPUTS]) -> u32 {
    let Ok(packet) = rbn1::decode(datagram) else { return 0 };
    for (slot, input) in inputs.iter_mut().zip(packet.inputs()) {
        *slot = input;
    }
    let checksum = packet.checksum().map_or(0, |checksum| checksum.frame ^ checksum.value);
    packet.start_frame() ^ packet.ack_frame() ^ checksum
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(what), Some(Ok(rounds))) = (args.first(), args.get(1).map(|rounds| rounds.parse::<u32>()))
    else {
        eprintln!("usage: wirecost encode-ring|encode-slice|decode ROUNDS");
        return ExitCode::from(2);
    };
    let header = Header { start_frame: 1, ack_frame: 2, checksum: Some(Checksum { frame: 30, value: 9 }) };
    let ring = [Buttons(3); RING];
    let mut buf = [0; rbn1::MAX_LEN];
    let mut inputs = [Buttons::NONE; rbn1::MAX_INPUTS];
    let len = encode_slice(&header, &ring[..INPUTS], &mut buf);
    let mut sum = 0_u64;
    for _ in 0..rounds {
        sum += match what.as_str() {
            "encode-ring" => encode_ring(
                black_box(&header),
                black_box(&ring),
                black_box(RING - 4),
                black_box(INPUTS),
                black_box(&mut buf),
            ) as u64,
            "encode-slice" => {
                encode_slice(black_box(&header), black_box(&ring[..INPUTS]), black_box(&mut buf)) as u64
            }
            "decode" => u64::from(decode(black_box(&buf[..len]), black_box(&mut inputs))),
            other => {
                eprintln!("wirecost: there is nothing called {other:?} to measure");
                return ExitCode::from(2);
            }
        };
    }
    println!("{sum}");
    ExitCode::SUCCESS
}

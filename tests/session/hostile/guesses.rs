//! Blind guesses from the peer's address, by the million, at a match in which both sides send messages.

use super::siege::Siege;
use crate::pair::addr;
use rebout::Rng;
use rebout::lab::forge::{Guesses, Knows, control, message, shifted};
use rebout::lab::wire::message::Message;
use rebout::lab::{HOST, JOINER};
use rebout::wire::WireFrame;
use rebout::wire::control::{ControlHeader, ControlPayload};
use support::repeats;

/// As many as one sender has managed against a real duel.
const GUESSES_EACH_MS: u64 = 46;

#[test]
fn blind_guesses_end_deliver_and_delay_nothing() {
    let guesses_each = repeats(5_000_000_u64);
    let mut siege = Siege::new(1);
    siege.pair.world.network_mut().drop_recording();
    let mut guesses = [HOST, JOINER].map(|id| Guesses::new(id as u64));
    let before = [HOST, JOINER].map(|id| siege.pair.machine(id).stats().packets_in);
    for milli in 0..guesses_each / GUESSES_EACH_MS {
        for id in [HOST, JOINER] {
            for _ in 0..GUESSES_EACH_MS {
                siege.pair.inject(id, addr(1 - id), guesses[id].draw());
            }
        }
        siege.pass(milli);
    }
    for id in [HOST, JOINER] {
        let came = siege.pair.machine(id).stats().packets_in - before[id];
        assert!(came > guesses_each, "only {came} datagrams came to {id}");
    }
    siege.assert_unharmed();
}

/// Ten million guesses hit a GAME packet twice or so. Here one hits each machine every second and a half.
#[test]
fn lucky_guesses_end_deliver_and_delay_nothing() {
    let mut siege = Siege::new(2);
    let knows = [HOST, JOINER].map(|id| Knows::of(&siege.pair, id));
    let (mut rng, mut hits) = (Rng::new(9).expect("a seed"), 0);
    for milli in 0..240_000_u64 {
        for id in [HOST, JOINER] {
            if !(milli + 700 * id as u64).is_multiple_of(1_500) {
                continue;
            }
            let knows = knows[id].clone().now(&siege.pair, id);
            let sequence = rng.below(64) as i32 - 17;
            let header =
                ControlHeader { ack_bits: 0, ..shifted(knows.header, sequence, -(rng.below(17) as i32)) };
            let refused = siege.pair.machine(id).refused().total();
            let forged = match milli / 1_500 % 5 {
                0 | 1 => control(header, &ControlPayload::Heartbeat),
                2 => control(header, &ControlPayload::Ping(milli)),
                3 => control(header, &ControlPayload::Disconnect),
                _ => message(
                    header,
                    &Message::Report { sent: 1, received: 0, newest_frame: WireFrame(knows.known) },
                ),
            };
            siege.pair.inject(id, addr(1 - id), &forged);
            hits += u64::from(siege.pair.machine(id).refused().total() == refused);
        }
        siege.pass(milli);
    }
    assert!(hits > 150, "only {hits} hits");
    siege.assert_unharmed();
}

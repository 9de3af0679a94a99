//! The control channel under a watcher, who sees every number and cannot stop a real datagram: once the attack stops, it
//! finds back within a second, and every message arrives once and in order.

use super::siege::Siege;
use crate::pair::{addr, ms};
use rebout::lab::forge::{Knows, control, message, shifted};
use rebout::lab::wire::message::{Message, Resync};
use rebout::lab::{HOST, JOINER};
use rebout::wire::Packet;
use rebout::wire::control::{ControlHeader, ControlPayload};
use rebout::wire::rbn1::Flags;
use rebout::{Event, Reason, Rng};

/// What the watcher knows of each machine.
struct Watcher([Knows; 2]);

impl Watcher {
    fn of(siege: &Siege) -> Self {
        Self([HOST, JOINER].map(|id| Knows::of(&siege.pair, id)))
    }

    fn now(&self, siege: &Siege, victim: usize) -> Knows {
        self.0[victim].clone().now(&siege.pair, victim)
    }
}

/// Runs `millis` of a match from the `from`th on, with `attack` on both machines before each.
fn run(siege: &mut Siege, from: u64, millis: u64, mut attack: impl FnMut(&mut Siege, usize, u64)) {
    for milli in from..from + millis {
        for victim in [HOST, JOINER] {
            attack(siege, victim, milli);
        }
        siege.pass(milli);
    }
}

/// Attacks for three seconds after one of peace, and lets two more pass.
fn attack_for_three_seconds(seed: u64, attack: impl FnMut(&mut Siege, usize, u64)) {
    let mut siege = Siege::new(seed);
    run(&mut siege, 0, 1_000, |_, _, _| {});
    run(&mut siege, 1_000, 3_000, attack);
    let stopped = siege.pair.world.now();
    siege.pair.world.network_mut().lose_nothing();
    run(&mut siege, 4_000, 2_000, |_, _, _| {});
    siege.assert_recovered(stopped);
}

fn forge(siege: &mut Siege, victim: usize, datagram: &[u8]) {
    siege.pair.inject(victim, addr(1 - victim), datagram);
}

#[test]
fn heartbeats_far_ahead_do_not_keep_the_two_apart() {
    // The second fits the windows: each forged packet moves the newest sequence as far as it can.
    for (seed, step) in [(1, 250), (2, 47), (3, 30), (4, 17)] {
        let watcher = Watcher::of(&Siege::new(seed));
        attack_for_three_seconds(seed, |siege, victim, milli| {
            if milli % 500 == 0 {
                let header = watcher.now(siege, victim).header;
                for nth in 1..=3 {
                    forge(
                        siege,
                        victim,
                        &control(shifted(header, step * nth, 0), &ControlPayload::Heartbeat),
                    );
                }
            }
        });
    }
}

#[test]
fn heartbeats_ahead_of_every_packet_do_not_keep_the_two_apart() {
    let watcher = Watcher::of(&Siege::new(5));
    attack_for_three_seconds(5, |siege, victim, milli| {
        if milli % 5 == 0 {
            let header = watcher.now(siege, victim).header;
            forge(siege, victim, &control(shifted(header, 40, 0), &ControlPayload::Heartbeat));
        }
    });
}

/// An acknowledgement of every packet that a machine has sent, and of none that it skipped.
fn exact_ack(siege: &Siege, victim: usize) -> (u16, u32) {
    let sent =
        siege.pair.said().rev().filter(|said| said.by == victim).filter_map(|said| {
            match Packet::decode(said.datagram, Flags::ALL) {
                Ok(Packet::Game(packet)) if packet.header.ack_bits != 0 => Some(packet.header.sequence),
                _ => None,
            }
        });
    let sent: Vec<u16> = sent.take(40).collect();
    let bits = sent[1..].iter().map(|sequence| sent[0].wrapping_sub(*sequence));
    (sent[0], bits.filter(|back| (1..=32).contains(back)).fold(0, |bits, back| bits | 1 << (back - 1)))
}

#[test]
fn lost_message_with_a_forged_ack_still_arrives() {
    for (seed, full) in [(6, true), (7, false)] {
        let watcher = Watcher::of(&Siege::new(seed));
        attack_for_three_seconds(seed, |siege, victim, milli| {
            if milli == 1_000 {
                siege.pair.lose(victim, "USER", u32::MAX);
            }
            if milli == 1_300 {
                siege.pair.world.network_mut().lose_nothing();
            }
            if milli % 10 == 0 {
                let (ack, bits) = exact_ack(siege, victim);
                let ack_bits = if full { u32::MAX } else { bits };
                let header = ControlHeader { ack, ack_bits, ..watcher.now(siege, victim).header };
                forge(siege, victim, &control(header, &ControlPayload::Heartbeat));
            }
        });
    }
}

#[test]
fn forged_resyncs_do_not_keep_the_two_apart() {
    for (seed, every, far) in [(9, 5, true), (10, 50, true), (11, 200, false), (12, 1, false)] {
        let watcher = Watcher::of(&Siege::new(seed));
        let mut rng = Rng::new(seed as u32).expect("a seed");
        attack_for_three_seconds(seed, |siege, victim, milli| {
            if milli % every != 0 {
                return;
            }
            let knows = watcher.now(siege, victim);
            let off = if far { rng.below(1 << 16) as i32 } else { rng.below(80) as i32 - 40 };
            // Numbers of messages from long before to the one after the newest, where nothing is sent again.
            let expected = first_of(&knows, victim)
                .wrapping_add(siege.sent[victim] as u16)
                .wrapping_sub(rng.below(20) as u16);
            let resync = Resync { token: knows.token, expected, asks: rng.below(2) == 0 };
            let header = shifted(knows.header, off, 0);
            forge(siege, victim, &message(header, &Message::Resync(resync)));
        });
    }
}

/// The number of the first ordered message that a machine has sent.
fn first_of(knows: &Knows, id: usize) -> u16 {
    if id == HOST { knows.token as u16 } else { (knows.token >> 16) as u16 }
}

/// A peer that can say nothing else while the numbers are apart.
#[test]
fn resync_is_a_sign_of_life() {
    let mut siege = Siege::new(9);
    run(&mut siege, 0, 1_000, |_, _, _| {});
    let token = Knows::of(&siege.pair, HOST).token;
    siege.pair.world.stop(JOINER);
    for _ in 0..155 {
        let header = Knows::of(&siege.pair, HOST).header;
        let resync = Message::Resync(Resync { token, expected: 0, asks: false });
        forge(&mut siege, HOST, &message(header, &resync));
        siege.pair.run_for(ms(200));
    }
    let ended = Event::Disconnected { reason: Reason::NoProgress };
    assert_eq!(siege.pair.ending(HOST), Some(&ended), "a silent peer would be lost");
}

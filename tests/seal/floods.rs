//! Floods of handshakes: the host limits its work, and an honest joiner connects.

use crate::net::{Machine, Net, addr, both_agreed, invited, ms};
use core::time::Duration;
use rebout::lab::seal::SealRefusal;
use std::net::SocketAddr;
use support::repeats;

const SECOND: Duration = Duration::from_secs(1);

/// A sequence of numbers without a pattern.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }

    fn addr(&mut self) -> SocketAddr {
        let number = self.next();
        SocketAddr::from(((number as u32).to_be_bytes(), (number >> 40) as u16))
    }
}

#[test]
fn inits_without_the_invite_cost_no_diffie_hellman() {
    // An INIT that was overheard: its nonce and cookie are good, and everything else can be made up.
    let mut net = invited();
    net.filter = Box::new(|_, flying| flying.datagram[0] <= 0xE1);
    net.run(ms(150));
    let overheard = net.sent_by(1, 0xE2)[0].datagram.clone();
    net.filter = Box::new(|_, _| true);
    let key = net.machines[0].seal.public_key().unwrap();
    net.machines[1] = Machine::join(2, key, &[addr(0)]);
    net.machines[1].addr = addr(1);
    let mut noise = Noise(1);
    let mut sent = 0_u64;
    let begun = net.now;
    let length_millis = repeats(10_000);
    for millis in 0..length_millis {
        for at in 0..110 {
            let mut packet = overheard.clone();
            // A hundred of random addresses, cookies and keys; ten with the good cookie, from the joiner's own address.
            let (from, first) = if at < 100 { (noise.addr(), 5) } else { (addr(2), 21) };
            for chunk in packet[first..].chunks_mut(8) {
                let bytes = noise.next().to_be_bytes();
                chunk.copy_from_slice(&bytes[..chunk.len()]);
            }
            net.machines[0].hand_in(net.now, from, &packet);
            sent += 1;
        }
        net.step();
        if millis == 2_000 {
            assert!(both_agreed(&net), "the honest joiner is in within two seconds");
        }
    }
    assert_eq!(net.now - begun, ms(length_millis));
    assert_eq!(net.machines[0].refused(SealRefusal::BadMac), sent);
    assert_eq!(net.machines[0].seal.stats().handshakes, 1, "the honest joiner's");
    assert!(net.machines[1].done_at.unwrap() - begun <= ms(260));
}

/// Sixteen real machines that ask again and again, complete each handshake, and never say a word after it.
#[test]
fn sixteen_silent_sources_keep_no_honest_joiner_out() {
    let host = Machine::host_open(0);
    let mut net = Net::new(vec![host]);
    let attacker = |id: usize, round: usize| {
        let mut machine = Machine::join_open(1_000 * (round + 1) + id, addr(0));
        machine.addr = SocketAddr::from(([10, 0, 0, id as u8], 5_000 + round as u16));
        machine
    };
    net.filter = Box::new(|_, flying| {
        flying.from.ip().is_ipv4() && {
            let attacks = flying.from.to_string().starts_with("10.");
            !attacks || flying.datagram[0] <= 0xE2
        }
    });
    for id in 0..16 {
        net.machines.push(attacker(id, 0));
    }
    let mut handshakes = vec![0];
    for millis in 0..12_000_usize {
        // Each of them begins again all the time, one after the other.
        if millis % 10 == 0 {
            let id = millis / 10 % 16;
            net.machines[id + 1] = attacker(id, millis / 160 + 1);
        }
        if millis == 5_000 {
            net.machines.push(Machine::join_open(99, addr(0)));
        }
        net.step();
        if millis % 100 == 0 {
            handshakes.push(net.machines[0].seal.stats().handshakes);
        }
        if net.machines.len() == 18 && net.machines[17].agreed() {
            let took = ms(millis as u64) - ms(5_000);
            assert!(took <= 2 * SECOND, "{took:?}");
            break;
        }
    }
    assert!(net.machines.len() == 18 && net.machines[17].agreed() && net.machines[0].agreed());
    let busiest = handshakes.windows(11).map(|second| second[10] - second[0]).max().unwrap();
    assert!((10..=17).contains(&busiest), "{busiest} handshakes in a second");
}

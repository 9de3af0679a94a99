//! Attacks on the TURN client: answers that are forged blindly, or by somebody who sees the requests.

use super::internet::{HOST, Internet, JOINER, Plan, Router, ms, relay_addr};
use super::relay::events;
use rebout::Rng;
use rebout::lab::sim::Recording;

#[test]
fn forged_answers_of_the_relay_neither_stop_nor_move_a_match() {
    let plan = Plan { frames: 400, ..Plan::new(Router::Symmetric, Router::Symmetric) };
    let mut internet = Internet::new(plan);
    internet.world.network_mut().record(Recording::Full);
    let mut rng = Rng::new(5).unwrap();
    while [HOST, JOINER].iter().any(|id| internet.player(*id).verdict().is_none()) {
        assert!(internet.world.now() < ms(25_000), "{}", internet.report());
        let now = internet.world.now();
        for id in [HOST, JOINER] {
            // Every request is answered at once, by somebody who sees none of them: the identifier is guessed.
            let mut id_bytes: Vec<u8> = (0..12).map(|_| rng.next_u32() as u8).collect();
            let kinds: [[u8; 2]; 6] =
                [[0x01, 0x03], [0x01, 0x13], [0x01, 0x08], [0x01, 0x18], [0x01, 0x09], [0x01, 0x01]];
            let kind = kinds[rng.next_u32() as usize % 6];
            let mut answer = vec![kind[0], kind[1], 0, 36, 0x21, 0x12, 0xA4, 0x42];
            answer.append(&mut id_bytes);
            answer.extend([0x00, 0x16, 0x00, 0x08, 0x00, 0x01, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43]);
            answer.extend([0x00, 0x09, 0x00, 0x04, 0, 0, 4, [1, 37, 38][rng.next_u32() as usize % 3]]);
            answer.extend([0x00, 0x14, 0x00, 0x04, b'e', b'v', b'i', b'l']);
            answer.extend([0x00, 0x15, 0x00, 0x04, b'e', b'v', b'i', b'l']);
            let to = internet.world.network_mut().map(now, id, relay_addr());
            internet.world.network_mut().inject(now + ms(1), relay_addr(), to, &answer);
        }
        internet.run_for(ms(4));
    }
    assert_eq!(events(&internet), [], "{}", internet.report());
    assert!(internet.player(HOST).nat().stats().refused > 500);
}

/// A STALE NONCE error with this type, identifier and realm, and a nonce that is none of the relay's.
fn stale_nonce(kind: [u8; 2], id: &[u8], realm: &[u8; 4]) -> Vec<u8> {
    let mut answer = vec![kind[0], kind[1], 0, 24, 0x21, 0x12, 0xA4, 0x42];
    answer.extend(id);
    answer.extend([0x00, 0x09, 0x00, 0x04, 0, 0, 4, 38]);
    answer.extend([0x00, 0x14, 0x00, 0x04]);
    answer.extend(realm);
    answer.extend([0x00, 0x15, 0x00, 0x04, b'e', b'v', b'i', b'l']);
    answer
}

/// How somebody forges answers of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forger {
    /// Sees nothing, and uses a STUN method that nobody has.
    Blind,
    /// Sees every request, and uses their identifiers when the relay has answered.
    Late,
    /// Sees every request, and is faster than the relay, but names another realm.
    Fast,
}

#[test]
fn forged_relay_errors_change_no_realm_or_nonce() {
    for forger in [Forger::Blind, Forger::Late, Forger::Fast] {
        let plan = Plan { frames: 200, ..Plan::new(Router::Symmetric, Router::Symmetric) };
        let mut internet = Internet::new(plan);
        internet.world.network_mut().record(Recording::Full);
        let mut forged = 0;
        while [HOST, JOINER].iter().any(|id| internet.player(*id).verdict().is_none()) {
            assert!(internet.world.now() < ms(25_000), "{forger:?}: {}", internet.report());
            let now = internet.world.now();
            for id in [HOST, JOINER] {
                // Requests with a realm: the relay has answered at least once.
                let is_request = |bytes: &[u8]| bytes[0] == 0 && bytes.windows(4).any(|part| part == b"town");
                let requests = internet.said(id).filter(|entry| is_request(&entry.datagram));
                let ages: Vec<_> =
                    requests.map(|entry| (now - entry.at, entry.datagram[8..20].to_vec())).collect();
                let answers: Vec<_> = match forger {
                    Forger::Blind => vec![stale_nonce([0x05, 0x11], &[7; 12], b"evil")],
                    Forger::Late => ages
                        .iter()
                        .filter(|(age, _)| *age > ms(60))
                        .map(|(_, id)| stale_nonce([0x01, 0x13], id, b"town"))
                        .collect(),
                    Forger::Fast => ages
                        .iter()
                        .filter(|(age, _)| *age < ms(30))
                        .map(|(_, id)| stale_nonce([0x01, 0x13], id, b"evil"))
                        .collect(),
                };
                forged += answers.len();
                let to = internet.world.network_mut().map(now, id, relay_addr());
                for answer in answers {
                    internet.world.network_mut().inject(now + ms(1), relay_addr(), to, &answer);
                }
            }
            internet.run_for(ms(10));
        }
        assert!(forged > 10, "{forger:?}: {forged}");
        for id in [HOST, JOINER] {
            let evil = |bytes: &[u8]| bytes.windows(4).any(|part| part == b"evil");
            let taken =
                internet.said(id).filter(|entry| entry.to == relay_addr() && evil(&entry.datagram)).count();
            assert_eq!(taken, 0, "{forger:?}: requests with forged credentials");
        }
        assert_eq!(events(&internet), [], "{forger:?}: {}", internet.report());
    }
}

use super::*;
use std::time::Instant;

/// The two ends of a tunnel on one link, whose datagrams `on_way` may change or drop.
struct Ends {
    now: Time,
    ends: [Tunnel; 2],
}

impl Ends {
    /// Each end expects a fingerprint: that of the other, unless `wrong` is its number.
    fn new(wrong: Option<usize>) -> Self {
        let origin = Origin::from(Instant::now());
        let own = [Certificate::draw().unwrap(), Certificate::draw().unwrap()];
        let expects = |at: usize| if wrong == Some(at) { [7; 32] } else { own[1 - at].fingerprint() };
        let end = |at: usize| {
            Tunnel::new(Time::ZERO, origin, at as u64 + 1, &own[at], expects(at), at == 0).unwrap()
        };
        Self { now: Time::ZERO, ends: [end(0), end(1)] }
    }

    /// Lets this many milliseconds pass.
    fn run(&mut self, ms: u64, mut on_way: impl FnMut(&mut Vec<u8>) -> bool) {
        for _ in 0..ms {
            self.now = self.now + Span::from_millis(1);
            for at in 0..2 {
                self.ends[at].run(self.now);
                while let Some(mut datagram) = self.ends[at].pop_datagram() {
                    if on_way(&mut datagram) {
                        self.ends[1 - at].handle(self.now, &datagram);
                    }
                }
            }
        }
    }

    fn opened(&mut self) -> [bool; 2] {
        [0, 1].map(|at| self.ends[at].take_opened())
    }
}

#[test]
fn messages_pass_whole_and_up_to_the_longest() {
    let mut ends = Ends::new(None);
    ends.run(200, |_| true);
    assert_eq!((ends.opened(), ends.opened()), ([true; 2], [false; 2]), "told once");
    for len in [1, 100, 1_119, crate::protocol::MAX_DATAGRAM] {
        for at in 0..2 {
            let message: Vec<u8> = (0..len).map(|n| (n + at) as u8).collect();
            assert!(ends.ends[at].send(ends.now, &message));
            ends.run(20, |_| true);
            assert_eq!(ends.ends[1 - at].pop_message(), Some(message), "{len} bytes");
        }
    }
    assert_ne!(ends.ends[0].addr(), ends.ends[1].addr());
    assert!(is_tunnel(ends.ends[0].addr()) && !is_tunnel("[100::1:0:0:0:1]:1".parse().unwrap()));
}

#[test]
fn certificate_that_the_signal_did_not_name_opens_nothing() {
    for wrong in [0, 1] {
        let mut ends = Ends::new(Some(wrong));
        ends.run(3_000, |_| true);
        assert!(!ends.ends[wrong].take_opened() && ends.ends[wrong].state == State::Failed);
        let now = ends.now;
        assert!(!ends.ends[wrong].send(now, b"secret") && !ends.opened().contains(&true));
        assert_eq!(ends.ends.each_mut().map(Tunnel::pop_message), [None, None]);
    }
}

#[test]
fn garbage_before_and_after_the_handshake_is_dropped() {
    let mut ends = Ends::new(None);
    let junk = |ends: &mut Ends, seed: u8| {
        for first in DTLS {
            for len in [1, 13, 14, 40, 1_200] {
                let mut datagram: Vec<u8> = (0..len).map(|n| (n as u8).wrapping_mul(31) ^ seed).collect();
                datagram[0] = first;
                ends.ends.iter_mut().for_each(|end| end.handle(ends.now, &datagram));
            }
        }
    };
    junk(&mut ends, 1);
    ends.run(1_500, |_| true);
    assert_eq!(ends.opened(), [true; 2]);
    junk(&mut ends, 2);
    // A byte of every second datagram is changed on its way: none of them brings a wrong message.
    let mut count = 0_usize;
    for n in 0..40_u8 {
        let now = ends.now;
        ends.ends[0].send(now, &[n; 60]);
        ends.run(20, |datagram| {
            count += 1;
            let at = count * 7 % datagram.len();
            datagram[at] ^= u8::from(count.is_multiple_of(2)) << (count % 8);
            true
        });
    }
    let came: Vec<_> = core::iter::from_fn(|| ends.ends[1].pop_message()).collect();
    assert!(
        !came.is_empty() && came.iter().all(|one| one.len() == 60 && one.iter().all(|byte| *byte == one[0]))
    );
}

#[test]
fn lost_message_delays_no_later_one() {
    let mut ends = Ends::new(None);
    ends.run(200, |_| true);
    assert_eq!(ends.opened(), [true; 2]);
    let now = ends.now;
    assert!(ends.ends[0].send(now, b"lost"));
    ends.run(5, |_| false);
    let now = ends.now;
    assert!(ends.ends[0].send(now, b"later"));
    ends.run(5, |_| true);
    assert_eq!(ends.ends[1].pop_message().as_deref(), Some(&b"later"[..]));
    ends.run(3_000, |_| true);
    assert_eq!(ends.ends[1].pop_message(), None, "nothing is sent again");
}

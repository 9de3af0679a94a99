//! Random sequences of calls, from a seed: nothing panics, and every handle can be freed.

use crate::calls::{Args, call, error, sized};
use crate::counters::Counters;
use crate::misuse::Owned;
use rebout_c::safe::codes::Status;
use rebout_c::*;
use std::ptr;

/// Calls of the interface that are not drawn: they wait on a clock of the system's for long, or test a whole game.
const SLOW: [&str; 3] = ["rebout_stress", "rebout_join", "rebout_host"];

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

/// One sequence on two handles whose datagrams reach each other, with time in steps; how many calls did something.
fn sequence(seed: u64, calls: usize) -> usize {
    let mut draw = Draw(seed | 1);
    let handles = [Owned::new(), Owned::new()];
    let mut args = [Args::new(), Args::new()];
    let functions =
        (0..).map_while(|number| call(number, ptr::null_mut(), &mut args[0], true)).collect::<Vec<_>>();
    let (mut now, mut done) = (0, 0);
    for (args, id) in args.iter_mut().zip([1, 2]) {
        (args.options.bind, args.options.entropy) = (ptr::null(), seed + id);
    }
    for _ in 0..calls {
        let at = draw.below(2);
        let handle = handles[at].0;
        // Most calls are those of a loop, so that matches get somewhere.
        if draw.below(10) < 6 {
            now += 1_000_000 * (1 + draw.below(20) as u64);
            pass(&handles, now, draw.below(40) == 0);
            let mut turn = sized::<CTurn>();
            // SAFETY: a live handle and valid arguments.
            unsafe {
                done += usize::from(rebout_poll(handle, &raw mut *turn) == Status::Ok);
                rebout_start(handle, &raw const *args[at].game);
                done +=
                    usize::from(rebout_advance(handle, draw.below(4) as u64, ptr::null_mut()) == Status::Ok);
            }
            continue;
        }
        if draw.below(8) == 0 {
            meet(&handles, &args, seed);
        }
        let number = draw.below(functions.len());
        if SLOW.contains(&functions[number].0) {
            continue;
        }
        let nulls = draw.below(4) == 0;
        args[at].game_state.frame = args[at].game_state.frame.min(100);
        let (name, status) = call(number, handle, &mut args[at], nulls).unwrap();
        assert_ne!(status, Status::Panicked, "{name} in the sequence of seed {seed}: {}", error(handle));
        assert_ne!(status, Status::Busy, "{name}");
        assert!(status == Status::Ok || !error(handle).is_empty(), "{name}: {status:?} without a text");
        done += usize::from(status == Status::Ok);
    }
    done
}

/// Lets two handles meet, if both are empty.
fn meet(handles: &[Owned; 2], args: &[Args; 2], seed: u64) {
    let mut transport = sized::<TransportTable>();
    let mut text = ptr::null();
    // SAFETY: live handles and valid arguments.
    unsafe {
        transport.local_id = 1;
        if rebout_host_on(handles[0].0, &raw const *args[0].options, &raw const *transport) == Status::Ok {
            rebout_share(handles[0].0, &raw mut text);
            transport.local_id = 2;
            if seed.is_multiple_of(3) {
                rebout_close(handles[1].0);
            }
            rebout_join_on(handles[1].0, &raw const *args[1].options, &raw const *transport, text);
        }
    }
}

/// Carries datagrams between the handles, or garbage.
fn pass(handles: &[Owned; 2], now: u64, garbles: bool) {
    for at in 0..2 {
        // SAFETY: live handles and buffers.
        unsafe {
            rebout_set_time(handles[at].0, now);
            loop {
                let (mut to, mut datagram, mut count) = (0, [0; 1_264], 0);
                let status =
                    rebout_take(handles[at].0, &raw mut to, datagram.as_mut_ptr(), 1_264, &raw mut count);
                if status != Status::Ok || count == 0 {
                    break;
                }
                if garbles {
                    datagram[count / 2] ^= 1;
                }
                rebout_deliver(handles[1 - at].0, 1 + at as u64, datagram.as_ptr(), count);
            }
        }
    }
}

#[test]
fn random_calls_never_panic() {
    let rounds = support::repeats(120_u32);
    let done: usize =
        (1..=u64::from(rounds)).map(|seed| sequence(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), 400)).sum();
    assert!(done > 50 * rounds as usize, "only {done} calls of {} did something", 400 * rounds);
    assert_eq!(size_of::<Counters>(), 24);
}

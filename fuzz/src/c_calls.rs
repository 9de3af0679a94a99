//! Sequences of calls to the C interface on two handles whose datagrams reach each other: in any order, with NULL where a pointer is
//! expected, and with damaged datagrams.
//!
//! No call panics, every call that fails says why, and handles can be freed at any time.

use crate::attack::random_seeds;
use crate::bytes::Bytes;
use crate::calls::{Args, call, error, sized};
use crate::memory::Kept;
use rebout_c::safe::codes::Status;
use rebout_c::*;
use std::ptr;

const MAX_CALLS: usize = 400;
const MAX_KEPT: i64 = 32 << 20;
/// Calls that wait on a clock of the system's, open sockets, or test a whole game.
const SLOW: [&str; 3] = ["rebout_stress", "rebout_join", "rebout_host"];

struct Owned(*mut Handle);

impl Owned {
    fn new() -> Self {
        Self(rebout_new())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: a live handle.
        unsafe { rebout_free(&raw mut self.0) };
    }
}

pub fn run(data: &[u8]) {
    let kept = Kept::new(MAX_KEPT);
    calls(&mut Bytes::new(data));
    kept.check();
}

fn calls(bytes: &mut Bytes<'_>) {
    let handles = [Owned::new(), Owned::new()];
    let mut args = [Args::new(), Args::new()];
    let functions =
        (0..).map_while(|number| call(number, ptr::null_mut(), &mut args[0], true)).collect::<Vec<_>>();
    let mut now = 0;
    for (args, id) in args.iter_mut().zip([1, 2]) {
        (args.options.bind, args.options.entropy) = (ptr::null(), id);
    }
    for _ in 0..MAX_CALLS {
        if bytes.is_empty() {
            break;
        }
        let (choice, at) = (bytes.u8(), bytes.below(2));
        let handle = handles[at].0;
        match choice {
            // Most calls are those of a loop, so that matches get somewhere.
            0..150 => {
                now += 1_000_000 * (1 + u64::from(choice % 20));
                pass(bytes, &handles, now, choice % 32 == 31);
                let mut turn = sized::<CTurn>();
                // SAFETY: a live handle and valid arguments.
                unsafe {
                    rebout_poll(handle, &raw mut *turn);
                    rebout_start(handle, &raw const *args[at].game);
                    rebout_advance(handle, u64::from(choice % 4), ptr::null_mut());
                }
            }
            150..165 => meet(&handles, &args),
            _ => {
                let number = bytes.below(functions.len());
                if SLOW.contains(&functions[number].0) {
                    continue;
                }
                args[at].game_state.frame = args[at].game_state.frame.min(100);
                let (name, status) =
                    call(number, handle, &mut args[at], choice % 4 == 0).expect("a function of the list");
                assert_ne!(status, Status::Panicked, "{name}: {}", error(handle));
                assert_ne!(status, Status::Busy, "{name}");
                assert!(
                    status == Status::Ok || !error(handle).is_empty(),
                    "{name}: {status:?} without a text"
                );
            }
        }
    }
}

/// Lets two handles meet, if both are empty.
fn meet(handles: &[Owned; 2], args: &[Args; 2]) {
    let mut transport = sized::<TransportTable>();
    let mut text = ptr::null();
    // SAFETY: live handles and valid arguments.
    unsafe {
        transport.local_id = 1;
        if rebout_host_on(handles[0].0, &raw const *args[0].options, &raw const *transport) == Status::Ok {
            rebout_share(handles[0].0, &raw mut text);
            transport.local_id = 2;
            rebout_join_on(handles[1].0, &raw const *args[1].options, &raw const *transport, text);
        }
    }
}

/// Carries datagrams between the handles, damaged if that is wanted.
fn pass(bytes: &mut Bytes<'_>, handles: &[Owned; 2], now: u64, is_damaged: bool) {
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
                if is_damaged {
                    datagram[usize::from(bytes.u16()) % count] ^= bytes.u8();
                }
                rebout_deliver(handles[1 - at].0, 1 + at as u64, datagram.as_ptr(), count);
            }
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = random_seeds(&[&[150, 0], &[150, 0, 200, 0, 9], &[170, 1]]);
    // A match, and calls in it.
    let mut played = vec![150, 0];
    (0..180).for_each(|turn| played.extend([turn % 140, turn & 1]));
    (0..60).for_each(|number| played.extend([201, number & 1, number, 40, 0, 41, 1]));
    seeds.push(played);
    seeds
}

//! A match without a socket and a clock: the caller moves its datagrams and tells its time.

use super::args;
use super::handle::{Handle, Inner, with};
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use std::time::Duration;

/// Says what time it is, in nanoseconds on any clock that never runs backwards. Call it before every turn of a match on a transport without
/// callbacks. A match at one machine takes it too, and then has no clock of its own.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_set_time(handle: *mut Handle, nanos: u64) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.set_time(Duration::from_nanos(nanos))) }
}

/// Hands over a datagram that has come from the peer with this id. `rebout_poll` looks at it. Call it as often as there are datagrams;
/// 256 wait at most, and more get `REBOUT_STATUS_FULL`.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_deliver(
    handle: *mut Handle,
    from: u64,
    bytes: *const u8,
    count: usize,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let datagram = unsafe { args::bytes(bytes, count, "bytes")? };
        inner.part.mailbox()?.deliver(from, datagram)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Takes the next datagram to send into `bytes`, which hold `capacity`; 1,264 are always enough. `count` becomes its length, and 0 if there
/// is none. Call it after every turn and every frame, until there is none.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `to` and `count` are NULL or can be written, and so can `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_take(
    handle: *mut Handle,
    to: *mut u64,
    bytes: *mut u8,
    capacity: usize,
    count: *mut usize,
) -> Status {
    let call = |inner: &mut Inner| {
        if to.is_null() || bytes.is_null() {
            return Err(Fault::null(if to.is_null() { "to" } else { "bytes" }));
        }
        let mailbox = inner.part.mailbox()?;
        let needed = mailbox.next_len().unwrap_or(0);
        // SAFETY: the caller's promise.
        unsafe { args::put(count, needed, "count")? };
        if needed > capacity {
            return Err(Fault::new(
                Status::TooSmall,
                format_args!("the datagram has {needed} bytes, and the buffer {capacity}"),
            ));
        }
        let Some((peer, datagram)) = mailbox.take() else { return Ok(()) };
        // SAFETY: the caller's promise: `bytes` hold `capacity`, which is not less.
        unsafe {
            std::ptr::copy_nonoverlapping(datagram.as_ptr(), bytes, datagram.len());
            args::put(to, peer, "to")
        }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

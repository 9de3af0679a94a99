//! A transport of the caller's: datagrams by callbacks, between peers that have an id.

use super::args::{self, Sized32};
use crate::safe::fault::Fault;
use crate::safe::mailbox::{Link, Mailbox};
use rebout::net::{Datagrams, Received, opaque_addr, opaque_id};
use std::ffi::c_void;
use std::io;
use std::net::SocketAddr;
use std::ptr;
use std::time::{Duration, Instant};

/// The longest sleep where the transport cannot wait for a datagram.
const NAP: Duration = Duration::from_millis(1);
/// So many waits in a row without any time passing: the clock stands still, and the library would wait for ever.
const MAX_STILL_WAITS: u32 = 2_000;

/// A transport of the caller's, for peers that have a 64-bit id: a platform's network, a data channel. Set `size` to
/// `sizeof(rebout_transport)`, and the rest to 0.
///
/// Without `send` and `receive` the match has neither a socket nor a clock: the caller moves the datagrams by `rebout_deliver` and
/// `rebout_take`, and tells the time by `rebout_set_time`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TransportTable {
    /// `sizeof(rebout_transport)`.
    pub size: u32,
    /// 0.
    pub reserved: u32,
    /// The id under which others reach this machine.
    pub local_id: u64,
    /// The first argument of every callback.
    pub user: *mut c_void,
    /// Sends a datagram of at most 1,264 bytes to a peer. It must not block; a datagram that cannot be sent is lost.
    pub send:
        Option<unsafe extern "C-unwind" fn(user: *mut c_void, to: u64, datagram: *const u8, bytes: usize)>,
    /// Receives one datagram into a buffer, and returns its length; 0 if none waits, and -1 if the transport is broken. It must not
    /// block.
    pub receive: Option<
        unsafe extern "C-unwind" fn(
            user: *mut c_void,
            from: *mut u64,
            datagram: *mut u8,
            bytes: usize,
        ) -> isize,
    >,
    /// Sleeps until a datagram has come, at most for so many nanoseconds. NULL: the library sleeps for a millisecond at a time.
    pub wait: Option<unsafe extern "C-unwind" fn(user: *mut c_void, at_most_nanos: u64)>,
    /// The time in nanoseconds, on a clock that never runs backwards. NULL: the system's.
    pub now: Option<unsafe extern "C-unwind" fn(user: *mut c_void) -> u64>,
}

// SAFETY: begins with a u32; NULL is a value of every pointer and callback. A callback that is not NULL is a function, says the caller.
unsafe impl Sized32 for TransportTable {
    const NAME: &'static str = "rebout_transport";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            reserved: 0,
            local_id: 0,
            user: ptr::null_mut(),
            send: None,
            receive: None,
            wait: None,
            now: None,
        }
    }
}

/// A transport that calls back.
pub struct CTransport {
    table: TransportTable,
    start: Instant,
    /// The time of the last wait, and how many waits it has lasted.
    waited_at: Duration,
    still_waits: u32,
}

/// Reads a transport of the caller's, with its address and with its mailbox if it has no callbacks.
///
/// # Safety
/// `table` is NULL or a struct as its documentation says, whose callbacks may be called until the match is closed.
pub(super) unsafe fn read(
    table: *const TransportTable,
) -> Result<(Link<CTransport>, SocketAddr, Option<Mailbox>), Fault> {
    // SAFETY: the caller's promise.
    let table = unsafe { args::read(table, "transport")? };
    let address = opaque_addr(table.local_id);
    match (table.send, table.receive) {
        (Some(_), Some(_)) => {
            let transport =
                CTransport { table, start: Instant::now(), waited_at: Duration::ZERO, still_waits: 0 };
            Ok((Link::Called(transport), address, None))
        }
        (None, None) if table.wait.is_none() && table.now.is_none() => {
            let mailbox = Mailbox::default();
            Ok((Link::Mailbox(mailbox.clone()), address, Some(mailbox)))
        }
        _ => Err(Fault::invalid("a transport has both send and receive, or no callback at all")),
    }
}

impl Datagrams for CTransport {
    fn now(&self) -> Duration {
        match self.table.now {
            // SAFETY: a callback of the caller's, with its pointer.
            Some(now) => Duration::from_nanos(unsafe { now(self.table.user) }),
            None => self.start.elapsed(),
        }
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some(receive) = self.table.receive else { return Ok(Received::Empty) };
        let mut from = 0;
        // SAFETY: a callback of the caller's, with its pointer, a place for an id, and a buffer of this length.
        let len = unsafe { receive(self.table.user, &raw mut from, buf.as_mut_ptr(), buf.len()) };
        match usize::try_from(len) {
            Err(_) => Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "the transport's receive callback failed",
            )),
            Ok(0) => Ok(Received::Empty),
            Ok(len) => Ok(Received::Datagram(opaque_addr(from), len.min(buf.len()))),
        }
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        if let (Some(send), Some(to)) = (self.table.send, opaque_id(to)) {
            // SAFETY: a callback of the caller's, with its pointer and the bytes of a datagram.
            unsafe { send(self.table.user, to, datagram.as_ptr(), datagram.len()) };
        }
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        match self.table.wait {
            // SAFETY: a callback of the caller's, with its pointer.
            Some(wait) => unsafe {
                wait(self.table.user, u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX));
            },
            None => std::thread::sleep(at_most.min(NAP)),
        }
        let now = self.now();
        self.still_waits = if now == self.waited_at { self.still_waits + 1 } else { 0 };
        self.waited_at = now;
        if self.still_waits >= MAX_STILL_WAITS {
            return Err(io::Error::other("the clock of the transport stands still while it is waited on"));
        }
        Ok(())
    }
}

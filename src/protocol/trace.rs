//! Diagnostics for a developer: each function tells a `tracing` subscriber of one thing that happened.
//!
//! Without the feature `tracing` every function is empty and costs nothing. All texts and levels stand here, under the
//! target `rebout`; a game's own log filters by it.

use crate::Frame;
use core::fmt::Display;
use std::net::SocketAddr;

macro_rules! told {
    ($($(#[$doc:meta])* $level:ident $name:ident($($arg:ident: $type:ty),*) $text:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub(crate) fn $name($($arg: $type),*) {
            #[cfg(feature = "tracing")]
            tracing::$level!(target: "rebout", $($arg = %$arg,)* $text);
            #[cfg(not(feature = "tracing"))]
            let _ = ($($arg,)*);
        }
    )*};
}

told! {
    /// A datagram was dropped.
    debug refused(from: SocketAddr, reason: &dyn Display, detail: &dyn Display) "datagram refused";
    /// The handshake has come one step further.
    debug handshake(peer: SocketAddr, step: &str) "handshake";
    /// A frame has to wait for the peer's input.
    debug stalled(frame: Frame) "stalled";
    /// The stalled frame was stepped.
    debug went_on(frame: Frame) "stall over";
    /// Mispredicted frames were stepped again.
    trace rolled_back(to: Frame, frames: u32) "rolled back";
    /// The second copy of input packets was switched on or off.
    info copies(on: bool, loss_permille: u32) "second copy of input packets";
    /// The second copy fills the link and was switched off for a while.
    info congested(rtt_micros: u64) "second copy blamed for congestion";
    /// The peer has fallen silent, or has come back.
    info silence(peer: SocketAddr, change: &str) "silence";
    /// The machines disagree about the state of a frame.
    warn desync(frame: Frame, ours: u32, theirs: u32) "desync";
    /// Checks have found a path to a peer, and the seal was told of it.
    #[cfg(feature = "nat")]
    info path_found(peer: SocketAddr, addr: SocketAddr, relayed: bool) "path found";
    /// A new search for paths to a peer begins, because this machine has other addresses.
    #[cfg(feature = "nat")]
    info search_begun(peer: SocketAddr) "search begun";
    /// There is no path, or no more.
    #[cfg(feature = "nat")]
    warn no_path(why: &dyn Display) "no path";
    /// A limit on a rate keeps something from being sent or done.
    #[cfg(feature = "nat")]
    debug exhausted(budget: &str, of: &dyn Display) "budget exhausted";
    /// The relay of this machine: an address on it was allocated, or it refuses, or does not answer.
    #[cfg(feature = "nat")]
    info relay(addr: SocketAddr, change: &str) "relay";
    /// A stream to a server has opened or ended.
    #[cfg(feature = "nat")]
    info stream(addr: SocketAddr, news: &dyn Display) "stream";
    /// A room of a rendezvous was opened, was taken over, has expired, or has got a guest. It is named without an address.
    #[cfg(feature = "nat")]
    info room(room: &dyn Display, change: &str) "room";
    /// The match is over.
    info over(peer: SocketAddr, how: &dyn Display) "match over";
    /// A server has given a client a seat.
    #[cfg(feature = "authority")]
    info seat_given(client: SocketAddr, id: u8) "seat given";
    /// A server has no seat for an address that asked for one.
    #[cfg(feature = "authority")]
    debug seat_refused(client: SocketAddr, reason: &dyn Display) "seat refused";
    /// A server has removed a client.
    #[cfg(feature = "authority")]
    info seat_lost(client: SocketAddr, id: u8, reason: &dyn Display) "seat lost";
    /// A source has sent so many wrong proofs in this second that a server ignores most of its proofs.
    #[cfg(feature = "authority")]
    warn wrong_proofs(source: &dyn Display) "wrong proofs over the limit";
    /// A client has a seat.
    #[cfg(feature = "authority")]
    info joined(server: SocketAddr, id: u8) "joined";
    /// The connection of a client is over.
    #[cfg(feature = "authority")]
    info left(server: SocketAddr, reason: &dyn Display) "connection over";
    /// A queue is full: what does not fit is dropped.
    #[cfg(feature = "authority")]
    warn queue_full(queue: &str) "queue full";
}

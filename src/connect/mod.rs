//! Connecting two machines, in modules that build on each other.
//!
//! | module | |
//! |---|---|
//! | `connection` | [`Connection`](crate::Connection): a transport, its encryption and its paths with one owner |
//! | `web` | data channels of WebRTC, and the paths of a page in a browser |
//! | `nat` | paths through routers: ICE, STUN and TURN |
//! | `rendezvous` | the server where a joiner finds its host, and its clients |
//! | `seal` | encryption: every datagram authenticated, around any [`Protocol`](crate::Protocol) |
//! | `invite` | the right to join, as one line of text |

/// `Debug` of a type with a secret: its name alone.
#[cfg(feature = "seal")]
macro_rules! opaque_debug {
    ($type:ident) => {
        impl core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}

#[cfg(feature = "seal")]
pub(crate) mod connection;
pub(crate) mod invite;
#[cfg(feature = "nat")]
pub(crate) mod nat;
#[cfg(any(feature = "nat", feature = "browser"))]
pub mod rendezvous;
#[cfg(feature = "seal")]
pub(crate) mod seal;
#[cfg(any(feature = "browser", feature = "webrtc"))]
pub mod web;

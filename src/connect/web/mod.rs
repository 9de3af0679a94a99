//! Data channels of WebRTC: what a native program and a page in a browser have in common, and the paths of a page.
//!
//! Two machines of which one is a page meet at the rendezvous like any others. Their signals, inside INIT, RESP and SIGNAL, carry
//! the [`Description`] of a peer connection, with the fingerprint of its DTLS certificate. The invite's key authenticates it, so
//! that a rendezvous cannot put itself between the two. Inside the data channel every packet is sealed
//! as over UDP.
//!
//! In a page (feature `browser`) the transport is written in the page's own package. It carries datagrams to the rendezvous at
//! [`SERVER`], one in each message of a WebSocket, and has a peer connection for each address of [`is_channel`]: the library
//! sends a [`ChannelCommand`] there, gets [`News`] from there, and every other datagram is a message of the data channel.
//! `docs/PATHS.md` has the bytes.
//!
//! | file | has |
//! |---|---|
//! | `description.rs`, `sdp.rs` | one side of a peer connection, as bytes and as SDP |
//! | `signal.rs` | a description with the numbers of a signal |
//! | `control.rs`, `addr.rs` | commands and news of a page's transport; its addresses |
//! | `traversal.rs`, `layer.rs`, `peer.rs`, `standing.rs` | the paths of a page: its rendezvous, and its peer connections |

mod description;
#[cfg(feature = "browser")]
mod sdp;
mod signal;

#[cfg(feature = "browser")]
mod addr;
#[cfg(feature = "browser")]
mod control;
#[cfg(all(feature = "browser", target_family = "wasm"))]
pub(crate) mod layer;
#[cfg(all(feature = "browser", target_family = "wasm"))]
mod peer;
#[cfg(all(feature = "browser", target_family = "wasm"))]
mod standing;
#[cfg(all(feature = "browser", target_family = "wasm"))]
pub(crate) mod traversal;

#[cfg(feature = "browser")]
pub use addr::{SERVER, is_channel};
#[cfg(feature = "browser")]
pub use control::{ChannelCommand, IceServer, News};
pub use description::{Description, WebCandidate, WebCandidateKind};
pub(crate) use signal::WebSignal;

#[cfg(feature = "browser")]
use crate::Invite;

/// The rendezvous of an invite as `host:port`, for the URL of a WebSocket. `None` if the text is no invite, or names none.
#[cfg(feature = "browser")]
#[must_use]
pub fn rendezvous_of(invite: &str) -> Option<String> {
    let invite: Invite = invite.parse().ok()?;
    let named = invite.named_rendezvous().map(|(server, _)| format!("{}:{}", server.name(), server.port()));
    named.or_else(|| invite.rendezvous().map(|rendezvous| rendezvous.server.to_string()))
}

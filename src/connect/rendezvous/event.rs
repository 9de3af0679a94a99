//! The news of a rendezvous for its clients.

use super::credentials::Credentials;
use crate::wire::rendezvous::Denial;
use std::net::SocketAddr;

/// News of a rendezvous for a host or a joiner.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RendezvousEvent {
    /// To a host: the room is open. Told with every registration, and every 3 s in between.
    Registered {
        /// The address that the server sees: the server-reflexive address of this socket.
        observed: SocketAddr,
        /// The right to use a TURN server, if the rendezvous has one.
        credentials: Option<Credentials>,
    },
    /// To a joiner: the server has answered the question for the room. A room that does not exist is answered in the same
    /// way.
    Ticket {
        /// The host's ticket, which goes into the INIT.
        ticket: u64,
        /// The address that the server sees: the server-reflexive address of this socket.
        observed: SocketAddr,
        /// The right to use a TURN server, if the rendezvous has one.
        credentials: Option<Credentials>,
    },
    /// To a host: a guest has posted an INIT, or a SIGNAL of the connection that it has. Answer it by
    /// [`Registration::answer`](super::Registration::answer).
    Delivered {
        /// The guest's number.
        guest: u64,
        /// The INIT or the SIGNAL.
        signal: Vec<u8>,
    },
    /// To a joiner: the post was answered. Only an answer that decrypts is the host's; call
    /// [`JoinRequest::settle`](super::JoinRequest::settle) then.
    Answered {
        /// The RESP or the SIGNAL.
        signal: Vec<u8>,
    },
    /// The server refuses to serve. A host is told once for each reason until the room is open, and asks again every few
    /// seconds.
    Refused(Denial),
    /// The server has answered nothing for five seconds. It is asked on.
    ServerSilent,
    /// To a joiner: its signal was posted, and was not answered for five seconds. The host is gone, or does not answer. It
    /// is posted on.
    HostSilent,
    /// To a host: the room has had no grant for 60 s, and the server has forgotten it. Registering goes on.
    Lapsed {
        /// The newest refusal since the last grant, if there was one.
        why: Option<Denial>,
    },
    /// This host was reported at two addresses at once: packets of the server are forged, and guests may not
    /// find the room. Told with each registration for which that is so.
    Contested {
        /// The address that was signed.
        signed: SocketAddr,
        /// Another address that was named.
        other: SocketAddr,
    },
}

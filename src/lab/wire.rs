//! The formats that no document describes: the messages of a duel, and the packets of a sealed link, of a rendezvous and of a broadcast.

/// Messages: the payload of a RELIABLE_EVENT in a duel.
pub mod message {
    pub use crate::wire::message::*;
}

/// The packets between a broadcast and its spectators.
pub mod broadcast {
    pub use crate::wire::broadcast::*;
}

/// The packets of a rendezvous.
pub mod rendezvous {
    pub use crate::wire::rendezvous::*;
}

/// The packets of a sealed link.
pub mod seal {
    pub use crate::wire::seal::*;
}

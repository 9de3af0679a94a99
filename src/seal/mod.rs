//! Sealed links: every datagram encrypted and authenticated, by a wrapper around any [`Protocol`](crate::Protocol).
//!
//! A [`Seal`] goes around a lobby and later around its session: `seal.around(&mut lobby)` is a [`Protocol`](crate::Protocol) that a driver
//! runs like any other. A stranger can neither read, forge, replay nor change a packet of a sealed link; `docs/SECURITY.md`
//! says what is left to do for whom, and `docs/WIRE.md` has the bytes.
//!
//! - **By invite** the joiner knows the host's public key ([`Seal::public_key`]). Knowing it is the right to join, and nobody
//!   else can pose as the host.
//! - **By address** the joiner takes the key of whoever answers there. Until both players have compared the
//!   [code](Seal::code), somebody in between may have answered.
//!
//! A seal has no clock and no socket: the packets of the protocol inside drive its handshake, which carries that protocol's
//! [opening message](crate::Protocol::opening). An [`Invite`](crate::Invite) is the line of text by which a joiner knows key and addresses of its host.
//!
//! ```
//! # #[cfg(feature = "seal")] {
//! use rebout::Randomness;
//! use rebout::lab::seal::Seal;
//! use rebout::{Config, Lobby, Protocol};
//! use std::time::Duration;
//!
//! let mut host = Seal::host(Randomness::System)?;
//! let key = host.public_key().unwrap();                       // goes into the invite
//! let mut joiner = Seal::join(Randomness::System, key, &["192.0.2.1:7000".parse()?])?;
//! let mut lobby = Lobby::join(Config::new(7), joiner.target().unwrap())?;
//!
//! let mut buf = [0; rebout::MAX_DATAGRAM];
//! let (to, len) = joiner.around(&mut lobby).poll_transmit(Duration::ZERO, &mut buf).unwrap();
//! assert_eq!((to, len, buf[0]), ("192.0.2.1:7000".parse()?, 32, 0xE0));     // a KNOCK
//! let mut waiting = Lobby::host(Config::new(7))?;
//! host.around(&mut waiting).handle_datagram(Duration::ZERO, "192.0.2.2:7000".parse()?, &buf[..len]);
//! assert!(host.around(&mut waiting).poll_transmit(Duration::ZERO, &mut buf).is_some());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base32;
#[cfg(feature = "reach")]
mod hand;
pub(crate) mod invite;
pub(crate) mod invite_error;
#[cfg(feature = "seal")]
mod link;
mod wipe;

#[cfg(feature = "reach")]
pub use hand::{Answer, Offer};
#[cfg(feature = "seal")]
pub use link::{
    Brought, Code, ConnectionKeys, MAX_ADDRESSES, MAX_FALLBACKS, NotLoggedKeys, OpenedPacket, Randomness,
    Seal, SealError, SealRefusal, SealStats, Sealed,
};

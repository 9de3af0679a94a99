//! Who may join, and by which line of text: [`Invite`] names a host by its key and its addresses. The key in it is the
//! right to join, so an invite is shown to the guest and to nobody else.

mod base32;
mod invite;
mod invite_error;

pub use invite::{Invite, MAX_ADDRESSES_PER_FAMILY, Rendezvous};
pub use invite_error::{InviteError, Mistake};

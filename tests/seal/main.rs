//! Sealed links: how two machines meet, play and part behind a seal, and what a stranger can do to them; and invites.

mod attacks;
mod codes;
mod crowd;
mod floods;
mod guests;
mod invite;
mod invite_names;
mod invite_terms;
mod long;
mod many;
mod meeting;
mod net;
mod players;
mod protocols;
mod racing;
mod rebinding;
mod roaming;
mod roles;
mod seats;
mod signals;
mod sums;
mod udp;

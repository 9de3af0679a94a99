//! Sealed links: how two machines meet, play and part behind a seal, and what a stranger can do to them; and invites.

mod invite;
mod meeting;

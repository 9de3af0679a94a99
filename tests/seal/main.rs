//! Invites: their text, both ways.

mod invite;

//! A game on Bevy's entity component system, without a window.
//!
//! [`rollback`] is what another game would take over: components are saved and restored by registration, entities come
//! and go under ids of the game's own, and a world is lent to the session for a frame. [`arena`] is the game, and
//! [`online`] has the session as a resource.

pub mod arena;
pub mod online;
pub mod rollback;

//! The duel in a page: against the bot, against another player by a link, and as a replay.
//!
//! | file | |
//! |---|---|
//! | `app` | the modes of the page, and the one call that a browser makes again and again |
//! | `title`, `fight`, `watch` | the menu, a match, a replay: each steps by frames and makes a picture |
//! | `bot` | the bot, as a machine of its own in the same page |
//! | `report` | the end of a match, or why there was none, as a menu |
//! | `input`, `frames` | keys, pointer and pads; frames of exactly a sixtieth of a second |
//! | `wire`, `channel` | the transports of a match: memory, or the data channels of a browser |
//! | `json` | strings of JSON, for the facts that a page tells |
//! | `page` | the calls of the page's script, and the browser's clock and random numbers |

pub mod app;
pub mod bot;
#[cfg(target_family = "wasm")]
pub mod channel;
pub mod fight;
pub mod frames;
pub mod input;
pub mod json;
#[cfg(target_family = "wasm")]
pub mod page;
pub mod report;
pub mod title;
pub mod watch;
pub mod wire;

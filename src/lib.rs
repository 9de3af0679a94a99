//! Rebout: a deterministic rollback peer-to-peer engine for two-player fighting and arcade games.
//!
//! A game passes the local player's input once a frame, and gets an online match that feels local. The engine predicts the other
//! player, rolls back after a misprediction, paces both machines, checks that both simulate the same state, and reports
//! *which field* diverged if they do not.
//!
//! # A complete game
//!
//! An encrypted match by invite, with both players in one process. `docs/EMBEDDING.md` is a tutorial.
//!
//! ```
//! # #[cfg(all(feature = "seal", feature = "udp"))] {
//! use rebout::{Buttons, Cues, Finish, Game, Inputs, Now, Online, Options, Player, fields};
//! use std::{error::Error, thread};
//!
//! const PULL: Buttons = Buttons(1);
//!
//! /// Tug of war: every press pulls the rope by one, and five to either side win.
//! #[derive(Clone, Copy)]
//! struct Tug { rope: i32, held: [bool; 2] }
//! fields!(Tug { rope, held });                               // a field left out does not compile
//!
//! impl Game for Tug {
//!     fn step(&mut self, inputs: Inputs, _: &mut Cues) {     // pure: no clock, no float, nothing outside
//!         for player in Player::BOTH {
//!             let holds = inputs[player].holds(PULL);
//!             let pressed = holds && !self.held[player.index()];
//!             self.rope += i32::from(pressed) * [-1, 1][player.index()];
//!             self.held[player.index()] = holds;
//!         }
//!     }
//!     fn finished(&self) -> bool { self.rope.abs() >= 5 }
//! }
//!
//! fn play(mut online: Online<Tug>, every: u32) -> Result<Finish, Box<dyn Error + Send + Sync>> {
//!     let mut game = Tug { rope: 0, held: [false; 2] };
//!     let mut frame = 0;
//!     loop {
//!         match online.wait()? {                             // `poll` for an engine that owns the loop
//!             Now::Begin { .. } => online.start(&game),      // a game with a seed is built here
//!             Now::Frame => {
//!                 frame += 1;
//!                 let buttons = if frame % every == 0 { PULL } else { Buttons::NONE };
//!                 online.advance(&mut game, buttons);        // rolls back, steps, sends; then draw
//!             }
//!             Now::Finished(finish) => return Ok(finish),    // a verdict, or why there is none
//!             _ => {}                                        // progress to show, events, sounds
//!         }
//!     }
//! }
//!
//! let host = Online::host(Options::new(0x7475_67, 1).name("Ada"))?;  // any number that names the game
//! let invite = host.share().to_owned();                      // for the other player, and nobody else
//! let other = thread::spawn(move || play(Online::join(Options::new(0x7475_67, 1), &invite)?, 2));
//! let finish = play(host, 3).map_err(|error| error.to_string())?;
//! assert!(matches!(finish, Finish::Played(_)), "{finish}");
//! assert_eq!(other.join().unwrap().unwrap(), finish);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The run loop
//!
//! `Online` does this for a game. For a loop of your own: a [`Lobby`] and a [`Session`] are state machines without a socket, a clock or
//! a thread. Time is an argument, on any monotonic clock; datagrams go through [`Protocol`]. The contract:
//!
//! 1. Pass on every datagram that has arrived: [`handle_datagram`](Protocol::handle_datagram). A bad datagram is
//!    counted and dropped; it is never an error.
//! 2. Call [`poll_transmit`](Protocol::poll_transmit) until it returns `None`, and send each datagram that it wrote.
//! 3. Sleep until a datagram comes, until [`poll_timeout`](Protocol::poll_timeout), or until
//!    [`next_frame_at`](Session::next_frame_at); and wake when the protocol
//!    [wants attention](Protocol::wants_attention), because a stalled frame is due the moment its input arrives.
//! 4. When a frame is due: call [`advance`](Session::advance) with the buttons that are held now, and then do 2 at once,
//!    so that the input leaves before the frame is drawn. Read [`cues`](Session::cues) and
//!    [`confirmed`](Session::confirmed) once, both of that `advance`; poll the events
//!    ([`poll_event`](Session::poll_event)), and draw. The session decides when a frame is due, because it paces both
//!    machines.
//! 5. Nothing but `advance` changes the game.
//! 6. After the end, poll the events once more: the last may come in a datagram, with no frame after it. Repeat 1 to 3
//!    while the session [lingers](Protocol::lingers): the peer needs our verdict too.
//!
//! `Connection` does 1 to 3 with encryption and NAT traversal, and [`net::Driver`] without, on any transport: `run_until` sleeps, `poll`
//! is for an engine that owns the loop (`while session.frame_due(now)`), and `flush` and `close` do the rest. `net::udp::UdpDriver` runs
//! on a UDP socket, `docs/TRANSPORTS.md` describes other transports, and `lab::sim` runs in virtual time.
//!
//! # Overview
//!
//! | | |
//! |---|---|
//! | [`Game`], [`Save`], [`fields!`], [`Cues`] | the traits and macros of a game |
//! | [`SyncTest`] | a test for rollback safety, on one machine |
//! | `Online`, `Options`, `Now`, `Finish` | a match from the invite to the verdict, with one owner |
//! | `Connection`, `ConnectOptions` | transport, encryption and paths for any protocol; `docs/CONNECTING.md` |
//! | [`Lobby`], [`Session`], [`Config`], [`Event`], [`Stats`] | the parts of a match between two machines |
//! | `Broadcast`, `Spectator` | live spectators of a match; `docs/SPECTATORS.md` |
//! | [`Invite`] | the right to join a host, as one line of text |
//! | [`Autopsy`], [`Bundle`] | the report about a desync, and the folder that keeps it |
//! | `authority` | with the feature `authority`: an authoritative server, and clients that predict and interpolate |
//! | [`rollback`] | the engine alone, without a network |
//! | [`replay`] | recorded matches, in files |
//! | `rendezvous` | with the feature `nat`: the server where a joiner finds its host |
//! | [`net`] | the driver for UDP and other transports |
//! | `lab` | for tests, with the feature `lab`: a simulated network, matches with an oracle, a relay that impairs a link |
//! | [`wire`] | encoding and decoding of RBN1, GAME and R-Type packets; `docs/WIRE.md` describes the protocol |
//! | `math`, [`Rng`] | fixed-point numbers (the feature `fixed`); random numbers for a simulation |

#![forbid(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "authority")]
pub mod authority;
#[cfg(all(feature = "seal", not(target_family = "wasm")))]
mod broadcast;
mod channel;
// Tests use the layers of a connection and their packets through `lab`. Without it, and with few features, parts of these modules
// have no user.
#[cfg_attr(not(feature = "lab"), allow(dead_code, unreachable_pub, unused_imports))]
mod connect;
mod game;
#[cfg_attr(not(feature = "lab"), allow(dead_code, unreachable_pub, unused_imports))]
mod protocol;

#[cfg(feature = "lab")]
pub mod lab;
pub mod net;
#[cfg(feature = "seal")]
mod online;
pub mod replay;
pub mod rollback;
mod session;
#[cfg_attr(not(feature = "lab"), allow(dead_code, unreachable_pub, unused_imports))]
pub mod wire;

#[cfg(all(feature = "seal", not(target_family = "wasm")))]
pub use broadcast::{Broadcast, BroadcastConfig, BroadcastKey, BroadcastStats, Bye, Spectator, Watching};
pub use channel::refusal::{Refusal, Refusals};
#[cfg(feature = "seal")]
pub use connect::connection::{ConnectError, ConnectOptions, Connection, ConnectionStats, Hint, PeerInfo};
#[cfg(feature = "nat")]
pub use connect::invite::{Answer, Offer};
pub use connect::invite::{Invite, InviteError, MAX_ADDRESSES_PER_FAMILY, Mistake, Rendezvous, ServerName};
#[cfg(feature = "nat")]
pub use connect::nat::RelayPolicy;
#[cfg(feature = "nat")]
pub use connect::rendezvous;
#[cfg(feature = "seal")]
pub use connect::seal::{Code, PlayerKey, Randomness};
#[cfg(any(feature = "browser", feature = "webrtc"))]
pub use connect::web;
#[cfg(feature = "fixed")]
pub use game::math;
pub use game::{
    Buttons, Cue, CueChange, CueEvent, CueId, Cues, Difference, Fields, Frame, FrameRate, Game, Input,
    Inputs, Leaf, MAX_AXES, OwnedLeaf, Pages, Player, Rng, Save, SimHash, StateError, Visitor, checksum,
    diff, fields, is_disruptive, shown, walk,
};
#[cfg(all(feature = "seal", not(target_family = "wasm")))]
pub use online::Watch;
#[cfg(feature = "seal")]
pub use online::{Finish, Now, Online, Options};
pub use protocol::{MAX_DATAGRAM, Protocol, canonical};
pub use replay::bundle::{Bundle, BundleError, Rerun};
pub use rollback::prediction::Prediction;
pub use rollback::saving::Saving;
pub use rollback::sync_test::{SyncReport, SyncTest};
pub use rollback::sync_test_error::SyncTestError;
pub use session::{
    Advanced, Agreed, Autopsy, AutopsyVerdict, Config, ConfigError, DelayAdvice, Desync, Event,
    FieldDifference, FirstState, GameConfig, Incoming, Lobby, LobbyConfig, LobbyError, Mismatch, Offline,
    OnDesync, Paused, PhaseDifference, Progress, Reason, RollbackConfig, SendError, Session, Stats, Timeouts,
    Verdict, advise_delay,
};
pub use wire::message::{Extensions, RefuseField};

/// The README, so that its code is compiled as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The page about connecting, whose code is compiled and run as doctests.
#[cfg(all(doctest, feature = "nat", feature = "udp"))]
#[doc = include_str!("../docs/CONNECTING.md")]
struct Connecting;

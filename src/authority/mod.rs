//! An authoritative server, and clients that predict their own player and interpolate the others.
//!
//! For games with more than two players, late joiners, and players who do not trust each other. Two-player fighting games should use
//! peer to peer ([`Session`](crate::Session)). [`Server`] has a whole game over UDP; `docs/AUTHORITY.md` describes the rules.
//!
//! | | |
//! |---|---|
//! | [`World`] | the trait of a game, for both sides: the rule of a player's motion, and the world around it |
//! | [`Server`], [`Stage`] | steps the world, and sends everybody the result |
//! | [`Client`] | predicts its own player, reconciles with the server, draws the others between two snapshots |
//! | [`Body`], [`Command`] | the state of an entity in a snapshot, the input of a player in a frame |
//! | [`Wire`] | the format of the datagrams: [`GameWire`] or [`RtypeWire`] |
//!
//! | file | |
//! |---|---|
//! | `world.rs`, `record.rs`, `name.rs` | the trait of a game, reliable records, the name of a player |
//! | `config.rs`, `numbering.rs` | configs; numbers that wrap, and times between two frames |
//! | `dialect/` | the seam to the wire, and its two implementations |
//! | `server/`, `client/` | the two roles |
//!
//! Both run on a `Connection`, encrypted and by invite by default. They are [`Protocol`](crate::Protocol)s without a socket, a clock or
//! a thread, and allocate at the start only. The run loop is that of a session: pass on datagrams, send, sleep until `next_frame_at`,
//! `advance`, send at once.
//!
//! ```
//! use rebout::authority::{Body, Client, ClientConfig, Command, GameWire, Server, ServerConfig, Stage, World};
//! use rebout::{MAX_DATAGRAM, Protocol};
//! use std::{net::SocketAddr, time::Duration};
//!
//! /// Players walk on a line.
//! struct Line;
//!
//! impl World for Line {
//!     fn walk(&self, body: &mut Body, command: Command) {        // both sides: the same rule
//!         body.velocity_x = command.x * 6.0;                     // units a second
//!         body.x += body.velocity_x / 60.0;
//!     }
//!     fn enter(&mut self, _: u8) -> (u8, Body) { (0, Body::at(0.0, 0.0)) }
//!     fn step(&mut self, _: &mut Stage<'_>) {}                   // the server alone: everything else
//! }
//!
//! let (here, there): (SocketAddr, SocketAddr) = ("192.0.2.1:7100".parse()?, "192.0.2.2:7100".parse()?);
//! let mut server = Server::<GameWire>::new(ServerConfig::new(1))?;   // an unguessable number
//! let mut client = Client::<GameWire>::join(ClientConfig::new(2), here)?;
//! let mut buf = [0; MAX_DATAGRAM];
//! for frame in 0..120 {
//!     let now = Duration::from_nanos(16_666_666) * frame;        // a driver has a clock and a socket
//!     client.advance(now, &Line, Command::new(1.0, 0.0, 0));
//!     while let Some((_, len)) = client.poll_transmit(now, &mut buf) {
//!         server.handle_datagram(now, there, &buf[..len]);
//!     }
//!     server.advance(now, &mut Line);
//!     while let Some((_, len)) = server.poll_transmit(now, &mut buf) {
//!         client.handle_datagram(now, here, &buf[..len]);
//!     }
//! }
//! let id = client.id().expect("a seat");
//! let (ahead, decided) = (client.predicted().expect("a body").x, server.body(id).expect("a body").x);
//! assert!(decided > 5.0 && ahead > decided);                     // predicted a few frames ahead of the server
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod config;
mod dialect;
mod ids;
mod name;
mod numbering;
mod record;
mod server;
mod world;

pub use client::{Client, ClientEvent, ClientStats, Drawing, OverReason, PredictionStats, Seen};
pub use config::{AuthorityConfigError, ClientConfig, ServerConfig};
pub use dialect::Wire;
pub use dialect::game::GameWire;
pub use dialect::rtype::RtypeWire;
pub use name::PlayerName;
pub use numbering::FrameTime;
pub use record::{Course, MAX_TOLD, Terms, Told};
pub use server::{InputStats, LeftWhy, Server, ServerEvent, ServerStats, Shot, Stage};
pub use world::{Body, Command, Sight, World};

use config::check_rates;
use numbering::{ahead, nearest};
use record::{FIRST_SHOT, Record, Shown};

//! The server.

use super::{Outcome, OutputFormat, entropy};
use crate::cli::Format;
use crate::game::Arcade;
use rebout::Connection;
use rebout::authority::{GameWire, RtypeWire, Server, ServerConfig, ServerEvent, Wire};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most players.
pub const SEATS: u8 = 4;

/// How a server runs.
#[derive(Clone, Debug)]
pub struct Service {
    pub wire: Format,
    pub seconds: Option<u64>,
    pub timeout: u64,
    pub per_source: u8,
    pub seed: u32,
    pub output: OutputFormat,
    /// The game rests while its owner wants it to.
    pub rest: Option<OwnGame>,
}

/// A game on a server that its only player has started, with bots of that player's.
#[derive(Clone, Debug, Default)]
pub struct OwnGame {
    pub rests: Arc<AtomicBool>,
    pub bots: u8,
}

impl OwnGame {
    /// Whether so many players are the owner and the bots alone: the game of others never rests.
    pub fn is_alone(&self, players: usize) -> bool {
        players <= 1 + usize::from(self.bots)
    }
}

/// Serves until its time is over or `stopped` says so, and tells everybody.
pub fn serve(connection: Connection, service: &Service, stopped: impl Fn() -> bool) -> Outcome {
    match service.wire {
        Format::Rtype => serve_on::<RtypeWire>(connection, service, stopped),
        Format::Game => serve_on::<GameWire>(connection, service, stopped),
    }
}

fn serve_on<W: Wire>(mut connection: Connection, service: &Service, stopped: impl Fn() -> bool) -> Outcome {
    let Service { wire, output, .. } = *service;
    let mut config = ServerConfig::new(entropy());
    config.max_clients = SEATS;
    config.max_clients_per_source = service.per_source;
    (config.timeout, config.seed) = (Duration::from_secs(service.timeout), service.seed);
    let (mut server, mut world) = (Server::<W>::new(config)?, Arcade::new(service.seed));
    let text = connection.share().to_owned();
    let (name, bare) = if connection.is_encrypted() { ("invite", "") } else { ("address", " --bare") };
    let words = format!("the arcade is open: join {text}{bare} --wire {}", wire.name());
    output.say("serving", &[(name, text), ("wire", wire.name().to_owned())], &words);
    let end = service.seconds.map(|seconds| connection.now() + Duration::from_secs(seconds));
    while end.is_none_or(|end| connection.now() < end) && !stopped() {
        let due = server.next_frame_at();
        connection.run_until(&mut server, due)?;
        let rests = |own: &OwnGame| own.rests.load(Ordering::Relaxed) && own.is_alone(server.clients());
        world.set_resting(service.rest.as_ref().is_some_and(rests));
        server.advance(connection.now(), &mut world);
        connection.flush(&mut server)?;
        tell(&mut server, &connection, output);
    }
    server.shutdown(connection.now(), &mut world);
    tell(&mut server, &connection, output);
    connection.close(&mut server, Duration::from_secs(2))?;
    let fields = [
        ("frames", server.stats().frames.to_string()),
        ("level", world.level().to_string()),
        ("score", world.score().to_string()),
    ];
    let words = format!("the arcade is closed: level {}, {} points", world.level(), world.score());
    output.say("closed", &fields, &words);
    Ok(())
}

/// Says who came and who went.
fn tell(server: &mut Server<impl Wire>, connection: &Connection, output: OutputFormat) {
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::Joined { id, addr } => {
                let addr = connection.peer(addr).addr.unwrap_or(addr);
                let fields = [("id", id.to_string()), ("address", addr.to_string())];
                output.say("joined", &fields, &format!("player {id} joined from {addr}"));
            }
            ServerEvent::Left { id, why } => {
                let fields = [("id", id.to_string()), ("why", why.to_string())];
                output.say("left", &fields, &format!("player {id} {why}"));
            }
            _ => {}
        }
    }
}

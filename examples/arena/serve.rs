//! The server.

use crate::{Outcome, entropy, say};
use games::arena::Arena;
use rebout::Connection;
use rebout::authority::{GameWire, Server, ServerConfig, ServerEvent};
use std::time::Duration;

/// The most players.
pub(crate) const SEATS: u8 = 32;

/// The port of a server that is told no other.
pub(crate) const PORT: u16 = 7_100;

/// How a server runs.
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) seconds: Option<u64>,
    pub(crate) timeout: u64,
    pub(crate) per_source: u8,
    pub(crate) json: bool,
}

/// Serves until its time is over or `stopped` says so, and tells everybody.
pub(crate) fn serve(mut connection: Connection, service: &Service, stopped: impl Fn() -> bool) -> Outcome {
    let Service { seconds, timeout, per_source, json } = *service;
    let mut config = ServerConfig::new(entropy());
    config.max_clients = SEATS;
    (config.timeout, config.max_clients_per_source) = (Duration::from_secs(timeout), per_source);
    let (mut server, mut world) = (Server::<GameWire>::new(config)?, Arena::new());
    let text = connection.share().to_owned();
    let (name, bare) = if connection.is_encrypted() { ("invite", "") } else { ("address", " --bare") };
    let words = format!("the arena is open: join {text}{bare}");
    say(json, "serving", &[(name, text)], &words);
    let end = seconds.map(|seconds| connection.now() + Duration::from_secs(seconds));
    while end.is_none_or(|end| connection.now() < end) && !stopped() {
        let due = server.next_frame_at();
        connection.run_until(&mut server, due)?;
        server.advance(connection.now(), &mut world);
        connection.flush(&mut server)?;
        tell(&mut server, &connection, json);
    }
    server.shutdown(connection.now(), &mut world);
    tell(&mut server, &connection, json);
    connection.close(&mut server, Duration::from_secs(2))?;
    let stats = server.stats();
    let fields = [
        ("frames", stats.frames.to_string()),
        ("bytes", stats.bytes_out.to_string()),
        ("snapshot_bytes", stats.snapshot_bytes_out.to_string()),
    ];
    say(json, "closed", &fields, "the arena is closed");
    Ok(())
}

/// Says who came and who went.
fn tell(server: &mut Server<GameWire>, connection: &Connection, json: bool) {
    while let Some(event) = server.poll_event() {
        match event {
            ServerEvent::Joined { id, addr } => {
                let addr = connection.peer(addr).addr.unwrap_or(addr);
                let fields = [("id", id.to_string()), ("address", addr.to_string())];
                say(json, "joined", &fields, &format!("player {id} joined from {addr}"));
            }
            ServerEvent::Left { id, why } => {
                let fields = [("id", id.to_string()), ("why", why.to_string())];
                say(json, "left", &fields, &format!("player {id} {why}"));
            }
            _ => {}
        }
    }
}

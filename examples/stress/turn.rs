//! The TURN server of matches through relays.

use rebout::Protocol;
use rebout::lab::stress::{ServerPorts, TurnRelay};
use std::net::SocketAddr;
use std::time::Instant;
use turn_relay::{RelayServer, SECRET};

/// One allocation for each player, and one more for each that begins anew.
const PORTS: u16 = 6;

pub(crate) fn relay() -> TurnRelay {
    TurnRelay { origin: Instant::now().into(), secret: SECRET, make }
}

fn make() -> ServerPorts {
    let server = RelayServer::new(SocketAddr::from(([198, 51, 100, 2], 3_478)), PORTS);
    server.ports().map(|port| (port.addr(), Box::new(port) as Box<dyn Protocol>)).collect()
}

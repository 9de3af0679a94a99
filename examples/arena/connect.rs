//! The connections of a server and of a player: by invite, through a rendezvous, or bare.

use crate::serve::{PORT, SEATS};
use crate::{Outcome, entropy};
use rebout::lab::link::LinkConfig;
use rebout::lab::relay::Relay;
use rebout::{ConnectOptions, Connection, Invite};
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// The server that a player joins.
#[derive(Clone)]
pub(crate) struct Target {
    /// Its invite, or its address if it is bare.
    pub(crate) text: String,
    pub(crate) is_bare: bool,
}

impl Target {
    /// Reads what a player was told: an invite, or without encryption an address or a name, with or without a port.
    pub(crate) fn read(text: &str, is_bare: bool) -> Outcome<Self> {
        let text = if is_bare { resolve(text)?.to_string() } else { text.to_owned() };
        Ok(Self { text, is_bare })
    }

    /// The same server behind a relay that behaves like a bad link.
    fn behind(&self, link: LinkConfig) -> Outcome<(Self, Relay)> {
        let start = |server| Relay::start((Ipv4Addr::LOCALHOST, 0).into(), server, link, entropy());
        let (text, relay) = if self.is_bare {
            let relay = start(self.text.parse()?)?;
            (relay.addr().to_string(), relay)
        } else {
            let invite: Invite = self.text.parse()?;
            let server = invite.addresses().first().ok_or("--link needs an invite without a rendezvous")?;
            let relay = start(*server)?;
            (Invite::new(*invite.key(), [relay.addr()])?.to_string(), relay)
        };
        Ok((Self { text, is_bare: self.is_bare }, relay))
    }
}

/// The address of a server by its name.
fn resolve(text: &str) -> Outcome<SocketAddr> {
    let found = text.to_socket_addrs().or_else(|_| (text, PORT).to_socket_addrs());
    let first = found.ok().and_then(|mut found| found.next());
    first.ok_or_else(|| format!("there is no address of the name '{}'", text.escape_default()).into())
}

fn options(is_bare: bool) -> ConnectOptions {
    if is_bare { ConnectOptions::new().bare() } else { ConnectOptions::new() }
}

/// A connection that players can join.
pub(crate) fn host(bind: SocketAddr, rendezvous: Option<&str>, is_bare: bool) -> Outcome<Connection> {
    let options = options(is_bare).bind(bind).guests(SEATS);
    let options = match rendezvous {
        Some(server) => options.rendezvous(server),
        None => options,
    };
    Ok(Connection::host(&options)?)
}

/// A connection to a server, and the relay that it runs through if the link is to be worse than it is.
pub(crate) fn join(target: &Target, link: Option<LinkConfig>) -> Outcome<(Connection, Option<Relay>)> {
    let (target, relay) = match link {
        None => (target.clone(), None),
        Some(link) => target.behind(link).map(|(target, relay)| (target, Some(relay)))?,
    };
    Ok((Connection::join(&options(target.is_bare), &target.text)?, relay))
}

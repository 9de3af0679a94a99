//! The connections of a server and of a player: by invite, through a rendezvous, or bare.

use super::{Outcome, SEATS, entropy};
use crate::cli::{Access, PORT};
use rebout::lab::link::LinkConfig;
use rebout::lab::relay::Relay;
use rebout::{ConnectOptions, Connection, Invite, InviteError};
use stage::address;
use std::net::{Ipv4Addr, SocketAddr};

/// The server that a player joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its invite, or its address if it is bare.
    text: String,
    is_bare: bool,
}

impl Target {
    /// Reads what a player has typed or pasted.
    ///
    /// # Errors
    /// If it is no invite, or without encryption no address, in words for the player.
    pub fn read(text: &str, is_bare: bool) -> Result<Self, String> {
        let text = text.trim();
        if is_bare {
            let server = address::resolve(text, PORT)?;
            return Ok(Self { text: server.to_string(), is_bare });
        }
        match text.parse::<Invite>() {
            Ok(_) => Ok(Self { text: text.to_owned(), is_bare }),
            Err(InviteError::NotAnInvite) => Err(format!(
                "{} is no invite, which begins with rebout:2: (only a server without encryption is joined by its address, with --bare)",
                stage::quoted(text)
            )),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The server of this very process.
    ///
    /// # Errors
    /// None for a server that can be joined at all.
    pub fn here(server: &Connection) -> Outcome<Self> {
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, server.local_addr().port()));
        let text = match server.share().parse::<Invite>() {
            Ok(invite) => Invite::new(*invite.key(), [addr])?.to_string(),
            Err(_) => addr.to_string(),
        };
        Ok(Self { text, is_bare: !server.is_encrypted() })
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

/// A connection that players can join.
///
/// # Errors
/// If the port is taken, or an address, a name or a file cannot be used.
pub fn host(access: &Access, bind: SocketAddr) -> Outcome<Connection> {
    let mut options = ConnectOptions::new().bind(bind).guests(SEATS);
    if access.bare {
        options = options.bare();
    }
    if let Some(server) = &access.rendezvous {
        options = options.rendezvous(server);
    }
    for addr in &access.public {
        // Port 0 stands for that of the socket.
        options = options.public(address::resolve(addr, 0)?);
    }
    if let Some(file) = &access.keep {
        options = options.keep_key_in(file);
    }
    Ok(Connection::host(&options)?)
}

/// A connection to a server, and the relay that it runs through if the link is to be worse than it is.
///
/// # Errors
/// If there is no socket, or the invite cannot be used.
pub fn join(target: &Target, link: Option<LinkConfig>) -> Outcome<(Connection, Option<Relay>)> {
    let (target, relay) = match link {
        None => (target.clone(), None),
        Some(link) => target.behind(link).map(|(target, relay)| (target, Some(relay)))?,
    };
    let options = ConnectOptions::new();
    let options = if target.is_bare { options.bare() } else { options };
    Ok((Connection::join(&options, &target.text)?, relay))
}

//! Opening a connection: the endpoint of a host, and the host that a joiner names.

use std::time::Duration;

use rebout::net::local_addresses;
use rebout::{BroadcastConfig, ConnectError, ConnectOptions, Connection};

use super::meet::Role;
use crate::cli;
use stage::{address, characters};

/// The port of a rendezvous for which none is named.
const RENDEZVOUS_PORT: u16 = 3479;
/// How often a text that waits for a STUN server is looked for.
const WAIT: Duration = Duration::from_millis(10);
/// The variable that names a rendezvous.
const VARIABLE: &str = "REBOUT_RENDEZVOUS";
/// The beginnings of the texts that are no address.
const SCHEMES: [&str; 3] = ["rebout:", OFFER, "rebout-answer:"];
const OFFER: &str = "rebout-offer:";

/// An open connection, and how the other machine is found by it.
pub type Opened = (Connection, Role);

/// Whom a host lets in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admits {
    /// The holder of its invite, who may meet it at a rendezvous.
    Invited { rendezvous: Option<String> },
    /// The holder of its offer, who sends back an answer. Both may ask a rendezvous, by STUN, for the address outside of their router.
    ByHand { rendezvous: Option<String> },
    /// Whoever knows its address: the players compare a code.
    Everybody,
    /// Whoever knows its address, without encryption.
    Bare,
}

/// The endpoint of a host. Opened again it has the same port and the same key: a guest who lost the connection comes back with
/// the same invite.
#[derive(Clone, Debug)]
pub struct HostEndpoint {
    options: ConnectOptions,
    admits: Admits,
    /// The limits for spectators, if the host lets any in. Only a host by invite does.
    spectators: Option<BroadcastConfig>,
}

impl HostEndpoint {
    /// An endpoint at a port; 0 lets the system choose when it is first opened.
    pub fn new(port: u16, options: ConnectOptions, admits: Admits) -> Self {
        let options = options.port(port);
        let options = match &admits {
            Admits::Invited { rendezvous: Some(server) } => options.rendezvous(server),
            Admits::Invited { rendezvous: None } => options,
            Admits::ByHand { .. } => options.manual_signalling(),
            Admits::Everybody => options.open(),
            Admits::Bare => options.bare(),
        };
        let spectators = matches!(admits, Admits::Invited { .. }).then(BroadcastConfig::default);
        Self { options, admits, spectators }
    }

    /// The same with these limits for spectators, or without any.
    #[must_use]
    pub fn with_spectators(mut self, spectators: Option<BroadcastConfig>) -> Self {
        self.spectators = spectators.filter(|_| self.spectators.is_some());
        self
    }

    /// Waits for the other machine. Blocks while the rendezvous is looked up, or a STUN server is asked.
    ///
    /// # Errors
    /// The words of the library.
    pub fn open(&mut self) -> Result<Opened, String> {
        let mut options = self.options.clone();
        // In a network without names it is done without.
        if let Admits::ByHand { rendezvous: Some(server) } = &self.admits
            && let Ok(server) = address::resolve(server, RENDEZVOUS_PORT)
        {
            options = options.stun(&server.to_string());
        }
        let is_by_hand = matches!(self.admits, Admits::ByHand { .. });
        let connection = written(Connection::host(&options), is_by_hand)?;
        let port = connection.local_addr().port();
        let options = std::mem::take(&mut self.options).port(port);
        self.options = match (&self.admits, connection.secret_key()) {
            (Admits::Invited { .. }, Some(key)) => options.key(key),
            _ => options,
        };
        let (addresses, admits, spectators) =
            (local_addresses(), self.admits.clone(), self.spectators.clone());
        Ok((connection, Role::Host { addresses, port, admits, spectators }))
    }
}

/// The rendezvous that is named, or the one of the environment, or of the settings.
pub fn rendezvous(named: Option<&str>, kept: &str) -> Option<String> {
    let named = named.map(str::to_owned).or_else(|| std::env::var(VARIABLE).ok());
    Some(named.unwrap_or_else(|| kept.to_owned())).filter(|text| !text.is_empty())
}

/// Joins the host that is named by its invite or its offer, which may be torn into words, by the link of a page, which has the
/// invite in its fragment, or by its address. Blocks while a name is looked up.
///
/// # Errors
/// If the host is named by none of them, in words for the player, and the words of the library.
pub fn join(words: &[String], options: &ConnectOptions) -> Result<Opened, String> {
    let mut word = characters::copied(&words.concat());
    if let Some((_, invite)) = word.split_once('#').filter(|(page, _)| page.starts_with("http")) {
        word = invite.to_owned();
    }
    let lower = word.to_ascii_lowercase();
    let text = if SCHEMES.iter().any(|scheme| lower.starts_with(scheme)) {
        word
    } else {
        cli::resolve(&words.join(" "))?.to_string()
    };
    let connection = written(Connection::join(options, &text), lower.starts_with(OFFER))?;
    Ok((connection, Role::Join))
}

/// A connection whose text for the other player is written. By hand it may wait for a STUN server.
fn written(opened: Result<Connection, ConnectError>, is_by_hand: bool) -> Result<Connection, String> {
    let mut connection = opened.map_err(|error| error.to_string())?;
    while is_by_hand && connection.share().is_empty() {
        let deadline = connection.now() + WAIT;
        connection.rest_until(deadline).map_err(|error| error.to_string())?;
    }
    Ok(connection)
}

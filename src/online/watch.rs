//! A spectator on a connection, which may serve others.

#[cfg(feature = "udp")]
use crate::ConnectOptions;
use crate::connect::connection::Rest;
use crate::net::{Datagrams, Usual};
use crate::protocol::{ByRole, PeerRole};
use crate::{Broadcast, BroadcastConfig, BroadcastStats, ConnectError, Connection, Spectator, Watching};
use core::time::Duration;
use std::io;

/// How long a LEAVE may take.
const LINGER: Duration = Duration::from_millis(500);
/// The time after which a host that does not answer is asked on another connection.
#[cfg(feature = "udp")]
const AGAIN_AFTER: Duration = Duration::from_secs(10);
/// The longest wait while two sockets are served.
const SLICE: Duration = Duration::from_millis(4);

/// A spectator of a match, from its watch invite on: the connection, the received log, and the spectators that it serves
/// in turn.
///
/// ```no_run
/// use rebout::replay::{Recording, Viewer};
/// use rebout::{ConnectOptions, Watch};
/// use std::time::Duration;
///
/// let mut watch = Watch::join(&ConnectOptions::new(), "rebout:2:...")?;
/// while !watch.spectator().state().is_over() {
///     watch.wait(Duration::from_millis(16))?;
///     let replay_so_far = watch.spectator().bytes();   // append what is new to a `Viewer`, or to a file
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Watch<D = Usual> {
    connection: Connection<D>,
    spectator: Spectator,
    serving: Option<(Connection<D>, Broadcast)>,
    now: Duration,
    #[cfg(feature = "udp")]
    again: Option<Again<D>>,
}

/// How the host is reached on another connection: its program may end in the middle of a match and come back.
#[derive(Debug)]
#[cfg(feature = "udp")]
struct Again<D> {
    options: ConnectOptions,
    text: String,
    join: fn(&ConnectOptions, &str) -> Result<Connection<D>, ConnectError>,
    /// When a host that is asked again gets another connection.
    at: Duration,
}

#[cfg(feature = "udp")]
impl<D> Again<D> {
    /// Whether another connection is opened now. The next one follows ten seconds later.
    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now >= self.at;
        if is_due {
            self.at = now + AGAIN_AFTER;
        }
        is_due
    }
}

#[cfg(feature = "udp")]
impl Watch {
    /// Watches from a UDP socket of its own. `text` is a watch invite.
    ///
    /// # Errors
    /// As [`Connection::join`], and an invite to play.
    pub fn join(options: &ConnectOptions, text: &str) -> Result<Self, ConnectError> {
        let mut watch = Self::on(Connection::join(options, text)?)?;
        watch.set_again(options, text);
        Ok(watch)
    }

    fn set_again(&mut self, options: &ConnectOptions, text: &str) {
        let (options, text) = (options.clone(), text.to_owned());
        self.again = Some(Again { options, text, join: Connection::join, at: Duration::ZERO });
    }

    /// Serves others at a UDP socket of its own, with their own invite: [`share`](Self::share).
    ///
    /// # Errors
    /// As [`Connection::host`].
    pub fn serve(&mut self, options: &ConnectOptions, config: BroadcastConfig) -> Result<(), ConnectError> {
        self.serve_on(Connection::host(options)?, config)
    }

    /// Asks the host of another watch invite of the same match, and goes on where the last one ended.
    ///
    /// # Errors
    /// As [`join`](Self::join), and an invite to the match of another source.
    pub fn ask_another(&mut self, options: &ConnectOptions, text: &str) -> Result<(), ConnectError> {
        self.move_to(Connection::join(options, text)?)?;
        self.set_again(options, text);
        Ok(())
    }
}

impl<D: Datagrams> Watch<D> {
    /// Watches on a connection of your own, made with a watch invite.
    ///
    /// # Errors
    /// If the connection was made with an invite to play, or by an address.
    pub fn on(connection: Connection<D>) -> Result<Self, ConnectError> {
        let (target, key) = watched(&connection)?;
        let now = connection.now();
        let spectator = Spectator::new(now, key, target);
        Ok(Self {
            connection,
            spectator,
            serving: None,
            now,
            #[cfg(feature = "udp")]
            again: None,
        })
    }

    /// Serves others on a connection of your own, which hosts by invite.
    ///
    /// # Errors
    /// If it does not host by invite.
    pub fn serve_on(
        &mut self,
        mut connection: Connection<D>,
        config: BroadcastConfig,
    ) -> Result<(), ConnectError> {
        let (_, key) = watched(&self.connection)?;
        let spectators = config.max_spectators.clamp(1, u8::MAX.into()) as u8;
        connection.admit_spectators(spectators, key)?;
        self.serving = Some((connection, Broadcast::relay(config)));
        Ok(())
    }

    /// Asks the host of another connection, and goes on where the last one ended.
    ///
    /// # Errors
    /// If the connection was not made with an invite to watch the same source.
    pub fn move_to(&mut self, connection: Connection<D>) -> Result<(), ConnectError> {
        let ((_, before), (target, key)) = (watched(&self.connection)?, watched(&connection)?);
        if before != key {
            return Err(ConnectError::Text {
                why: "that invite is to the match of somebody else".to_owned(),
            });
        }
        self.now = connection.now();
        self.spectator.move_to(self.now, target);
        self.connection = connection;
        #[cfg(feature = "udp")]
        {
            self.again = None;
        }
        Ok(())
    }

    /// Opens another connection to a host that was silent for ten seconds, and again every ten seconds. Where that fails the old one stays.
    #[cfg(feature = "udp")]
    fn ask_again(&mut self) {
        let Some(again) = self.again.as_mut().filter(|_| self.spectator.asks_again()) else { return };
        if !again.is_due(self.now) {
            return;
        }
        let Ok(connection) = (again.join)(&again.options, &again.text) else { return };
        let Ok((target, _)) = watched(&connection) else { return };
        let before = core::mem::replace(&mut self.now, connection.now());
        again.at = self.now + AGAIN_AFTER;
        self.spectator.ask_anew(before, self.now, target);
        self.connection = connection;
    }

    /// Sends and receives for this long. Returns the time.
    ///
    /// # Errors
    /// A broken transport.
    pub fn wait(&mut self, for_at_most: Duration) -> io::Result<Duration> {
        let until = self.connection.now() + for_at_most;
        loop {
            let slice = if self.serving.is_some() { SLICE } else { for_at_most };
            let deadline = until.min(self.connection.now() + slice);
            self.now = self.connection.run_until(&mut self.spectator, deadline)?;
            self.serve_others()?;
            if self.now >= until {
                #[cfg(feature = "udp")]
                self.ask_again();
                return Ok(self.now);
            }
        }
    }

    /// Sends and receives what is ready. Never blocks. Returns the time.
    ///
    /// # Errors
    /// A broken transport.
    pub fn poll(&mut self) -> io::Result<Duration> {
        self.now = self.connection.poll(&mut self.spectator)?;
        self.serve_others()?;
        #[cfg(feature = "udp")]
        self.ask_again();
        Ok(self.now)
    }

    fn serve_others(&mut self) -> io::Result<()> {
        if let Some((connection, broadcast)) = &mut self.serving {
            broadcast.follow(&self.spectator);
            connection.poll(&mut ByRole { others: &mut Rest, role: PeerRole::Spectator, side: broadcast })?;
        }
        Ok(())
    }

    /// Leaves, and tells those whom it serves.
    ///
    /// # Errors
    /// A broken transport.
    pub fn close(mut self) -> io::Result<()> {
        self.spectator.leave();
        self.connection.close(&mut self.spectator, LINGER)?;
        if let Some((mut connection, mut broadcast)) = self.serving {
            broadcast.close();
            let mut both = ByRole { others: &mut Rest, role: PeerRole::Spectator, side: &mut broadcast };
            connection.close(&mut both, LINGER)?;
        }
        Ok(())
    }

    // Getters.

    /// The spectator: its state, and the match so far.
    #[must_use]
    pub fn spectator(&self) -> &Spectator {
        &self.spectator
    }

    /// How far it is on the way, as a text for a player.
    #[must_use]
    pub fn progress(&self) -> String {
        match self.spectator.state() {
            Watching::Asking => self.connection.progress(),
            state => state.to_string(),
        }
    }

    /// The watch invite for those whom this machine serves.
    #[must_use]
    pub fn share(&self) -> Option<String> {
        self.serving.as_ref()?.0.share_to_watch()
    }

    /// The counters of those whom this machine serves.
    #[must_use]
    pub fn served(&self) -> Option<BroadcastStats> {
        self.serving.as_ref().map(|(_, broadcast)| broadcast.stats())
    }

    /// The time of the last turn.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }
}

fn watched<D: Datagrams>(
    connection: &Connection<D>,
) -> Result<(std::net::SocketAddr, crate::BroadcastKey), ConnectError> {
    connection.watched().ok_or_else(|| ConnectError::Text {
        why: "this is no invite to watch; the host shares one beside the invite to play".to_owned(),
    })
}

#[cfg(all(test, feature = "udp"))]
mod tests;

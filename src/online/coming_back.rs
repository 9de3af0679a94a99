//! The calls of an online match that bring a machine back into it.

use super::audience::Audience;
use super::options::Options;
use super::rejoin::{self, Rejoin, Returns};
use super::{Online, Stage};
use crate::net::Datagrams;
use crate::net::ticket::Ticket;
use crate::replay::Resumption;
use crate::{ConnectError, Connection, Fields, Game, Session};
use std::net::SocketAddr;
use std::path::Path;

impl<S: Fields> Online<S> {
    /// Comes back into a match on UDP, by the [file](Options::unfinished_in) that this machine kept when its program ended. The options are
    /// those of that program. Build the game at [`Now::Begin`](crate::Now::Begin) as always; [`advance`](Self::advance) then steps it through the match so far
    /// without cues, some frames in each call, and the match continues after a countdown.
    ///
    /// # Errors
    /// As [`Connection::join`], a file that cannot be used, and a config that is not valid.
    #[cfg(feature = "udp")]
    pub fn rejoin(options: Options, file: impl AsRef<Path>) -> Result<Self, ConnectError> {
        let ticket = rejoin::read(file.as_ref())?;
        // From the port that the other machine knows, and whose mapping in a router may still be there. A relay may still have the
        // allocation of that port, and makes no other one for it: where there is a rendezvous, another port does as well.
        let port = if rejoin::meets(&ticket) { 0 } else { ticket.port };
        let from = |port| Connection::join(&options.connect.to_rejoin(port, &ticket.relay), &ticket.invite);
        let connection = from(port).or_else(|_| from(0))?;
        let mut online = Self::on(options.measured(), connection)?;
        online.come_back(ticket, file.as_ref())?;
        Ok(online)
    }
}

impl<S: Fields, D: Datagrams> Online<S, D> {
    /// Comes back into a match as [`rejoin`](Online::rejoin) does, on a transport of your own.
    ///
    /// # Errors
    /// As [`Connection::join_on`], a file that cannot be used, and a config that is not valid.
    pub fn rejoin_on(
        options: Options,
        file: impl AsRef<Path>,
        transport: D,
        addresses: &[SocketAddr],
    ) -> Result<Self, ConnectError> {
        let ticket = rejoin::read(file.as_ref())?;
        let connect = options.connect.to_rejoin(0, &ticket.relay);
        let connection = Connection::join_on(&connect, transport, addresses, &ticket.invite)?;
        let mut online = Self::on(options, connection)?;
        online.come_back(ticket, file.as_ref())?;
        Ok(online)
    }

    /// Waits in the lobby of the machine that has the match.
    fn come_back(&mut self, ticket: Ticket, file: &Path) -> Result<(), ConnectError> {
        let returns = Returns::new(ticket, file.to_owned());
        let config = Resumption::join_config(&self.options.config, &returns.remembered(&self.options.config));
        let lobby = self.connection.lobby(config);
        let lobby = lobby.map_err(|error| ConnectError::Text { why: error.to_string() })?;
        let spectators = self.options.spectators.clone();
        match Audience::reopen(spectators, &mut self.connection, returns.spectators()) {
            Ok(audience) => self.audience = audience,
            Err(error) => self.notices.push_back(format!("Spectators cannot come back: {error}")),
        }
        (self.stage, self.rejoin) = (Stage::Meeting(lobby), Rejoin::with(returns));
        Ok(())
    }

    /// Keeps the file by which this machine comes back.
    pub(super) fn keep_ticket(&mut self, session: &Session<S>) {
        let (path, spectators) = (self.keeping.path(), self.audience.keys(&self.connection));
        let notice = self.rejoin.keep(&self.options, &self.connection, session, (path, spectators));
        self.notices.extend(notice);
    }

    /// Keeps the ticket up to date, and goes on with the other machine if that has come back.
    #[cold]
    pub(super) fn look_after_rejoin<G: Game<Snapshot = S>>(&mut self, game: &mut G) {
        let Stage::Playing(session) = &mut self.stage else { return };
        if Rejoin::looks(session) {
            let spectators = self.audience.keys(&self.connection);
            self.rejoin.look(&self.options, &self.connection, session, spectators);
        }
        let Some(replay) = self.keeping.replay().filter(|_| self.rejoin.awaits()) else { return };
        let (options, connection) = (&self.options, &mut self.connection);
        if self.rejoin.receive(self.now, options, connection, session, game, replay) {
            self.rejoin.set_awaits(false, connection);
            let kept = (self.keeping.path(), self.audience.keys(connection));
            self.notices.extend(self.rejoin.keep(options, connection, session, kept));
        }
    }
}

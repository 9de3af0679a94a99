//! The spectators of the matches at this machine.

use super::now::Finish;
use super::options::Match;
use crate::net::{Datagrams, dated};
use crate::protocol::{ByRole, PeerRole};
use crate::replay::{End, Header, MatchEvent, Outcome, Winner};
use crate::{
    Agreed, Broadcast, BroadcastConfig, BroadcastStats, ConnectError, Connection, Event, Fields, Player,
    Protocol, Session,
};
use core::time::Duration;
use std::io;

/// The broadcast of the matches, if the options ask for one.
#[derive(Debug, Default)]
pub(super) struct Audience {
    broadcast: Option<Box<Broadcast>>,
}

impl Audience {
    /// Lets spectators in at this connection.
    pub(super) fn open<D: Datagrams>(
        config: Option<BroadcastConfig>,
        connection: &mut Connection<D>,
    ) -> Result<Self, ConnectError> {
        let Some(config) = config.filter(|_| connection.is_host()) else { return Ok(Self::default()) };
        // A shorter delay than the owner wanted would show what it was to hide.
        if config.delay > BroadcastConfig::MAX_DELAY {
            return Err(ConnectError::Options { why: "spectators see a match ten minutes late at most" });
        }
        let spectators = config.max_spectators.clamp(1, u8::MAX.into()) as u8;
        let broadcast = Broadcast::with_drawn_key(config).ok_or(ConnectError::Randomness)?;
        let key = broadcast.key().ok_or(ConnectError::Randomness)?;
        connection.admit_spectators(spectators, key)?;
        Ok(Self { broadcast: Some(Box::new(broadcast)) })
    }

    /// Runs a protocol, and the broadcast behind it, until a deadline, or polls them.
    #[inline]
    pub(super) fn run<P: Protocol, D: Datagrams>(
        &mut self,
        connection: &mut Connection<D>,
        protocol: &mut P,
        deadline: Option<Duration>,
    ) -> io::Result<Duration> {
        match &mut self.broadcast {
            None => run(connection, protocol, deadline),
            Some(broadcast) => {
                let side = &mut **broadcast;
                let mut both = ByRole { others: protocol, role: PeerRole::Spectator, side };
                run(connection, &mut both, deadline)
            }
        }
    }

    /// Runs a protocol until it has delivered everything, and tells spectators that the broadcast is over.
    pub(super) fn close<P: Protocol, D: Datagrams>(
        &mut self,
        connection: &mut Connection<D>,
        protocol: &mut P,
        linger: Duration,
    ) -> io::Result<bool> {
        match &mut self.broadcast {
            None => connection.close(protocol, linger),
            Some(broadcast) => {
                broadcast.close();
                let side = &mut **broadcast;
                let mut both = ByRole { others: protocol, role: PeerRole::Spectator, side };
                connection.close(&mut both, linger)
            }
        }
    }

    /// Begins a match; returns a notice if that fails.
    pub(super) fn begin(&mut self, now: Duration, options: &Match, agreed: &Agreed) -> Option<String> {
        let broadcast = self.broadcast.as_mut()?;
        let names = options.names(agreed);
        let recorded_at_secs = dated::secs();
        let header = Header { names, recorded_at_secs, ..Header::of_match(&options.config, agreed) };
        let is_shown = broadcast.begin(now, &header);
        (!is_shown)
            .then(|| "Spectators do not see this match: too many earlier ones wait for them.".to_owned())
    }

    #[inline]
    pub(super) fn advanced<S: Fields>(&mut self, now: Duration, session: &Session<S>) {
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.record(now, session);
        }
    }

    pub(super) fn hear(&mut self, now: Duration, local: Player, event: &Event) {
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.hear(now, local, event);
        }
    }

    pub(super) fn message(&mut self, now: Duration, player: Player, message: &[u8]) {
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.message(now, player, message);
        }
    }

    pub(super) fn delay(&mut self, now: Duration, player: Player, delay_frames: u8) {
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.event(now, MatchEvent::Delay { player, delay_frames });
        }
    }

    pub(super) fn finish(&mut self, now: Duration, finish: &Finish, winner: Winner) {
        let outcome = match finish {
            Finish::Played(verdict) => Outcome::from(*verdict),
            Finish::Ended(reason) => Outcome::Disconnected(*reason),
            Finish::Refused(_) | Finish::Unreached(_) | Finish::NotResumed(_) => return,
        };
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.finish(now, End { outcome, winner });
        }
    }

    pub(super) fn stats(&self) -> Option<BroadcastStats> {
        self.broadcast.as_ref().map(|broadcast| broadcast.stats())
    }

    /// Whether there are spectators who do not have everything.
    pub(super) fn lacks(&self) -> bool {
        self.broadcast
            .as_ref()
            .is_some_and(|broadcast| broadcast.stats().spectators > 0 && !broadcast.is_received())
    }

    /// Whether every spectator has everything.
    pub(super) fn is_received(&self) -> bool {
        self.broadcast.as_ref().is_none_or(|broadcast| broadcast.is_received())
    }
}

/// Runs a protocol until a deadline, or polls it.
#[inline]
fn run<P: Protocol, D: Datagrams>(
    connection: &mut Connection<D>,
    protocol: &mut P,
    deadline: Option<Duration>,
) -> io::Result<Duration> {
    match deadline {
        Some(deadline) => connection.run_until(protocol, deadline),
        None => connection.poll(protocol),
    }
}

//! The spectators of the matches at this machine.

use super::now::Finish;
use super::options::Match;
use crate::net::ticket::SpectatorKeys;
use crate::net::{Datagrams, dated};
use crate::protocol::{ByRole, PeerRole};
use crate::replay::{End, Header, MatchEvent, Outcome, Winner};
use crate::{
    Agreed, Broadcast, BroadcastConfig, BroadcastStats, ConnectError, Connection, Event, Fields, Frame,
    Inputs, Player, Protocol, Session,
};
use core::time::Duration;
use std::io;

/// The broadcast of the matches, if the options ask for one.
#[derive(Default)]
pub(super) struct Audience {
    broadcast: Option<Box<Broadcast>>,
    /// For the file by which this machine comes back.
    secret: [u8; 32],
    access: [u8; 32],
    room: Option<[u8; 32]>,
    config: BroadcastConfig,
}

impl core::fmt::Debug for Audience {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Audience").field("broadcast", &self.broadcast).finish_non_exhaustive()
    }
}

impl Audience {
    /// Lets spectators in at this connection.
    pub(super) fn open<D: Datagrams>(
        config: Option<BroadcastConfig>,
        connection: &mut Connection<D>,
    ) -> Result<Self, ConnectError> {
        let Some(config) = config.filter(|_| connection.is_host()) else { return Ok(Self::default()) };
        let spectators = places(&config)?;
        let secret = Broadcast::draw_secret().ok_or(ConnectError::Randomness)?;
        let broadcast = Broadcast::new(config.clone(), &secret);
        let key = broadcast.key().ok_or(ConnectError::Randomness)?;
        connection.admit_spectators(spectators, key)?;
        let (access, room) = connection.spectator_secrets().ok_or(ConnectError::Randomness)?;
        Ok(Self { broadcast: Some(Box::new(broadcast)), secret, access, room, config })
    }

    /// Lets the spectators of an earlier program of this machine in again, within the limits of the match. The config of this program
    /// says whether it has spectators at all, and can only make the delay longer.
    pub(super) fn reopen<D: Datagrams>(
        config: Option<BroadcastConfig>,
        connection: &mut Connection<D>,
        keys: Option<SpectatorKeys>,
    ) -> Result<Self, ConnectError> {
        let Some((config, keys)) = config.zip(keys) else { return Ok(Self::default()) };
        let config = BroadcastConfig {
            max_spectators: keys.max_spectators,
            delay: config.delay.max(Duration::from_millis(keys.delay_millis.into())),
            bits_per_second: keys.bits_per_second,
            chat: keys.chat,
            max_log_bytes: keys.max_log_bytes,
        };
        connection.readmit_spectators(places(&config)?, &keys)?;
        let SpectatorKeys { broadcast: secret, access, room, matches, .. } = keys;
        let broadcast = Broadcast::resumed(config.clone(), &secret, matches);
        Ok(Self { broadcast: Some(Box::new(broadcast)), secret, access, room, config })
    }

    /// The keys with which the next program of this machine serves its spectators. `None` if their invite was revoked.
    pub(super) fn keys<D: Datagrams>(&self, connection: &Connection<D>) -> Option<SpectatorKeys> {
        let (broadcast, invite) = self.broadcast.as_ref().zip(connection.share_to_watch())?;
        let &Self { access, room, ref config, .. } = self;
        Some(SpectatorKeys {
            invite,
            access,
            broadcast: self.secret,
            matches: broadcast.matches(),
            room,
            delay_millis: config.delay.as_millis() as u32,
            max_spectators: config.max_spectators,
            bits_per_second: config.bits_per_second,
            chat: config.chat,
            max_log_bytes: config.max_log_bytes,
        })
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

    /// Records a frame of the log that this machine steps to come back.
    pub(super) fn log(&mut self, now: Duration, frame: Frame, inputs: Inputs) {
        if let Some(broadcast) = &mut self.broadcast {
            broadcast.log(now, frame, inputs);
        }
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

/// The spectators that are let in at once.
fn places(config: &BroadcastConfig) -> Result<u8, ConnectError> {
    // A shorter delay than the owner wanted would show what it was to hide.
    if config.delay > BroadcastConfig::MAX_DELAY {
        return Err(ConnectError::Options { why: "spectators see a match ten minutes late at most" });
    }
    Ok(config.max_spectators.clamp(1, u8::MAX.into()) as u8)
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

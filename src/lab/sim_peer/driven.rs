//! A machine as the simulation drives it: datagrams, time and frames.

use super::{SimPeer, Stage};
#[cfg(feature = "nat")]
use crate::connect::nat::NatTraversal;
#[cfg(feature = "seal")]
use crate::connect::seal::Seal;
use crate::lab::oracle::digest;
use crate::lab::sim::Machine;
use crate::{Game, Protocol, Session};
use std::net::SocketAddr;
use std::time::Duration;

impl<G: Game> SimPeer<G> {
    /// Hands a datagram to the lobby or the session, even while the machine is asleep.
    pub(in crate::lab) fn take_in(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.outside(|protocol| protocol.handle_datagram(now, from, datagram));
        self.take_last_event(now);
    }

    /// Whether there is neither a lobby, a match nor a spectator, so that nothing polls the layers around it.
    fn is_gone(&self) -> bool {
        #[cfg(feature = "seal")]
        if self.spectator.is_some() {
            return false;
        }
        #[cfg(feature = "nat")]
        if self.server.is_some() {
            return false;
        }
        matches!(self.stage, Stage::Lobby(None))
    }

    /// The last event may come in a datagram or with time alone, with no frame after it.
    fn take_last_event(&mut self, now: Duration) {
        if self.session().is_some_and(Session::ended) {
            self.take_events(now);
        }
    }

    fn take_events(&mut self, now: Duration) {
        let Stage::Match(session, _) = &mut self.stage else { return };
        while let Some(event) = session.poll_event() {
            #[cfg(feature = "seal")]
            {
                if let (Some(rejoin), Some(seal)) = (&mut self.rejoin, &mut self.seal) {
                    rejoin.heard(seal, &event);
                }
                if let Some(audience) = &mut self.audience {
                    audience.heard(now, session, &event);
                }
            }
            self.events.push((now, event));
        }
    }
}

impl<G: Game> Protocol for SimPeer<G> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if self.asleep {
            return;
        }
        if let Some(overheard) = &mut self.overheard {
            overheard.delivered(datagram);
        }
        self.take_in(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if self.asleep {
            return None;
        }
        let sent = self.outside(|protocol| protocol.poll_transmit(now, buf))?;
        self.take_last_event(now);
        let (to, len) = sent?;
        let bare = self.is_bare();
        if let Some(overheard) = self.overheard.as_mut().filter(|_| bare) {
            overheard.sent(&buf[..len]);
        }
        Some((to, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        if self.asleep {
            return None;
        }
        if self.is_gone() {
            return None;
        }
        let inside = match &self.stage {
            Stage::Lobby(lobby) => lobby.as_ref().and_then(Protocol::poll_timeout),
            Stage::Match(session, _) => session.poll_timeout(),
        };
        #[cfg(feature = "seal")]
        let inside = inside.filter(|_| !self.rejoin.as_ref().is_some_and(|rejoin| rejoin.hands_over()));
        #[cfg(feature = "seal")]
        let inside = {
            let seal = self.seal.as_ref().and_then(Seal::poll_timeout);
            let lobby = self.rejoin.as_ref().and_then(|rejoin| rejoin.poll_timeout());
            let audience = self.audience.as_ref().and_then(|audience| audience.poll_timeout());
            let spectator = self.spectator.as_ref().and_then(|spectator| spectator.poll_timeout());
            inside.into_iter().chain(seal).chain(lobby).chain(audience).chain(spectator).min()
        };
        #[cfg(feature = "nat")]
        let inside = {
            let nat = self.nat.as_ref().and_then(NatTraversal::poll_timeout);
            let server = self.server.as_ref().and_then(|server| server.poll_timeout());
            inside.into_iter().chain(nat).chain(server).min()
        };
        inside
    }

    fn wants_attention(&self, now: Duration) -> bool {
        if self.asleep {
            return false;
        }
        match &self.stage {
            Stage::Lobby(lobby) => {
                let wants = lobby.as_ref().is_some_and(|lobby| lobby.wants_attention(now));
                wants && self.error.is_none() && now >= self.begin_at
            }
            Stage::Match(session, _) => {
                session.wants_attention(now) && now >= self.last_frame_at + self.min_frame_length
            }
        }
    }

    fn lingers(&self) -> bool {
        self.session().is_some_and(Protocol::lingers)
    }
}

impl<G: Game> Machine for SimPeer<G> {
    fn next_frame_at(&self) -> Option<Duration> {
        if self.asleep {
            return None;
        }
        let session = match &self.stage {
            Stage::Match(session, _) => session,
            // A frame begins the match late; without `begin_at` the lobby asks for attention when it is done.
            Stage::Lobby(Some(lobby)) => {
                let agreed = self.begin_at > Duration::ZERO && matches!(lobby.agreed(), Ok(Some(_)));
                return agreed.then_some(self.begin_at);
            }
            Stage::Lobby(None) => return None,
        };
        // No frame is due in a match that is over; it still receives datagrams.
        (!session.ended()).then(|| session.next_frame_at().max(self.last_frame_at + self.min_frame_length))
    }

    fn frame(&mut self, now: Duration) {
        if matches!(self.stage, Stage::Lobby(_)) {
            self.begin(now);
            return;
        }
        let (play, confirmed) = (&self.play, &mut self.confirmed);
        let Stage::Match(session, game) = &mut self.stage else { return };
        self.last_frame_at = now;
        if self.leave_at.is_some_and(|at| now >= at) {
            session.leave();
        }
        let buttons = match &mut self.input_source {
            Some(source) => source(now, session, game),
            None => (play.script)(session.local(), session.current().0, session.agreed().seed),
        };
        if let Some(before) = self.before {
            before(game, session.current(), buttons);
        }
        let advanced = session.advance(now + self.frames_ahead_by, game, buttons);
        session.look_ahead(game, |_| {});
        for (frame, inputs) in session.confirmed() {
            let after = frame.next();
            let digest = match session.snapshot(after) {
                Some(snapshot) if after < session.current() => Some(digest(snapshot)),
                // A sparse policy has saved few states. The others are compared by those that come of them.
                None if after < session.current() && !session.saves_every() => None,
                _ => Some(digest(&game.snapshot())),
            };
            confirmed.push_back((frame, inputs, digest));
        }
        if let Some(watch) = &mut self.watch {
            watch(now, advanced, session, game);
        }
        #[cfg(feature = "seal")]
        {
            if let Some(audience) = &mut self.audience {
                audience.advanced(now, session);
            }
            if let (Some(rejoin), Some(seal)) = (&mut self.rejoin, &mut self.seal) {
                rejoin.advanced(now, seal, session, game);
            }
        }
        self.take_events(now);
    }
}

//! The turns of an online match: what is run, what is heard, and what there is to do next.

use super::now::{self, Finish, Now};
use super::options::name_of;
use super::rejoin::Beside;
use super::{LINGER, Online, REMATCH_TIMEOUT, Stage};
use crate::connect::connection::Rest;
use crate::net::Datagrams;
use crate::{Agreed, ConnectError, Event, Fields, LobbyError, Protocol, Reason};
use core::time::Duration;
use std::io;

/// The longest wait while there is something to draw besides a match.
const TURN: Duration = Duration::from_millis(16);
/// The advice of a joiner whose host does not agree to another match in time: its invite has done its part.
const NO_REMATCH: &str = "The other player has left, or does not want another match.";

impl<S: Fields, D: Datagrams> Online<S, D> {
    /// Leaves the match, or the lobby. [`Now::Finished`] follows when the other side knows.
    pub fn leave(&mut self) {
        match &mut self.stage {
            Stage::Meeting(_) => self.finish(Finish::Ended(Reason::LeftHere)),
            Stage::Playing(session) => session.leave(),
            Stage::Returning(_) => self.finish(Finish::Ended(Reason::LeftHere)),
            Stage::Closing(..) | Stage::Over(..) => {}
        }
    }

    /// Asks for another match with the same player, after [`Now::Finished`]. Both have to ask. `false` if no match has
    /// been played on this connection.
    pub fn rematch(&mut self) -> bool {
        let is_over = matches!(self.stage, Stage::Over(..)) && self.matches > 0;
        if is_over {
            self.meet_again();
        }
        is_over
    }

    /// Leaves, and waits until the last messages are through, at most two seconds, and as long again for spectators who lack the
    /// end of the match.
    ///
    /// # Errors
    /// A broken transport.
    pub fn close(mut self) -> io::Result<()> {
        self.leave();
        while !matches!(self.stage, Stage::Over(..)) {
            self.wait()?;
        }
        let until = self.now + LINGER;
        while self.audience.lacks() && self.now < until {
            self.wait()?;
        }
        self.audience.close(&mut self.connection, &mut Rest, LINGER).map(|_| ())
    }

    /// Everything but a frame of a match is rare and in functions of its own, so that this one can be inlined.
    #[inline]
    pub(super) fn turn(&mut self, blocks: bool) -> io::Result<Now> {
        loop {
            let next = match &mut self.stage {
                Stage::Playing(session) if self.notices.is_empty() && !self.rejoin.awaits() => {
                    if let Some(event) = session.poll_event() {
                        self.heard(event)
                    } else {
                        let deadline = blocks.then(|| session.next_frame_at());
                        self.now = self.audience.run(&mut self.connection, session, deadline)?;
                        if let Some(event) = session.poll_event() {
                            self.heard(event)
                        } else if session.frame_due(self.now) {
                            return Ok(Now::Frame);
                        } else if !blocks {
                            return Ok(Now::Idle);
                        } else {
                            None
                        }
                    }
                }
                _ => self.turn_between(blocks)?,
            };
            if let Some(next) = next {
                return Ok(next);
            }
        }
    }

    /// A turn before or after a match, or a notice.
    #[cold]
    fn turn_between(&mut self, blocks: bool) -> io::Result<Option<Now>> {
        if let Some(notice) = self.notices.pop_front() {
            return Ok(Some(Now::Notice(notice)));
        }
        match &mut self.stage {
            Stage::Meeting(_) => self.meet(blocks),
            Stage::Returning(returning) => {
                self.now = self.audience.run(&mut self.connection, returning.lobby_mut(), None)?;
                Ok(Some(returning.next()))
            }
            Stage::Playing(_) => self.play_awaiting(blocks),
            Stage::Closing(session, finish, until) => {
                let until = *until;
                let deadline = blocks.then(|| self.now + TURN);
                self.now = self.audience.run(&mut self.connection, session, deadline)?;
                if session.lingers() && self.now < until {
                    return Ok(Some(Now::Idle));
                }
                let finish = finish.clone();
                Ok(self.finished(finish))
            }
            Stage::Over(finish, _) => {
                let finish = finish.clone();
                let deadline = blocks.then(|| self.connection.now() + TURN);
                self.now = self.audience.run(&mut self.connection, &mut Rest, deadline)?;
                Ok(Some(Now::Finished(finish)))
            }
        }
    }

    /// A turn of a match in which the other machine may come back.
    fn play_awaiting(&mut self, blocks: bool) -> io::Result<Option<Now>> {
        let Stage::Playing(session) = &mut self.stage else { return Ok(None) };
        if let Some(event) = session.poll_event() {
            return Ok(self.heard(event));
        }
        let deadline = blocks.then(|| session.next_frame_at());
        self.now = match self.rejoin.lobby_mut() {
            Some(lobby) => {
                self.audience.run(&mut self.connection, &mut Beside { session, lobby }, deadline)?
            }
            None => self.audience.run(&mut self.connection, session, deadline)?,
        };
        Ok(if let Some(event) = session.poll_event() {
            self.heard(event)
        } else if session.frame_due(self.now) {
            Some(Now::Frame)
        } else {
            (!blocks).then_some(Now::Idle)
        })
    }

    /// A turn before the match.
    fn meet(&mut self, blocks: bool) -> io::Result<Option<Now>> {
        let Stage::Meeting(lobby) = &mut self.stage else { return Ok(None) };
        let deadline = blocks.then(|| self.connection.now() + TURN);
        self.now = self.audience.run(&mut self.connection, lobby, deadline)?;
        let begin = |Agreed { seed, seat, first_state, .. }: &Agreed| Now::Begin {
            seed: *seed,
            seat: *seat,
            first_state: first_state.clone(),
        };
        match self.rejoin.take_log(&self.options, lobby) {
            Ok(notice) => self.notices.extend(notice),
            Err(error) => return Ok(self.finished(Finish::NotResumed(error))),
        }
        let agreed = lobby.agreed().map(|agreed| agreed.map(begin));
        let failure = self.connection.failure();
        let peer = &self.connection;
        match (agreed, failure) {
            (Ok(Some(begin)), _) => return Ok(Some(begin)),
            (_, Some(failure)) => return Ok(self.finished(Finish::Unreached(failure))),
            (Err(LobbyError::TimedOut { after, .. }), _) => {
                let mut error = self.connection.no_answer(after);
                if let ConnectError::NoAnswer { advice, .. } = &mut error
                    && self.matches > 0
                {
                    *advice = NO_REMATCH;
                }
                return Ok(self.finished(Finish::Unreached(error)));
            }
            (Err(error), _) => return Ok(self.finished(Finish::Refused(error))),
            (Ok(None), None) => {}
        }
        if let Some(mismatch) = lobby.take_mismatch() {
            let addr = peer.peer(mismatch.addr).addr;
            self.notices.push_back(now::sent_away(&mismatch, addr));
        }
        self.notices.extend(lobby.take_stalled().map(now::dropped));
        self.notices.extend(self.connection.take_stranger());
        let guest = lobby.incoming().filter(|_| self.options.config.lobby.ask_before_accepting);
        let hint = self.connection.hint().filter(|_| self.connection.is_host());
        if hint.is_some() && hint != self.hinted {
            self.hinted = hint;
            self.notices.extend(hint.map(|hint| hint.to_string()));
        }
        Ok(Some(match guest {
            Some(guest) => {
                let (name, peer) = (name_of(&guest.user_data), self.connection.peer(guest.addr));
                Now::Guest { name, peer }
            }
            None => Now::Connecting(self.progress()),
        }))
    }

    /// Handles an event of the session.
    #[cold]
    fn heard(&mut self, event: Event) -> Option<Now> {
        let Stage::Playing(session) = &mut self.stage else { return None };
        self.keeping.hear(session.local(), &event);
        self.audience.hear(self.now, session.local(), &event);
        if let Event::Autopsy(autopsy) = &event {
            self.notices.extend(self.keeping.report(&self.options, autopsy));
        }
        match event {
            Event::Interrupted { .. } => self.rejoin.set_awaits(true, &mut self.connection),
            Event::Resumed => self.rejoin.set_awaits(false, &mut self.connection),
            _ => {}
        }
        let finish = match event {
            Event::Ended(verdict) => Finish::Played(verdict),
            Event::Disconnected { reason } => Finish::Ended(reason),
            event => return Some(Now::Event(event)),
        };
        self.close_with(finish);
        None
    }

    /// Lets the last messages of the session through.
    fn close_with(&mut self, finish: Finish) {
        let over = Stage::Over(finish.clone(), None);
        if let Stage::Playing(session) = core::mem::replace(&mut self.stage, over) {
            self.stage = Stage::Closing(session, finish, self.now + LINGER);
        }
    }

    pub(super) fn finish(&mut self, finish: Finish) {
        self.audience.finish(self.now, &finish, self.keeping.winner());
        let over = Stage::Over(finish.clone(), None);
        if let Stage::Closing(session, ..) = core::mem::replace(&mut self.stage, over) {
            self.stage = Stage::Over(finish, Some(session));
        }
        self.rejoin.set_awaits(false, &mut self.connection);
        self.rejoin.forget();
        self.notices.extend(self.keeping.finish());
    }

    /// Ends. The next turn says so.
    fn finished(&mut self, finish: Finish) -> Option<Now> {
        self.finish(finish);
        None
    }

    /// A new lobby on the same connection.
    pub(super) fn meet_again(&mut self) {
        let mut config = self.options.config.clone();
        // A simulation draws other numbers for each match.
        config.lobby.entropy = config.lobby.entropy.map(|entropy| entropy.wrapping_add(self.matches));
        config.timeouts.join_timeout = REMATCH_TIMEOUT;
        // The host may be another machine than before, if one came back: seats and the first state stay.
        if let Some(Agreed { seat, first_state, .. }) = self.agreed() {
            let limit = first_state.len() as u32;
            config.lobby.first_state_limit = config.lobby.first_state_limit.max(limit);
            (config.lobby.seat, config.lobby.first_state) = (*seat, first_state.clone());
        }
        self.stage = match self.connection.lobby(config) {
            Ok(lobby) => Stage::Meeting(lobby),
            Err(error) => Stage::Over(Finish::Refused(error), None),
        };
    }
}

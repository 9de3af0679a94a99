//! The commands that a match takes: messages, pauses, leaving, closing.

use super::codes::{NowCode, Status};
use super::fault::Fault;
use super::part::{Part, no_match, not_begun, online};
use super::state::State;
use rebout::net::Datagrams;
use rebout::replay::Winner;
use rebout::{ConnectError, Game, SendError};
use std::net::SocketAddr;

impl<G: Game<Snapshot = State>, C: Datagrams> Part<G, C> {
    /// Decides about the guest that waits.
    ///
    /// # Errors
    /// Without an online match.
    pub fn answer(&mut self, accepts: bool) -> Result<(), Fault> {
        online!(self, online => online.answer(accepts), _ => return Err(no_match()));
        Ok(())
    }

    /// Takes the answer to an offer.
    ///
    /// # Errors
    /// If the text is no answer to it.
    pub fn take_answer(&mut self, text: &str) -> Result<(), Fault> {
        let failed = |error: ConnectError| Fault::failed(error);
        online!(self, online => online.take_answer(text).map_err(failed), _ => Err(no_match()))
    }

    /// Says that both players see the same code.
    ///
    /// # Errors
    /// If there is no code yet.
    pub fn verify(&mut self) -> Result<(), Fault> {
        let is_done = online!(self, online => online.verify(), _ => return Err(no_match()));
        if is_done { Ok(()) } else { Err(Fault::phase("there is no code to compare yet")) }
    }

    /// Makes one more invite, for a single guest.
    ///
    /// # Errors
    /// Without a host by invite, and if it has too many.
    pub fn invite_one(&mut self) -> Result<String, Fault> {
        let failed = |error: ConnectError| Fault::failed(error);
        online!(self, online => online.connection_mut().invite_one().map_err(failed), _ => Err(no_match()))
    }

    /// Revokes an invite of this host.
    ///
    /// # Errors
    /// If it is none.
    pub fn revoke(&mut self, invite: &str) -> Result<(), Fault> {
        let is_done =
            online!(self, online => online.connection_mut().revoke(invite), _ => return Err(no_match()));
        if is_done { Ok(()) } else { Err(Fault::invalid("text is no invite of this host that is valid")) }
    }

    /// Replaces the socket by one at this address.
    ///
    /// # Errors
    /// Without a match on UDP, and if the system cannot bind it.
    pub fn rebind(&mut self, addr: SocketAddr) -> Result<(), Fault> {
        match self {
            Self::Udp(online) => online.connection_mut().rebind(addr).map_err(Fault::failed),
            _ => Err(Fault::phase("only a match on UDP has a socket to replace")),
        }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// If it is too long, too many are under way, or no match runs.
    pub fn send(&mut self, message: &[u8]) -> Result<(), Fault> {
        let sent = online!(self, online => online.send(message), _ => return Err(no_match()));
        sent.map_err(|error| match error {
            SendError::TooLong { .. } => Fault::invalid(error),
            SendError::QueueFull => Fault::new(Status::Full, error),
            _ => Fault::phase("no match runs"),
        })
    }

    /// Asks to pause.
    ///
    /// # Errors
    /// If that cannot be asked for now.
    pub fn pause(&mut self) -> Result<(), Fault> {
        match self {
            Self::Local(local) => {
                local.play.as_mut().ok_or_else(not_begun)?.pause();
                return Ok(());
            }
            Self::Watched(watched) => {
                watched.viewer()?.pause();
                return Ok(());
            }
            _ => {}
        }
        let is_asked = online!(self, online => online.pause(), _ => return Err(no_match()));
        if is_asked {
            return Ok(());
        }
        Err(Fault::phase("no pause can be asked for now: one is under way, or this player had all of them"))
    }

    /// Ends a pause.
    ///
    /// # Errors
    /// If this player may not, or the match is not paused.
    pub fn resume(&mut self) -> Result<(), Fault> {
        match self {
            Self::Local(local) => {
                let now = local.clock.now();
                local.play.as_mut().ok_or_else(not_begun)?.resume(now);
                return Ok(());
            }
            Self::Watched(watched) => {
                watched.viewer()?.resume();
                return Ok(());
            }
            _ => {}
        }
        let is_done = online!(self, online => online.resume(), _ => return Err(no_match()));
        if is_done { Ok(()) } else { Err(Fault::phase("there is no pause that this player may end now")) }
    }

    /// Changes the input delay.
    ///
    /// # Errors
    /// If it is too long, or no match runs.
    pub fn set_delay(&mut self, delay_frames: u8) -> Result<(), Fault> {
        online!(self, online => {
            if online.session().is_none() {
                return Err(not_begun());
            }
            online.set_delay(delay_frames).map_err(Fault::invalid)
        }, _ => Err(no_match()))
    }

    /// Says who has won, for the recording.
    ///
    /// # Errors
    /// Without a match.
    pub fn set_winner(&mut self, winner: Winner) -> Result<(), Fault> {
        match self {
            Self::Local(local) => local.set_winner(winner),
            _ => online!(self, online => online.set_winner(winner), _ => return Err(no_match())),
        }
        Ok(())
    }

    /// Leaves the match or the lobby.
    ///
    /// # Errors
    /// Without a match.
    pub fn leave(&mut self) -> Result<(), Fault> {
        match self {
            Self::Local(local) => local.leave(),
            Self::Watched(watched) => watched.leave(),
            _ => online!(self, online => online.leave(), _ => return Err(no_match())),
        }
        Ok(())
    }

    /// Asks for another match.
    ///
    /// # Errors
    /// If none has been played, or it is not over.
    pub fn rematch(&mut self) -> Result<(), Fault> {
        match self {
            Self::Local(local) => return local.rematch(),
            Self::Watched(watched) => return watched.next(),
            _ => {}
        }
        let is_asked = online!(self, online => online.rematch(), _ => return Err(no_match()));
        if is_asked {
            Ok(())
        } else {
            Err(Fault::phase("a rematch follows a match that is over: wait for REBOUT_NOW_FINISHED"))
        }
    }

    /// Leaves, waits until the last messages are through, and makes the handle empty.
    ///
    /// # Errors
    /// A broken transport. The handle is empty anyway.
    pub fn close(&mut self) -> Result<(), Fault> {
        let closed = match std::mem::replace(self, Self::Empty) {
            Self::Udp(online) => online.close(),
            // Nobody waits on a clock of the caller's.
            Self::On(_, Some(_)) => Ok(()),
            Self::On(online, None) => online.close(),
            Self::Watched(watched) => watched.close(),
            Self::Local(mut local) => {
                local.leave();
                while local.turn(false).now != NowCode::Finished {}
                Ok(())
            }
            Self::Empty | Self::Recording(_) | Self::Playback(_) => Ok(()),
        };
        closed.map_err(|error| Fault::new(Status::Transport, error))
    }
}

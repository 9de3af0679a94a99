//! The facts about a match or a recording.

use super::fault::Fault;
use super::mailbox::Mailbox;
use super::part::{Part, no_match, not_begun, online};
use super::state::State;
use super::watched::Watched;
use rebout::net::Datagrams;
use rebout::replay::{Playback, Recording};
use rebout::{Agreed, BroadcastStats, Fields, Frame, Game, Offline, PeerInfo, PlayerKey, Session, Stats};
use std::path::Path;
use std::time::Duration;

fn no_mailbox() -> Fault {
    Fault::phase("only a match on a transport without callbacks takes its datagrams by hand")
}

impl<G: Game<Snapshot = State>, C: Datagrams> Part<G, C> {
    /// The queues of a transport without a socket.
    ///
    /// # Errors
    /// If the match has none.
    pub fn mailbox(&self) -> Result<&Mailbox, Fault> {
        match self {
            Self::On(_, Some(mailbox)) => Ok(mailbox),
            Self::Watched(watched) => watched.mailbox().ok_or_else(no_mailbox),
            _ => Err(no_mailbox()),
        }
    }

    /// Says what time it is, where the caller has the clock.
    ///
    /// # Errors
    /// If the match has a clock of its own.
    pub fn set_time(&mut self, now: Duration) -> Result<(), Fault> {
        match self {
            Self::Local(local) => local.clock.set(now),
            _ => self.mailbox()?.set_time(now),
        }
        Ok(())
    }

    /// The text for the other player.
    ///
    /// # Errors
    /// Without an online match.
    pub fn share(&self) -> Result<&str, Fault> {
        online!(self, online => Ok(online.share()), _ => Err(no_match()))
    }

    /// How far the match is on the way.
    ///
    /// # Errors
    /// Without an online match.
    pub fn progress(&self) -> Result<String, Fault> {
        match self {
            Self::Watched(watched) => Ok(watched.progress()),
            _ => online!(self, online => Ok(online.progress()), _ => Err(no_match())),
        }
    }

    /// The text for spectators, of a player or of a spectator that serves others.
    ///
    /// # Errors
    /// If nobody is let in to watch.
    pub fn share_to_watch(&self) -> Result<String, Fault> {
        match self {
            Self::Watched(watched) => watched.share(),
            _ => online!(self, online => online.share_to_watch(), _ => return Err(no_match())),
        }
        .ok_or_else(|| {
            Fault::phase("nobody is let in to watch: set options.max_spectators of a host by invite")
        })
    }

    /// The counters of those who watch, and whether they have received everything.
    ///
    /// # Errors
    /// If nobody is let in to watch.
    pub fn audience(&self) -> Result<(BroadcastStats, bool), Fault> {
        match self {
            Self::Watched(watched) => watched.served().map(|stats| (stats, false)),
            _ => online!(self, online => {
                online.spectators().map(|stats| (stats, online.spectators_have_all()))
            }, _ => return Err(no_match())),
        }
        .ok_or_else(|| Fault::phase("nobody is let in to watch"))
    }

    /// The match of others that is watched.
    ///
    /// # Errors
    /// If none is.
    pub fn watched(&mut self) -> Result<&mut Watched<G, C>, Fault> {
        match self {
            Self::Watched(watched) => Ok(watched),
            _ => Err(Fault::phase("no match of others is watched: call rebout_watch first")),
        }
    }

    /// Sets what is watched to a frame.
    ///
    /// # Errors
    /// If nothing is.
    pub fn seek(&mut self, frame: Frame) -> Result<(), Fault> {
        match self {
            Self::Watched(watched) => watched.seek(frame),
            _ => {
                self.playback()?.seek(frame);
                Ok(())
            }
        }
    }

    /// The facts about the other machine.
    ///
    /// # Errors
    /// Without an online match.
    pub fn peer(&self) -> Result<PeerInfo, Fault> {
        online!(self, online => Ok(online.peer()), _ => Err(no_match()))
    }

    /// The public key of the player here, or of the other one.
    ///
    /// # Errors
    /// Without an online match, and if that player has proven none.
    pub fn player_key(&self, of_peer: bool) -> Result<PlayerKey, Fault> {
        let key = online!(self, online => {
            if of_peer { online.peer().player } else { online.connection().player_key() }
        }, _ => return Err(no_match()));
        key.ok_or_else(|| Fault::phase("this player has no key, or has not proven it yet"))
    }

    /// The terms of the match.
    ///
    /// # Errors
    /// If the two machines have not agreed.
    pub fn agreed(&self) -> Result<&Agreed, Fault> {
        let agreed = online!(self, online => online.agreed(), _ => return Err(no_match()));
        agreed.ok_or_else(|| Fault::phase("the two machines have not agreed yet: wait for REBOUT_NOW_BEGIN"))
    }

    /// The names of the players by seat.
    ///
    /// # Errors
    /// If the two machines have not agreed.
    pub fn names(&self) -> Result<[String; 2], Fault> {
        if let Self::Watched(_) = self {
            let names = &self.recorded()?.header().names;
            return Ok([&names[0], &names[1]].map(|name| rebout::shown(name).to_string()));
        }
        self.agreed()?;
        Ok(online!(self, online => online.names(), _ => None).unwrap_or_default())
    }

    /// The statistics of the match.
    ///
    /// # Errors
    /// If it has not begun.
    pub fn stats(&self) -> Result<Stats, Fault> {
        online!(self, online => online.stats(), _ => return Err(no_match())).ok_or_else(not_begun)
    }

    /// The frame that the game is in, and the frame up to which it is certain.
    ///
    /// # Errors
    /// If no match has begun.
    pub fn frames(&self) -> Result<[Frame; 2], Fault> {
        fn of<S: Fields>(session: &Session<S>) -> [Frame; 2] {
            [session.current(), session.settled()]
        }
        match self {
            Self::Local(local) => local.play.as_ref().map(|play| [play.current(); 2]),
            Self::Playback(playback) => Some([playback.frame(); 2]),
            Self::Watched(watched) => watched.shown().map(|viewer| [viewer.frame(), viewer.newest()]),
            Self::Recording(_) | Self::Empty => return Err(no_match()),
            _ => online!(self, online => online.session().map(of), _ => None),
        }
        .ok_or_else(not_begun)
    }

    /// When the next frame is due.
    ///
    /// # Errors
    /// If no match has begun.
    pub fn next_frame_at(&self) -> Result<Duration, Fault> {
        match self {
            Self::Local(local) => local.play.as_ref().map(Offline::next_frame_at),
            _ => online!(self, online => online.session().map(Session::next_frame_at), _ => return Err(no_match())),
        }
        .ok_or_else(not_begun)
    }

    /// The state before the present one, and how far the time to the next frame has gone.
    ///
    /// # Errors
    /// If there is none.
    pub fn previous(&self) -> Result<(&State, f32), Fault> {
        online!(self, online => online.previous(), _ => return Err(no_match()))
            .ok_or_else(|| Fault::phase("no state before the present one is kept"))
    }

    /// The file of the recording.
    ///
    /// # Errors
    /// If nothing is recorded.
    pub fn recording(&self) -> Result<&Path, Fault> {
        match self {
            Self::Local(local) => local.recording().map(AsRef::as_ref),
            _ => online!(self, online => online.recording(), _ => return Err(no_match())),
        }
        .ok_or_else(|| Fault::phase("no match is recorded"))
    }

    /// The recording that was opened.
    ///
    /// # Errors
    /// If none was.
    pub fn recorded(&self) -> Result<&Recording, Fault> {
        match self {
            Self::Recording(recording) => Ok(recording),
            Self::Playback(playback) => Ok(playback.recording()),
            Self::Watched(watched) => watched
                .recording()
                .ok_or_else(|| Fault::phase("there is no match to see yet: wait for REBOUT_NOW_BEGIN")),
            _ => Err(Fault::phase("no recording is open: call rebout_replay_open first")),
        }
    }

    /// The recording that is watched.
    ///
    /// # Errors
    /// If none is.
    pub fn playback(&mut self) -> Result<&mut Playback<G>, Fault> {
        match self {
            Self::Playback(playback) => Ok(playback),
            Self::Recording(_) => {
                Err(Fault::phase("the recording is not watched yet: call rebout_replay_start first"))
            }
            _ => Err(Fault::phase("no recording is open: call rebout_replay_open first")),
        }
    }

    /// Watches the recording that was opened. The game is in its first state.
    ///
    /// # Errors
    /// If none was opened, or it is watched already.
    pub fn watch(&mut self, game: G) -> Result<(), Fault> {
        if let Self::Playback(_) = self {
            return Err(Fault::phase("the recording is watched already"));
        }
        self.recorded()?;
        if let Self::Recording(recording) = std::mem::replace(self, Self::Empty) {
            *self = Self::Playback(Box::new(Playback::new(game, *recording)));
        }
        Ok(())
    }
}

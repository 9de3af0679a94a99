//! The match of a handle, and the calls that it answers in each phase.

use super::codes::Status;
use super::fault::Fault;
use super::local::Local;
use super::mailbox::{Link, Mailbox};
use super::state::State;
use super::turn::Turn;
use super::watched::Watched;
use rebout::net::Datagrams;
use rebout::replay::{Playback, Recording};
use rebout::{Advanced, Config, CueEvent, Frame, Game, Input, Inputs, Offline, Online, Session};
use std::fmt;
use std::path::PathBuf;

/// The match of a handle.
pub enum Part<G: Game<Snapshot = State>, C> {
    /// Nothing yet, or no more.
    Empty,
    /// Online, on the UDP sockets of this machine.
    Udp(Box<Online<State>>),
    /// Online, on a transport of the caller's; with its mailbox, if it has one.
    On(Box<Online<State, Link<C>>>, Option<Mailbox>),
    /// Of others, watched while it is played.
    Watched(Box<Watched<G, C>>),
    /// At this machine.
    Local(Box<Local>),
    /// A recording that was opened.
    Recording(Box<Recording>),
    /// A recording that is watched.
    Playback(Box<Playback<G>>),
}

/// Runs a call of an online match, whatever it runs on.
macro_rules! online {
    ($part:expr, $online:ident => $call:expr, _ => $other:expr) => {
        match $part {
            Part::Udp($online) => $call,
            Part::On($online, _) => $call,
            _ => $other,
        }
    };
}

pub(super) use online;

/// The answer to a call that needs a match.
pub(super) fn no_match() -> Fault {
    Fault::phase("there is no match: call rebout_host, rebout_join or rebout_offline first")
}

/// The answer to a call that needs a match that has begun.
#[must_use]
pub fn not_begun() -> Fault {
    Fault::phase("the match has not begun: call rebout_start at REBOUT_NOW_BEGIN first")
}

impl<G: Game<Snapshot = State>, C: Datagrams> Part<G, C> {
    /// A match at this machine.
    ///
    /// # Errors
    /// If the config is not valid.
    pub fn local(config: Config, name: &str, folder: Option<PathBuf>) -> Result<Self, Fault> {
        Ok(Self::Local(Box::new(Local::new(config, name, folder)?)))
    }

    /// Whether a match or a recording can be opened here.
    ///
    /// # Errors
    /// If there is one already.
    pub fn check_empty(&self) -> Result<(), Fault> {
        match self {
            Self::Empty => Ok(()),
            _ => Err(Fault::phase("this handle has a match or a recording already: call rebout_close first")),
        }
    }

    /// The next thing to do.
    ///
    /// # Errors
    /// A broken transport; a wait where the caller has the clock.
    #[inline]
    pub fn turn(&mut self, blocks: bool) -> Result<Turn, Fault> {
        if blocks && self.mailbox().is_ok() {
            return Err(Fault::phase("rebout_wait needs a clock that goes on by itself: call rebout_poll"));
        }
        let turn = match self {
            Self::Local(local) => Ok(local.turn(blocks)),
            Self::Watched(watched) => watched.turn(blocks),
            _ => {
                let now = online!(self, online => if blocks { online.wait() } else { online.poll() }, _ => {
                    return Err(no_match());
                });
                now.map(Turn::from)
            }
        };
        turn.map_err(|error| Fault::new(Status::Transport, error))
    }

    /// Begins the match. The game is in its first state. It comes back to be lent for each frame, unless the match is watched.
    ///
    /// # Errors
    /// The game, and why: the two machines have not agreed, or the match has begun.
    pub fn start(&mut self, game: G) -> Result<Option<G>, (G, Fault)> {
        if let Self::Watched(watched) = self {
            return watched.start(game).map(|()| None);
        }
        match self.begin(&game) {
            Ok(()) => Ok(Some(game)),
            Err(fault) => Err((game, fault)),
        }
    }

    fn begin(&mut self, game: &G) -> Result<(), Fault> {
        let begun = || Fault::phase("the match has begun already");
        if let Self::Local(local) = self {
            return if local.play.is_some() { Err(begun()) } else { local.start(game) };
        }
        online!(self, online => {
            if online.session().is_some() {
                return Err(begun());
            }
            if online.agreed().is_none() {
                return Err(Fault::phase("the two machines have not agreed yet: wait for REBOUT_NOW_BEGIN"));
            }
            online.start(game);
        }, _ => return Err(no_match()));
        Ok(())
    }

    /// Plays the frame that is due. Online only the first input counts.
    ///
    /// # Errors
    /// If no match has begun.
    #[inline]
    pub fn advance(&mut self, game: &mut G, inputs: [Input; 2]) -> Result<Advanced, Fault> {
        if let Self::Local(local) = self {
            return local.advance(game, Inputs(inputs)).ok_or_else(not_begun);
        }
        // A machine that comes back has no session until it has stepped the match so far.
        online!(self, online => Ok(online.advance(game, inputs[0])), _ => Err(no_match()))
    }

    /// Steps the game ahead of the match, hands it to `draw`, and puts it back.
    ///
    /// # Errors
    /// If no match has begun.
    pub fn look_ahead(&mut self, game: &mut G, draw: impl FnOnce(&mut G)) -> Result<(), Fault> {
        if let Self::Local(local) = self {
            local.play.as_mut().ok_or_else(not_begun)?.look_ahead(game, draw);
            return Ok(());
        }
        online!(self, online => online.look_ahead(game, draw), _ => return Err(no_match()));
        Ok(())
    }

    /// The changes to cues in the last frame.
    #[inline]
    pub fn cues(&self) -> &[CueEvent] {
        match self {
            Self::Local(local) => local.play.as_ref().map_or(&[], |play| play.cues()),
            Self::Playback(playback) => playback.cues(),
            _ => online!(self, online => online.cues(), _ => &[]),
        }
    }

    /// Hands over the frames that became certain in the last frame.
    #[inline]
    pub fn confirmed(&self, mut take: impl FnMut(Frame, Inputs)) {
        let mut pass = |(frame, inputs)| take(frame, inputs);
        match self {
            Self::Local(local) => local.play.iter().flat_map(Offline::confirmed).for_each(&mut pass),
            _ => {
                online!(self, online => online.session().into_iter().flat_map(Session::confirmed).for_each(&mut pass), _ => {});
            }
        }
    }
}

impl<G: Game<Snapshot = State>, C> fmt::Debug for Part<G, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "Empty",
            Self::Udp(_) => "Udp",
            Self::On(..) => "On",
            Self::Watched(_) => "Watched",
            Self::Local(_) => "Local",
            Self::Recording(_) => "Recording",
            Self::Playback(_) => "Playback",
        })
    }
}

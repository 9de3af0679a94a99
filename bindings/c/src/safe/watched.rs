//! A match of others that is watched while it is played, with the turns of a match.

use super::codes::{FinishCode, NowCode, ReasonCode, VerdictCode};
use super::fault::Fault;
use super::mailbox::{Link, Mailbox};
use super::state::State;
use super::turn::{Bytes, Turn};
use rebout::net::Datagrams;
use rebout::replay::{End, Outcome, Recording, VerifyError, Viewer, Viewing};
use rebout::{Advanced, BroadcastStats, CueEvent, Frame, Game, Reason, Spectator, Watch, Watching};
use std::io;
use std::time::Duration;

/// The longest sleep of a turn.
const TURN: Duration = Duration::from_millis(8);
/// The most frames that one call of `advance` loads.
const LOADED_AT_ONCE: u32 = 120;

/// A match of others.
pub struct Watched<G: Game<Snapshot = State>, C> {
    source: Source<C>,
    stage: Stage<G>,
    /// The number of the match that was shown before, if there was one.
    shown_before: Option<u32>,
    has_left: bool,
}

/// The connection of a spectator.
enum Source<C> {
    Udp(Box<Watch>),
    On(Box<Watch<Link<C>>>, Option<Mailbox>),
}

enum Stage<G: Game> {
    /// There is no match yet.
    Waiting,
    /// The match has begun, and waits for the game.
    Ready(Box<Recording>),
    /// The match is shown.
    Showing(Box<Shown<G>>),
}

struct Shown<G: Game> {
    viewer: Viewer<G>,
    /// The number of the match, and its bytes that the viewer has.
    number: u32,
    taken: usize,
    now: Duration,
    /// Whether a frame was asked for in this turn of an engine's loop.
    is_asked: bool,
}

/// Runs a call of a spectator, whatever it runs on.
macro_rules! source {
    ($source:expr, $watch:ident => $call:expr) => {
        match $source {
            Source::Udp($watch) => $call,
            Source::On($watch, _) => $call,
        }
    };
}

fn not_shown() -> Fault {
    Fault::phase("the match is not shown yet: call rebout_start at REBOUT_NOW_BEGIN first")
}

impl<G: Game<Snapshot = State>, C: Datagrams> Watched<G, C> {
    /// Watches on UDP.
    #[must_use]
    pub fn on_udp(watch: Watch) -> Self {
        Self::new(Source::Udp(Box::new(watch)))
    }

    /// Watches on a transport of the caller's.
    #[must_use]
    pub fn on_transport(watch: Watch<Link<C>>, mailbox: Option<Mailbox>) -> Self {
        Self::new(Source::On(Box::new(watch), mailbox))
    }

    fn new(source: Source<C>) -> Self {
        Self { source, stage: Stage::Waiting, shown_before: None, has_left: false }
    }

    /// The connection on UDP.
    ///
    /// # Errors
    /// If it runs on a transport of the caller's.
    pub fn udp(&mut self) -> Result<&mut Watch, Fault> {
        match &mut self.source {
            Source::Udp(watch) => Ok(watch),
            Source::On(..) => {
                Err(Fault::phase("a spectator on a transport of its own has this one connection"))
            }
        }
    }

    pub(super) fn turn(&mut self, blocks: bool) -> io::Result<Turn> {
        let now = source!(&mut self.source, watch => if blocks { watch.wait(TURN)? } else { watch.poll()? });
        if self.has_left {
            return Ok(ended(Reason::LeftHere));
        }
        let spectator = source!(&self.source, watch => watch.spectator());
        if matches!(self.stage, Stage::Waiting)
            && self.shown_before != Some(spectator.match_number())
            && let Ok(recording) = Recording::open(spectator.bytes().to_vec())
        {
            self.stage = Stage::Ready(Box::new(recording));
        }
        Ok(match &mut self.stage {
            Stage::Waiting => match spectator.state() {
                state if state.is_over() => gone(state),
                _ => Turn::with_text(NowCode::Connecting, source!(&self.source, watch => watch.progress())),
            },
            Stage::Ready(recording) => Turn {
                seed: recording.header().seed,
                bytes: Bytes::FirstState(recording.header().first_state.clone()),
                ..Turn::of(NowCode::Begin)
            },
            Stage::Showing(shown) => shown.turn(now, spectator, blocks),
        })
    }

    pub(super) fn start(&mut self, game: G) -> Result<(), (G, Fault)> {
        match std::mem::replace(&mut self.stage, Stage::Waiting) {
            Stage::Ready(recording) => {
                let taken = recording.len();
                let number = source!(&self.source, watch => watch.spectator().match_number());
                let viewer = Viewer::new(game, *recording);
                let shown = Shown { viewer, number, taken, now: Duration::ZERO, is_asked: false };
                self.stage = Stage::Showing(Box::new(shown));
                Ok(())
            }
            Stage::Waiting => {
                Err((game, Fault::phase("there is no match to see yet: wait for REBOUT_NOW_BEGIN")))
            }
            shown @ Stage::Showing(_) => {
                self.stage = shown;
                Err((game, Fault::phase("the match is shown already")))
            }
        }
    }

    /// Shows the frames that are due, and hands over their cues.
    ///
    /// # Errors
    /// If no match is shown.
    pub fn advance(&mut self, mut take: impl FnMut(&[CueEvent])) -> Result<Advanced, Fault> {
        let Stage::Showing(shown) = &mut self.stage else { return Err(not_shown()) };
        shown.is_asked = true;
        let moved = shown.viewer.advance(shown.now, LOADED_AT_ONCE, |_, _, cues| take(cues));
        Ok(match shown.viewer.state() {
            _ if moved > 0 => Advanced::Stepped,
            Viewing::Paused => Advanced::Paused,
            Viewing::Ended => Advanced::Ended,
            _ => Advanced::NotDue,
        })
    }

    /// Waits for the next match of the same players.
    pub(super) fn next(&mut self) -> Result<(), Fault> {
        let Stage::Showing(shown) = &self.stage else { return Err(not_shown()) };
        self.shown_before = Some(shown.number);
        self.stage = Stage::Waiting;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.has_left = true;
    }

    pub(super) fn close(self) -> io::Result<()> {
        match self.source {
            Source::Udp(watch) => watch.close(),
            // Nobody waits on a clock of the caller's.
            Source::On(_, Some(_)) => Ok(()),
            Source::On(watch, None) => watch.close(),
        }
    }

    pub(super) fn viewer(&mut self) -> Result<&mut Viewer<G>, Fault> {
        match &mut self.stage {
            Stage::Showing(shown) => Ok(&mut shown.viewer),
            _ => Err(not_shown()),
        }
    }

    /// Goes to a frame; the last number there is follows the newest frames again.
    pub(super) fn seek(&mut self, frame: Frame) -> Result<(), Fault> {
        let viewer = self.viewer()?;
        if frame == Frame(u32::MAX) {
            viewer.go_live();
        } else {
            viewer.seek(frame);
        }
        Ok(())
    }

    // Getters.

    /// The spectator: its state, and the match so far.
    #[must_use]
    pub fn spectator(&self) -> &Spectator {
        source!(&self.source, watch => watch.spectator())
    }

    /// What is shown, if a match is.
    #[must_use]
    pub fn shown(&self) -> Option<&Viewer<G>> {
        match &self.stage {
            Stage::Showing(shown) => Some(&shown.viewer),
            _ => None,
        }
    }

    pub(super) fn recording(&self) -> Option<&Recording> {
        match &self.stage {
            Stage::Waiting => None,
            Stage::Ready(recording) => Some(recording),
            Stage::Showing(shown) => Some(shown.viewer.recording()),
        }
    }

    pub(super) fn mailbox(&self) -> Option<&Mailbox> {
        match &self.source {
            Source::Udp(_) => None,
            Source::On(_, mailbox) => mailbox.as_ref(),
        }
    }

    pub(super) fn progress(&self) -> String {
        source!(&self.source, watch => watch.progress())
    }

    pub(super) fn share(&self) -> Option<String> {
        source!(&self.source, watch => watch.share())
    }

    pub(super) fn served(&self) -> Option<BroadcastStats> {
        source!(&self.source, watch => watch.served())
    }
}

impl<G: Game> Shown<G> {
    fn turn(&mut self, now: Duration, spectator: &Spectator, blocks: bool) -> Turn {
        self.now = now;
        let is_next = spectator.match_number() != self.number;
        if !is_next {
            let bytes = spectator.bytes();
            self.viewer.append(bytes.get(self.taken..).unwrap_or_default());
            self.taken = bytes.len();
        }
        let is_all_shown = self.viewer.behind_frames() == 0;
        match (self.viewer.verified(), self.viewer.end()) {
            (Err(error), _) => differs(&error),
            (Ok(_), Some(end)) if is_all_shown => over(end, self.viewer.frame()),
            // The bytes of another match have come in place of the end of this one.
            (Ok(_), None) if is_next && is_all_shown => ended(Reason::TimedOut),
            (Ok(_), None) if spectator.state().is_over() && is_all_shown => gone(spectator.state()),
            _ if blocks || !self.is_asked => Turn::of(NowCode::Frame),
            _ => {
                self.is_asked = false;
                Turn::of(NowCode::Idle)
            }
        }
    }
}

fn ended(reason: Reason) -> Turn {
    let turn = Turn::with_text(NowCode::Finished, format!("The match is over: {reason}."));
    Turn { finish: FinishCode::Ended, ..turn.ended(reason) }
}

fn gone(state: Watching) -> Turn {
    let turn = Turn::with_text(NowCode::Finished, format!("Nothing more can be seen: {state}."));
    Turn { finish: FinishCode::Unreached, ..turn }
}

fn differs(error: &VerifyError) -> Turn {
    let text = format!("The match is not shown as it was played: {error}.");
    Turn { finish: FinishCode::Ended, reason: ReasonCode::Desync, ..Turn::with_text(NowCode::Finished, text) }
}

/// The end of a match between others.
fn over(end: End, frame: Frame) -> Turn {
    let turn = Turn { frame: frame.0, ..Turn::with_text(NowCode::Finished, "The match is over.") };
    let (verdict, ours, theirs) = match end.outcome {
        Outcome::Agreed { checksum } => (VerdictCode::Agreed, checksum, checksum),
        Outcome::Differs { ours, theirs } => (VerdictCode::Differs, ours, theirs),
        Outcome::Unconfirmed { checksum } => (VerdictCode::Unconfirmed, checksum, 0),
        Outcome::Disconnected(reason) => {
            let text = "The match is over before its end.".to_owned();
            return Turn { finish: FinishCode::Ended, text, ..turn.ended(reason) };
        }
        _ => (VerdictCode::Local, 0, 0),
    };
    Turn { finish: FinishCode::Played, verdict, ours, theirs, ..turn }
}

//! The next thing to do in an online match, and its end.

use crate::replay::ResumptionError;
use crate::wire::message::RefuseField;
use crate::{
    ConnectError, Event, FirstState, LobbyError, Mismatch, PeerInfo, Player, Progress, Reason, Verdict,
};
use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;

/// The next thing to do in an online match: the result of [`Online::wait`](super::Online::wait) and
/// [`Online::poll`](super::Online::poll).
///
/// ```no_run
/// use rebout::{Buttons, Game, Now, Online};
///
/// fn turn<G: Game>(online: &mut Online<G::Snapshot>, game: &mut Option<G>, new: fn(u32) -> G) -> std::io::Result<bool> {
///     match online.wait()? {
///         Now::Connecting(text) | Now::Notice(text) => println!("{text}"),
///         Now::Guest { name, .. } => {
///             println!("{name} joins");
///             online.answer(true);
///         }
///         Now::Begin { seed, .. } => online.start(game.insert(new(seed))),
///         Now::Frame => drop(game.as_mut().map(|game| online.advance(game, Buttons::NONE))),
///         Now::Event(event) => println!("{event:?}"),
///         Now::Finished(finish) => {
///             println!("{finish}");
///             return Ok(false);
///         }
///         _ => {}
///     }
///     Ok(true)
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Now {
    /// The other machine is not there yet: show this text. It comes many times a second, so that a screen can be redrawn.
    Connecting(String),
    /// A guest asks to play, with [`Options::ask`](super::Options::ask): call [`answer`](super::Online::answer). Repeated until then.
    Guest {
        /// The guest's name, with control characters escaped.
        name: String,
        /// Its address, the code to compare, and the key by which the player is known again.
        peer: PeerInfo,
    },
    /// The machines have agreed on a match: build the game from the seed, and call [`start`](super::Online::start).
    #[non_exhaustive]
    Begin {
        /// The seed, the same on both machines.
        seed: u32,
        /// The seat of the player at this machine.
        seat: Player,
        /// The host's first state, the same on both machines; empty without one.
        first_state: FirstState,
    },
    /// A frame is due: read the input, and call [`advance`](super::Online::advance).
    Frame,
    /// Something happened in the match.
    Event(Event),
    /// A text for the player or a log: a refused guest, a recording that failed, the folder of a desync report.
    Notice(String),
    /// There is nothing to do: draw.
    Idle,
    /// The match is over, or there will be none. Repeated until a [`rematch`](super::Online::rematch).
    Finished(Finish),
}

/// How an online match ended. `Display` is a text for the player at this machine.
///
/// ```
/// use rebout::{Finish, Reason, Verdict};
///
/// fn counts(finish: &Finish) -> bool {
///     matches!(finish, Finish::Played(Verdict::Agreed { .. }))
/// }
///
/// let finish = Finish::Ended(Reason::Left);
/// assert!(!counts(&finish));
/// assert_eq!(finish.to_string(), "The match is over: the other player left.");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finish {
    /// The match was played to its end.
    Played(Verdict),
    /// The match was over before its end, or was left before it began.
    Ended(Reason),
    /// The host refused, or the two machines are incompatible.
    Refused(LobbyError),
    /// The other machine was not reached.
    Unreached(ConnectError),
    /// This machine came back, but the match cannot continue.
    NotResumed(ResumptionError),
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Played(Verdict::Agreed { from_their_log: false, .. }) => f.write_str("The match is over."),
            Self::Played(Verdict::Agreed { from_their_log: true, .. }) => f.write_str(
                "The match is over. This machine resumed it from the other machine's log, without a recording of its own.",
            ),
            Self::Played(Verdict::Unconfirmed { .. }) => f.write_str(
                "The match is over, but the other machine was gone before it confirmed the result.",
            ),
            Self::Played(Verdict::Differs { .. }) => f.write_str(
                "The match is over, but the two machines have different results, so it does not count.",
            ),
            Self::Ended(reason) => write!(f, "The match is over: {reason}."),
            Self::Refused(LobbyError::Incompatible { field: RefuseField::ContentHash, .. }) => {
                f.write_str("The host has another version of the game, or other rules.")
            }
            Self::Refused(LobbyError::Incompatible { field: RefuseField::GameId, .. }) => {
                f.write_str("The host plays another game.")
            }
            Self::Refused(LobbyError::Full) => f.write_str("The host is already in a match."),
            Self::Refused(LobbyError::Declined) => f.write_str("The host declined."),
            Self::Refused(error) => write!(f, "The match could not start: {error}."),
            Self::Unreached(error) => error.fmt(f),
            Self::NotResumed(error) => write!(f, "The match cannot continue: {error}."),
        }
    }
}

/// The text for the host about a guest that was refused.
pub(super) fn sent_away(mismatch: &Mismatch, addr: Option<SocketAddr>) -> String {
    let who = addr.map_or_else(|| "A guest".to_owned(), |addr| format!("The guest at {addr}"));
    let Mismatch { field, ours, theirs, .. } = mismatch;
    match field {
        RefuseField::ContentHash => {
            format!("{who} was refused: it has another version of the game, or other rules.")
        }
        RefuseField::GameId => format!("{who} was refused: it plays another game."),
        RefuseField::FirstState => {
            format!("{who} was refused: the first state has {ours} bytes, and its game accepts {theirs}.")
        }
        _ => {
            let (ours, theirs) = (field.shown(*ours), field.shown(*theirs));
            format!("{who} was refused: the {field} is {ours} here and {theirs} there.")
        }
    }
}

/// The progress of a first state at `now`, as a text for a player.
pub(super) fn transfer(way: &str, progress: Progress, now: Duration) -> String {
    let silent = progress.since.map_or(0, |since| now.saturating_sub(since).as_secs());
    let silence = if silent > 0 { format!(", nothing for {silent} s") } else { String::new() };
    format!("{way} the first state: {}{silence}", kib(progress))
}

/// The text about a guest that left during the transfer of the first state.
pub(super) fn dropped(progress: Progress) -> String {
    format!("The guest left after it received {} of the first state.", kib(progress))
}

fn kib(Progress { bytes, of, .. }: Progress) -> String {
    format!("{} of {} KiB", bytes.div_ceil(1_024), of.div_ceil(1_024))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mismatch(field: RefuseField, ours: u64, theirs: u64) -> Mismatch {
        Mismatch { addr: ([10, 0, 0, 9], 1).into(), field, ours, theirs }
    }

    #[test]
    fn refused_guest_is_described_from_the_side_of_the_host() {
        let addr = Some(([192, 0, 2, 7], 7_000).into());
        let rate = mismatch(RefuseField::FrameRate, 60 << 32 | 1, 39_375_000 << 32 | 655_171);
        assert_eq!(
            sent_away(&rate, addr),
            "The guest at 192.0.2.7:7000 was refused: the frame rate is 60 here and 39375000/655171 (60.0988) there."
        );
        let first_state = mismatch(RefuseField::FirstState, 327_680, 1_024);
        assert_eq!(
            sent_away(&first_state, None),
            "A guest was refused: the first state has 327680 bytes, and its game accepts 1024."
        );
        let game = mismatch(RefuseField::GameId, 1, 2);
        assert_eq!(sent_away(&game, None), "A guest was refused: it plays another game.");
    }

    #[test]
    fn transfer_without_progress_tells_for_how_long() {
        let progress = |since| Progress { bytes: 1_025, of: 200_000, since };
        let text =
            |ms| transfer("sending", progress(Some(Duration::from_secs(5))), Duration::from_millis(ms));
        assert_eq!(text(5_999), "sending the first state: 2 of 196 KiB");
        assert_eq!(text(8_000), "sending the first state: 2 of 196 KiB, nothing for 3 s");
        assert_eq!(
            dropped(progress(None)),
            "The guest left after it received 2 of 196 KiB of the first state."
        );
    }

    #[test]
    fn refusals_have_texts_of_their_own() {
        let incompatible =
            |field| LobbyError::Incompatible { field, ours: 60 << 32 | 1, theirs: 50 << 32 | 1 };
        for (error, text) in [
            (LobbyError::Full, "The host is already in a match."),
            (LobbyError::Declined, "The host declined."),
            (incompatible(RefuseField::GameId), "The host plays another game."),
        ] {
            assert_eq!(Finish::Refused(error).to_string(), text);
        }
        let rate = Finish::Refused(incompatible(RefuseField::FrameRate)).to_string();
        assert!(
            rate.starts_with("The match could not start: ")
                && rate.contains("60 here")
                && rate.contains("50 at"),
            "{rate}"
        );
        let unconfirmed = Verdict::Unconfirmed { frame: crate::Frame(9), checksum: 1 };
        assert_eq!(
            Finish::Played(unconfirmed).to_string(),
            "The match is over, but the other machine was gone before it confirmed the result."
        );
    }
}

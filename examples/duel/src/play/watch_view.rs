//! Watches a match while it is played: catching up, live, paused, and back to any frame.

use std::time::Duration;

use rebout::replay::{End, Outcome, Recording, Viewer, Viewing, Winner};
use rebout::{BroadcastConfig, ConnectOptions, Frame, Watch, Watching, checksum};

use super::attract::AttractMode;
use super::show::{Show, leaves};
use super::{Ending, Failure};
use crate::picture::{Panel, ReplayView, Tone};
use crate::view::Screen;
use crate::viewer::{JUMP_FRAMES, names};
use games::duel::{Duel, identity};
use stage::{Key, characters};

/// Frames that are loaded in each frame that is shown.
const LOADED_AT_ONCE: u32 = 4_000;
const FRAME: Duration = Duration::from_millis(16);

/// The match that is received, and the spectators who are served in turn.
pub struct Seats {
    watch: Watch,
    /// Other invites, for when the broadcast fails.
    others: Vec<String>,
    options: ConnectOptions,
}

impl Seats {
    /// Opens a seat by a watch invite, and serves others at a port if one is given.
    ///
    /// # Errors
    /// The words of the library.
    pub fn open(invites: &[String], options: &ConnectOptions, serve: Option<u16>) -> Result<Self, String> {
        let mut others: Vec<String> = invites.iter().map(|text| characters::copied(text)).collect();
        if others.is_empty() {
            return Err("name the watch invite of a host".to_owned());
        }
        let words = |error: rebout::ConnectError| error.to_string();
        let mut watch = Watch::join(options, &others.remove(0)).map_err(words)?;
        if let Some(port) = serve {
            watch.serve(&options.clone().port(port), BroadcastConfig::default()).map_err(words)?;
        }
        Ok(Self { watch, others, options: options.clone() })
    }

    /// The lines that are printed before anybody watches.
    pub fn lines(&self) -> Vec<String> {
        let share = self.watch.share().into_iter();
        let lines = share
            .flat_map(|share| ["Others can watch from here with:".to_owned(), format!("duel watch {share}")]);
        lines.collect()
    }

    /// Asks the next broadcast if this one has failed; `false` if there is none.
    fn ask_another(&mut self) -> bool {
        let state = self.watch.spectator().state();
        if !state.is_over() && (state != Watching::Silent || self.others.is_empty()) {
            return true;
        }
        while !self.others.is_empty() {
            let invite = self.others.remove(0);
            if self.watch.ask_another(&self.options, &invite).is_ok() {
                return true;
            }
        }
        false
    }
}

/// Whether a text is an invite to watch.
pub fn is_to_watch(text: &str) -> bool {
    characters::copied(text).parse::<rebout::Invite>().is_ok_and(|invite| invite.broadcast_key().is_some())
}

/// Shows the match until the viewer leaves or the broadcast is over.
///
/// # Errors
/// If there was nothing to see, in words for the player.
pub fn watch(
    screen: &Screen,
    mut seats: Seats,
    outfits: [usize; 2],
    at_once: bool,
) -> Result<Ending, Failure> {
    let left = || Ending { is_own_choice: true, ..Ending::of(["Left before the match began.".to_owned()]) };
    loop {
        let Some(recording) = begin(screen, &mut seats, outfits)? else { return Ok(left()) };
        let number = seats.watch.spectator().match_number();
        if recording.header().game_id != identity::GAME_ID {
            return Err(Failure::of("this is a match of another game"));
        }
        let mut show = Shown::new(screen, recording, outfits);
        if show.run(&mut seats, at_once)? || seats.watch.spectator().match_number() == number {
            let ending = show.ending();
            let _ = seats.watch.close();
            return Ok(ending);
        }
    }
}

/// Waits until there is a match; `None` if whoever waits leaves instead.
fn begin(screen: &Screen, seats: &mut Seats, outfits: [usize; 2]) -> Result<Option<Recording>, Failure> {
    let mut attract = AttractMode::new(screen, 7, ["?".to_owned(), "?".to_owned()]);
    attract.show.set_outfits(outfits);
    let mut told = String::new();
    loop {
        seats.watch.wait(FRAME)?;
        if let Ok(recording) = Recording::open(seats.watch.spectator().bytes().to_vec()) {
            return Ok(Some(recording));
        }
        let state = seats.watch.spectator().state();
        if !seats.ask_another() {
            return Err(Failure::of(state));
        }
        let progress = match state {
            Watching::Waiting { until: Some(until) } => {
                let left = until.saturating_sub(seats.watch.now()).as_secs();
                format!("the match is shown in {left} s")
            }
            _ => seats.watch.progress(),
        };
        if progress != told {
            attract.show.print_without_screen(&progress);
            told.clone_from(&progress);
        }
        attract.show.panel(Some(Panel {
            title: "Watching".to_owned(),
            lines: vec![("now".to_owned(), progress)],
            footer: "esc leaves".to_owned(),
        }));
        if leaves(&attract.show.take_input()) {
            return Ok(None);
        }
        attract.frame();
    }
}

/// A match on the screen.
struct Shown<'a> {
    viewer: Viewer<Duel>,
    show: Show<'a>,
    /// The bytes that the viewer has.
    taken: usize,
    told: Option<String>,
}

impl<'a> Shown<'a> {
    fn new(screen: &'a Screen, recording: Recording, outfits: [usize; 2]) -> Self {
        let (names, taken) = (names(&recording), recording.len());
        let viewer = Viewer::new(Duel::new(recording.header().seed), recording);
        let mut show = Show::new(screen, viewer.game(), names.clone(), false);
        show.set_outfits(outfits);
        show.tell(
            format!("watching {} against {}: space pauses, arrows seek, esc leaves", names[0], names[1]),
            Tone::Calm,
        );
        Self { viewer, show, taken, told: None }
    }

    /// Shows the match until it is left (`true`), or another one begins.
    fn run(&mut self, seats: &mut Seats, at_once: bool) -> Result<bool, Failure> {
        let number = seats.watch.spectator().match_number();
        loop {
            let now = seats.watch.wait(FRAME)?;
            let spectator = seats.watch.spectator();
            if spectator.match_number() == number {
                let bytes = spectator.bytes();
                self.viewer.append(bytes.get(self.taken..).unwrap_or_default());
                self.taken = bytes.len();
            } else if self.viewer.state() == Viewing::Ended || self.viewer.end().is_none() {
                return Ok(false);
            }
            let input = self.show.take_input();
            if leaves(&input) {
                return Ok(true);
            }
            input.presses.iter().for_each(|key| self.handle_key(*key));
            let show = &mut self.show;
            let moved = self.viewer.advance(now, LOADED_AT_ONCE, |_, duel, cues| show.frame(duel, cues));
            self.tell(seats);
            if moved == 0 {
                self.show.refresh();
            }
            let is_over = !seats.ask_another();
            if at_once && (is_over || self.viewer.state() == Viewing::Ended) {
                return Ok(true);
            }
        }
    }

    fn handle_key(&mut self, key: Key) {
        let by = |frames: i64| Frame(u32::try_from(i64::from(self.viewer.frame().0) + frames).unwrap_or(0));
        match key {
            Key::Char(' ') if self.viewer.state() == Viewing::Paused => self.viewer.resume(),
            Key::Char(' ') => self.viewer.pause(),
            Key::Char('l') => self.viewer.go_live(),
            Key::Char('0') => self.seek(Frame::ZERO),
            Key::Right => self.seek(by(JUMP_FRAMES)),
            Key::Left => self.seek(by(-JUMP_FRAMES)),
            _ => {}
        }
    }

    fn seek(&mut self, frame: Frame) {
        self.viewer.seek(frame);
        self.show.jump(self.viewer.game());
        self.show.frame(self.viewer.game(), &[]);
    }

    /// Shows how far the viewer is, and anything that went wrong.
    fn tell(&mut self, seats: &Seats) {
        let spectator = seats.watch.spectator();
        let behind = self.viewer.behind_frames() / 60;
        let state = match self.viewer.state() {
            Viewing::CatchingUp => "catching up".to_owned(),
            Viewing::Live if spectator.delay().is_zero() => "live".to_owned(),
            Viewing::Live => format!("live, {} s late", spectator.delay().as_secs()),
            Viewing::Behind => format!("{behind} s behind, l goes live"),
            Viewing::Paused => format!("paused, {behind} s behind"),
            _ => match self.viewer.end() {
                Some(end) => format!("the end: {}", winner(end, &names(self.viewer.recording()))),
                None => "the end".to_owned(),
            },
        };
        let watchers = match spectator.spectators() {
            0 | 1 => String::new(),
            count => format!(", {count} watch"),
        };
        self.show.replay_view(Some(ReplayView {
            frame: self.viewer.frame().0,
            frames: self.viewer.newest().0,
            paused: false,
            speed: 1.0,
            state: Some(format!("{state}{watchers}")),
            marks: Vec::new(),
        }));
        let trouble = match (self.viewer.verified(), spectator.state()) {
            (Err(error), _) => Some(format!("not as it was played, by other rules perhaps: {error}")),
            _ if self.viewer.state() == Viewing::Ended => self.viewer.end().map(verdict),
            (Ok(_), Watching::Silent) => {
                Some("the host is silent; the match goes on if it comes back".to_owned())
            }
            (Ok(_), state) if state.is_over() && self.viewer.end().is_none() => Some(state.to_string()),
            _ => None,
        };
        if trouble != self.told {
            if let Some(trouble) = &trouble {
                let is_good =
                    self.viewer.end().is_some_and(|end| matches!(end.outcome, Outcome::Agreed { .. }));
                let tone = if is_good && self.viewer.verified().is_ok() { Tone::Calm } else { Tone::Alarm };
                self.show.tell(trouble.clone(), tone);
            }
            self.told = trouble;
        }
    }

    fn ending(&self) -> Ending {
        let (frame, newest) = (self.viewer.frame(), self.viewer.newest());
        let mut lines =
            vec![format!("Frame {frame} of {newest}, checksum {:08X}", checksum(self.viewer.game()))];
        if let Some(end) = self.viewer.end() {
            let winner = winner(end, &names(self.viewer.recording()));
            lines.push(format!("{winner}; {}", verdict(end)));
        }
        lines.push(match self.viewer.verified() {
            Ok(compared) => format!("{compared} checksums are those of the players"),
            Err(error) => format!("Not as it was played: {error}"),
        });
        Ending { lines, is_own_choice: true, ..Ending::of([]) }
    }
}

/// Who won, in words.
fn winner(end: End, names: &[String; 2]) -> String {
    match end.winner {
        Winner::Player(player) => format!("{} won", names[player.index()]),
        Winner::Draw => "a draw".to_owned(),
        Winner::Undecided => "undecided".to_owned(),
    }
}

/// The verdict of the two machines, in words.
fn verdict(end: End) -> String {
    match end.outcome {
        Outcome::Agreed { checksum } => format!("both machines agree on {checksum:08X}"),
        Outcome::Disconnected(reason) => reason.to_string(),
        _ => "the machines did not agree".to_owned(),
    }
}

//! A match against another machine.

use std::time::{Duration, Instant};

use rebout::{
    Advanced, Autopsy, Event, Finish, LobbyError, Now, Online, Player, RefuseField, Session, Verdict,
    checksum,
};
use stage::{InputState, Key};

use super::prompts::{Answer, Prompt};
use super::show::{Screen, Show};
use super::{Ending, Hands, Terms};
use crate::machine::{Machine, Snapshot};
use rebout::Save;

/// Calls of `advance` whose times are kept: more than an hour.
const MAX_TIMES: usize = 1 << 18;

/// The role of this machine, for its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Host,
    Join,
}

struct Match<'a> {
    online: Online<Snapshot>,
    machine: Machine,
    terms: Terms,
    hands: Hands,
    show: Show<'a>,
    prompt: Prompt,
    autopsy: Option<Box<Autopsy>>,
    /// Why this machine did not begin.
    unfit: Option<String>,
    advance_micros: Vec<u32>,
    deepest: u64,
}

/// Finds the other machine, and plays until the match is over or somebody leaves.
///
/// # Errors
/// A broken socket.
pub fn online(
    screen: &Screen,
    online: Online<Snapshot>,
    machine: Machine,
    terms: Terms,
    hands: Hands,
    role: Role,
    is_net_open: bool,
) -> Result<Ending, String> {
    let mut show = Show::new(screen, &machine, is_net_open);
    if role == Role::Host {
        println!("{}", terms.identity.title());
        println!("cabinet join {}", online.share());
        if let Some(watch) = online.share_to_watch() {
            println!("cabinet watch {watch}");
        }
        show.copy(online.share());
        show.say(vec![
            "Your invite is on the clipboard and in the terminal, for the other player.".to_owned(),
        ]);
    }
    let mut play = Match {
        online,
        machine,
        terms,
        hands,
        show,
        prompt: Prompt::default(),
        autopsy: None,
        unfit: None,
        advance_micros: Vec::new(),
        deepest: 0,
    };
    let finish = play.run().map_err(|error| error.to_string())?;
    let ending = play.ending(&finish);
    while play.online.spectators().is_some_and(|stats| stats.spectators > 0)
        && !play.online.spectators_have_all()
        && play.online.wait().is_ok()
    {}
    // If the last message does not get through, the other side notices the silence.
    let _ = play.online.close();
    Ok(ending)
}

impl Match<'_> {
    fn run(&mut self) -> std::io::Result<Finish> {
        let mut told = String::new();
        loop {
            match self.online.wait()? {
                Now::Begin { first_state, .. } => match self.terms.begin(&mut self.machine, &first_state) {
                    Ok(()) => self.online.start(&self.machine),
                    Err(sentence) => {
                        self.unfit = Some(sentence);
                        self.online.leave();
                    }
                },
                Now::Frame => self.frame(),
                Now::Finished(finish) => return Ok(finish),
                Now::Connecting(text) => {
                    if self.show.take_input().closed {
                        self.online.leave();
                    }
                    if text != told {
                        self.show.say(vec![text.clone()]);
                        told = text;
                    }
                    self.show.refresh();
                }
                Now::Notice(text) => self.show.tell(&text),
                Now::Event(event) => self.event(event),
                _ => {}
            }
        }
    }

    fn frame(&mut self) {
        let input = self.show.take_input();
        self.handle_keys(&input);
        let player = self.online.local().unwrap_or(Player::One);
        let frame = self.online.session().map_or(0, |session| session.current().0);
        let held = match self.prompt.is_open() {
            true => rebout::Input::NEUTRAL,
            false => self.hands.input(&input, player, frame),
        };
        let before = self.resimulated();
        let start = Instant::now();
        let advanced = self.online.advance(&mut self.machine, held);
        let took = start.elapsed();
        if self.advance_micros.len() < MAX_TIMES && matches!(advanced, Advanced::Stepped | Advanced::Stalled)
        {
            self.advance_micros.push(took.as_micros().try_into().unwrap_or(u32::MAX));
        }
        let resimulated = self.resimulated() - before;
        self.deepest = self.deepest.max(resimulated);
        if let Some(session) = self.online.session() {
            self.show.note(session, resimulated, advanced == Advanced::Stalled);
        }
        self.show.menu(self.prompt.menu());
        match advanced {
            Advanced::Stepped | Advanced::Stalled => {
                let show = &mut self.show;
                self.online.look_ahead(&mut self.machine, |machine| show.frame(machine));
            }
            _ => {
                self.show.rest();
                self.show.refresh();
            }
        }
        self.show.tell_wishes(&self.machine);
    }

    fn resimulated(&self) -> u64 {
        self.online.stats().map_or(0, |stats| stats.rollback.resimulated_frames)
    }

    fn handle_keys(&mut self, input: &InputState) {
        if input.closed {
            return self.online.leave();
        }
        let is_paused = self.online.session().is_some_and(|session| session.paused().is_some());
        match self.prompt.answer(input) {
            Some(Answer::Leave) => self.online.leave(),
            Some(Answer::Pause) if is_paused => drop(self.online.resume()),
            Some(Answer::Pause) => drop(self.online.pause()),
            Some(Answer::GoOn) => {}
            None if !self.prompt.is_open() && input.presses.contains(&Key::Escape) => {
                self.prompt.open(is_paused);
            }
            None => {}
        }
        let Some(delay) = self.online.session().map(Session::delay_frames) else { return };
        for key in &input.presses {
            let delay = match key {
                Key::F(2) => delay.saturating_sub(1),
                Key::F(3) => delay + 1,
                _ => continue,
            };
            match self.online.set_delay(delay) {
                Ok(()) => self.show.tell(&format!("your input delay: {delay} frames")),
                Err(error) => self.show.tell(&error.to_string()),
            }
        }
    }

    fn event(&mut self, event: Event) {
        let until = |at: Duration, online: &Online<Snapshot>| {
            at.saturating_sub(online.connection().now()).as_secs_f32().ceil()
        };
        let text = match event {
            Event::Interrupted { disconnect_at } => {
                self.show.rest();
                let seconds = until(disconnect_at, &self.online);
                format!("waiting for the other player, {seconds} s at most")
            }
            Event::Resumed => "the other player is back".to_owned(),
            Event::Desync(desync) => format!("the two machines disagree about frame {}", desync.frame),
            Event::Autopsy(autopsy) => {
                self.autopsy = Some(autopsy);
                return;
            }
            Event::Paused { by } => format!("player {by} has paused"),
            Event::Resuming { at } => format!("the match goes on in {} s", until(at, &self.online)),
            Event::PauseEnded => "the match goes on".to_owned(),
            Event::PauseRefused => "the other machine allows no more pauses".to_owned(),
            Event::DelayChanged { delay_frames } => format!("your input delay is now {delay_frames} frames"),
            Event::SlowRollback { takes, window_frames, delay_frames, .. } => format!(
                "a rollback takes {} ms here: a window of {window_frames} or a delay of {delay_frames} frames fits",
                takes.as_millis()
            ),
            Event::StateFailed(error) => error.to_string(),
            _ => return,
        };
        self.show.tell(&text);
    }

    fn ending(&self, finish: &Finish) -> Ending {
        let mut lines = Vec::new();
        let code = match (&self.unfit, finish) {
            (Some(sentence), _) => {
                lines.push(sentence.clone());
                1
            }
            (None, Finish::Played(Verdict::Agreed { .. })) => {
                lines.push("Both machines agree on every frame.".to_owned());
                0
            }
            (
                None,
                Finish::Refused(LobbyError::Incompatible { field: RefuseField::ContentHash, theirs, .. }),
            ) => {
                lines.push(self.terms.identity.against(*theirs));
                1
            }
            (None, finish) => {
                lines.push(finish.to_string());
                u8::from(!matches!(finish, Finish::Ended(rebout::Reason::LeftHere))) * 3
            }
        };
        lines.extend(self.autopsy.iter().map(ToString::to_string));
        if let Some(session) = self.online.session() {
            lines.extend(self.figures(session));
        }
        lines.extend(self.show.heard());
        let recording = self.online.recording().map(|path| format!("recorded to {}", path.display()));
        lines.extend(recording);
        Ending { lines, code }
    }

    /// The figures of the match.
    fn figures(&self, session: &Session<Snapshot>) -> Vec<String> {
        let stats = session.stats();
        let mut times = self.advance_micros.clone();
        times.sort_unstable();
        let part = |permille: usize| {
            let micros = times.get(times.len().saturating_sub(1) * permille / 1_000);
            f64::from(micros.copied().unwrap_or(0)) / 1e3
        };
        let (frames, rollback) = (session.settled().0, stats.rollback);
        let trip = stats.round_trip.unwrap_or_default().as_millis();
        vec![
            format!("frame {frames}, checksum {:08X}", checksum(&self.machine.snapshot())),
            format!(
                "{} stalls, {} rollbacks, {} frames stepped again, at most {} at once, {} checksums compared",
                stats.stalled_frames,
                rollback.rollbacks,
                rollback.resimulated_frames,
                self.deepest,
                stats.checksums_compared
            ),
            format!(
                "advance: {:.2} ms half of the time, {:.2} ms 99 times of 100; round trip {trip} ms, delay {} frames",
                part(500),
                part(990),
                session.delay_frames()
            ),
        ]
    }
}

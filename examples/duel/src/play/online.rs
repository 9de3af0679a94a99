//! A match against another machine, with a player at this one: the loop that an embedder copies.

use std::time::Duration;

use rebout::{
    Advanced, Agreed, Autopsy, Buttons, Config, Event, Finish, Now, OnDesync, Online, Paused, Session,
    Verdict,
};

use super::fight_log::FightLog;
use super::link::Link;
use super::machine::Machine;
use super::meet::{Role, known_as, meet};
use super::opening::Opened;
use super::opponent::POLL_INTERVAL;
use super::prompts::{Answer, Prompts, Question};
use super::seat::Seat;
use super::show::{Show, leaves, pauses};
use super::words::{Players, exit_code, is_own_choice, names_by_seat};
use super::{Ending, FRAME, Failure, InputSource};
use crate::netgraph::{Played, counted};
use crate::picture::{Tone, banner};
use crate::view::{InputState, Screen};
use games::duel::buttons::{LEAVE, START};
use games::duel::{Duel, Phase};
use stage::Key;
use stage::menu::Note;

/// A stall shorter than this is not worth a word.
const FELT_STALL_FRAMES: u32 = 10;

struct Match<'a> {
    machine: Machine,
    source: InputSource,
    players: Players,
    show: Show<'a>,
    link: Option<Link>,
    /// Nobody has verified the other machine, and the player knows.
    warned: bool,
    disconnect_at: Option<Duration>,
    stalled_in_a_row: u32,
    /// The rematch has been declined, or the game is to be left once the match is decided.
    declines: bool,
    wants_rematch: bool,
    prompts: Prompts,
    /// The last words about the rounds.
    told_round: Option<String>,
    log: FightLog,
    autopsy: Option<Autopsy>,
    /// What there was to say about files.
    notices: Vec<String>,
}

/// Finds the other machine and plays until the match is over or someone leaves.
///
/// # Errors
/// If there was no match, in words for the player.
pub fn online(
    screen: &Screen,
    seat: Seat,
    (connection, role): Opened,
    link: Option<Link>,
) -> Result<Ending, Failure> {
    let mut config = config(&seat);
    if link.is_some() {
        allow_long_pauses(&mut config);
    }
    config.lobby.ask_before_accepting =
        role.prompts_for_guests() && !seat.unattended && matches!(seat.source, InputSource::Keys(_));
    let (rules, record) = (seat.preferences.rules, seat.record.as_deref());
    let machine = Machine::new(connection, config, rules, record, role.spectators(), link.is_none())
        .map_err(Failure::of)?;
    play(screen, seat, machine, &role, link)
}

pub(super) fn config(seat: &Seat) -> Config {
    let mut config = seat.preferences.config();
    // A match that means something different on each screen is no match.
    config.on_desync = OnDesync::Stop;
    config
}

pub(super) fn play(
    screen: &Screen,
    seat: Seat,
    mut machine: Machine,
    role: &Role,
    link: Option<Link>,
) -> Result<Ending, Failure> {
    let here = [seat.preferences.name.clone(), "?".to_owned()];
    let seed = meet(screen, &mut machine.online, role, &here, seat.outfits, &seat.opponents)?;
    let (Some(seed), Some(agreed)) = (seed, machine.online.agreed().cloned()) else {
        let _ = machine.online.close();
        return Ok(Ending { is_own_choice: true, ..Ending::of(["Left before the match began.".to_owned()]) });
    };
    machine.begin(seed);
    if seat.without_cues {
        machine.note_step_cues();
    }
    let players =
        Players { names: names_by_seat(agreed.seat, &seat.preferences.name, &agreed), local: agreed.seat };
    let mut show = Show::new(screen, &machine.duel, players.names.clone(), seat.net);
    show.set_outfits(seat.outfits);
    if let Some(key) = machine.online.peer().player {
        show.tell(format!("{}: {}", players.other(), known_as(key, &seat.opponents)), Tone::Calm);
    }
    // Last, because it stays on the screen.
    show.tell(players.welcome(&agreed), Tone::Calm);
    let mut game = Match {
        machine,
        source: seat.source,
        players,
        show,
        link,
        warned: false,
        disconnect_at: None,
        stalled_in_a_row: 0,
        declines: false,
        wants_rematch: false,
        prompts: Prompts::default(),
        told_round: None,
        log: FightLog::default(),
        autopsy: None,
        notices: Vec::new(),
    };
    let finish = game.play(agreed)?;
    let mut ending = game.ending(&finish);
    let key = game.machine.online.peer().player;
    let trouble = seat.opponents.met(key, game.players.other(), seat.invite);
    ending.page.extend(trouble.iter().map(Note::warning));
    ending.lines.extend(trouble);
    let rollback = game.machine.online.stats().map(|stats| {
        format!("{} frames stalled, {}", stats.stalled_frames, counted(stats.rollback.rollbacks, "rollback"))
    });
    game.machine.serve_the_rest(&mut game.show);
    // If the last message does not get through, the other side notices the silence.
    let _ = game.machine.online.close();
    if seat.timings {
        ending.lines.extend(rollback);
        ending.lines.push(screen.timings());
    }
    Ok(ending)
}

/// A player who pauses a match against the bot may come back after lunch.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// Lets a match rest for as long as the player wants.
pub(super) fn allow_long_pauses(config: &mut Config) {
    (config.timeouts.no_progress_after, config.timeouts.too_slow_after) = (PATIENCE, PATIENCE);
}

impl Match<'_> {
    fn play(&mut self, mut agreed: Agreed) -> Result<Finish, Failure> {
        loop {
            match self.machine.online.wait()? {
                Now::Frame if self.link.is_some() && self.prompts.is(Question::Pause) => self.run_paused()?,
                Now::Frame => self.frame(&mut agreed),
                Now::Finished(finish) => return Ok(finish),
                now => self.handle_event(now),
            }
        }
    }

    fn frame(&mut self, agreed: &mut Agreed) {
        let input = self.show.take_input();
        self.handle_keys(&input);
        let buttons = self.buttons(&input);
        self.warn_unverified();
        if let Some((watchers, text)) = self.machine.new_watchers(self.show.net.watchers) {
            self.show.net.watchers = watchers;
            self.show.tell(text, Tone::Calm);
        }
        self.show_pause();
        let played = self.machine.advance(buttons);
        if let Some(session) = self.machine.online.session() {
            self.show.net.note(session, &played);
        }
        self.show.net.link = self.link.as_ref().map_or_else(String::new, ToString::to_string);
        self.repeat_welcome(agreed);
        self.warn(&played);
        self.log.observe(self.machine.certain(), self.machine.online.cues());
        let (duel, cues) = (&self.machine.duel, self.machine.online.cues());
        match self.machine.asked() {
            Some(asked) => self.show.frame_without_cues(duel, cues, asked),
            None => self.show.frame(duel, cues),
        }
    }

    fn buttons(&mut self, input: &InputState) -> Buttons {
        let mut buttons = if self.prompts.is_open() {
            Buttons::NONE
        } else {
            self.source.buttons(&self.machine.duel, self.players.local, input)
        };
        if self.wants_rematch {
            buttons |= START;
        }
        if self.declines {
            buttons |= LEAVE;
        }
        buttons
    }

    /// A moment of a paused match against the bot: packets move, and nobody plays.
    fn run_paused(&mut self) -> Result<(), Failure> {
        // The round trip is measured in a pause too, so that no packet may wait for the picture.
        for _ in 0..FRAME.as_millis() / POLL_INTERVAL.as_millis() {
            std::thread::sleep(POLL_INTERVAL);
            let now = self.machine.online.poll()?;
            self.handle_event(now);
        }
        let input = self.show.take_input();
        let own = self.machine.duel.fighters[self.players.local.index()].character;
        let answer = if input.closed {
            Some(Answer::Leave)
        } else {
            self.prompts.answer(&input, self.show.sound(), own)
        };
        if let Some(answer) = answer {
            self.prompts.close();
            self.pause(false);
            if answer == Answer::Leave {
                self.machine.online.leave();
            }
        }
        self.show.menu(self.prompts.menu());
        self.show.refresh();
        Ok(())
    }

    fn pause(&mut self, is_paused: bool) {
        self.link.iter().for_each(|link| link.pause(is_paused));
        if is_paused {
            self.prompts.ask(Question::Pause);
        }
    }

    /// Asks how a pause of a match between two players goes on, or shows its countdown.
    fn show_pause(&mut self) {
        let paused = self.machine.online.session().and_then(Session::paused);
        let Some(Paused { by, limit_at, resumes_at, .. }) = paused else {
            if self.is_pause_open() {
                self.prompts.close();
            }
            return;
        };
        if let Some(at) = resumes_at {
            let text = self.players.countdown(self.time_until(at));
            self.show.say(text, Tone::Calm);
            if self.is_pause_open() {
                self.prompts.close();
            }
        } else if matches!(self.source, InputSource::Keys(_)) {
            let decides = by == self.players.local || self.time_until(limit_at).is_zero();
            let question = if decides { Question::Pause } else { Question::Wait };
            if !self.prompts.is(question) {
                self.prompts.ask(question);
            }
            self.prompts
                .set_text(&self.players.paused(by), &self.players.pause_limit(by, self.time_until(limit_at)));
        }
        self.show.menu(self.prompts.menu());
    }

    fn is_pause_open(&self) -> bool {
        self.link.is_none() && (self.prompts.is(Question::Pause) || self.prompts.is(Question::Wait))
    }

    /// Tells the player what happened.
    fn handle_event(&mut self, now: Now) {
        let (text, tone) = match now {
            Now::Notice(text) => {
                self.notices.push(text.clone());
                (text, Tone::Warning)
            }
            Now::Connecting(text) => (text, Tone::Calm),
            Now::Event(Event::Autopsy(autopsy)) => {
                self.autopsy = Some(*autopsy);
                return;
            }
            Now::Event(event) => {
                match event {
                    Event::Interrupted { disconnect_at } => self.disconnect_at = Some(disconnect_at),
                    Event::Rejoined { .. } | Event::Resumed => self.disconnect_at = None,
                    Event::PauseRefused => self.prompts.ask(Question::Leave),
                    _ => {}
                }
                let now = self.machine.online.connection().now();
                let Some(said) = self.players.event(&event, now) else { return };
                said
            }
            _ => return,
        };
        self.show.tell(text, tone);
    }

    fn time_until(&self, at: Duration) -> Duration {
        at.saturating_sub(self.machine.online.connection().now())
    }

    /// Greets a joiner again once its machine has measured the round trip too, which the host had from the handshake.
    fn repeat_welcome(&mut self, agreed: &mut Agreed) {
        if agreed.round_trip.is_none() && self.show.net.round_trip_millis.is_some() {
            agreed.round_trip = self.machine.online.stats().and_then(|stats| stats.round_trip);
            self.show.say(self.players.welcome(agreed), Tone::Calm);
        }
    }

    /// Says that nobody has compared the code, once there is one to compare.
    fn warn_unverified(&mut self) {
        if self.warned {
            return;
        }
        let peer = self.machine.online.peer();
        if let Some(code) = peer.code.filter(|_| !peer.is_verified) {
            self.show.tell(self.players.not_verified(code), Tone::Warning);
            self.warned = true;
        }
    }

    /// Keys that are not buttons: leaving, the delay, the link.
    fn handle_keys(&mut self, input: &InputState) {
        let decided = matches!(self.machine.certain().phase, Phase::MatchOver { .. });
        self.decide(input, decided);
        self.ask_for_rematch(decided);
        self.show.menu(self.prompts.menu());
        if self.prompts.is_open() {
            return;
        }
        for key in input.presses.iter().filter(|key| !self.source.uses(**key)) {
            if let Some(text) = self.link.as_mut().and_then(|link| link.press(*key)) {
                self.show.tell(text, Tone::Calm);
            }
            if *key == Key::Char('v') && self.warned && self.machine.online.verify() {
                self.show.tell(self.players.verified(), Tone::Calm);
            }
            let Some(delay) = self.machine.online.session().map(Session::delay_frames) else { return };
            let delay = match key {
                Key::F(2) => delay.saturating_sub(1),
                Key::F(3) => delay + 1,
                _ => continue,
            };
            let text = match self.machine.online.set_delay(delay) {
                Ok(()) => format!("your input delay: {}", counted(delay.into(), "frame")),
                Err(error) => error.to_string(),
            };
            self.show.tell(text, Tone::Calm);
        }
    }

    /// Leaving, by all its ways.
    fn decide(&mut self, input: &InputState, decided: bool) {
        if input.closed {
            return self.machine.online.leave();
        }
        let resumes = self.link.is_none() && self.prompts.is(Question::Pause);
        let own = self.machine.duel.fighters[self.players.local.index()].character;
        let answer = self.prompts.answer(input, self.show.sound(), own);
        let says_no = match answer {
            Some(Answer::Rematch) => {
                self.wants_rematch = true;
                return;
            }
            Some(Answer::GoOn) => {
                if resumes {
                    self.machine.online.resume();
                }
                return;
            }
            Some(Answer::Leave) => true,
            None if self.prompts.is_open() => false,
            // The bot waits for somebody who cannot see it; another player does not.
            None if self.link.is_some() && !decided => pauses(input),
            None => leaves(input),
        };
        match (says_no, &self.source) {
            (false, _) => {}
            // Nobody forfeits a match that is over: the rematch is declined, and both machines come to the same end.
            _ if decided => self.declines = true,
            (true, InputSource::Keys(_)) if answer.is_none() && self.link.is_some() => self.pause(true),
            // Another player is asked for a pause, and sees who asks. Without one the match goes on, or waits.
            (true, InputSource::Keys(_)) if answer.is_none() => {
                if self.disconnect_at.is_some() || !self.machine.online.pause() {
                    self.prompts.ask(Question::Leave);
                }
            }
            _ => self.machine.online.leave(),
        }
    }

    /// Prompts whoever plays here for a rematch, as long as the game waits for one.
    fn ask_for_rematch(&mut self, decided: bool) {
        if !decided {
            self.wants_rematch = false;
            if self.prompts.is(Question::Rematch) {
                self.prompts.close();
            }
            return;
        }
        let is_player = matches!(self.source, InputSource::Keys(_)) && self.show.is_seen();
        if is_player && !self.wants_rematch && !self.declines {
            if !self.prompts.is(Question::Rematch) {
                self.prompts.ask(Question::Rematch);
            }
            if let Some(banner) = banner(self.show.scene()) {
                self.prompts.set_text(&banner.text, &banner.below);
            }
        }
    }

    /// Tells the player of an interrupted connection, of a stall that can be felt, and of the rounds.
    fn warn(&mut self, played: &Played) {
        // A player who cut the connection is told how to restore it.
        let cut = self.link.as_ref().and_then(Link::cut_words);
        if let Some(disconnect_at) = self.disconnect_at {
            let interrupted = self.players.interrupted(self.time_until(disconnect_at));
            let text = cut.map_or_else(|| interrupted.clone(), |cut| format!("{cut}; {interrupted}"));
            self.show.say(text, Tone::Alarm);
        } else if let Some(cut) = cut {
            self.show.say(cut, Tone::Warning);
        } else if played.advanced == Advanced::Stalled {
            self.stalled_in_a_row += 1;
            if self.stalled_in_a_row == FELT_STALL_FRAMES {
                self.show.say(format!("waiting for {}", self.players.other()), Tone::Warning);
            }
        } else {
            self.stalled_in_a_row = 0;
        }
        let told = self.players.round(self.machine.certain());
        if told.is_some() && told != self.told_round {
            self.show.print_without_screen(told.as_deref().unwrap_or_default());
            self.told_round = told;
        }
    }

    fn ending(&mut self, finish: &Finish) -> Ending {
        let certain = self.machine.certain();
        let result = self.players.result(certain, finish);
        let connection =
            Some(self.players.connection(finish)).filter(|_| !self.players.says_why(certain, finish));
        let is_calm = matches!(finish, Finish::Played(Verdict::Agreed { .. }));
        let mut page = vec![Note::calm(result.clone())];
        page.extend(connection.clone().filter(|_| !is_calm).map(Note::warning));
        page.extend(self.log.lines(&self.players.names, certain).into_iter().map(Note::calm));
        let mut lines = vec![result];
        lines.extend(connection);
        lines.extend(self.autopsy.iter().flat_map(|autopsy| self.players.autopsy(autopsy)));
        let frames = counted(self.machine.frames().into(), "frame");
        lines.push(format!("{frames}, checksum {:08X}", self.machine.checksum()));
        lines.extend(path_line(&self.machine.online));
        let recording = self.machine.online.recording();
        lines.extend(recording.map(|path| format!("Recorded to {}", path.display())));
        page.extend(self.autopsy.iter().flat_map(|autopsy| self.players.autopsy(autopsy)).map(Note::warning));
        page.extend(self.notices.iter().map(Note::warning));
        lines.append(&mut self.notices);
        Ending { lines, page, code: exit_code(finish), is_own_choice: is_own_choice(finish) || self.declines }
    }
}

/// The path of the match through routers, as a line for people and programs; `None` if none had to be searched for.
fn path_line(online: &Online<Duel>) -> Option<String> {
    let (connection, peer) = (online.connection(), online.peer());
    let after = connection.stats().found_after?.as_millis();
    let over_tls = if peer.is_over_tls { ", over TLS (a lost packet delays those behind it)" } else { "" };
    let (name, more) = match (peer.addr, peer.detour) {
        (None, _) => ("none", format!(". {}", connection.progress())),
        (Some(_), Some(detour)) => ("relayed", format!(", at most {} ms longer", detour.as_millis())),
        (Some(_), None) => (if peer.is_relayed { "relayed" } else { "direct" }, String::new()),
    };
    Some(format!("path: {name}{over_tls}, found after {after} ms{more}"))
}

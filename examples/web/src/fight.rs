//! A match in the page, against the bot or another player: frames in, pictures and sounds out.

use std::time::Duration;

use duel::composer::Composer;
use duel::devices::Devices;
use duel::keys::Bindings;
use duel::machine::Machine;
use duel::netgraph::{Played, counted};
use duel::pad_keys::{PAUSE, PadBindings};
use duel::picture::{Panel, Tone, banner};
use duel::prompts::{Answer, Prompts, Question};
use duel::rules::Rules;
use duel::words::{Players, names_by_seat};
use duel::{picture, sound};
use games::duel::buttons::{LEAVE, START};
use games::duel::{Character, Duel, Phase};
use rebout::{Advanced, Autopsy, Buttons, Event, Finish, Now, Online, Paused, Player, Session};
use stage::sound::Sound;
use stage::{InputState, Key};

use crate::bot::BotMachine;
use crate::input::Input;
use crate::json;
use crate::report::Report;
use crate::wire::Wire;

/// Frames and events in one turn of the page. After a long rest the match catches up over several turns.
const MAX_A_TURN: u32 = 240;
/// A stall shorter than this is not worth a word.
const FELT_STALL_FRAMES: u32 = 10;

/// A match, from the search for the other player to its end.
pub struct Fight {
    machine: Machine<Wire>,
    bot: Option<BotMachine>,
    devices: Devices,
    /// The name of the player at this page.
    name: String,
    players: Option<Players>,
    pub composer: Composer,
    prompts: Prompts,
    disconnect_at: Option<Duration>,
    stalled_in_a_row: u32,
    wants_rematch: bool,
    /// The rematch has been declined.
    declines: bool,
    autopsy: Option<Autopsy>,
    notices: Vec<String>,
    /// The state of the search, in words.
    progress: String,
}

impl Fight {
    pub fn new(online: Online<Duel, Wire>, bot: Option<BotMachine>, name: &str, net_open: bool) -> Self {
        let machine = Machine::of(online, Rules::default());
        let composer = Composer::new(&machine.duel, [name.to_owned(), "?".to_owned()], net_open);
        Self {
            machine,
            bot,
            devices: Devices { keys: Bindings::ALONE, pad: PadBindings::USUAL },
            name: name.to_owned(),
            players: None,
            composer,
            prompts: Prompts::default(),
            disconnect_at: None,
            stalled_in_a_row: 0,
            wants_rematch: false,
            declines: false,
            autopsy: None,
            notices: Vec::new(),
            progress: String::new(),
        }
    }

    /// Sends, receives and plays what is due. Returns the report once the match is over.
    pub fn turn(&mut self, input: &mut Input, sound: &Sound) -> Option<Report> {
        // Before and after, so that neither side waits for the next turn of the page to hear of the other.
        self.turn_bot();
        for _ in 0..MAX_A_TURN {
            let now = match self.machine.online.poll() {
                Ok(now) => now,
                Err(error) => {
                    return Some(Report::failure("No match", format!("the network is broken: {error}")));
                }
            };
            match now {
                Now::Begin { seed, .. } => self.begin(seed, sound),
                Now::Frame if self.rests() => {
                    self.paused(input, sound);
                    break;
                }
                Now::Frame => self.frame(&input.take(), sound),
                Now::Connecting(progress) if self.players.is_none() => {
                    self.progress = progress;
                    if self.waiting(&input.take()) {
                        return Some(Report::title());
                    }
                    break;
                }
                Now::Finished(finish) => return Some(self.report(&finish)),
                Now::Idle | Now::Connecting(_) | Now::Guest { .. } => break,
                now => self.handle_event(now),
            }
        }
        self.turn_bot();
        None
    }

    fn turn_bot(&mut self) {
        let rests = self.rests();
        if let Some(bot) = &mut self.bot {
            bot.turn(rests);
        }
    }

    /// The text for the other player, while there is none.
    pub fn invite(&self) -> Option<&str> {
        (self.players.is_none() && self.bot.is_none())
            .then(|| self.machine.online.share())
            .filter(|text| !text.is_empty())
    }

    /// The facts of the match for whoever measures it, as members of a JSON object.
    pub fn facts(&self) -> String {
        let stats = self.machine.online.stats();
        let count = |of: fn(&rebout::Stats) -> u64| stats.as_ref().map_or(0, of);
        format!(
            "\"playing\":{},\"frame\":{},\"settled\":{},\"checksum\":\"{:08X}\",\"stalls\":{},\"rollbacks\":{},\"resimulated\":{},\
             \"packetsIn\":{},\"packetsOut\":{},\"refused\":{},\"roundTripMillis\":{:.1},\"interrupted\":{},\"message\":{},\"progress\":{}",
            self.players.is_some(),
            self.machine.online.session().map_or(0, |session| session.current().0),
            self.machine.frames(),
            self.machine.checksum(),
            count(|stats| stats.stalled_frames),
            count(|stats| stats.rollback.rollbacks),
            count(|stats| stats.rollback.resimulated_frames),
            count(|stats| stats.packets_in),
            count(|stats| stats.packets_out),
            self.machine.online.connection().stats().refused,
            self.composer.net.round_trip_millis.unwrap_or(-1.0),
            self.disconnect_at.is_some(),
            json::string(self.composer.picture().message.as_ref().map_or("", |message| &message.text)),
            json::string(&self.progress),
        )
    }

    /// Leaves the match as the page is closed: one last packet tells the other machine.
    pub fn leave(&mut self) {
        self.machine.online.leave();
        let _ = self.machine.online.poll();
    }

    /// The match against the bot rests while the player has paused it.
    fn rests(&self) -> bool {
        self.bot.is_some() && self.prompts.is(Question::Pause)
    }

    fn begin(&mut self, seed: u32, sound: &Sound) {
        self.machine.begin(seed);
        let Some(agreed) = self.machine.online.agreed().cloned() else { return };
        let players = Players { names: names_by_seat(agreed.seat, &self.name, &agreed), local: agreed.seat };
        self.composer = Composer::new(&self.machine.duel, players.names.clone(), self.composer.net_open);
        self.composer.say(players.welcome(&agreed), Tone::Calm);
        self.players = Some(players);
        sound.stop();
    }

    /// A picture of the search; `true` if the player gives it up.
    fn waiting(&mut self, input: &InputState) -> bool {
        let panel = Panel {
            title: "Online".to_owned(),
            lines: vec![(String::new(), self.progress.clone())],
            footer: "esc goes back".to_owned(),
        };
        self.composer.panel(Some(panel));
        self.composer.renew();
        leaves(input)
    }

    /// The fighter of whoever plays here.
    fn own_character(&self) -> Character {
        let seat = self.machine.online.local().map_or(0, Player::index);
        self.machine.duel.fighters[seat].character
    }

    fn paused(&mut self, input: &mut Input, sound: &Sound) {
        let input = input.take();
        let own = self.own_character();
        if let Some(answer) = self.prompts.answer(&input, sound, own) {
            self.prompts.close();
            if answer == Answer::Leave {
                self.machine.online.leave();
            }
        }
        self.composer.menu(self.prompts.menu());
        self.composer.renew();
    }

    fn frame(&mut self, input: &InputState, sound: &Sound) {
        self.handle_keys(input, sound);
        self.show_pause();
        let buttons = self.buttons(input);
        let played = self.machine.advance(buttons);
        if let Some(session) = self.machine.online.session() {
            self.composer.net.note(session, &played);
        }
        self.warn(&played);
        let (duel, cues) = (&self.machine.duel, self.machine.online.cues());
        sound::hear(sound, duel, cues);
        self.composer.see(duel, cues);
    }

    fn buttons(&self, input: &InputState) -> Buttons {
        let mut buttons = if self.prompts.is_open() { Buttons::NONE } else { self.devices.buttons(input) };
        if self.wants_rematch {
            buttons |= START;
        }
        if self.declines {
            buttons |= LEAVE;
        }
        buttons
    }

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
                let said = self.players.as_ref().and_then(|players| players.event(&event, now));
                let Some(said) = said else { return };
                said
            }
            _ => return,
        };
        self.composer.say(text, tone);
    }

    /// Keys that are not buttons: leaving, the pause, the delay.
    fn handle_keys(&mut self, input: &InputState, sound: &Sound) {
        let decided = matches!(self.machine.certain().phase, Phase::MatchOver { .. });
        self.decide(input, decided, sound);
        self.ask_for_rematch(decided);
        self.composer.menu(self.prompts.menu());
        if self.prompts.is_open() {
            return;
        }
        for key in &input.presses {
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
            self.composer.say(text, Tone::Calm);
        }
    }

    /// Leaving and pausing, by all their ways.
    fn decide(&mut self, input: &InputState, decided: bool, sound: &Sound) {
        let resumes = self.bot.is_none() && self.prompts.is(Question::Pause);
        let own = self.own_character();
        let answer = self.prompts.answer(input, sound, own);
        match answer {
            Some(Answer::Rematch) => self.wants_rematch = true,
            Some(Answer::GoOn) if resumes => {
                self.machine.online.resume();
            }
            Some(Answer::GoOn) => {}
            // Nobody forfeits a match that is over: the rematch is declined, and both machines come to the same end.
            Some(Answer::Leave) if decided => self.declines = true,
            Some(Answer::Leave) => self.machine.online.leave(),
            None if self.prompts.is_open() => {}
            None if decided => self.declines |= leaves(input),
            None => self.pause_if_wanted(input),
        }
    }

    fn pause_if_wanted(&mut self, input: &InputState) {
        // The bot waits for somebody who cannot see it; another player does not.
        if self.bot.is_some() {
            if leaves(input) || input.unseen {
                self.prompts.ask(Question::Pause);
            }
        } else if leaves(input) && (self.disconnect_at.is_some() || !self.machine.online.pause()) {
            self.prompts.ask(Question::Leave);
        }
    }

    fn ask_for_rematch(&mut self, decided: bool) {
        if !decided {
            self.wants_rematch = false;
            if self.prompts.is(Question::Rematch) {
                self.prompts.close();
            }
            return;
        }
        if !self.wants_rematch && !self.declines {
            if !self.prompts.is(Question::Rematch) {
                self.prompts.ask(Question::Rematch);
            }
            if let Some(banner) = banner(self.composer.scene()) {
                self.prompts.set_text(&banner.text, &banner.below);
            }
        }
    }

    /// Asks how a pause of a match between two players goes on, or shows its countdown.
    fn show_pause(&mut self) {
        if self.bot.is_some() {
            return;
        }
        let Some(players) = &self.players else { return };
        let is_open = self.prompts.is(Question::Pause) || self.prompts.is(Question::Wait);
        let now = self.machine.online.connection().now();
        let paused = self.machine.online.session().and_then(Session::paused);
        match paused {
            Some(Paused { resumes_at: Some(at), .. }) => {
                self.composer.say(players.countdown(at.saturating_sub(now)), Tone::Calm);
                if is_open {
                    self.prompts.close();
                }
            }
            Some(Paused { by, limit_at, .. }) => {
                let left = limit_at.saturating_sub(now);
                let decides = by == players.local || left.is_zero();
                let question = if decides { Question::Pause } else { Question::Wait };
                if !self.prompts.is(question) {
                    self.prompts.ask(question);
                }
                self.prompts.set_text(&players.paused(by), &players.pause_limit(by, left));
            }
            None if is_open => self.prompts.close(),
            None => {}
        }
        self.composer.menu(self.prompts.menu());
    }

    /// Tells the player of an interrupted connection, and of a stall that can be felt.
    fn warn(&mut self, played: &Played) {
        let Some(players) = &self.players else { return };
        if let Some(disconnect_at) = self.disconnect_at {
            let left = disconnect_at.saturating_sub(self.machine.online.connection().now());
            self.composer.say(players.interrupted(left), Tone::Alarm);
        } else if played.advanced == Advanced::Stalled {
            self.stalled_in_a_row += 1;
            if self.stalled_in_a_row == FELT_STALL_FRAMES {
                self.composer.say(format!("waiting for {}", players.other()), Tone::Warning);
            }
        } else {
            self.stalled_in_a_row = 0;
        }
    }

    fn report(&self, finish: &Finish) -> Report {
        let Some(players) = &self.players else {
            return Report::failure("No match", finish.to_string());
        };
        let certain = self.machine.certain();
        let mut lines = vec![players.result(certain, finish), players.connection(finish)];
        lines.extend(self.autopsy.iter().flat_map(|autopsy| players.autopsy(autopsy)));
        let frames = counted(self.machine.frames().into(), "frame");
        lines.push(format!("{frames}, checksum {:08X}", self.machine.checksum()));
        lines.extend(self.notices.iter().cloned());
        let is_own_choice = duel::words::is_own_choice(finish) || self.declines;
        Report::of_match(lines, duel::words::exit_code(finish) != duel::exit::PLAYED, is_own_choice)
    }
}

/// Whether the player wants to leave.
pub fn leaves(input: &InputState) -> bool {
    input.presses.contains(&Key::Escape) || input.pad_pressed(PAUSE)
}

/// The name of a player who has given none.
pub fn own_name(name: &str, against_bot: bool) -> String {
    let name = name.trim();
    if name.is_empty() {
        let nameless = if against_bot { picture::YOU } else { "Guest" };
        return nameless.to_owned();
    }
    duel::words::name_in(name)
}

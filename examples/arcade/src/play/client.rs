//! A player or a bot.

use super::{Outcome, OutputFormat, OwnGame, Silence, Target, bot, entropy, words_for};
use crate::art::{LIVERY_NAMES, Note, Panel, Picture, Screen};
use crate::cli::Format;
use crate::game::{Arcade, Phase};
use crate::keys;
use crate::pause::{Company, Pause, PauseRequest};
use crate::scene::Scene;
use crate::sound;
use rebout::Connection;
use rebout::authority::{
    Client, ClientConfig, ClientEvent, Command, GameWire, OverReason, PlayerName, RtypeWire, Wire,
};
use rebout::lab::link::LinkConfig;
use stage::menu::drive;
use stage::{InputState, Key};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long the end of a connection is shown, unless a key is pressed.
const SHOWN_FOR: Duration = Duration::from_secs(8);

/// Frames for which the keys are explained at the start.
const HINT_FRAMES: u32 = 420;

const INVITE_CHARACTERS_A_LINE: usize = 40;

/// Who holds the controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputSource {
    Keys,
    Bot,
}

/// The most characters of a name beside the lives.
const NAME_CHARACTERS: usize = 10;

/// The server of a player who has started it too.
#[derive(Clone, Debug)]
pub struct Hosted {
    /// The text by which others join.
    pub invitation: String,
    pub game: OwnGame,
}

/// How somebody plays.
#[derive(Clone, Debug)]
pub struct Seat {
    /// The format of the datagrams; without it both are tried.
    pub wire: Option<Format>,
    pub source: InputSource,
    pub name: Option<PlayerName>,
    pub link: Option<LinkConfig>,
    pub seconds: Option<u64>,
    pub timeout: u64,
    pub output: OutputFormat,
    /// Said before each line, to tell bots apart.
    pub prefix: String,
    pub hosted: Option<Hosted>,
}

/// The end of a game: the reason, and words for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub reason: OverReason,
    pub words: String,
}

/// Plays until the connection is over, and returns why.
pub fn play(screen: &Screen, target: &Target, seat: &Seat) -> Outcome<End> {
    let first = seat.wire.unwrap_or_default();
    match play_as(first, screen, target, seat, seat.wire.is_none())? {
        Some(end) => Ok(end),
        // The server is there and does not know this wire.
        None => Ok(play_as(first.other(), screen, target, seat, false)?.expect("no third wire")),
    }
}

fn play_as(
    wire: Format,
    screen: &Screen,
    target: &Target,
    seat: &Seat,
    has_other: bool,
) -> Outcome<Option<End>> {
    match wire {
        Format::Rtype => play_on::<RtypeWire>(wire, screen, target, seat, has_other),
        Format::Game => play_on::<GameWire>(wire, screen, target, seat, has_other),
    }
}

/// Plays on a wire; `None` if the server may know the other one, which is left to try.
fn play_on<W: Wire>(
    wire: Format,
    screen: &Screen,
    target: &Target,
    seat: &Seat,
    has_other: bool,
) -> Outcome<Option<End>> {
    let (mut connection, _relay) = super::join(target, seat.link)?;
    let mut config = ClientConfig::new(entropy());
    let timeout = Duration::from_secs(seat.timeout);
    (config.timeout, config.join_timeout) = (timeout, timeout);
    config.name = seat.name.unwrap_or(PlayerName::DEFAULT);
    let client = connection.client::<W>(config)?;
    let begun = connection.now();
    let end = seat.seconds.map(|seconds| begun + Duration::from_secs(seconds));
    let mut game = Game {
        client,
        wire,
        joining: connection.progress(),
        screen,
        seat,
        scene: Scene::default(),
        shown: Shown::default(),
        left: None,
        most_ships: 0,
        silence: Silence::default(),
        pause: None,
    };
    screen.sound().music(Some(sound::MUSIC));
    let world = Arcade::new(1);
    loop {
        let due = game.client.next_frame_at();
        let now = connection.run_until(&mut game.client, due)?;
        let input = screen.take_input();
        let (command, wants_out) = game.command(&input);
        game.client.advance(now, &world, command);
        connection.flush(&mut game.client)?;
        if let Some(reason) = game.hear() {
            connection.close(&mut game.client, Duration::from_secs(1))?;
            let is_there = !connection.is_encrypted() || connection.stats().connections > 0;
            if reason == OverReason::NoAnswer && has_other && is_there {
                return Ok(None);
            }
            game.rest(false);
            game.report(reason);
            let words = words_for(reason, seat.wire, &connection, now - begun);
            if reason != OverReason::Left {
                game.show_end(reason, &words);
            }
            return Ok(Some(End { reason, words }));
        }
        game.silence.note(now, game.client.stats().datagrams_in);
        if game.client.id().is_none() {
            game.await_server(&connection)?;
        }
        game.show();
        if input.closed || wants_out || end.is_some_and(|end| now >= end) {
            game.client.leave(now);
        }
    }
}

struct Game<'a, W: Wire> {
    client: Client<W>,
    screen: &'a Screen,
    seat: &'a Seat,
    wire: Format,
    scene: Scene,
    shown: Shown,
    /// Who was seen to leave last, and for how many frames that is still shown.
    left: Option<(String, u16)>,
    silence: Silence,
    pause: Option<Pause>,
    /// The most ships that were seen at once: bots leave one after the other.
    most_ships: usize,
    /// How far the way to the server is found.
    joining: String,
}

/// What a player has switched on.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    fires: bool,
    raw: bool,
    net: bool,
    invite: bool,
}

impl<W: Wire> Game<'_, W> {
    /// Notes how far the connection is; an error once it is certain that there is no way.
    fn await_server(&mut self, connection: &Connection) -> Outcome {
        if let Some(error) = connection.failure() {
            return Err(error.into());
        }
        if self.screen.is_seen() {
            self.joining = connection.progress();
        }
        Ok(())
    }

    /// The command of this frame, and whether the player leaves.
    fn command(&mut self, input: &InputState) -> (Command, bool) {
        if self.pause.is_some() {
            return (Command::NEUTRAL, self.act_in_pause(input));
        }
        for key in &input.presses {
            match key {
                Key::Char('f') => self.shown.fires = !self.shown.fires,
                Key::Char('r') => self.shown.raw = !self.shown.raw,
                Key::Char('n') | Key::F(1) => self.shown.net = !self.shown.net,
                Key::Char('m') => _ = self.screen.sound().toggle_mute(),
                Key::Char('i') => {
                    if let Some(hosted) = &self.seat.hosted {
                        self.shown.invite = !self.shown.invite;
                        self.screen.copy(&hosted.invitation);
                    }
                }
                // Before there is a game there is nothing to ask about.
                Key::Escape | Key::Char('q') if self.client.frame().is_none() => {
                    return (Command::NEUTRAL, true);
                }
                Key::Escape | Key::Char('q') => {
                    self.pause = Some(Pause::new(self.screen.sound().levels(), self.company()));
                    self.rest(true);
                    return (Command::NEUTRAL, false);
                }
                _ => {}
            }
        }
        let command = match self.seat.source {
            InputSource::Keys => keys::command(input, self.shown.fires),
            InputSource::Bot => bot(&self.scene),
        };
        (command, false)
    }

    /// Acts in the menu of the running game; `true` if the player leaves.
    fn act_in_pause(&mut self, input: &InputState) -> bool {
        let sound = self.screen.sound();
        let request = drive(
            input,
            &mut self.pause,
            |pause| pause.as_ref().map(Pause::menu),
            |pause, act| match pause.as_mut()?.act(act)? {
                PauseRequest::Levels(levels) => {
                    sound.set_levels(levels);
                    None
                }
                request => Some(request),
            },
        );
        if request.is_some() {
            self.pause = None;
            self.rest(false);
        }
        request == Some(PauseRequest::Leave)
    }

    fn company(&self) -> Company {
        match &self.seat.hosted {
            Some(hosted) if hosted.game.is_alone(self.scene.ships.len()) => Company::Alone,
            Some(_) => Company::Host,
            None => Company::Guest,
        }
    }

    /// Lets a game of one's own rest, or go on.
    fn rest(&self, rests: bool) {
        if let Some(hosted) = &self.seat.hosted {
            hosted.game.rests.store(rests, Ordering::Relaxed);
        }
    }

    /// Takes in events; returns the reason if the connection is over.
    fn hear(&mut self) -> Option<OverReason> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Joined { id } => {
                    let words = format!("{}you are player {id}", self.seat.prefix);
                    self.seat.output.say("joined", &[("id", id.to_string())], &words);
                }
                ClientEvent::Gone { id, .. } if self.scene.ships.contains(&id) => {
                    let name = LIVERY_NAMES[self.scene.seat(id) % LIVERY_NAMES.len()];
                    self.left = Some((format!("the {name} ship has left"), 180));
                }
                ClientEvent::Over(reason) => return Some(reason),
                _ => {}
            }
            self.scene.event(&event);
        }
        None
    }

    fn show(&mut self) {
        self.scene.frame(&self.client);
        self.most_ships = self.most_ships.max(self.scene.ships.len());
        for (at, sound) in (0_u32..).zip(&self.scene.sounds) {
            self.screen.sound().play(sound::play_of(*sound, self.scene.age.wrapping_add(at)));
        }
        self.left = self.left.take().and_then(|(words, frames)| Some((words, frames.checked_sub(1)?)));
        if self.screen.is_seen() {
            let hosted = self.seat.hosted.as_ref().filter(|_| self.shown.invite);
            let panel = hosted.map(|hosted| invitation(&hosted.invitation));
            self.screen.show(&self.picture(panel));
        }
    }

    fn picture(&self, panel: Option<Panel>) -> Picture {
        let is_out = self.scene.own.and_then(|own| self.scene.lives_of(own)) == Some(0);
        let note = match (&self.left, self.client.frame()) {
            _ if panel.is_some() => None,
            (_, None) => Some(Note::calm(&self.joining)),
            _ if self.silence.words(self.seat.timeout).is_some() => {
                self.silence.words(self.seat.timeout).map(|words| Note::warning(&words))
            }
            (Some((words, _)), _) => Some(Note::warning(words)),
            // After the end of a game everybody is in the next one.
            _ if is_out && self.scene.phase != Phase::Over => {
                Some(Note::calm("you are out until the next level"))
            }
            _ if self.scene.phase == Phase::Intro && self.seat.hosted.is_some() => {
                Some(Note::calm("i shows the invite by which others join"))
            }
            _ => None,
        };
        let hints = self.seat.source == InputSource::Keys && self.scene.age < HINT_FRAMES;
        let name = self
            .seat
            .name
            .map_or("you".to_owned(), |name| name.as_str().chars().take(NAME_CHARACTERS).collect());
        Picture {
            hints,
            scene: self.scene.clone(),
            raw: self.shown.raw,
            net: self.shown.net.then(|| self.figures()),
            note,
            panel,
            name,
            menu: self.pause.as_ref().map(|pause| pause.menu().clone()),
        }
    }

    fn figures(&self) -> Vec<String> {
        let stats = self.client.stats();
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        vec![
            format!("wire {}", self.wire.name()),
            format!("round trip {:.0} ms", ms(stats.round_trip)),
            format!("others {:.0} ms ago", ms(stats.delay)),
            format!("corrected at most {}", stats.prediction.max_correction),
        ]
    }

    /// Keeps the last picture with words about the end, until a key is pressed or nobody does.
    fn show_end(&mut self, reason: OverReason, words: &str) {
        self.pause = None;
        let title = match reason {
            OverReason::Full => "No seat",
            OverReason::NoAnswer => "No answer",
            OverReason::Silent => "The server is lost",
            OverReason::Kicked => "You were removed",
            OverReason::Rejected => "Another version",
            _ => "The server is closed",
        };
        let panel = Panel {
            title: title.to_owned(),
            lines: vec![words.to_owned()],
            footer: "any key leaves".to_owned(),
        };
        let picture = self.picture(Some(panel));
        let begun = std::time::Instant::now();
        self.screen.show(&picture);
        while self.screen.is_seen() && begun.elapsed() < SHOWN_FOR {
            let input = self.screen.take_input();
            let old = begun.elapsed() < Duration::from_millis(300);
            let pressed = !input.presses.is_empty() || input.menu_presses().next().is_some();
            if input.closed || (pressed && !old) {
                return;
            }
            std::thread::sleep(Duration::from_millis(16));
        }
    }

    /// Says how it was.
    fn report(&self, reason: OverReason) {
        let stats = self.client.stats();
        let (scene, prediction) = (&self.scene, stats.prediction);
        let ms = |duration: Duration| format!("{:.2}", duration.as_secs_f64() * 1e3);
        let lives = scene.own.and_then(|own| scene.lives_of(own)).unwrap_or(0);
        let fields = [
            ("reason", reason.to_string()),
            ("wire", self.wire.name().to_owned()),
            ("steps", stats.steps.to_string()),
            ("updates", stats.snapshots.to_string()),
            ("compared", prediction.compared.to_string()),
            ("exact", prediction.exact.to_string()),
            ("max_correction", prediction.max_correction.to_string()),
            ("ships", self.most_ships.to_string()),
            ("score", scene.score.to_string()),
            ("level", scene.level.to_string()),
            ("lives", lives.to_string()),
            ("round_trip_ms", ms(stats.round_trip)),
            ("delay_ms", ms(stats.delay)),
        ];
        let words = format!(
            "{}{reason}: level {}, {} points, {lives} lives; {} of {} updates of the own ship corrected nothing",
            self.seat.prefix, scene.level, scene.score, prediction.exact, prediction.compared
        );
        self.seat.output.say("over", &fields, &words);
    }
}

/// The invite in lines that fit, for those who cannot paste.
fn invitation(text: &str) -> Panel {
    let characters: Vec<char> = text.chars().collect();
    Panel {
        title: "Others join by this invite".to_owned(),
        lines: characters.chunks(INVITE_CHARACTERS_A_LINE).map(|line| line.iter().collect()).collect(),
        footer: "it is on its way to your clipboard; i hides it".to_owned(),
    }
}

//! A player or a bot.

use super::{Outcome, OutputFormat, Target, bot, entropy, words_for};
use crate::art::{Note, Panel, Picture, Screen};
use crate::cli::Format;
use crate::game::Arcade;
use crate::keys;
use crate::scene::Scene;
use crate::sound;
use rebout::Connection;
use rebout::authority::{
    Client, ClientConfig, ClientEvent, Command, GameWire, OverReason, PlayerName, RtypeWire, Wire,
};
use rebout::lab::link::LinkConfig;
use stage::{InputState, Key};
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

/// How somebody plays.
#[derive(Clone, Debug)]
pub struct Seat {
    pub wire: Format,
    pub source: InputSource,
    pub name: Option<PlayerName>,
    pub link: Option<LinkConfig>,
    pub seconds: Option<u64>,
    pub timeout: u64,
    pub output: OutputFormat,
    /// Said before each line, to tell bots apart.
    pub prefix: String,
    /// The text by which others join, for a player who has started the server too.
    pub invitation: String,
}

/// The end of a game: the reason, and words for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub reason: OverReason,
    pub words: String,
}

/// Plays until the connection is over, and returns why.
pub fn play(screen: &Screen, target: &Target, seat: &Seat) -> Outcome<End> {
    match seat.wire {
        Format::Rtype => play_on::<RtypeWire>(screen, target, seat),
        Format::Game => play_on::<GameWire>(screen, target, seat),
    }
}

fn play_on<W: Wire>(screen: &Screen, target: &Target, seat: &Seat) -> Outcome<End> {
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
        joining: connection.progress(),
        screen,
        seat,
        scene: Scene::default(),
        fires: false,
        raw: false,
        net: false,
        left: None,
        most_ships: 0,
        invites: false,
    };
    screen.sound().music(Some(sound::MUSIC));
    let world = Arcade::new(1);
    loop {
        let due = game.client.next_frame_at();
        let now = connection.run_until(&mut game.client, due)?;
        let input = screen.take_input();
        let command = game.command(&input);
        game.client.advance(now, &world, command);
        connection.flush(&mut game.client)?;
        if let Some(reason) = game.hear() {
            connection.close(&mut game.client, Duration::from_secs(1))?;
            game.report(reason);
            let words = words_for(reason, seat.wire, &connection, now - begun);
            if reason != OverReason::Left {
                game.show_end(&words);
            }
            return Ok(End { reason, words });
        }
        if game.client.id().is_none() {
            game.await_server(&connection)?;
        }
        game.show();
        let leaves =
            input.closed || input.presses.iter().any(|key| matches!(key, Key::Escape | Key::Char('q')));
        if leaves || end.is_some_and(|end| now >= end) {
            game.client.leave(now);
        }
    }
}

struct Game<'a, W: Wire> {
    client: Client<W>,
    screen: &'a Screen,
    seat: &'a Seat,
    scene: Scene,
    fires: bool,
    raw: bool,
    net: bool,
    /// Who was seen to leave last, and for how many frames that is still shown.
    left: Option<(u8, u16)>,
    /// The most ships that were seen at once: bots leave one after the other.
    most_ships: usize,
    /// How far the way to the server is found.
    joining: String,
    /// Whether the invite is shown.
    invites: bool,
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

    fn command(&mut self, input: &InputState) -> Command {
        for key in &input.presses {
            match key {
                Key::Char('f') => self.fires = !self.fires,
                Key::Char('r') => self.raw = !self.raw,
                Key::Char('n') | Key::F(1) => self.net = !self.net,
                Key::Char('m') => _ = self.screen.sound().toggle_mute(),
                Key::Char('i') if !self.seat.invitation.is_empty() => {
                    self.invites = !self.invites;
                    self.screen.copy(&self.seat.invitation);
                }
                _ => {}
            }
        }
        match self.seat.source {
            InputSource::Keys => keys::command(input, self.fires),
            InputSource::Bot => bot(&self.scene),
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
                ClientEvent::Gone { id, .. } if self.scene.ships.contains(&id) => self.left = Some((id, 180)),
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
        self.left = self.left.and_then(|(id, frames)| Some((id, frames.checked_sub(1)?)));
        if self.screen.is_seen() {
            let panel = self.invites.then(|| invitation(&self.seat.invitation));
            self.screen.show(&self.picture(panel));
        }
    }

    fn picture(&self, panel: Option<Panel>) -> Picture {
        let note = match (self.left, self.client.frame()) {
            _ if panel.is_some() => None,
            (_, None) => Some(Note::calm(&self.joining)),
            (Some((id, _)), _) => Some(Note::warning(&format!("player {id} has left"))),
            _ if self.scene.own.and_then(|own| self.scene.lives_of(own)) == Some(0) => {
                Some(Note::calm("you are out until the next level"))
            }
            _ if self.scene.phase == crate::game::Phase::Intro && !self.seat.invitation.is_empty() => {
                Some(Note::calm("i shows the invite by which others join"))
            }
            _ => None,
        };
        let hints = self.seat.source == InputSource::Keys && self.scene.age < HINT_FRAMES;
        Picture {
            hints,
            scene: self.scene.clone(),
            raw: self.raw,
            net: self.net.then(|| self.figures()),
            note,
            panel,
            menu: None,
        }
    }

    fn figures(&self) -> Vec<String> {
        let stats = self.client.stats();
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        vec![
            format!("wire {}", self.seat.wire.name()),
            format!("round trip {:.0} ms", ms(stats.round_trip)),
            format!("others {:.0} ms ago", ms(stats.delay)),
            format!("corrected at most {}", stats.prediction.max_correction),
        ]
    }

    /// Keeps the last picture with words about the end, until a key is pressed or nobody does.
    fn show_end(&mut self, words: &str) {
        let panel = Panel {
            title: "The game is over".to_owned(),
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
            ("wire", self.seat.wire.name().to_owned()),
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

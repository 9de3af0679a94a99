//! The page as a state machine: the browser calls [`App::turn`] as often as it likes, and paints what is new.

use std::time::Duration;

use duel::composer::Composer;
use duel::picture::Picture;
use duel::rules::{Preferences, Rules};
use duel::sound;
use games::duel::Duel;
use rebout::{Config, ConnectError, OnDesync, Online};
use stage::sound::{Mixer, Sound, SoundId, ui};
use stage::{Picture as _, Pixels};

use crate::bot::against_bot;
use crate::fight::{Fight, own_name};
use crate::frames::Frames;
use crate::input::Input;
use crate::json;
use crate::report::Report;
use crate::title::{Request, Title};
use crate::watch::Watched;
use crate::wire::{Clock, Wire};

const WINDOW_FRAMES: u8 = 8;
const FRAME_RATE: u16 = 60;
/// The usual strength of the bot, an index of the title's choice.
const USUAL_LEVEL: usize = 0;

// There is one of these.
#[allow(clippy::large_enum_variant)]
enum Mode {
    Title(Title, Frames),
    Fight(Fight),
    Watch(Watched, Frames),
}

/// The game of a page.
pub struct App {
    clock: Clock,
    mode: Mode,
    pub input: Input,
    sound: Sound,
    /// `None` until the player has clicked: no browser lets a page be heard before.
    mixer: Option<Mixer>,
    /// The music that was asked for last.
    music: Option<SoundId>,
    pixels: Pixels,
    /// A frame has been played since the last picture.
    is_new: bool,
    name: String,
    level: usize,
    seeds: u32,
    wants_to_host: bool,
}

impl App {
    /// The game at its title. The seed decides about the matches of this page, and need not be secret.
    pub fn new(clock: Clock, seed: u32) -> Self {
        let title = Title::new(seed, Report::title(), (USUAL_LEVEL, false));
        Self {
            clock,
            mode: Mode::Title(title, Frames::start(clock())),
            input: Input::default(),
            sound: Sound::silent(),
            mixer: None,
            music: None,
            pixels: Pixels::default(),
            is_new: true,
            name: String::new(),
            level: USUAL_LEVEL,
            seeds: seed,
            wants_to_host: false,
        }
    }

    /// Plays what is due, and sends and receives. Call it for every picture, for every message of a data channel, and by a timer
    /// that is not throttled in the background.
    pub fn turn(&mut self) {
        self.play_due();
        let music = match &self.mode {
            Mode::Title(..) => Some(sound::MENU_MUSIC),
            Mode::Fight(fight) => sound::music_of(&fight.composer.scene().duel),
            Mode::Watch(watched, _) => sound::music_of(&watched.composer.scene().duel),
        };
        if music.is_some() && self.music != music {
            self.music = music;
            self.sound.music(music);
        }
    }

    fn play_due(&mut self) {
        let now = (self.clock)();
        match &mut self.mode {
            Mode::Title(title, frames) => {
                while frames.take_due(now) {
                    self.is_new = true;
                    let request = title.frame(&self.input.take(), &self.sound);
                    self.level = title.level().0;
                    match request {
                        None => {}
                        Some(Request::Fight) => return self.fight_bot(),
                        Some(Request::Host) => {
                            self.wants_to_host = true;
                            return;
                        }
                    }
                }
            }
            Mode::Fight(fight) => {
                self.is_new = true;
                if let Some(report) = fight.turn(&mut self.input, &self.sound) {
                    self.show_title(report);
                }
            }
            Mode::Watch(watched, frames) => {
                if !frames.take_due(now) {
                    return;
                }
                while frames.take_due(now) {}
                self.is_new = true;
                if watched.turn(&self.input.take(), now, &self.sound) {
                    self.show_title(Report::title());
                }
            }
        }
    }

    /// Paints the newest frame for a canvas of this many pixels; `None` if nothing is new.
    pub fn paint(&mut self, width: f32, height: f32) -> Option<&Pixels> {
        let before = self.pixels.size();
        self.pixels.fit(width, height);
        if !std::mem::take(&mut self.is_new) && before == self.pixels.size() {
            return None;
        }
        let picture: &Picture = match &self.mode {
            Mode::Title(title, _) => title.composer.picture(),
            Mode::Fight(fight) => fight.composer.picture(),
            Mode::Watch(watched, _) => watched.composer.picture(),
        };
        picture.paint(&mut self.pixels);
        Some(&self.pixels)
    }

    /// The pixels of the last picture, four bytes each.
    pub fn pixels(&self) -> &[u8] {
        self.pixels.bytes()
    }

    /// Starts a match against the bot.
    pub fn fight_bot(&mut self) {
        let seed = self.next_seed();
        let name = own_name(&self.name, true);
        let level = match &self.mode {
            Mode::Title(title, _) => title.level().1,
            _ => games::duel::bot::Level::Normal,
        };
        match against_bot(&preferences(&name, None), (seed, level), self.clock) {
            Ok((online, bot)) => {
                let net_open = self.composer().net_open;
                self.mode = Mode::Fight(Fight::new(online, Some(bot), &name, net_open));
            }
            Err(error) => self.refuse(&error.to_string()),
        }
    }

    /// Whether the player wants to host; told once. The page makes the connection.
    pub fn take_host_request(&mut self) -> bool {
        std::mem::take(&mut self.wants_to_host)
    }

    /// The config of a match against another player. `random` is secret and never used again.
    pub fn config(&mut self, random: u64) -> Config {
        let mut config = preferences(&own_name(&self.name, false), Some(self.next_seed())).config();
        // A match that means something different on each screen is no match.
        config.on_desync = OnDesync::Stop;
        config.lobby.entropy = Some(random);
        config
    }

    /// Meets the other player on a connection, or says why there is none.
    pub fn meet(&mut self, online: Result<Online<Duel, Wire>, ConnectError>) {
        match online {
            Ok(online) => {
                self.leave();
                let (name, net_open) = (own_name(&self.name, false), self.composer().net_open);
                self.mode = Mode::Fight(Fight::new(online, None, &name, net_open));
                self.is_new = true;
            }
            Err(error) => self.refuse(&error.to_string()),
        }
    }

    /// Plays the bytes of a replay file.
    pub fn open_replay(&mut self, file: Vec<u8>) {
        let now = (self.clock)();
        self.leave();
        match Watched::open(file, now, self.composer().net_open) {
            Ok(watched) => {
                self.sound.stop();
                self.mode = Mode::Watch(watched, Frames::start(now));
            }
            Err(sentence) => self.refuse(&sentence),
        }
    }

    /// Goes to a frame of the replay that is watched.
    pub fn seek(&mut self, frame: u32) {
        if let Mode::Watch(watched, _) = &mut self.mode {
            watched.seek(frame, &self.sound);
        }
    }

    /// Tells the other machine that this one leaves, as the page is closed.
    pub fn leave(&mut self) {
        if let Mode::Fight(fight) = &mut self.mode {
            fight.leave();
        }
    }

    /// The name of the player for later matches.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Lets the game be heard: makes its sounds, which takes a moment.
    pub fn open_sound(&mut self) {
        if self.mixer.is_none() {
            let (sound, mixer) = Sound::in_memory(ui::add_to(Picture::sounds()));
            sound.set_levels(self.sound.levels());
            (self.sound, self.mixer, self.music) = (sound, Some(mixer), None);
        }
    }

    /// Fills `out` with the next samples, left and right in turn, at 48 kHz.
    pub fn render(&mut self, out: &mut [f32]) {
        match &mut self.mixer {
            Some(mixer) => mixer.render(out),
            None => out.fill(0.0),
        }
    }

    /// Mutes the sound or lets it be heard again; answers whether it is muted now.
    pub fn toggle_mute(&mut self) -> bool {
        self.sound.toggle_mute()
    }

    /// Opens or closes the net graph.
    pub fn toggle_net(&mut self) {
        let composer = self.composer_mut();
        composer.net_open = !composer.net_open;
    }

    /// The invite of this page's match, while it waits for the other player.
    pub fn invite(&self) -> Option<&str> {
        if let Mode::Fight(fight) = &self.mode { fight.invite() } else { None }
    }

    /// The state of the page for whoever measures it, as a JSON object.
    pub fn facts(&self) -> String {
        match &self.mode {
            Mode::Title(title, _) => {
                let words: Vec<String> = title.words().into_iter().map(json::string).collect();
                format!("{{\"mode\":\"title\",\"words\":[{}]}}", words.join(","))
            }
            Mode::Fight(fight) => format!("{{\"mode\":\"fight\",{}}}", fight.facts()),
            Mode::Watch(watched, _) => format!("{{\"mode\":\"replay\",{}}}", watched.facts()),
        }
    }

    /// Shows a sentence about something that does not work.
    pub fn refuse(&mut self, sentence: &str) {
        self.show_title(Report::failure("That did not work", sentence));
    }

    fn show_title(&mut self, report: Report) {
        self.sound.stop();
        let net_open = self.composer().net_open;
        let title = Title::new(self.next_seed(), report, (self.level, net_open));
        self.mode = Mode::Title(title, Frames::start((self.clock)()));
        self.is_new = true;
    }

    fn composer(&self) -> &Composer {
        match &self.mode {
            Mode::Title(title, _) => &title.composer,
            Mode::Fight(fight) => &fight.composer,
            Mode::Watch(watched, _) => &watched.composer,
        }
    }

    fn composer_mut(&mut self) -> &mut Composer {
        match &mut self.mode {
            Mode::Title(title, _) => &mut title.composer,
            Mode::Fight(fight) => &mut fight.composer,
            Mode::Watch(watched, _) => &mut watched.composer,
        }
    }

    /// Another seed for each match.
    fn next_seed(&mut self) -> u32 {
        self.seeds = self.seeds.wrapping_mul(0x9E37_79B1).wrapping_add(0x7F4A_7C15);
        self.seeds.max(1)
    }
}

/// What this machine wants of a match.
fn preferences(name: &str, seed: Option<u32>) -> Preferences {
    Preferences {
        name: name.to_owned(),
        seed,
        frame_rate: FRAME_RATE,
        window_frames: WINDOW_FRAMES,
        delay_frames: None,
        rules: Rules::default(),
    }
}

/// The time since the page was opened, from the milliseconds that a browser gives.
pub fn since_opening(millis: f64) -> Duration {
    Duration::from_micros((millis.max(0.0) * 1e3) as u64)
}

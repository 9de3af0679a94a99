//! The program around the match: menus, requests, and menus again, until the player quits.

use std::path::{Path, PathBuf};

use stage::menu::{Menu, Note, drive};
use stage::sound::{Levels, Play, ui};

use rebout::ConnectOptions;

use super::attract::AttractMode;
use super::background::in_background;
use super::link::LinkSetting;
use super::local::{Options, local};
use super::machine::unfinished;
use super::online::online;
use super::opening::{Admits, HostEndpoint, Opened, join, rendezvous};
use super::replay_view::replay;
use super::rules::{Preferences, Rules};
use super::seat::{Seat, rejoin};
use super::training::train;
use super::versus_bot::{BotMatch, against_bot};
use super::watch_view::{Seats, is_to_watch, watch};
use super::{Ending, FRAME, Failure, FrameClock, InputSource, exit, seed_of_now};
use crate::cli::SoundArgs;
use crate::devices::Devices;
use crate::keys::Bindings;
use crate::menu::{App, Guests, Page, Report, Request};
use crate::opponents::Opponents;
use crate::picture::YOU;
use crate::replay_list;
use crate::settings::{Keyset, Store};
use crate::view::{Roles, Screen};
use games::duel::bot::Level;

/// The most matches that are listed.
pub const MAX_LISTED: usize = 200;

/// The preferences of the command line, which outrank the settings, and the parts that the program is made of.
pub struct Run {
    pub store: Store,
    pub roles: Roles,
    pub name: Option<String>,
    pub keys: [Option<Bindings>; 3],
    pub delay_frames: Option<u8>,
    pub window_frames: Option<u8>,
    pub level: Option<Level>,
    pub link: Option<LinkSetting>,
    pub frame_rate: u16,
    pub rules: Rules,
    pub seed: Option<u32>,
    pub desync_at: Option<u32>,
    pub record: Option<PathBuf>,
    pub net: bool,
    pub timings: bool,
    pub sound: SoundArgs,
    /// The endpoint of a host that the command line has asked for.
    pub endpoint: Option<HostEndpoint>,
    /// The connection of the first match, where it is open already.
    pub opened: Option<Opened>,
    /// Hosts are joined without encryption.
    pub bare: bool,
    /// Whether a relay may carry a match, and where its keys are logged.
    pub connect: ConnectOptions,
    pub opponents: Opponents,
}

struct Flow<'a> {
    screen: &'a Screen,
    app: App,
    run: Run,
    /// The endpoint of the host, and the choices that it was made from.
    endpoint: Option<((u16, Guests), HostEndpoint)>,
    /// The last match, for whoever reads it when the screen is gone.
    last: Ending,
}

/// Shows menus and does what they say, beginning with `first`, until the player quits. The last match is the ending.
pub fn flow(screen: &Screen, app: App, mut run: Run, first: Option<Request>) -> Ending {
    let endpoint = run.endpoint.take().map(|endpoint| ((app.settings.port, app.guests), endpoint));
    run.sound.tune(screen.sound(), app.settings.levels);
    let mut flow = Flow { screen, app, run, endpoint, last: Ending::of([]) };
    if screen.is_seen() && first.is_none() && !screen.reports_releases() {
        flow.app.tell_of_releases();
    }
    let mut next = first;
    loop {
        let request = match next.take() {
            Some(request) => request,
            None => flow.browse(),
        };
        if request == Request::Quit || screen.is_closed() {
            break;
        }
        let levels = screen.sound().levels();
        let report = flow.perform(&request);
        flow.keep_levels(levels);
        if screen.is_closed() {
            break;
        }
        flow.app.came_back(report);
    }
    if flow.run.timings {
        flow.last.lines.push(screen.timings());
    }
    // Whoever quits by the menu has left by choice, whatever came of the last match.
    flow.last.code = exit::PLAYED;
    flow.last
}

impl Flow<'_> {
    /// Shows the menus until the player has a request.
    fn browse(&mut self) -> Request {
        let names = ["Kaito".to_owned(), "Rai".to_owned()];
        let mut attract = AttractMode::new(self.screen, seed_of_now(), names);
        attract.show.be_backdrop();
        self.app.set_unfinished(unfinished(self.run.record.as_deref()));
        // From the first frame on, characters belong to the menu.
        attract.show.menu(self.app.menu().cloned());
        let mut clock = FrameClock::start();
        let mut page = None;
        loop {
            let input = attract.show.take_input();
            if input.closed {
                return Request::Quit;
            }
            let before = (self.app.page(), self.app.menu().map(Menu::chosen));
            let levels = self.app.settings.levels;
            if self.app.is_binding() {
                input.presses.iter().take(1).for_each(|key| self.app.bind(*key));
                let pressed = input.pads.iter().flat_map(|pad| &pad.presses);
                pressed.take(1).for_each(|button| self.app.bind_pad(*button));
            } else if let Some(request) = drive(&input, &mut self.app, App::menu, App::act) {
                self.screen.sound().play(Play::of(ui::CHOOSE));
                self.keep();
                return request;
            }
            self.heard(before);
            if self.app.settings.levels != levels {
                self.screen.sound().set_levels(self.app.settings.levels);
            }
            if self.app.page() == Page::Sound {
                self.app.set_device(self.screen.sound().device());
            }
            if page.replace(self.app.page()) != Some(self.app.page()) {
                self.enter(self.app.page());
            }
            attract.show.set_outfits(self.app.settings.outfits);
            attract.show.menu(self.app.menu().cloned());
            attract.frame();
            clock.wait(FRAME);
        }
    }

    /// Plays the sound of what became of the menu.
    fn heard(&self, (page, chosen): (Page, Option<usize>)) {
        let now = self.app.menu().map(Menu::chosen);
        let sound = match self.app.page() {
            Page::Title if page != Page::Title => ui::BACK,
            here if here != page => ui::CHOOSE,
            _ if now != chosen => ui::MOVE,
            _ => return,
        };
        self.screen.sound().play(Play::of(sound));
    }

    /// Prepares a page that was just opened.
    fn enter(&mut self, page: Page) {
        self.keep();
        if page == Page::Replays {
            let folder = self.run.record.as_deref();
            self.app
                .set_replays(folder.map_or_else(Vec::new, |folder| replay_list::list(folder, MAX_LISTED)));
        }
        if matches!(page, Page::Join | Page::Host) {
            self.app.set_opponents(self.run.opponents.list());
        }
    }

    /// Writes changed settings to the disk.
    fn keep(&mut self) {
        if self.app.take_changed()
            && let Err(error) = self.run.store.save(&self.app.settings)
        {
            self.app.warn(error);
        }
    }

    /// Keeps volumes that were changed in a match. `--mute` is for this run alone, and is not kept.
    fn keep_levels(&mut self, before: Levels) {
        let now = self.screen.sound().levels();
        if now != before {
            let muted = if now.muted == before.muted { self.app.settings.levels.muted } else { now.muted };
            self.app.set_levels(Levels { muted, ..now });
            self.keep();
        }
    }

    fn perform(&mut self, request: &Request) -> Option<Report> {
        match request {
            Request::Fight => {
                let game = self.bot_match();
                let done = game.and_then(|game| against_bot(self.screen, game));
                self.report(done, "Fight again", request)
            }
            Request::Local => {
                let (options, sources) = self.local_match();
                let ending = local(self.screen, &options, sources);
                self.report(Ok(ending), "Fight again", request)
            }
            Request::Host => {
                let done = self.host().transpose()?;
                self.report(done, "Wait again", request)
            }
            Request::Join(host) if is_to_watch(host) => {
                let (texts, options) = ([host.clone()], self.run.connect.clone());
                let seats = in_background(self.screen, ("looking up", host), move || {
                    Seats::open(&texts, &options, None)
                });
                let seats = match seats.and_then(|seats| seats.transpose().map_err(Failure::unusable)) {
                    Ok(seats) => seats?,
                    Err(failure) => return Some(self.refused(failure.text)),
                };
                let done = watch(self.screen, seats, self.app.settings.outfits, false);
                self.report(done, "Try again", request)
            }
            Request::Join(host) => {
                let opened = match self.join(host) {
                    Ok(opened) => opened?,
                    Err(failure) => return Some(self.refused(failure.text)),
                };
                let seat = self.seat("Guest", Some(self.seed()));
                let done = seat.and_then(|mut seat| {
                    seat.invite = Some(host.clone());
                    online(self.screen, seat, opened, None)
                });
                self.report(done, "Try again", request)
            }
            Request::Rejoin(file) => {
                let seat = self.seat("Guest", Some(self.seed()));
                let done = seat.and_then(|seat| rejoin(self.screen, seat, file, self.run.connect.clone()));
                self.report(done, "Try again", request)
            }
            Request::Train => {
                self.train();
                None
            }
            Request::Watch(file) => self.watch(file),
            Request::NameReplay(file, name) => self.changed_replay(replay_list::rename(file, name)),
            Request::DeleteReplay(file) => self.changed_replay(replay_list::delete(file)),
            Request::Quit => None,
        }
    }

    /// A report of a host that cannot be read: the page of the field is behind it.
    fn refused(&self, text: String) -> Report {
        Report { title: "No match".to_owned(), lines: vec![Note::warning(text)], again: None }
    }

    /// Turns the end of a match into a page; `None` if the player left it themselves.
    fn report(&mut self, done: Result<Ending, Failure>, again: &str, request: &Request) -> Option<Report> {
        let again = Some((again.to_owned(), request.clone()));
        match done {
            Ok(ending) => {
                self.last = ending.clone();
                if ending.is_own_choice {
                    return None;
                }
                let title = if ending.code == exit::PLAYED { "Match over" } else { "Match ended" };
                let lines = if ending.page.is_empty() {
                    ending.lines.into_iter().map(Note::calm).collect()
                } else {
                    ending.page
                };
                Some(Report { title: title.to_owned(), lines, again })
            }
            Err(failure) => {
                let lines = vec![Note::warning(failure.text)];
                Some(Report { title: "No match".to_owned(), lines, again })
            }
        }
    }

    fn name(&self, nameless: &str) -> String {
        let kept = Some(&self.app.settings.name).filter(|name| !name.is_empty());
        self.run.name.as_ref().or(kept).map_or_else(|| nameless.to_owned(), Clone::clone)
    }

    fn devices(&self, keyset: Keyset) -> Devices {
        let kept = self.app.settings.devices(keyset);
        let keys = self.run.keys[keyset as usize].clone().unwrap_or(kept.keys);
        Devices { keys, pad: kept.pad }
    }

    /// The devices of the only player, whose keys the view is told.
    fn alone(&self) -> Devices {
        let devices = self.devices(Keyset::Alone);
        self.run.roles.set(std::slice::from_ref(&devices.keys));
        devices
    }

    /// This machine's side of a match over a network.
    fn seat(&self, nameless: &str, seed: Option<u32>) -> Result<Seat, Failure> {
        let settings = &self.app.settings;
        let preferences = Preferences {
            name: self.name(nameless),
            seed,
            frame_rate: self.run.frame_rate,
            window_frames: self.run.window_frames.unwrap_or(settings.window_frames),
            delay_frames: self.run.delay_frames.or(settings.delay_frames),
            rules: self.run.rules,
        };
        preferences.config().check().map_err(Failure::of)?;
        Ok(Seat {
            source: InputSource::Keys(self.alone()),
            preferences,
            record: self.run.record.clone(),
            net: self.run.net,
            unattended: false,
            timings: false,
            outfits: settings.outfits,
            without_cues: self.run.sound.without_cues,
            opponents: self.run.opponents.clone(),
            invite: None,
        })
    }

    fn seed(&self) -> u32 {
        self.run.seed.unwrap_or_else(seed_of_now)
    }

    fn bot_match(&self) -> Result<BotMatch, Failure> {
        let settings = &self.app.settings;
        Ok(BotMatch {
            seat: self.seat(YOU, None)?,
            seed: self.seed(),
            level: self.run.level.unwrap_or(settings.level),
            link: self.run.link.unwrap_or_else(|| settings.link.setting()),
            name: "Bot",
            desync_at: self.run.desync_at,
        })
    }

    fn local_match(&self) -> (Options, [InputSource; 2]) {
        let devices = [Keyset::Left, Keyset::Right].map(|keyset| self.devices(keyset));
        self.run.roles.set(&devices.each_ref().map(|devices| devices.keys.clone()));
        let options = Options {
            seed: self.seed(),
            names: ["Player one".to_owned(), "Player two".to_owned()],
            record: self.run.record.clone(),
            net: self.run.net,
            rules: self.run.rules,
            timings: false,
            outfits: self.app.settings.outfits,
        };
        (options, devices.map(InputSource::Keys))
    }

    /// Waits for a guest; `None` if the player leaves while a name is looked up.
    fn host(&mut self) -> Result<Option<Ending>, Failure> {
        let seat = self.seat("Host", Some(self.seed()))?;
        let opened = match self.run.opened.take() {
            Some(opened) => Some(opened),
            None => self.open_post()?,
        };
        opened.map(|opened| online(self.screen, seat, opened, None)).transpose()
    }

    /// Opens the place of the host, the same one as long as the player wants no other.
    fn open_post(&mut self) -> Result<Option<Opened>, Failure> {
        let wanted = (self.app.settings.port, self.app.guests);
        let server = rendezvous(None, &self.app.settings.rendezvous);
        let text = server.clone().unwrap_or_default();
        let admits = match wanted.1 {
            Guests::Invited | Guests::Known => Admits::Invited { rendezvous: server },
            Guests::ByHand => Admits::ByHand { rendezvous: server },
            Guests::Asked => Admits::Everybody,
        };
        let kept = self.endpoint.clone().filter(|(made_by, _)| *made_by == wanted);
        let mut options = self.run.opponents.introduced(self.run.connect.clone());
        if wanted.1 == Guests::Known {
            options = self.run.opponents.only_known(options).map_err(Failure::of)?;
        }
        let mut endpoint =
            kept.map_or_else(|| HostEndpoint::new(wanted.0, options, admits), |(_, endpoint)| endpoint);
        let opened = in_background(self.screen, ("looking up", &text), move || {
            endpoint.open().map(|opened| (opened, endpoint))
        })?;
        let Some(opened) = opened else { return Ok(None) };
        let (opened, endpoint) = opened.map_err(Failure::unusable)?;
        self.endpoint = Some((wanted, endpoint));
        Ok(Some(opened))
    }

    /// Joins the host that is named; `None` if the player leaves while its name is looked up.
    fn join(&mut self, host: &str) -> Result<Option<Opened>, Failure> {
        if let Some(opened) = self.run.opened.take() {
            return Ok(Some(opened));
        }
        let options = self.run.opponents.introduced(self.run.connect.clone());
        let words = [host.to_owned()];
        let options = if self.run.bare { options.bare() } else { options };
        let opened = in_background(self.screen, ("looking up", host), move || join(&words, &options))?;
        opened.transpose().map_err(Failure::unusable)
    }

    fn train(&mut self) {
        let devices = self.alone();
        let settings = &self.app.settings;
        let drill =
            train(self.screen, self.seed(), &devices, &self.name(YOU), settings.outfits, settings.drill);
        self.app.set_drill(drill);
        self.keep();
    }

    /// Goes back to the list after a recorded match was named or deleted.
    fn changed_replay(&mut self, done: Result<(), String>) -> Option<Report> {
        match done {
            Ok(()) => {
                self.app.leave_replay();
                self.enter(Page::Replays);
                None
            }
            Err(text) => {
                let lines = vec![Note::warning(text)];
                Some(Report { title: "Not changed".to_owned(), lines, again: None })
            }
        }
    }

    fn watch(&mut self, file: &Path) -> Option<Report> {
        let devices = self.alone();
        match replay_list::open(file) {
            Ok(recording) => {
                replay(self.screen, recording, &devices, self.app.settings.outfits, false);
                None
            }
            Err(text) => {
                Some(Report { title: "No replay".to_owned(), lines: vec![Note::warning(text)], again: None })
            }
        }
    }
}

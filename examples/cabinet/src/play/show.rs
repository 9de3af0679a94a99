//! The screen, the sound and the words of a match.

use rebout::{Session, Stats};
use stage::menu::Menu;
use stage::sound::Feed;
use stage::{Image, InputState, Key};

use crate::ffi::Wish;
use crate::machine::{Machine, Snapshot};
use crate::picture::{NetSample, NetView, PLOTTED_FRAMES, Picture};

pub type Screen = stage::Screen<Picture>;

/// Frames for which a message stays.
const MESSAGE_FRAMES: u32 = 240;

/// The picture as it is built up, and the screen and the sound that it goes to.
pub(super) struct Show<'a> {
    screen: &'a Screen,
    picture: Picture,
    feed: Feed,
    net: NetView,
    is_net_open: bool,
    message_frames: u32,
    /// The steps that were shown when a sound was last taken.
    heard: u64,
}

impl<'a> Show<'a> {
    pub(super) fn new(screen: &'a Screen, machine: &Machine, is_net_open: bool) -> Self {
        let facts = machine.core().facts();
        let picture = Picture { aspect: facts.aspect, ..Picture::default() };
        let feed = screen.sound().feed(facts.sample_rate);
        Self {
            screen,
            picture,
            feed,
            net: NetView::default(),
            is_net_open,
            message_frames: 0,
            heard: machine.frontend().shown_steps(),
        }
    }

    /// Shows the newest picture of a machine, and plays the sound of its last step that was shown.
    pub(super) fn frame(&mut self, machine: &Machine) {
        let frontend = machine.frontend();
        if self.screen.is_seen() {
            let image = frontend.see(|frame| Image::new(frame.width, frame.pixels.clone()));
            self.picture.image = image;
            let shown = frontend.shown_steps();
            if std::mem::replace(&mut self.heard, shown) != shown {
                frontend.hear(|heard| self.feed.push(heard));
            }
        }
        self.refresh();
    }

    /// Shows the same picture with other words.
    pub(super) fn refresh(&mut self) {
        self.message_frames = self.message_frames.saturating_sub(1);
        if self.message_frames == 0 {
            self.picture.words.clear();
        }
        self.picture.net = self.is_net_open.then(|| self.net.clone());
        self.screen.show(&self.picture);
    }

    /// Says that no frame comes for a while.
    pub(super) fn rest(&self) {
        self.feed.rest();
    }

    /// Notes a frame of a session for the net graph.
    pub(super) fn note(&mut self, session: &Session<Snapshot>, resimulated_frames: u64, is_stalled: bool) {
        if self.net.samples.len() == PLOTTED_FRAMES {
            self.net.samples.pop_front();
        }
        self.net.samples.push_back(NetSample { rollback_frames: resimulated_frames as u32, is_stalled });
        if self.is_net_open {
            self.net.lines = figures(&session.stats(), session.delay_frames());
        }
    }

    /// Tells the player about the wishes of a core. Its messages repeat with every rollback, so that they are not printed.
    pub(super) fn tell_wishes(&mut self, machine: &Machine) {
        for wish in machine.frontend().take_wishes() {
            match wish {
                Wish::Message(text) => self.say(vec![rebout::shown(&text).into_owned()]),
                Wish::Shutdown => self.tell("the core wants to end"),
                Wish::Timing { fps, .. } => self.tell(&format!(
                    "the core now wants {fps} frames a second; the match keeps the rate that it began with"
                )),
                Wish::Geometry { .. } | Wish::HardwareRender => {}
            }
        }
    }

    /// Puts words on the screen, or prints them where there is none.
    pub(super) fn tell(&mut self, text: &str) {
        if self.screen.is_seen() {
            self.say(vec![text.to_owned()]);
        } else {
            println!("{text}");
        }
    }

    /// Puts words on the screen alone.
    pub(super) fn say(&mut self, words: Vec<String>) {
        self.picture.words = words;
        self.message_frames = MESSAGE_FRAMES;
    }

    pub(super) fn menu(&mut self, menu: Option<Menu>) {
        self.picture.menu = menu;
    }

    pub(super) fn is_seen(&self) -> bool {
        self.screen.is_seen()
    }

    /// Puts a text on the clipboard.
    pub(super) fn copy(&self, text: &str) {
        self.screen.copy(text);
    }

    /// The input, after the keys of the screen: F1 opens the net graph, F4 mutes.
    pub(super) fn take_input(&mut self) -> InputState {
        let input = self.screen.take_input();
        for key in &input.presses {
            match key {
                Key::F(1) => self.is_net_open = !self.is_net_open,
                Key::F(4) => {
                    let is_muted = self.screen.sound().toggle_mute();
                    self.say(vec![if is_muted { "muted" } else { "sound on" }.to_owned()]);
                }
                _ => {}
            }
        }
        input
    }

    /// The sound of the match in a sentence; `None` where nobody hears it.
    pub(super) fn heard(&self) -> Option<String> {
        let stats = self.feed.stats();
        let text = || {
            let (taken, underruns, dropped) = (stats.taken, stats.underruns, stats.dropped);
            let device = self.screen.sound().device();
            format!("sound: {taken} frames, {underruns} underruns, {dropped} dropped; device: {device}")
        };
        self.is_seen().then(text)
    }
}

fn figures(stats: &Stats, delay_frames: u8) -> Vec<String> {
    let percent = |loss: Option<f32>| loss.unwrap_or(0.0) * 100.0;
    let trip = stats.round_trip.map_or_else(|| "?".to_owned(), |trip| trip.as_millis().to_string());
    vec![
        format!("round trip {trip} ms, input delay {delay_frames} frames"),
        format!("lost {:.1} % out, {:.1} % in", percent(stats.loss_out), percent(stats.loss_in)),
        format!("{} rollbacks, {} frames again", stats.rollback.rollbacks, stats.rollback.resimulated_frames),
        format!("{} frames, {} waited for", stats.frames, stats.stalled_frames),
    ]
}

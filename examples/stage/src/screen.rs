//! The views: a window, a terminal, or none. A view owns the main thread and draws the newest picture; the match runs
//! in a thread of its own, so that no slow screen ever holds up a packet.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::gestures::Gestures;
use crate::pads::Pads;
use crate::sound::{Sound, ui};
use crate::timings::{self, Timings};
use crate::{InputState, Key, Keyboard, Picture, Role, terminal, window};

/// Where a match is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A window of its own
    Window,
    /// The terminal, in half blocks and 24-bit colour
    Terminal,
    /// Nowhere: only what is printed
    None,
}

impl Kind {
    /// A window where there is a display, otherwise the terminal; `None` if there is neither.
    fn fitting() -> Option<Self> {
        let display = !cfg!(target_os = "linux")
            || ["DISPLAY", "WAYLAND_DISPLAY"]
                .iter()
                .any(|name| std::env::var_os(name).is_some_and(|it| !it.is_empty()));
        if display {
            Some(Self::Window)
        } else if on_terminal() {
            Some(Self::Terminal)
        } else {
            None
        }
    }
}

#[derive(Debug)]
pub(crate) struct Slot<P> {
    pub(crate) picture: Option<P>,
    /// Counts pictures, so that a view knows a new one.
    pub(crate) version: u64,
    /// The match is over: the view may go.
    pub(crate) done: bool,
    /// The player has closed the view: the match should end.
    closed: bool,
}

#[derive(Debug)]
struct Shared<P> {
    /// Whether there is anyone to see the pictures.
    seen: bool,
    slot: Mutex<Slot<P>>,
    changed: Condvar,
    keyboard: Mutex<Keyboard>,
    gestures: Mutex<Gestures>,
    /// Text on its way to the clipboard.
    copied: Mutex<Option<String>>,
    pads: Pads,
    sound: Sound,
    timings: Mutex<Timings>,
    /// The picture could not be seen since the input was last taken.
    unseen: AtomicBool,
}

/// The match's end of a view: pictures and sounds go in, keys come out. Neither ever waits for the screen.
#[derive(Clone, Debug)]
pub struct Screen<P>(Arc<Shared<P>>);

impl<P: Picture> Screen<P> {
    pub(crate) fn new(seen: bool) -> Self {
        Self(Arc::new(Shared {
            seen,
            slot: Mutex::new(Slot { picture: None, version: 0, done: false, closed: false }),
            changed: Condvar::new(),
            keyboard: Mutex::new(Keyboard::new(true)),
            gestures: Mutex::default(),
            copied: Mutex::default(),
            pads: if seen { Pads::open() } else { Pads::in_memory() },
            sound: if seen { Sound::open(|| ui::add_to(P::sounds())) } else { Sound::silent() },
            timings: Mutex::default(),
            unseen: AtomicBool::new(false),
        }))
    }

    /// Whether there is a view at all.
    pub fn is_seen(&self) -> bool {
        self.0.seen
    }

    /// Hands the view a new picture. One that was not drawn yet is replaced.
    pub fn show(&self, picture: &P) {
        if !self.0.seen {
            return;
        }
        let mut slot = self.slot();
        match &mut slot.picture {
            Some(shown) => shown.clone_from(picture),
            none => *none = Some(picture.clone()),
        }
        slot.version += 1;
        let version = slot.version;
        drop(slot);
        self.note(|timings| timings.note_made(version));
        self.0.changed.notify_all();
    }

    /// Waits until there is a new picture or the match is over, for at most `patience` if it is given.
    pub(crate) fn wait_for(&self, version: u64, patience: Option<Duration>) -> MutexGuard<'_, Slot<P>> {
        let waits = |slot: &mut Slot<P>| slot.version == version && !slot.done;
        let (slot, changed) = (self.slot(), &self.0.changed);
        match patience {
            None => changed.wait_while(slot, waits).unwrap_or_else(PoisonError::into_inner),
            Some(patience) => {
                let waited = changed.wait_timeout_while(slot, patience, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }

    /// The keys and buttons that the players hold and have pressed.
    pub fn take_input(&self) -> InputState {
        let closed = self.is_closed();
        let pads = self.0.pads.take_states();
        let (strokes, touches) = self.gestures().take();
        let mut keyboard = self.keyboard();
        if let Some(pressed_at) = keyboard.take_pressed_at() {
            self.note(|timings| timings.note_key(pressed_at));
        }
        InputState {
            held: keyboard.held(Instant::now()),
            presses: keyboard.presses(),
            strokes,
            touches,
            pads,
            unseen: self.0.unseen.swap(false, Ordering::Relaxed),
            closed,
        }
    }

    /// Whether the player has closed the view, or the program was asked to end.
    pub fn is_closed(&self) -> bool {
        self.slot().closed || signals::asked_to_stop()
    }

    /// Whether the view reports when a key is let go. Without it, a key counts as held for a while after each press.
    pub fn reports_releases(&self) -> bool {
        self.keyboard().reports_releases()
    }

    /// Puts text on the clipboard, as far as the view can.
    pub fn copy(&self, text: &str) {
        *self.0.copied.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
    }

    pub(crate) fn take_copied(&self) -> Option<String> {
        self.0.copied.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The sound of the game; silent where there is nobody to see it either.
    pub fn sound(&self) -> &Sound {
        &self.0.sound
    }

    /// The gamepads of this machine, for their names and for what is wrong with them.
    pub fn pads(&self) -> &Pads {
        &self.0.pads
    }

    /// How evenly the view has drawn so far.
    pub fn timings(&self) -> String {
        self.0.timings.lock().unwrap_or_else(PoisonError::into_inner).to_string()
    }

    /// Notes that the picture of this version has been drawn, since `start`.
    pub(crate) fn note_drawn(&self, version: u64, start: Instant) {
        self.note(|timings| timings.note_drawn(version, start));
    }

    fn note(&self, what: impl FnOnce(&mut Timings)) {
        what(&mut self.0.timings.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn slot(&self) -> MutexGuard<'_, Slot<P>> {
        self.0.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keyboard(&self) -> MutexGuard<'_, Keyboard> {
        self.0.keyboard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn gestures(&self) -> MutexGuard<'_, Gestures> {
        self.0.gestures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn close(&self) {
        self.slot().closed = true;
    }

    /// Notes that nobody can see the picture.
    pub(crate) fn note_unseen(&self) {
        self.0.unseen.store(true, Ordering::Relaxed);
    }

    pub(crate) fn finish(&self) {
        self.slot().done = true;
        self.0.changed.notify_all();
    }
}

/// The match, waiting for a screen.
pub(crate) type Job<P, T> = Box<dyn FnOnce(&Screen<P>) -> T + Send>;

/// Why nothing can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewError {
    /// There is neither a display nor a terminal.
    Nowhere,
    /// The wanted kind of view is not to be had here.
    Unfit(String),
}

impl core::fmt::Display for ViewError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Nowhere => f.write_str(
                "there is neither a display nor a terminal to play in. Run it from a terminal or a desktop",
            ),
            Self::Unfit(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ViewError {}

/// Runs `job` in a thread with a screen of the wanted kind, and the view on this one. A window that cannot be opened
/// gives way to the terminal, unless a window was asked for. `roles` says what each key does while it is held; only a
/// terminal that does not tell releases has to know.
///
/// # Errors
///
/// When no view of the wanted kind can be opened; the job has not run then.
pub fn run<P: Picture, T: Send + 'static>(
    wanted: Option<Kind>,
    roles: impl Fn(Key) -> Role + Send + 'static,
    job: impl FnOnce(&Screen<P>) -> T + Send + 'static,
) -> Result<T, ViewError> {
    let job: Job<P, T> = Box::new(job);
    let kind = wanted.or_else(Kind::fitting).ok_or(ViewError::Nowhere)?;
    signals::listen();
    timings::begin();
    let terminal = |job| terminal::run(roles, job).map_err(ViewError::Unfit);
    match kind {
        Kind::None => Ok(job(&Screen::new(false))),
        Kind::Terminal => terminal(job),
        Kind::Window => match window::run(job) {
            Ok(result) => Ok(result),
            Err(job) if wanted.is_none() && on_terminal() => terminal(job),
            Err(_) if wanted.is_none() => Err(ViewError::Nowhere),
            Err(_) => Err(ViewError::Unfit("no window can be opened here; try --view terminal".to_owned())),
        },
    }
}

fn on_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

//! The views: a window, a terminal, or none. A view owns the main thread and draws the newest picture; the match runs
//! in a thread of its own, so that no slow screen ever holds up a packet.

mod cells;
mod pixels;
mod raster;
mod terminal;
mod texts;
mod timings;
mod window;

use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use timings::Timings;

use crate::keyboard::Keyboard;
use crate::keys::{Bindings, Key};
use crate::picture::Picture;
use crate::signals;

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
struct Slot {
    picture: Option<Picture>,
    /// Counts pictures, so that a view knows a new one.
    version: u64,
    /// The match is over: the view may go.
    done: bool,
    /// The player has closed the view: the match should end.
    closed: bool,
}

#[derive(Debug)]
struct Shared {
    /// Whether there is anyone to see the pictures.
    seen: bool,
    slot: Mutex<Slot>,
    changed: Condvar,
    keyboard: Mutex<Keyboard>,
    timings: Mutex<Timings>,
}

/// The match's end of a view: pictures go in, keys come out. Neither ever waits for the screen.
#[derive(Clone, Debug)]
pub struct Screen(Arc<Shared>);

/// What the hands did since the last frame.
#[derive(Clone, Debug, Default)]
pub struct Hands {
    pub held: Vec<Key>,
    pub presses: Vec<Key>,
    /// The window was closed, Ctrl-C was pressed, or the program was asked to end.
    pub closed: bool,
}

impl Screen {
    fn new(seen: bool) -> Self {
        Self(Arc::new(Shared {
            seen,
            slot: Mutex::new(Slot { picture: None, version: 0, done: false, closed: false }),
            changed: Condvar::new(),
            keyboard: Mutex::new(Keyboard::new(true)),
            timings: Mutex::default(),
        }))
    }

    /// Whether there is a view at all.
    pub fn is_seen(&self) -> bool {
        self.0.seen
    }

    /// Hands the view a new picture. One that was not drawn yet is replaced.
    pub fn show(&self, picture: &Picture) {
        if !self.0.seen {
            return;
        }
        let mut slot = self.slot();
        match &mut slot.picture {
            Some(shown) => shown.clone_from(picture),
            none => *none = Some(picture.clone()),
        }
        slot.version += 1;
        drop(slot);
        self.0.changed.notify_all();
    }

    /// What the player holds and has pressed.
    pub fn hands(&self) -> Hands {
        let closed = self.slot().closed || signals::asked_to_stop();
        let mut keyboard = self.keyboard();
        Hands { held: keyboard.held(Instant::now()), presses: keyboard.presses(), closed }
    }

    /// How evenly the view has drawn so far.
    pub fn timings(&self) -> String {
        self.0.timings.lock().unwrap_or_else(PoisonError::into_inner).to_string()
    }

    fn note_drawn(&self, start: Instant) {
        self.0.timings.lock().unwrap_or_else(PoisonError::into_inner).note(start);
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keyboard(&self) -> MutexGuard<'_, Keyboard> {
        self.0.keyboard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.slot().closed = true;
    }

    fn finish(&self) {
        self.slot().done = true;
        self.0.changed.notify_all();
    }
}

/// The match, waiting for a screen.
type Job<T> = Box<dyn FnOnce(&Screen) -> T + Send>;

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
                "there is neither a display nor a terminal to play in. Run it from a terminal or a desktop; or let two \
                 bots play unseen: duel bots",
            ),
            Self::Unfit(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for ViewError {}

/// Runs `job` in a thread with a screen of the wanted kind, and the view on this one. A window that cannot be opened
/// gives way to the terminal, unless a window was asked for.
///
/// # Errors
///
/// When no view of the wanted kind can be opened; the job has not run then.
pub fn run<T: Send + 'static>(
    wanted: Option<Kind>,
    bindings: &[Bindings],
    job: impl FnOnce(&Screen) -> T + Send + 'static,
) -> Result<T, ViewError> {
    let job: Job<T> = Box::new(job);
    let kind = wanted.or_else(Kind::fitting).ok_or(ViewError::Nowhere)?;
    signals::listen();
    let terminal = |job| terminal::run(bindings, job).map_err(ViewError::Unfit);
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

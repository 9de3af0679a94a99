//! The views: a window, a terminal, or none. A view owns the main thread and draws the newest picture; the match runs
//! in a thread of its own, so that no slow screen ever holds up a packet.

mod cells;
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
        } else if std::io::stdout().is_terminal() && std::io::stdin().is_terminal() {
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
    /// The window was closed, or Ctrl-C was pressed.
    pub closed: bool,
}

impl Screen {
    fn new() -> Self {
        Self(Arc::new(Shared {
            slot: Mutex::new(Slot { picture: None, version: 0, done: false, closed: false }),
            changed: Condvar::new(),
            keyboard: Mutex::new(Keyboard::new(true)),
            timings: Mutex::default(),
        }))
    }

    /// Hands the view a new picture. One that was not drawn yet is replaced.
    pub fn show(&self, picture: &Picture) {
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
        let closed = self.slot().closed;
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
) -> Result<T, String> {
    let job: Job<T> = Box::new(job);
    let Some(kind) = wanted.or_else(Kind::fitting) else {
        return Err(
            "there is neither a display nor a terminal to play in; --view none shows nothing".to_owned()
        );
    };
    match kind {
        Kind::None => Ok(job(&Screen::new())),
        Kind::Terminal => terminal::run(bindings, job),
        Kind::Window => match window::run(job) {
            Ok(result) => Ok(result),
            Err(job) if wanted.is_none() && std::io::stdout().is_terminal() => terminal::run(bindings, job),
            Err(_) => Err("no window could be opened here; try --view terminal".to_owned()),
        },
    }
}

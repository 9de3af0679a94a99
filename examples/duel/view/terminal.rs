//! The terminal view: one thread reads keys as they come, this one draws pictures as they come.

use std::io::{self, IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::sync::PoisonError;
use std::time::Instant;

use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{cursor, event, execute, terminal};

use super::cells::{Cells, Depth};
use super::raster::Raster;
use super::{Job, Screen, texts};
use crate::art::stage;
use crate::keyboard::Keyboard;
use crate::keys::{Bindings, Key};
use crate::picture::Picture;

/// A larger terminal shows the picture in its middle: more cells are more bytes, not more fun.
const MOST_COLUMNS: u16 = 160;
const MOST_ROWS: u16 = 50;
/// Smaller than this nothing can be recognised.
const LEAST_COLUMNS: u16 = 60;
const LEAST_ROWS: u16 = 18;

/// Takes over the terminal and runs the job beside it.
pub(super) fn run<T: Send + 'static>(bindings: &[Bindings], job: Job<T>) -> Result<T, String> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err("the terminal view needs a terminal for input and output; try --view none".to_owned());
    }
    let takeover =
        Takeover::begin().map_err(|error| format!("the terminal cannot be taken over: {error}"))?;
    let screen = Screen::new(true);
    *screen.keyboard() = Keyboard::new(takeover.releases);
    let (reader, bindings) = (screen.clone(), bindings.to_vec());
    // It waits for keys for ever; the end of the process is its end.
    std::thread::spawn(move || read_keys(&reader, &bindings));
    let worker = screen.clone();
    let thread = std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| job(&worker)));
        worker.finish();
        outcome
    });
    let drawn = draw_all(&screen);
    if drawn.is_err() {
        screen.close();
    }
    let outcome = thread.join();
    drop(takeover);
    match outcome {
        Ok(Ok(result)) => drawn.map(|()| result).map_err(|error| format!("the terminal is gone: {error}")),
        Ok(Err(panic)) | Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The terminal while it is ours; it is given back however this ends.
struct Takeover {
    /// Whether it tells when keys are let go.
    releases: bool,
}

impl Takeover {
    fn begin() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        let releases = terminal::supports_keyboard_enhancement().unwrap_or(false);
        let takeover = Self { releases };
        execute!(io::stdout(), terminal::EnterAlternateScreen, cursor::Hide, EnableFocusChange)?;
        if releases {
            let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
                | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
            execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
        }
        // A panic must be read on the screen that stays.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back(releases);
            hook(info);
        }));
        Ok(takeover)
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        give_back(self.releases);
    }
}

fn give_back(releases: bool) {
    // Nothing can be done about a terminal that is gone.
    if releases {
        let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags);
    }
    let _ = execute!(io::stdout(), DisableFocusChange, cursor::Show, terminal::LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
}

fn read_keys(screen: &Screen, bindings: &[Bindings]) {
    while let Ok(event) = event::read() {
        match event {
            Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers, .. })
                if modifiers.contains(KeyModifiers::CONTROL) =>
            {
                screen.close();
            }
            Event::Key(KeyEvent { code, kind, .. }) => {
                let Some(key) = key_of(code) else { continue };
                let mut keyboard = screen.keyboard();
                match kind {
                    KeyEventKind::Release => keyboard.release(key),
                    _ => keyboard.press(key, crate::keys::role_of(bindings, key), Instant::now()),
                }
            }
            Event::FocusLost => screen.keyboard().release_all(),
            _ => {}
        }
    }
    screen.close();
}

fn key_of(code: KeyCode) -> Option<Key> {
    Some(match code {
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::F(number) => Key::F(number),
        KeyCode::Char(letter) => Key::Char(letter.to_ascii_lowercase()),
        _ => return None,
    })
}

/// Draws every new picture until the match is over.
fn draw_all(screen: &Screen) -> io::Result<()> {
    let mut painter = Painter { raster: Raster::default(), cells: Cells::new(Depth::of_environment()) };
    let mut picture: Option<Picture> = None;
    let mut version = 0;
    let mut out = io::stdout();
    loop {
        {
            let slot = screen.slot();
            let slot = screen
                .0
                .changed
                .wait_while(slot, |slot| slot.version == version && !slot.done)
                .unwrap_or_else(PoisonError::into_inner);
            if slot.done {
                return Ok(());
            }
            version = slot.version;
            picture.clone_from(&slot.picture);
        }
        if let Some(picture) = &picture {
            let start = Instant::now();
            let bytes = painter.paint(picture, terminal::size()?);
            out.write_all(bytes)?;
            out.flush()?;
            screen.note_drawn(start);
        }
    }
}

struct Painter {
    raster: Raster,
    cells: Cells,
}

impl Painter {
    /// The bytes that show `picture` in a terminal of this size.
    fn paint(&mut self, picture: &Picture, (columns, rows): (u16, u16)) -> &[u8] {
        let (columns, rows) = (columns.min(MOST_COLUMNS), rows.min(MOST_ROWS));
        self.cells.resize(usize::from(columns), usize::from(rows));
        self.raster.resize(usize::from(columns), usize::from(rows) * 2);
        if columns < LEAST_COLUMNS || rows < LEAST_ROWS {
            self.raster.clear();
            self.cells.take_pixels(&self.raster);
            texts::too_small(&mut self.cells, LEAST_COLUMNS, LEAST_ROWS);
        } else {
            let moved = picture.net.as_ref().map_or(&[][..], |net| net.moved());
            stage::paint(&mut self.raster, &picture.scene, moved);
            texts::paint_pixels(&mut self.raster, picture);
            self.cells.take_pixels(&self.raster);
            texts::paint(&mut self.cells, picture);
        }
        self.cells.changes()
    }
}

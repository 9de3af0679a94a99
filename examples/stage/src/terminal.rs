//! The terminal view: one thread reads keys as they come, this one draws pictures as they come.

use std::io::{self, IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use crossterm::event::{
    DisableFocusChange, EnableFocusChange, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{cursor, event, execute, terminal};

use crate::screen::Job;
use crate::{Cells, Color, Depth, Key, Keyboard, Picture, Raster, Role, Screen, rgb};

/// A larger terminal shows the picture in its middle: more cells are more bytes, not more fun.
const MAX_COLUMNS: u16 = 160;
const MAX_ROWS: u16 = 50;
/// Smaller than this nothing can be recognised.
const MIN_COLUMNS: u16 = 60;
const MIN_ROWS: u16 = 18;
const PAPER: Color = rgb(0xFF_F6_E4);

/// Takes over the terminal and runs the job beside it.
pub(crate) fn run<P: Picture, T: Send + 'static>(
    roles: impl Fn(Key) -> Role + Send + 'static,
    job: Job<P, T>,
) -> Result<T, String> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err("the terminal view needs a terminal for input and output; try --view none".to_owned());
    }
    let takeover =
        Takeover::begin().map_err(|error| format!("the terminal cannot be taken over: {error}"))?;
    let screen = Screen::new(true);
    *screen.keyboard() = Keyboard::new(takeover.releases);
    let reader = screen.clone();
    // It waits for keys for ever; the end of the process is its end.
    std::thread::spawn(move || read_keys(&reader, roles));
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

fn read_keys<P: Picture>(screen: &Screen<P>, roles: impl Fn(Key) -> Role) {
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
                    _ => keyboard.press(key, roles(key), Instant::now()),
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
fn draw_all<P: Picture>(screen: &Screen<P>) -> io::Result<()> {
    let mut painter = Painter { raster: Raster::default(), cells: Cells::new(Depth::of_environment()) };
    let mut picture: Option<P> = None;
    let mut version = 0;
    let mut out = io::stdout();
    loop {
        {
            let slot = screen.wait_for(version, None);
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
    fn paint(&mut self, picture: &impl Picture, (columns, rows): (u16, u16)) -> &[u8] {
        let (columns, rows) = (columns.min(MAX_COLUMNS), rows.min(MAX_ROWS));
        self.cells.resize(usize::from(columns), usize::from(rows));
        self.raster.resize(usize::from(columns), usize::from(rows) * 2);
        if columns < MIN_COLUMNS || rows < MIN_ROWS {
            self.raster.clear();
            self.cells.take_pixels(&self.raster);
            let text = format!("at least {MIN_COLUMNS} x {MIN_ROWS} please");
            self.cells.write_centered(i32::from(rows) / 2, &text, PAPER, None);
        } else {
            picture.paint_shapes(&mut self.raster);
            self.cells.take_pixels(&self.raster);
            picture.write_words(&mut self.cells);
        }
        self.cells.changes()
    }
}

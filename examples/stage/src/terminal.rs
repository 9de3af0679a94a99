//! The terminal view: one thread reads keys as they come, this one draws pictures as they come.

use std::io::{self, IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, KeyboardEnhancementFlags,
    MouseEvent, MouseEventKind, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{cursor, event, execute, terminal};

use crate::screen::Job;
use crate::{Depth, Key, Keyboard, Painter, Picture, Role, Screen, Stroke, Surface, Touch, TouchAct, at};

/// How often a terminal that is too small is asked whether it has grown.
const GROWTH_CHECK: Duration = Duration::from_millis(50);

/// The answer to a terminal that says of itself that it cannot be drawn on.
const DUMB: &str = "this terminal calls itself dumb (TERM=dumb): it cannot place characters or show colours, and a picture needs \
                    both. Use another terminal, --view window, or --view none, which tells the match in words";

/// The mode of ECMA-48 for the order of characters: as they are placed, or as the terminal finds it right.
const EXPLICIT_ORDER: &str = "\x1b[8l";
const IMPLICIT_ORDER: &str = "\x1b[8h";

/// Takes over the terminal and runs the job beside it.
pub(crate) fn run<P: Picture, T: Send + 'static>(
    roles: impl Fn(Key) -> Role + Send + 'static,
    job: Job<P, T>,
) -> Result<T, String> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err("the terminal view needs a terminal for input and output; try --view none".to_owned());
    }
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        return Err(DUMB.to_owned());
    }
    let takeover =
        Takeover::begin().map_err(|error| format!("the terminal cannot be taken over: {error}"))?;
    let screen = Screen::new(true);
    let releases = takeover.releases;
    *screen.keyboard() = Keyboard::new(releases);
    let reader = screen.clone();
    let pen = Arc::new(Mutex::new(Pen { painter: Painter::new(Depth::of_environment()), releases }));
    let lent = Arc::clone(&pen);
    // It waits for keys for ever; the end of the process is its end.
    std::thread::spawn(move || read_keys(&reader, roles, &lent));
    // Nobody fights unseen: the job begins once there is room for its pictures, or to hear that the player leaves.
    await_room(&screen, &pen).map_err(|error| format!("the terminal is gone: {error}"))?;
    let worker = screen.clone();
    let thread = std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| job(&worker)));
        worker.finish();
        outcome
    });
    let drawn = draw_all(&screen, &pen);
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
        prepare(releases)?;
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

/// Tells the terminal what is shown on it, and which keys it is to tell.
fn prepare(releases: bool) -> io::Result<()> {
    execute!(
        io::stdout(),
        terminal::EnterAlternateScreen,
        cursor::Hide,
        EnableFocusChange,
        EnableBracketedPaste
    )?;
    // Cells are placed one by one: a terminal that turns the characters of Hebrew and Arabic must not turn the row.
    write!(io::stdout(), "{EXPLICIT_ORDER}")?;
    if releases {
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
            | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
            | KeyboardEnhancementFlags::REPORT_ALL_KEYS_AS_ESCAPE_CODES;
        execute!(io::stdout(), PushKeyboardEnhancementFlags(flags))?;
    }
    Ok(())
}

/// The right to write to the terminal.
struct Pen {
    painter: Painter,
    releases: bool,
}

impl Pen {
    fn of(pen: &Mutex<Self>) -> MutexGuard<'_, Self> {
        pen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the terminal to the shell until that lets the program go on.
    fn rest(&self) {
        give_back(self.releases);
        signals::suspend();
    }

    /// Takes the terminal again after a rest, also after one that came from outside; `true` if there was one.
    fn wake(&mut self) -> io::Result<bool> {
        if !signals::take_resumed() {
            return Ok(false);
        }
        // The shell has its own mode, and the screen has its lines.
        terminal::disable_raw_mode()?;
        terminal::enable_raw_mode()?;
        prepare(self.releases)?;
        self.painter = Painter::new(Depth::of_environment());
        Ok(true)
    }
}

fn give_back(releases: bool) {
    // Nothing can be done about a terminal that is gone.
    if releases {
        let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags);
    }
    let _ = write!(io::stdout(), "{IMPLICIT_ORDER}");
    let _ = execute!(
        io::stdout(),
        DisableMouseCapture,
        DisableBracketedPaste,
        DisableFocusChange,
        cursor::Show,
        terminal::LeaveAlternateScreen
    );
    let _ = terminal::disable_raw_mode();
}

fn read_keys<P: Picture>(screen: &Screen<P>, roles: impl Fn(Key) -> Role, pen: &Mutex<Pen>) {
    while let Ok(event) = event::read() {
        match event {
            Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers, .. })
                if modifiers.contains(KeyModifiers::CONTROL) =>
            {
                screen.close();
            }
            Event::Key(KeyEvent { code: KeyCode::Char('z'), modifiers, kind, .. })
                if modifiers.contains(KeyModifiers::CONTROL) && kind == KeyEventKind::Press =>
            {
                Pen::of(pen).rest();
                screen.keyboard().release_all();
            }
            Event::Key(KeyEvent { code, kind, modifiers, .. }) => {
                // A character with Ctrl or Alt is a command, not text.
                if let KeyCode::Char(character) = code
                    && modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
                {
                    if kind != KeyEventKind::Release && !modifiers.contains(KeyModifiers::ALT) {
                        screen.gestures().stroke(Stroke::Command(character.to_ascii_lowercase()));
                    }
                    continue;
                }
                if let Some(stroke) = stroke_of(code).filter(|_| kind != KeyEventKind::Release) {
                    screen.gestures().stroke(stroke);
                }
                let Some(key) = key_of(code) else { continue };
                let mut keyboard = screen.keyboard();
                match kind {
                    KeyEventKind::Release => keyboard.release(key),
                    _ => keyboard.press(key, roles(key), Instant::now()),
                }
            }
            Event::Paste(text) => screen.gestures().paste(&text),
            Event::Mouse(mouse) => {
                let touch = terminal::size().ok().and_then(|size| touch_of(mouse, size));
                touch.into_iter().for_each(|touch| screen.gestures().touch(touch));
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
        KeyCode::Delete => Key::Delete,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(number) => Key::F(number),
        KeyCode::Char(character) => Key::Char(character.to_lowercase().next().unwrap_or(character)),
        _ => return None,
    })
}

fn stroke_of(code: KeyCode) -> Option<Stroke> {
    match code {
        KeyCode::Char(character) => Some(Stroke::Character(character)),
        code => key_of(code).map(Stroke::Key),
    }
}

fn touch_of(mouse: MouseEvent, size: (u16, u16)) -> Option<Touch> {
    let act = match mouse.kind {
        MouseEventKind::Down(_) => TouchAct::Press,
        MouseEventKind::Moved | MouseEventKind::Drag(_) => TouchAct::Move,
        MouseEventKind::ScrollUp => TouchAct::WheelUp,
        MouseEventKind::ScrollDown => TouchAct::WheelDown,
        _ => return None,
    };
    let (columns, rows) = Painter::area(size);
    let (left, top) = ((size.0 - columns) / 2, (size.1 - rows) / 2);
    let place = |at: u16, from: u16| f32::from(at) + 0.5 - f32::from(from);
    let place = at(place(mouse.column, left), place(mouse.row, top));
    let surface = Surface::Cells { columns: columns.into(), rows: rows.into() };
    Some(Touch { place, surface, act })
}

/// Puts text on the clipboard of the terminal, wherever that runs; terminals that do not let programs do so ignore it.
fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
    out.flush()
}

fn base64(bytes: &[u8]) -> String {
    const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let character = CHARACTERS[(group >> (18 - 6 * place) & 0x3F) as usize];
            text.push(if place <= chunk.len() { char::from(character) } else { '=' });
        }
    }
    text
}

/// Waits until the terminal is large enough or the player leaves, and says how large that is.
fn await_room<P: Picture>(screen: &Screen<P>, pen: &Mutex<Pen>) -> io::Result<()> {
    let mut out = io::stdout();
    loop {
        let size = terminal::size()?;
        if Painter::has_room(size) || screen.take_input().closed {
            return Ok(());
        }
        let mut pen = Pen::of(pen);
        pen.wake()?;
        out.write_all(pen.painter.ask_for_room(size))?;
        out.flush()?;
        drop(pen);
        std::thread::sleep(GROWTH_CHECK);
    }
}

/// Draws every new picture until the match is over.
fn draw_all<P: Picture>(screen: &Screen<P>, pen: &Mutex<Pen>) -> io::Result<()> {
    let mut picture: Option<P> = None;
    let mut version = 0;
    let mut out = io::stdout();
    let mut has_mouse = false;
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
            let mut pen = Pen::of(pen);
            // A rest has switched the mouse off.
            let has_rested = pen.wake()?;
            has_mouse &= !has_rested;
            let size = terminal::size()?;
            if has_rested || !Painter::has_room(size) {
                screen.note_unseen();
            }
            let start = Instant::now();
            let bytes = pen.painter.paint(picture, size);
            out.write_all(bytes)?;
            out.flush()?;
            screen.note_drawn(version, start);
            if picture.takes_mouse() != has_mouse {
                has_mouse = !has_mouse;
                if has_mouse {
                    execute!(out, EnableMouseCapture)?;
                } else {
                    execute!(out, DisableMouseCapture)?;
                }
            }
        }
        if let Some(text) = screen.take_copied() {
            copy(&text)?;
        }
    }
}

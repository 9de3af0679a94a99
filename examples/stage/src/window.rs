//! The window, on macroquad, which opens it, shows one texture and tells the keys.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use macroquad::miniquad;
use macroquad::prelude as mq;

use crate::pixels::{HEIGHT, Pixels, WIDTH};
use crate::screen::Job;
use crate::{Key, Picture, Point, Role, Screen, Stroke, Surface, Touch, TouchAct, at};

fn conf(title: &str) -> mq::Conf {
    mq::Conf {
        window_title: title.to_owned(),
        window_width: WIDTH as i32,
        window_height: HEIGHT as i32,
        high_dpi: true,
        sample_count: 1,
        platform: miniquad::conf::Platform { swap_interval: Some(1), ..Default::default() },
        ..Default::default()
    }
}

/// The texture as it is: the library's own shader mixes a colour in and blends, and a software renderer pays for it.
const VERTEX_SHADER: &str = "#version 100
attribute vec3 position;
attribute vec2 texcoord;
varying lowp vec2 uv;
uniform mat4 Model;
uniform mat4 Projection;
void main() {
    gl_Position = Projection * Model * vec4(position, 1.0);
    uv = texcoord;
}";

const FRAGMENT_SHADER: &str = "#version 100
varying lowp vec2 uv;
uniform sampler2D Texture;
void main() {
    gl_FragColor = texture2D(Texture, uv);
}";

/// How the picture gets into the window; the library's own way if this machine cannot make another.
fn plain() -> Option<mq::Material> {
    let source = mq::ShaderSource::Glsl { vertex: VERTEX_SHADER, fragment: FRAGMENT_SHADER };
    mq::load_material(source, mq::MaterialParams::default()).ok()
}

/// Opens a window and runs the job beside it; gives the job back if no window can be opened.
pub(crate) fn run<P: Picture, T: Send + 'static>(job: Job<P, T>) -> Result<T, Job<P, T>> {
    let waiting = Arc::new(Mutex::new(Some(job)));
    let result = Arc::new(Mutex::new(None));
    let (taken, given) = (Arc::clone(&waiting), Arc::clone(&result));
    let open = Arc::new(AtomicBool::new(false));
    let opened = Arc::clone(&open);
    let main = async move {
        opened.store(true, Ordering::Relaxed);
        let job = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(job) = job else { return };
        let screen = Screen::new(true);
        let worker = screen.clone();
        let thread = std::thread::spawn(move || {
            // The window must learn that the match is over, even if it panicked.
            let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| job(&worker)));
            worker.finish();
            outcome
        });
        watch(&screen).await;
        *given.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread.join());
    };
    // Without a display the library below panics. That is no fault of the player's: no backtrace, but the terminal.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if open.load(Ordering::Relaxed) {
            hook(info);
        }
    }));
    let opened =
        std::panic::catch_unwind(AssertUnwindSafe(|| macroquad::Window::from_config(conf(P::TITLE), main)));
    let outcome = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    match outcome {
        Some(Ok(Ok(value))) => Ok(value),
        Some(Ok(Err(panic)) | Err(panic)) => std::panic::resume_unwind(panic),
        None => match waiting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(job) => Err(job),
            None => match opened {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("the window took the match and ended without it"),
            },
        },
    }
}

/// A display that does not say when it is ready for the next picture is not asked more often than this.
const PATIENCE: Duration = Duration::from_millis(17);

/// Draws every new picture until the match is over.
async fn watch<P: Picture>(screen: &Screen<P>) {
    mq::prevent_quit();
    let mut pixels = Pixels::default();
    let mut texture: Option<mq::Texture2D> = None;
    // It must outlive the last picture: the library keeps no more than its number.
    let plain = plain();
    if let Some(plain) = &plain {
        mq::gl_use_material(plain);
    }
    let (mut newest, mut repeats, mut pointer): (Option<P>, _, _) = (None, Repeats::default(), None);
    let (mut version, mut is_full) = (0, false);
    loop {
        if mq::is_quit_requested() {
            screen.close();
        }
        if asks_for_full_screen() {
            is_full = !is_full;
            mq::set_fullscreen(is_full);
        }
        read_keys(screen);
        read_strokes(screen, &mut repeats);
        read_mouse(screen, &mut pointer);
        if let Some(text) = screen.take_copied() {
            miniquad::window::clipboard_set(&text);
        }
        {
            let slot = screen.wait_for(version, Some(PATIENCE));
            if slot.done {
                return;
            }
            if slot.version != version {
                version = slot.version;
                newest.clone_from(&slot.picture);
            }
        }
        let start = Instant::now();
        if let Some(picture) = &newest {
            pixels.fit(
                mq::screen_width() * mq::screen_dpi_scale(),
                mq::screen_height() * mq::screen_dpi_scale(),
            );
            picture.paint(&mut pixels);
            present(&pixels, &mut texture);
            screen.note_drawn(version, start);
        }
        mq::next_frame().await;
    }
}

/// The corner of the picture in the window, and the pixels to one of its units.
fn placement() -> (Point, f32) {
    let window = (mq::screen_width(), mq::screen_height());
    let scale = (window.0 / WIDTH).min(window.1 / HEIGHT);
    let middle = |room: f32, size: f32| ((room - size * scale) / 2.0).round();
    (at(middle(window.0, WIDTH), middle(window.1, HEIGHT)), scale)
}

/// Puts the pixels into the middle of the window, as large as it allows.
fn present(pixels: &Pixels, texture: &mut Option<mq::Texture2D>) {
    let (width, height) = pixels.size();
    let fits = |texture: &mq::Texture2D| (texture.width() as u16, texture.height() as u16) == (width, height);
    let texture = match texture {
        Some(texture) if fits(texture) => {
            texture.update_from_bytes(width.into(), height.into(), pixels.bytes());
            texture
        }
        _ => texture.insert(mq::Texture2D::from_rgba8(width, height, pixels.bytes())),
    };
    let (Point { x, y }, scale) = placement();
    let size = mq::vec2(WIDTH * scale, HEIGHT * scale);
    if x > 0.0 || y > 0.0 {
        mq::clear_background(mq::BLACK);
    }
    // Pixel for pixel there is nothing to smooth.
    let same = (size.x - f32::from(width)).abs() < 0.5;
    texture.set_filter(if same { mq::FilterMode::Nearest } else { mq::FilterMode::Linear });
    let params = mq::DrawTextureParams { dest_size: Some(size), ..Default::default() };
    mq::draw_texture_ex(texture, x, y, mq::WHITE, params);
}

/// A short press may begin and end between two pictures of a slow machine.
fn is_down(codes: [mq::KeyCode; 2]) -> bool {
    codes.into_iter().any(|code| mq::is_key_down(code) || mq::is_key_released(code))
}

fn is_alt_down() -> bool {
    is_down([mq::KeyCode::LeftAlt, mq::KeyCode::RightAlt])
}

/// F11 and Alt-Enter fill the screen, and give it back.
fn asks_for_full_screen() -> bool {
    use mq::KeyCode as Code;
    let is_enter = mq::is_key_pressed(Code::Enter) || mq::is_key_pressed(Code::KpEnter);
    mq::is_key_pressed(Code::F11) || is_alt_down() && is_enter
}

/// The keys that were pressed and belong to the game.
fn pressed() -> impl Iterator<Item = Key> {
    let is_alt = is_alt_down();
    let is_ours = move |key: &Key| *key == Key::F(11) || is_alt && *key == Key::Enter;
    mq::get_keys_pressed().into_iter().filter_map(key_of).filter(move |key| !is_ours(key))
}

fn read_keys<P: Picture>(screen: &Screen<P>) {
    let mut keyboard = screen.keyboard();
    for key in pressed() {
        keyboard.press(key, Role::Tap, Instant::now());
    }
    for code in mq::get_keys_released() {
        if let Some(key) = key_of(code) {
            keyboard.release(key);
        }
    }
}

/// Keyboards of desktops repeat a held key after this time, and then this often.
const FIRST_REPEAT: Duration = Duration::from_millis(400);
const NEXT_REPEAT: Duration = Duration::from_millis(70);
/// Keys that walk and erase while they are held; characters repeat by themselves.
const REPEATING: [mq::KeyCode; 6] = [
    mq::KeyCode::Up,
    mq::KeyCode::Down,
    mq::KeyCode::Left,
    mq::KeyCode::Right,
    mq::KeyCode::Backspace,
    mq::KeyCode::Delete,
];

/// The key that is held, and when it strokes again.
#[derive(Default)]
struct Repeats(Option<(mq::KeyCode, Instant)>);

impl Repeats {
    fn due(&mut self, now: Instant) -> Option<mq::KeyCode> {
        for code in REPEATING {
            if mq::is_key_pressed(code) {
                self.0 = Some((code, now + FIRST_REPEAT));
            }
        }
        let (code, at) = self.0.as_mut()?;
        if !mq::is_key_down(*code) {
            self.0 = None;
            return None;
        }
        (now >= *at).then(|| {
            *at = now + NEXT_REPEAT;
            *code
        })
    }
}

fn read_strokes<P: Picture>(screen: &Screen<P>, repeats: &mut Repeats) {
    use mq::KeyCode as Code;
    let commands =
        is_down([Code::LeftControl, Code::RightControl]) || is_down([Code::LeftSuper, Code::RightSuper]);
    let mut gestures = screen.gestures();
    while let Some(character) = mq::get_char_pressed() {
        if !character.is_control() && !commands {
            gestures.stroke(Stroke::Character(character));
        }
    }
    let pastes = commands && mq::is_key_pressed(Code::V)
        || is_down([Code::LeftShift, Code::RightShift]) && mq::is_key_pressed(Code::Insert);
    if pastes {
        let text = miniquad::window::clipboard_get();
        text.iter().for_each(|text| gestures.paste(text));
    }
    let repeated = repeats.due(Instant::now()).and_then(key_of);
    for key in pressed().chain(repeated) {
        match key {
            // Ctrl-V has become a paste already.
            Key::Char(character) if commands && character != 'v' => {
                gestures.stroke(Stroke::Command(character));
            }
            Key::Char(_) => {}
            key => gestures.stroke(Stroke::Key(key)),
        }
    }
}

/// `pointer` is where it was last: one that rests over the window as it opens has not moved.
fn read_mouse<P: Picture>(screen: &Screen<P>, pointer: &mut Option<Point>) {
    let (corner, scale) = placement();
    let (x, y) = mq::mouse_position();
    // Where it is is told once it moves; until then the library says the corner.
    if (x, y) == (0.0, 0.0) && pointer.is_none() {
        return;
    }
    let place = at((x - corner.x) / scale, (y - corner.y) / scale);
    let moved = pointer.replace(place).is_some_and(|last| last != place);
    let (_, wheel) = mq::mouse_wheel();
    let acts = [
        (moved, TouchAct::Move),
        (mq::is_mouse_button_pressed(mq::MouseButton::Left), TouchAct::Press),
        (wheel > 0.0, TouchAct::WheelUp),
        (wheel < 0.0, TouchAct::WheelDown),
    ];
    for (_, act) in acts.into_iter().filter(|(happened, _)| *happened) {
        screen.gestures().touch(Touch { place, surface: Surface::Canvas, act });
    }
}

fn key_of(code: mq::KeyCode) -> Option<Key> {
    use mq::KeyCode as Code;
    Some(match code {
        Code::Left => Key::Left,
        Code::Right => Key::Right,
        Code::Up => Key::Up,
        Code::Down => Key::Down,
        Code::Enter | Code::KpEnter => Key::Enter,
        Code::Escape => Key::Escape,
        Code::Tab => Key::Tab,
        Code::Backspace => Key::Backspace,
        Code::Delete => Key::Delete,
        Code::Home => Key::Home,
        Code::End => Key::End,
        Code::F1 => Key::F(1),
        Code::F2 => Key::F(2),
        Code::F3 => Key::F(3),
        Code::F4 => Key::F(4),
        Code::F5 => Key::F(5),
        Code::F6 => Key::F(6),
        Code::F7 => Key::F(7),
        Code::F8 => Key::F(8),
        Code::F9 => Key::F(9),
        Code::F10 => Key::F(10),
        Code::F11 => Key::F(11),
        Code::F12 => Key::F(12),
        Code::KpAdd => Key::Char('+'),
        Code::KpSubtract => Key::Char('-'),
        // Letters, digits and signs have the number of their character.
        other => {
            let number = other as u32;
            let character = char::from_u32(number)
                .filter(|character| character.is_ascii_graphic() || *character == ' ')?;
            Key::Char(character.to_ascii_lowercase())
        }
    })
}

//! The cabinet's side of a core's callbacks: the picture and the sound of a step, the pads, and the core's wishes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::{CString, c_uint, c_void};
use std::path::Path;

use super::abi::{AvInfo, DEVICE_JOYPAD, DEVICE_MASK, FrameTimeFn, JOYPAD_MASK};
use super::core::MappedRegion;
use super::environment::Wish;

/// The widest and highest picture that is taken.
const MAX_SIDE: u32 = 4_096;
/// Frames of sound that one step can make: a third of a second at 48 kHz.
const MAX_HEARD: usize = 16_000;
/// Lines of the log that are kept.
const MAX_LINES: usize = 64;
const MAX_WISHES: usize = 64;
/// The level of a warning in libretro.
const WARNING: c_uint = 2;

/// The options that the player has chosen, by key.
pub type Options = BTreeMap<String, String>;

/// The newest picture of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub width: usize,
    pub height: usize,
    /// Red, green, blue and full opacity, row by row.
    pub pixels: Vec<[u8; 4]>,
}

/// The sound of the last step that was shown, left and right.
pub type Heard = Vec<[i16; 2]>;

/// One option of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub key: CString,
    pub value: CString,
    /// Every value that it can have; the first is the usual one.
    pub values: Vec<String>,
}

/// How a core packs its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PixelFormat {
    Rgb1555,
    Xrgb8888,
    Rgb565,
}

/// The call that a core is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Setup,
    Run,
    Serialize,
    Restore,
}

/// The state of the callbacks of one core.
#[derive(Debug)]
pub struct Frontend {
    pub(super) phase: Cell<Phase>,
    pads: Cell<[u16; 4]>,
    is_shown: Cell<bool>,
    shown_steps: Cell<u64>,
    pub(super) format: Cell<PixelFormat>,
    frame: RefCell<Frame>,
    heard: RefCell<Heard>,
    lines: RefCell<Vec<(c_uint, String)>>,
    wishes: RefCell<Vec<Wish>>,
    pub(super) options: Options,
    /// The newest list is the last. Older ones stay, because a core may have kept pointers into them.
    pub(super) variables: RefCell<Vec<Vec<Variable>>>,
    pub(super) mapped: RefCell<Vec<MappedRegion>>,
    pub(super) av_info: Cell<AvInfo>,
    pub(super) frame_time: Cell<Option<(FrameTimeFn, i64)>>,
    pub(super) system: CString,
    pub(super) saves: CString,
    pub(super) quirks: Cell<u64>,
    /// How often the pads were read while the core saved its state.
    polls_in_serialize: Cell<u64>,
}

impl Frontend {
    pub(super) fn new(options: &Options, system: &Path, saves: &Path) -> Self {
        let path = |path: &Path| CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        Self {
            phase: Cell::new(Phase::Setup),
            pads: Cell::default(),
            is_shown: Cell::new(true),
            shown_steps: Cell::default(),
            format: Cell::new(PixelFormat::Rgb1555),
            frame: RefCell::default(),
            heard: RefCell::default(),
            lines: RefCell::default(),
            wishes: RefCell::default(),
            options: options.clone(),
            variables: RefCell::default(),
            mapped: RefCell::default(),
            av_info: Cell::default(),
            frame_time: Cell::default(),
            system: path(system),
            saves: path(saves),
            quirks: Cell::default(),
            polls_in_serialize: Cell::default(),
        }
    }

    pub(super) fn begin_step(&self, pads: [u16; 4], is_shown: bool) {
        self.pads.set(pads);
        self.is_shown.set(is_shown);
        if is_shown {
            self.shown_steps.set(self.shown_steps.get() + 1);
            self.heard.borrow_mut().clear();
        }
    }

    pub(super) fn is_shown(&self) -> bool {
        self.is_shown.get()
    }

    pub(super) fn log(&self, level: c_uint, text: &str) {
        let mut lines = self.lines.borrow_mut();
        if !text.is_empty() && (lines.len() < MAX_LINES || level >= WARNING) {
            lines.truncate(MAX_LINES - 1);
            lines.push((level, text.to_owned()));
        }
    }

    pub(super) fn wish(&self, wish: Wish) {
        let mut wishes = self.wishes.borrow_mut();
        if wishes.len() < MAX_WISHES && wishes.last() != Some(&wish) {
            wishes.push(wish);
        }
    }

    /// The wishes since the last call.
    pub fn take_wishes(&self) -> Vec<Wish> {
        self.wishes.take()
    }

    /// The lines of the log, oldest first; the warnings alone if there are any.
    pub fn lines(&self) -> Vec<String> {
        let lines = self.lines.borrow();
        let has_warning = lines.iter().any(|(level, _)| *level >= WARNING);
        let kept = lines.iter().filter(|(level, _)| !has_warning || *level >= WARNING);
        kept.map(|(_, text)| text.clone()).collect()
    }

    /// The options of the core, with the values that it was given.
    pub fn variables(&self) -> Vec<Variable> {
        self.variables.borrow().last().cloned().unwrap_or_default()
    }

    /// Lends the newest picture.
    pub fn see<T>(&self, look: impl FnOnce(&Frame) -> T) -> T {
        look(&self.frame.borrow())
    }

    /// Lends the sound of the last step that was shown.
    pub fn hear<T>(&self, listen: impl FnOnce(&[[i16; 2]]) -> T) -> T {
        listen(&self.heard.borrow())
    }

    /// The steps so far that were to be seen and heard.
    pub fn shown_steps(&self) -> u64 {
        self.shown_steps.get()
    }

    /// How often the core has read its pads while it saved its state.
    pub fn polls_in_serialize(&self) -> u64 {
        self.polls_in_serialize.get()
    }

    fn note_poll(&self) {
        if self.phase.get() == Phase::Serialize {
            self.polls_in_serialize.set(self.polls_in_serialize.get() + 1);
        }
    }

    fn pad(&self, port: c_uint, device: c_uint, id: c_uint) -> i16 {
        self.note_poll();
        let held = self.pads.get().get(port as usize).copied().unwrap_or(0);
        match (device & DEVICE_MASK, id) {
            (DEVICE_JOYPAD, JOYPAD_MASK) => held.cast_signed(),
            (DEVICE_JOYPAD, 0..16) => i16::from(held >> id & 1 != 0),
            _ => 0,
        }
    }

    fn take_samples(&self, samples: &[i16]) {
        if self.is_shown() && self.phase.get() == Phase::Run {
            let mut heard = self.heard.borrow_mut();
            let room = MAX_HEARD - heard.len();
            heard.extend(samples.chunks_exact(2).take(room).map(|pair| [pair[0], pair[1]]));
        }
    }

    /// Takes over a picture of rows that are `pitch` bytes apart.
    fn take_picture(&self, bytes: &[u8], width: usize, height: usize, pitch: usize) {
        let mut frame = self.frame.borrow_mut();
        if (frame.width, frame.height) != (width, height) && frame.width > 0 {
            self.wish(Wish::Geometry { width, height });
        }
        let frame = &mut *frame;
        (frame.width, frame.height) = (width, height);
        frame.pixels.clear();
        for row in bytes.chunks(pitch).take(height) {
            match self.format.get() {
                PixelFormat::Xrgb8888 => frame
                    .pixels
                    .extend(row.chunks_exact(4).take(width).map(|pixel| [pixel[2], pixel[1], pixel[0], 255])),
                format => frame.pixels.extend(
                    row.chunks_exact(2)
                        .take(width)
                        .map(|two| unpacked(format, u16::from_ne_bytes([two[0], two[1]]))),
                ),
            }
        }
        frame.pixels.resize(width * height, [0, 0, 0, 255]);
    }
}

/// The colour of a pixel of 16 bits, each part stretched to eight.
fn unpacked(format: PixelFormat, pixel: u16) -> [u8; 4] {
    let five = |part: u16| ((part & 31) << 3 | (part & 31) >> 2) as u8;
    let six = |part: u16| ((part & 63) << 2 | (part & 63) >> 4) as u8;
    match format {
        PixelFormat::Rgb565 => [five(pixel >> 11), six(pixel >> 5), five(pixel), 255],
        _ => [five(pixel >> 10), five(pixel >> 5), five(pixel), 255],
    }
}

thread_local! {
    /// The frontend of the core that this thread is in. A core that calls back from a thread of its own finds none.
    static ACTIVE: Cell<*const Frontend> = const { Cell::new(std::ptr::null()) };
}

/// Names the frontend for the calls of this thread until it is dropped.
pub(super) struct Entered<'a> {
    before: *const Frontend,
    frontend: &'a Frontend,
    phase: Phase,
}

impl<'a> Entered<'a> {
    pub(super) fn new(frontend: &'a Frontend, phase: Phase) -> Self {
        let phase = frontend.phase.replace(phase);
        Self { before: ACTIVE.replace(frontend), frontend, phase }
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        ACTIVE.set(self.before);
        self.frontend.phase.set(self.phase);
    }
}

/// Runs `act` with the frontend of the core that calls, or answers `otherwise` if there is none.
pub(super) fn with_frontend<T>(otherwise: T, act: impl FnOnce(&Frontend) -> T) -> T {
    let active = ACTIVE.get();
    if active.is_null() {
        return otherwise;
    }
    // SAFETY: `Entered` has set the pointer from a reference that it holds until it takes the pointer away again, in this thread.
    act(unsafe { &*active })
}

/// SAFETY of a call: `data` is null, the mark of a picture in the graphics card, or `height` rows that are `pitch` bytes apart.
pub(super) unsafe extern "C" fn video(data: *const c_void, width: c_uint, height: c_uint, pitch: usize) {
    with_frontend((), |frontend| {
        let bytes_each = if frontend.format.get() == PixelFormat::Xrgb8888 { 4 } else { 2 };
        let row = width as usize * bytes_each;
        let is_sound = (1..=MAX_SIDE).contains(&width) && (1..=MAX_SIDE).contains(&height) && pitch >= row;
        // Null repeats the last picture; the greatest address stands for one in the graphics card, which was refused.
        if !frontend.is_shown() || !is_sound || data.is_null() || data.addr() == usize::MAX {
            return;
        }
        let len = pitch * (height as usize - 1) + row;
        // SAFETY: the rows but the last have `pitch` bytes, and the last has at least its pixels; they live for this call.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
        frontend.take_picture(bytes, width as usize, height as usize, pitch);
    });
}

pub(super) unsafe extern "C" fn sample(left: i16, right: i16) {
    with_frontend((), |frontend| frontend.take_samples(&[left, right]));
}

/// SAFETY of a call: `data` is null or has two samples for each frame.
pub(super) unsafe extern "C" fn batch(data: *const i16, frames: usize) -> usize {
    with_frontend((), |frontend| {
        if !data.is_null() && frames <= MAX_HEARD {
            // SAFETY: the core hands over two samples for each frame, which live for this call.
            frontend.take_samples(unsafe { std::slice::from_raw_parts(data, frames * 2) });
        }
    });
    frames
}

pub(super) unsafe extern "C" fn poll() {
    with_frontend((), Frontend::note_poll);
}

pub(super) unsafe extern "C" fn input(port: c_uint, device: c_uint, _index: c_uint, id: c_uint) -> i16 {
    with_frontend(0, |frontend| frontend.pad(port, device, id))
}

//! Recordings: reading, watching, verifying.

use super::args::{self, Sized32};
use super::game::{CGame, GameTable};
use super::handle::{Handle, Inner, Slot, with};
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use crate::safe::input;
use crate::safe::part::Part;
use rebout::Frame;
use rebout::replay::{Outcome, Recording, Tail, Winner};
use std::ffi::c_char;
use std::ptr;
use std::time::Duration;

/// The longest recording that is read: more than the longest match takes, without its first state.
const MAX_FILE: u64 = 512 << 20;

/// A recording. Set `size` to `sizeof(rebout_replay_info)`. Texts and bytes live until the handle is closed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CReplay {
    /// `sizeof(rebout_replay_info)`.
    pub size: u32,
    /// The version of the file, 1 or 2.
    pub version: u32,
    /// The seed from which the game is built.
    pub seed: u32,
    /// The number of frames.
    pub frames: u32,
    /// The frame from which it is to be shown.
    pub start_frame: u32,
    /// Frames a second; 0 and 0 if the file does not tell.
    pub rate_numerator: u32,
    /// The denominator.
    pub rate_denominator: u32,
    /// The axes of an input.
    pub axes: u32,
    /// The pads at each machine.
    pub pads: u32,
    /// 0 undecided, 1 player one, 2 player two, 3 a draw.
    pub winner: u32,
    /// 1 if the file has its end; otherwise it was cut, damaged, or is still being written.
    pub is_whole: u32,
    /// 0.
    pub reserved: u32,
    /// The game.
    pub game_id: u64,
    /// Its content.
    pub content_hash: u64,
    /// Seconds since 1970; 0 if the file does not tell.
    pub recorded_at_secs: u64,
    /// The name of player one.
    pub name_one: *const c_char,
    /// The name of player two.
    pub name_two: *const c_char,
    /// How the match ended, or how the file does.
    pub outcome: *const c_char,
    /// The first state, from which the game is built.
    pub first_state: *const u8,
    /// How many bytes.
    pub first_state_bytes: usize,
}

// SAFETY: begins with a u32, and has numbers and pointers only.
unsafe impl Sized32 for CReplay {
    const NAME: &'static str = "rebout_replay_info";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            version: 0,
            seed: 0,
            frames: 0,
            start_frame: 0,
            rate_numerator: 0,
            rate_denominator: 0,
            axes: 0,
            pads: 0,
            winner: 0,
            is_whole: 0,
            reserved: 0,
            game_id: 0,
            content_hash: 0,
            recorded_at_secs: 0,
            name_one: ptr::null(),
            name_two: ptr::null(),
            outcome: ptr::null(),
            first_state: ptr::null(),
            first_state_bytes: 0,
        }
    }
}

/// How a recorded match ended, as a text.
fn outcome_text(recording: &Recording) -> String {
    match recording.end().map(|end| end.outcome) {
        Some(Outcome::Agreed { checksum }) => format!("agreed, {checksum:08X}"),
        Some(Outcome::Differs { ours, theirs }) => format!("differs: {ours:08X} here and {theirs:08X} there"),
        Some(Outcome::Unconfirmed { checksum }) => format!("unconfirmed, {checksum:08X}"),
        Some(Outcome::Disconnected(reason)) => format!("over before its end: {reason}"),
        Some(Outcome::Local) => "played at one machine".to_owned(),
        Some(_) | None => recording.tail().to_string(),
    }
}

/// Opens a recording on an empty handle: a file of RPLK version 1 or 2, also one that was cut.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `path` is NULL or a text with a zero byte at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_open(handle: *mut Handle, path: *const c_char) -> Status {
    let call = |inner: &mut Inner| {
        inner.part.check_empty()?;
        // SAFETY: the caller's promise.
        let path = unsafe { args::text(path, "path")? };
        let failed = |error: &dyn std::fmt::Display| Fault::failed(format_args!("{path}: {error}"));
        let size = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
        if size > MAX_FILE {
            return Err(failed(&format_args!("a file of {size} bytes is no recording")));
        }
        let file = std::fs::read(path).map_err(|error| failed(&error))?;
        inner.part = Part::Recording(Box::new(Recording::open(file).map_err(|error| failed(&error))?));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The facts about the recording.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `info` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_get_info(handle: *mut Handle, info: *mut CReplay) -> Status {
    let call = |inner: &mut Inner| {
        let (part, lent) = (&inner.part, &mut inner.lent);
        let recording = part.recorded()?;
        let header = recording.header();
        lent.first_state = header.first_state.clone();
        let found = CReplay {
            size: 0,
            version: recording.version().into(),
            seed: header.seed,
            frames: recording.frames(),
            start_frame: header.start_frame.0,
            rate_numerator: header.frame_rate.map_or(0, rebout::FrameRate::numerator),
            rate_denominator: header.frame_rate.map_or(0, rebout::FrameRate::denominator),
            axes: header.axes.into(),
            pads: header.pads.into(),
            winner: match recording.end().map(|end| end.winner) {
                None | Some(Winner::Undecided) => 0,
                Some(Winner::Player(player)) => 1 + player.index() as u32,
                Some(Winner::Draw) => 3,
            },
            is_whole: (recording.tail() == Tail::Whole).into(),
            reserved: 0,
            game_id: header.game_id,
            content_hash: header.content_hash,
            recorded_at_secs: header.recorded_at_secs,
            name_one: lent.text(Slot::Player1, &rebout::shown(&header.names[0])),
            name_two: lent.text(Slot::Player2, &rebout::shown(&header.names[1])),
            outcome: lent.text(Slot::Outcome, &outcome_text(recording)),
            first_state: lent.first_state.as_ptr(),
            first_state_bytes: lent.first_state.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { args::write(info, &found, "info") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Copies the inputs of `count` frames from `first` on: two for each frame, player one's first. `copied` becomes the number of frames,
/// which is less at the end.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `inputs` holds 2 * `count` numbers, and `copied` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_inputs(
    handle: *mut Handle,
    first: u32,
    inputs: *mut u64,
    count: usize,
    copied: *mut usize,
) -> Status {
    let call = |inner: &mut Inner| {
        let recording = inner.part.recorded()?;
        if inputs.is_null() || copied.is_null() {
            return Err(Fault::null(if inputs.is_null() { "inputs" } else { "copied" }));
        }
        let mut at = 0;
        for pair in recording.inputs().skip(first as usize).take(count) {
            for bits in input::both(pair) {
                // SAFETY: less than 2 * `count` numbers, says the caller.
                unsafe { inputs.add(at).write_unaligned(bits) };
                at += 1;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { args::put(copied, at / 2, "copied") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Plays the whole recording and compares its states with the recorded checksums. `compared` becomes their number. The game is in its
/// first state before, and in the last one after. It is not kept, and not released.
///
/// # Safety
/// As `rebout_start`; `compared` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_verify(
    handle: *mut Handle,
    game: *const GameTable,
    compared: *mut u32,
) -> Status {
    let call = |inner: &mut Inner| {
        let recording = inner.part.recorded()?;
        if compared.is_null() {
            return Err(Fault::null("compared"));
        }
        // SAFETY: the caller's promise.
        let mut game = unsafe { CGame::read(game)? };
        let verified = recording.verify(&mut game).map_err(Fault::failed);
        game.give_back();
        // SAFETY: the caller's promise.
        unsafe { args::put(compared, verified?, "compared") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Watches the recording from its start frame on, paused. The game is in its first state, built from the seed and the first state of the
/// recording, and is kept as in `rebout_start`.
///
/// # Safety
/// As `rebout_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_start(handle: *mut Handle, game: *const GameTable) -> Status {
    let call = |inner: &mut Inner| {
        inner.part.recorded()?;
        if matches!(inner.part, Part::Playback(_)) {
            return Err(Fault::phase("the recording is watched already"));
        }
        // SAFETY: the caller's promise.
        inner.part.watch(unsafe { CGame::read(game)? })
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Loads up to `steps` more frames, so that every seek is short, and compares their checksums. `loaded` becomes the frame up to which all is
/// loaded. A checksum that differs is `REBOUT_STATUS_FAILED`, and `rebout_error` names its frame.
///
/// # Safety
/// As `rebout_frames`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_load(handle: *mut Handle, steps: u32, loaded: *mut u32) -> Status {
    let call = |inner: &mut Inner| {
        let playback = inner.part.playback()?;
        playback.load(steps, |_, _| {});
        // SAFETY: the caller's promise.
        unsafe { args::put(loaded, playback.loaded().0, "loaded")? };
        playback.verified().map(|_| ()).map_err(Fault::failed)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Sets the game to the state of `frame`, or to the last one. A match that is watched then goes on from there at normal speed;
/// `UINT32_MAX` follows its newest frames again.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_seek(handle: *mut Handle, frame: u32) -> Status {
    let call = |inner: &mut Inner| {
        inner.part.seek(Frame(frame))?;
        inner.keep_frame();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Steps a frame. `is_stepped` becomes 0 at the end. `rebout_cues` has its cues.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `is_stepped` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_step(handle: *mut Handle, is_stepped: *mut i32) -> Status {
    let call = |inner: &mut Inner| {
        let playback = inner.part.playback()?;
        if is_stepped.is_null() {
            return Err(Fault::null("is_stepped"));
        }
        let stepped = playback.step();
        inner.keep_frame();
        // SAFETY: the caller's promise.
        unsafe { args::put(is_stepped, stepped.into(), "is_stepped") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Plays on at `speed_permille` thousandths of the recorded rate, by the caller's clock; 0 pauses.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_play(
    handle: *mut Handle,
    now_nanos: u64,
    speed_permille: u32,
) -> Status {
    let call = |inner: &mut Inner| {
        let playback = inner.part.playback()?;
        if speed_permille > 1_000_000 {
            return Err(Fault::invalid(format_args!("a speed of {speed_permille} is more than 1000000")));
        }
        playback.set_speed(speed_permille);
        if speed_permille == 0 {
            playback.pause();
        } else {
            playback.play(Duration::from_nanos(now_nanos));
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Steps the frames that are due at `now_nanos`, at most four for each 1,000 of the speed; `stepped` becomes their number, and may be NULL.
/// `rebout_cues` has the cues of all of them.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `stepped` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_replay_advance(
    handle: *mut Handle,
    now_nanos: u64,
    stepped: *mut u32,
) -> Status {
    let call = |inner: &mut Inner| {
        let mut cues = Vec::new();
        let count = inner.part.playback()?.advance(Duration::from_nanos(now_nanos), |_, _, events| {
            cues.extend(events.iter().map(super::game::CueEvent::from));
        });
        inner.lent.confirmed.clear();
        inner.lent.cues = cues;
        if stepped.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { args::put(stepped, count, "stepped") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

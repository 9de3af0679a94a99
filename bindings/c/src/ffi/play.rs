//! The turns and frames of a match.

use super::args::{self, Sized32};
use super::game::{CGame, CueEvent, FrameInputs, GameTable};
use super::handle::{Handle, Inner, Slot, with};
use crate::safe::codes::{AdvancedCode, EventCode, FinishCode, NowCode, ReasonCode, Status, VerdictCode};
use crate::safe::fault::Fault;
use crate::safe::input;
use crate::safe::part::{Part, not_begun};
use crate::safe::turn::Turn;
use rebout::replay::Winner;
use rebout::{Input, Player};
use std::ffi::{c_char, c_void};
use std::ptr;

/// The next thing to do. Set `size` to `sizeof(rebout_turn)`. Fields that a kind does not name are 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CTurn {
    /// `sizeof(rebout_turn)`.
    pub size: u32,
    /// The next thing to do.
    pub now: NowCode,
    /// Of `REBOUT_NOW_EVENT`.
    pub event: EventCode,
    /// Of `REBOUT_NOW_FINISHED`.
    pub finish: FinishCode,
    /// Of `REBOUT_FINISH_PLAYED`.
    pub verdict: VerdictCode,
    /// Of `REBOUT_FINISH_ENDED`.
    pub reason: ReasonCode,
    /// A player: 0 for one, 1 for two. At `REBOUT_NOW_BEGIN` the seat of this machine.
    pub seat: u32,
    /// The seed of the match that begins, equal on both machines.
    pub seed: u32,
    /// A frame.
    pub frame: u32,
    /// The frame up to which a mended match was stepped again.
    pub to_frame: u32,
    /// Of `REBOUT_VERDICT_AGREED`: 1 if this machine came back and has the match from the other machine's log alone.
    pub is_from_their_log: u32,
    /// A checksum here.
    pub ours: u32,
    /// A checksum on the peer.
    pub theirs: u32,
    /// An input delay.
    pub delay_frames: u32,
    /// A window.
    pub window_frames: u32,
    /// A rate, in thousandths of the agreed one.
    pub rate_permille: u32,
    /// A point or a length of time.
    pub time_nanos: u64,
    /// The confirmed and the refused input of a conflict.
    pub inputs: [u64; 2],
    /// A text, never NULL. It lives until the next turn.
    pub text: *const c_char,
    /// The first state at `REBOUT_NOW_BEGIN`, or a message. They live until the next turn. NULL if there are none.
    pub bytes: *const u8,
    /// How many.
    pub byte_count: usize,
}

// SAFETY: begins with a u32. It is only ever written; a caller's is never read as this type.
unsafe impl Sized32 for CTurn {
    const NAME: &'static str = "rebout_turn";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self::of(&Turn::default(), c"".as_ptr(), &[])
    }
}

impl CTurn {
    fn of(turn: &Turn, text: *const c_char, bytes: &[u8]) -> Self {
        Self {
            size: 0,
            now: turn.now,
            event: turn.event,
            finish: turn.finish,
            verdict: turn.verdict,
            reason: turn.reason,
            seat: turn.seat,
            seed: turn.seed,
            frame: turn.frame,
            to_frame: turn.to_frame,
            is_from_their_log: turn.is_from_their_log.into(),
            ours: turn.ours,
            theirs: turn.theirs,
            delay_frames: turn.delay_frames,
            window_frames: turn.window_frames,
            rate_permille: turn.rate_permille,
            time_nanos: turn.time_nanos,
            inputs: turn.inputs,
            text,
            bytes: if bytes.is_empty() { ptr::null() } else { bytes.as_ptr() },
            byte_count: bytes.len(),
        }
    }
}

/// # Safety
/// As `rebout_poll`.
unsafe fn turn(handle: *mut Handle, turn: *mut CTurn, blocks: bool) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise. Checked before the turn is taken, which could not be told otherwise.
        unsafe { args::check_out(turn, "turn")? };
        let mut next = inner.part.turn(blocks)?;
        let text = inner.lent.text(Slot::Turn, &next.text);
        inner.lent.turn_bytes = std::mem::take(&mut next.bytes);
        // SAFETY: the caller's promise.
        unsafe { args::write(turn, &CTurn::of(&next, text, inner.lent.turn_bytes.as_slice()), "turn") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Sends and receives what is ready, and says what there is to do. It never blocks.
///
/// Call it until it says `REBOUT_NOW_IDLE`, `CONNECTING`, `GUEST` or `FINISHED`; then draw.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `turn` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_poll(handle: *mut Handle, turn: *mut CTurn) -> Status {
    // SAFETY: the caller's promise.
    unsafe { self::turn(handle, turn, false) }
}

/// Sends and receives until there is something to do, and says what. Without a match that runs it returns at least every 16 ms.
///
/// # Safety
/// As `rebout_poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_wait(handle: *mut Handle, turn: *mut CTurn) -> Status {
    // SAFETY: the caller's promise.
    unsafe { self::turn(handle, turn, true) }
}

/// Begins the match after `REBOUT_NOW_BEGIN`. The game is in its first state, built from the seed. The library calls its callbacks until
/// the match is closed, another one is started, or the handle is freed; it then calls `release`, if it has one. A game that was not taken
/// is not released.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `game` is NULL or a struct as its documentation says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_start(handle: *mut Handle, game: *const GameTable) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let game = unsafe { CGame::read(game)? };
        let started = match &inner.game {
            // Also while a machine that has come back has no session yet.
            Some(_) => Err((game, Fault::phase("the match has begun already"))),
            None => inner.part.start(game),
        };
        match started {
            Ok(game) => inner.game = game,
            Err((game, fault)) => {
                game.give_back();
                return Err(fault);
            }
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// # Safety
/// As `rebout_advance`.
#[inline]
unsafe fn advance(handle: *mut Handle, inputs: [Input; 2], advanced: *mut AdvancedCode) -> Status {
    let call = |inner: &mut Inner| {
        let code = match (&mut inner.game, &mut inner.part) {
            (Some(game), part) => {
                let code = AdvancedCode::from(part.advance(game, inputs)?);
                inner.keep_frame();
                code
            }
            (None, Part::Watched(watched)) => {
                let mut cues = Vec::new();
                let shown = watched.advance(|events| cues.extend(events.iter().map(CueEvent::from)))?;
                inner.lent.cues = cues;
                AdvancedCode::from(shown)
            }
            (None, _) => return Err(not_begun()),
        };
        if advanced.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { args::put(advanced, code, "advanced") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Plays the frame that is due after `REBOUT_NOW_FRAME`: rolls back, steps, sends, records. `input` is the local player's input now, 64 bits as
/// the helpers of the header make them. `advanced` may be NULL. Offline player two presses nothing, and in a match that is watched nobody
/// does.
///
/// `rebout_cues` and `rebout_confirmed` have what this frame brought.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `advanced` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_advance(
    handle: *mut Handle,
    input: u64,
    advanced: *mut AdvancedCode,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { advance(handle, [input::from_bits(input), Input::NEUTRAL], advanced) }
}

/// Plays the frame that is due in a match at one machine, with the inputs of both players.
///
/// # Safety
/// As `rebout_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_advance_both(
    handle: *mut Handle,
    input_one: u64,
    input_two: u64,
    advanced: *mut AdvancedCode,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { advance(handle, [input_one, input_two].map(input::from_bits), advanced) }
}

/// Steps the game `look_ahead_frames` ahead of the match, calls `draw`, and puts the game back. Call it once after each frame.
///
/// # Safety
/// As `rebout_start`; `draw` is NULL or a function that may be called with `user`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_look_ahead(
    handle: *mut Handle,
    draw: Option<unsafe extern "C-unwind" fn(user: *mut c_void)>,
    user: *mut c_void,
) -> Status {
    let call = |inner: &mut Inner| {
        let Some(draw) = draw else { return Err(Fault::null("draw")) };
        match (&mut inner.game, &inner.part) {
            // SAFETY: a callback of the caller's, with its pointer.
            (Some(game), _) => inner.part.look_ahead(game, |_| unsafe { draw(user) }),
            (None, Part::Watched(watched)) if watched.shown().is_some() => {
                // SAFETY: a callback of the caller's, with its pointer.
                unsafe { draw(user) };
                Ok(())
            }
            (None, _) => Err(not_begun()),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The changes to cues in the last frame. They live until the next frame.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `cues` and `count` are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_cues(
    handle: *mut Handle,
    cues: *mut *const CueEvent,
    count: *mut usize,
) -> Status {
    let call = |inner: &mut Inner| {
        let kept = &inner.lent.cues;
        // SAFETY: the caller's promise.
        unsafe { args::put(count, kept.len(), "count").and_then(|()| args::put(cues, kept.as_ptr(), "cues")) }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The frames that became certain in the last frame, with their inputs. They live until the next frame.
///
/// # Safety
/// As `rebout_cues`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_confirmed(
    handle: *mut Handle,
    frames: *mut *const FrameInputs,
    count: *mut usize,
) -> Status {
    let call = |inner: &mut Inner| {
        let kept = &inner.lent.confirmed;
        // SAFETY: the caller's promise.
        unsafe {
            args::put(count, kept.len(), "count").and_then(|()| args::put(frames, kept.as_ptr(), "frames"))
        }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Sends a message of the game's own, at most 1,024 bytes, delivered once and in order.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `bytes` points to `count` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_send(handle: *mut Handle, bytes: *const u8, count: usize) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        inner.part.send(unsafe { args::bytes(bytes, count, "bytes")? })
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Asks to pause the match: `REBOUT_EVENT_PAUSED` follows. At one machine, and in a match that is watched, it pauses at once.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_pause(handle: *mut Handle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.pause()) }
}

/// Ends the pause, after a countdown. A match that is watched goes on at once.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_resume(handle: *mut Handle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.resume()) }
}

/// Changes the input delay of this machine.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_set_delay(handle: *mut Handle, delay_frames: u32) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.set_delay(u8::try_from(delay_frames).unwrap_or(u8::MAX))) }
}

/// Says who has won, for the recording: 0 undecided, 1 player one, 2 player two, 3 a draw.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_set_winner(handle: *mut Handle, winner: u32) -> Status {
    let call = |inner: &mut Inner| {
        let winner = match winner {
            0 => Winner::Undecided,
            1 => Winner::Player(Player::One),
            2 => Winner::Player(Player::Two),
            3 => Winner::Draw,
            _ => return Err(Fault::invalid(format_args!("winner is {winner}: 0 to 3"))),
        };
        inner.part.set_winner(winner)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Leaves the match, or the lobby. `REBOUT_NOW_FINISHED` follows when the other side knows.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_leave(handle: *mut Handle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.leave()) }
}

/// Asks for another match with the same player, after `REBOUT_NOW_FINISHED`. Both have to ask. A spectator waits for the next match.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_rematch(handle: *mut Handle) -> Status {
    let call = |inner: &mut Inner| {
        inner.part.rematch()?;
        inner.clear();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Leaves, waits until the last messages are through, at most two and a half seconds, and makes the handle empty. What it has lent ends,
/// but for the report of a test. It may host or join again. On an empty handle it does nothing.
///
/// # Safety
/// As `rebout_pause`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_close(handle: *mut Handle) -> Status {
    let call = |inner: &mut Inner| {
        let closed = inner.part.close();
        inner.clear();
        closed
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

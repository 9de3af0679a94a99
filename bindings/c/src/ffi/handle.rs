//! The handle: one call at a time, no panic into C, and the text of the last error.

use super::game::{CGame, CueEvent, FrameInputs};
use super::transport::CTransport;
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use crate::safe::input;
use crate::safe::part::Part;
use crate::safe::turn::Bytes;
use rebout::FirstState;
use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// A match, from the invite to the verdict; or a recording.
///
/// One thread at a time may use it; it need not always be the same. A call while another one runs is answered with
/// `REBOUT_STATUS_BUSY`, also a call from a callback.
pub struct Handle {
    is_busy: AtomicBool,
    inner: UnsafeCell<Inner>,
}

/// The content of a handle.
pub(super) struct Inner {
    pub(super) part: Part<CGame, CTransport>,
    /// The game of the match that runs. That of a recording belongs to the playback.
    pub(super) game: Option<CGame>,
    pub(super) lent: Lent,
    error: CString,
    has_panicked: bool,
}

/// What was lent to the caller, each until the call that says so.
#[derive(Default)]
pub(super) struct Lent {
    texts: [CString; Slot::COUNT],
    pub(super) turn_bytes: Bytes,
    pub(super) user_data: Vec<u8>,
    pub(super) first_state: FirstState,
    pub(super) cues: Vec<CueEvent>,
    pub(super) confirmed: Vec<FrameInputs>,
}

/// The texts of a handle. Each lives until the same function is called again, or the handle is closed or freed.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    Turn,
    Share,
    Progress,
    Name,
    Path,
    Report,
    Addr,
    Code,
    Fingerprint,
    Player1,
    Player2,
    Outcome,
    Unfinished,
    InviteOne,
    ShareToWatch,
}

impl Slot {
    const COUNT: usize = Self::ShareToWatch as usize + 1;
}

/// A text for C: a zero byte inside it would cut it.
fn c_text(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let kept = error.into_vec().into_iter().map(|byte| if byte == 0 { b'?' } else { byte });
        CString::new(kept.collect::<Vec<u8>>()).unwrap_or_default()
    })
}

impl Lent {
    /// Keeps a text and lends it.
    pub(super) fn text(&mut self, slot: Slot, text: &str) -> *const c_char {
        let kept = &mut self.texts[slot as usize];
        // Nothing is allocated for a turn without a text.
        if !text.is_empty() || !kept.is_empty() {
            *kept = c_text(text);
        }
        kept.as_ptr()
    }

    /// The report of the last test.
    pub(super) fn report(&self) -> String {
        self.texts[Slot::Report as usize].to_string_lossy().into_owned()
    }
}

impl Inner {
    /// Copies the cues and the certain frames of the last frame.
    #[inline]
    pub(super) fn keep_frame(&mut self) {
        let Self { part, lent, .. } = self;
        lent.cues.clear();
        lent.cues.extend(part.cues().iter().map(CueEvent::from));
        lent.confirmed.clear();
        part.confirmed(|frame, inputs| {
            lent.confirmed.push(FrameInputs { inputs: input::both(inputs), frame: frame.0, reserved: 0 });
        });
    }

    /// Forgets the match and all that was lent of it.
    pub(super) fn clear(&mut self) {
        self.game = None;
        let report = std::mem::take(&mut self.lent.texts[Slot::Report as usize]);
        self.lent = Lent::default();
        self.lent.texts[Slot::Report as usize] = report;
    }
}

/// Gives the handle free again when a call returns.
struct Call<'a>(&'a AtomicBool);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Runs a call on a handle: checks it, keeps other calls out, catches a panic, and keeps the text of a failure.
///
/// # Safety
/// `handle` is NULL or a handle of [`rebout_new`] that was not freed.
#[inline]
pub(super) unsafe fn with(handle: *mut Handle, call: impl FnOnce(&mut Inner) -> Result<(), Fault>) -> Status {
    if handle.is_null() {
        return Status::Null;
    }
    // SAFETY: a live handle, says the caller. Other calls have a shared reference at most before they have passed `is_busy`.
    let handle = unsafe { &*handle };
    if handle.is_busy.swap(true, Ordering::Acquire) {
        return Status::Busy;
    }
    let _call = Call(&handle.is_busy);
    // SAFETY: `is_busy` was false and is true now: no other call has a reference to the content.
    let inner = unsafe { &mut *handle.inner.get() };
    if inner.has_panicked {
        return Status::Panicked;
    }
    match catch_unwind(AssertUnwindSafe(|| call(inner))) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(fault)) => {
            inner.error = c_text(fault.text);
            fault.status
        }
        Err(panic) => {
            inner.has_panicked = true;
            inner.error = c_text(format!("panicked: {}", message(panic.as_ref())));
            Status::Panicked
        }
    }
}

/// The text of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".to_owned())
}

/// Makes a handle, without a match. NULL only if there is no memory.
///
/// Free it with `rebout_free`.
#[unsafe(no_mangle)]
pub extern "C" fn rebout_new() -> *mut Handle {
    let inner = Inner {
        part: Part::Empty,
        game: None,
        lent: Lent::default(),
        error: CString::default(),
        has_panicked: false,
    };
    Box::into_raw(Box::new(Handle { is_busy: AtomicBool::new(false), inner: UnsafeCell::new(inner) }))
}

/// Frees a handle and sets the caller's pointer to NULL, so that a second call does nothing. Everything that it has lent ends with it.
///
/// A match that runs is left without a word: call `rebout_close` before. A handle that is in use is not freed, and the answer is
/// `REBOUT_STATUS_BUSY`.
///
/// # Safety
/// `handle` is NULL, or points to NULL or to a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_free(handle: *mut *mut Handle) -> Status {
    if handle.is_null() {
        return Status::Null;
    }
    // SAFETY: a pointer of the caller's.
    let freed = unsafe { handle.read() };
    if freed.is_null() {
        return Status::Ok;
    }
    // SAFETY: a live handle, says the caller.
    if unsafe { &*freed }.is_busy.swap(true, Ordering::Acquire) {
        return Status::Busy;
    }
    // SAFETY: the caller's pointer, and the handle of `rebout_new`, which nobody uses now.
    let content = unsafe {
        handle.write(std::ptr::null_mut());
        Box::from_raw(freed)
    };
    match catch_unwind(AssertUnwindSafe(|| drop(content))) {
        Ok(()) => Status::Ok,
        Err(_) => Status::Panicked,
    }
}

/// The text of the last failure on this handle, in English. Empty if there was none.
///
/// It lives until the next call on this handle fails. Never NULL.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_error(handle: *const Handle) -> *const c_char {
    if handle.is_null() {
        return c"the handle is NULL".as_ptr();
    }
    // SAFETY: a live handle, says the caller.
    let handle = unsafe { &*handle };
    if handle.is_busy.swap(true, Ordering::Acquire) {
        return c"another call on this handle has not returned".as_ptr();
    }
    let _call = Call(&handle.is_busy);
    // SAFETY: `is_busy` was false and is true now.
    unsafe { &*handle.inner.get() }.error.as_ptr()
}

/// A short text about a status. Never NULL; it lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn rebout_status_text(status: i32) -> *const c_char {
    let text: &'static CStr = match status {
        0 => c"done",
        1 => c"an argument is NULL",
        2 => c"an argument is not valid",
        3 => c"the call does not belong to this phase",
        4 => c"it did not work",
        5 => c"the transport is broken",
        6 => c"another call on this handle has not returned",
        7 => c"a callback or the library panicked",
        8 => c"the library was built without this part",
        9 => c"the buffer is too small",
        10 => c"too many are under way",
        _ => c"no status of this library",
    };
    text.as_ptr()
}

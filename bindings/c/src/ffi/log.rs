//! The log callback: the `tracing` events of the library, as lines of text.

use crate::safe::codes::Status;
use std::ffi::{CString, c_char, c_void};
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// A callback for a line of the log: 1 error, 2 warning, 3 information, 4 debugging, 5 tracing. `text` lives until it returns.
pub type LogCallback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, level: u32, text: *const c_char)>;

/// The callback of the process.
static CALLED: Mutex<Called> = Mutex::new(Called { callback: None, user: std::ptr::null_mut() });
/// The least important level that is told. 0 is none.
static MAX_LEVEL: AtomicU32 = AtomicU32::new(0);
static INSTALLED: Once = Once::new();

#[derive(Clone, Copy)]
struct Called {
    callback: LogCallback,
    user: *mut c_void,
}

// SAFETY: the pointer is only passed on, and the caller says that its callback may be called from any thread.
unsafe impl Send for Called {}

/// A subscriber that passes on the events of the library alone.
struct Passer;

/// The number of a level.
fn number(level: Level) -> u32 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        _ => 5,
    }
}

impl Subscriber for Passer {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The level may change; other targets never count.
        if metadata.target().starts_with("rebout") { Interest::sometimes() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && metadata.target().starts_with("rebout")
            && number(*metadata.level()) <= MAX_LEVEL.load(Ordering::Relaxed)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let called = *CALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let Called { callback: Some(callback), user } = called else { return };
        let mut line = Line::default();
        event.record(&mut line);
        let text = format!("{}{}", line.message, line.fields).replace('\0', "?");
        let Ok(text) = CString::new(text) else { return };
        // SAFETY: the callback of the caller, with its pointer and a text. It is called outside of the lock, so that it may log too.
        unsafe { callback(user, number(*event.metadata().level()), text.as_ptr()) };
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A line: the message, and the fields as `name=value`.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to memory does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

/// Tells a callback of what happens inside: refused datagrams, handshakes, stalls, rollbacks, paths. It is one for the whole process;
/// NULL ends it.
///
/// `max_level` is the least important level that is told: 1 error, 2 warning, 3 information, 4 debugging, 5 tracing. The callback may be
/// called from any thread, and must not call the library. A program that has a `tracing` subscriber of its own gets
/// `REBOUT_STATUS_FAILED`.
///
/// # Safety
/// `callback` is NULL or a function that may be called with `user` from any thread until it is replaced, and by calls that run then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_set_log(callback: LogCallback, user: *mut c_void, max_level: u32) -> Status {
    if max_level > 5 {
        return Status::Invalid;
    }
    let set = || {
        *CALLED.lock().unwrap_or_else(PoisonError::into_inner) = Called { callback, user };
        MAX_LEVEL.store(if callback.is_some() { max_level } else { 0 }, Ordering::Relaxed);
        let mut installs = Ok(());
        INSTALLED.call_once(|| installs = tracing::subscriber::set_global_default(Passer));
        if installs.is_ok() { Status::Ok } else { Status::Failed }
    };
    catch_unwind(AssertUnwindSafe(set)).unwrap_or(Status::Panicked)
}

//! A virtual clock for every library of this process. Linux only.
//!
//! GGRS and Fortress read the clock themselves, through the standard library, which calls `clock_gettime`. This program
//! defines that symbol: it reads the system's clock, so that a read costs what it costs, and then returns virtual time if
//! there is any.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The time of all clocks in nanoseconds; 0 is real time.
static VIRTUAL_NS: AtomicU64 = AtomicU64::new(0);

type Gettime = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

fn system() -> Gettime {
    static SYSTEM: OnceLock<Gettime> = OnceLock::new();
    *SYSTEM.get_or_init(|| {
        // SAFETY: the name ends with a zero byte, and the symbol behind it has the type of the C library's function.
        unsafe {
            let found = libc::dlsym(libc::RTLD_NEXT, c"clock_gettime".as_ptr());
            assert!(!found.is_null(), "the C library has no clock_gettime");
            std::mem::transmute::<*mut libc::c_void, Gettime>(found)
        }
    })
}

/// The function that the standard library calls.
///
/// # Safety
/// `time` points to a `timespec` that may be written, as for the C library's function.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: the caller keeps the contract of the C library's function, which is also that of this one.
    unsafe {
        let done = system()(clock, time);
        let now = VIRTUAL_NS.load(Relaxed);
        if now != 0 && done == 0 {
            (*time).tv_sec = (now / 1_000_000_000) as libc::time_t;
            (*time).tv_nsec = (now % 1_000_000_000) as libc::c_long;
        }
        done
    }
}

/// Sets all clocks of this process.
pub(crate) fn set(now_ns: u64) {
    VIRTUAL_NS.store(now_ns, Relaxed);
}

/// The processor time of this thread.
pub(crate) fn processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call.
    unsafe { system()(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

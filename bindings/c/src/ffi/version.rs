//! The version of the library, and helpers without a handle.

use super::args;
use crate::safe::codes::Status;
use rebout::{FrameRate, Input};
use std::ffi::c_char;

/// The major version of this header.
pub const REBOUT_VERSION_MAJOR: u32 = 0;
/// The minor version of this header.
pub const REBOUT_VERSION_MINOR: u32 = 2;
/// The patch of this header.
pub const REBOUT_VERSION_PATCH: u32 = 0;

const _: () = {
    let major = env!("CARGO_PKG_VERSION_MAJOR").as_bytes();
    let minor = env!("CARGO_PKG_VERSION_MINOR").as_bytes();
    let patch = env!("CARGO_PKG_VERSION_PATCH").as_bytes();
    // One digit each, as long as that is so.
    assert!(major.len() == 1 && major[0] == b'0' + REBOUT_VERSION_MAJOR as u8);
    assert!(minor.len() == 1 && minor[0] == b'0' + REBOUT_VERSION_MINOR as u8);
    assert!(patch.len() == 1 && patch[0] == b'0' + REBOUT_VERSION_PATCH as u8);
};

/// The version of the library: major times 1,000,000, minor times 1,000, and patch.
///
/// A library serves every program that was compiled with a header of the same major version and of its own minor version or an older one;
/// before 1.0 the minor version has to be equal too.
#[unsafe(no_mangle)]
pub extern "C" fn rebout_version() -> u32 {
    REBOUT_VERSION_MAJOR * 1_000_000 + REBOUT_VERSION_MINOR * 1_000 + REBOUT_VERSION_PATCH
}

/// The version of the library as a text. It lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn rebout_version_text() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The fraction that a number of frames a second stands for, such as libretro's `timing.fps`: 60.0988 is 39375000 / 655171.
///
/// # Safety
/// The pointers are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_rate(hz: f64, numerator: *mut u32, denominator: *mut u32) -> Status {
    if numerator.is_null() || denominator.is_null() {
        return Status::Null;
    }
    if !(1.0..=1_000.0).contains(&hz) {
        return Status::Invalid;
    }
    let rate = FrameRate::from_f64(hz);
    // SAFETY: the caller's promise.
    let put = unsafe {
        args::put(numerator, rate.numerator(), "numerator")
            .and_then(|()| args::put(denominator, rate.denominator(), "denominator"))
    };
    put.map_or_else(|fault| fault.status, |()| Status::Ok)
}

/// A stick as two axes: its position from -32,768 to 32,767, with a dead zone and `steps` steps from the centre to the edge. The low byte is
/// the first axis, the high byte the second: shift it by 16 bits plus 8 for each axis before it, into an input.
#[unsafe(no_mangle)]
pub extern "C" fn rebout_stick(x: i16, y: i16, steps: u8) -> u16 {
    let [x, y] = Input::stick(x, y, steps);
    u16::from_le_bytes([x as u8, y as u8])
}

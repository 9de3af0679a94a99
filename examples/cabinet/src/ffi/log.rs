//! The text of a core's log, whose function takes as many arguments as its format names.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::fmt::Write;

use super::frontend::with_frontend;

/// The arguments of a format that are looked at.
const ARGUMENTS: usize = 4;
/// The longest text of one argument.
const MAX_CHARACTERS: usize = 200;

/// The log function for a core; `None` where a function of fixed arguments cannot stand for one of variable arguments.
///
/// The calling conventions of Linux on these processors pass the first integers and pointers of variable arguments in the same
/// registers as fixed ones.
pub(super) fn function() -> Option<*const c_void> {
    let is_known = cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));
    is_known.then_some(write as unsafe extern "C" fn(_, _, _, _, _, _) as *const c_void)
}

/// SAFETY of a call: `format` is null or a C string, and each argument that it names was passed.
unsafe extern "C" fn write(level: c_uint, format: *const c_char, a: usize, b: usize, c: usize, d: usize) {
    if format.is_null() {
        return;
    }
    // SAFETY: a core hands over a C string, which lives for the call.
    let format = unsafe { CStr::from_ptr(format) }.to_bytes();
    let text = formatted(format, [a, b, c, d]);
    with_frontend((), |frontend| frontend.log(level, text.trim_end()));
}

/// Fills in the integers and texts of a format. Floats are in other registers and become a question mark.
fn formatted(format: &[u8], arguments: [usize; ARGUMENTS]) -> String {
    let (mut text, mut rest) = (String::new(), format.iter().copied());
    let mut arguments = arguments.into_iter();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            text.push(char::from(byte));
            continue;
        }
        let mut longs = 0;
        let conversion = loop {
            match rest.next() {
                Some(b'*') => drop(arguments.next()),
                Some(b'l' | b'z' | b'j') => longs += 1,
                Some(b'-' | b'+' | b' ' | b'#' | b'.' | b'h' | b'0'..=b'9') => {}
                other => break other,
            }
        };
        let Some(conversion) = conversion else { break };
        if conversion == b'%' {
            text.push('%');
            continue;
        }
        if b"fFeEgGaA".contains(&conversion) {
            text.push('?');
            continue;
        }
        let Some(argument) = arguments.next() else {
            text.push_str("...");
            break;
        };
        // Writing to memory does not fail.
        let _ = match conversion {
            b'd' | b'i' if longs == 0 => write!(text, "{}", argument as i32),
            b'd' | b'i' => write!(text, "{}", argument.cast_signed()),
            b'u' if longs == 0 => write!(text, "{}", argument as u32),
            b'u' => write!(text, "{argument}"),
            b'x' | b'X' if longs == 0 => write!(text, "{:x}", argument as u32),
            b'x' | b'X' | b'p' => write!(text, "{argument:x}"),
            b'c' => write!(text, "{}", char::from(argument as u8)),
            b's' => write!(text, "{}", string(argument as *const c_char)),
            _ => write!(text, "?"),
        };
    }
    text
}

fn string(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return "(null)".to_owned();
    }
    // SAFETY: the format says that this argument is a C string, which lives for the call.
    let text = unsafe { CStr::from_ptr(pointer) }.to_string_lossy();
    text.chars().take(MAX_CHARACTERS).collect()
}

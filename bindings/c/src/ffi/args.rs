//! Pointers of the caller, read and written: NULL, sizes and UTF-8 are checked in one place.

use crate::safe::fault::Fault;
use std::ffi::{CStr, c_char};
use std::slice;

/// The longest text that is taken from C, so that one without its zero byte is not read for ever.
const MAX_TEXT: usize = 64 * 1024;

/// A struct that begins with its size. Fields are only ever added at its end.
///
/// # Safety
/// The type is `repr(C)`, begins with a `u32`, and every pattern of bits is a value of it.
pub(super) unsafe trait Sized32: Copy {
    /// Its name in the header.
    const NAME: &'static str;
    /// Its size in the first version of the interface. A caller never has a smaller one.
    const FIRST_BYTES: usize;

    /// The value of the fields that an older caller does not have.
    fn defaults() -> Self;
}

/// The size that the caller has written into a struct.
///
/// # Safety
/// `pointer` is NULL or points to a struct of the caller's that begins with its size.
unsafe fn size_of_theirs<T: Sized32>(pointer: *const T, argument: &str) -> Result<usize, Fault> {
    if pointer.is_null() {
        return Err(Fault::null(argument));
    }
    // SAFETY: the struct begins with a u32, says the caller. It need not be aligned.
    let size = unsafe { pointer.cast::<u32>().read_unaligned() } as usize;
    if !(T::FIRST_BYTES..=4096).contains(&size) {
        return Err(Fault::invalid(format_args!(
            "{argument}: its size is {size}; set it to sizeof({}), which is {} here",
            T::NAME,
            size_of::<T>()
        )));
    }
    Ok(size)
}

/// Reads a struct of the caller's, which may be of an older or a newer header.
///
/// # Safety
/// `pointer` is NULL or points to as many bytes as the struct says.
pub(super) unsafe fn read<T: Sized32>(pointer: *const T, argument: &str) -> Result<T, Fault> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(pointer, argument)? };
    let ours = size_of::<T>();
    if size > ours {
        // SAFETY: the struct has `size` bytes, says the caller.
        let rest = unsafe { slice::from_raw_parts(pointer.cast::<u8>().add(ours), size - ours) };
        if rest.iter().any(|byte| *byte != 0) {
            let name = T::NAME;
            return Err(Fault::invalid(format_args!(
                "{argument}: the {name} of a newer header uses what this library does not have"
            )));
        }
    }
    let mut value = T::defaults();
    // SAFETY: both have at least this many bytes, and every pattern of bits is a value of T.
    unsafe {
        std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), size.min(ours));
    };
    Ok(value)
}

/// Checks that a struct of the caller's can be written.
///
/// # Safety
/// As [`read`].
pub(super) unsafe fn check_out<T: Sized32>(pointer: *const T, argument: &str) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    unsafe { size_of_theirs(pointer, argument).map(|_| ()) }
}

/// Writes a struct of the caller's, as far as its header knows it. The size stays.
///
/// # Safety
/// As [`read`], and the bytes can be written.
pub(super) unsafe fn write<T: Sized32>(pointer: *mut T, value: &T, argument: &str) -> Result<(), Fault> {
    // SAFETY: the caller's promise.
    let size = unsafe { size_of_theirs(pointer, argument)? };
    let (from, to) = ((&raw const *value).cast::<u8>(), pointer.cast::<u8>());
    // SAFETY: both have this many bytes after the size. A field of a newer header is zeroed.
    unsafe {
        std::ptr::copy_nonoverlapping(from.add(4), to.add(4), size.min(size_of::<T>()) - 4);
        std::ptr::write_bytes(to.add(size.min(size_of::<T>())), 0, size.saturating_sub(size_of::<T>()));
    }
    Ok(())
}

/// Writes a number or a pointer of the caller's.
///
/// # Safety
/// `pointer` is NULL or can be written.
#[inline]
pub(super) unsafe fn put<T>(pointer: *mut T, value: T, argument: &str) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::null(argument));
    }
    // SAFETY: not NULL, and the caller's to be written.
    unsafe { pointer.write_unaligned(value) };
    Ok(())
}

/// A text of the caller's.
///
/// # Safety
/// `pointer` is NULL or points to a text with a zero byte at its end, which stays as it is for the length of `'a`.
pub(super) unsafe fn text<'a>(pointer: *const c_char, argument: &str) -> Result<&'a str, Fault> {
    // SAFETY: the caller's promise.
    unsafe { text_or_none(pointer, argument)? }.ok_or_else(|| Fault::null(argument))
}

/// A text of the caller's that may be NULL.
///
/// # Safety
/// As [`text`].
pub(super) unsafe fn text_or_none<'a>(
    pointer: *const c_char,
    argument: &str,
) -> Result<Option<&'a str>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the text ends with a zero byte, says the caller.
    let text = unsafe { CStr::from_ptr(pointer) };
    if text.count_bytes() > MAX_TEXT {
        return Err(Fault::invalid(format_args!("{argument} has more than {MAX_TEXT} bytes")));
    }
    text.to_str().map(Some).map_err(|_| Fault::invalid(format_args!("{argument} is not UTF-8")))
}

/// Bytes of the caller's. None may be NULL.
///
/// # Safety
/// `pointer` points to `len` bytes, which stay as they are for the length of `'a`, unless `len` is 0.
pub(super) unsafe fn bytes<'a>(pointer: *const u8, len: usize, argument: &str) -> Result<&'a [u8], Fault> {
    if len == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Fault::null(argument));
    }
    if len > isize::MAX as usize {
        return Err(Fault::invalid(format_args!("{argument}: {len} bytes are more than there can be")));
    }
    // SAFETY: `len` bytes, says the caller.
    Ok(unsafe { slice::from_raw_parts(pointer, len) })
}

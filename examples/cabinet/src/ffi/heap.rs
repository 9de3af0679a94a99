//! Fresh memory that is never 0 by accident, so that a byte which a core does not initialise shows.

use std::ffi::c_int;

/// The number by which glibc knows the byte that fills memory; see `mallopt(3)`.
const M_PERTURB: c_int = -6;

/// Fills memory that is allocated from now on, and memory that is freed, with bytes that depend on `byte`; 0 ends that. It does nothing
/// where the system's allocator cannot.
pub fn fill_fresh_memory(byte: u8) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        let program = libloading::os::unix::Library::this();
        // SAFETY: glibc declares it so, and it changes nothing but the filling of memory.
        unsafe {
            if let Ok(mallopt) = program.get::<unsafe extern "C" fn(c_int, c_int) -> c_int>(b"mallopt\0") {
                mallopt(M_PERTURB, byte.into());
            }
        }
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = (M_PERTURB, byte);
}

//! How a match is made: hosts, joiners, transports of the caller's, matches at one machine.

use super::args;
use super::facts::lend;
use super::handle::{Handle, Inner, Slot, with};
use super::options::{self, COptions, Chosen};
use super::transport::{self, TransportTable};
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use crate::safe::part::Part;
use rebout::{ConnectError, Connection, Online, Options};
use std::ffi::c_char;

/// Why there is no connection. Contradictions in the options are the program's mistake; everything else is for the player.
pub(super) fn refused(error: ConnectError) -> Fault {
    match error {
        ConnectError::Options { .. } => Fault::invalid(error),
        _ => Fault::failed(error),
    }
}

/// Reads the options for a handle that is empty.
///
/// # Safety
/// As [`options::read`].
pub(super) unsafe fn chosen(inner: &Inner, options: *const COptions) -> Result<Chosen, Fault> {
    inner.part.check_empty()?;
    // SAFETY: the caller's promise.
    unsafe { options::read(options) }
}

/// Hosts a match on UDP. `rebout_share` is then the text for the other player.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `options` is NULL or a struct as its documentation says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_host(handle: *mut Handle, options: *const COptions) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.online();
        inner.part = Part::Udp(Box::new(Online::host(options).map_err(refused)?));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Joins a match on UDP. `text` is the host's invite, its offer, or its address.
///
/// # Safety
/// As `rebout_host`; `text` is NULL or a text with a zero byte at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_join(
    handle: *mut Handle,
    options: *const COptions,
    text: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.online();
        // SAFETY: the caller's promise.
        let text = unsafe { args::text(text, "text")? };
        inner.part = Part::Udp(Box::new(Online::join(options, text).map_err(refused)?));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Hosts a match on a transport of the caller's, encrypted unless the options say that the transport does it.
///
/// # Safety
/// As `rebout_host`; `transport` is NULL or a struct as its documentation says, whose callbacks may be called until `rebout_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_host_on(
    handle: *mut Handle,
    options: *const COptions,
    transport: *const TransportTable,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { open_on(handle, options, transport, None) }
}

/// Joins a match on a transport of the caller's.
///
/// # Safety
/// As `rebout_host_on` and `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_join_on(
    handle: *mut Handle,
    options: *const COptions,
    transport: *const TransportTable,
    text: *const c_char,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { open_on(handle, options, transport, Some(text)) }
}

/// # Safety
/// As `rebout_host_on` and `rebout_join`.
unsafe fn open_on(
    handle: *mut Handle,
    options: *const COptions,
    transport: *const TransportTable,
    text: Option<*const c_char>,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let chosen = unsafe { chosen(inner, options)? };
        // SAFETY: the caller's promise.
        let (link, address, mailbox) = unsafe { transport::read(transport)? };
        let connection = match text {
            None => Connection::host_on(&chosen.connect, link, &[address]),
            Some(text) => {
                // SAFETY: the caller's promise.
                let text = unsafe { args::text(text, "text")? };
                Connection::join_on(&chosen.connect, link, &[address], text)
            }
        };
        let online =
            connection.and_then(|connection| Online::on(chosen.online(), connection)).map_err(refused)?;
        inner.part = Part::On(Box::new(online), mailbox);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Comes back into a match on UDP, after the program ended in the middle of it. `file` is what `rebout_unfinished` found, and the options
/// are those of that program. Build the game at `REBOUT_NOW_BEGIN` as always; `rebout_advance` then steps it through the match so far, and
/// the match goes on after a countdown.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_rejoin(
    handle: *mut Handle,
    options: *const COptions,
    file: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.online();
        // SAFETY: the caller's promise.
        let file = unsafe { args::text(file, "file")? };
        inner.part = Part::Udp(Box::new(Online::rejoin(options, file).map_err(refused)?));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Comes back into a match on a transport of the caller's.
///
/// # Safety
/// As `rebout_host_on` and `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_rejoin_on(
    handle: *mut Handle,
    options: *const COptions,
    transport: *const TransportTable,
    file: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.online();
        // SAFETY: the caller's promise.
        let (link, address, mailbox) = unsafe { transport::read(transport)? };
        // SAFETY: the caller's promise.
        let file = unsafe { args::text(file, "file")? };
        let online = Online::rejoin_on(options, file, link, &[address]).map_err(refused)?;
        inner.part = Part::On(Box::new(online), mailbox);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Finds the newest match in a folder of `options.rejoin_in` that was not played to its end, if it began in the last hour. `file` becomes
/// empty if there is none. It lives until the next call of this function.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `folder` is NULL or a text with a zero byte at its end; `file` is NULL or can be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_unfinished(
    handle: *mut Handle,
    folder: *const c_char,
    file: *mut *const c_char,
) -> Status {
    let find = |_: &mut Inner| {
        // SAFETY: the caller's promise.
        let folder = unsafe { args::text(folder, "folder")? };
        let found = Options::unfinished_in(folder);
        Ok(found.map(|file| file.display().to_string()).unwrap_or_default())
    };
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Unfinished, file, find) }
}

/// Plays at this machine, with both inputs from the caller. The turns are those of an online match. Of the options the game, the seed, the
/// first state, the look-ahead, the name and `record_to` count.
///
/// # Safety
/// As `rebout_host`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_offline(handle: *mut Handle, options: *const COptions) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let Chosen { config, name, record_to, .. } = unsafe { chosen(inner, options)? };
        inner.part = Part::local(config, &name, record_to)?;
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Decides about the guest of `REBOUT_NOW_GUEST`: 1 takes it, 0 sends it away.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_answer(handle: *mut Handle, accepts: i32) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.answer(accepts != 0)) }
}

/// Takes the answer of the other player to the offer of this host.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_take_answer(handle: *mut Handle, text: *const c_char) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        inner.part.take_answer(unsafe { args::text(text, "text")? })
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The player says that both machines show the same code.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_verify(handle: *mut Handle) -> Status {
    // SAFETY: the caller's promise.
    unsafe { with(handle, |inner| inner.part.verify()) }
}

/// Makes one more invite to play, for a single guest: it is revoked once that one is connected. A host has at most 16 invites at once. The
/// text lives until the next call of this function.
///
/// # Safety
/// As `rebout_share`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_invite_one(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::InviteOne, text, |inner| inner.part.invite_one()) }
}

/// Revokes an invite of this host, to play or to watch. Connected guests stay.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_revoke(handle: *mut Handle, text: *const c_char) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        inner.part.revoke(unsafe { args::text(text, "text")? })
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Replaces the socket of a match on UDP by a new one, for a machine that has changed networks. `address` has a port, which may be 0.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_rebind(handle: *mut Handle, address: *const c_char) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        inner.part.rebind(options::addr(unsafe { args::text(address, "address")? }, "address")?)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Fills options with their defaults. `size` is `sizeof(rebout_options)`.
///
/// # Safety
/// `options` is NULL or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_options_init(options: *mut COptions, size: usize) -> Status {
    if options.is_null() {
        return Status::Null;
    }
    let Ok(stated) = u32::try_from(size) else { return Status::Invalid };
    if size < size_of::<u32>() {
        return Status::Invalid;
    }
    // SAFETY: at least four bytes of the caller's.
    unsafe { options.cast::<u32>().write_unaligned(stated) };
    let defaults = <COptions as args::Sized32>::defaults();
    // SAFETY: the caller's promise: this many bytes as was just written.
    match unsafe { args::write(options, &defaults, "options") } {
        Ok(()) => Status::Ok,
        Err(fault) => fault.status,
    }
}

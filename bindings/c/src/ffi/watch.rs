//! Watching a match of others while it is played, and being watched.

use super::args::{self, Sized32};
use super::connect::{chosen, refused};
use super::facts::lend;
use super::handle::{Handle, Inner, Slot, with};
use super::options::{self, COptions, Chosen};
use super::transport::{self, TransportTable};
use crate::safe::codes::{Status, ViewingCode, WatchingCode};
use crate::safe::fault::Fault;
use crate::safe::part::Part;
use crate::safe::watched::Watched;
use rebout::{Connection, Watch};
use std::ffi::c_char;
use std::ptr;

/// A match that is watched. Set `size` to `sizeof(rebout_watch_info)`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CWatch {
    /// `sizeof(rebout_watch_info)`.
    pub size: u32,
    /// What this spectator receives.
    pub watching: WatchingCode,
    /// What it sees.
    pub viewing: ViewingCode,
    /// The number of the match, from 1 on; 0 before there is one.
    pub match_number: u32,
    /// How many spectators the broadcast has.
    pub spectators: u32,
    /// The frame that is shown.
    pub frame: u32,
    /// The newest frame that has come.
    pub newest_frame: u32,
    /// Recorded checksums that agree with the states here.
    pub checksums_compared: u32,
    /// The age at which the host sends anything of the match.
    pub delay_nanos: u64,
    /// Signatures that were wrong.
    pub forged: u64,
    /// The match so far, as the file that its host records. It lives until the next turn. NULL if there is none.
    pub recording: *const u8,
    /// How many bytes.
    pub recording_bytes: usize,
}

// SAFETY: begins with a u32. It is only ever written; a caller's is never read as this type.
unsafe impl Sized32 for CWatch {
    const NAME: &'static str = "rebout_watch_info";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            watching: WatchingCode::Asking,
            viewing: ViewingCode::Nothing,
            match_number: 0,
            spectators: 0,
            frame: 0,
            newest_frame: 0,
            checksums_compared: 0,
            delay_nanos: 0,
            forged: 0,
            recording: ptr::null(),
            recording_bytes: 0,
        }
    }
}

/// Those who watch this machine. Set `size` to `sizeof(rebout_audience)`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CAudience {
    /// `sizeof(rebout_audience)`.
    pub size: u32,
    /// How many watch now.
    pub spectators: u32,
    /// 1 if every one of them has received everything of a match that is over. With a delay keep calling `rebout_wait` until then.
    pub have_all: u32,
    /// 0.
    pub reserved: u32,
    /// Spectators that were let in.
    pub joined: u64,
    /// Spectators that were sent away because of their behaviour.
    pub evicted: u64,
    /// Datagrams of spectators that were dropped.
    pub refused: u64,
    /// Datagrams sent.
    pub packets_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
}

// SAFETY: begins with a u32, and has numbers only.
unsafe impl Sized32 for CAudience {
    const NAME: &'static str = "rebout_audience";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self::default()
    }
}

/// Watches a match of others on UDP, by their invite to watch. The turns are those of a match: build the game at `REBOUT_NOW_BEGIN` and call
/// `rebout_start`, which keeps it; at `REBOUT_NOW_FRAME` call `rebout_advance`, which shows the frames that are due. `rebout_pause`,
/// `rebout_resume` and `rebout_replay_seek` move in the match. Every byte is signed by the host, and every recorded checksum is compared.
///
/// Of the options those of the connection count.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_watch(
    handle: *mut Handle,
    options: *const COptions,
    text: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.connect;
        // SAFETY: the caller's promise.
        let text = unsafe { args::text(text, "text")? };
        let watch = Watch::join(&options, text).map_err(refused)?;
        inner.part = Part::Watched(Box::new(Watched::on_udp(watch)));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Watches a match of others on a transport of the caller's.
///
/// # Safety
/// As `rebout_join_on`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_watch_on(
    handle: *mut Handle,
    options: *const COptions,
    transport: *const TransportTable,
    text: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let options = unsafe { chosen(inner, options)? }.connect;
        // SAFETY: the caller's promise.
        let (link, address, mailbox) = unsafe { transport::read(transport)? };
        // SAFETY: the caller's promise.
        let text = unsafe { args::text(text, "text")? };
        let connection = Connection::join_on(&options, link, &[address], text);
        let watch = connection.and_then(Watch::on).map_err(refused)?;
        inner.part = Part::Watched(Box::new(Watched::on_transport(watch, mailbox)));
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Serves the match that is watched on UDP to others: `rebout_share_to_watch` is then their invite. Of the options those of a host's
/// connection and of spectators count.
///
/// # Safety
/// As `rebout_host`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_watch_serve(handle: *mut Handle, options: *const COptions) -> Status {
    let call = |inner: &mut Inner| {
        let watched = inner.part.watched()?;
        // SAFETY: the caller's promise.
        let Chosen { connect, spectators, .. } = unsafe { options::read(options)? };
        let Some(config) = spectators else {
            return Err(Fault::invalid("options->max_spectators is 0: nobody would be served"));
        };
        watched.udp()?.serve(&connect, config).map_err(refused)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Asks another machine for the match that is watched on UDP, by its invite to watch, and goes on where the last one ended.
///
/// # Safety
/// As `rebout_join`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_watch_another(
    handle: *mut Handle,
    options: *const COptions,
    text: *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        let watched = inner.part.watched()?;
        // SAFETY: the caller's promise.
        let options = unsafe { options::read(options)? }.connect;
        // SAFETY: the caller's promise.
        let text = unsafe { args::text(text, "text")? };
        watched.udp()?.ask_another(&options, text).map_err(refused)
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The facts about the match that is watched.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `info` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_watch_get_info(handle: *mut Handle, info: *mut CWatch) -> Status {
    let call = |inner: &mut Inner| {
        let watched = inner.part.watched()?;
        let spectator = watched.spectator();
        let shown = watched.shown();
        let bytes = spectator.bytes();
        let found = CWatch {
            size: 0,
            watching: spectator.state().into(),
            viewing: shown.map_or(ViewingCode::Nothing, |viewer| viewer.state().into()),
            match_number: spectator.match_number(),
            spectators: spectator.spectators().into(),
            frame: shown.map_or(0, |viewer| viewer.frame().0),
            newest_frame: shown.map_or(0, |viewer| viewer.newest().0),
            checksums_compared: shown.and_then(|viewer| viewer.verified().ok()).unwrap_or(0),
            delay_nanos: crate::safe::turn::nanos(spectator.delay()),
            forged: spectator.forged(),
            recording: if bytes.is_empty() { ptr::null() } else { bytes.as_ptr() },
            recording_bytes: bytes.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { args::write(info, &found, "info") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The text for spectators, who pass it to `rebout_watch` and can watch with it, not play. A host by invite has one with
/// `options.max_spectators`, and a spectator after `rebout_watch_serve`. It lives until the next call of this function.
///
/// # Safety
/// As `rebout_share`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_share_to_watch(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::ShareToWatch, text, |inner| inner.part.share_to_watch()) }
}

/// The counters of those who watch this machine.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `audience` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_get_audience(handle: *mut Handle, audience: *mut CAudience) -> Status {
    let call = |inner: &mut Inner| {
        let (stats, have_all) = inner.part.audience()?;
        let found = CAudience {
            size: 0,
            spectators: stats.spectators.into(),
            have_all: have_all.into(),
            reserved: 0,
            joined: stats.joined,
            evicted: stats.evicted,
            refused: stats.refused,
            packets_out: stats.sent,
            bytes_out: stats.sent_bytes,
        };
        // SAFETY: the caller's promise.
        unsafe { args::write(audience, &found, "audience") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

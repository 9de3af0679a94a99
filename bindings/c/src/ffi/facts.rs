//! The facts of a match, for a screen or a log.

use super::args::{self, Sized32};
use super::handle::{Handle, Inner, Slot, with};
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use crate::safe::turn::nanos;
use rebout::Stats;
use std::ffi::c_char;
use std::ptr;

/// The other machine. Set `size` to `sizeof(rebout_peer_info)`. Texts live until the next call of `rebout_peer`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CPeer {
    /// `sizeof(rebout_peer_info)`.
    pub size: u32,
    /// 1 if it is certain who the peer is: by invite, or once a player has compared the code.
    pub is_verified: u32,
    /// 1 if a relay carries the match.
    pub is_relayed: u32,
    /// 1 if this machine reaches the relay over TLS.
    pub is_over_tls: u32,
    /// By how much the way through the relay can be longer than a direct one; 0 if that is not known.
    pub detour_nanos: u64,
    /// The address of the peer, or empty.
    pub address: *const c_char,
    /// The code that both players compare, or empty.
    pub code: *const c_char,
}

// SAFETY: begins with a u32, and has numbers and pointers only.
unsafe impl Sized32 for CPeer {
    const NAME: &'static str = "rebout_peer_info";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        let (address, code) = (ptr::null(), ptr::null());
        Self { size: 0, is_verified: 0, is_relayed: 0, is_over_tls: 0, detour_nanos: 0, address, code }
    }
}

/// The terms of a match. Set `size` to `sizeof(rebout_terms)`. Bytes live until the next call of `rebout_agreed`, or the end of the match.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CAgreed {
    /// `sizeof(rebout_terms)`.
    pub size: u32,
    /// The seed of the game.
    pub seed: u32,
    /// The seat of this machine: 0 for player one, 1 for player two.
    pub seat: u32,
    /// 1 if this machine is the host.
    pub is_host: u32,
    /// The input delay of this machine at the start.
    pub delay_frames: u32,
    /// The input delay of the peer.
    pub peer_delay_frames: u32,
    /// The window of the peer.
    pub peer_window_frames: u32,
    /// 0.
    pub reserved: u32,
    /// The round trip as measured before the match; 0 if it was not.
    pub round_trip_nanos: u64,
    /// The name or the user data of the peer. They may be any bytes.
    pub user_data: *const u8,
    /// How many.
    pub user_data_bytes: usize,
    /// The host's first state.
    pub first_state: *const u8,
    /// How many bytes.
    pub first_state_bytes: usize,
}

// SAFETY: begins with a u32, and has numbers and pointers only.
unsafe impl Sized32 for CAgreed {
    const NAME: &'static str = "rebout_terms";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            seed: 0,
            seat: 0,
            is_host: 0,
            delay_frames: 0,
            peer_delay_frames: 0,
            peer_window_frames: 0,
            reserved: 0,
            round_trip_nanos: 0,
            user_data: ptr::null(),
            user_data_bytes: 0,
            first_state: ptr::null(),
            first_state_bytes: 0,
        }
    }
}

/// The figures of a match. Set `size` to `sizeof(rebout_stats)`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct CStats {
    /// `sizeof(rebout_stats)`.
    pub size: u32,
    /// The frames that are predicted at present.
    pub predicted_frames: u32,
    /// The smoothed round trip; 0 before it is known.
    pub round_trip_nanos: u64,
    /// Its variation.
    pub jitter_nanos: u64,
    /// The age of the peer's inputs.
    pub input_age_nanos: u64,
    /// By how much they are older than the round trip explains.
    pub input_excess_nanos: u64,
    /// The loss of our input packets, 0 to 1; -1 before it is known.
    pub loss_out: f32,
    /// The loss of the peer's.
    pub loss_in: f32,
    /// How many frames this machine is ahead.
    pub frame_lead: f32,
    /// By how much the last frame was made longer.
    pub trim_micros: i32,
    /// Frames stepped, without those that were stepped again.
    pub frames: u64,
    /// Frames that had to wait.
    pub stalled_frames: u64,
    /// Rollbacks.
    pub rollbacks: u64,
    /// Frames that were stepped again.
    pub resimulated_frames: u64,
    /// Frames that were stepped again although they were right, by sparse saving.
    pub replayed_frames: u64,
    /// Checksums compared with the peer's.
    pub checksums_compared: u64,
    /// Cues that did not fit their frames.
    pub cues_left_out: u64,
    /// Datagrams sent.
    pub packets_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Datagrams received.
    pub packets_in: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// The measured cost of a step; 0 before it is known, like the next three.
    pub step_nanos: u64,
    /// Of a step in a rollback.
    pub resimulated_step_nanos: u64,
    /// Of a save.
    pub save_nanos: u64,
    /// Of a restore.
    pub restore_nanos: u64,
    /// The number of rollbacks by depth.
    pub depths: [u64; 23],
    /// Second copies of input packets, sent where packets are lost.
    pub copies_out: u64,
    /// Datagrams that were refused, for whatever reason.
    pub refused_in: u64,
}

// SAFETY: begins with a u32, and has numbers only.
unsafe impl Sized32 for CStats {
    const NAME: &'static str = "rebout_stats";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self::default()
    }
}

impl From<&Stats> for CStats {
    fn from(stats: &Stats) -> Self {
        let (rollback, costs) = (&stats.rollback, stats.costs.as_ref());
        Self {
            size: 0,
            predicted_frames: stats.predicted_frames,
            round_trip_nanos: stats.round_trip.map_or(0, nanos),
            jitter_nanos: nanos(stats.jitter),
            input_age_nanos: nanos(stats.input_age),
            input_excess_nanos: nanos(stats.input_excess),
            loss_out: stats.loss_out.unwrap_or(-1.0),
            loss_in: stats.loss_in.unwrap_or(-1.0),
            frame_lead: stats.frame_lead,
            trim_micros: stats.trim_micros,
            frames: stats.frames,
            stalled_frames: stats.stalled_frames,
            rollbacks: rollback.rollbacks,
            resimulated_frames: rollback.resimulated_frames,
            replayed_frames: rollback.replayed_frames,
            checksums_compared: stats.checksums_compared,
            cues_left_out: stats.cues_left_out,
            packets_out: stats.packets_out,
            bytes_out: stats.bytes_out,
            packets_in: stats.packets_in,
            bytes_in: stats.bytes_in,
            step_nanos: costs.map_or(0, |costs| nanos(costs.step)),
            resimulated_step_nanos: costs.map_or(0, |costs| nanos(costs.resimulated_step)),
            save_nanos: costs.map_or(0, |costs| nanos(costs.save)),
            restore_nanos: costs.map_or(0, |costs| nanos(costs.restore)),
            depths: rollback.depths,
            copies_out: stats.copies_out,
            refused_in: stats.refused.total(),
        }
    }
}

/// Lends a text of a handle.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `text` is NULL or can be written.
pub(super) unsafe fn lend(
    handle: *mut Handle,
    slot: Slot,
    text: *mut *const c_char,
    find: impl FnOnce(&mut Inner) -> Result<String, Fault>,
) -> Status {
    let call = |inner: &mut Inner| {
        let found = find(inner)?;
        let lent = inner.lent.text(slot, &found);
        // SAFETY: the caller's promise.
        unsafe { args::put(text, lent, "text") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The text for the other player, who passes it to `rebout_join`: the invite, the offer or the address of a host, or the answer of a
/// joiner to an offer. It is empty while it waits for a server. It lives until the next call of this function.
///
/// Show an invite to nobody else: it is the right to join.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `text` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_share(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Share, text, |inner| inner.part.share().map(str::to_owned)) }
}

/// How far the match is on the way, as a text for the player. It lives until the next call of this function.
///
/// # Safety
/// As `rebout_share`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_progress(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Progress, text, |inner| inner.part.progress()) }
}

/// The name of a player, 0 or 1, with control characters escaped. It lives until the next call of this function.
///
/// # Safety
/// As `rebout_share`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_name(handle: *mut Handle, seat: u32, text: *mut *const c_char) -> Status {
    let find = |inner: &mut Inner| {
        let mut names = inner.part.names()?.into_iter();
        names.nth(seat as usize).ok_or_else(|| Fault::invalid(format_args!("seat is {seat}: 0 or 1")))
    };
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Name, text, find) }
}

/// The file that the match is recorded to, or the last match was. It lives until the next call of this function.
///
/// # Safety
/// As `rebout_share`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_recording(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Path, text, |inner| Ok(inner.part.recording()?.display().to_string())) }
}

/// The facts about the other machine.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `peer` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_peer(handle: *mut Handle, peer: *mut CPeer) -> Status {
    let call = |inner: &mut Inner| {
        let info = inner.part.peer()?;
        let addr = info.addr.map(|addr| addr.to_string()).unwrap_or_default();
        let code = info.code.map(|code| code.to_string()).unwrap_or_default();
        let found = CPeer {
            size: 0,
            is_verified: info.is_verified.into(),
            is_relayed: info.is_relayed.into(),
            is_over_tls: info.is_over_tls.into(),
            detour_nanos: info.detour.map_or(0, nanos),
            address: inner.lent.text(Slot::Addr, &addr),
            code: inner.lent.text(Slot::Code, &code),
        };
        // SAFETY: the caller's promise.
        unsafe { args::write(peer, &found, "peer") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The public key of a player, 32 bytes, by which the player is known again: with `of_peer` 1 that of the other player, with 0 that of
/// the player here. `fingerprint` is a short text of it for people to compare, and lives until the next call of this function. Either
/// pointer may be NULL. `REBOUT_STATUS_PHASE` while the key is not proven, and if there is none.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `key` is NULL or holds 32 bytes, and `fingerprint` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_player_key(
    handle: *mut Handle,
    of_peer: u32,
    key: *mut u8,
    fingerprint: *mut *const c_char,
) -> Status {
    let call = |inner: &mut Inner| {
        if of_peer > 1 {
            return Err(Fault::invalid(format_args!("of_peer is {of_peer}: 0 or 1")));
        }
        let found = inner.part.player_key(of_peer == 1)?;
        if !key.is_null() {
            // SAFETY: the caller's promise.
            unsafe { ptr::copy_nonoverlapping(found.0.as_ptr(), key, found.0.len()) };
        }
        if !fingerprint.is_null() {
            let lent = inner.lent.text(Slot::Fingerprint, &found.to_string());
            // SAFETY: the caller's promise.
            unsafe { args::put(fingerprint, lent, "fingerprint")? };
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The terms of the match, once both machines have agreed.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `terms` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_agreed(handle: *mut Handle, terms: *mut CAgreed) -> Status {
    let call = |inner: &mut Inner| {
        let (part, lent) = (&inner.part, &mut inner.lent);
        let agreed = part.agreed()?;
        lent.user_data.clone_from(&agreed.user_data);
        lent.first_state = agreed.first_state.clone();
        let found = CAgreed {
            size: 0,
            seed: agreed.seed,
            seat: agreed.seat.index() as u32,
            is_host: agreed.is_host.into(),
            delay_frames: agreed.delay_frames.into(),
            peer_delay_frames: agreed.peer_delay_frames.into(),
            peer_window_frames: agreed.peer_window_frames.into(),
            reserved: 0,
            round_trip_nanos: agreed.round_trip.map_or(0, nanos),
            user_data: lent.user_data.as_ptr(),
            user_data_bytes: lent.user_data.len(),
            first_state: lent.first_state.as_ptr(),
            first_state_bytes: lent.first_state.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { args::write(terms, &found, "terms") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The figures of the match so far. They stay after its end, until a rematch.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `stats` is NULL or a struct whose `size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_get_stats(handle: *mut Handle, stats: *mut CStats) -> Status {
    let call = |inner: &mut Inner| {
        let found = CStats::from(&inner.part.stats()?);
        // SAFETY: the caller's promise.
        unsafe { args::write(stats, &found, "stats") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The frame that the game is in, and the frame up to which every state is certain. Either pointer may be NULL.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; the others are NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_frames(handle: *mut Handle, current: *mut u32, settled: *mut u32) -> Status {
    let call = |inner: &mut Inner| {
        let frames = inner.part.frames()?;
        for (pointer, frame) in [current, settled].into_iter().zip(frames) {
            if !pointer.is_null() {
                // SAFETY: the caller's promise.
                unsafe { args::put(pointer, frame.0, "frame")? };
            }
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// When the next frame is due, on the clock of the match: for an engine that sleeps by itself. UINT64_MAX while none will be.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `at_nanos` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_next_frame_at(handle: *mut Handle, at_nanos: *mut u64) -> Status {
    let call = |inner: &mut Inner| {
        let at = nanos(inner.part.next_frame_at()?);
        // SAFETY: the caller's promise.
        unsafe { args::put(at_nanos, at, "at_nanos") }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Copies the state before the present one into `state`, and says how far the time from the last frame to the next has gone, from 0 to 1: for
/// a display that is faster than the match.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `state` holds `capacity` bytes, and `phase` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_previous(
    handle: *mut Handle,
    state: *mut u8,
    capacity: usize,
    phase: *mut f32,
) -> Status {
    let call = |inner: &mut Inner| {
        let (kept, gone) = inner.part.previous()?;
        let bytes = kept.bytes();
        if state.is_null() {
            return Err(Fault::null("state"));
        }
        if bytes.len() > capacity {
            let text = format!("the state has {} bytes, and the buffer {capacity}", bytes.len());
            return Err(Fault::new(Status::TooSmall, text));
        }
        // SAFETY: the caller's promise.
        unsafe {
            args::put(phase, gone, "phase")?;
            ptr::copy_nonoverlapping(bytes.as_ptr(), state, bytes.len());
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

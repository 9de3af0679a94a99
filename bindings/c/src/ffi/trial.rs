//! The sync test and the stress test of a game.

use super::args::{self, Sized32};
use super::facts::lend;
use super::game::{CGame, GameTable};
use super::handle::{Handle, Inner, Slot, with};
use crate::safe::codes::Status;
use crate::safe::fault::Fault;
use crate::safe::trial::{self, Again, StressPlan, SyncPlan};
use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::ptr;

/// The input of a player, 0 or 1, in a frame of a match with a seed: a function of its arguments.
pub type PressCallback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, player: u32, frame: u32, seed: u32) -> u64>;

/// A sync test. Set `size` to `sizeof(rebout_sync_test_plan)`, and the rest to 0: a number that is 0 has a default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SyncTestPlan {
    /// `sizeof(rebout_sync_test_plan)`.
    pub size: u32,
    /// Frames to play, by default 600.
    pub frames: u32,
    /// The deepest rollback, by default 8, at most 128.
    pub depth: u32,
    /// The seed of depths and random inputs, by default 1.
    pub seed: u32,
    /// Axes of an input.
    pub axes: u32,
    /// Pads at each machine, by default 1.
    pub pads: u32,
    /// The inputs; NULL presses at random.
    pub press: PressCallback,
    /// The first argument of `press`.
    pub user: *mut c_void,
}

// SAFETY: begins with a u32; NULL is a value of every pointer and callback. A callback that is not NULL is a function, says the caller.
unsafe impl Sized32 for SyncTestPlan {
    const NAME: &'static str = "rebout_sync_test_plan";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self { size: 0, frames: 0, depth: 0, seed: 0, axes: 0, pads: 0, press: None, user: ptr::null_mut() }
    }
}

/// Makes a game of a stress test: fills `game`, whose `size` is set, and returns 0 if it cannot. `seat` is 0, 1, or 2 for the oracle. Several
/// games are alive at once, each with a state of its own; `release` frees it.
pub type MakeCallback =
    Option<unsafe extern "C-unwind" fn(user: *mut c_void, seed: u32, seat: u32, game: *mut GameTable) -> i32>;

/// A stress test. Set `size` to `sizeof(rebout_stress_plan)`, and the rest to 0: a number that is 0 has a default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CStressPlan {
    /// `sizeof(rebout_stress_plan)`.
    pub size: u32,
    /// Axes of an input.
    pub axes: u32,
    /// Frames to play, of all matches together; by default 60,000, one match on each of thirteen links. With `link` those of one match.
    pub frames: u64,
    /// The seed of the run, by default 1.
    pub seed: u64,
    /// Makes a game.
    pub make: MakeCallback,
    /// The inputs; NULL presses at random.
    pub press: PressCallback,
    /// The first argument of both.
    pub user: *mut c_void,
    /// The name of the game in the report.
    pub name: *const c_char,
    /// Where the bundle of a failure is written; NULL writes none.
    pub folder: *const c_char,
    /// Plays one match again, as a report tells it: the name of its link.
    pub link: *const c_char,
    /// The impairments that the report leaves out, with commas in between.
    pub without: *const c_char,
    /// Pads at each machine, by default 1.
    pub pads: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: as for `SyncTestPlan`.
unsafe impl Sized32 for CStressPlan {
    const NAME: &'static str = "rebout_stress_plan";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            axes: 0,
            frames: 0,
            seed: 0,
            make: None,
            press: None,
            user: ptr::null_mut(),
            name: ptr::null(),
            folder: ptr::null(),
            link: ptr::null(),
            without: ptr::null(),
            pads: 0,
            reserved: 0,
        }
    }
}

/// A number, or its default if it is 0.
fn or<T: PartialEq + Default>(number: T, default: T) -> T {
    if number == T::default() { default } else { number }
}

/// A number of axes or pads.
fn few(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Finds on one machine the mistakes that a rollback would turn into a desync: in every frame it goes back up to `depth` frames, steps
/// forward again and compares all bytes. `plan` may be NULL.
///
/// `REBOUT_STATUS_FAILED` is a mistake, or a run that proves nothing; `rebout_error` names the frame and the regions. `rebout_report`
/// has the figures. The game is not kept, and not released; it is in any state afterwards. The handle may have a match.
///
/// # Safety
/// As `rebout_start`; `plan` is NULL or a struct as its documentation says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_sync_test(
    handle: *mut Handle,
    game: *const GameTable,
    plan: *const SyncTestPlan,
) -> Status {
    let call = |inner: &mut Inner| {
        let plan = match plan.is_null() {
            true => SyncTestPlan::defaults(),
            // SAFETY: the caller's promise.
            false => unsafe { args::read(plan, "plan")? },
        };
        // SAFETY: the caller's promise.
        let mut game = unsafe { CGame::read(game)? };
        let numbers = SyncPlan {
            frames: or(plan.frames, 600),
            depth: or(plan.depth, 8),
            seed: or(plan.seed, 1),
            axes: few(plan.axes),
            pads: few(or(plan.pads, 1)),
        };
        let called = plan.press.map(|press| {
            // SAFETY: a callback of the caller's, with its pointer.
            move |player, frame| unsafe { press(plan.user, player, frame, numbers.seed) }
        });
        let press = called.as_ref().map(|press| press as &dyn Fn(u32, u32) -> u64);
        let tested = trial::sync_test(&mut game, numbers, press);
        game.give_back();
        let report = tested?;
        let text = format!(
            "{} frames, {} stepped again, {} trials: the same states every time",
            report.frames, report.resimulated_frames, report.trials
        );
        inner.lent.text(Slot::Report, &text);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// Hunts desyncs in a game: many matches of two machines over simulated links, and an oracle that knows every true state. A failure is played
/// again and made as short as it still happens.
///
/// `REBOUT_STATUS_FAILED` is a failure, or a run that proves nothing. `rebout_report` has the table and the failure either way.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `plan` is NULL or a struct as its documentation says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_stress(handle: *mut Handle, plan: *const CStressPlan) -> Status {
    let call = |inner: &mut Inner| {
        // SAFETY: the caller's promise.
        let plan = unsafe { args::read(plan, "plan")? };
        let Some(make) = plan.make else { return Err(Fault::null("plan->make")) };
        // SAFETY: texts of the caller's, or NULL; each is copied before this call returns.
        let text = |pointer, name| unsafe { args::text_or_none(pointer, name) };
        let without = text(plan.without, "plan->without")?.unwrap_or_default();
        let without = without.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let again = text(plan.link, "plan->link")?.map(|link| Again { link: link.to_owned(), without });
        let stress = StressPlan {
            name: text(plan.name, "plan->name")?.unwrap_or("game").to_owned(),
            frames: or(plan.frames, 60_000),
            seed: or(plan.seed, 1),
            axes: few(plan.axes),
            pads: few(or(plan.pads, 1)),
            folder: text(plan.folder, "plan->folder")?.map(PathBuf::from),
            again,
        };
        let user = plan.user;
        let made = move |seed, seat: Option<u32>| {
            let mut game = GameTable { size: size_of::<GameTable>() as u32, ..GameTable::defaults() };
            // SAFETY: a callback of the caller's, with its pointer and a struct to fill.
            let is_made = unsafe { make(user, seed, seat.unwrap_or(2), &raw mut game) };
            if is_made == 0 {
                return CGame::unmade();
            }
            // SAFETY: filled as the documentation says, by the caller.
            unsafe { CGame::read(&raw const game) }.unwrap_or_else(|_| CGame::unmade())
        };
        let press = plan.press.map(|press| {
            // SAFETY: a callback of the caller's, with its pointer.
            Box::new(move |player, frame, seed| unsafe { press(user, player, frame, seed) })
                as Box<trial::Press>
        });
        let report = trial::stress(stress, Box::new(made), press)?;
        inner.lent.text(Slot::Report, &report.text);
        if report.is_well { Ok(()) } else { Err(Fault::failed(report.text)) }
    };
    // SAFETY: the caller's promise.
    unsafe { with(handle, call) }
}

/// The report of the last sync test or stress test on this handle. It lives until the next test.
///
/// # Safety
/// `handle` is NULL or a handle that was not freed; `text` is NULL or can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_report(handle: *mut Handle, text: *mut *const c_char) -> Status {
    // SAFETY: the caller's promise.
    unsafe { lend(handle, Slot::Report, text, |inner| Ok(inner.lent.report())) }
}

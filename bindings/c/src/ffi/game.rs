//! A game of C: its callbacks, its state of bytes, and the cues of its steps.

use super::args::{self, Sized32};
use crate::safe::codes::{ChangeCode, Status};
use crate::safe::fault::Fault;
use crate::safe::input;
use crate::safe::layout::{Format, Layout, MAX_REGIONS, Region};
use crate::safe::state::State;
use rebout::{Cue, Cues, Fields, Game, Inputs, Save, StateError, Visitor};
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// The numbers of a region have a sign.
pub const REBOUT_REGION_SIGNED: u32 = 1;
/// The region is saved and restored, and never compared.
pub const REBOUT_REGION_NOT_COMPARED: u32 = 2;
/// The numbers are named by addresses from `base` on, in hexadecimal: `wram[0x7e0012]`.
pub const REBOUT_REGION_ADDRESSED: u32 = 4;

/// A named region of a state, for reports: `counters[0]: 397 / 402`. This struct does not grow.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CRegion {
    /// The name in reports, UTF-8.
    pub name: *const c_char,
    /// The first byte in the state.
    pub offset: u32,
    /// Bytes of a number: 1, 2, 4 or 8. Numbers are in the byte order of the machine.
    pub width: u32,
    /// 1 for a value; more for an array.
    pub count: u32,
    /// `REBOUT_REGION_*`, added up.
    pub flags: u32,
    /// The address of the first number, with `REBOUT_REGION_ADDRESSED`.
    pub base: u32,
    /// 0.
    pub reserved: u32,
}

/// The cues of a step. It lives until the step returns.
pub struct StepCues {
    cues: *mut Cues,
    game: *const CGame,
}

/// A game: callbacks over a state of bytes. Set `size` to `sizeof(rebout_game)`, and the rest to 0.
///
/// The struct is copied; `regions` and their names are read once. `user` and `state` have to live as long as the match. All callbacks
/// come in the thread that calls the library, and during that call.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GameTable {
    /// `sizeof(rebout_game)`.
    pub size: u32,
    /// The bytes of a state, always as many: 1 to 67,108,864.
    pub state_bytes: u32,
    /// The first argument of every callback.
    pub user: *mut c_void,
    /// The whole state, if it lies in one piece: the library then copies it, and `save` and `load` are NULL.
    pub state: *mut c_void,
    /// Writes the state into `bytes`, which are all 0 before. Returns 0 if it cannot be saved; the match is then over.
    pub save: Option<unsafe extern "C-unwind" fn(user: *mut c_void, state: *mut u8, bytes: usize) -> i32>,
    /// Sets the game to the state in `bytes`. Returns 0 if it cannot; the match is then over.
    pub load: Option<unsafe extern "C-unwind" fn(user: *mut c_void, state: *const u8, bytes: usize) -> i32>,
    /// Steps the game from frame f to f + 1 with the inputs of both players: a pure function of both. `shown` is 0 in a step whose
    /// state nobody sees; the state must not depend on it. Sounds are asked for by `rebout_emit`.
    pub step: Option<
        unsafe extern "C-unwind" fn(user: *mut c_void, inputs: *const u64, cues: *mut StepCues, shown: i32),
    >,
    /// Whether the match is over in this state. NULL: never.
    pub finished: Option<unsafe extern "C-unwind" fn(user: *mut c_void) -> i32>,
    /// Whether the next step must not be predicted: it loads a stage or writes to a disk. NULL: never.
    pub barrier: Option<unsafe extern "C-unwind" fn(user: *mut c_void) -> i32>,
    /// Called once when the library does not need the game any more. NULL: nothing to do.
    pub release: Option<unsafe extern "C-unwind" fn(user: *mut c_void)>,
    /// The named regions of a state; the bytes that none of them names are compared too. NULL without any.
    pub regions: *const CRegion,
    /// How many.
    pub region_count: usize,
}

// SAFETY: begins with a u32; NULL is a value of every pointer and callback. A callback that is not NULL is a function, says the caller.
unsafe impl Sized32 for GameTable {
    const NAME: &'static str = "rebout_game";
    const FIRST_BYTES: usize = size_of::<Self>();

    fn defaults() -> Self {
        Self {
            size: 0,
            state_bytes: 0,
            user: ptr::null_mut(),
            state: ptr::null_mut(),
            save: None,
            load: None,
            step: None,
            finished: None,
            barrier: None,
            release: None,
            regions: ptr::null(),
            region_count: 0,
        }
    }
}

/// A game of C.
pub struct CGame {
    table: GameTable,
    layout: Arc<Layout>,
}

/// Reads the regions of a game.
///
/// # Safety
/// `regions` points to `count` regions, each with a text.
unsafe fn regions(regions: *const CRegion, count: usize) -> Result<Vec<Region>, Fault> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if regions.is_null() {
        return Err(Fault::null("regions"));
    }
    if count > MAX_REGIONS {
        return Err(Fault::invalid(format_args!("{count} regions are more than {MAX_REGIONS}")));
    }
    let read = |index| {
        // SAFETY: one of `count` regions, says the caller.
        let region = unsafe { regions.add(index).read_unaligned() };
        // SAFETY: its name is a text, says the caller.
        let name = unsafe { args::text(region.name, "the name of a region")? };
        let known = REBOUT_REGION_SIGNED | REBOUT_REGION_NOT_COMPARED | REBOUT_REGION_ADDRESSED;
        if region.flags & !known != 0 || region.reserved != 0 {
            return Err(Fault::invalid(format_args!("region {name:?}: flags or reserved have unknown bits")));
        }
        let is = |flag| region.flags & flag != 0;
        let format = Format {
            width: region.width as usize,
            is_signed: is(REBOUT_REGION_SIGNED),
            base: is(REBOUT_REGION_ADDRESSED).then_some(region.base),
        };
        Ok(Region {
            name: name.to_owned(),
            offset: region.offset as usize,
            count: region.count as usize,
            format,
            is_compared: !is(REBOUT_REGION_NOT_COMPARED),
        })
    };
    (0..count).map(read).collect()
}

impl CGame {
    /// Reads a game of the caller's.
    ///
    /// # Safety
    /// `table` is NULL or a struct as its documentation says, whose callbacks may be called until the game is dropped.
    pub(super) unsafe fn read(table: *const GameTable) -> Result<Self, Fault> {
        // SAFETY: the caller's promise.
        let table = unsafe { args::read(table, "game")? };
        if table.step.is_none() {
            return Err(Fault::null("game->step"));
        }
        match (table.state.is_null(), table.save.is_some(), table.load.is_some()) {
            (true, true, true) | (false, false, false) => {}
            (true, ..) => return Err(Fault::invalid("a game needs save and load, or state")),
            (false, ..) => return Err(Fault::invalid("a game with state needs neither save nor load")),
        }
        // SAFETY: the caller's promise.
        let regions = unsafe { regions(table.regions, table.region_count)? };
        let layout = Arc::new(Layout::new(table.state_bytes as usize, regions)?);
        Ok(Self { table, layout })
    }

    /// A game that cannot be played, for a test whose game could not be made.
    pub(super) fn unmade() -> Self {
        extern "C-unwind" fn fails(_: *mut c_void, _: *mut u8, _: usize) -> i32 {
            0
        }
        extern "C-unwind" fn fails_too(_: *mut c_void, _: *const u8, _: usize) -> i32 {
            0
        }
        let table =
            GameTable { save: Some(fails), load: Some(fails_too), state_bytes: 1, ..GameTable::defaults() };
        let layout = Layout::new(1, Vec::new()).expect("one byte is a state");
        Self { table, layout: Arc::new(layout) }
    }

    /// Forgets a game that was not taken: it stays the caller's, and is not released.
    pub(super) fn give_back(mut self) {
        self.table.release = None;
    }

    /// The state in one piece.
    #[inline]
    fn flat(&self) -> Option<*mut u8> {
        (!self.table.state.is_null()).then_some(self.table.state.cast())
    }
}

impl Drop for CGame {
    fn drop(&mut self) {
        if let Some(release) = self.table.release {
            // SAFETY: a callback of the caller's, with its pointer, called once.
            unsafe { release(self.table.user) };
        }
    }
}

impl Save for CGame {
    type Snapshot = State;

    fn snapshot(&self) -> State {
        let mut state = State::new(self.layout.clone());
        // One that fails is told by the `save` before anything is restored.
        let _ = self.save(&mut state);
        state
    }

    #[inline]
    fn save(&self, slot: &mut State) -> Result<(), StateError> {
        let bytes = slot.bytes_mut();
        if let Some(state) = self.flat() {
            // SAFETY: `state` points to `state_bytes` bytes, says the caller, which are no memory of the library.
            unsafe { ptr::copy_nonoverlapping(state, bytes.as_mut_ptr(), bytes.len()) };
            return Ok(());
        }
        let Some(save) = self.table.save else {
            return Err(StateError::new("the game has no save callback"));
        };
        // A game may leave bytes unwritten.
        bytes.fill(0);
        // SAFETY: a callback of the caller's, with its pointer and a buffer of the size that it has named.
        let is_saved = unsafe { save(self.table.user, bytes.as_mut_ptr(), bytes.len()) };
        if is_saved == 0 { Err(StateError::new("the game's save callback failed")) } else { Ok(()) }
    }

    #[inline]
    fn restore(&mut self, snapshot: &State) -> Result<(), StateError> {
        let bytes = snapshot.bytes();
        if let Some(state) = self.flat() {
            // SAFETY: as in `save`.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), state, bytes.len()) };
            return Ok(());
        }
        let Some(load) = self.table.load else {
            return Err(StateError::new("the game has no load callback"));
        };
        // SAFETY: as in `save`.
        let is_loaded = unsafe { load(self.table.user, bytes.as_ptr(), bytes.len()) };
        if is_loaded == 0 { Err(StateError::new("the game's load callback failed")) } else { Ok(()) }
    }
}

thread_local! {
    /// The cues of the step that runs in this thread. A pointer that was kept from an earlier step is no more this one's.
    static STEP: Cell<*mut StepCues> = const { Cell::new(ptr::null_mut()) };
}

/// Ends the cues of a step, also when it panics.
struct InStep(*mut StepCues);

impl Drop for InStep {
    #[inline]
    fn drop(&mut self) {
        STEP.set(self.0);
    }
}

impl Game for CGame {
    #[inline]
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        let Some(step) = self.table.step else { return };
        let (bits, shown) = (input::both(inputs), i32::from(cues.is_shown()));
        let mut of_step = StepCues { cues, game: self };
        let _in_step = InStep(STEP.replace(&raw mut of_step));
        // SAFETY: a callback of the caller's, with its pointer, two inputs, and cues that live until it returns.
        unsafe { step(self.table.user, bits.as_ptr(), &raw mut of_step, shown) };
    }

    #[inline]
    fn finished(&self) -> bool {
        // SAFETY: a callback of the caller's, with its pointer.
        self.table.finished.is_some_and(|finished| unsafe { finished(self.table.user) } != 0)
    }

    #[inline]
    fn barrier(&self) -> bool {
        // SAFETY: a callback of the caller's, with its pointer.
        self.table.barrier.is_some_and(|barrier| unsafe { barrier(self.table.user) } != 0)
    }
}

/// The state of a game as it is in the middle of a step. It is saved only where a mark is looked at.
struct Present<'a>(&'a CGame);

impl Fields for Present<'_> {
    fn visit<V: Visitor>(&self, visitor: &mut V) {
        // A save that fails here fails after the step too, where it is told.
        self.0.snapshot().visit(visitor);
    }
}

/// The cues of the step that runs, if this is their pointer.
fn current(cues: *mut StepCues) -> Result<*mut StepCues, Status> {
    match STEP.get() {
        _ if cues.is_null() => Err(Status::Null),
        running if running == cues => Ok(running),
        _ => Err(Status::Phase),
    }
}

/// Asks for a cue, such as a sound or a flash, in a step: `rebout_cues` tells when it starts, is cancelled or is certain.
///
/// `cues` is that of the step which runs in this thread; a pointer that was kept from another step gets `REBOUT_STATUS_PHASE`.
///
/// # Safety
/// Call it from a step callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_emit(cues: *mut StepCues, cue: u32) -> Status {
    match current(cues) {
        Err(status) => status,
        Ok(cues) => {
            // SAFETY: the cues of the step that runs: both pointers live until it returns, and the step has no other reference to them.
            unsafe { &mut *(*cues).cues }.emit(Cue(cue));
            Status::Ok
        }
    }
}

/// Marks the end of a phase of the step. A report about a desync then names the first phase after which the machines differ.
///
/// It costs a comparison, unless a report looks at this step: `save` is then called in the middle of it.
///
/// # Safety
/// Call it from a step callback. `name` is a text, UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rebout_phase(cues: *mut StepCues, name: *const c_char) -> Status {
    let cues = match current(cues) {
        Err(status) => return status,
        Ok(cues) => cues,
    };
    // SAFETY: a text of the caller's.
    let name = match unsafe { args::text(name, "name") } {
        Err(fault) => return fault.status,
        Ok(name) => name,
    };
    // SAFETY: as in `rebout_emit`. `save` takes the game by a shared reference.
    let (cues, game) = unsafe { (&mut *(*cues).cues, &*(*cues).game) };
    cues.phase(name, &Present(game));
    Status::Ok
}

/// A change to a cue in the last frame. This struct does not grow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CueEvent {
    /// The start that the change belongs to. Every start is followed by one cancel or one confirm with the same id.
    pub id: u32,
    /// The cue, as the step has asked for it.
    pub cue: u32,
    /// The frame whose step has asked for it.
    pub frame: u32,
    /// The change.
    pub change: ChangeCode,
    /// Of a start: how many frames ago the cue should have begun.
    pub late_by: u32,
}

impl From<&rebout::CueEvent> for CueEvent {
    #[inline]
    fn from(event: &rebout::CueEvent) -> Self {
        let late_by = if let rebout::CueChange::Start { late_by } = event.change { late_by } else { 0 };
        Self { id: event.id.0, cue: event.cue.0, frame: event.frame.0, change: event.change.into(), late_by }
    }
}

/// A frame that has become certain, and its inputs. This struct does not grow.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FrameInputs {
    /// The inputs of player one and player two.
    pub inputs: [u64; 2],
    /// The frame.
    pub frame: u32,
    /// 0.
    pub reserved: u32,
}

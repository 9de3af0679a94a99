//! The game of `examples/counters.h` in Rust: as callbacks, and as a game of the library with the same fields.

use rebout::{Buttons, Cue, Cues, Game, Inputs, Player, fields};
use rebout_c::{CRegion, GameTable, REBOUT_REGION_SIGNED, StepCues, rebout_emit, rebout_phase};
use std::ffi::{CStr, c_void};

/// The frames of a match in these tests.
pub(crate) const FRAMES: u32 = 180;
const PRESS: Buttons = Buttons(1);

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    pub(crate) frame: u32,
    pub(crate) rng: u32,
    pub(crate) counters: [i32; 2],
    pub(crate) held: [u32; 2],
}
fields!(Counters { frame, rng, counters, held });

impl Counters {
    pub(crate) fn new(seed: u32) -> Self {
        Self { rng: seed, ..Self::default() }
    }

    pub(crate) fn bot(&self, seat: u32) -> Buttons {
        Buttons((self.frame / (5 + 2 * seat) % 2) as u16)
    }

    fn press(&mut self, holds: [bool; 2], mut click: impl FnMut(usize)) {
        self.frame += 1;
        self.rng = self.rng.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        for (player, holds) in holds.into_iter().enumerate() {
            if holds && self.held[player] == 0 {
                self.counters[player] += 1 + (self.rng >> 31) as i32;
                click(player);
            }
            self.held[player] = holds.into();
        }
    }
}

impl Game for Counters {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.press(Player::BOTH.map(|player| inputs[player].holds(PRESS)), |_| cues.emit(Cue(7)));
    }

    fn finished(&self) -> bool {
        self.frame >= FRAMES
    }
}

/// A region of a table.
pub(crate) fn region(name: &'static CStr, offset: usize, count: u32, flags: u32) -> CRegion {
    CRegion { name: name.as_ptr(), offset: offset as u32, width: 4, count, flags, base: 0, reserved: 0 }
}

/// The regions of the game. They live as long as the process.
fn regions() -> &'static [CRegion] {
    let list = [
        region(c"frame", 0, 1, 0),
        region(c"rng", 4, 1, 0),
        region(c"counters", 8, 2, REBOUT_REGION_SIGNED),
        region(c"held", 16, 2, 0),
    ];
    Box::leak(Box::new(list))
}

unsafe extern "C-unwind" fn step(user: *mut c_void, inputs: *const u64, cues: *mut StepCues, _: i32) {
    // SAFETY: the game of this table, and two inputs.
    let (game, inputs) = unsafe { (&mut *user.cast::<Counters>(), [*inputs, *inputs.add(1)]) };
    game.press(inputs.map(|input| input & 1 == 1), |_| {
        // SAFETY: the cues of this step.
        unsafe { rebout_emit(cues, 7) };
    });
    // SAFETY: the cues of this step.
    unsafe { rebout_phase(cues, c"players".as_ptr()) };
}

/// The step with a fault in one frame.
pub(crate) unsafe extern "C-unwind" fn faulty_step(
    user: *mut c_void,
    inputs: *const u64,
    cues: *mut StepCues,
    shown: i32,
) {
    // SAFETY: as `step`.
    unsafe {
        step(user, inputs, cues, shown);
        let game = &mut *user.cast::<Counters>();
        game.counters[0] += if game.frame == 100 { 5 } else { 0 };
    }
}

unsafe extern "C-unwind" fn finished(user: *mut c_void) -> i32 {
    // SAFETY: the game of this table.
    i32::from(unsafe { &*user.cast::<Counters>() }.finished())
}

/// A table without a state, for tests that bring their own.
pub(crate) fn empty_table() -> GameTable {
    GameTable {
        size: size_of::<GameTable>() as u32,
        state_bytes: 0,
        user: std::ptr::null_mut(),
        state: std::ptr::null_mut(),
        save: None,
        load: None,
        step: None,
        finished: None,
        barrier: None,
        release: None,
        regions: std::ptr::null(),
        region_count: 0,
    }
}

/// The table of a game, which has to live as long as the match.
pub(crate) fn table(game: *mut Counters) -> GameTable {
    let regions = regions();
    GameTable {
        state_bytes: size_of::<Counters>() as u32,
        user: game.cast(),
        state: game.cast(),
        step: Some(step),
        finished: Some(finished),
        regions: regions.as_ptr(),
        region_count: regions.len(),
        ..empty_table()
    }
}

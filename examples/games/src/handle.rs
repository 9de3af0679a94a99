//! A core behind a handle, as an emulator is, for tests: a small state, and around it a log of its steps and the frames in which
//! it fails.

use core::ops::Range;
use rebout::{Buttons, Cue, Cues, Game, Inputs, Save, StateError, fields};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreState {
    pub frame: u32,
    pub sum: u32,
}
fields!(CoreState { frame, sum });

/// A step as the core saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub frame: u32,
    pub inputs: Inputs,
    pub is_shown: bool,
    /// Whether the state that was stepped is a barrier.
    pub at_barrier: bool,
}

#[derive(Clone, Debug)]
pub struct Core {
    pub state: CoreState,
    /// The frames whose states cannot be saved, and those whose states cannot be restored.
    pub unsaved: Range<u32>,
    pub unrestored: Range<u32>,
    /// Whether the state depends on `is_shown`, as that of a core with a frame counter in its renderer.
    pub counts_shown: bool,
    pub ends_at: u32,
    /// The states whose step must not be predicted.
    pub barrier: fn(CoreState) -> bool,
    pub steps: Vec<Step>,
}

impl Default for Core {
    fn default() -> Self {
        Self::new(u32::MAX)
    }
}

impl Core {
    /// A core whose match is over in this frame.
    #[must_use]
    pub const fn new(ends_at: u32) -> Self {
        Self {
            state: CoreState { frame: 0, sum: 0 },
            unsaved: 0..0,
            unrestored: 0..0,
            counts_shown: false,
            ends_at,
            barrier: |_| false,
            steps: Vec::new(),
        }
    }
}

impl Save for Core {
    type Snapshot = CoreState;

    fn snapshot(&self) -> CoreState {
        self.state
    }

    fn save(&self, slot: &mut CoreState) -> Result<(), StateError> {
        if self.unsaved.contains(&self.state.frame) {
            return Err(StateError::new("the core did not serialize"));
        }
        *slot = self.state;
        Ok(())
    }

    fn restore(&mut self, snapshot: &CoreState) -> Result<(), StateError> {
        if self.unrestored.contains(&snapshot.frame) {
            return Err(StateError::new(format!("the core refused frame {}", snapshot.frame)));
        }
        self.state = *snapshot;
        Ok(())
    }
}

impl Game for Core {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        let (frame, is_shown) = (self.state.frame, cues.is_shown());
        self.steps.push(Step { frame, inputs, is_shown, at_barrier: self.barrier() });
        let held = inputs.0.map(|input| u32::from(input.buttons().0));
        let sum = self.state.sum.wrapping_mul(31).wrapping_add(held[0] << 8 | held[1]);
        let extra = u32::from(self.counts_shown && is_shown);
        self.state = CoreState { frame: frame + 1, sum: sum.wrapping_add(extra) };
        cues.emit(Cue(held[1]));
    }

    fn finished(&self) -> bool {
        self.state.frame >= self.ends_at
    }

    fn barrier(&self) -> bool {
        (self.barrier)(self.state)
    }
}

/// Buttons of both players that change every third frame.
#[must_use]
pub fn held(frame: u32) -> Inputs {
    [Buttons((frame / 3 % 7) as u16), Buttons((frame / 3 % 5) as u16 + 1)].into()
}

/// The states of a match with these buttons that is played directly.
#[must_use]
pub fn direct(frames: u32) -> Vec<CoreState> {
    let mut core = Core::default();
    let mut states = vec![core.state];
    for frame in 0..frames {
        core.step(held(frame), &mut Cues::new());
        states.push(core.state);
    }
    states
}

//! Cues: the side effects that a frame requests, such as a sound or a flash.

use super::marks::{Mark, Marks};
use crate::{Fields, Frame};

/// A side effect that a step requests, identified by a number of the game's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cue(pub u32);

/// The set of cues that one step requests.
///
/// A step may run several times for one frame and emits its cues every time; the engine works out which of them are
/// new, cancelled or certain ([`CueEvent`]).
///
/// It also says whether the resulting state is drawn ([`is_shown`](Self::is_shown)).
///
/// ```
/// use rebout::{Cue, Cues};
///
/// const HIT: Cue = Cue(1);
///
/// fn step(cues: &mut Cues) {
///     cues.emit(HIT);
///     cues.emit(HIT);                                          // once a frame
/// }
///
/// let mut cues = Cues::new();                                  // the engine passes one to `Game::step`
/// step(&mut cues);
/// assert_eq!(cues.as_slice(), [HIT]);
/// ```
#[derive(Clone, Debug)]
pub struct Cues {
    cues: [Cue; Self::MAX],
    len: u8,
    is_shown: bool,
    left_out: u32,
    /// The phases of the step, while they are recorded.
    marks: Option<Box<Marks>>,
}

impl Default for Cues {
    fn default() -> Self {
        Self::new()
    }
}

impl Cues {
    /// The most different cues that a frame can hold.
    pub const MAX: usize = 16;

    /// An empty set, for a game that is stepped without an engine. Every step is shown.
    #[must_use]
    pub const fn new() -> Self {
        Self { cues: [Cue(0); Self::MAX], len: 0, is_shown: true, left_out: 0, marks: None }
    }

    /// An empty set for steps whose states are not drawn.
    pub(crate) fn unseen() -> Self {
        Self { is_shown: false, ..Self::new() }
    }

    /// Empties the set, for a step that is shown or not.
    #[inline]
    pub(crate) const fn begin(&mut self, is_shown: bool) {
        self.clear();
        self.is_shown = is_shown;
    }

    /// Whether the state after this step is drawn. Everywhere else an emulator core can leave out the picture and the sound.
    ///
    /// It is true for the newest frame; with [look-ahead](crate::RollbackConfig::look_ahead_frames) for the last step of that
    /// instead; and for the last frame of a rollback that ends in a stall. It is false for every other frame of a rollback,
    /// and in an autopsy.
    ///
    /// The state must not depend on it: the sync test steps each frame with both values and compares.
    #[inline]
    #[must_use]
    pub const fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Requests `cue`. A second request in the same frame changes nothing; from the seventeenth different cue on, cues
    /// are left out and counted, the same ones in every resimulation.
    #[inline]
    pub fn emit(&mut self, cue: Cue) {
        if self.as_slice().contains(&cue) {
            return;
        }
        match self.cues.get_mut(usize::from(self.len)) {
            Some(slot) => {
                *slot = cue;
                self.len += 1;
            }
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    /// Marks the end of a phase of the step, with the part of the state that it has worked on.
    ///
    /// An autopsy steps the first frame that differs once more and compares the marked values of both machines. Its report
    /// then names the first phase after which they differ, and the fields ([`Autopsy::phase`](crate::Autopsy::phase)). In
    /// play a mark costs one comparison.
    ///
    /// The first 128 marks of a step count, and the first 64 bytes of a name. A name may come up again, as in a loop.
    ///
    /// ```
    /// use rebout::{Cues, Game, Inputs, fields};
    ///
    /// #[derive(Clone, Copy)]
    /// struct World { at: [i32; 2], hits: u32 }
    /// fields!(World { at, hits });
    ///
    /// impl Game for World {
    ///     fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
    ///         for (at, input) in self.at.iter_mut().zip(inputs.0) {
    ///             *at += i32::from(input.buttons().0);
    ///         }
    ///         cues.phase("movement", &self.at);
    ///         self.hits += u32::from(self.at[0] == self.at[1]);
    ///         cues.phase("collisions", self);
    ///     }
    /// }
    /// # World { at: [0; 2], hits: 0 }.step(Inputs::default(), &mut Cues::new());
    /// ```
    #[inline]
    pub fn phase<T: Fields + ?Sized>(&mut self, name: &str, value: &T) {
        if let Some(marks) = &mut self.marks {
            marks.take(name, value);
        }
    }

    /// An empty set for a step whose phases are recorded, and whose state is not drawn.
    pub(crate) fn marking(marks: Marks) -> Self {
        Self { marks: Some(Box::new(marks)), ..Self::unseen() }
    }

    /// The list of phases that a step records, to be looked at, swapped or cleared. `None` if none are recorded.
    #[inline]
    pub(crate) fn marks(&mut self) -> Option<&mut Vec<Mark>> {
        self.marks.as_mut().map(|marks| marks.list())
    }

    /// The phases that were recorded.
    pub(crate) fn into_marks(self) -> Marks {
        self.marks.map_or_else(Marks::default, |marks| *marks)
    }

    /// The requested cues, in the order of their first request.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> &[Cue] {
        &self.cues[..usize::from(self.len)]
    }

    /// How many requests were left out because the frame was full.
    #[inline]
    #[must_use]
    pub const fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Empties the set, for the next step.
    #[inline]
    pub const fn clear(&mut self) {
        self.len = 0;
        self.left_out = 0;
    }
}

/// Identifies one start of a cue, so that its cancel can be matched to it: a sound to stop, a flash to cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CueId(pub u32);

/// A change to a cue in the last `advance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CueEvent {
    /// The start that this change belongs to.
    pub id: CueId,
    /// The requested cue.
    pub cue: Cue,
    /// The frame whose step requested it.
    pub frame: Frame,
    /// Started, cancelled or confirmed.
    pub change: CueChange,
}

/// The life of a cue: one start, and then either a cancel or a confirm, each exactly once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CueChange {
    /// The cue begins. `late_by` is more than 0 if a rollback found it after its frame was first stepped.
    Start {
        /// How many frames ago the cue should have begun.
        late_by: u32,
    },
    /// The cue was mispredicted: after a resimulation its frame no longer requests it.
    Cancel,
    /// The frame of the cue has settled: the cue is certain.
    Confirm,
}
